//! `baton store copy`: a ledger moves between the engines, both ways, as it is.

use serde_json::Value;

use crate::stage::{Stage, items, text};

/// A stage whose store in a file holds a bit of everything.
fn lived_in() -> Option<Stage> {
    let stage = Stage::on_postgres()?;
    let file = stage.root().join("first.db").display().to_string();
    let lola = stage.terminal("Lola").with("BATON_STORE", &file);
    stage.repo("bank");
    lola.json(&["init"]);
    lola.within(stage.root().join("bank")).json(&["init"]);
    lola.json(&["start"]);
    lola.json(&["note", "naïve 🏃 ‘quoted’\nand a second line"]);
    lola.json(&["decide", "keep it simple", "--why", "it is read more often than it is written"]);
    lola.json(&["memory", "add", "the till opens with a blow", "--tag", "shop"]);
    lola.json(&["task", "create", "Count the money", "--priority", "1"]);
    lola.json(&["checkpoint", "--summary", "half way"]);
    lola.json(&["token", "create", "--scope", "read"]);
    lola.json(&["handoff", "create", "--to", "bank", "--subject", "Take the money", "--local"]);
    let letter = stage.file("letter.txt", "is it you?\n");
    lola.json(&["mail", "send", "--to", "Donna", "--subject", "hello", "--body", &letter, "--wait"]);
    lola.json(&["wrap", "--summary", "done for today", "--next", "open the shop"]);
    Some(stage)
}

#[test]
fn a_ledger_moves_to_a_database_and_back_and_stays_the_same() {
    let Some(stage) = lived_in() else { return };
    let file = stage.root().join("first.db").display().to_string();
    let second = stage.root().join("second.db").display().to_string();
    let database = stage.database().to_owned();
    let bare = stage.bare();
    let there = bare.json(&["store", "copy", &file, &database]);
    let back = bare.json(&["store", "copy", &database, &second]);
    assert_eq!((&there["verified"], &there["rows"]), (&Value::Bool(true), &back["rows"]));
    assert_eq!(there["items"], back["items"], "counts and hashes of every table");
    for table in [
        "delta",
        "session",
        "task",
        "memory",
        "handoff",
        "handoff_step",
        "message",
        "access_token",
        "project_root",
    ] {
        let rows = items(&there).into_iter().find(|item| item["table"] == table).expect("counted");
        assert_ne!(rows["rows"], 0, "{table} was put to the test");
    }
    // What is read through the commands is the same, and work goes on where it was.
    let donna = |store: &str| stage.terminal("Donna").with("BATON_STORE", store);
    for call in
        [&["log"][..], &["status"], &["task", "list"], &["memory", "search", "till"], &["token", "list"]]
    {
        let seen: Vec<Value> = [&file, &database, &second].map(|store| donna(store).json(call)).into();
        let steady = |value: &Value| {
            let mut value = value.clone();
            value.as_object_mut().map(|fields| fields.remove("store"));
            value.to_string()
        };
        assert_eq!((steady(&seen[0]), steady(&seen[0])), (steady(&seen[1]), steady(&seen[2])), "{call:?}");
    }
    let picked = donna(&database).json(&["pickup"]);
    assert_eq!(picked["baton"]["summary"], "done for today");
    assert_eq!(donna(&database).json(&["doctor"])["sound"], true);
    assert_eq!(donna(&second).json(&["doctor"])["sound"], true);
}

#[test]
fn a_backup_of_a_database_is_left_to_the_databases_own_tools() {
    let Some(stage) = Stage::on_postgres() else { return };
    stage.terminal("Lola").json(&["init"]);
    let there = stage.terminal("Lola").with("BATON_STORE", stage.database());
    let no = there.refused(1, "backup_of_database", &["backup", "x.db"]);
    for command in ["pg_dump", "baton store copy"] {
        assert!(text(&no, "hint").contains(command), "{no:#}");
    }
}

#[test]
fn only_an_empty_store_is_copied_into() {
    let Some(stage) = lived_in() else { return };
    let file = stage.root().join("first.db").display().to_string();
    let database = stage.database().to_owned();
    let bare = stage.bare();
    bare.json(&["store", "copy", &file, &database]);
    let before = stage.ledger("shop");
    let error = bare.refused(1, "store_not_empty", &["store", "copy", &file, &database]);
    assert!(!text(&error, "message").is_empty());
    bare.refused(1, "store_not_empty", &["store", "copy", &database, &file]);
    assert_eq!(stage.ledger("shop"), before);
    bare.refused(1, "store_same", &["store", "copy", &file, &file]);
    bare.refused(1, "store_unopenable", &["store", "copy", "/nowhere/x.db", &file]);
}
