//! Packets that the tests render.

use std::fmt::Write;

use crate::packet::{Packet, ValidatedPacket};

pub(super) fn packet(json: &str) -> Packet {
    ValidatedPacket::parse(json.to_owned()).expect("a packet").view().clone()
}

/// A session as a transcript gives it: some of everything, with places.
pub(super) fn rich() -> Packet {
    packet(include_str!("rich.json"))
}

pub(super) fn bare() -> Packet {
    packet(r#"{"summary": "Moved the parser to its own crate; all tests pass."}"#)
}

/// Facts of the nine kinds, each with a word that must survive, and whether it must even at 2,000 tokens.
pub(super) struct Planted {
    pub packet: Packet,
    /// Kind, the words, and whether it belongs to what must survive the standard budget.
    pub facts: Vec<(&'static str, Vec<String>, bool)>,
}

const AREAS: [&str; 8] = ["auth", "billing", "cache", "search", "mail", "export", "audit", "web"];
const VERBS: [&str; 6] = ["Move", "Rename", "Cover", "Split", "Document", "Guard"];
const NOUNS: [&str; 7] = [
    "session lookup",
    "retry loop",
    "token refresh",
    "page cursor",
    "lock order",
    "date parser",
    "form limits",
];

fn pick<'a>(from: &[&'a str], at: usize) -> &'a str {
    from[at % from.len()]
}

/// A session of about 200 turns: 40 files, 60 commands, 30 decisions, 25 items of a plan.
pub(super) fn long() -> Planted {
    let at = |line: usize| format!("claude:7d0c1c5e-4f0a-4a43-9d3c-2f6f0a5b9e11#{line}");
    let mut facts = Vec::new();
    let mut json = serde_json::json!({
        "summary": "Splitting the monolith's request handling into one crate per area. Auth, billing and cache are moved and \
                    green; search compiles but two of its tests fail since the cursor became opaque. Mail, export, audit and \
                    web are untouched. The public HTTP interface has not changed so far.",
        "source": {"agent": "claude", "id": "7d0c1c5e-4f0a-4a43-9d3c-2f6f0a5b9e11", "path": "~/.claude/projects/-srv-shop/7d0c1c5e-4f0a-4a43-9d3c-2f6f0a5b9e11.jsonl"},
        "session_id": "7d0c1c5e-4f0a-4a43-9d3c-2f6f0a5b9e11",
        "created_at": "2026-03-02T17:40:00Z",
        "requests": {
            "first": {"text": "Please split the request handling of the shop server into one crate per area, starting with auth. Keep every endpoint as it is.", "at": at(2)},
            "last": {"text": "Good. Now make the search tests green again, and do not touch the fixtures.", "at": at(1180)}},
        "last_answer": {"text": "The cursor is opaque now; two search tests still build it by hand. I was about to give them the builder.", "at": at(1221)},
        "last_failure": {"command": "cargo test -p shop-search", "exit_code": 101, "at": at(1219),
            "output": "running 34 tests\ntest page::first ... ok\ntest page::cursor_roundtrip ... FAILED\ntest page::cursor_end ... FAILED\n\nfailures:\n\n---- page::cursor_roundtrip stdout ----\nthread 'page::cursor_roundtrip' panicked at crates/search/tests/page.rs:41:9:\nassertion `left == right` failed\n  left: \"eyJvIjo0MH0\"\n right: \"40\"\n\nfailures:\n    page::cursor_end\n    page::cursor_roundtrip\n\ntest result: FAILED. 32 passed; 2 failed; 0 ignored\n\nerror: test failed, to rerun pass `-p shop-search --test page`"},
        "test_command": "cargo test --workspace", "test_status": "2 failed, 411 passed",
        "git": {"branch": "split-areas", "commit": "9f3c2e1a7b", "dirty": true, "ahead": 14},
    });
    facts.push((
        "request",
        vec!["make the search tests green again".into(), "one crate per area, starting with auth".into()],
        false,
    ));
    facts.push((
        "last failure",
        vec!["cargo test -p shop-search` → exit 101".into(), "assertion `left == right` failed".into()],
        true,
    ));
    facts.push(("git", vec!["split-areas".into(), "9f3c2e1a7b".into()], true));
    facts.push(("test", vec!["cargo test --workspace".into(), "2 failed, 411 passed".into()], true));
    let mut lists: [Vec<serde_json::Value>; 9] = Default::default();
    let [constraints, files, commands, decisions, attempts, plan, questions, turns, tools] = &mut lists;
    for (n, text) in [
        "Endpoints keep their paths and their JSON.",
        "No new dependencies without asking.",
        "Do not touch the fixtures under tests/data.",
        "Commits small, one area each.",
        "Never run the migration against the shared database.",
    ]
    .iter()
    .enumerate()
    {
        constraints.push(serde_json::json!({"text": text, "at": at(10 + n * 100)}));
        facts.push(("constraint", vec![(*text).into()], true));
    }
    for n in 0..40 {
        let path = format!(
            "crates/{}/src/{}{n}.rs",
            pick(&AREAS, n / 5),
            ["handler", "store", "page", "limits"][n % 4]
        );
        let change = if n % 5 == 0 { "created" } else { "modified" };
        let diff = (n % 3 == 0).then(|| format!("@@ -{n},3 +{n},4 @@\n fn handle() {{\n-    old_{n}();\n+    new_{n}();\n+    check_{n}();\n }}"));
        files.push(serde_json::json!({"path": path, "change": change, "lines": format!("+{} -{}", n * 3 + 1, n), "diff": diff, "at": at(100 + n * 25)}));
        facts.push(("file", vec![format!("`{path}` {change}, +{} -{n}", n * 3 + 1)], true));
    }
    // As in a real session, some commands are run over and over.
    let mut outcomes: Vec<(String, i64)> = Vec::new();
    for n in 0..60 {
        let verb = pick(&["test", "check", "clippy"], n);
        let command = match n % 5 {
            0 => format!("cargo {verb} -p shop-{}", pick(&AREAS, n / 5)),
            1 => "cargo test --workspace".into(),
            _ => format!("cargo {verb} -p shop-{} --test t{}", pick(&AREAS, n), n / 2),
        };
        let code = if n % 6 == 1 { 101 } else { 0 };
        commands.push(serde_json::json!({"command": command, "exit_code": code, "at": at(50 + n * 19)}));
        outcomes.retain(|(known, _)| *known != command);
        outcomes.push((command, code));
    }
    for (command, code) in outcomes {
        let words = if code == 0 { format!("`{command}`") } else { format!("`{command}` → exit {code}") };
        facts.push((if code == 0 { "command" } else { "failed command" }, vec![words], code != 0));
    }
    for n in 0..30 {
        let what = format!("{} the {} in {} (choice {n})", pick(&VERBS, n), pick(&NOUNS, n), pick(&AREAS, n));
        let (why, rejected) =
            (format!("two callers depend on it, see case {n}"), format!("a shared helper {n}"));
        decisions.push(
            serde_json::json!({"what": what, "why": why, "rejected": [rejected], "at": at(60 + n * 37)}),
        );
        facts.push(("decision", vec![what], false));
        facts.push(("reason", vec![why, rejected], false));
    }
    for n in 0..8 {
        let (tried, why) = (
            format!("Patching the {} in place, try {n}", pick(&NOUNS, n)),
            format!("the borrow outlives call {n}"),
        );
        attempts.push(serde_json::json!({"tried": tried, "why_failed": why, "at": at(70 + n * 90)}));
        facts.push(("failed attempt", vec![tried, why], false));
    }
    for n in 0..25 {
        let title =
            format!("{} the {} of {} #{n}", pick(&VERBS, n + 1), pick(&NOUNS, n), pick(&AREAS, n / 3));
        let status = if n < 14 {
            "completed"
        } else if n == 14 {
            "in_progress"
        } else {
            "pending"
        };
        plan.push(serde_json::json!({"title": title, "status": status}));
        if n >= 14 {
            let shown = if n == 14 { "[ ] **in progress:** " } else { "[ ] " };
            facts.push(("plan", vec![format!("{shown}{title}")], true));
        }
    }
    facts.push(("plan", vec!["14 of 25 tasks are ticked off".into()], true));
    for n in 0..6 {
        let text = format!("Should the {} of {} stay public?", pick(&NOUNS, n), pick(&AREAS, n));
        questions.push(serde_json::json!({"text": text, "at": at(200 + n * 150)}));
        facts.push(("open question", vec![text], true));
    }
    for n in 0..200 {
        let mut text = format!("Turn {n}: looked at the {} of {}.", pick(&NOUNS, n), pick(&AREAS, n));
        let _ = write!(text, "{}", " Then the callers were listed and one of them changed.".repeat(n % 5));
        turns.push(serde_json::json!({"role": if n % 2 == 0 { "user" } else { "assistant" }, "text": text, "at": at(24 + n * 6)}));
    }
    facts.push(("last turns", (196..200).map(|n| format!("Turn {n}:")).collect(), false));
    for (category, count) in [("shell", 212), ("edit", 160), ("read", 340), ("search", 95)] {
        tools.push(serde_json::json!({"category": category, "count": count, "samples": ["cargo test → exit 101", "a.rs", "b.rs"]}));
    }
    let keys = [
        "constraints",
        "files_modified",
        "commands",
        "decisions",
        "failed_attempts",
        "pending_tasks",
        "open_loops",
        "recent_messages",
        "tool_activity",
    ];
    for (key, list) in keys.into_iter().zip(lists) {
        json[key] = list.into();
    }
    Planted { packet: packet(&json.to_string()), facts }
}

/// The text with a line for each file in place of lines of folders, as a reader understands them.
pub(super) fn unfolded(text: &str) -> String {
    let of_folder = |line: &str| -> Option<String> {
        let (folder, groups) = line.strip_prefix("- `")?.split_once("/`: ")?;
        let mut lines = String::new();
        for group in groups.split("; ") {
            let (how, names) = group.split_once(' ')?;
            for name in names.trim_matches('`').split(", ") {
                let (name, counts) = name.split_once(' ').unwrap_or((name, ""));
                let _ = writeln!(lines, "- `{folder}/{name}` {how}, {counts}");
            }
        }
        Some(lines)
    };
    text.lines().map(|line| of_folder(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}
