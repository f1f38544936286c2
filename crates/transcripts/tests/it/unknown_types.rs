//! Records of types that this version does not know are counted by the name of the type, in every format.

use baton_transcripts::by_id;
use baton_transcripts::report::{TypeCount, kind};
use serde_json::json;

use super::databases::Database;
use super::{damage, packet, sample};

/// A session of each format that is made of lines, and a record of a type that no version has.
const LINES: &[(&str, &str, &str)] = &[
    ("claude", "claude/normal.jsonl", r#"{"type":"x-new","uuid":"u"}"#),
    ("codex", "codex/paginated.jsonl", r#"{"type":"x-new","timestamp":"2026-11-20T10:00:00Z","payload":{}}"#),
    (
        "codex",
        "codex/paginated.jsonl",
        r#"{"type":"response_item","timestamp":"2026-11-20T10:00:00Z","payload":{"type":"x-new"}}"#,
    ),
    ("gemini", "gemini/rewound.jsonl", r#"{"id":"m-new","type":"x-new"}"#),
    (
        "copilot",
        "copilot/normal/9c000000-0000-4000-8000-000000000001/events.jsonl",
        r#"{"type":"x-new","data":{}}"#,
    ),
    // Records of these two are linked, and a new type need not be.
    ("qwen", "qwen/rewound/chats/9a000000-0000-4000-8000-000000000002.jsonl", r#"{"type":"x-new"}"#),
    (
        "qwen",
        "qwen/rewound/chats/9a000000-0000-4000-8000-000000000002.jsonl",
        r#"{"type":"x-new","uuid":"z-new","parentUuid":"r9"}"#,
    ),
    ("pi", "pi/forked.jsonl", r#"{"type":"x-new"}"#),
    ("kimi", "kimi/compacted.jsonl", r#"{"type":"x-new"}"#),
    ("kimi_cli", "kimi_cli/compacted.jsonl", r#"{"role":"x-new"}"#),
    ("pi", "pi/forked.jsonl", r#"{"type":"x-new","id":"z-new","parentId":"p08"}"#),
    ("cursor", "cursor/without-results.jsonl", r#"{"role":"x-new"}"#),
    ("droid", "droid/forked.jsonl", r#"{"type":"x-new"}"#),
    ("antigravity", "antigravity/compacted.jsonl", r#"{"source":"X","type":"x-new"}"#),
    ("grok", "grok/history-first.jsonl", r#"{"type":"x-new"}"#),
    ("windsurf", "windsurf/canceled.jsonl", r#"{"type":"x-new","status":"done"}"#),
    (
        "qoder",
        "qoder/normal/.qoder/projects/-home-you-shop/9b000000-0000-4000-8000-000000000001.jsonl",
        r#"{"type":"x-new","uuid":"u"}"#,
    ),
    (
        "vscode_copilot",
        "vscode_copilot/normal/workspaceStorage/0f343b0931126a20f133d67c2b018a3b/chatSessions/97000000-0000-4000-8000-000000000001.jsonl",
        r#"{"kind":"x-new"}"#,
    ),
    ("vibe", "vibe/compacted/messages.jsonl", r#"{"role":"x-new"}"#),
    ("external", "external/damaged.jsonl", r#"{"event":"x-new"}"#),
];

fn new(count: u64) -> TypeCount {
    TypeCount { name: "x-new".to_owned(), count }
}

#[test]
fn every_format_of_lines_names_the_types_that_it_does_not_know() {
    for (format, name, record) in LINES {
        let whole = std::fs::read_to_string(sample(name)).expect("sample");
        let report = damage::check_as(format, "rollout-x.jsonl", format!("{whole}\n{record}\n").as_bytes());
        assert!(report.unknown_types.contains(&new(1)), "{format}: {report:?}");
    }
}

#[test]
fn documents_name_the_roles_that_they_do_not_know() {
    let kiro = r#"{"sessionId":"k","workspaceDirectory":"/w","history":[{"message":{"role":"user","content":"go"}},
        {"message":{"role":"x-new","content":"?"}}]}"#;
    let report = damage::check_as("kiro", "k.json", kiro.as_bytes());
    assert_eq!(report.unknown_types, [new(1)], "{report:?}");
    let atif = r#"{"schema_version":"ATIF-v1.8","steps":[{"step_id":1,"source":"user","message":"go"},
        {"step_id":2,"source":"x-new","message":"?"}]}"#;
    let report = damage::check_as("atif", "run.json", atif.as_bytes());
    assert_eq!(report.unknown_types, [new(1)], "{report:?}");
}

#[test]
fn databases_name_the_types_of_parts_that_they_do_not_know() {
    for (format, sql, place, key) in [
        ("goose", "goose/damaged.sql", ".local/share/goose/sessions/sessions.db", Some("g3")),
        ("opencode", "opencode/damaged.sql", ".local/share/opencode/opencode.db", None),
        ("opencode", "opencode/v2-damaged.sql", ".local/share/opencode/opencode.db", None),
        ("hermes", "hermes/damaged.sql", ".hermes/state.db", Some("h3")),
        ("crush", "crush/damaged.sql", "shop/.crush/crush.db", Some("s3")),
        ("devin", "devin/damaged.sql", ".local/share/devin/cli/sessions.db", Some("d1")),
    ] {
        let made = Database::new(sql, place);
        let report = by_id(format).expect("known").read_session(&made.path(), key, &mut |_| {});
        let complaint = report.complaints.iter().find(|one| one.kind == kind::UNKNOWN_TYPE);
        let named: u64 = report.unknown_types.iter().map(|one| one.count).sum();
        assert_eq!(complaint.map(|one| one.count), Some(named), "{format}: {report:?}");
        assert!(report.unknown_types.iter().all(|one| !one.name.is_empty()), "{format}: {report:?}");
    }
}

#[test]
fn an_event_of_copilot_may_name_its_sub_agent_beside_its_data() {
    let whole = std::fs::read_to_string(sample("copilot/compacted/events.jsonl")).expect("sample");
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("events.jsonl");
    let lines = [
        json!({"type": "user.message", "agentId": "a1", "data": {"content": "Count the callers"}}),
        json!({"type": "user_input.completed", "data": {}}),
        json!({"type": "model.call_failure", "data": {}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, format!("{}\n{lines}", whole.trim_end())).expect("write");
    let (before, after) = (packet(&sample("copilot/compacted/events.jsonl")), packet(&path));
    assert_eq!(before["requests"]["last"]["text"], after["requests"]["last"]["text"]);
    assert_eq!(after["metadata"]["complaints"], json!(null));
}

/// A part of a record that this version knows: the doctor names it, and the packet says nothing of it.
#[test]
fn parts_of_known_records_are_named_by_the_doctor_and_are_no_complaint() {
    let copilot = "copilot/normal/9c000000-0000-4000-8000-000000000001/events.jsonl";
    let auggie =
        std::fs::read_to_string(sample("auggie/normal/sessions/9c100000-0000-4000-8000-000000000001.json"));
    for (format, name, record, part) in [
        (
            "claude",
            "claude/normal.jsonl",
            r#"{"type":"system","subtype":"x-new","uuid":"u","isSidechain":true}"#,
            "system:x-new",
        ),
        (
            "claude",
            "claude/normal.jsonl",
            r#"{"type":"attachment","attachment":{"type":"x-new"},"uuid":"u","isSidechain":true}"#,
            "attachment:x-new",
        ),
        (
            "codex",
            "codex/paginated.jsonl",
            r#"{"type":"event_msg","timestamp":"2026-11-20T10:00:00Z","payload":{"type":"x-new"}}"#,
            "event_msg:x-new",
        ),
        ("copilot", copilot, r#"{"type":"tool.x_new","data":{"toolCallId":"c"}}"#, "event:tool.x_new"),
    ] {
        let whole = std::fs::read_to_string(sample(name)).expect("sample");
        let before = damage::check_as(format, "rollout-x.jsonl", whole.as_bytes());
        let report = damage::check_as(format, "rollout-x.jsonl", format!("{whole}\n{record}\n").as_bytes());
        let named: Vec<&str> = report.unknown_types.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(named, [part], "{format}: {report:?}");
        assert_eq!(before.complaints, report.complaints, "{format}");
    }
    let whole = auggie.expect("sample");
    let more = whole.replacen("\"request_nodes\": [", "\"request_nodes\": [{\"type\": 99},", 1);
    let more = more.replacen("\"request_nodes\":[", "\"request_nodes\":[{\"type\":99},", 1);
    let report = damage::check_as("auggie", "a.json", more.as_bytes());
    let named: Vec<&str> = report.unknown_types.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(named, ["node:99"], "{report:?}");
}
