use std::collections::HashSet;
use std::path::{Path, PathBuf};

use baton_transcripts::event::EventKind;
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
    assert_eq!(
        column(packet, "recent_messages", "role"),
        ["user", "assistant"],
        "what is only announced is no turn"
    );
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
fn gemini_cli_0_61_0() {
    let Some(packet) = session("real/gemini-cli-0.61.0") else { return };
    forked(&packet);
    check(&packet, &[("/requests/first/text", json!("Fix the add() bug in app.py and run the tests"))]);
}

#[test]
fn qwen_code_0_15_10() {
    let Some(packet) = session("real/qwen-code-0.15.10") else { return };
    forked(&packet);
    check(&packet, &[("/git/branch", json!("main"))]);
}

/// Gemini CLI and its fork tell the same story.
fn forked(packet: &Value) {
    assert_eq!(column(packet, "files_modified", "path"), ["app.py", "NOTES.md"]);
    assert_eq!(column(packet, "files_modified", "change"), ["modified", "created"]);
    assert_eq!(column(packet, "pending_tasks", "title"), ["Fix add()", "Run the tests"]);
    assert_eq!(column(packet, "pending_tasks", "status"), ["in_progress", "pending"]);
    assert_eq!(column(packet, "next_steps", "text"), ["run the full test-suite"]);
    check(
        packet,
        &[
            ("/last_failure/exit_code", json!(3)),
            ("/last_failure/output", json!("3")),
            ("/environment/cwd", json!("/srv/w/proj")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert!(packet["last_answer"]["text"].as_str().is_some_and(|text| text.starts_with("Fixed")));
}

/// Fixtures of other projects that hold a conversation: the format, the file, and how many events there are at least.
const FIXTURES: &[(&str, &str, u64)] = &[
    ("gemini", "agentsview/internal/parser/testdata/gemini/standard_session.json", 4),
    ("gemini", "agentsview/internal/parser/testdata/gemini/thinking_only.json", 2),
    ("gemini", "agentsview/internal/parser/testdata/gemini/tool_calls.json", 3),
    ("gemini", "deja-vu/fixtures/registry/gemini/session.jsonl", 2),
    ("copilot", "deja-vu/fixtures/registry/copilot/7cf44517-55ca-435c-893a-3fde1973a44e/events.jsonl", 2),
    ("qwen", "deja-vu/fixtures/registry/qwen/projects/-workspace-registry-demo/chats/registry-qwen.jsonl", 2),
    ("qwen", "splitrail/src/analyzers/tests/source_data/qwen_code.jsonl", 3),
    ("gemini", "deja-vu/fixtures/registry/gemini/session-set-snapshot.jsonl", 2),
    (
        "kimi",
        "deja-vu/fixtures/registry/kimi/sessions/wd_demo_0123456789ab/session_fixture01/agents/main/wire.jsonl",
        4,
    ),
    ("kimi", "kimi-code/apps/vis/server/test/fixtures/sessions/sample-compaction/agents/main/wire.jsonl", 4),
    ("kimi", "kimi-code/apps/vis/server/test/fixtures/sessions/sample-main/agents/main/wire.jsonl", 2),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/with-tool-calls/context.jsonl", 2),
    (
        "kimi_cli",
        "kimi-code/packages/migration-legacy/test/fixtures/with-subagent-collapsed/context.jsonl",
        5,
    ),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/with-thinking/context.jsonl", 3),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/archived/context.jsonl", 2),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/broken-state-json/context.jsonl", 2),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/legacy-protocol-1.3/context.jsonl", 2),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/tiny-hello-world/context.jsonl", 2),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/large-100msgs/context.jsonl", 40),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/recent-protocol-1.10/context.jsonl", 5),
    ("kimi_cli", "kimi-code/packages/migration-legacy/test/fixtures/with-image/context.jsonl", 3),
    (
        "kimi_cli",
        "kimi-code/packages/migration-legacy/test/fixtures/multi-workdir/.kimi/sessions/73d3cf4d1cf337adf57d6732b8be2205/uuid-a1/context.jsonl",
        2,
    ),
    (
        "kimi_cli",
        "kimi-code/packages/migration-legacy/test/fixtures/multi-workdir/.kimi/sessions/73d3cf4d1cf337adf57d6732b8be2205/uuid-a2/context.jsonl",
        2,
    ),
    (
        "kimi_cli",
        "kimi-code/packages/migration-legacy/test/fixtures/multi-workdir/.kimi/sessions/kaos-foo_caaf674614e26c6365945408f85c9c9a/uuid-c1/context.jsonl",
        2,
    ),
    (
        "kimi_cli",
        "claude-code-history-viewer/src-tauri/tests/fixtures/kimi/sessions/project-hash/session-1/context.jsonl",
        2,
    ),
    (
        "kimi_cli",
        "claude-code-history-viewer/src-tauri/tests/fixtures/kimi/sessions/project-hash/session-2/context.jsonl",
        2,
    ),
    ("pi", "deja-vu/fixtures/registry/pi/session.jsonl", 2),
    ("pi", "deja-vu/fixtures/registry/omp/session.jsonl", 2),
    (
        "pi",
        "deja-vu/fixtures/registry/openclaw/agents/main/sessions/a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d.jsonl",
        2,
    ),
    ("pi", "pi-mono/packages/coding-agent/test/fixtures/large-session.jsonl", 723),
    ("pi", "pi-mono/packages/coding-agent/test/fixtures/before-compaction.jsonl", 767),
    (
        "cursor",
        "deja-vu/fixtures/registry/cursor/projects/registry-demo/agent-transcripts/registry-cursor.jsonl",
        2,
    ),
    (
        "antigravity",
        "deja-vu/fixtures/registry/antigravity/brain/registry-antigravity/.system_generated/logs/transcript.jsonl",
        2,
    ),
    (
        "grok",
        "deja-vu/fixtures/registry/grok/sessions/workspace%2Fregistry-demo/registry-grok/updates.jsonl",
        2,
    ),
];

#[test]
fn what_other_projects_can_read_is_read_here_too() {
    let Some(root) = real("third-party") else { return };
    for (id, name, events) in FIXTURES {
        let path = root.join(name);
        let format = baton_transcripts::detect(&path);
        assert_eq!(format.map(|format| format.id()), Some(*id), "{name}");
        let report = format.map(|format| format.read(&path, &mut |_| {})).expect("known");
        assert!(report.events >= *events, "{name}: {report:?}");
        let found = baton_transcripts::TranscriptFile::from_path(id, &path).expect("found");
        let header = format.expect("known").header(&found);
        assert!(!header.empty && header.first_prompt.is_some(), "{name}: {header:#?}");
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
const TOLD_APART: &[(&str, &str, &str)] = &[
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
    for (name, agent, request) in TOLD_APART {
        let packet = packet(&root.join(name));
        assert_eq!(packet["source"]["agent"], *agent, "{name}");
        let first = packet["requests"]["first"]["text"].as_str().unwrap_or_default();
        assert!(first.starts_with(request), "{name}: {first}");
        assert!(packet["last_answer"]["text"].is_string(), "{name}: {packet:#}");
        assert_eq!(packet["metadata"]["complaints"], Value::Null, "{name}");
    }
}

#[test]
fn no_result_of_a_call_that_is_read_is_left_out() {
    let Some(root) = real("") else { return };
    let mut found = Vec::new();
    files(&root, &mut found);
    let claude = baton_transcripts::by_id("claude").expect("known");
    found.retain(|path| baton_transcripts::detect(path).is_some_and(|format| format.id() == claude.id()));
    let (mut seen, mut lost) = (0, Vec::new());
    for path in found {
        let (mut calls, mut results) = (HashSet::new(), HashSet::new());
        claude.read(&path, &mut |event| match &event.what {
            EventKind::Call(call) => drop(calls.insert(call.id.to_string())),
            EventKind::Outcome(outcome) => drop(results.insert(outcome.id.to_string())),
            _ => {}
        });
        let text = std::fs::read(&path).expect("a file");
        for line in
            text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        {
            let blocks = line["message"]["content"].as_array().into_iter().flatten();
            for id in
                blocks.filter_map(|block| block["tool_use_id"].as_str()).filter(|id| calls.contains(*id))
            {
                seen += 1;
                if !results.contains(id) {
                    lost.push(format!("{id} in {}", path.display()));
                }
            }
        }
    }
    eprintln!("{seen} results of calls that are read, {} left out", lost.len());
    assert!(lost.is_empty(), "{lost:#?}");
}
