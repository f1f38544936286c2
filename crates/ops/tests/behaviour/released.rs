//! A released session stays released: every verb of it says so, and what a late call carried is kept.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, list};

/// The verbs that act in a session, and what they carry.
fn verbs() -> [(&'static str, Value); 5] {
    [
        ("session_checkpoint", json!({ "summary": "late words", "state": { "late": 1 } })),
        ("session_wrap", json!({ "packet": "{ \"summary\": \"late words\" }" })),
        ("session_end", json!({})),
        ("hd_exec", json!({})),
        ("ledger_note", json!({ "text": "late words" })),
    ]
}

/// Every verb of this agent is refused with the same reason and successor.
#[track_caller]
fn all_refused(w: &mut World, who: &Agent, released: &Value, reason: &str, by: &str, successor: &Value) {
    let open = w.roster().len();
    for (verb, input) in verbs() {
        let refusal = w.no(who, verb, input, "session_released");
        assert_eq!(refusal["session_id"], released["session_id"], "{verb}");
        assert_eq!(refusal["reason"], reason, "{verb}");
        assert_eq!(refusal["released_by"], by, "{verb}");
        assert_eq!(refusal["released_at"], "2026-11-20T10:00:00.000Z", "{verb}");
        assert_eq!(refusal["successor_session_id"], *successor, "{verb}");
    }
    assert_eq!(w.roster().len(), open, "nothing registers by itself");
}

on_every_backend! {
    fn the_reason_of_a_late_end_is_kept(w) {
        let own = w.start(&agent("Ann"));
        w.end(&agent("Ann"));
        let late = json!({ "session": own["session_id"], "identity": "Ann", "reason": "the tests hang" });
        let refusal = w.no(&agent("Ann"), "session_end", late, "session_released");
        let kept = w.deltas("note").into_iter().find(|note| note["delta_id"] == refusal["kept_delta_id"]);
        assert_eq!(kept.expect("a note")["body"]["late_reason"], "the tests hang");
    }

    fn verbs_that_need_no_session_are_refused_too_when_the_caller_names_a_released_one(w) {
        let started = w.start(&agent("Donna"));
        w.wrap(&agent("Donna"), "done");
        let late = agent("Donna").in_session(&started);
        for (verb, input) in [
            ("task_create", json!({ "title": "t" })),
            ("signal_send", json!({ "to": "Lola", "subject": "s" })),
            ("project_set", json!({ "phase": "late" })),
            ("handoff_create", json!({ "to_project_id": "p", "subject": "s" })),
            ("ledger_note", json!({ "text": "t" })),
        ] {
            assert_eq!(w.no(&late, verb, input, "session_released")["reason"], "wrapped", "{verb}");
        }
    }

    fn after_its_own_wrap(w) {
        let wrap = w.leave_baton(&agent("Donna"), "done");
        all_refused(w, &agent("Donna").in_session(&wrap), &wrap, "wrapped", "Donna", &Value::Null);
        assert_eq!(w.deltas("wrap").len(), 1);
    }

    fn after_its_own_end(w) {
        let started = w.start(&agent("Donna"));
        w.end(&agent("Donna"));
        all_refused(w, &agent("Donna").in_session(&started), &started, "ended", "Donna", &Value::Null);
    }

    fn after_somebody_took_over_by_force(w) {
        let lola = w.start(&agent("Lola"));
        let input = json!({ "from_session": lola["session_id"], "force": true, "why": "urgent" });
        let donna = w.ok(&agent("Donna"), "hd_exec", input);
        let released = agent("Lola").in_session(&lola);
        all_refused(w, &released, &lola, "preempted_by_pickup", "Donna", &donna["session_id"]);
    }

    fn after_it_went_stale_and_its_baton_moved_on(w) {
        w.leave_baton(&agent("Lola"), "done");
        let donna = w.pickup(&agent("Donna"));
        w.advance(-600_001);
        w.checkpoint(&agent("Donna"), "early");
        w.advance(600_001);
        let rex = w.pickup(&agent("Rex"));
        all_refused(w, &agent("Donna").in_session(&donna), &donna, "stale", "Rex", &rex["session_id"]);
    }

    fn after_its_identity_registered_anew(w) {
        let old = w.start(&agent("Donna"));
        let new = w.ok(&agent("Donna").process("2"), "session_start", json!({ "force": true }));
        all_refused(w, &agent("Donna").in_session(&old), &old, "operator", "Donna", &new["session_id"]);
    }

    fn a_client_that_names_no_session_is_known_by_its_process(w) {
        let old = w.start(&agent("Donna"));
        w.ok(&agent("Donna").process("2"), "session_start", json!({ "force": true }));
        for (verb, input) in verbs().into_iter().take(3) {
            let refusal = w.no(&agent("Donna"), verb, input, "session_released");
            assert_eq!(refusal["session_id"], old["session_id"], "{verb}");
        }
        assert_eq!(w.roster().len(), 1, "the new session of the same name is not touched");
        assert_eq!(w.deltas("wrap").len(), 0);
    }

    fn a_second_wrap_of_one_process_is_late_too(w) {
        w.leave_baton(&agent("Donna"), "done");
        let refusal = w.no(&agent("Donna"), "session_wrap", json!({ "summary": "more" }), "session_released");
        assert_eq!(refusal["reason"], "wrapped");
        assert_eq!(w.deltas("wrap").len(), 1);
        assert_eq!(w.deltas("note").len(), 1);
    }

    fn a_late_wrap_is_kept_as_a_note_with_its_whole_packet(w) {
        let wrap = w.leave_baton(&agent("Donna"), "done");
        let packet = "{ \"summary\" : \"late\",\n \"n\": 1.50, \"files_modified\": [\"a\"] }";
        let late = agent("Donna").in_session(&wrap);
        let refusal = w.no(&late, "session_wrap", json!({ "packet": packet }), "session_released");
        let note = w.newest("note");
        assert_eq!(refusal["kept_delta_id"], note["delta_id"]);
        assert_eq!(note["body"]["late_packet"], packet);
        assert_eq!(note["session_id"], wrap["session_id"]);
        assert_eq!(w.deltas("wrap").len(), 1);
    }

    fn a_late_checkpoint_is_kept_as_a_note_and_leaves_the_state_alone(w) {
        let donna = w.start(&agent("Donna"));
        w.ok(&agent("Donna"), "session_checkpoint", json!({ "state": { "a": 1 } }));
        w.end(&agent("Donna"));
        let late = agent("Donna").in_session(&donna);
        let input = json!({ "state": { "late": 2 }, "summary": "late" });
        let refusal = w.no(&late, "session_checkpoint", input, "session_released");
        let note = w.newest("note");
        assert_eq!(refusal["kept_delta_id"], note["delta_id"]);
        assert_eq!(note["body"]["late_checkpoint"]["state"], json!({ "late": 2 }));
        assert_eq!(note["body"]["late_checkpoint"]["summary"], "late");
        assert_eq!(w.deltas("checkpoint").len(), 1);
        w.start(&agent("Donna"));
        let next = w.ok(&agent("Donna"), "session_checkpoint", json!({ "state": {}, "expected_version": 1 }));
        assert_eq!(next["state_version"], 2);
    }

    fn a_late_note_is_kept_too(w) {
        let donna = w.start(&agent("Donna"));
        w.end(&agent("Donna"));
        let late = agent("Donna").in_session(&donna);
        let input = json!({ "text": "use the other parser", "kind": "decision" });
        let refusal = w.no(&late, "ledger_note", input, "session_released");
        let note = w.newest("note");
        assert_eq!(refusal["kept_delta_id"], note["delta_id"]);
        assert!(note["body"].to_string().contains("use the other parser"));
    }

    fn a_new_start_begins_a_new_session(w) {
        let old = w.leave_baton(&agent("Donna"), "done");
        let new = w.start(&agent("Donna"));
        assert_ne!(new["session_id"], old["session_id"]);
        assert_eq!(w.checkpoint(&agent("Donna"), "s")["session_id"], new["session_id"]);
        let roster = w.roster();
        assert_eq!(roster.len(), 1);
        assert_eq!(list(&json!(roster))[0]["session_id"], new["session_id"]);
    }
}
