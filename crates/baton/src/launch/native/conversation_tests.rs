use std::path::Path;

use baton_ops::transcript::FileEdit;
use baton_tools::by_name;
use serde_json::json;

use super::*;

fn message(user: bool, text: &str) -> Value {
    json!({ "event": "message", "role": if user { "user" } else { "assistant" }, "text": text })
}

fn of(events: &[Value], tool: &str) -> Conversation {
    let native = by_name(tool).and_then(|tool| tool.native.as_ref()).expect("it is written");
    let folders = Folders { old: Some("~/old"), new: Path::new("/w/p"), home: Path::new("/home/you") };
    Conversation::of(events, native, &folders)
}

fn words(step: &Step) -> (bool, &str) {
    match step {
        Step::User(text) => (true, text),
        Step::Assistant(text) => (false, text),
        Step::Call(call) => (false, call.name),
    }
}

/// A change of a file.
fn change(path: &'static str, kind: &'static str, diff: Option<&'static str>) -> FileEdit<'static> {
    let diff = diff.map(Into::into);
    FileEdit { path: path.into(), change: kind.into(), from: None, added: None, removed: None, diff }
}

/// A call, then what it changed.
fn edited(category: &str, edits: &[FileEdit<'_>]) -> Vec<Value> {
    let paths: Vec<&str> = edits.iter().map(|edit| &*edit.path).collect();
    let call = json!({ "event": "tool_call", "tool": "T", "category": category, "target": paths.join(", "), "ok": true, "result": "fine" });
    let edits = edits.iter().map(|edit| json!(EventBody::Edit(edit.clone())));
    [call].into_iter().chain(edits).collect()
}

fn worked() -> Vec<Value> {
    vec![
        message(false, "hello"),
        message(true, "Fix it"),
        message(true, "and test"),
        message(false, "Looking."),
        json!({ "event": "tool_call", "tool": "Bash", "category": "shell", "target": "make", "exit_code": 2, "ok": false, "result": "boom\n" }),
        json!({ "event": "tool_call", "tool": "Read", "category": "read", "target": "a.rs", "ok": true, "result": "long file" }),
        json!({ "event": "message", "role": "assistant", "text": "inside", "subagent": "s1" }),
        json!({ "event": "edit", "path": "a.rs", "change": "modified" }),
    ]
}

#[test]
fn turns_alternate_and_calls_that_a_tool_has_not_are_told_as_text() {
    let conversation = of(&worked(), "copilot");
    let expected = [
        (true, "Fix it\n\nand test"),
        (false, "Looking.\n\n[ran Bash: make → exit 2]\nboom\n\n[ran Read: a.rs → ok]"),
    ];
    let steps: Vec<_> = conversation.steps.iter().map(words).collect();
    assert_eq!((steps.as_slice(), conversation.left_out), (expected.as_slice(), 1));
}

#[test]
fn calls_that_a_tool_has_are_its_own() {
    let conversation = of(&worked(), "claude");
    let steps: Vec<_> = conversation.steps.iter().map(words).collect();
    assert_eq!(steps, [(true, "Fix it\n\nand test"), (false, "Looking."), (false, "Bash"), (false, "Read")]);
    let Step::Call(read) = &conversation.steps[3] else { panic!("a call") };
    assert_eq!(read.input, json!({ "file_path": "/w/p/a.rs", "offset": 1, "limit": 1 }));
    // Codex has no tool that reads.
    let steps: Vec<(bool, String)> =
        of(&worked(), "codex").steps.iter().map(words).map(|(user, text)| (user, text.to_owned())).collect();
    assert_eq!(steps[2..], [(false, "exec_command".to_owned()), (false, "[ran Read: a.rs → ok]".to_owned())]);
}

fn inputs(events: Vec<Value>, tool: &str) -> Vec<Value> {
    let steps = of(&[vec![message(true, "go")], events].concat(), tool).steps;
    let input = |step: Step| match step {
        Step::Call(call) => Some(call.input),
        _ => None,
    };
    steps.into_iter().filter_map(input).collect()
}

#[test]
fn a_change_is_told_where_its_text_is_known_in_full() {
    let diff = "@@ -1,2 +1,2 @@\n fn\n-1\n+2\n@@ -9 +9 @@\n-x\n+y\n";
    let patch = change("~/old/src/a.rs", "modified", Some(diff));
    let edits = inputs(edited("edit", std::slice::from_ref(&patch)), "claude");
    let pairs: Vec<_> = edits.iter().map(|edit| (&edit["old_string"], &edit["new_string"])).collect();
    assert_eq!(pairs, [(&json!("fn\n1"), &json!("fn\n2")), (&json!("x"), &json!("y"))]);
    assert_eq!(edits[0]["file_path"], "/w/p/src/a.rs", "where it lies now");
    // Several replacements in a row have no heads between them.
    let bare = change("/x/a.rs", "modified", Some("-1\n+2\n-3\n+4"));
    assert_eq!(inputs(edited("edit", &[bare]), "claude").len(), 2);
    let cut = change("a.rs", "modified", Some("-1\n+2… [99 bytes left out]"));
    let unknown = change("a.rs", "modified", None);
    let renamed = change("b.rs", "renamed", Some("-1\n+2"));
    for edit in [cut, unknown, renamed] {
        let calls = inputs(edited("edit", &[patch.clone(), edit.clone()]), "codex");
        assert_eq!(calls, Vec::<Value>::new(), "{edit:?}");
    }
    let created = change("new.rs", "created", Some("+one\n+two"));
    let deleted = change("old.rs", "deleted", None);
    let patches = inputs(edited("edit", &[created, deleted]), "codex");
    assert_eq!(patches[0], "*** Begin Patch\n*** Add File: /w/p/new.rs\n+one\n+two\n*** End Patch\n");
    assert_eq!(patches[1], "*** Begin Patch\n*** Delete File: /w/p/old.rs\n*** End Patch\n");
}

#[test]
fn changes_of_calls_that_ran_at_once_each_stand_with_their_own() {
    let call = |target: &str, line: u64| json!({ "event": "tool_call", "tool": "Edit", "category": "edit", "target": target, "ok": true, "ended": { "line": line } });
    let edit = |path: &str, new: &str, line: u64| json!({ "event": "edit", "path": path, "change": "modified", "diff": format!("-0\n+{new}"), "line": line });
    let events = vec![
        call("a.rs", 7),
        call("b.rs", 7),
        call("a.rs", 7),
        edit("a.rs", "first", 7),
        edit("b.rs", "other", 7),
        edit("a.rs", "second", 7),
        call("a.rs", 9),
        edit("a.rs", "third", 9),
    ];
    let new: Vec<Value> = inputs(events, "gemini").iter().map(|input| input["new_string"].clone()).collect();
    assert_eq!(new, ["first", "other", "second", "third"]);
}

#[test]
fn what_the_user_ran_and_what_is_too_long_stays_text() {
    let shell = |tool: &str, target: &str| json!({ "event": "tool_call", "tool": tool, "category": "shell", "target": target, "ok": true, "result": "x".repeat(9_000) });
    let steps =
        of(&[message(true, "go"), shell("typed_command", "ls"), shell("Bash", &"y".repeat(9_000))], "claude")
            .steps;
    assert!(steps.iter().all(|step| !matches!(step, Step::Call(_))), "{steps:?}");
    let read = json!({ "event": "tool_call", "tool": "Read", "category": "read", "target": "a", "lines": "40-", "ok": true, "result": "line\n".repeat(2_000) });
    let steps = of(&[message(true, "go"), shell("Bash", "ls"), read], "claude").steps;
    let outputs: Vec<&str> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Call(call) => Some(&*call.output),
            _ => None,
        })
        .collect();
    assert!(outputs[0].starts_with("…x") && outputs.iter().all(|output| output.len() < 1_600), "{outputs:?}");
    assert!(outputs[1].ends_with("bytes left out]"), "{outputs:?}");
    let Some(Step::Call(read)) = steps.last() else { panic!("a call") };
    assert_eq!(read.input, json!({ "file_path": "/w/p/a", "offset": 40, "limit": 300 }));
}

#[test]
fn a_long_conversation_begins_later_and_says_so() {
    let long = "x".repeat(70 * 1024);
    let events: Vec<Value> = (0..5).flat_map(|_| [message(true, "go"), message(false, &long)]).collect();
    let conversation = of(&events, "claude");
    let begins_with_user = matches!(conversation.steps[0], Step::User(_));
    assert_eq!((conversation.steps.len(), conversation.left_out, begins_with_user), (4, 6, true));
    // A single turn beyond all measure goes along all the same: it is what was asked last.
    let conversation = of(
        &[message(true, "first"), message(false, "yes"), message(true, &"y".repeat(200 * 1024))],
        "claude",
    );
    assert_eq!((conversation.steps.len(), conversation.left_out), (1, 2));
}
