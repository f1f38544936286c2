//! What a restore does to access that was taken back.

use std::fs;

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
