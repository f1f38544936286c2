use baton_transcripts::{TranscriptEnv, by_id};
use serde_json::json;

use super::databases::listed;
use super::stories::{PLAN, plan, tells_the_story};
use super::{check, column, packet, packet_of, sample};

const NORMAL: &str = "openhands/normal/conversations/98000000000040008000000000000001";

#[test]
fn openhands_tells_the_story() {
    let packet = tells_the_story(&format!("{NORMAL}/base_state.json"));
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/files_modified/1/change", json!("created")),
            (
                "/metadata/tokens",
                json!({"input": 1000, "cache_read": 2000, "cache_write": 200, "output": 400}),
            ),
            ("/created_at", json!("2026-11-20T10:01:15.500Z")),
        ],
    );
}

#[test]
fn a_conversation_is_the_same_by_any_of_its_files() {
    let events = sample(&format!("{NORMAL}/events"));
    let mut files: Vec<_> = std::fs::read_dir(events).expect("dir").flatten().map(|one| one.path()).collect();
    files.sort();
    let packet = packet_of("openhands", &files[2], None);
    check(&packet, &[("/requests/last/text", json!("What is left?")), ("/environment/cwd", json!("~/shop"))]);
}

#[test]
fn a_condensed_conversation_is_read_in_the_order_of_its_numbers() {
    let packet =
        packet(&sample("openhands/compacted/conversations/98000000000040008000000000000002/base_state.json"));
    assert_eq!(column(&packet, "commands", "command"), ["rm -rf target", "cargo test"]);
    assert!(column(&packet, "open_loops", "text").contains(&"The user stopped the agent here."));
    check(
        &packet,
        &[
            ("/environment/cwd", json!("~/shop")),
            ("/requests/first/text", json!("Port the parser")),
            ("/requests/last/text", json!("Now the lexer")),
            ("/commands/1/note", json!("exit code unknown")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/metadata/complaints/0/kind", json!("unknown_type")),
        ],
    );
}

#[test]
fn a_damaged_conversation_gives_what_is_whole() {
    let packet = packet_of(
        "openhands",
        &sample("openhands/damaged/conversations/98000000000040008000000000000003/base_state.json"),
        None,
    );
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["truncated_document", "bad_record"]);
    check(
        &packet,
        &[
            ("/session_id", json!("98000000-0000-4000-8000-000000000003")),
            ("/files_modified/0/path", json!("log.py")),
            ("/last_answer/text", json!("Still here.")),
        ],
    );
}

#[test]
fn a_new_event_changes_the_stamp_and_a_folder_may_be_named() {
    let home = tempfile::tempdir().expect("dir");
    let folder = home.path().join("elsewhere/c1");
    std::fs::create_dir_all(folder.join("events")).expect("dir");
    std::fs::copy(sample(&format!("{NORMAL}/base_state.json")), folder.join("base_state.json"))
        .expect("copy");
    let mut env = TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() };
    let root = home.path().join("elsewhere").to_string_lossy().into_owned();
    env.vars.insert("OPENHANDS_CONVERSATIONS_DIR".into(), root);
    let stamps = || {
        let mut found = Vec::new();
        by_id("openhands").expect("known").find(&env, &mut |one| found.push(one.stamp));
        found
    };
    let before = stamps();
    let later = std::time::UNIX_EPOCH + std::time::Duration::from_secs(4_000_000_000);
    std::fs::write(folder.join("events/event-00000-a.json"), "{}").expect("write");
    std::fs::File::open(folder.join("events")).expect("open").set_modified(later).expect("time");
    assert_ne!(before, stamps());
    assert_eq!(listed(&env, "openhands")[0].complaints[0].kind, "no_conversation");
}
