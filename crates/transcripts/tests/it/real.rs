use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{check, column, packet};

/// Where the files made by the tools themselves are; without them the test says so.
fn real(part: &str) -> Option<PathBuf> {
    #[allow(clippy::disallowed_methods, reason = "a test may ask where the samples are")]
    let root = std::env::var("BATON_SAMPLES").ok();
    if root.is_none() {
        eprintln!("BATON_SAMPLES is not set: real samples ({part}) were NOT read");
    }
    root.map(|root| Path::new(&root).join(part))
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn session(part: &str) -> Option<Value> {
    let mut found = Vec::new();
    files(&real(part)?, &mut found);
    found.retain(|path| {
        path.extension().is_some_and(|end| end == "jsonl") && !path.ends_with("hook-stdin.jsonl")
    });
    assert_eq!(found.len(), 1, "{found:?}");
    Some(packet(&found[0]))
}

#[test]
fn claude_code_2_1_329() {
    let Some(packet) = session("real/claude-code-2.1.329") else { return };
    assert_eq!(column(&packet, "files_modified", "path"), ["app.py", "NOTES.md"]);
    assert_eq!(column(&packet, "next_steps", "text"), ["run the full test-suite and update docs"]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Fix the add() bug in app.py and run the tests")),
            ("/requests/last/text", json!("no tools: what next")),
            ("/last_failure/exit_code", json!(3)),
            ("/metadata/complaints", json!(null)),
            ("/metadata/compaction/count", json!(1)),
        ],
    );
    assert!(packet["last_answer"]["text"].as_str().is_some_and(|text| text.starts_with("Fixed")));
}

#[test]
fn codex_0_118_0() {
    let Some(packet) = session("real/codex-0.118.0") else { return };
    codex(&packet);
    assert_eq!(column(&packet, "pending_tasks", "title"), ["Read app.py", "Fix add()", "Run the tests"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "in_progress", "pending"]);
}

#[test]
fn codex_0_169_0() {
    let Some(packet) = session("real/codex-0.169.0") else { return };
    codex(&packet);
    check(&packet, &[("/pending_tasks", json!(null))]);
}

fn codex(packet: &Value) {
    assert_eq!(column(packet, "files_modified", "path"), ["app.py"]);
    assert_eq!(column(packet, "next_steps", "text"), ["run the full test-suite and update the docs"]);
    assert_eq!(column(packet, "recent_messages", "role"), ["user", "assistant", "assistant"]);
    check(packet, &[("/last_failure/exit_code", json!(1)), ("/metadata/complaints", json!(null))]);
}

#[test]
fn third_party_files_are_read_without_a_panic_and_never_as_an_empty_success() {
    let Some(root) = real("third-party") else { return };
    let mut found = Vec::new();
    files(&root, &mut found);
    for path in found {
        for format in baton_transcripts::ALL {
            let report = format.read(&path, &mut |_| {});
            assert!(report.events > 0 || !report.complaints.is_empty(), "{}", path.display());
        }
    }
}

#[test]
fn opencode_1_18_33() {
    let Some(root) = real("real/opencode-1.18.33") else { return };
    for name in ["opencode.db", "export.json"] {
        let packet = packet(&root.join(name));
        assert_eq!(column(&packet, "files_modified", "path"), ["app.py", "NOTES.md"], "{name}");
        assert_eq!(column(&packet, "pending_tasks", "title"), ["Fix add()", "Run the tests"], "{name}");
        assert_eq!(column(&packet, "pending_tasks", "status"), ["in_progress", "pending"], "{name}");
        assert!(packet["last_answer"]["text"].as_str().is_some_and(|text| text.starts_with("Fixed")));
        let failed = packet["last_failure"]["exit_code"].as_i64();
        assert!(matches!(failed, Some(1 | 3)), "{packet:#}");
        check(&packet, &[("/source/agent", json!("opencode")), ("/metadata/complaints", json!(null))]);
    }
}

/// Test data of other projects, with the format as which each is known by its content, and the first thing asked.
const FIXTURES: &[(&str, &str, &str)] = &[
    ("cline/sdk/packages/core/fixtures/session/session.messages.json", "cline", "can you update"),
    ("cline/sdk/packages/core/fixtures/session/basic.compaction.json", "cline", "can you update"),
    ("cline/sdk/packages/core/fixtures/session/agentic.compaction.json", "cline", "hello"),
    ("cline/sdk/packages/core/fixtures/messages/success.messages.json", "cline", "Inspect the README"),
    ("cli-continues/test-fixtures/cline/tasks/test-task-1/ui_messages.json", "cline", "Create a React"),
    ("cli-continues/test-fixtures/roo-code/tasks/test-task-1/ui_messages.json", "cline", "Set up a CI/CD"),
    ("cli-continues/test-fixtures/kilo-code/tasks/test-task-1/ui_messages.json", "cline", "Implement rate"),
    (
        "cli-continues/test-fixtures/kiro/workspace-sessions/test-workspace/test-session-1.json",
        "kiro",
        "Add a dark",
    ),
    (
        "cli-continues/test-fixtures/kiro/workspace-sessions/test-workspace/test-session-edge.json",
        "kiro",
        "Refactor",
    ),
    ("cli-continues/test-fixtures/amp/threads/test-thread-1.json", "amp", "Create a login"),
    ("cli-continues/test-fixtures/amp/threads/test-thread-edge.json", "amp", "Fix the null"),
    ("deja-vu/fixtures/registry/aider/.aider.chat.history.md", "aider", "inspect the markdown"),
    (
        "deja-vu/fixtures/registry/roo/tasks/1767225700000/api_conversation_history.json",
        "cline",
        "Fix the flaky",
    ),
    (
        "deja-vu/fixtures/registry/cline/modern/sessions/session_synthetic_01/session_synthetic_01.messages.json",
        "cline",
        "Say hello",
    ),
    (
        "deja-vu/fixtures/registry/cline/legacy/tasks/1767225600000/api_conversation_history.json",
        "cline",
        "Say hello",
    ),
    ("deja-vu/fixtures/registry/goose/sessions/20250724_1.jsonl", "goose", "Say hello"),
];

#[test]
fn the_test_data_of_other_projects_is_told_apart_and_read() {
    let Some(root) = real("third-party") else { return };
    for (name, agent, asked) in FIXTURES {
        let packet = packet(&root.join(name));
        assert_eq!(packet["source"]["agent"], *agent, "{name}");
        let first = packet["requests"]["first"]["text"].as_str().unwrap_or_default();
        assert!(first.starts_with(asked), "{name}: {first}");
        assert!(packet["last_answer"]["text"].is_string(), "{name}: {packet:#}");
        assert_eq!(packet["metadata"]["complaints"], Value::Null, "{name}");
    }
}
