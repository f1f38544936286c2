//! A conversation is written as a session of another tool, and read back by us.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::stage::{Stage, env, text};

pub(crate) const SAID: &str = "I chose Decimal over float because money needs exact cents.";
pub(crate) const ASKED: &str = "Never touch the migrations.";

pub(crate) fn worked() -> (Stage, String) {
    let stage = Stage::ready();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    let content = fs::read_to_string(sample).expect("sample");
    let content = content.replace("/home/you/shop", &stage.shop().display().to_string());
    let path = stage.file("session.jsonl", content);
    (stage, path)
}

/// What was said, without calls.
fn words_of(shown: &Value) -> Vec<Value> {
    let messages = shown["messages"].as_array().expect("messages");
    let of_call = |message: &&Value| message["role"] == "tool" || message["role"] == "result";
    messages.iter().filter(|message| !of_call(message)).cloned().collect()
}

/// Writes the session for this tool and gives the answer.
pub(crate) fn written(stage: &Stage, path: &str, tool: &str) -> Value {
    let answer = stage.terminal("Lola").json(&["continue", path, "--in", tool, "--native", "--print"]);
    assert!(Path::new(&text(&answer["native"], "path")).is_file(), "{answer:#}");
    answer
}

#[test]
fn a_written_session_is_read_back_and_listed_under_its_tool() {
    let (stage, path) = worked();
    let lola = stage.terminal("Lola");
    for (tool, place) in [
        ("claude", ".claude/projects/"),
        ("codex", ".codex/sessions/"),
        ("copilot", ".copilot/session-state/"),
        ("qwen", ".qwen/projects/"),
        ("pi", ".pi/agent/sessions/"),
        ("gemini", "data/baton/handoffs/"),
    ] {
        let answer = written(&stage, &path, tool);
        let (id, file) = (text(&answer["native"], "id"), text(&answer["native"], "path"));
        assert!(file.starts_with(&stage.home().join(place).display().to_string()), "{tool}: {file}");
        if tool == "qwen" {
            // Its rule for the ids of sessions: a UUID of version 1 to 5.
            assert!(matches!(&id[14..15], "1" | "2" | "3" | "4" | "5"), "{tool} takes no session {id}");
        }
        let shown = lola.json(&["transcripts", "show", &file, "--agent", tool]);
        let messages = words_of(&shown);
        assert_eq!(messages.len() as u64, answer["native"]["messages"].as_u64().expect("a number"), "{tool}");
        let whole = Value::from(messages.clone()).to_string();
        for fact in [SAID, ASKED] {
            assert!(whole.contains(fact), "{tool}: no `{fact}` in {whole}");
        }
        assert_eq!(messages[0]["role"], "user", "{tool}");
        let events = lola.text(&["handoff", "from-transcript", &file, "--agent", tool, "--format", "jsonl"]);
        let calls: Vec<Value> = events
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|event: &Value| event["event"] == "tool_call")
            .collect();
        match tool {
            "copilot" => {
                assert!(whole.contains("[ran Bash: make test → exit 2]") && calls.is_empty(), "{whole}");
                let by_turns =
                    messages.iter().enumerate().all(|(n, m)| m["role"] == ["user", "assistant"][n % 2]);
                assert!(by_turns, "{tool}: {whole}");
            }
            _ => {
                let is_test = |call: &&Value| call["target"] == "make test" && call["ok"] == false;
                let test = calls.iter().find(is_test).unwrap_or_else(|| panic!("{tool}: {calls:#?}"));
                assert!(test["result"].to_string().contains("test_cart FAILED"), "{tool}: {test:#}");
                assert!(!whole.contains("[ran Bash"), "{tool}: {whole}");
                assert!(
                    whole.contains("[ran mcp__github__create_issue"),
                    "{tool}: no tool of its own: {whole}"
                );
            }
        }
        let argv = answer["argv"].to_string();
        assert!(
            argv.contains(if tool == "gemini" { &file } else { &id }) && argv.contains("make test"),
            "{tool}: {argv}"
        );
        if tool != "gemini" {
            let listed = lola.json(&["transcripts", "path", &id, "--agent", tool]);
            assert_eq!(
                (&listed["path"], &listed["cwd"]),
                (&json!(file), &json!(stage.shop().canonicalize().expect("shop"))),
                "{tool}"
            );
        }
        let halves = fs::read_dir(Path::new(&file).parent().expect("folder")).expect("folder");
        assert!(
            halves.filter_map(Result::ok).all(|e| !e.file_name().to_string_lossy().ends_with(".half")),
            "{tool}"
        );
    }
    // Where the tool's folder cannot be written, or the work is somebody else's, nothing is left behind.
    lola.refused(1, "native_unsupported", &["continue", &path, "--in", "amp", "--native", "--print"]);
    // OpenCode takes none from a file: without the program there is no way in.
    lola.with("PATH", "/nowhere").refused(
        1,
        "tool_not_installed",
        &["continue", &path, "--in", "opencode", "--native", "--print"],
    );
    lola.refused(2, "usage", &["continue", &path, "--in", "codex", "--native", "--fresh", "--print"]);
    let blocked = lola.with("CODEX_HOME", stage.file("no-folder", ""));
    blocked.refused(1, "native_unwritable", &["continue", &path, "--in", "codex", "--native", "--print"]);
    let before = count(&stage.home().join(".codex"));
    stage.terminal("Donna").json(&["pickup"]);
    // Held by Donna: the tool would be told so, and its session is taken back.
    let bin = stage.file("bin/codex", "#!/bin/sh\n");
    fs::set_permissions(&bin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let path_var =
        format!("{}:{}", Path::new(&bin).parent().expect("bin").display(), env("PATH").expect("PATH"));
    lola.with("PATH", path_var).refused(
        4,
        "baton_claimed",
        &["continue", &path, "--in", "codex", "--native"],
    );
    assert_eq!(count(&stage.home().join(".codex")), before);
}

/// A program of that name that takes nothing in: the session is not there, whatever it says.
#[test]
fn what_a_tool_does_not_import_is_not_resumed() {
    let (stage, path) = worked();
    let settings =
        "case $1 in debug) echo '{\"model\":\"a/b\"}';; import) cp \"$2\" \"$HOME/taken.json\";; esac";
    let bin = stage.file("bin/opencode", format!("#!/bin/sh\n{settings}\n"));
    fs::set_permissions(&bin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let path_var =
        format!("{}:{}", Path::new(&bin).parent().expect("bin").display(), env("PATH").expect("PATH"));
    let lola = stage.terminal("Lola").with("PATH", path_var);
    let before = stage.deltas();
    lola.refused(5, "native_not_imported", &["continue", &path, "--in", "opencode", "--native", "--print"]);
    assert_eq!(stage.deltas(), before, "nothing is recorded");
    assert_eq!(count(&stage.home().join("data/baton/handoffs")), 0, "and no file stays");
    // What it was given: one document, in which the calls are its own and name the model.
    let document = fs::read_to_string(stage.home().join("taken.json")).expect("what it was given");
    let document: Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["messages"][0]["info"]["model"], json!({ "providerID": "a", "modelID": "b" }));
    let parts = document["messages"][1]["parts"].as_array().expect("parts");
    let test = parts.iter().find(|part| part["state"]["input"]["command"] == "make test").expect("the test");
    assert_eq!(test["state"]["metadata"]["exit"], 2);
}

/// The copies hold no work that the baton does not: taken for conversations of their own, each became a further baton.
#[test]
fn a_written_session_is_the_conversation_of_its_baton_until_it_goes_on() {
    let (stage, path) = worked();
    let lola = stage.terminal("Lola");
    for tool in ["claude", "codex", "qwen"] {
        let answer = written(&stage, &path, tool);
        let (id, file) = (text(&answer["native"], "id"), text(&answer["native"], "path"));
        let reminders = || stage.terminal("Reader").json(&["status"])["reminders"].to_string();
        assert!(!reminders().contains(&id), "{tool}: {}", reminders());
        let imported = lola.json(&["import-transcript", &file, "--agent", tool]);
        assert_eq!(
            (&imported["baton_id"], &imported["imported_before"]),
            (&answer["handoff_id"], &json!(true)),
            "{tool}: {imported:#}"
        );
    }
    assert_eq!(lola.json(&["status"])["handoffs"].as_array().map(Vec::len), Some(1));
}

fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|e| if e.path().is_dir() { count(&e.path()) } else { 1 }).sum()
}
