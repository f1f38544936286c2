//! Saving without ending: the state, its version, and whose it is.

use baton_store::state as states;
use serde_json::{Value, json};

use crate::world::{Agent, World, agent};

/// The saved state and its version, as the next reader of the ledger gets it.
fn state(w: &mut World, identity: &str, key: &str) -> Option<(i64, Value)> {
    let found = w.store.read(|tx| Ok(states::get(tx, "p", identity, key)?)).expect("readable");
    found.map(|state| (state.version, serde_json::from_str(&state.body).expect("json")))
}

#[track_caller]
fn save(w: &mut World, who: &Agent, state: Value) -> i64 {
    let answer = w.ok(who, "session_checkpoint", json!({ "state": state }));
    answer["state_version"].as_i64().expect("a version")
}

on_every_backend! {
    fn a_checkpoint_is_a_delta_and_its_state_replaces_the_one_before(w) {
        let donna = agent("Donna");
        let started = w.start(&donna);
        assert_eq!(save(w, &donna, json!({ "a": 1, "b": 2 })), 1);
        assert_eq!(save(w, &donna, json!({ "a": 3 })), 2);
        assert_eq!(state(w, "donna", ""), Some((2, json!({ "a": 3 }))));
        let delta = w.newest("checkpoint");
        assert_eq!(delta["session_id"], started["session_id"]);
        assert_eq!(delta["body"]["state"], json!({ "a": 3 }));
        assert_eq!(delta["body"]["state_version"], 2);
    }

    fn a_checkpoint_ends_nothing(w) {
        w.start(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half way");
        assert_eq!(w.roster().len(), 1);
        assert_eq!(w.project()["last_wrapped_at"], Value::Null);
    }

    fn a_summary_alone_leaves_the_state_as_it_is(w) {
        let donna = agent("Donna");
        w.start(&donna);
        save(w, &donna, json!({ "a": 1 }));
        assert_eq!(w.checkpoint(&donna, "half way")["state_version"], 1);
        assert_eq!(state(w, "Donna", ""), Some((1, json!({ "a": 1 }))));
        assert_eq!(w.newest("checkpoint")["body"]["summary"], "half way");
    }

    fn a_version_that_moved_on_is_refused_with_both_and_nothing_is_lost(w) {
        let donna = agent("Donna");
        w.start(&donna);
        save(w, &donna, json!({ "a": 1 }));
        save(w, &donna, json!({ "a": 2 }));
        let late = json!({ "state": { "a": 0 }, "expected_version": 1 });
        let refusal = w.no_trace(&donna, "session_checkpoint", late, "version_conflict");
        assert_eq!(refusal["expected_version"], 1);
        assert_eq!(refusal["current_version"], 2);
        assert_eq!(state(w, "Donna", ""), Some((2, json!({ "a": 2 }))));
        let again = json!({ "state": { "a": 3 }, "expected_version": 2 });
        assert_eq!(w.ok(&donna, "session_checkpoint", again)["state_version"], 3);
    }

    fn before_the_first_save_the_version_is_zero(w) {
        let donna = agent("Donna");
        w.start(&donna);
        let early = json!({ "state": {}, "expected_version": 1 });
        assert_eq!(w.no(&donna, "session_checkpoint", early, "version_conflict")["current_version"], 0);
        let first = json!({ "state": {}, "expected_version": 0 });
        assert_eq!(w.ok(&donna, "session_checkpoint", first)["state_version"], 1);
    }

    fn the_state_outlives_the_session(w) {
        let donna = agent("Donna");
        w.start(&donna);
        save(w, &donna, json!({ "a": 1 }));
        w.wrap(&donna, "done");
        w.start(&donna);
        assert_eq!(save(w, &donna, json!({ "a": 2 })), 2);
    }

    fn each_bot_keeps_a_state_of_its_own(w) {
        let first = agent("Bot").process("a");
        let second = agent("Bot").process("b");
        w.start(&first);
        w.start(&second);
        assert_eq!(save(w, &first, json!({ "a": 1 })), 1);
        assert_eq!(save(w, &second, json!({ "a": 2 })), 1);
        assert_eq!(save(w, &first, json!({ "a": 3 })), 2);
    }

    fn a_state_is_an_object_and_something_must_be_saved(w) {
        let donna = agent("Donna");
        w.start(&donna);
        for input in [json!({}), json!({ "state": [1] }), json!({ "state": "x" })] {
            w.no_trace(&donna, "session_checkpoint", input, "state_invalid");
        }
        let large = json!({ "state": { "a": "x".repeat(256 * 1024) } });
        w.no_trace(&donna, "session_checkpoint", large, "state_invalid");
    }

    fn nobody_saves_without_a_session(w) {
        w.no_trace(&agent("Donna"), "session_checkpoint", json!({ "summary": "s" }), "no_session");
    }
}
