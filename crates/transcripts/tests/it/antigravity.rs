//! Conversations of Antigravity in their databases.

use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::databases::{Database, listed};
use super::{check, column, complaints, packet, packet_of, sample};

const PLACE: &str = ".gemini/antigravity-cli/conversations/94000000-0000-4000-8000-000000000009.db";
const ID: &str = "94000000-0000-4000-8000-000000000009";

#[test]
fn antigravity_tells_the_story_out_of_its_database() {
    let made = Database::new("antigravity/conversation.sql", PLACE);
    let brain = made.home().join(".gemini/antigravity-cli/brain").join(ID);
    std::fs::create_dir_all(&brain).expect("dir");
    let plan = "antigravity/normal/brain/94000000-0000-4000-8000-000000000001/task.md";
    std::fs::copy(sample(plan), brain.join("task.md")).expect("copy");
    let packet = packet(&made.path());
    check(
        &packet,
        &[
            ("/source/agent", json!("antigravity")),
            ("/session_id", json!(ID)),
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("What is left?")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/test_status", json!("fail")),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/model", json!("gemini-3-pro")),
            ("/metadata/tokens", json!({"input": 300, "cache_read": 150, "cache_write": 0, "output": 60})),
            ("/metadata/started_at", json!("2026-11-20T10:00:00.500Z")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md"]);
    assert_eq!(column(&packet, "pending_tasks", "title"), ["Fix total()", "Update the docs"]);
    assert_eq!(
        column(&packet, "next_steps", "text"),
        ["update docs/cart.md", "find out why test_cart fails"]
    );
}

#[test]
fn a_conversation_is_listed_from_its_database_where_no_transcript_tells_it() {
    let made = Database::new("antigravity/conversation.sql", PLACE);
    let headers = made.list("antigravity");
    assert_eq!(headers.len(), 1, "{headers:#?}");
    let header = &headers[0];
    assert_eq!((header.id.as_str(), header.key.as_deref()), (ID, Some(ID)));
    assert_eq!(header.title.as_deref(), Some("Fix total() in cart.py. Never touch the migrations."));
    assert_eq!(
        (header.cwd.as_deref(), header.model.as_deref()),
        (Some("/home/you/shop"), Some("gemini-3-pro"))
    );
    assert!(header.complaints.is_empty() && header.created_at_ms.is_some());
    // The transcript of the same conversation says more.
    let logs = format!(".gemini/antigravity-cli/brain/{ID}/.system_generated/logs");
    let logs = made.home().join(logs);
    std::fs::create_dir_all(&logs).expect("dir");
    std::fs::copy(sample("antigravity/compacted.jsonl"), logs.join("transcript.jsonl")).expect("copy");
    let env = TranscriptEnv { home: made.home().to_owned(), ..TranscriptEnv::default() };
    let headers = listed(&env, "antigravity");
    assert!(headers.len() == 1 && headers[0].path.ends_with("transcript.jsonl"), "{headers:#?}");
}

#[test]
fn a_damaged_conversation_gives_what_is_whole() {
    let made = Database::new("antigravity/conversation-damaged.sql", PLACE);
    let packet = packet_of("antigravity", &made.path(), None);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Clean up the logs")),
            ("/last_answer/text", json!("Running.")),
            ("/last_failure/command", json!("pytest -q")),
            ("/metadata/tokens/output", json!(70)),
            ("/environment/cwd", json!("~/shop")),
        ],
    );
    assert_eq!(complaints(&packet), ["bad_record", "unknown_type"]);
    let open = column(&packet, "open_loops", "text");
    assert!(open.iter().any(|text| text.contains("npm run dev")), "{open:?}");
    made.open().execute_batch("DELETE FROM steps").expect("SQL");
    let headers = made.list("antigravity");
    assert!(headers[0].empty && headers[0].complaints[0].kind == "no_conversation");
}
