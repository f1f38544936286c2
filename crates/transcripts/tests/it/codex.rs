//! Codex conversations that stand in several rollouts: forks, reverts and sub-agents.

use std::path::{Path, PathBuf};

use baton_transcripts::report::kind;
use baton_transcripts::{Filter, Header, TranscriptEnv, TranscriptFile, by_id, list};
use serde_json::{Value, json};

use super::{check, column, complaints, packet, sample};

/// Days of the samples, below a home.
const DAY: &str = "sessions/2026/11/20";
const THREAD: &str = "01a1dddd-0000-7000-8000-00000000000a";
const AGENT: &str = "01a1dddd-0000-7000-8000-000000000005";
const FIRST: &str = "rollout-2026-11-20T10-00-00-01a1dddd-0000-7000-8000-00000000000a.jsonl";
const REVERTED: &str = "rollout-2026-11-20T10-02-00-01a1dddd-0000-7000-8000-00000000000a_01a1dddd-0000-7000-8000-00000000000b.jsonl";
const FORK: &str = "rollout-2026-11-20T10-05-00-01a1dddd-0000-7000-8000-00000000000f.jsonl";
const SPAWNED: &str = "rollout-2026-11-20T10-00-04-01a1dddd-0000-7000-8000-000000000005.jsonl";

fn rollout(name: &str) -> PathBuf {
    sample("codex/lineage").join(DAY).join(name)
}

/// The samples in a home of their own, where they may be changed.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("dir");
    let day = home.path().join(".codex").join(DAY);
    std::fs::create_dir_all(&day).expect("dir");
    for name in [FIRST, REVERTED, FORK, SPAWNED] {
        std::fs::copy(rollout(name), day.join(name)).expect("copy");
    }
    home
}

fn place(home: &tempfile::TempDir, name: &str) -> PathBuf {
    home.path().join(".codex").join(DAY).join(name)
}

fn listed(home: &Path) -> Vec<Header> {
    let env = TranscriptEnv { home: home.to_owned(), ..TranscriptEnv::default() };
    list(&env, &Filter { agents: vec!["codex".to_owned()], subagents: true, ..Filter::default() }, &(), 1)
}

fn header(path: &Path) -> Header {
    by_id("codex").expect("known").header(&TranscriptFile::from_path("codex", path).expect("found"))
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).expect("read");
    assert!(text.contains(from), "{from}");
    std::fs::write(path, text.replace(from, to)).expect("write");
}

/// What the first turn did, which stands in the first file only.
fn tells_the_first_turn(packet: &Value) {
    check(
        packet,
        &[
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/files_modified/0/path", json!("cart.py")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert_eq!(column(packet, "constraints", "text"), ["Never touch the migrations."]);
}

#[test]
fn a_fork_begins_with_what_stands_in_other_files() {
    let packet = packet(&rollout(FORK));
    tells_the_first_turn(&packet);
    check(
        &packet,
        &[
            ("/session_id", json!("01a1dddd-0000-7000-8000-00000000000f")),
            ("/requests/last/text", json!("What is left?")),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            // What the other thread used is not counted again.
            ("/metadata/tokens", json!({"input": 100, "cache_read": 200, "cache_write": 0, "output": 20})),
        ],
    );
    assert_eq!(
        column(&packet, "next_steps", "text"),
        ["update docs/cart.md", "find out why test_cart fails"]
    );
    assert!(!packet.to_string().contains("French"), "{packet:#}");
}

#[test]
fn what_a_revert_took_back_is_gone() {
    let packet = packet(&rollout(REVERTED));
    tells_the_first_turn(&packet);
    check(
        &packet,
        &[
            ("/session_id", json!(THREAD)),
            ("/requests/last/text", json!("Run the tests instead")),
            ("/last_answer/text", json!("The test fails still.")),
            ("/metadata/tokens", json!({"input": 550, "cache_read": 400, "cache_write": 50, "output": 90})),
        ],
    );
    let text = packet.to_string();
    assert!(!text.contains("French") && !text.contains("summary of everything"), "{packet:#}");
}

#[test]
fn a_call_of_a_client_s_tool_is_told_with_its_failure() {
    let mut seen = Vec::new();
    by_id("codex").expect("known").read(&rollout(REVERTED), &mut |event| {
        seen.push(format!("{:?}", event.what));
    });
    assert!(seen.iter().any(|one| one.contains("open_diagnostics")), "{seen:#?}");
    assert!(seen.iter().any(|one| one.contains("no editor") && one.contains("Some(false)")), "{seen:#?}");
}

#[test]
fn the_files_of_a_sub_agent_are_told_as_its_own() {
    let whole = packet(&rollout(FIRST));
    let changes = column(&whole, "files_modified", "change");
    assert!(changes.contains(&format!("modified (by sub-agent {AGENT})").as_str()), "{changes:?}");
    // Its tokens are no part of the session's.
    check(&whole, &[("/metadata/tokens/output", json!(80)), ("/metadata/tokens/input", json!(550))]);
    let own = packet(&rollout(SPAWNED));
    check(
        &own,
        &[
            ("/session_id", json!(AGENT)),
            ("/requests/first/text", json!("Find callers of total()")),
            ("/files_modified/0/path", json!("callers.txt")),
            ("/files_modified/1", json!(null)),
        ],
    );
}

#[test]
fn a_rollout_that_says_it_belongs_elsewhere_is_not_taken_for_a_sub_agent() {
    let home = home();
    edit(&place(&home, SPAWNED), &format!("\"parent_thread_id\":\"{THREAD}\""), "\"parent_thread_id\":\"x\"");
    let packet = packet(&place(&home, FIRST));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "french.py"]);
}

#[test]
fn a_thread_is_listed_once_by_its_newest_file() {
    let home = home();
    let headers = listed(home.path());
    let mut ids: Vec<(&str, bool)> =
        headers.iter().map(|header| (header.id.as_str(), header.subagent)).collect();
    ids.sort_unstable();
    assert_eq!(ids, [(AGENT, true), (THREAD, false), ("01a1dddd-0000-7000-8000-00000000000f", false)]);
    let of = |id: &str| headers.iter().find(|header| header.id == id).expect("listed");
    let thread = of(THREAD);
    assert!(thread.path.ends_with(REVERTED), "{thread:#?}");
    assert_eq!(thread.title.as_deref(), Some("Fix total() in cart.py. Never touch the migrations."));
    assert_eq!(of("01a1dddd-0000-7000-8000-00000000000f").title.as_deref(), Some("What is left?"));
    assert_eq!(of(AGENT).title.as_deref(), Some("Find callers of total()"));
    assert!(headers.iter().all(|header| header.complaints.is_empty()), "{headers:#?}");
}

#[test]
fn a_missing_part_is_said_and_the_rest_is_read() {
    let home = home();
    std::fs::remove_file(place(&home, FIRST)).expect("removed");
    let packet = packet(&place(&home, FORK));
    assert_eq!(complaints(&packet), [kind::MISSING_PART]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Run the tests instead")),
            ("/requests/last/text", json!("What is left?")),
        ],
    );
    std::fs::remove_file(place(&home, REVERTED)).expect("removed");
    let header = header(&place(&home, FORK));
    assert_eq!(header.first_prompt.as_deref(), Some("What is left?"));
    assert!(!header.empty);
}

#[test]
fn a_circle_of_files_has_an_end() {
    let home = home();
    let path = place(&home, FORK);
    edit(&path, "-8000-00000000000b\",\"end", "-8000-00000000000f\",\"end");
    let packet = packet(&path);
    assert_eq!(complaints(&packet), [kind::MISSING_PART]);
    check(&packet, &[("/requests/first/text", json!("What is left?"))]);
    assert_eq!(header(&path).title.as_deref(), Some("What is left?"));
}

#[test]
fn a_part_that_was_packed_is_read() {
    let home = home();
    for name in [FIRST, REVERTED] {
        let path = place(&home, name);
        let packed = zstd::encode_all(std::fs::File::open(&path).expect("open"), 3).expect("packed");
        std::fs::write(path.with_extension("jsonl.zst"), packed).expect("write");
        std::fs::remove_file(&path).expect("removed");
    }
    tells_the_first_turn(&packet(&place(&home, FORK)));
    assert_eq!(listed(home.path()).len(), 3);
}

#[test]
fn a_damaged_base_costs_what_it_holds() {
    for (from, to) in [
        ("\"end_byte_offset\":", "\"end_byte_offset\":-"),
        ("\"end_ordinal_exclusive\":", "\"end_ordinal_exclusive\":\"x\",\"y\":"),
        ("\"history_base\":{", "\"history_base\":[],\"other\":{"),
        ("\"thread_id\":", "\"thread_id\":7,\"z\":"),
    ] {
        let home = home();
        edit(&place(&home, FORK), from, to);
        let packet = packet(&place(&home, FORK));
        check(&packet, &[("/requests/last/text", json!("What is left?"))]);
        assert!(!header(&place(&home, FORK)).empty, "{from}");
    }
}

#[test]
fn a_name_with_a_path_in_it_leads_nowhere_and_a_huge_line_of_a_part_costs_only_itself() {
    let home = home();
    let fork = place(&home, FORK);
    edit(
        &fork,
        "\"thread_id\":\"01a1dddd-0000-7000-8000-00000000000b\"",
        "\"thread_id\":\"../../../etc/passwd\"",
    );
    let packet_of_fork = packet(&fork);
    assert_eq!(complaints(&packet_of_fork), [kind::MISSING_PART]);
    let reverted = place(&home, REVERTED);
    edit(&reverted, "<summary of everything>", &"x".repeat(9 * 1024 * 1024));
    let packet_of_thread = packet(&reverted);
    assert_eq!(complaints(&packet_of_thread), [kind::OVERSIZED]);
    check(&packet_of_thread, &[("/last_answer/text", json!("The test fails still."))]);
}
