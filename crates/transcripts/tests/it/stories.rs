//! The same story, told by every tool in its own way, and what is peculiar to each.

use serde_json::json;

use super::{check, column, complaints, packet, sample};

/// The story that the normal sample of every format tells: a request with a constraint, a decision, an edit, an edit
/// that failed, a new file, a test run that failed, a last request and an answer with what remains.
pub(super) fn tells_the_story(name: &str) -> serde_json::Value {
    let packet = packet(&sample(name));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("What is left?")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/test_status", json!("fail")),
            ("/files_modified/0/path", json!("cart.py")),
            ("/files_modified/0/change", json!("modified")),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/files_modified/1/path", json!("NOTES.md")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    let failure = packet["last_failure"]["output"].as_str().unwrap_or_default();
    assert!(failure.contains("test_cart FAILED\nexpected 3"), "{name}: {failure}");
    assert_eq!(column(&packet, "constraints", "text"), ["Never touch the migrations."], "{name}");
    assert_eq!(
        column(&packet, "next_steps", "text"),
        ["update docs/cart.md", "find out why test_cart fails"]
    );
    let files = column(&packet, "files_modified", "path");
    assert!(!files.contains(&"tax.py"), "{name}: an edit that failed changed nothing: {files:?}");
    packet
}

pub(super) const PLAN: &[(&str, &str)] = &[("Fix total()", "in_progress"), ("Update the docs", "pending")];

pub(super) fn plan(packet: &serde_json::Value) -> Vec<(&str, &str)> {
    let (titles, states) =
        (column(packet, "pending_tasks", "title"), column(packet, "pending_tasks", "status"));
    titles.into_iter().zip(states).collect()
}

#[test]
fn copilot_tells_the_story() {
    let packet = tells_the_story("copilot/normal/9c000000-0000-4000-8000-000000000001/events.jsonl");
    assert_eq!(plan(&packet), [("Update the docs", "pending"), ("Fix total()", "in_progress")]);
    check(
        &packet,
        &[
            ("/git/commit", json!("d46a0c1f")),
            ("/environment/tool_version", json!("1.0.102")),
            // What the shutdown sums up stood in a record of its own.
            ("/metadata/tokens", json!({"input": 300, "cache_read": 600, "cache_write": 0, "output": 80})),
            // Every call is told once, though its message and its start both tell it.
            ("/tool_activity/1/count", json!(2)),
        ],
    );
}

#[test]
fn copilot_after_a_compaction_and_an_interruption() {
    let packet = packet(&sample("copilot/compacted/events.jsonl"));
    assert_eq!(plan(&packet), [("Parser", "completed"), ("Lexer", "pending")]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser")),
            ("/files_modified/0/path", json!("parser.rs")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/commands/0/command", json!("cargo test")),
            ("/open_loops/1/text", json!("The user stopped the agent here.")),
        ],
    );
}

#[test]
fn qwen_tells_the_story() {
    let packet = tells_the_story(
        "qwen/normal/projects/-home-you-shop/chats/9a000000-0000-4000-8000-000000000001.jsonl",
    );
    // The plan of the transcript is newer than the file beside it.
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/files_modified/1/change", json!("created")),
            ("/metadata/tokens", json!({"input": 3200, "cache_read": 2800, "cache_write": 0, "output": 400})),
        ],
    );
}

#[test]
fn what_qwen_took_back_is_gone_and_its_compaction_is_kept() {
    let packet = packet(&sample("qwen/rewound/chats/9a000000-0000-4000-8000-000000000002.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["memo.py"]);
    assert!(!packet.to_string().contains("edis"));
    check(
        &packet,
        &[
            ("/requests/last/text", json!("Good. Also an expiry")),
            ("/metadata/compaction/count", json!(1)),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn the_plan_of_qwen_is_read_from_beside_where_the_transcript_has_none() {
    let packet = packet(&sample(
        "qwen/planned/projects/-home-you-shop/chats/9a000000-0000-4000-8000-000000000003.jsonl",
    ));
    assert_eq!(plan(&packet), [("Ship it", "pending")]);
}

#[test]
fn kimi_code_tells_the_story() {
    let packet = tells_the_story(
        "kimi/normal/sessions/wd_shop_0123456789ab/session_95000000-0000-4000-8000-000000000001/agents/main/wire.jsonl",
    );
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/files_modified/2/change", json!("modified (by sub-agent agent-0)")),
            ("/metadata/tokens", json!({"input": 800, "cache_read": 700, "cache_write": 5, "output": 120})),
        ],
    );
}

#[test]
fn kimi_code_after_a_compaction_and_an_interruption() {
    let packet = packet(&sample("kimi/compacted.jsonl"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser")),
            ("/files_modified/0/path", json!("parser.rs")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/open_loops/1/text", json!("The user stopped the agent here.")),
        ],
    );
}

#[test]
fn kimi_cli_tells_the_story() {
    let packet = tells_the_story(
        "kimi_cli/normal/sessions/0f343b0931126a20f133d67c2b018a3b/95000000-0000-4000-8000-00000000000c/context.jsonl",
    );
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/created_at", json!("2026-11-20T10:00:09.000Z")),
            ("/metadata/started_at", json!("2026-11-20T10:00:01.000Z")),
            ("/metadata/tokens", json!({"input": 100, "cache_read": 50, "cache_write": 0, "output": 20})),
        ],
    );
}

#[test]
fn what_kimi_cli_compacted_is_a_summary_and_no_request() {
    check(
        &packet(&sample("kimi_cli/compacted.jsonl")),
        &[
            ("/requests/first/text", json!("Now the lexer")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/commands/0/command", json!("cargo test")),
        ],
    );
}

#[test]
fn pi_tells_the_story() {
    let packet = tells_the_story(
        "pi/normal/sessions/--home-you-shop--/2026-11-20T10-00-00-000Z_91000000-0000-4000-8000-000000000001.jsonl",
    );
    assert_eq!(column(&packet, "commands", "command"), ["pytest -q", "git status"]);
    check(
        &packet,
        &[("/metadata/tokens", json!({"input": 30, "cache_read": 90, "cache_write": 15, "output": 60}))],
    );
}

#[test]
fn the_first_version_of_pi_which_had_no_links_tells_the_same() {
    tells_the_story("pi/first-version.jsonl");
}

#[test]
fn a_branch_that_pi_left_is_gone() {
    let packet = packet(&sample("pi/forked.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["memo.py"]);
    assert!(!packet.to_string().contains("edis"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Cache the prices")),
            ("/next_steps/0/text", json!("Good. Also an expiry")),
            ("/metadata/compaction/summary", json!("Prices are cached in memo.py.")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn cursor_tells_the_story() {
    let packet = tells_the_story(
        "cursor/normal/projects/home-you-shop/agent-transcripts/92000000-0000-4000-8000-000000000001/92000000-0000-4000-8000-000000000001.jsonl",
    );
    assert_eq!(plan(&packet), PLAN);
    check(&packet, &[("/files_modified/2/change", json!("modified (by sub-agent s1)"))]);
}

#[test]
fn calls_of_cursor_have_ended_where_it_goes_on_without_results() {
    let packet = packet(&sample("cursor/without-results.jsonl"));
    assert_eq!(column(&packet, "files_modified", "change"), ["modified", "deleted"]);
    check(
        &packet,
        &[
            ("/commands/0/note", json!("exit code unknown")),
            ("/test_status", json!(null)),
            ("/next_steps/0/text", json!("Now the lexer")),
        ],
    );
}

#[test]
fn droid_tells_the_story() {
    let packet =
        tells_the_story("droid/normal/sessions/-home-you-shop/93000000-0000-4000-8000-000000000001.jsonl");
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[("/metadata/tokens", json!({"input": 100, "cache_read": 50, "cache_write": 5, "output": 20}))],
    );
}

#[test]
fn a_branch_that_droid_left_is_gone() {
    let packet = packet(&sample("droid/forked.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["memo.py"]);
    assert_eq!(plan(&packet), [("Add an expiry", "pending")]);
    check(
        &packet,
        &[
            ("/metadata/compaction/summary", json!("Prices are cached in memo.py.")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn antigravity_tells_the_story_in_full_and_shortened() {
    for name in [
        "antigravity/normal/brain/94000000-0000-4000-8000-000000000001/.system_generated/logs/transcript_full.jsonl",
        "antigravity/normal/brain/94000000-0000-4000-8000-000000000001/.system_generated/logs/transcript.jsonl",
    ] {
        assert_eq!(plan(&tells_the_story(name)), PLAN);
    }
}

#[test]
fn antigravity_after_a_checkpoint() {
    let packet = packet(&sample("antigravity/compacted.jsonl"));
    check(
        &packet,
        &[
            ("/files_modified/0/diff", json!("+fn a() {}")),
            ("/requests/last/text", json!("Now the lexer")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/commands/0/note", json!("no outcome")),
        ],
    );
}

#[test]
fn grok_tells_the_story() {
    let packet = tells_the_story(
        "grok/normal/sessions/home%2Fyou%2Fshop/96000000-0000-4000-8000-000000000001/updates.jsonl",
    );
    assert_eq!(plan(&packet), PLAN);
    check(&packet, &[("/files_modified/1/change", json!("created"))]);
}

#[test]
fn what_grok_wrote_down_in_pieces_is_one_message_at_the_place_of_the_first() {
    check(
        &packet(&sample("grok/interrupted.jsonl")),
        &[
            ("/requests/first", json!({"text": "Port the parser", "at": "grok:interrupted#1"})),
            ("/commands/0/command", json!("cargo test")),
        ],
    );
    let found = baton_transcripts::TranscriptFile::from_path("grok", &sample("grok/interrupted.jsonl"))
        .expect("found");
    let header = baton_transcripts::by_id("grok").expect("known").header(&found);
    assert_eq!(header.first_prompt.as_deref(), Some("Port the parser"));
}

#[test]
fn grok_tells_the_story_as_its_model_saw_it() {
    let packet = tells_the_story(
        "grok/history/sessions/home%2Fyou%2Fshop/96000000-0000-4000-8000-000000000002/chat_history.jsonl",
    );
    assert_eq!(plan(&packet), PLAN);
    check(&packet, &[("/git/branch", json!("main")), ("/metadata/model", json!("grok-code"))]);
    assert!(!packet.to_string().contains("be brief"), "{packet:#}");
}

#[test]
fn the_first_rows_of_grok_are_read_too() {
    check(
        &packet(&sample("grok/history-first.jsonl")),
        &[
            ("/source/agent", json!("grok")),
            ("/requests/first/text", json!("Port the parser")),
            ("/commands/0/command", json!("cargo test")),
        ],
    );
}

#[test]
fn of_the_two_files_of_grok_the_one_with_times_and_results_is_read() {
    let home = tempfile::tempdir().expect("dir");
    let from = sample("grok/normal/sessions/home%2Fyou%2Fshop/96000000-0000-4000-8000-000000000001");
    let to = home.path().join(".grok/sessions/x/96000000-0000-4000-8000-000000000001");
    std::fs::create_dir_all(&to).expect("dir");
    for (name, file) in [
        ("updates.jsonl", from.join("updates.jsonl")),
        ("chat_history.jsonl", sample("grok/history-first.jsonl")),
    ] {
        std::fs::copy(file, to.join(name)).expect("copy");
    }
    let env = baton_transcripts::TranscriptEnv { home: home.path().to_owned(), ..Default::default() };
    let found = || super::databases::listed(&env, "grok");
    let only = |name: &str| {
        let headers = found();
        headers.len() == 1 && headers[0].path.ends_with(name)
    };
    assert!(only("updates.jsonl"), "{:#?}", found());
    std::fs::write(to.join("updates.jsonl"), "").expect("write");
    assert!(only("chat_history.jsonl"), "{:#?}", found());
}

#[test]
fn a_turn_of_grok_that_is_told_twice_is_counted_once() {
    let whole = std::fs::read_to_string(sample("grok/interrupted.jsonl")).expect("sample");
    let turn = |id: &str, output: u64| {
        json!({ "timestamp": 1_795_168_900, "params": { "update": { "sessionUpdate": "turn_completed", "prompt_id": id,
            "usage": { "inputTokens": 100, "cachedReadTokens": 60, "outputTokens": output } } } })
    };
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("updates.jsonl");
    let lines = [turn("p1", 5), turn("p1", 7), turn("p2", 1)].map(|line| format!("{line}\n")).concat();
    std::fs::write(&path, format!("{}\n{lines}", whole.trim_end())).expect("write");
    check(
        &packet(&path),
        &[("/metadata/tokens", json!({"input": 80, "cache_read": 120, "cache_write": 0, "output": 8}))],
    );
}

#[test]
fn vibe_tells_the_story() {
    let packet = tells_the_story("vibe/normal/logs/session/session_20261120_110640_9d000000/messages.jsonl");
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/git/branch", json!("main")),
            ("/metadata/model", json!("devstral-2")),
            ("/metadata/tokens", json!({"input": 3200, "cache_read": 0, "cache_write": 0, "output": 400})),
        ],
    );
}

#[test]
fn what_vibe_compacted_is_a_summary_and_no_request() {
    check(
        &packet(&sample("vibe/compacted/messages.jsonl")),
        &[
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/requests/first/text", json!("Go on with the lexer")),
            ("/test_status", json!("pass")),
        ],
    );
}

/// Samples with a broken line, a NUL byte, a byte that is no UTF-8 and an end in the middle of a line.
const DAMAGED: &[&str] = &[
    "copilot/damaged.jsonl",
    "qwen/damaged.jsonl",
    "kimi/damaged.jsonl",
    "kimi_cli/damaged.jsonl",
    "pi/damaged.jsonl",
    "cursor/damaged.jsonl",
    "droid/damaged.jsonl",
    "antigravity/damaged.jsonl",
    "grok/damaged.jsonl",
    "grok/history-damaged.jsonl",
    "vibe/damaged.jsonl",
    "vscode_copilot/damaged.jsonl",
    "windsurf/damaged.jsonl",
    "qoder/damaged/.qoder/projects/x/9b000000-0000-4000-8000-000000000003.jsonl",
];

#[test]
fn a_damaged_session_gives_what_is_whole_and_counts_the_rest() {
    for name in DAMAGED {
        let packet = packet(&sample(name));
        let kinds = complaints(&packet);
        for kind in ["bad_line", "nul_bytes", "invalid_utf8", "truncated_last_line"] {
            assert!(kinds.contains(&kind), "{name}: {kind} in {kinds:?}");
        }
        check(
            &packet,
            &[("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations."))],
        );
        assert!(column(&packet, "files_modified", "path")[0].ends_with("cart.py"), "{name}");
        let messages = column(&packet, "recent_messages", "text");
        assert!(
            messages.iter().any(|text| text.starts_with("I chose addition over a helper")),
            "{name}: {messages:?}"
        );
    }
}

#[test]
fn an_atif_trajectory_tells_the_story() {
    let packet = tells_the_story("atif/normal.json");
    assert_eq!(plan(&packet), PLAN);
    check(&packet, &[("/source/agent", json!("atif")), ("/git/branch", json!("main"))]);
}

#[test]
fn devin_tells_the_story() {
    let packet = tells_the_story("devin/normal/devin/cli/transcripts/brave-otter.json");
    assert_eq!(plan(&packet), PLAN);
    check(&packet, &[("/source/agent", json!("devin")), ("/metadata/model", json!("swe-2"))]);
}

#[test]
fn events_of_an_external_reader_tell_the_story() {
    let name = "external/normal/baton/readers/own/9f000000-0000-4000-8000-000000000001.jsonl";
    let packet = tells_the_story(name);
    assert_eq!(plan(&packet), PLAN);
    // The changes of calls that ran at once stand after all of them, and belong to the call that names their file.
    check(&packet, &[("/files_modified/1/change", json!("created"))]);
}

#[test]
fn damaged_events_give_what_is_whole() {
    let packet = packet(&sample("external/damaged.jsonl"));
    check(&packet, &[("/metadata/compaction/summary", json!("Half ported."))]);
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["bad_line"]);
}
