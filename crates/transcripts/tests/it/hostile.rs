//! Transcripts that somebody made to mislead or to break what reads them.

use std::fmt::Write as _;

use baton_transcripts::{Options, by_id, summarize};
use serde_json::{Value, json};

use super::complaints;

fn line(kind: &str, at: &str, message: &Value) -> String {
    let id = format!("{kind}-{at}");
    json!({"type": kind, "uuid": id, "parentUuid": null, "timestamp": at, "cwd": "/w/p",
        "sessionId": "../../../etc/passwd", "message": message})
    .to_string()
}

fn read(bytes: &[u8]) -> Value {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("f0000000-0000-4000-8000-000000000002.jsonl");
    std::fs::write(&path, bytes).expect("write");
    let summary = summarize(&path, by_id("claude").expect("known"), &Options::default());
    serde_json::to_value(summary).expect("JSON")
}

#[test]
fn damage_of_every_sort_beside_a_request_leaves_the_request() {
    let request = line("user", "2026-11-20T10:00:00Z", &json!({"role": "user", "content": "Fix the cart"}));
    let deep = format!("{{\"type\":\"user\",\"message\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let keys = format!("{{\"type\":\"user\",\"message\":{{{}}}}}", "\"a\":{".repeat(5_000));
    let long = format!("{{\"type\":\"user\",\"message\":\"{}\"}}", "x".repeat(9 * 1024 * 1024));
    for other in
        [deep.as_bytes(), keys.as_bytes(), long.as_bytes(), b"\xff\xfe\x00\x00", b"\"\\ud83d\"", b"\0\0\0"]
    {
        let bytes = [other, b"\n", request.as_bytes(), b"\n", other].concat();
        let packet = read(&bytes);
        assert_eq!(packet["requests"]["last"]["text"], "Fix the cart");
        assert!(!complaints(&packet).is_empty(), "{packet:#}");
    }
}

#[test]
fn times_far_out_are_read_or_left_and_never_wrong_by_overflow() {
    for at in [
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
        "-9999-01-01T00:00:00Z",
        "292278994-08-17T07:12:55Z",
        "x",
    ] {
        let packet = read(line("user", at, &json!({"role": "user", "content": "Fix the cart"})).as_bytes());
        assert_eq!(packet["requests"]["last"]["text"], "Fix the cart", "{at}");
        let created_at = packet["created_at"].as_str().unwrap_or_default();
        assert!(created_at.is_empty() || created_at.starts_with(&at[..4]), "{at} became {created_at}");
    }
}

#[test]
fn characters_that_nobody_sees_are_shown_in_every_part_of_a_packet() {
    let hidden = "a\u{202e}b\u{200b}c\u{e0041}\u{e0042}d";
    let mut text = String::new();
    let input = json!({"file_path": format!("/w/p/{hidden}.rs"), "content": hidden});
    for (kind, message) in [
        ("user", json!({"role": "user", "content": format!("Fix {hidden} now")})),
        (
            "assistant",
            json!({"role": "assistant", "content": [
                {"type": "text", "text": format!("I decided to use {hidden} instead of x because it is small.")},
                {"type": "tool_use", "id": "c1", "name": "Write", "input": input}]}),
        ),
    ] {
        let _ = writeln!(text, "{}", line(kind, "2026-11-20T10:00:00Z", &message));
    }
    let packet = read(text.as_bytes()).to_string();
    for c in ['\u{202e}', '\u{200b}', '\u{e0041}'] {
        assert!(!packet.contains(c), "{c:?} in {packet}");
    }
    assert!(packet.contains("u{202e}"), "{packet}");
}
