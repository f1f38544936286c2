use serde_json::json;

use super::{check, column, complaints, packet, sample};

const NORMAL: &str = "gemini/normal/tmp/shop/chats/session-2026-11-20T10-00-9e000000.jsonl";

#[test]
fn a_gemini_session_is_told_as_it_stands_after_all_edits() {
    let packet = packet(&sample(NORMAL));
    check(
        &packet,
        &[
            ("/source/agent", json!("gemini")),
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("What is left?")),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/last_failure/output", json!("test_cart FAILED\nexpected 3")),
            ("/test_status", json!("fail")),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/files_modified/1/change", json!("created")),
            ("/files_modified/2/change", json!("modified (by sub-agent sub1)")),
            ("/commands/1/exit_code", json!(0)),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/tokens", json!({"input": 2400, "cache_read": 1600, "cache_write": 0, "output": 240})),
            ("/metadata/subagents/sub1", json!(2)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md", "callers.txt"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["in_progress", "pending"]);
    assert_eq!(column(&packet, "constraints", "text"), ["Never touch the migrations."]);
    assert_eq!(
        column(&packet, "next_steps", "text"),
        ["update docs/cart.md", "find out why test_cart fails"]
    );
    // The record that was replaced by a later one is not told twice.
    let messages = column(&packet, "recent_messages", "text");
    assert!(messages.iter().filter(|text| **text == "I'll plan first.").count() <= 1);
}

#[test]
fn what_gemini_took_back_is_gone() {
    let packet = packet(&sample("gemini/rewound.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["~/shop/memo.py"]);
    check(&packet, &[("/next_steps/0/text", json!("Good. Also an expiry"))]);
    assert!(!packet.to_string().contains("edis"));
}

/// Gemini CLI 0.61 takes a request that its provider refused out of the list, as here at the end of a day's quota.
#[test]
fn a_request_that_the_provider_refused_was_asked() {
    let user = |id: &str, text: &str| json!({ "id": id, "timestamp": "2026-11-26T17:32:44.843Z", "type": "user", "content": [{ "text": text }] });
    let setup = user("d049", "<session_context>\nThis is the Gemini CLI.\n</session_context>");
    let lines = [
        json!({ "sessionId": "bf51b649-5726-41b4-9df9-7e23c7bf772a", "startTime": "2026-11-26T17:32:44.717Z", "kind": "main" }),
        json!({ "$set": { "messages": [setup] } }),
        user("1c11", "<hook_context>No hand-off waits.</hook_context>\n\nRound the prices of the cart"),
        json!({ "$set": { "lastUpdated": "2026-11-26T17:32:44.843Z" } }),
        json!({ "$set": { "messages": [setup] } }),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("session-2026-11-26T17-32-bf51b649.jsonl");
    std::fs::write(&path, lines.map(|line| line.to_string()).join("\n")).expect("written");
    check(&packet(&path), &[("/requests/last/text", json!("Round the prices of the cart"))]);
}

/// Gemini CLI 0.61 sets the list anew when it resumes a session, and leaves out messages that begin with what a hook said. Another head
/// stands before it only where both runs began in the same minute.
#[test]
fn what_was_asked_before_a_session_was_resumed_was_asked() {
    let whole = std::fs::read_to_string(sample("gemini/resumed.jsonl")).expect("the sample");
    let lines: Vec<&str> = whole.lines().collect();
    let second = lines.iter().rposition(|line| line.starts_with("{\"sessionId\"")).expect("a second head");
    // The head, and the list that a new session begins with.
    let without_head = [&lines[..second], &lines[second + 2..]].concat().join("\n");
    let dir = tempfile::tempdir().expect("a folder");
    for text in [whole, without_head] {
        let path = dir.path().join("session-resumed.jsonl");
        std::fs::write(&path, text).expect("written");
        let packet = packet(&path);
        check(
            &packet,
            &[
                ("/requests/first/text", json!("Count the cart, and never round a price.")),
                ("/requests/last/text", json!("Now the taxes")),
                ("/files_modified/0/path", json!("~/shop/cart.txt")),
                ("/metadata/complaints", json!(null)),
            ],
        );
        let messages = column(&packet, "recent_messages", "text");
        assert_eq!(messages.iter().filter(|text| **text == "The cart adds up.").count(), 1);
    }
}

#[test]
fn what_gemini_compacted_away_still_happened() {
    let packet = packet(&sample("gemini/compacted.jsonl"));
    // What the tool lets the model say to its own summary is no answer.
    assert_eq!(
        column(&packet, "recent_messages", "text"),
        ["Port the parser", "Half done.", "Now the lexer", "On it."]
    );
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser")),
            ("/requests/last/text", json!("Now the lexer")),
            ("/files_modified/0/path", json!("parser.rs")),
            ("/metadata/compaction/count", json!(1)),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
        ],
    );
    assert!(column(&packet, "open_loops", "text")[0].contains("cargo test"));
}

#[test]
fn an_old_document_is_read_with_the_line_of_every_message() {
    let packet = packet(&sample("gemini/old.json"));
    check(
        &packet,
        &[
            ("/requests/first", json!({"text": "Explain total()", "at": "gemini:9e000000#7"})),
            ("/files_modified/0/path", json!("cart.py")),
            ("/files_modified/0/diff", json!("-total\n+sum_up")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn a_document_that_was_cut_gives_its_whole_messages() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("session-x.json");
    let text = std::fs::read_to_string(sample("gemini/old.json")).expect("sample");
    std::fs::write(&path, &text[..text.find("Renamed.").expect("found")]).expect("write");
    let packet = packet(&path);
    check(&packet, &[("/requests/last/text", json!("Rename it to sum_up"))]);
    assert_eq!(complaints(&packet), ["truncated_last_line"]);
}

#[test]
fn a_damaged_gemini_session_gives_what_is_whole_and_counts_the_rest() {
    let packet = packet(&sample("gemini/damaged.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["~/shop/cart.py", "~/shop/NOTES.md"]);
    check(&packet, &[("/last_failure/exit_code", json!(1))]);
    assert_eq!(
        complaints(&packet),
        ["bad_line", "invalid_utf8", "nul_bytes", "unknown_type", "truncated_last_line"]
    );
}
