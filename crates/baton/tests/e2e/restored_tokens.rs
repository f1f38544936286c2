//! What a restore does to access that was taken back.

use std::fs;

use serde_json::json;

use crate::stage::Stage;

#[test]
fn a_restore_over_what_cannot_be_read_says_that_revocations_are_forgotten() {
    let stage = Stage::in_a_file("a store is restored as a file").registered();
    let ann = stage.terminal("Ann");
    ann.json(&["token", "create", "--name", "old"]);
    let backup = stage.root().join("b.db").display().to_string();
    ann.json(&["backup", &backup]);
    assert!(!ann.text(&["restore", &backup, "--yes"]).contains("revoked since"), "the store was read");
    let store = stage.home().join("data/baton/baton.db");
    for side in ["-wal", "-shm"] {
        let _ = fs::remove_file(store.with_file_name(format!("baton.db{side}")));
    }
    fs::write(&store, "damaged").expect("written");
    let output = ann.text(&["restore", &backup, "--yes"]);
    assert!(
        output.contains("revoked since this backup are valid again: look at `baton token list`"),
        "{output}"
    );
}

#[test]
fn a_restore_names_who_can_open_the_store_and_where_its_entries_are_sent() {
    let stage = Stage::in_a_file("a store is restored as a file").registered();
    let ann = stage.terminal("Ann");
    let backup = stage.root().join("b.db").display().to_string();
    ann.json(&["backup", &backup]);
    let other = stage.root().join("other.db").display().to_string();
    let nothing = ann.json(&["--store", &other, "restore", &backup]);
    assert_eq!((&nothing["tokens"], &nothing["webhooks"]), (&json!([]), &json!([])), "{nothing:#}");
    ann.json(&["token", "create", "--name", "backdoor", "--scope", "operator"]);
    ann.json(&["token", "create", "--name", "old"]);
    ann.json(&["token", "revoke", "old"]);
    ann.json(&["project", "set", "--webhook", "http://127.0.0.1:17399/secret"]);
    let backup = stage.root().join("c.db").display().to_string();
    ann.json(&["backup", &backup]);
    let output = ann.text(&["restore", &backup, "--yes"]);
    assert!(output.contains("access tokens that open it: backdoor;"), "{output}");
    assert!(output.contains("entries of shop are sent to http://127.0.0.1:17399/…"), "{output}");
    assert!(!output.contains("secret"), "{output}");
}
