//! Two stores with one ledger: one of them carries out what goes outside, and the other says so and waits.

use std::fs;

use baton_emulator::{Emulator, Fault, Options};
use serde_json::{Value, json};

use crate::cross::{self, github, with_github};
use crate::http::Server;
use crate::stage::{Stage, Terminal, text};

/// A stage whose store has a hand-off of which GitHub has refused the issue so far.
fn with_pending_issue() -> (Stage, Emulator, String) {
    let stage = Stage::in_a_file("copies of a store are about the file").registered();
    let hub = github(Options::default());
    cross::beside(&stage);
    hub.script(Some(Box::new(|_| Fault::Refuse(429, Some(3_600)))));
    let words = ["handoff", "create", "--to", "lib", "--repo", "o/lib", "--subject", "s", "--json"];
    let later = with_github(&stage.terminal("Ann"), &hub).run(&words);
    assert_eq!((later.code, later.json()["state"].clone()), (5, json!("pending")), "{later:#?}");
    let id = text(&later.json(), "handoff_id");
    hub.script(None);
    (stage, hub, id)
}

/// A second store with the same ledger, by each way in which one comes into being.
fn second_store(stage: &Stage, way: &str) -> String {
    let ann = stage.terminal("Ann");
    let path = |name: &str| stage.root().join(name).display().to_string();
    let (store, other, backup) = (stage.store().display().to_string(), path("other/second.db"), path("b.db"));
    fs::create_dir_all(stage.root().join("other")).expect("a folder");
    match way {
        "copy" => {
            let copied = ann.json(&["store", "copy", &store, &other]);
            assert_eq!(copied["effects_held_for"], json!(store), "{copied:#}");
        }
        "restore" => {
            ann.json(&["backup", &backup]);
            let restored = ann.json(&["--store", &other, "restore", &backup]);
            assert_eq!(restored["effects_held_for"], json!(store), "{restored:#}");
        }
        _ => {
            ann.json(&["backup", &backup]);
            fs::copy(&backup, &other).expect("copied");
        }
    }
    other
}

fn issues(hub: &Emulator) -> Vec<bool> {
    hub.hub().issues("o/lib").iter().map(|issue| issue.open).collect()
}

#[track_caller]
fn held(answer: &str, store: &str) {
    assert!(answer.contains("issues and webhooks wait") && answer.contains(store), "{answer}");
    assert!(answer.contains("`baton store take-over`"), "{answer}");
}

/// What a damaged store still says of who acts outside counts for the backup that is restored in its place.
#[test]
fn a_damaged_store_that_waited_is_replaced_by_one_that_waits() {
    let (stage, hub, _) = with_pending_issue();
    let store = stage.store().display().to_string();
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let other = second_store(&stage, "copy");
    let copy = ann.with("BATON_STORE", &other);
    let backup = stage.root().join("of-the-copy.db").display().to_string();
    copy.json(&["store", "take-over"]);
    copy.json(&["backup", &backup]);
    // The first store takes over again: the copy waits from now on, which its backup does not know.
    ann.json(&["store", "take-over"]);
    held(&copy.text(&["doctor"]), &store);
    let newest = stage.root().join("newest.db").display().to_string();
    copy.json(&["backup", &newest]);
    let mut bytes = fs::read(&newest).expect("a backup");
    let entries: Vec<Value> = ["shop", "lib"].iter().flat_map(|project| stage.ledger(project)).collect();
    let ids: Vec<String> = entries.iter().map(|entry| text(entry, "delta_id")).collect();
    let has_entry =
        |page: &[u8]| ids.iter().any(|id| page.windows(id.len()).any(|part| part == id.as_bytes()));
    for page in bytes.chunks_mut(4_096).skip(1).filter(|page| has_entry(page)) {
        page.fill(0xff);
    }
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{other}{suffix}"));
    }
    fs::write(&other, bytes).expect("written");
    let restored = ann.json(&["--store", &other, "restore", "--yes", &backup]);
    assert_eq!(restored["effects_held_for"], json!(store), "{restored:#}");
}

/// The copy waits, the first store makes the issue, and the copy that takes over adopts it.
fn one_issue(way: &str) {
    let (stage, hub, id) = with_pending_issue();
    let store = stage.store().display().to_string();
    let other = second_store(&stage, way);
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let copy: Terminal<'_> = ann.with("BATON_STORE", &other);
    let waits = copy.run(&["handoff", "retry", &id]);
    held(&waits.err, &store);
    held(&copy.text(&["doctor"]), &store);
    assert!(issues(&hub).is_empty(), "{way}: the copy makes none");
    let made = ann.json(&["handoff", "retry", &id]);
    assert_eq!(text(&made["task"], "id"), "gh-o/lib-1");
    let taken = copy.json(&["store", "take-over"]);
    assert_eq!((&taken["before"], &taken["told"]), (&json!(store), &json!(true)), "{way}: {taken:#}");
    let adopted = copy.json(&["handoff", "retry", &id]);
    assert_eq!(text(&adopted["task"], "id"), "gh-o/lib-1", "{way}");
    assert_eq!(issues(&hub), [true], "{way}: one issue");
    // From here on the first one waits: what it ends ends nothing outside.
    let ended = ann.run(&["handoff", "cancel", &id, "--why", "not here"]);
    held(&ended.err, &other);
    held(&ann.text(&["doctor"]), &other);
    assert_eq!(issues(&hub), [true], "{way}");
    copy.json(&["handoff", "cancel", &id, "--why", "not needed"]);
    assert_eq!(issues(&hub), [false], "{way}");
    assert_eq!(copy.json(&["store", "take-over"])["before"], Value::Null, "it is the one already");
    stage.assert_sound();
}

#[test]
fn a_copy_beside_a_living_store_makes_no_second_issue() {
    one_issue("copy");
}

#[test]
fn a_backup_restored_beside_a_living_store_makes_no_second_issue() {
    one_issue("restore");
}

#[test]
fn a_copied_file_beside_a_living_store_makes_no_second_issue() {
    one_issue("cp");
}

#[test]
fn a_store_that_was_moved_or_restored_in_its_place_goes_on_unasked() {
    let (stage, hub, id) = with_pending_issue();
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let backup = stage.root().join("b.db").display().to_string();
    ann.json(&["backup", &backup]);
    let restored = ann.json(&["restore", "--yes", &backup]);
    assert_eq!(restored["effects_held_for"], Value::Null, "{restored:#}");
    let there = ann.with("BATON_STORE", moved_away(&stage));
    assert_eq!(there.json(&["doctor"])["effects_held_for"], Value::Null);
    there.json(&["handoff", "retry", &id]);
    assert_eq!(issues(&hub), [true]);
}

/// Whose word counts where several stores take over one after the other: the last one's, wherever the others heard of it.
#[test]
fn each_store_hears_of_the_last_one_that_took_over() {
    let (stage, hub, _) = with_pending_issue();
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let path = |name: &str| stage.root().join(name).display().to_string();
    let backup = path("b.db");
    ann.json(&["backup", &backup]);
    for name in ["second.db", "third.db"] {
        fs::copy(&backup, path(name)).expect("copied");
        let taken = ann.with("BATON_STORE", path(name)).json(&["store", "take-over"]);
        assert_eq!(taken["told"], json!(true), "{name}: {taken:#}");
    }
    held(&ann.text(&["doctor"]), &path("third.db"));
    held(&ann.with("BATON_STORE", path("second.db")).text(&["doctor"]), &path("third.db"));
    assert_eq!(ann.with("BATON_STORE", path("third.db")).json(&["doctor"])["effects_held_for"], Value::Null);
}

/// Moves a store that carries out what goes outside to another place, where it goes on; returns that place.
fn moved_away(stage: &Stage) -> std::path::PathBuf {
    let moved = stage.root().join("moved.db");
    for suffix in ["", "-wal", "-shm"] {
        let name = |path: &std::path::Path| format!("{}{suffix}", path.display());
        let _ = fs::rename(name(&stage.store()), name(&moved));
    }
    moved
}

#[test]
fn what_comes_into_the_place_of_a_store_that_was_moved_waits() {
    for way in ["restore", "cp"] {
        let (stage, hub, id) = with_pending_issue();
        let ann = with_github(&stage.terminal("Ann"), &hub);
        let backup = stage.root().join("b.db").display().to_string();
        ann.json(&["backup", &backup]);
        let moved = moved_away(&stage);
        match way {
            "restore" => {
                let restored = ann.json(&["restore", "--yes", &backup]);
                assert_ne!(restored["effects_held_for"], Value::Null, "{restored:#}");
            }
            _ => {
                for suffix in ["", "-wal"] {
                    let name = |path: &std::path::Path| format!("{}{suffix}", path.display());
                    let _ = fs::copy(name(&moved), name(&stage.store()));
                }
            }
        }
        assert_ne!(ann.json(&["doctor"])["effects_held_for"], Value::Null, "{way}");
        let there = ann.with("BATON_STORE", &moved);
        there.json(&["handoff", "retry", &id]);
        assert_eq!(there.json(&["doctor"])["effects_held_for"], Value::Null, "{way}");
        assert_eq!(issues(&hub), [true], "{way}");
    }
}

#[test]
fn a_restore_in_the_place_of_a_store_that_waits_waits_as_well() {
    let (stage, hub, _) = with_pending_issue();
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let path = |name: &str| stage.root().join(name).display().to_string();
    let (store, backup, other) = (stage.store().display().to_string(), path("b.db"), path("other.db"));
    ann.json(&["backup", &backup]);
    ann.json(&["store", "copy", &store, &other]);
    ann.with("BATON_STORE", &other).json(&["store", "take-over"]);
    let restored = ann.json(&["restore", "--yes", &backup]);
    assert_eq!(restored["effects_held_for"], json!(other), "{restored:#}");
    held(&ann.text(&["doctor"]), &other);
}

#[test]
fn a_server_on_a_copy_sends_no_webhook_and_polls_nothing() {
    let (stage, hub, id) = with_pending_issue();
    let ann = with_github(&stage.terminal("Ann"), &hub);
    ann.json(&["handoff", "retry", &id]);
    let other = second_store(&stage, "cp");
    let copy = ann.with("BATON_STORE", &other);
    let count = || hub.hub().calls.values().sum::<u64>();
    let calls = count();
    let server = Server::start(&copy);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(count(), calls, "nobody is asked");
    copy.json(&["store", "take-over"]);
    let begin = std::time::Instant::now();
    while count() == calls {
        assert!(begin.elapsed().as_secs() < 20, "it goes on once it took over");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    drop(server);
}
