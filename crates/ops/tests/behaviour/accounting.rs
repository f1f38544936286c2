//! Accounting: heartbeats and sweeps, acknowledgements, reminders, warnings of a wrap, the audit.

use baton_ops::sweep::mark_silent;
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::world::{Agent, Dice, LIVE, STALE, World, agent};

fn beat(w: &mut World, who: &Agent) -> Value {
    w.ok(who, "session_heartbeat", json!({}))
}

/// The identities that a sweep marks now.
fn sweep(w: &mut World) -> Vec<String> {
    let marked = mark_silent(&mut w.store, w.now, w.limits).expect("swept");
    marked.into_iter().map(|session| session.identity).collect()
}

on_every_backend! {
    fn a_heartbeat_keeps_a_session_fresh_and_says_nothing_else(w) {
        let started = w.start(&agent("Donna"));
        let before = w.ledger();
        w.advance(STALE);
        let answer = beat(w, &agent("Donna"));
        assert_eq!(answer["session_id"], started["session_id"]);
        w.advance(LIVE);
        let row = w.roster().remove(0);
        assert_eq!((row["live"].clone(), row["last_verb"].clone()), (json!(true), json!("session_start")));
        assert_eq!(w.ledger(), before);
    }

    fn a_heartbeat_revives_a_silent_session(w) {
        w.start(&agent("Donna"));
        w.advance(STALE + 1);
        assert_eq!(w.roster()[0]["fresh"], false);
        beat(w, &agent("Donna"));
        assert_eq!(w.roster()[0]["fresh"], true);
    }

    fn a_released_session_is_told_so_when_it_beats(w) {
        w.leave_baton(&agent("Lola"), "done");
        let refusal = w.no_trace(&agent("Lola"), "session_heartbeat", json!({}), "session_released");
        assert_eq!(refusal["reason"], "wrapped");
        w.no_trace(&agent("Rex"), "session_heartbeat", json!({}), "no_session");
    }

    fn a_sweep_marks_what_is_not_fresh_and_a_verb_takes_the_mark_away(w) {
        w.start(&agent("Donna"));
        w.advance(1);
        w.start(&agent("Lola"));
        w.advance(STALE);
        assert_eq!(sweep(w), ["Donna"], "the edge is fresh");
        assert!(sweep(w).is_empty(), "marked already");
        w.checkpoint(&agent("Donna"), "back");
        w.advance(STALE + 1);
        assert_eq!(sweep(w), ["Donna", "Lola"]);
    }

    fn a_sweep_writes_no_delta_and_takes_no_number(w) {
        w.start(&agent("Donna"));
        w.advance(STALE + 1);
        let before = w.ledger();
        assert_eq!(sweep(w), ["Donna"]);
        assert_eq!(w.ledger(), before);
        let next = w.checkpoint(&agent("Donna"), "next");
        let seqs: Vec<i64> = w.ledger().iter().filter_map(|d| d["seq"].as_i64()).collect();
        assert_eq!(seqs[1], seqs[0] + 1, "{next}");
    }

    fn with_and_without_sweeps_every_answer_is_the_same(w) {
        let histories = if w.ground.backend == Backend::Memory { 40 } else { 3 };
        for seed in 0..histories {
            same_with_sweeps(w.ground.backend, seed);
        }
    }
}

/// One random history, in two worlds that begin alike: one is swept at random.
fn same_with_sweeps(backend: Backend, seed: u64) {
    let (Some(mut plain), Some(mut swept)) = (World::new(backend, seed), World::new(backend, seed)) else {
        return;
    };
    let mut dice = Dice(seed);
    for step in 0..60 {
        let span = [0, 1_000, LIVE, STALE - 1, STALE, STALE + 1][dice.below(6)];
        plain.advance(span);
        swept.advance(span);
        if dice.below(3) == 0 {
            sweep(&mut swept);
        }
        let name = ["Donna", "Lola", "Rex", "Bot"][dice.below(4)];
        let who = agent(name).process(&format!("{name} {}", dice.below(2)));
        let (verb, input) = random_call(&mut dice);
        let expected = plain.call(&who, verb, input.clone());
        let answer = swept.call(&who, verb, input);
        assert_eq!(answer, expected, "seed {seed}, step {step}: {verb} of {name}");
    }
    assert_eq!(swept.ledger(), plain.ledger(), "seed {seed}");
}

fn random_call(dice: &mut Dice) -> (&'static str, Value) {
    match dice.below(12) {
        0 | 1 => ("session_start", json!({})),
        2 => ("session_start", json!({ "force": true, "why": "test" })),
        3 => ("session_checkpoint", json!({ "summary": "s", "state": { "n": 1 } })),
        4 => ("session_wrap", json!({ "summary": "s", "focus": ["lexer"] })),
        5 => ("hd_exec", json!({})),
        6 => ("hd_exec", json!({ "force": true, "why": "test" })),
        7 => ("hd_exec", json!({ "dry_run": true })),
        8 => ("session_end", json!({})),
        9 => ("session_heartbeat", json!({})),
        10 => ("task_create", json!({ "title": "t", "labels": ["lexer"] })),
        _ => ("session_status", json!({})),
    }
}
