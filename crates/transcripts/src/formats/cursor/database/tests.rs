use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::super::Cursor;
use super::*;
use crate::collect::{Collector, Options};
use crate::format::TranscriptReader;
use crate::report::kind;

const MAIN: &str = "c0000000-0000-4000-8000-000000000001";

fn put(home: &Path, sql: &str, name: &str) -> PathBuf {
    let path = home.join(name);
    std::fs::create_dir_all(path.parent().expect("parent")).expect("dir");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/cursor").join(sql);
    let text = std::fs::read_to_string(sample).expect("sample");
    Connection::open(&path).expect("database").execute_batch(&text).expect("SQL");
    path
}

/// The packet of a conversation, with the home directory of the samples as `~`.
fn packet(path: &Path, key: Option<&str>) -> Value {
    let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
    let mut collector = Collector::new(&options, None);
    let report = read(path, key, &mut |event| collector.event(event));
    let mut packet = serde_json::to_value(collector.finish(ID, path, report)).expect("JSON");
    packet["source"]["path"] = json!("…");
    packet
}

fn check(packet: &Value, wanted: &[(&str, Value)]) {
    for (pointer, value) in wanted {
        assert_eq!(packet.pointer(pointer).unwrap_or(&Value::Null), value, "{pointer} in {packet:#}");
    }
}

fn found(home: &Path) -> Vec<Header> {
    let env = TranscriptEnv { home: home.to_owned(), ..TranscriptEnv::default() };
    let mut all = Vec::new();
    Cursor.find(&env, &mut |one| all.push(Cursor.header(&one)));
    all
}

#[test]
fn a_conversation_of_the_editor_is_read() {
    let home = tempfile::tempdir().expect("dir");
    let path = put(home.path(), "ide.sql", ".config/Cursor/User/globalStorage/state.vscdb");
    let packet = packet(&path, Some(MAIN));
    check(
        &packet,
        &[
            ("/files_modified/0/path", json!("cart.py")),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/files_modified/1", json!(null)),
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/pending_tasks/0/status", json!("completed")),
            ("/pending_tasks/1/status", json!("pending")),
            ("/constraints/0/text", json!("Never touch the migrations.")),
            ("/next_steps/0/text", json!("Please don't rename anything. What about the docs?")),
            ("/git/branch", json!("cents")),
            ("/metadata/model", json!("composer-1")),
            ("/metadata/complaints/0/kind", json!(kind::BAD_RECORD)),
            ("/metadata/complaints/1", json!(null)),
        ],
    );
    insta::assert_snapshot!("cursor-ide", serde_json::to_string_pretty(&packet).expect("JSON"));
}

#[test]
fn an_older_conversation_stands_in_one_value() {
    let home = tempfile::tempdir().expect("dir");
    let path = put(home.path(), "ide.sql", ".config/Cursor/User/globalStorage/state.vscdb");
    check(
        &packet(&path, Some("old")),
        &[("/requests/first/text", json!("Sort the imports")), ("/last_answer/text", json!("Sorted."))],
    );
    for key in ["none", "empty", "nobody"] {
        check(&packet(&path, Some(key)), &[("/metadata/complaints/0/kind", json!(kind::EMPTY))]);
    }
}

#[test]
fn a_chat_of_the_command_line_is_walked_from_its_root() {
    let home = tempfile::tempdir().expect("dir");
    let path =
        put(home.path(), "store.sql", ".cursor/chats/0a1b/d0000000-0000-4000-8000-000000000002/store.db");
    let packet = packet(&path, None);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Sort the imports. Only change src/")),
            ("/last_answer/text", json!("isort is missing.")),
            ("/last_failure/exit_code", json!(127)),
            ("/files_modified/0/path", json!("~/shop/src/a.py")),
            ("/metadata/model", json!("composer-1")),
            ("/metadata/complaints/0/kind", json!(kind::BAD_RECORD)),
        ],
    );
    insta::assert_snapshot!("cursor-store", serde_json::to_string_pretty(&packet).expect("JSON"));
}

#[test]
fn both_are_found_and_know_their_folders_and_titles() {
    let home = tempfile::tempdir().expect("dir");
    let user = ".config/Cursor/User";
    put(home.path(), "ide.sql", &format!("{user}/globalStorage/state.vscdb"));
    put(home.path(), "workspace.sql", &format!("{user}/workspaceStorage/0a1b/state.vscdb"));
    std::fs::write(
        home.path().join(user).join("workspaceStorage/0a1b/workspace.json"),
        r#"{"folder":"file:///home/you/old%20shop"}"#,
    )
    .expect("write");
    put(home.path(), "store.sql", ".cursor/chats/0a1b/d0000000-0000-4000-8000-000000000002/store.db");
    let all = found(home.path());
    let found_for = |id: &str| {
        let one = all.iter().find(|header| header.id == id).expect("found");
        (one.title.clone().unwrap_or_default(), one.cwd.clone().unwrap_or_default(), one.empty)
    };
    assert_eq!(found_for(MAIN), ("Round prices".to_owned(), "/home/you/shop".to_owned(), false));
    assert_eq!(found_for("old"), ("Sort the imports".to_owned(), "/home/you/old shop".to_owned(), false));
    assert!(found_for("empty").2);
    assert_eq!(found_for("d0000000-0000-4000-8000-000000000002").0, "Sort imports");
    assert_eq!(all.len(), 4);
}

#[test]
fn damage_is_survived() {
    let home = tempfile::tempdir().expect("dir");
    for (sql, key) in [("ide.sql", Some(MAIN)), ("ide.sql", None), ("store.sql", None)] {
        let path = put(home.path(), sql, &format!("{sql}-{}/x.db", key.is_some()));
        let whole = std::fs::read(&path).expect("read");
        assert!(sniff(&sqlite::schema(&path).expect("schema")));
        for at in (0..whole.len()).step_by(311) {
            let mut bytes = whole.clone();
            bytes.iter_mut().skip(at).take(40).for_each(|byte| *byte ^= 0x5a);
            std::fs::write(&path, &bytes).expect("write");
            let report = read(&path, key, &mut |_| {});
            assert!(report.events > 0 || !report.complaints.is_empty());
            std::fs::write(&path, &whole[..at]).expect("write");
            let report = read(&path, key, &mut |_| {});
            assert!(report.events > 0 || !report.complaints.is_empty());
        }
    }
}
