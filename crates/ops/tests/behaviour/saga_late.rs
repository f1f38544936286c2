//! Requests to a tracker that arrive late, or whose sender was overtaken: there is one issue in the end.

use baton_model::session::ProcessLocation;
use baton_ops::saga::{LeasedStep, OutcomeReport, StepStart};
use serde_json::{Value, json};

use crate::hub::Hub;
use crate::saga::{
    act, assert_whole, begin, create, drive, driver, due, lease, receiver, sender, show, tell,
};
use crate::world::{World, agent, list, text};

/// Takes the next step when its time has come.
fn next(w: &mut World, id: &str) -> Box<LeasedStep> {
    loop {
        match begin(w, id, &driver("d")).expect("begun") {
            StepStart::Call(leased) => return leased,
            StepStart::Wait(at) | StepStart::Leased(at) => w.now = at,
            other => panic!("nothing to ask: {other:?}"),
        }
    }
}

/// Asks once for the next step, and writes down what came.
fn ask_once(w: &mut World, hub: &mut Hub, id: &str) {
    let leased = next(w, id);
    let ended = hub.ask(&leased.call);
    tell(w, &leased, &ended).expect("told");
}

on_every_backend! {
    fn one_who_was_overtaken_is_told_and_leaves_no_double(w) {
        let (id, mut hub) = (create(w), Hub::default());
        let paused = lease(w, &id, &driver("paused"));
        w.advance(15_000);
        drive(w, &mut hub, &id);
        let late = hub.ask(&paused.call);
        assert_eq!(hub.open(), 2, "the paused one made a second");
        assert_eq!(tell(w, &paused, &late).expect("told"), OutcomeReport::LeaseLost);
        drive(w, &mut hub, &id);
        assert_eq!((hub.open(), hub.issues[1].reason.as_deref()), (1, Some("duplicate")));
        assert_eq!(show(w, &id)["task"]["id"], "gh-o/r-1");
    }

    fn one_who_is_killed_after_sending_leaves_no_double_either(w) {
        // On another machine: nobody can know that it is gone, and it tells nothing.
        let (id, mut hub) = (create(w), Hub::default());
        let asleep = lease(w, &id, &ProcessLocation { machine: "m9".into(), process: "asleep".into() });
        w.advance(15_000);
        drive(w, &mut hub, &id);
        assert_eq!(show(w, &id)["state"], "offered");
        w.advance(60_000);
        drive(w, &mut hub, &id);
        // It wakes, sends, and is killed before the answer comes.
        hub.ask(&asleep.call);
        assert_eq!(hub.open(), 2);
        assert!(!due(w).contains(&id), "the next look comes later");
        w.advance(600_000);
        assert!(due(w).contains(&id));
        drive(w, &mut hub, &id);
        assert_eq!((hub.open(), hub.issues[0].open, hub.issues[1].reason.as_deref()), (1, true, Some("duplicate")));
        let step = list(&show(w, &id)["steps"]).into_iter().find(|step| step["step"] == "double").expect("a look");
        assert_eq!(step["doubles_closed"], json!([2]));
        assert_whole(w, &hub, true);
    }

    fn a_late_step_leaves_a_reopened_task_open(w) {
        for how in ["cancel", "complete"] {
            let (id, mut hub) = (create(w), Hub::default());
            drive(w, &mut hub, &id);
            let task = show(w, &id)["task"]["id"].clone();
            if how == "complete" {
                act(w, &receiver(), &id, "accept");
            }
            let ender = if how == "cancel" { sender() } else { receiver() };
            act(w, &ender, &id, how);
            w.advance(1_000);
            w.ok(&receiver(), "task_reopen", json!({ "id": task }));
            w.ok(&receiver(), "task_claim", json!({ "id": task }));
            drive(w, &mut hub, &id);
            let shown = w.ok(&receiver(), "task_show", json!({ "id": task }));
            assert_eq!((shown["status"].clone(), shown["assignee"].clone()), (json!("in_progress"), json!("Donna")), "{how}");
            w.ok(&receiver(), "task_close", json!({ "id": task, "reason": "over" }));
        }
    }

    fn a_request_that_arrives_late_is_undone_where_the_handoff_has_ended(w) {
        let (id, mut hub) = (create(w), Hub::default());
        let first = driver("first");
        let leased = lease(w, &id, &first);
        act(w, &sender(), &id, "cancel");
        w.kill(&agent("x").process(&first.process));
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues.len(), show(w, &id)["state"].clone()), (0, json!("cancelled")));
        hub.ask(&leased.call);
        w.advance(60_000);
        drive(w, &mut hub, &id);
        assert_eq!((hub.open(), hub.issues[0].reason.as_deref()), (0, Some("not_planned")));
        assert_whole(w, &hub, false);
    }

    fn a_double_that_a_poll_sees_is_looked_at_whenever_it_comes(w) {
        let (id, mut hub) = (create(w), Hub::default());
        let sent = lease(w, &id, &driver("d"));
        let result = hub.ask(&sent.call);
        tell(w, &sent, &result).expect("told");
        drive(w, &mut hub, &id);
        w.advance(30 * 86_400_000);
        hub.ask(&sent.call);
        assert!(due(w).is_empty());
        let marker = baton_model::issue::marker(&id);
        let seen = |number: i64, marker: &str| json!({ "repo": "o/r", "number": number, "state": "open", "marker": marker });
        // A token that may only write says nothing in the tracker's name.
        let mut writer = agent("Mal").process("");
        writer.0.grant = baton_model::access::Grant {
            scope: baton_model::access::Scope::Write,
            ..Default::default()
        };
        w.no(&writer, "tracker_event", seen(1, &marker), "scope_missing");
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", seen(2, "<!-- baton:handoff:00 -->"))["changed"], false);
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", seen(1, &marker))["changed"], false);
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", seen(2, &marker))["changed"], true);
        assert_eq!(due(w), [id.as_str()]);
        drive(w, &mut hub, &id);
        assert_whole(w, &hub, true);
    }

    fn a_close_of_ours_that_a_retry_overtakes_is_no_answer_of_the_receiver(w) {
        let (id, mut hub) = (create(w), Hub::default());
        hub.lose = 1;
        ask_once(w, &mut hub, &id);
        hub.refuse = true;
        ask_once(w, &mut hub, &id);
        assert_eq!(show(w, &id)["state"], "failed");
        hub.refuse = false;
        ask_once(w, &mut hub, &id);
        // The request to close has no answer yet when the sender tries again.
        let undo = next(w, &id);
        hub.fail = 1;
        let lost = hub.ask(&undo.call);
        tell(w, &undo, &lost).expect("told");
        w.ok(&sender(), "handoff_retry", json!({ "id": id }));
        drive(w, &mut hub, &id);
        assert_eq!((hub.open(), show(w, &id)["state"].clone()), (1, json!("offered")));
        hub.ask(&undo.call);
        let closed = json!({ "repo": "o/r", "number": 1, "state": "closed", "state_reason": "not_planned", "by": "Bot" });
        for _ in 0..2 {
            assert_eq!(hub.open(), 0);
            assert_eq!(w.ok(&agent("Hook"), "tracker_event", closed.clone())["changed"], true);
        }
        drive(w, &mut hub, &id);
        assert_eq!((hub.open(), show(w, &id)["state"].clone()), (1, json!("offered")));
        assert_whole(w, &hub, true);
        // Closed once more, it is a person's word.
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", closed)["changed"], true);
        assert_eq!(show(w, &id)["state"], "declined");
    }

    fn a_retry_without_access_says_that_nothing_was_tried(w) {
        w.register("q");
        w.machines.github = true;
        let made = w.ok(&sender(), "handoff_create", json!({ "to_project_id": "q", "subject": "s", "issues_github_repo": "o/r" }));
        let id = json!({ "id": made["handoff_id"] });
        assert_eq!(w.ok(&sender(), "handoff_retry", id.clone())["warnings"], Value::Null, "an access is there");
        w.machines.github = false;
        let retried = w.ok(&sender(), "handoff_retry", id);
        let warning = &list(&retried["warnings"])[0];
        assert_eq!(warning["kind"], "github_unconfigured", "{retried:#}");
        assert!(text(warning, "message").starts_with("nothing was tried now"), "{retried:#}");
    }

    fn a_hand_off_that_is_to_be_tried_again_needs_somebody_until_it_succeeds(w) {
        let (id, mut hub) = (create(w), Hub { refuse: true, ..Hub::default() });
        drive(w, &mut hub, &id);
        let found = |w: &mut World| w.ok(&sender(), "audit_report", json!({}))["found"].clone();
        assert_eq!(found(w), 1);
        assert_eq!(w.ok(&sender(), "handoff_retry", json!({ "id": id }))["state"], "pending");
        assert_eq!(found(w), 1, "its last try failed");
        hub.refuse = false;
        drive(w, &mut hub, &id);
        assert_eq!(found(w), 0);
    }
}
