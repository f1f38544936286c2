//! Every step of every write is broken once: before it nothing had happened, after it nothing has, and the same call made
//! again does all of it.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, text};

/// Breaks a verb at each of its steps in turn. What a late call leaves behind as a note is a write of its own.
pub(crate) fn break_every_step(w: &mut World, who: &Agent, verb: &str, input: &Value) -> Value {
    let before = w.everything();
    for step in 0..600 {
        match w.call_failing(who, verb, input.clone(), step) {
            None => {
                assert_eq!(w.everything(), before, "{verb}, broken at step {step}, left something behind")
            }
            Some(answer) => {
                assert!(step > 1, "{verb} writes nothing");
                return answer.unwrap_or_else(|refusal| panic!("{verb} was refused: {refusal:#}"));
            }
        }
    }
    panic!("{verb} does not come to an end");
}

on_every_backend! {
    fn a_broken_init_registers_nothing(w) {
        let at = agent("Donna").at("/srv/fresh", Some("/srv/fresh"));
        break_every_step(w, &at, "project_init", &json!({ "id": "fresh" }));
    }

    fn a_broken_start_begins_nothing(w) {
        break_every_step(w, &agent("Donna"), "session_start", &json!({ "request_id": "r" }));
    }

    fn a_broken_checkpoint_saves_nothing(w) {
        w.start(&agent("Donna"));
        let state = json!({ "state": { "step": 1 }, "summary": "s" });
        assert_eq!(break_every_step(w, &agent("Donna"), "session_checkpoint", &state)["state_version"], 1);
    }

    fn a_broken_wrap_leaves_neither_delta_nor_baton(w) {
        w.leave_baton(&agent("Lola"), "first");
        w.pickup(&agent("Donna"));
        break_every_step(w, &agent("Donna"), "session_wrap", &json!({ "summary": "s", "request_id": "r" }));
        assert_eq!(w.pickup(&agent("Lola"))["baton"]["summary"], "s");
    }

    fn a_broken_pickup_claims_nothing(w) {
        w.leave_baton(&agent("Lola"), "first");
        let picked = break_every_step(w, &agent("Donna"), "hd_exec", &json!({ "request_id": "r" }));
        assert_eq!(picked["baton"]["summary"], "first");
    }

    fn a_broken_pickup_by_force_ousts_nobody(w) {
        w.leave_baton(&agent("Lola"), "first");
        let held = w.pickup(&agent("Donna"));
        let by = break_every_step(w, &agent("Ann"), "hd_exec", &json!({ "force": true, "why": "urgent" }));
        assert_eq!(by["predecessor_session_id"], held["session_id"]);
        assert_eq!(w.pending(&agent("Donna")).len(), 1);
    }

    fn a_broken_reconnect_keeps_the_baton_where_it_is(w) {
        w.leave_baton(&agent("Lola"), "first");
        let old = agent("Donna").process("old");
        w.pickup(&old);
        w.kill(&old);
        let new = agent("Donna").process("new");
        break_every_step(w, &new, "session_start", &json!({}));
        assert_eq!(w.pickup(&new)["baton"]["summary"], "first");
    }

    fn a_broken_end_releases_nothing(w) {
        w.start(&agent("Donna"));
        break_every_step(w, &agent("Donna"), "session_end", &json!({}));
    }

    fn a_broken_reassignment_releases_nothing(w) {
        let started = w.start(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half done");
        let input = json!({ "session": text(&started, "session_id"), "to": "Lola", "wait": true, "why": "stuck" });
        break_every_step(w, &agent("Chief"), "session_reassign", &input);
        let picked = w.pickup(&agent("Lola"));
        assert_eq!(picked["baton"]["summary"], "Donna did not wrap. Saved last: half done");
    }

    fn a_broken_handoff_is_in_neither_project(w) {
        w.register("q");
        let input = json!({ "to_project_id": "q", "subject": "do it", "request_id": "r" });
        let made = break_every_step(w, &agent("Donna"), "handoff_create", &input);
        let accept = json!({ "id": text(&made, "handoff_id"), "action": "accept" });
        break_every_step(w, &agent("Lola"), "handoff_advance", &accept);
        let done = json!({ "id": text(&made, "handoff_id"), "action": "complete", "result": "done" });
        break_every_step(w, &agent("Lola"), "handoff_advance", &done);
    }

    fn a_broken_signal_note_or_task_is_not_there(w) {
        break_every_step(w, &agent("Donna"), "signal_send", &json!({ "to": "Lola", "subject": "s" }));
        break_every_step(w, &agent("Donna"), "ledger_note", &json!({ "text": "t" }));
        let task = break_every_step(w, &agent("Donna"), "task_create", &json!({ "title": "t" }));
        let close = json!({ "id": text(&task, "id"), "status": "closed" });
        break_every_step(w, &agent("Donna"), "task_update", &close);
    }

    fn a_broken_registration_lease_or_key_is_not_there(w) {
        break_every_step(w, &agent("Donna"), "agent_register", &json!({ "roles": ["testing"] }));
        break_every_step(w, &agent("Donna"), "lease_take", &json!({ "patterns": ["a", "b/**"] }));
        break_every_step(w, &agent("Donna"), "lease_release", &json!({}));
        break_every_step(w, &agent("Donna"), "key_create", &json!({}));
    }

    fn broken_mail_is_in_neither_project_and_is_taken_by_nobody(w) {
        w.register("q");
        let ben = agent("Ben").project("q");
        w.ok(&ben, "agent_register", json!({ "roles": ["testing"] }));
        let far = json!({ "to": "role:testing", "to_project": "q", "subject": "s", "ack_required": true, "request_id": "r" });
        let sent = break_every_step(w, &agent("Donna"), "mail_send", &far);
        let id = json!({ "message_id": text(&sent, "message_id") });
        break_every_step(w, &ben, "mail_read", &id);
        break_every_step(w, &ben, "mail_ack", &id);
        assert_eq!(w.pending(&agent("Donna")).len(), 1);
    }

    fn a_broken_import_rebuilds_nothing(w) {
        w.leave_baton(&agent("Lola"), "first");
        let mut lines = w.ledger();
        lines.extend(w.ok(&agent("Lola"), "ledger_export", json!({}))["items"].as_array().cloned().unwrap_or_default());
        let renamed = json!(lines).to_string().replace("\"project_id\":\"p\"", "\"project_id\":\"copy\"");
        let lines: Value = serde_json::from_str(&renamed).expect("json");
        break_every_step(w, &agent("Lola"), "ledger_import", &json!({ "lines": lines, "unverified": true }));
        let copy = agent("Donna").project("copy");
        assert_eq!(w.pickup(&copy)["baton"]["summary"], "first");
    }
}
