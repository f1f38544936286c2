use serde_json::json;

use super::damage::check_as;
use super::databases::Database;
use super::stories::{PLAN, plan};
use super::{check, column, complaints, packet, packet_of, sample, shown};

const PLACE: &str = ".hermes/state.db";
const NORMAL: &str = "20261120_110640_9e0001";

#[test]
fn hermes_tells_the_story_with_its_sub_agent() {
    let made = Database::new("hermes/normal.sql", PLACE);
    let packet = packet_of("hermes", &made.path(), Some(NORMAL));
    assert_eq!(plan(&packet), PLAN);
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md", "totals.txt"]);
    assert_eq!(column(&packet, "constraints", "text"), ["Never touch the migrations."]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("What is left?")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/last_failure/output", json!("test_cart FAILED\nexpected 3")),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/files_modified/2/change", json!("modified (by sub-agent 20261120_110700_9e0002)")),
            ("/git/branch", json!("main")),
            (
                "/metadata/tokens",
                json!({"input": 1000, "cache_read": 2000, "cache_write": 200, "output": 400}),
            ),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert!(!packet.to_string().contains("Redo it all"), "what the user took back is gone");
    insta::assert_snapshot!("hermes", shown(packet));
}

#[test]
fn a_session_without_messages_says_so() {
    let made = Database::new("hermes/empty.sql", PLACE);
    let packet = packet_of("hermes", &made.path(), Some("h4"));
    assert_eq!(complaints(&packet), ["no_conversation"]);
    assert!(made.list("hermes").iter().all(|header| header.empty));
}

#[test]
fn a_conversation_that_was_compacted_is_one_and_repeats_nothing() {
    let made = Database::new("hermes/compacted.sql", PLACE);
    let headers = made.list("hermes");
    let mut ids: Vec<&str> = headers.iter().map(|header| header.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["20261120_121000_9e0011", "20261120_130000_9e0012"], "the first part is not listed");
    let main = headers.iter().find(|one| one.id == ids[0]).expect("listed");
    assert_eq!(
        (main.first_prompt.as_deref(), main.title.as_deref(), main.created_at_ms),
        (Some("Port the parser"), Some("Port (2)"), Some(1_795_172_800_000))
    );
    let packet = packet_of("hermes", &made.path(), Some(ids[0]));
    assert_eq!(column(&packet, "commands", "command"), ["cargo build", "cargo test"]);
    let messages = column(&packet, "recent_messages", "text");
    assert_eq!(messages, ["Port the parser", "Porting.", "Now the lexer", "Go on"]);
    check(
        &packet,
        &[
            ("/files_modified/0/path", json!("parser.rs")),
            ("/metadata/compaction/count", json!(2)),
            ("/metadata/compaction/summary", json!("Parser ported; lexer half.")),
            ("/metadata/tokens/input", json!(15)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    let branch = packet_of("hermes", &made.path(), Some(ids[1]));
    check(&branch, &[("/requests/first/text", json!("Another way"))]);
}

#[test]
fn a_damaged_hermes_session_gives_what_is_whole_and_a_loop_ends() {
    let made = Database::new("hermes/damaged.sql", PLACE);
    let packet = packet_of("hermes", &made.path(), Some("h3"));
    assert_eq!(complaints(&packet), ["bad_record", "unknown_type"]);
    check(&packet, &[("/last_answer/text", json!("Still here."))]);
    let round = packet_of("hermes", &made.path(), Some("h6"));
    check(&round, &[("/requests/first/text", json!("Round and round"))]);
    assert!(made.list("hermes").iter().any(|header| header.id == "h4" && header.empty));
}

#[test]
fn older_files_are_read_once_and_profiles_are_looked_through() {
    let made = Database::new("hermes/normal.sql", ".hermes/profiles/shop/state.db");
    let sessions = made.home().join(".hermes/sessions");
    std::fs::create_dir_all(&sessions).expect("dir");
    let (lines, document) = ("20260403_153620_5a3e2ff1.jsonl", "session_20260403_153620_5a3e2ff2.json");
    for name in [lines, document] {
        std::fs::copy(sample(&format!("hermes/{name}")), sessions.join(name)).expect("copy");
    }
    std::fs::copy(sample(&format!("hermes/{lines}")), sessions.join("sessions.json")).expect("copy");
    let taken_over = made.home().join(".hermes/profiles/shop/sessions");
    std::fs::create_dir_all(&taken_over).expect("dir");
    std::fs::copy(sample(&format!("hermes/{lines}")), taken_over.join(format!("{NORMAL}.jsonl")))
        .expect("copy");
    let headers = made.list("hermes");
    assert_eq!(headers.len(), 4, "{headers:#?}");
    assert_eq!(
        headers.iter().filter(|one| one.first_prompt.as_deref() == Some("Sort the imports")).count(),
        2
    );
    for name in [lines, document] {
        let packet = packet(&sessions.join(name));
        check(
            &packet,
            &[
                ("/source/agent", json!("hermes")),
                ("/last_failure/exit_code", json!(127)),
                ("/metadata/model", json!("hermes-4-70b")),
                ("/created_at", json!("2026-04-03T15:36:29.000Z")),
            ],
        );
        let bytes = std::fs::read(sessions.join(name)).expect("sample");
        for end in (0..bytes.len()).step_by(37) {
            check_as("hermes", name, &bytes[..end]);
        }
    }
}
