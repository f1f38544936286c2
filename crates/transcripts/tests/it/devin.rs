//! Devin CLI: a database with a tree of messages, and trajectories of the sessions that ended.

use serde_json::json;

use super::databases::{Database, listed};
use super::{check, column, packet, packet_of, sample};
use baton_transcripts::TranscriptEnv;

const PLACE: &str = ".local/share/devin/cli/sessions.db";

#[test]
fn a_session_of_the_database_is_read_without_what_was_taken_back() {
    let made = Database::new("devin/normal.sql", PLACE);
    let packet = packet_of("devin", &made.path(), Some("brave-otter"));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert_eq!(
        column(&packet, "constraints", "text"),
        ["Never touch the migrations.", "Please don't rename anything."]
    );
    assert!(!packet.to_string().contains("Rename everything"), "it hangs on another branch");
    check(
        &packet,
        &[
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/metadata/model", json!("swe-2")),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn a_session_that_is_in_the_database_and_in_a_trajectory_is_listed_once() {
    let made = Database::new("devin/normal.sql", PLACE);
    let trajectories = made.path().with_file_name("transcripts");
    std::fs::create_dir_all(&trajectories).expect("a folder");
    for name in ["brave-otter.json", "old-finch.json"] {
        let from = sample("devin/normal/devin/cli/transcripts/brave-otter.json");
        std::fs::copy(from, trajectories.join(name)).expect("copied");
    }
    let env = TranscriptEnv { home: made.home().to_owned(), ..TranscriptEnv::default() };
    let headers = listed(&env, "devin");
    let keys: Vec<_> = headers.iter().map(|header| (header.key.as_deref(), header.empty)).collect();
    assert_eq!(headers.len(), 3, "{keys:?}");
    assert!(keys.contains(&(Some("brave-otter"), false)) && keys.contains(&(Some("calm-heron"), true)));
    let main = headers.iter().find(|header| header.key.is_some() && !header.empty).expect("listed");
    assert_eq!((main.title.as_deref(), main.cwd.as_deref()), (Some("Round prices"), Some("/home/you/shop")));
    assert_eq!(main.created_at_ms, Some(1_795_000_000_000));
}

#[test]
fn what_devin_says_under_the_name_of_the_user_is_no_request() {
    let packet = packet(&sample("devin/normal/devin/cli/transcripts/brave-otter.json"));
    assert!(!packet.to_string().contains("Rules of this folder"));
    check(&packet, &[("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations."))]);
}

#[test]
fn a_damaged_session_gives_what_is_whole() {
    let made = Database::new("devin/damaged.sql", PLACE);
    let packet = packet_of("devin", &made.path(), Some("d1"));
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["bad_record", "unknown_type"]);
    check(&packet, &[("/last_answer/text", json!("Still here.")), ("/requests/first/text", json!("Go on"))]);
}
