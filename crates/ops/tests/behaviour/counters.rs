//! Numbers of a store that was put back to an earlier state: none is given out a second time.

use baton_store::counter;
use serde_json::{Value, json};

use crate::world::{World, agent, text};

fn number(answer: &Value, key: &str) -> i64 {
    answer[key].as_i64().unwrap_or_else(|| panic!("no {key} in {answer:#}"))
}

/// What a restore does to the state that it puts in place.
fn restored(w: &mut World) {
    let now = w.now;
    let floor = w.store.write_shared(|tx| Ok(counter::raise_floor_after_restore(tx, now)?)).expect("raised");
    assert!(floor >= now);
}

on_every_backend! {
    fn a_token_of_a_claim_that_a_restore_has_undone_closes_nothing(w) {
        let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "a" })), "id");
        w.start(&agent("Bob"));
        // What was claimed after the backup had the tokens 1 to 3.
        restored(w);
        let token = number(&w.ok(&agent("Bob"), "task_claim", json!({ "id": id })), "token");
        assert!(token > w.now, "{token}");
        for old in 1..=3 {
            w.no_trace(&agent("Bob"), "task_close", json!({ "id": id, "token": old }), "lease_lost");
        }
        let later = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "b" })), "id");
        assert!(number(&w.ok(&agent("Bob"), "task_claim", json!({ "id": later })), "token") > w.now);
        w.ok(&agent("Bob"), "task_close", json!({ "id": id, "token": token }));
    }

    fn a_claim_from_before_a_restore_keeps_its_token_and_the_next_has_a_new_one(w) {
        let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "a" })), "id");
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        restored(w);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "notes": "n", "token": 1 }));
        w.ok(&agent("Ann"), "task_release", json!({ "id": id, "token": 1 }));
        w.start(&agent("Bob"));
        assert!(number(&w.ok(&agent("Bob"), "task_claim", json!({ "id": id })), "token") > w.now);
    }

    fn a_version_that_a_restore_has_undone_fits_no_new_state(w) {
        let donna = agent("Donna");
        w.start(&donna);
        let save = |w: &mut World, n: i64| w.ok(&donna, "session_checkpoint", json!({ "state": { "n": n } }));
        assert_eq!(number(&save(w, 1), "state_version"), 1);
        // Lost: the version 2. Whoever read it saves on its ground.
        restored(w);
        let version = number(&save(w, 2), "state_version");
        assert!(version > w.now, "{version}");
        let late = json!({ "state": { "n": 3 }, "expected_version": 2 });
        w.no_trace(&donna, "session_checkpoint", late, "version_conflict");
        assert_eq!(number(&save(w, 4), "state_version"), version + 1);
    }

    fn positions_of_the_ledger_go_on_above_those_that_a_restore_has_undone(w) {
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "before" }));
        let before = number(&w.newest("note"), "seq");
        restored(w);
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "after" }));
        let after = number(&w.newest("note"), "seq");
        assert!(after > w.now && before < 100, "{before} {after}");
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "and on" }));
        assert_eq!(number(&w.newest("note"), "seq"), after + 1);
        w.register("later");
        w.ok(&agent("Ann").project("later"), "ledger_note", json!({ "text": "a new project" }));
        let ledger = w.ledger_of("later");
        assert!(ledger.iter().all(|delta| number(delta, "seq") > w.now), "{ledger:#?}");
        // The newest are found whatever lies between.
        let newest = w.ok(&agent("Ann"), "ledger_list", json!({ "newest": true, "limit": 2 }));
        let newest: Vec<i64> = newest["items"].as_array().expect("items").iter().map(|delta| number(delta, "seq")).collect();
        assert!(newest[0] < newest[1] && newest[1] == after + 1, "{newest:?}");
        w.no_trace(&agent("Ann"), "ledger_list", json!({ "newest": true, "chain": true }), "input_invalid");
        // Once more within the same millisecond.
        restored(w);
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "again" }));
        assert!(number(&w.newest("note"), "seq") > after + 1_000_000);
    }
}
