use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::damage::check_as;
use super::databases::{Database, listed};
use super::{check, column, packet, packet_of, sample, shown};

const PLACE: &str = ".local/share/goose/sessions/sessions.db";

#[test]
fn a_goose_session_is_read_with_its_todos() {
    let made = Database::new("goose/normal.sql", PLACE);
    let packet = packet_of("goose", &made.path(), Some("20261118_1"));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert_eq!(
        column(&packet, "constraints", "text"),
        ["Never touch the migrations.", "Please don't rename anything."]
    );
    check(
        &packet,
        &[
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/next_steps/0/text", json!("Please don't rename anything. What about the docs?")),
            ("/metadata/model", json!("gpt-5.2")),
            ("/metadata/tokens/output", json!(70)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("goose", shown(packet));
}

#[test]
fn goose_sessions_are_listed_from_the_database_and_old_files_once() {
    let made = Database::new("goose/normal.sql", PLACE);
    let dir = made.path().parent().expect("parent").to_owned();
    for name in ["20261118_1.jsonl", "20250724_1.jsonl"] {
        std::fs::copy(sample("goose/old.jsonl"), dir.join(name)).expect("copy");
    }
    let headers = made.list("goose");
    assert_eq!(headers.len(), 3);
    let main = headers.iter().find(|header| header.id == "20261118_1").expect("listed");
    assert_eq!((main.title.as_deref(), main.cwd.as_deref()), (Some("Round prices"), Some("/home/you/shop")));
    assert_eq!(main.created_at_ms, Some(1_795_000_000_000));
    assert!(headers.iter().any(|header| header.id == "20261118_2" && header.subagent));
    let old = headers.iter().find(|header| header.id == "20250724_1").expect("listed");
    assert_eq!(old.first_prompt.as_deref(), Some("Sort the imports"));
    let mut moved = TranscriptEnv { home: "/nowhere".into(), ..TranscriptEnv::default() };
    let root = made.home().join(".local/share/goose");
    std::fs::create_dir_all(root.join("data")).expect("dir");
    std::fs::rename(root.join("sessions"), root.join("data/sessions")).expect("move");
    moved.vars.insert("GOOSE_PATH_ROOT".into(), root.to_string_lossy().into_owned());
    assert_eq!(listed(&moved, "goose").len(), 3);
}

#[test]
fn what_only_the_model_sees_is_the_summary_of_a_compaction() {
    let made = Database::new("goose/compacted.sql", PLACE);
    check(
        &packet(&made.path()),
        &[
            ("/source/agent", json!("goose")),
            ("/metadata/compaction/count", json!(1)),
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
            ("/requests/first/text", json!("Split the monolith")),
            ("/commands/0/command", json!("git mv a b")),
        ],
    );
}

#[test]
fn a_damaged_goose_session_gives_what_is_whole_and_an_empty_one_says_so() {
    let made = Database::new("goose/damaged.sql", PLACE);
    let packet = packet_of("goose", &made.path(), Some("g3"));
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["bad_record", "unknown_type"]);
    check(&packet, &[("/last_answer/text", json!("Still here."))]);
    assert!(made.list("goose").iter().any(|header| header.id == "g4" && header.empty));
}

#[test]
fn an_old_file_of_lines_is_read_and_survives_any_cut() {
    let packet = packet(&sample("goose/old.jsonl"));
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["truncated_last_line"]);
    check(&packet, &[("/source/agent", json!("goose")), ("/last_failure/exit_code", json!(127))]);
    let bytes = std::fs::read(sample("goose/old.jsonl")).expect("sample");
    for end in (0..bytes.len()).step_by(13) {
        check_as("goose", "x.jsonl", &bytes[..end]);
    }
}
