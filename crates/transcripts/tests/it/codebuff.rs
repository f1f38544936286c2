use baton_transcripts::by_id;
use serde_json::json;

use super::damage::check_as;
use super::stories::{plan, tells_the_story};
use super::{check, column, packet, packet_of, sample};

const NORMAL: &str = "codebuff/normal/projects/shop/chats/2026-11-20T10-00-00.000Z/chat-messages.json";

#[test]
fn codebuff_tells_the_story() {
    let packet = tells_the_story(NORMAL);
    assert_eq!(plan(&packet), [("Fix total()", "completed"), ("Update the docs", "pending")]);
    check(
        &packet,
        &[
            ("/files_modified/2/path", json!("totals.txt")),
            ("/files_modified/2/change", json!("modified (by sub-agent agent-1)")),
            ("/environment/cwd", json!("~/shop")),
            ("/created_at", json!("2026-11-20T10:05:10.000Z")),
        ],
    );
}

#[test]
fn questions_errors_and_calls_without_results_are_told() {
    let packet = packet(&sample("codebuff/asked/chat-messages.json"));
    check(
        &packet,
        &[
            ("/source/agent", json!("codebuff")),
            ("/requests/first/text", json!("Port the parser")),
            ("/commands/0/note", json!("no outcome")),
        ],
    );
    assert!(packet.to_string().contains("Rate limit reached"), "{packet:#}");
    let report =
        by_id("codebuff").expect("known").read(&sample("codebuff/asked/chat-messages.json"), &mut |_| {});
    let named: Vec<_> = report.unknown_types.iter().map(|one| (one.name.as_str(), one.count)).collect();
    assert_eq!(named, [("x-new", 2)]);
}

#[test]
fn a_damaged_chat_gives_what_stands_before() {
    let packet = packet_of("codebuff", &sample("codebuff/damaged/chat-messages.json"), None);
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["truncated_document"]);
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md", "totals.txt"]);
    let broken =
        std::fs::read_to_string(sample(NORMAL)).expect("sample").replace("\"user-2\",", "\"user-2\" # ,");
    let report = check_as("codebuff", "chat-messages.json", broken.as_bytes());
    assert!(report.complaints.iter().any(|one| one.kind == "bad_record"), "{report:?}");
    let bytes = std::fs::read(sample(NORMAL)).expect("sample");
    for end in (0..bytes.len()).step_by(53) {
        check_as("codebuff", "chat-messages.json", &bytes[..end]);
    }
}

/// Each answer carries the state of its run; a chat of them is larger than what is built of one document.
#[test]
fn a_chat_is_read_message_by_message() {
    let state = format!("[{}1]", "1,".repeat(300_000));
    let answer = |text: &str| {
        format!(
            r#"{{"variant":"ai","content":"","blocks":[{{"type":"text","content":"{text}"}}],"metadata":{{"runState":{state}}}}}"#
        )
    };
    let chat = format!(
        r#"[{{"variant":"user","content":"Go"}},{},{},{}]"#,
        answer("One."),
        answer("Two."),
        answer("Three.")
    );
    let report = check_as("codebuff", "chat-messages.json", chat.as_bytes());
    assert_eq!((report.events, report.complaints.len()), (4, 0), "{report:?}");
}
