//! Errors of the provider: events of their own, and not the agent's words.

use baton_transcripts::event::EventKind;
use baton_transcripts::{Options, by_id, summarize_session};
use serde_json::json;

use super::databases::Database;
use super::sample;

/// The provider's words in every case.
const SAID: &str =
    "API Error: Request rejected (429): use another model instead of this one. Remaining: wait until 15:00";

/// A transcript of a format with records at its end that tell of an error of the provider.
struct Case {
    format: &'static str,
    sample: &'static str,
    /// Records of the error.
    records: Vec<serde_json::Value>,
}

fn claude(more: serde_json::Value) -> serde_json::Value {
    let mut record = json!({ "parentUuid": "aaaa-0030", "uuid": "ffff-0001", "isSidechain": false, "type": "assistant",
        "timestamp": "2026-11-20T11:30:00.000Z", "sessionId": "aaaaaaaa-0000-4000-8000-000000000001",
        "message": { "role": "assistant", "model": "claude-opus-4-5", "content": [{ "type": "text", "text": SAID }] } });
    for (key, value) in more.as_object().into_iter().flatten() {
        match key.as_str() {
            "model" => record["message"]["model"] = value.clone(),
            key => record[key] = value.clone(),
        }
    }
    record
}

fn cases() -> Vec<Case> {
    let case = |format, sample, records| Case { format, sample, records };
    let claude_sample = "claude/normal.jsonl";
    vec![
        case(
            "claude",
            claude_sample,
            vec![claude(json!({ "isApiErrorMessage": true, "error": "rate_limit" }))],
        ),
        // Older versions name no error, but a model that is none.
        case("claude", claude_sample, vec![claude(json!({ "model": "<synthetic>" }))]),
        case(
            "codex",
            "codex/shell-era.jsonl",
            vec![json!({ "timestamp": "2026-11-20T11:30:00.000Z", "type": "event_msg",
                "payload": { "type": "error", "message": SAID, "codex_error_info": "usage_limit_exceeded" } })],
        ),
        case(
            "codex",
            "codex/shell-era.jsonl",
            vec![json!({ "timestamp": "2026-11-20T11:30:00.000Z", "type": "event_msg",
                "payload": { "type": "error", "error": { "kind": "rate_limit", "message": SAID } } })],
        ),
        case(
            "codex",
            "codex/shell-era.jsonl",
            vec![json!({ "timestamp": "2026-11-20T11:30:00.000Z", "type": "event_msg",
                "payload": { "type": "task_complete", "last_agent_message": null,
                    "error": { "message": SAID, "codex_error_info": "usage_limit_exceeded" } } })],
        ),
        case(
            "gemini",
            "gemini/normal/tmp/shop/chats/session-2026-11-20T10-00-9e000000.jsonl",
            vec![
                json!({ "id": "m99", "timestamp": "2026-11-20T11:30:00.000Z", "type": "error", "content": SAID }),
            ],
        ),
        case(
            "copilot",
            "copilot/normal/9c000000-0000-4000-8000-000000000001/events.jsonl",
            vec![json!({ "type": "session.error", "id": "e99", "timestamp": "2026-11-20T11:30:00.000Z",
                "data": { "errorType": "rate_limit", "message": SAID } })],
        ),
        case(
            "pi",
            "pi/normal/sessions",
            vec![
                json!({ "type": "message", "id": "p99", "parentId": "LAST", "timestamp": "2026-11-20T11:30:00.000Z",
                "message": { "role": "assistant", "content": [], "stopReason": "error", "errorMessage": SAID } }),
            ],
        ),
    ]
}

/// The sample as it is, in a file of the same name, with these records behind it.
fn with(case: &Case, folder: &std::path::Path) -> std::path::PathBuf {
    let from = first_file(&sample(case.sample));
    let mut text = std::fs::read_to_string(&from).expect("a sample");
    let last = text.lines().rev().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line["id"].as_str().map(str::to_owned)
    });
    for record in &case.records {
        text.push_str(&record.to_string().replace("LAST", last.as_deref().unwrap_or_default()));
        text.push('\n');
    }
    let path = folder.join(from.file_name().expect("a name"));
    std::fs::write(&path, text).expect("written");
    path
}

fn first_file(path: &std::path::Path) -> std::path::PathBuf {
    if path.is_file() {
        return path.to_owned();
    }
    let mut entries: Vec<_> =
        std::fs::read_dir(path).expect("a folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    first_file(entries.first().expect("an entry"))
}

/// Checks that the error stands in an event of its own and that the packet has it from nobody's mouth.
#[track_caller]
fn check(format: &str, path: &std::path::Path, key: Option<&str>) {
    let reader = by_id(format).expect("a format");
    let mut errors = Vec::new();
    reader.read_session(path, key, &mut |event| match &event.what {
        EventKind::ProviderError(text) => errors.push(text.to_string()),
        EventKind::Assistant(text) | EventKind::User(text) => {
            assert!(!text.contains("(429)"), "{format}: {text}");
        }
        _ => {}
    });
    assert_eq!(errors, [SAID], "{format}");
    let packet = summarize_session(path, key, reader, &Options::default());
    let mut packet = serde_json::to_value(&packet).expect("JSON");
    // The one place that has them says whose words they are.
    let metadata = packet["metadata"].as_object_mut().expect("facts");
    let stop = metadata.remove("provider_stop");
    assert_eq!(stop.as_ref().map(|stop| &stop["text"]), Some(&json!(SAID)), "{format}: {stop:?}");
    let packet = packet.to_string();
    assert!(!packet.contains("(429)") && !packet.contains("15:00"), "{format}: {packet}");
}

#[test]
fn what_a_provider_says_is_neither_the_agents_last_word_nor_its_decision() {
    for case in cases() {
        let folder = tempfile::tempdir().expect("a folder");
        check(case.format, &with(&case, folder.path()), None);
    }
}

#[test]
fn an_answer_that_nobody_asked_for_is_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut record = claude(json!({ "model": "<synthetic>" }));
    record["message"]["content"] = json!([{ "type": "text", "text": "No response requested." }]);
    let path =
        with(&Case { format: "claude", sample: "claude/normal.jsonl", records: vec![record] }, folder.path());
    let packet = super::packet(&path).to_string();
    assert!(!packet.contains("No response requested"), "{packet}");
}

#[test]
fn what_a_provider_says_in_a_database_is_not_the_agents_word_either() {
    let made = Database::new("crush/normal.sql", "x/crush.db");
    let session = "5c0f6a1e-0000-4000-8000-000000000001";
    let parts =
        json!([{ "type": "finish", "data": { "reason": "error", "time": 1_795_000_050, "message": SAID } }]);
    made.open()
        .execute(
            "INSERT INTO messages (id, session_id, role, parts, model, provider, is_summary_message, created_at, updated_at)
             VALUES ('m99', ?1, 'assistant', ?2, 'glm-5', 'p', 0, 1795000099, 1795000099)",
            (session, parts.to_string()),
        )
        .expect("a message");
    check("crush", &made.path(), Some(session));
    let made = Database::new("opencode/normal.sql", "x/opencode.db");
    let info = json!({ "role": "assistant", "modelID": "glm-5", "providerID": "zai",
        "error": { "name": "APIError", "data": { "message": SAID, "statusCode": 429, "isRetryable": true } } });
    made.open()
        .execute(
            "INSERT INTO message (id, session_id, time_created, time_updated, data)
             VALUES ('msg_aa01_999', 'ses_aa01', 1795000080000, 1795000080000, ?1)",
            (info.to_string(),),
        )
        .expect("a message");
    check("opencode", &made.path(), Some("ses_aa01"));
}
