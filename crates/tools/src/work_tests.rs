use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::native::{Native, NativeSession, Step};
use crate::{ALL, by_name};

fn work(act: Act) -> Work {
    let at = Some(1_000);
    Work { act, ok: Some(true), exit_code: None, output: "out".to_owned(), at }
}

fn hunk(lines: &[&str]) -> Hunk {
    Hunk { lines: lines.iter().map(|line| (*line).to_owned()).collect() }
}

fn acts() -> [Work; 5] {
    let path = || "/w/p/a.rs".to_owned();
    let failed = Work { ok: Some(false), exit_code: Some(2), ..work(Act::Command("make".to_owned())) };
    [
        failed,
        work(Act::Read { path: path(), first: 40, lines: 2 }),
        work(Act::Edit { path: path(), hunks: vec![hunk(&[" fn a", "-1", "+2"]), hunk(&["-x"])] }),
        work(Act::Create { path: path(), content: "one\ntwo\n".to_owned() }),
        work(Act::Delete { path: path() }),
    ]
}

fn native(tool: &str) -> &'static Native {
    by_name(tool).and_then(|tool| tool.native.as_ref()).expect("it is written")
}

/// A session in which the agent speaks, does everything that it has a tool for, and speaks again.
fn session(native: &Native) -> NativeSession {
    let calls = acts().iter().filter_map(native.calls).flatten().map(Step::Call).collect::<Vec<_>>();
    let answer = |text: &str| Step::Assistant(text.to_owned());
    let steps = [vec![Step::User("go".to_owned()), answer("looking")], calls, vec![answer("done")]].concat();
    NativeSession {
        id: "s1".to_owned(),
        cwd: PathBuf::from("/w/p"),
        branch: None,
        title: "work".to_owned(),
        steps,
        model: Some("some/model".to_owned()),
        now: 5_000,
        make_id: |_| {
            use std::sync::atomic::{AtomicU32, Ordering};
            static NEXT: AtomicU32 = AtomicU32::new(0);
            format!("01a22bd0-0000-7000-8000-{:012}", NEXT.fetch_add(1, Ordering::Relaxed))
        },
    }
}

#[test]
fn work_becomes_the_calls_that_a_tool_has_for_it() {
    for (tool, expected) in [
        ("claude", ["Bash", "Read", "Edit Edit", "Write", "-"]),
        ("codex", ["exec_command", "-", "apply_patch", "apply_patch", "apply_patch"]),
        ("gemini", ["run_shell_command", "read_file", "replace replace", "write_file", "-"]),
        ("qwen", ["run_shell_command", "read_file", "edit edit", "write_file", "-"]),
        ("opencode", ["bash", "read", "edit edit", "write", "-"]),
        ("pi", ["bash", "read", "edit", "write", "-"]),
        ("copilot", ["-"; 5]),
    ] {
        let names = |work: &Work| match (native(tool).calls)(work) {
            Some(calls) => calls.iter().map(|call| call.name).collect::<Vec<_>>().join(" "),
            None => "-".to_owned(),
        };
        assert_eq!(acts().each_ref().map(names), expected, "{tool}");
    }
    let written = ALL.iter().filter(|tool| tool.native.is_some()).count();
    assert_eq!(written, 7, "a further one belongs into this table");
}

/// An empty old text means a new file to them; where the lines went is not known.
#[test]
fn a_change_that_only_adds_is_no_replacement() {
    let added = work(Act::Edit { path: "/a".to_owned(), hunks: vec![hunk(&["+x"])] });
    for tool in ["claude", "codex", "gemini", "qwen", "opencode", "pi"] {
        assert!((native(tool).calls)(&added).is_none(), "{tool}");
    }
}

#[test]
fn the_calls_say_what_was_done_and_what_it_came_to() {
    let claude: Vec<OwnCall> = acts().iter().filter_map(native("claude").calls).flatten().collect();
    assert_eq!((&claude[0].input["command"], &*claude[0].output), (&json!("make"), "Exit code 2\nout"));
    // A read that names no lines would pass for the file as it is now.
    assert_eq!(claude[1].input, json!({ "file_path": "/w/p/a.rs", "offset": 40, "limit": 2 }));
    let edit = json!({ "file_path": "/w/p/a.rs", "old_string": "fn a\n1", "new_string": "fn a\n2", "replace_all": false });
    assert_eq!(claude[2].input, edit);
    assert_eq!(claude[4].input["content"], "one\ntwo\n");
    let codex: Vec<OwnCall> = acts().iter().filter_map(native("codex").calls).flatten().collect();
    assert_eq!(codex[0].output, "Process exited with code 2\nOutput:\nout");
    let patch = "*** Begin Patch\n*** Update File: /w/p/a.rs\n@@\n fn a\n-1\n+2\n@@\n-x\n*** End Patch\n";
    assert_eq!(codex[1].input, patch);
    assert!(codex[3].input.as_str().is_some_and(|patch| patch.contains("*** Delete File: /w/p/a.rs\n")));
    let unknown = Work { ok: None, output: String::new(), ..work(Act::Command("make".to_owned())) };
    for tool in ["claude", "codex", "gemini", "qwen", "opencode", "pi"] {
        let calls = (native(tool).calls)(&unknown).expect("a call");
        assert!(calls[0].output.contains(UNKNOWN), "{tool}: {}", calls[0].output);
    }
}

/// A model's interface refuses a call whose result does not follow it.
#[test]
fn every_call_is_followed_by_its_result() {
    let records = |tool: &str| (native(tool).records)(&session(native(tool)));
    let claude = records("claude");
    let uses: Vec<usize> = (0..claude.len())
        .filter(|at| claude[*at].pointer("/message/content/0/type") == Some(&json!("tool_use")))
        .collect();
    assert_eq!(uses.len(), 5);
    for at in uses {
        let (call, result) = (&claude[at], &claude[at + 1]);
        let part = &result["message"]["content"][0];
        assert_eq!(
            (&part["type"], &part["tool_use_id"]),
            (&json!("tool_result"), &call["message"]["content"][0]["id"])
        );
        assert_eq!((&result["parentUuid"], &result["type"]), (&call["uuid"], &json!("user")));
        assert_eq!(call["timestamp"], "1970-01-01T00:00:01.000Z", "when it was called");
    }
    let codex = records("codex");
    let calls: Vec<usize> = (0..codex.len()).filter(|at| !codex[*at]["payload"]["name"].is_null()).collect();
    assert_eq!(calls.len(), 4);
    for at in calls {
        assert_eq!(codex[at]["payload"]["call_id"], codex[at + 1]["payload"]["call_id"]);
        let kinds = (codex[at]["payload"]["type"].as_str(), codex[at + 1]["payload"]["type"].as_str());
        assert!(
            matches!(
                kinds,
                (Some("function_call"), Some("function_call_output"))
                    | (Some("custom_tool_call"), Some("custom_tool_call_output"))
            ),
            "{kinds:?}"
        );
    }
    let gemini = records("gemini");
    assert_eq!(gemini[2]["content"], "looking", "words stand in the record of the call after them");
    let calls: Vec<&Value> = gemini.iter().filter(|record| !record["toolCalls"].is_null()).collect();
    assert_eq!(calls.len(), 5);
    for record in calls {
        let call = &record["toolCalls"][0];
        assert_eq!(call["id"], call["result"][0]["functionResponse"]["id"]);
    }
}

#[test]
fn the_document_for_opencode_has_a_message_for_each_turn_and_rising_ids() {
    let document = (native("opencode").records)(&session(native("opencode"))).remove(0);
    let messages = document["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["info"]["model"], json!({ "providerID": "some", "modelID": "model" }));
    assert_eq!(messages[1]["info"]["parentID"], messages[0]["info"]["id"]);
    let parts = messages[1]["parts"].as_array().expect("parts");
    let kinds: Vec<&str> = parts.iter().filter_map(|part| part["type"].as_str()).collect();
    let call = ["step-start", "tool"];
    let expected = [&["step-start", "text", "tool"][..], &call, &call, &call, &call, &["step-start", "text"]];
    assert_eq!(kinds, expected.concat());
    assert_eq!(parts[2]["state"]["metadata"], json!({ "exit": 2 }));
    let ids: Vec<&str> = parts.iter().filter_map(|part| part["id"].as_str()).collect();
    assert!(ids.is_sorted() && ids.iter().all(|id| id.starts_with("prt_") && id.len() == 30), "{ids:?}");
}

#[test]
fn the_model_of_opencode_is_that_of_its_settings_else_the_one_used_last() {
    let import = native("opencode").import.as_ref().expect("it imports");
    let env = baton_transcripts::TranscriptEnv { home: "/home/you".into(), ..Default::default() };
    assert_eq!((import.last_model)(&env), PathBuf::from("/home/you/.local/state/opencode/model.json"));
    let recent =
        json!({ "recent": [{ "providerID": "x", "modelID": "y" }, { "providerID": "z", "modelID": "y" }] });
    let model = |settings: &str, last: &str| (import.model)(settings, last);
    assert_eq!(model("{\"model\": \"a/b/c\"}", &recent.to_string()), Some("a/b/c".to_owned()));
    assert_eq!(model("{}", &recent.to_string()), Some("x/y".to_owned()));
    assert_eq!((model("{}", ""), model("no settings", &recent.to_string())), (None, None));
}
