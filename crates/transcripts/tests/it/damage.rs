use std::path::Path;

use baton_transcripts::report::kind;
use baton_transcripts::{Report, TranscriptFile, by_id};
use proptest::prelude::*;

use super::{databases, sample};

const SAMPLES: &[(&str, &str)] = &[
    ("claude", "claude/normal.jsonl"),
    ("claude", "claude/compacted.jsonl"),
    ("claude", "claude/rewound.jsonl"),
    ("codex", "codex/shell-era.jsonl"),
    ("codex", "codex/rolled-back.jsonl"),
    ("codex", "codex/paginated.jsonl"),
    (
        "codex",
        "codex/lineage/sessions/2026/11/20/rollout-2026-11-20T10-00-04-01a1dddd-0000-7000-8000-000000000005.jsonl",
    ),
    ("gemini", "gemini/normal/tmp/shop/chats/session-2026-11-20T10-00-9e000000.jsonl"),
    ("gemini", "gemini/compacted.jsonl"),
    ("gemini", "gemini/rewound.jsonl"),
    ("gemini", "gemini/old.json"),
    ("copilot", "copilot/normal/9c000000-0000-4000-8000-000000000001/events.jsonl"),
    ("qwen", "qwen/normal/projects/-home-you-shop/chats/9a000000-0000-4000-8000-000000000001.jsonl"),
    ("qwen", "qwen/rewound/chats/9a000000-0000-4000-8000-000000000002.jsonl"),
    (
        "kimi",
        "kimi/normal/sessions/wd_shop_0123456789ab/session_95000000-0000-4000-8000-000000000001/agents/main/wire.jsonl",
    ),
    ("kimi", "kimi/compacted.jsonl"),
    (
        "kimi_cli",
        "kimi_cli/normal/sessions/0f343b0931126a20f133d67c2b018a3b/95000000-0000-4000-8000-00000000000c/context.jsonl",
    ),
    ("kimi_cli", "kimi_cli/compacted.jsonl"),
    (
        "pi",
        "pi/normal/sessions/--home-you-shop--/2026-11-20T10-00-00-000Z_91000000-0000-4000-8000-000000000001.jsonl",
    ),
    ("pi", "pi/forked.jsonl"),
    ("pi", "pi/first-version.jsonl"),
    (
        "cursor",
        "cursor/normal/projects/home-you-shop/agent-transcripts/92000000-0000-4000-8000-000000000001/92000000-0000-4000-8000-000000000001.jsonl",
    ),
    ("cursor", "cursor/without-results.jsonl"),
    ("droid", "droid/normal/sessions/-home-you-shop/93000000-0000-4000-8000-000000000001.jsonl"),
    ("droid", "droid/forked.jsonl"),
    (
        "antigravity",
        "antigravity/normal/brain/94000000-0000-4000-8000-000000000001/.system_generated/logs/transcript.jsonl",
    ),
    ("antigravity", "antigravity/compacted.jsonl"),
    ("grok", "grok/normal/sessions/home%2Fyou%2Fshop/96000000-0000-4000-8000-000000000001/updates.jsonl"),
    (
        "grok",
        "grok/history/sessions/home%2Fyou%2Fshop/96000000-0000-4000-8000-000000000002/chat_history.jsonl",
    ),
    (
        "vscode_copilot",
        "vscode_copilot/normal/workspaceStorage/0f343b0931126a20f133d67c2b018a3b/chatSessions/97000000-0000-4000-8000-000000000001.jsonl",
    ),
    ("vscode_copilot", "vscode_copilot/compacted.jsonl"),
    ("windsurf", "windsurf/normal/transcripts/9e100000-0000-4000-8000-000000000001.jsonl"),
    ("windsurf", "windsurf/canceled.jsonl"),
    ("qoder", "qoder/normal/.qoder/projects/-home-you-shop/9b000000-0000-4000-8000-000000000001.jsonl"),
    ("vibe", "vibe/normal/logs/session/session_20261120_110640_9d000000/messages.jsonl"),
    ("vibe", "vibe/compacted/messages.jsonl"),
    ("atif", "atif/normal.json"),
    ("external", "external/normal/baton/readers/own/9f000000-0000-4000-8000-000000000001.jsonl"),
    ("external", "external/damaged.jsonl"),
    ("devin", "devin/normal/devin/cli/transcripts/brave-otter.json"),
];

/// Formats of documents that are cut in the tests of their own; the last two are read by the reader of Cline.
const DOCUMENTS: &[&str] =
    &["amp", "aider", "openhands", "continue", "auggie", "codebuff", "cline", "roo", "kilo_code"];

/// Reads, lists and sums up these bytes as a format; whatever they are, an empty result says that it is empty.
fn check(format: &str, bytes: &[u8]) -> Report {
    check_as(format, "rollout-x.jsonl", bytes)
}

/// The same for a file of this name.
pub(crate) fn check_as(format: &str, name: &str, bytes: &[u8]) -> Report {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).expect("write");
    check_session(format, &path, None)
}

/// The same for a session that stands somewhere.
pub(crate) fn check_session(format: &str, path: &Path, key: Option<&str>) -> Report {
    let format = by_id(format).expect("known");
    let mut events = 0_u64;
    let report = format.read_session(path, key, &mut |_| events += 1);
    assert!(report.events > 0 || report.complaints.iter().any(|one| one.kind == kind::EMPTY), "{report:?}");
    assert!(report.events <= events);
    let found = TranscriptFile {
        key: key.map(str::to_owned),
        ..TranscriptFile::from_path(format.id(), path).expect("found")
    };
    let header = format.header(&found);
    assert!(!header.empty || !header.complaints.is_empty());
    let summary = baton_transcripts::summarize_session(path, key, format, &Default::default());
    assert!(!summary.summary.is_empty());
    report
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(sample(name)).expect("sample")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_is_survived(pick in 0..SAMPLES.len(), cut in any::<prop::sample::Index>()) {
        let (format, name) = SAMPLES[pick];
        let whole = bytes(name);
        check(format, &whole[..cut.index(whole.len())]);
    }

    #[test]
    fn any_damaged_line_is_survived(
        pick in 0..SAMPLES.len(), at in any::<prop::sample::Index>(), damage in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (format, name) = SAMPLES[pick];
        let mut whole = bytes(name);
        let at = at.index(whole.len());
        let end = (at + damage.len()).min(whole.len());
        whole.splice(at..end, damage);
        check(format, &whole);
    }

    #[test]
    fn any_lost_or_repeated_line_is_survived(pick in 0..SAMPLES.len(), line in any::<prop::sample::Index>(), twice in any::<bool>()) {
        let (format, name) = SAMPLES[pick];
        let whole = bytes(name);
        let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        let line = line.index(lines.len());
        if twice { lines.insert(line, lines[line]); } else { lines.remove(line); }
        check(format, &lines.concat());
    }

    #[test]
    fn any_bytes_at_all_are_survived(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        baton_transcripts::ALL.iter().for_each(|format| drop(check(format.id(), &noise)));
    }
}

#[test]
fn every_format_has_a_sample_that_is_damaged() {
    for format in baton_transcripts::ALL {
        let in_lines = SAMPLES.iter().any(|(id, _)| *id == format.id());
        let in_database = databases::SAMPLES.iter().any(|(id, ..)| *id == format.id());
        assert!(in_lines || in_database || DOCUMENTS.contains(&format.id()), "{}", format.id());
    }
}

#[test]
fn a_lost_line_in_the_chain_costs_only_that_line() {
    let whole = String::from_utf8(bytes("claude/normal.jsonl")).expect("text");
    let all = check("claude", whole.as_bytes()).events;
    let lines: Vec<&str> = whole.lines().collect();
    for lost in 3..lines.len() - 3 {
        let rest: Vec<&str> =
            lines.iter().enumerate().filter(|(at, _)| *at != lost).map(|(_, line)| *line).collect();
        let report = check("claude", rest.join("\n").as_bytes());
        assert!(report.events + 1 >= all, "line {lost} cost {} events", all - report.events);
    }
}

#[test]
fn an_oversized_line_in_the_chain_is_skipped_and_said() {
    let mut whole = String::from_utf8(bytes("claude/normal.jsonl")).expect("text");
    let image = format!("{{\"type\":\"image\",\"data\":\"{}\"}},", "A".repeat(9 * 1024 * 1024));
    whole = whole.replacen(
        "{\"type\":\"text\",\"text\":\"I'll look",
        &format!("{image}{{\"type\":\"text\",\"text\":\"I'll look"),
        1,
    );
    let report = check("claude", whole.as_bytes());
    assert!(report.complaints.iter().any(|one| one.kind == kind::OVERSIZED), "{report:?}");
    assert!(report.events > 10);
}

#[test]
fn a_file_that_cannot_be_read_says_so() {
    for format in baton_transcripts::ALL {
        let report = format.read(Path::new("/nowhere/at/all.jsonl"), &mut |_| {});
        assert!(report.is_empty());
        assert!(report.complaints.iter().any(|one| one.kind == kind::UNREADABLE));
    }
}
