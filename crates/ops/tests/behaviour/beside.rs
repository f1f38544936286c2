//! Heartbeats that are kept beside the ledger: what reaches it, what is known without them, what is told of commits.

use baton_model::time::rfc3339;
use baton_ops::sweep::mark_silent_sessions;
use baton_store::CommitEvent;
use serde_json::{Value, json};

use crate::backend::NOW;
use crate::world::{Agent, LIVE, STALE, World, agent, list, text};

/// What the pipe's server waits between two heartbeats.
const BEAT: i64 = 30_000;

fn beat(w: &mut World, who: &Agent) -> Value {
    w.ok(who, "session_heartbeat", json!({}))
}

/// When the ledger itself last heard of the one session.
fn kept_at(w: &mut World) -> i64 {
    let row = w.store.read(|tx| {
        let mut rows = tx.query("SELECT heartbeat_at FROM session ORDER BY started_at DESC LIMIT 1", &[])?;
        Ok(rows.remove(0).reader().int()?)
    });
    row.expect("a session")
}

/// How many sessions a sweep marks now.
fn marked(w: &mut World) -> usize {
    mark_silent_sessions(&mut w.store, w.now, w.limits).expect("swept").len()
}

on_every_backend! {
    fn few_heartbeats_reach_the_ledger_and_all_are_seen(w) {
        w.stand_beside();
        w.start(&agent("Donna"));
        let before = w.ledger();
        let mut written = Vec::new();
        for turn in 1..=40 {
            w.advance(BEAT);
            let answer = beat(w, &agent("Donna"));
            assert_eq!(answer["last_heartbeat"], json!(rfc3339(w.now)));
            let row = w.roster().remove(0);
            assert_eq!((&row["live"], &row["last_heartbeat"]), (&json!(true), &answer["last_heartbeat"]), "{turn}");
            if kept_at(w) == w.now {
                written.push(turn);
            }
        }
        assert_eq!(written, [10, 20, 30, 40], "one in ten");
        assert_eq!(w.ledger(), before);
    }

    fn a_heartbeat_without_a_token_goes_nowhere_once_there_is_one(w) {
        w.stand_beside();
        let mut donna = agent("Donna");
        donna.0.grant.until_first_token = true;
        w.start(&donna);
        w.store.refuse_writes_once_token_exists(true);
        w.advance(BEAT);
        let heard = beat(w, &donna)["last_heartbeat"].clone();
        assert_eq!(heard, json!(rfc3339(w.now)));
        w.ok(&agent("Owner"), "token_create", json!({ "scope": "read" }));
        w.advance(BEAT);
        let refusal = w.call(&donna, "session_heartbeat", json!({})).expect_err("refused");
        assert_eq!(refusal["code"], "token_invalid");
        assert_eq!(w.roster().remove(0)["last_heartbeat"], heard);
        w.store.refuse_writes_once_token_exists(false);
    }

    fn a_lost_keeper_makes_nobody_stale_and_the_next_heartbeat_mends_the_rest(w) {
        let keeper = w.stand_beside();
        w.start(&agent("Donna"));
        for _ in 1..=25 {
            w.advance(BEAT);
            beat(w, &agent("Donna"));
            w.advance(BEAT - 1);
            let heard = keeper.lose();
            keeper.away(true);
            assert_eq!(w.roster()[0]["fresh"], true, "by the ledger alone");
            w.no(&agent("Donna").process("another"), "session_start", json!({}), "identity_conflict");
            let before = kept_at(w);
            w.advance(1);
            if before < w.now - LIVE {
                assert_eq!(w.roster()[0]["live"], false, "until it beats again");
            }
            beat(w, &agent("Donna"));
            assert_eq!((kept_at(w), w.roster()[0]["live"].clone()), (w.now, json!(true)), "then the ledger knows");
            keeper.find(heard);
            keeper.away(false);
        }
    }

    fn a_short_lease_holds_by_the_ledger_alone(w) {
        let keeper = w.stand_beside();
        let id = text(&w.ok(&agent("Owner"), "task_create", json!({ "title": "a" })), "id");
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "task_claim", json!({ "id": id, "lease_s": 100 }));
        let mut written = 0;
        for _ in 0..20 {
            w.advance(25_000);
            beat(w, &agent("Ann"));
            written += usize::from(kept_at(w) == w.now);
            let heard = keeper.lose();
            w.no_trace(&agent("Bob"), "task_claim", json!({ "id": id }), "task_claimed");
            keeper.find(heard);
        }
        assert_eq!(written, 10, "every second: half the lease");
    }

    fn a_sweep_knows_who_was_heard_of_beside_the_ledger(w) {
        w.stand_beside();
        w.start(&agent("Donna"));
        w.advance(STALE / 2 - 1);
        beat(w, &agent("Donna"));
        w.advance(STALE);
        assert_eq!((kept_at(w), marked(w)), (NOW, 0));
        assert_eq!(w.roster()[0]["fresh"], true);
        w.advance(1);
        assert_eq!(marked(w), 1);
        assert_eq!(w.roster()[0]["fresh"], false);
        beat(w, &agent("Donna"));
        assert_eq!((kept_at(w), w.roster()[0]["fresh"].clone()), (w.now, json!(true)), "a return is told to all");
    }

    fn who_was_released_is_told_so_whoever_keeps_its_heartbeats(w) {
        w.stand_beside();
        w.start(&agent("Donna"));
        w.advance(BEAT);
        beat(w, &agent("Donna"));
        w.wrap(&agent("Donna"), "done");
        w.no_trace(&agent("Donna"), "session_heartbeat", json!({}), "session_released");
        w.no_trace(&agent("Donna"), "session_heartbeat", json!({ "here": true }), "no_session");
        w.no_trace(&agent("Donna").project("q"), "session_heartbeat", json!({}), "project_unknown");
    }

    fn an_agent_is_as_live_as_its_session(w) {
        let keeper = w.stand_beside();
        w.ok(&agent("Donna"), "agent_register", json!({ "roles": ["testing"] }));
        w.start(&agent("Donna"));
        w.advance(LIVE);
        beat(w, &agent("Donna"));
        w.advance(LIVE);
        let state = |w: &mut World| text(&list(&w.ok(&agent("Reader"), "agent_list", json!({}))["items"])[0], "state");
        assert_eq!(state(w), "live");
        keeper.lose();
        assert_eq!(state(w), "fresh", "by the ledger alone");
    }

    fn what_was_committed_is_told_and_nothing_else(w) {
        let keeper = w.stand_beside();
        let started = text(&w.start(&agent("Donna")), "session_id");
        let seq = |note: &CommitEvent| matches!(note, CommitEvent::Head { project_id, .. } if project_id == "p");
        assert!(keeper.told().iter().any(seq));
        w.ok(&agent("Donna"), "session_checkpoint", json!({ "state": { "next": 1 } }));
        let events = keeper.told();
        let saved = events.iter().find_map(|note| match note {
            CommitEvent::Saved { project_id, state } if project_id == "p" => Some(state.clone()),
            _ => None,
        });
        let saved = saved.expect("a state");
        assert_eq!((saved.session_id.as_str(), saved.version, saved.body.as_str()), (started.as_str(), 1, "{\"next\":1}"));
        w.no(&agent("Donna"), "session_checkpoint", json!({ "state": {}, "expected_version": 7 }), "version_conflict");
        assert_eq!(keeper.told(), []);
        for steps in 0..200 {
            w.store.begin_batch().expect("begun");
            let done = w.call_failing(&agent("Donna"), "ledger_note", json!({ "text": "x" }), steps).is_some();
            if !done {
                let _ = w.store.rollback_batch();
                assert_eq!(keeper.told(), [], "step {steps}");
                continue;
            }
            assert_eq!(keeper.told(), [], "not before the commit");
            w.store.commit_batch().expect("committed");
            assert_eq!(keeper.told().iter().filter(|note| seq(note)).count(), 1);
            break;
        }
        w.wrap(&agent("Donna"), "done");
        assert!(keeper.told().contains(&CommitEvent::Released { session_id: started }));
    }
}
