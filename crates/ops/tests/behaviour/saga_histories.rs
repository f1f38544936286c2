//! Histories of driving: broken at every step, and with processes that die, are overtaken and wake up again.

use baton_model::handoff::State;
use baton_model::issue::TrackerOutcome;
use baton_ops::saga::{LeasedStep, StepStart};
use baton_store::handoff;
use serde_json::json;

use crate::hub::Hub;
use crate::saga::{
    act, assert_whole, begin, create, drive, driver, handoff_input, notes, seeds, sender, show, tell,
};
use crate::world::{Dice, World, agent, text};

on_every_backend! {
    fn every_step_of_driving_may_break(w) {
        for fault in 0..120 {
            let (id, mut hub) = (create(w), Hub { lose: fault % 2, ..Hub::default() });
            w.store.fail_after(Some(fault));
            let broken = drive_failing(w, &mut hub, &id);
            w.store.fail_after(None);
            if !broken {
                assert!(fault > 10, "driving writes nothing");
                return;
            }
            // The process is gone with the step in its hands.
            w.kill(&agent("x").process("breaking"));
            drive(w, &mut hub, &id);
            assert_eq!((hub.issues.len(), show(w, &id)["state"].clone()), (1, json!("offered")), "broken at {fault}");
            assert_eq!((notes(w).len(), seeds(w)), (1, 1), "broken at {fault}");
            act(w, &sender(), &id, "cancel");
            drive(w, &mut hub, &id);
            assert_whole(w, &hub, false);
            // A process of that name may live again.
            w.machines = crate::machines::Machines::default();
        }
        panic!("driving does not come to an end");
    }

    fn random_histories_end_whole_or_with_nothing(w) {
        w.machines.github = true;
        w.register("q");
        for seed in 0..40 {
            random_history(w, seed);
        }
    }
}

/// Drives until the store breaks; says whether it did.
fn drive_failing(w: &mut World, hub: &mut Hub, id: &str) -> bool {
    for _ in 0..100 {
        match begin(w, id, &driver("breaking")) {
            Err(_) => return true,
            Ok(StepStart::Finished | StepStart::OnlyDuplicateCheck) => return false,
            Ok(StepStart::Wait(at) | StepStart::Leased(at)) => w.now = at,
            Ok(StepStart::Call(leased)) => {
                let ended = hub.ask(&leased.call);
                if tell(w, &leased, &ended).is_err() {
                    return true;
                }
            }
        }
    }
    panic!("it does not come to an end");
}

/// Processes drive, die, are overtaken and wake up again, while answers are lost and people change their minds.
fn random_history(w: &mut World, seed: u64) {
    let mut dice = Dice(seed);
    let mut hub = Hub::default();
    let id = text(&w.ok(&sender(), "handoff_create", handoff_input()), "handoff_id");
    let mut paused: Vec<(Box<LeasedStep>, Option<TrackerOutcome>)> = Vec::new();
    for round in 0..20 {
        (hub.lose, hub.fail, hub.refuse) =
            (u32::from(dice.below(3) == 0), u32::from(dice.below(4) == 0), dice.below(12) == 0);
        let own = driver(&format!("{seed}-{round}"));
        match dice.below(8) {
            0 => _ = w.call(&sender(), "handoff_advance", json!({ "id": id, "action": "cancel" })),
            1 => _ = w.call(&sender(), "handoff_retry", json!({ "id": id })),
            2 => w.advance(1_000 << dice.below(6)),
            _ => {}
        }
        if let Ok(StepStart::Call(leased)) = begin(w, &id, &own) {
            let ended = (dice.below(3) > 0).then(|| hub.ask(&leased.call));
            match dice.below(3) {
                0 => w.kill(&agent("x").process(&own.process)),
                1 => paused.push((leased, ended)),
                _ => wake(w, &mut hub, (leased, ended)),
            }
        }
        if dice.below(4) == 0 && !paused.is_empty() {
            let one = paused.remove(0);
            wake(w, &mut hub, one);
        }
    }
    hub = Hub { issues: hub.issues, ..Hub::default() };
    for one in paused {
        wake(w, &mut hub, one);
    }
    // The lease, and the looks for what may still arrive.
    for pause in [15_000, 60_000, 600_000] {
        w.advance(pause);
        drive(w, &mut hub, &id);
    }
    let state = w.store.read(|tx| Ok(handoff::get(tx, &id)?)).expect("read").expect("there").state;
    let there = state == State::Offered;
    assert!(there || matches!(state, State::Failed | State::Cancelled), "seed {seed}: {state:?}");
    assert_whole(w, &hub, there);
    if there {
        act(w, &sender(), &id, "cancel");
        drive(w, &mut hub, &id);
    }
    assert_whole(w, &hub, false);
}

/// A process goes on after a pause: it asks if it has not yet, tells, and clears up if it was overtaken.
fn wake(w: &mut World, hub: &mut Hub, (leased, ended): (Box<LeasedStep>, Option<TrackerOutcome>)) {
    let ended = ended.unwrap_or_else(|| hub.ask(&leased.call));
    tell(w, &leased, &ended).expect("told");
}
