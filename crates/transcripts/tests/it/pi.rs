//! The sessions of OpenClaw in its database, and those of omp with their sub-agents beside them.

use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::databases::{Database, listed};
use super::{check, column, complaints, packet, packet_of, sample};

const PLACE: &str = ".openclaw/agents/main/agent/openclaw-agent.sqlite";
const MAIN: &str = "91000000-0000-4000-8000-000000000005";
const SPAWNED: &str = "91000000-0000-4000-8000-000000000006";

#[test]
fn openclaw_tells_the_story_out_of_its_database() {
    let made = Database::new("pi/openclaw.sql", PLACE);
    let packet = packet(&made.path());
    check(
        &packet,
        &[
            ("/source/agent", json!("pi")),
            ("/session_id", json!(MAIN)),
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("What is left?")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/files_modified/0/path", json!("cart.py")),
            ("/files_modified/1/path", json!("NOTES.md")),
            ("/files_modified/2", json!(null)),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/model", json!("claude-opus-4-5")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert!(!packet.to_string().contains("Redis"), "a branch that was left: {packet:#}");
}

#[test]
fn sessions_of_openclaw_are_listed_by_their_rows() {
    let made = Database::new("pi/openclaw.sql", PLACE);
    let headers = made.list("pi");
    let ids: Vec<&str> = headers.iter().map(|header| header.id.as_str()).collect();
    assert_eq!(ids, [MAIN, SPAWNED]);
    let main = &headers[0];
    assert_eq!((main.title.as_deref(), main.cwd.as_deref()), (Some("Fix total()"), Some("/home/you/shop")));
    assert_eq!(main.key.as_deref(), Some(MAIN));
    assert_eq!(main.first_prompt.as_deref(), Some("Fix total() in cart.py. Never touch the migrations."));
    assert!(!main.subagent && main.complaints.is_empty() && main.created_at_ms < main.updated_at_ms);
    assert!(headers[1].subagent);
}

#[test]
fn what_openclaw_took_over_into_its_database_is_listed_once() {
    let made = Database::new("pi/openclaw.sql", PLACE);
    let sessions = made.home().join(".openclaw/agents/main/sessions");
    std::fs::create_dir_all(&sessions).expect("dir");
    let file = sample("pi/openclaw/agents/main/sessions/91000000-0000-4000-8000-000000000004.jsonl");
    for id in [MAIN, "91000000-0000-4000-8000-000000000004"] {
        std::fs::copy(&file, sessions.join(format!("{id}.jsonl"))).expect("copy");
    }
    assert_eq!(made.list("pi").len(), 3);
    // The old homes, and a database of a release that kept nothing in it yet.
    let old = Database::new("pi/openclaw.sql", ".clawdbot/agents/main/agent/openclaw-agent.sqlite");
    assert_eq!(old.list("pi").len(), 2);
    old.open().execute_batch("DROP TABLE transcript_events").expect("SQL");
    assert_eq!(old.list("pi").len(), 0);
}

#[test]
fn a_damaged_session_of_openclaw_gives_what_is_whole() {
    let made = Database::new("pi/openclaw-damaged.sql", PLACE);
    let packet = packet_of("pi", &made.path(), None);
    check(
        &packet,
        &[("/requests/first/text", json!("Clean up the logs")), ("/last_failure/exit_code", json!(3))],
    );
    let kinds = complaints(&packet);
    for kind in ["bad_record", "unknown_type", "broken_chain"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
}

#[test]
fn the_sub_agents_of_omp_lie_in_a_folder_beside_their_session() {
    let home = tempfile::tempdir().expect("dir");
    super::family::copy(&sample("pi/omp"), &home.path().join(".omp/agent"));
    let headers = listed(&TranscriptEnv { home: home.path().to_owned(), ..Default::default() }, "pi");
    let mut found: Vec<(&str, bool, Option<&str>)> =
        headers.iter().map(|one| (one.id.as_str(), one.subagent, one.title.as_deref())).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("91000000-0000-4000-8000-000000000008", false, Some("Fix total()")),
            ("91000000-0000-4000-8000-000000000009", true, Some("Find callers")),
        ]
    );
    let main = headers.iter().find(|one| !one.subagent).expect("listed");
    let packet = packet(&main.path);
    assert!(column(&packet, "files_modified", "change").contains(&"modified (by sub-agent Explorer)"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/metadata/tokens", json!({"input": 30, "cache_read": 90, "cache_write": 15, "output": 60})),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn an_entry_of_openclaw_that_is_too_large_costs_only_itself() {
    let made = Database::new("pi/openclaw.sql", PLACE);
    let large = format!("{{\"type\":\"custom\",\"x\":\"{}\"}}", "x".repeat(9 * 1024 * 1024));
    made.open()
        .execute(
            "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?1, 99, ?2, 1795168899000)",
            (MAIN, large),
        )
        .expect("SQL");
    let packet = packet_of("pi", &made.path(), Some(MAIN));
    assert_eq!(complaints(&packet), ["oversized_line"]);
    check(&packet, &[("/requests/last/text", json!("What is left?"))]);
}
