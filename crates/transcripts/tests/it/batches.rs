//! Results of parallel calls belong to their calls, wherever in the tree they hang; what was taken back does not.

use std::io::Write as _;
use std::path::Path;

use baton_transcripts::by_id;
use baton_transcripts::event::EventKind;
use serde_json::{Value, json};

use super::{column, packet, sample};

/// One entry: `(id, parent, message)`. A parent of "" is none.
type Entry<'t> = (&'t str, &'t str, Value);

fn call(message: &str, id: &str, path: &str) -> Value {
    json!({"role": "assistant", "id": message, "content": [
        {"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": path, "content": "x\n"}}]})
}

fn result(id: &str, output: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]})
}

fn said(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn answer(message: &str, text: &str) -> Value {
    json!({"role": "assistant", "id": message, "content": [{"type": "text", "text": text}]})
}

fn write(dir: &Path, entries: &[Entry<'_>]) -> std::path::PathBuf {
    let path = dir.join("f0000000-0000-4000-8000-000000000001.jsonl");
    let mut file = std::fs::File::create(&path).expect("file");
    for (id, parent, message) in entries {
        let kind = message["type"].as_str().or(message["role"].as_str()).expect("a type");
        let mut line = json!({
            "parentUuid": (!parent.is_empty()).then_some(*parent), "isSidechain": false, "cwd": "/w/p",
            "sessionId": "f0000000-0000-4000-8000-000000000001", "version": "2.1.37", "type": kind, "uuid": id,
        });
        let fields = if message["role"].is_null() { message.clone() } else { json!({"message": message}) };
        for (key, value) in fields.as_object().expect("fields") {
            line[key] = value.clone();
        }
        writeln!(file, "{line}").expect("write");
    }
    path
}

/// What is read of these entries: calls as `>id`, results as `<id`, and words.
fn read(entries: &[Entry<'_>]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("dir");
    let path = write(dir.path(), entries);
    let mut seen = Vec::new();
    by_id("claude").expect("known").read(&path, &mut |event| match &event.what {
        _ if event.subagent.is_some() => {}
        EventKind::Call(call) => seen.push(format!(">{}", call.id)),
        EventKind::Outcome(outcome) => seen.push(format!("<{}", outcome.id)),
        EventKind::User(text) | EventKind::Assistant(text) => seen.push(text.to_string()),
        _ => {}
    });
    seen
}

#[test]
fn a_batch_gives_the_same_document_as_the_same_calls_one_after_the_other() {
    let [linear, parallel] = ["linear", "parallel"].map(|name| {
        let mut packet = packet(&sample(&format!("claude/batch-{name}.jsonl")));
        packet["source"]["path"] = Value::Null;
        packet
    });
    assert_eq!(linear, parallel);
    assert_eq!(column(&parallel, "files_modified", "change"), ["created", "created"]);
    assert_eq!(parallel["test_status"], "fail");
}

#[test]
fn every_result_of_a_chained_batch_is_read() {
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("a2", "a1", call("m1", "c2", "two")),
        ("a3", "a2", call("m1", "c3", "three")),
        ("r1", "a1", result("c1", "ok")),
        ("r2", "a2", result("c2", "ok")),
        ("r3", "a3", result("c3", "ok")),
        ("a4", "r3", answer("m2", "done")),
    ]);
    assert_eq!(seen, ["go", ">c1", ">c2", ">c3", "<c1", "<c2", "<c3", "done"]);
}

#[test]
fn calls_of_a_batch_are_read_when_the_talk_goes_on_from_the_first_result() {
    let seen = read(&[
        ("u1", "", said("go")),
        ("a0", "u1", answer("m1", "both")),
        ("a1", "a0", call("m1", "c1", "one")),
        ("r1", "a1", result("c1", "ok")),
        ("t2", "a1", answer("m1", "and the other")),
        ("a2", "t2", call("m1", "c2", "two")),
        ("p2", "a2", json!({"type": "progress", "data": {"type": "hook_progress"}})),
        ("r2", "p2", result("c2", "ok")),
        ("a4", "r1", answer("m2", "done")),
    ]);
    assert_eq!(seen, ["go", "both", ">c1", "<c1", "and the other", ">c2", "<c2", "done"]);
}

#[test]
fn a_session_that_ends_within_a_batch_keeps_all_of_it() {
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("a2", "u1", call("m1", "c2", "two")),
        ("a3", "a2", call("m1", "c3", "three")),
        ("r3", "a3", result("c3", "ok")),
        ("r1", "a1", result("c1", "ok")),
    ]);
    assert_eq!(seen, ["go", ">c1", ">c2", ">c3", "<c3", "<c1"]);
}

#[test]
fn a_result_that_hangs_under_an_attachment_or_a_system_line_belongs_to_its_call() {
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("a2", "a1", call("m1", "c2", "two")),
        ("h1", "a1", json!({"type": "attachment", "attachment": {"type": "hook_success"}})),
        ("s1", "h1", json!({"type": "system", "subtype": "informational", "content": "x"})),
        ("r1", "s1", result("c1", "ok")),
        ("r2", "a2", result("c2", "ok")),
        ("a4", "r2", answer("m2", "done")),
    ]);
    assert_eq!(seen, ["go", ">c1", ">c2", "<c1", "<c2", "done"]);
}

#[test]
fn what_was_taken_back_and_what_a_sub_agent_did_stay_out() {
    let side = |message: Value| json!({"type": message["role"], "isSidechain": true, "message": message});
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("s1", "a1", side(call("m1", "c7", "seven"))),
        ("s2", "s1", side(result("c7", "of a sub-agent"))),
        ("s3", "a1", side(result("c1", "of a sub-agent"))),
        ("r1", "a1", result("c1", "ok")),
        // A prompt, its batch and its results, which the user took back.
        ("x1", "r1", said("wrong way")),
        ("x2", "x1", call("m8", "c8", "eight")),
        ("x3", "x2", call("m8", "c9", "nine")),
        ("x4", "x2", result("c8", "ok")),
        ("x5", "x3", result("c9", "ok")),
        ("u2", "r1", said("right way")),
        ("a2", "u2", answer("m2", "done")),
    ]);
    assert_eq!(seen, ["go", ">c1", "<c1", "right way", "done"]);
}

#[test]
fn a_branch_that_repeats_messages_of_the_conversation_adds_nothing() {
    // A copy of the batch, made when the session was resumed, and a second result of a call that has one.
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("a2", "a1", call("m1", "c2", "two")),
        ("r1", "a1", result("c1", "ok")),
        ("r2", "a2", result("c2", "ok")),
        ("y1", "u1", call("m1", "c1", "one")),
        ("y2", "y1", call("m1", "c2", "two")),
        ("z1", "y1", result("c1", "interrupted")),
        ("a4", "r2", answer("m2", "done")),
        ("z2", "y2", result("c2", "interrupted")),
        ("a5", "a4", answer("m3", "really")),
    ]);
    assert_eq!(seen, ["go", ">c1", ">c2", "<c2", "<c1", "done", "really"]);
}

#[test]
fn batches_before_a_compaction_are_whole() {
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("a2", "a1", call("m1", "c2", "two")),
        ("r1", "a1", result("c1", "ok")),
        ("r2", "a2", result("c2", "ok")),
        (
            "b1",
            "",
            json!({"type": "system", "subtype": "compact_boundary", "logicalParentUuid": "r2", "content": "Compacted"}),
        ),
        ("u2", "b1", said("next")),
        ("a3", "u2", call("m2", "c3", "three")),
        ("a4", "a3", call("m2", "c4", "four")),
        ("r4", "a4", result("c4", "ok")),
        ("r3", "a3", result("c3", "ok")),
        ("a5", "r4", answer("m3", "done")),
    ]);
    assert_eq!(seen, ["go", ">c1", ">c2", "<c1", "<c2", "next", ">c3", ">c4", "<c4", "<c3", "done"]);
}

#[test]
fn odd_fields_of_a_message_lose_no_line() {
    let seen = read(&[
        ("u1", "", said("go")),
        ("a1", "u1", call("m1", "c1", "one")),
        ("a2", "a1", call("m1", "c2", "two")),
        (
            "r1",
            "a1",
            json!({"role": "user", "id": 7, "content": [null, 1.5, [[]], {"type": {}},
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "ok"}]}]}),
        ),
        (
            "r2",
            "a2",
            json!({"role": "user", "id": [true], "content": [
            {"type": "tool_result", "tool_use_id": "c2", "content": "ok"}]}),
        ),
        ("a4", "r2", answer("m2", "done")),
    ]);
    assert_eq!(seen, ["go", ">c1", ">c2", "<c1", "<c2", "done"]);
}

#[test]
fn in_every_format_of_linked_lines_a_result_belongs_to_its_call() {
    let pi = [
        json!({"type": "session", "id": "s", "version": 3, "cwd": "/w"}),
        json!({"type": "message", "id": "u", "parentId": null, "message": {"role": "user", "content": "go"}}),
        json!({"type": "message", "id": "a", "parentId": "u", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
            {"type": "toolCall", "id": "c2", "name": "read", "arguments": {"path": "b"}}]}}),
        json!({"type": "message", "id": "r1", "parentId": "a",
            "message": {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": "ok"}]}}),
        json!({"type": "message", "id": "r2", "parentId": "a",
            "message": {"role": "toolResult", "toolCallId": "c2", "content": [{"type": "text", "text": "ok"}]}}),
    ];
    let qwen = [
        json!({"uuid": "u", "parentUuid": null, "type": "user", "message": {"role": "user", "parts": [{"text": "go"}]}}),
        json!({"uuid": "a", "parentUuid": "u", "type": "assistant", "message": {"role": "model", "parts": [
            {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}},
            {"functionCall": {"id": "c2", "name": "read_file", "args": {"path": "b"}}}]}}),
        json!({"uuid": "r1", "parentUuid": "a", "type": "tool_result", "message": {"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "ok"}}}]}}),
        json!({"uuid": "r2", "parentUuid": "a", "type": "tool_result", "message": {"role": "user", "parts": [
            {"functionResponse": {"id": "c2", "name": "read_file", "response": {"output": "ok"}}}]}}),
    ];
    let droid = [
        json!({"type": "session_start", "id": "s", "cwd": "/w"}),
        json!({"type": "message", "id": "u", "parentId": null, "message": {"role": "user", "content": "go"}}),
        json!({"type": "message", "id": "a", "parentId": "u", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "a"}},
            {"type": "tool_use", "id": "c2", "name": "Read", "input": {"file_path": "b"}}]}}),
        json!({"type": "message", "id": "r1", "parentId": "a", "message": result("c1", "ok")}),
        json!({"type": "message", "id": "r2", "parentId": "a", "message": result("c2", "ok")}),
    ];
    for (format, lines) in [("pi", pi.as_slice()), ("qwen", &qwen), ("droid", &droid)] {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("session.jsonl");
        std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())
            .expect("write");
        let mut results = Vec::new();
        by_id(format).expect("known").read(&path, &mut |event| {
            if let EventKind::Outcome(outcome) = &event.what {
                results.push(outcome.id.to_string());
            }
        });
        assert_eq!(results, ["c1", "c2"], "{format}");
    }
}
