use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::damage::check_as;
use super::databases::listed;
use super::{check, column, packet, packet_of, sample, shown};

const NORMAL: &str = "aider/.aider.chat.history.md";

#[test]
fn the_last_chat_of_a_file_is_read_with_its_edits() {
    let packet = packet(&sample(NORMAL));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py"]);
    assert_eq!(column(&packet, "commands", "command"), ["make test", "make docs"]);
    assert_eq!(
        column(&packet, "constraints", "text"),
        ["Never touch the migrations.", "Please don't rename anything."]
    );
    check(
        &packet,
        &[
            ("/source/agent", json!("aider")),
            ("/session_id", json!("20261118-110640")),
            ("/last_failure/exit_code", json!(2)),
            ("/commands/1/note", json!("exit code unknown")),
            ("/files_modified/0/lines", json!("+3 -1")),
            ("/git/commit", json!("d46a0c1")),
            ("/metadata/model", json!("claude-sonnet-4-5")),
            ("/metadata/tokens", json!({"input": 3000, "cache_read": 1000, "cache_write": 0, "output": 150})),
            ("/metadata/complaints", json!(null)),
        ],
    );
    let mut packet = packet;
    packet["environment"]["cwd"] = json!("…");
    insta::assert_snapshot!("aider", shown(packet));
}

#[test]
fn every_chat_is_listed_from_known_projects_only() {
    let home = tempfile::tempdir().expect("dir");
    let shop = home.path().join("shop");
    std::fs::create_dir_all(&shop).expect("dir");
    std::fs::copy(sample(NORMAL), shop.join(".aider.chat.history.md")).expect("copy");
    let mut env = TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() };
    assert_eq!(listed(&env, "aider"), []);
    env.folders.push(shop.clone());
    let headers = listed(&env, "aider");
    assert_eq!(headers.len(), 2);
    assert_eq!(headers[0].key.as_deref(), Some("2026-11-18 11:06:40"));
    assert_eq!(headers[0].cwd.as_deref(), Some(shop.to_string_lossy().as_ref()));
    assert!(headers[0].first_prompt.as_deref().is_some_and(|prompt| prompt.starts_with("Round the prices")));
    assert!(headers[1].empty);
    env.vars.insert("AIDER_CHAT_HISTORY_FILE".into(), "notes/chat.md".into());
    assert_eq!(listed(&env, "aider"), []);
    std::fs::create_dir_all(shop.join("notes")).expect("dir");
    std::fs::copy(sample(NORMAL), shop.join("notes/chat.md")).expect("copy");
    assert_eq!(listed(&env, "aider").len(), 2);
}

#[test]
fn a_code_block_that_was_never_closed_hides_nothing() {
    let packet = packet(&sample("aider/damaged.md"));
    assert_eq!(column(&packet, "files_modified", "path"), ["log.py"]);
    check(
        &packet,
        &[("/requests/last/text", json!("Clean up the logs")), ("/metadata/tokens/input", json!(1500))],
    );
    let empty = packet_of("aider", &sample("aider/empty.md"), None);
    assert_eq!(column(&empty["metadata"], "complaints", "kind"), ["no_conversation"]);
}

#[test]
fn a_chat_that_was_cut_anywhere_is_survived() {
    let bytes = std::fs::read(sample(NORMAL)).expect("sample");
    for end in 0..bytes.len() {
        if end % 7 == 0 {
            check_as("aider", "x.md", &bytes[..end]);
        }
    }
}
