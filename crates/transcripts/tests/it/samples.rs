use std::path::Path;

use baton_transcripts::event::EventKind;
use baton_transcripts::{Options, by_id, detect, show};
use serde_json::json;

use super::{check, column, packet, sample};

#[test]
fn a_claude_session_gives_all_nine_kinds_of_facts() {
    let packet = packet(&sample("claude/normal.jsonl"));
    check(
        &packet,
        &[
            ("/source/agent", json!("claude")),
            ("/requests/first/at", json!("claude:aaaaaaaa#2")),
            ("/requests/last/text", json!("Please don't rename anything. What about docs?")),
            ("/last_failure", json!(null)),
            ("/test_command", json!("make test")),
            ("/test_status", json!("pass")),
            ("/files_modified/0/path", json!("cart.py")),
            ("/files_modified/0/change", json!("modified")),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/files_modified/1/path", json!("tests/test_cents.py")),
            ("/files_modified/1/change", json!("created")),
            ("/files_modified/2", json!(null)),
            ("/decisions/0/why", json!("money needs exact cents")),
            ("/decisions/0/rejected", json!(["float"])),
            ("/failed_attempts/0/why_failed", json!("it drops the zero")),
            ("/failed_attempts/1", json!(null)),
            ("/git/branch", json!("main")),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/model", json!("claude-sonnet-4-5")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert_eq!(
        column(&packet, "constraints", "text"),
        ["Never touch the migrations.", "Please don't rename anything."]
    );
    assert_eq!(column(&packet, "next_steps", "text"), ["update docs/prices.md", "tag a release"]);
    assert_eq!(column(&packet, "open_loops", "text"), ["Shall I go on?"]);
    assert_eq!(column(&packet, "work_completed", "text"), ["Round in cart.py"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert_eq!(column(&packet, "commands", "command"), ["make test", "make test"]);
    assert_eq!(
        column(&packet, "tool_activity", "category"),
        ["shell", "edit", "write", "read", "task", "mcp:github"]
    );
}

#[test]
fn usage_is_counted_once_per_message_and_not_once_per_block() {
    let packet = packet(&sample("claude/normal.jsonl"));
    let answers = 13;
    check(
        &packet,
        &[
            ("/metadata/tokens/output", json!(answers * 20)),
            ("/metadata/tokens/cache_read", json!(answers * 1000)),
        ],
    );
}

#[test]
fn the_copy_of_a_prompt_in_the_api_log_is_no_second_prompt() {
    let mut prompts = 0;
    let path = sample("claude/normal.jsonl");
    let format = detect(&path).expect("claude");
    format.read(&path, &mut |event| prompts += usize::from(matches!(event.what, EventKind::User(_))));
    assert_eq!(prompts, 2);
}

#[test]
fn work_before_a_compaction_still_counts_and_its_summary_is_kept() {
    let packet = packet(&sample("claude/compacted.jsonl"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser to Rust")),
            ("/requests/last/text", json!("Now fix the tests")),
            ("/files_modified/0/path", json!("parser.rs")),
            ("/files_modified/0/change", json!("created")),
            ("/files_modified/0/lines", json!("+1 -0")),
            ("/metadata/compaction/count", json!(1)),
            ("/test_status", json!("pass")),
            // `cargo test -q` passed since.
            ("/failed_attempts", json!(null)),
            ("/last_failure", json!(null)),
        ],
    );
    assert_eq!(column(&packet, "commands", "command"), ["cargo test -q"]);
}

#[test]
fn a_rewound_branch_is_not_the_conversation() {
    let packet = packet(&sample("claude/rewound.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["memo.py"]);
    check(&packet, &[("/requests/last/text", json!("Use a dict, no Redis"))]);
    assert!(!packet.to_string().contains("Redis cache added"));
}

#[test]
fn a_damaged_claude_session_gives_what_is_whole_and_counts_the_rest() {
    let packet = packet(&sample("claude/damaged.jsonl"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Clean up the logs")),
            ("/requests/last/text", json!("Clean up the logs")),
            ("/last_failure/command", json!("./test.sh")),
            ("/last_failure/output", json!("boom")),
            (
                "/next_steps/0/text",
                json!("go on with the last request: the user said “go on”, and there is no answer to it yet"),
            ),
        ],
    );
    assert_eq!(column(&packet, "files_modified", "path"), ["log.py"]);
    assert_eq!(column(&packet, "recent_messages", "text")[2], "Second half done.");
    let kinds: Vec<_> = packet["metadata"]["complaints"]
        .as_array()
        .expect("complaints")
        .iter()
        .map(|one| &one["kind"])
        .collect();
    for kind in
        ["broken_chain", "bad_line", "unknown_type", "nul_bytes", "invalid_utf8", "truncated_last_line"]
    {
        assert!(kinds.contains(&&json!(kind)), "{kind} in {kinds:?}");
    }
}

#[test]
fn tasks_are_folded_and_a_sub_agent_is_told_apart() {
    let packet = packet(&sample("claude/tasks/ffffffff-0000-4000-8000-000000000006.jsonl"));
    check(
        &packet,
        &[
            ("/pending_tasks/0/title", json!("Write changelog: all of it")),
            ("/pending_tasks/0/status", json!("completed")),
            ("/pending_tasks/1/status", json!("pending")),
            ("/files_modified/0/path", json!("CHANGELOG.md")),
            ("/files_modified/0/change", json!("created (by sub-agent a1b2)")),
            ("/files_modified/0/at", json!("claude:ffffffff/a1b2#2")),
            ("/metadata/subagents/a1b2", json!(2)),
            ("/last_failure", json!(null)),
            ("/requests/last/text", json!("stop, not yet")),
        ],
    );
    // The user refused it: it never ran, and is asked about.
    assert_eq!(column(&packet, "commands", "command"), [""; 0]);
    assert_eq!(column(&packet, "next_steps", "text"), ["stop, not yet"]);
    assert!(column(&packet, "open_loops", "text")[0].contains("cargo publish"));
    let messages = column(&packet, "recent_messages", "text");
    assert!(
        messages.contains(&"also bump the version") && !messages.contains(&"Changelog written."),
        "{messages:?}"
    );
}

#[test]
fn the_transcript_of_a_sub_agent_can_be_read_for_its_own_sake() {
    let packet =
        packet(&sample("claude/tasks/ffffffff-0000-4000-8000-000000000006/subagents/agent-a1b2.jsonl"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Write the changelog")),
            ("/files_modified/0/change", json!("created")),
        ],
    );
}

#[test]
fn a_file_of_another_tool_is_not_taken_for_one_of_these() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("x.jsonl");
    for text in [r#"{"session_id":"hist","ts":1767323045,"text":"needle"}"#, "# a document", ""] {
        std::fs::write(&path, text).expect("write");
        assert!(detect(&path).is_none(), "{text}");
    }
}

#[test]
fn the_shell_era_of_codex_is_read() {
    let packet = packet(&sample("codex/shell-era.jsonl"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Make the importer faster. You must not change the API.")),
            ("/test_command", json!("npm test")),
            ("/test_status", json!("pass")),
            ("/last_failure", json!(null)),
            ("/git/commit", json!("d46a0c1f")),
            ("/metadata/tokens", json!({"input": 400, "cache_read": 800, "cache_write": 0, "output": 140})),
            ("/decisions/0/rejected", json!(["streaming"])),
        ],
    );
    assert_eq!(column(&packet, "files_modified", "path"), ["src/import.js", "src/fast.js", "src/slow.js"]);
    assert_eq!(column(&packet, "files_modified", "change"), ["modified", "created", "deleted"]);
    assert_eq!(column(&packet, "constraints", "text"), ["You must not change the API."]);
    assert_eq!(column(&packet, "recent_messages", "role"), ["user", "assistant"]);
}

#[test]
fn turns_that_were_rolled_back_are_gone_with_their_edits() {
    let packet = packet(&sample("codex/rolled-back.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["README.md"]);
    assert_eq!(column(&packet, "pending_tasks", "title"), ["Write LICENSE", "Mention it in README"]);
    check(
        &packet,
        &[
            ("/requests/last/text", json!("Add a licence instead")),
            ("/last_failure/exit_code", json!(5)),
            ("/test_status", json!("fail")),
            ("/open_loops/1/text", json!("The user stopped the agent here.")),
        ],
    );
    assert!(!packet.to_string().contains("French"));
}

#[test]
fn the_paginated_history_tells_everything_once() {
    let packet = packet(&sample("codex/paginated.jsonl"));
    assert_eq!(column(&packet, "files_modified", "path"), ["tests/stable.rs"]);
    assert_eq!(column(&packet, "recent_messages", "role"), ["user", "assistant"]);
    check(
        &packet,
        &[
            ("/files_modified/0/change", json!("renamed from tests/flaky.rs")),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/last_failure/command", json!("cargo test")),
            ("/last_failure/output", json!("test flaky ... FAILED")),
            ("/commands/1/note", json!("exit code unknown")),
            ("/metadata/tokens/input", json!(400)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert_eq!(column(&packet, "next_steps", "text"), ["remove the old helper"]);
}

#[test]
fn a_compacted_rollout_keeps_its_summary_and_its_work() {
    check(
        &packet(&sample("codex/compacted.jsonl")),
        &[
            ("/requests/first/text", json!("Split the monolith")),
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
            ("/commands/0/command", json!("git mv a b")),
            (
                "/next_steps/0/text",
                json!(
                    "go on with the last request: the user said “Continue”, and there is no answer to it yet"
                ),
            ),
        ],
    );
}

#[test]
fn events_are_the_messages_where_there_are_no_items() {
    let packet = packet(&sample("codex/events-only.jsonl"));
    assert_eq!(column(&packet, "recent_messages", "text"), ["Only events here", "I see."]);
}

#[test]
fn a_packed_rollout_reads_like_a_plain_one() {
    let dir = tempfile::tempdir().expect("dir");
    let packed = dir.path().join("rollout-x.jsonl.zst");
    let plain = std::fs::read(sample("codex/shell-era.jsonl")).expect("sample");
    std::fs::write(&packed, zstd::encode_all(plain.as_slice(), 3).expect("packs")).expect("write");
    let (mut a, mut b) = (packet(&packed), packet(&sample("codex/shell-era.jsonl")));
    (a["source"]["path"], b["source"]["path"]) = (json!(""), json!(""));
    assert_eq!(a, b);
}

/// The sample with secrets put in that stand nowhere else.
fn with_secrets(dir: &Path) -> (std::path::PathBuf, Vec<String>) {
    let random = |seed: u64| {
        (0..36).map(move |n| {
            char::from(b"aB3dE5gH7jK9mN1pQ"[((n * 7 + seed * 13 + n * n * seed) % 17) as usize])
        })
    };
    let secrets =
        [format!("ghp_{}", random(1).collect::<String>()), random(2).take(12).collect(), random(3).collect()];
    let text = std::fs::read_to_string(sample("claude/secrets.jsonl")).expect("sample");
    let text =
        text.replace("@GITHUB@", &secrets[0]).replace("@PASS@", &secrets[1]).replace("@BEARER@", &secrets[2]);
    let path = dir.join("s.jsonl");
    std::fs::write(&path, text).expect("write");
    (path, secrets.to_vec())
}

#[test]
fn no_secret_leaves_in_a_packet_or_on_the_screen() {
    let dir = tempfile::tempdir().expect("dir");
    let (path, secrets) = with_secrets(dir.path());
    let packet = packet(&path);
    let mut shown = String::new();
    let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
    show(&path, by_id("claude").expect("claude"), &options, &mut |event| {
        shown.push_str(&format!("{:?}", event.what))
    });
    for text in [&packet.to_string(), &shown] {
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
        assert!(!text.contains("/home/you"), "{text}");
    }
    assert!(packet["metadata"]["redactions"]["github-token"].as_u64() >= Some(4), "{packet:#}");
}

#[test]
fn secrets_stay_when_the_user_says_so() {
    let dir = tempfile::tempdir().expect("dir");
    let (path, secrets) = with_secrets(dir.path());
    let options = Options { redact: false, ..Options::default() };
    let summary = baton_transcripts::summarize(&path, by_id("claude").expect("claude"), &options);
    assert!(
        summary.requests.and_then(|requests| requests.first).expect("request").text.contains(&secrets[0])
    );
}

#[test]
fn the_same_transcript_gives_the_same_packet() {
    for name in ["claude/normal.jsonl", "codex/paginated.jsonl"] {
        assert_eq!(packet(&sample(name)).to_string(), packet(&sample(name)).to_string());
    }
}

#[test]
fn every_fact_points_back_into_the_transcript() {
    fn facts(value: &serde_json::Value) -> usize {
        let own = value
            .get("at")
            .map_or(0, |at| usize::from(at.as_str().is_some_and(|at| at.starts_with("claude:aaaaaaaa#"))));
        let (list, map) = (value.as_array().into_iter().flatten(), value.as_object().into_iter().flatten());
        own + list.map(facts).sum::<usize>() + map.map(|(_, value)| facts(value)).sum::<usize>()
    }
    let packet = packet(&sample("claude/normal.jsonl"));
    let missing = [
        "constraints",
        "decisions",
        "failed_attempts",
        "files_modified",
        "commands",
        "pending_tasks",
        "recent_messages",
    ];
    for list in missing {
        let items = packet[list].as_array().expect(list);
        assert_eq!(items.iter().map(facts).sum::<usize>(), items.len(), "{list}");
    }
}
