//! What the report on transcripts says of tools whose formats have changed, and what it reads for that.

use serde_json::{Value, json};

use crate::backend::NOW;
use crate::world::{World, agent, column, list};

/// A Claude Code session of this version in a folder, last written so many days ago, with a record of each of these types.
fn session(w: &World, id: u32, version: &str, days: i64, types: &[&str]) {
    let at = baton_model::time::rfc3339(NOW - days * 86_400_000);
    let line = |kind: &str, n: usize| {
        let line = json!({
            "type": kind, "uuid": format!("u{n}"), "parentUuid": n.checked_sub(1).map(|n| format!("u{n}")), "sessionId": id.to_string(),
            "cwd": "/repos/p", "version": version, "timestamp": at, "message": { "role": "user", "content": "go" },
        });
        format!("{line}\n")
    };
    let lines: String = ["user"].iter().chain(types).enumerate().map(|(n, kind)| line(kind, n)).collect();
    w.home().write(&path(id), lines);
}

fn path(id: u32) -> String {
    format!(".claude/projects/-x/{id:08}-aaaa-4000-8000-000000000001.jsonl")
}

/// The row of Claude Code.
fn row(w: &mut World, input: Value) -> Value {
    let rows = list(&w.ok(&agent("Ann"), "transcript_doctor", input)["items"]);
    rows.into_iter().find(|row| row["agent"] == "claude").unwrap_or_default()
}

on_every_backend! {
    fn unknown_types_are_told_with_the_version_that_writes_them_and_in_how_many_sessions(w) {
        w.settle();
        session(w, 1, "2.1.331", 1, &["x", "x", "y"]);
        session(w, 2, "2.1.331", 2, &["x"]);
        session(w, 3, "2.1.330", 3, &["x"]);
        let row = row(w, json!({}));
        assert_eq!((&row["sessions"], &row["records"]), (&json!(3), &json!(8)));
        assert_eq!(row["versions"], json!(["2.1.331", "2.1.330"]), "the newest session first");
        let types: Vec<Value> = list(&row["unknown_types"]).iter()
            .map(|one| json!([one["version"], one["name"], one["count"], one["sessions"]])).collect();
        assert_eq!(types, [json!(["2.1.331", "x", 3, 2]), json!(["2.1.331", "y", 1, 1]), json!(["2.1.330", "x", 1, 1])]);
        let example = row["unknown_types"][2]["path"].as_str().expect("a path");
        assert!(example.ends_with(&path(3)), "{example}");
        assert_eq!(row["complaints"], json!([]), "an unknown type is told once");
    }

    fn other_faults_are_told_by_kind_and_an_empty_session_is_none(w) {
        w.settle();
        session(w, 1, "2.1.331", 1, &[]);
        let whole = row(w, json!({}));
        assert_eq!((&whole["unknown_types"], &whole["complaints"]), (&json!([]), &json!([])));
        w.home().write(&path(2), "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n{no\n\n{neither\n{}\n");
        w.home().write(&path(3), "");
        let row = row(w, json!({ "since_ms": 0 }));
        assert_eq!((&row["sessions"], &row["without_conversation"]), (&json!(3), &json!(1)), "{row:#}");
        let fault = list(&row["complaints"]).into_iter().find(|one| one["kind"] == "bad_line").expect("told");
        assert_eq!((&fault["count"], &fault["sessions"], &fault["line"]), (&json!(2), &json!(1), &json!(2)));
        assert_eq!(row["unknown_types"][0]["name"], "", "a record that names no type");
    }

    fn the_newest_of_thirty_days_are_read_and_the_rest_is_counted(w) {
        w.settle();
        for id in 1..=3 {
            session(w, id, "2.1.331", i64::from(id), &[]);
        }
        session(w, 4, "2.1.1", 31, &["old"]);
        let counts = |row: &Value| ["sessions", "older", "beyond_limit"].map(|key| row[key].as_u64().expect("a number"));
        assert_eq!(counts(&row(w, json!({}))), [3, 1, 0]);
        assert_eq!(counts(&row(w, json!({ "limit": 2 }))), [2, 1, 1]);
        assert_eq!(counts(&row(w, json!({ "limit": 0, "since_ms": 0 }))), [4, 0, 0]);
        assert_eq!(row(w, json!({ "since_ms": 0 }))["versions"], json!(["2.1.331", "2.1.1"]));
        let named = w.ok(&agent("Ann"), "transcript_doctor", json!({ "agents": ["codex"] }));
        assert_eq!(column(&list(&named["items"]), "agent"), ["codex"], "a tool that is named has a row without sessions");
        w.no(&agent("Ann"), "transcript_doctor", json!({ "agents": ["clippy"] }), "agent_unknown");
    }
}
