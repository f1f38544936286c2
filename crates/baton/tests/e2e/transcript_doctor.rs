//! The report on what of this machine's transcripts cannot be read.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::stage::{Stage, assert_fields, items};
use crate::words::steady;

const SESSION: &str = "home/.claude/projects/-shop/11111111-aaaa-4000-8000-00000000abcd.jsonl";

/// Words of a user, which no report may have.
const PRIVATE: &str = "the plan that nobody may read";

/// A machine on which Claude Code writes two types of records that are not known, and Codex none.
fn drifted() -> Stage {
    let stage = Stage::ready();
    let shop = stage.shop().display().to_string();
    let line = |n: u32, kind: &str| {
        let line = json!({
            "type": kind, "uuid": format!("u{n}"), "parentUuid": n.checked_sub(1).map(|n| format!("u{n}")), "sessionId": "s",
            "cwd": shop, "version": "2.1.331", "timestamp": "2026-11-20T10:00:00.000Z", "content": PRIVATE,
            "message": { "role": "user", "content": PRIVATE },
        });
        format!("{line}\n")
    };
    let kinds = ["user", "turn-ledger", "turn-ledger", "voice\u{202e}note"];
    stage.file(SESSION, (0..).zip(kinds).map(|(n, kind)| line(n, kind)).collect::<String>());
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples");
    let codex = fs::read(samples.join("codex/paginated.jsonl")).expect("sample");
    let name = "home/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-01a1cccc-0000-7000-8000-000000000003.jsonl";
    stage.file(name, codex);
    stage
}

#[test]
fn a_tool_whose_format_changed_is_seen_by_its_users_own_files() {
    let stage = drifted();
    let lola = stage.terminal("Lola");
    let report = lola.text(&["transcripts", "doctor", "--since", "3650d"]);
    insta::assert_snapshot!(steady(&report, &stage));
    let answer = lola.json(&["transcripts", "doctor", "--since", "3650d", "--agent", "claude"]);
    assert_fields(&answer, "project_id since items");
    let rows = items(&answer);
    assert_eq!((rows.len(), &rows[0]["agent"]), (1, &json!("claude")));
    assert_fields(&rows[0], "agent sessions records versions older beyond_limit unknown_types complaints");
    assert!(!answer.to_string().contains(PRIVATE) && !report.contains(PRIVATE), "{report}{answer:#}");
    // A report is no failure, whatever it finds; an empty machine is none either.
    let limited =
        lola.text(&["transcripts", "doctor", "--since", "3650d", "--limit", "1", "--agent", "codex"]);
    assert!(limited.contains("nothing is missing"), "{limited}");
    let empty = Stage::new();
    assert_eq!(empty.terminal("Lola").text(&["transcripts", "doctor"]), "no sessions were found\n");
    lola.refused(1, "agent_unknown", &["transcripts", "doctor", "--agent", "clippy"]);
    lola.refused(1, "span_invalid", &["transcripts", "doctor", "--since", "then"]);
}
