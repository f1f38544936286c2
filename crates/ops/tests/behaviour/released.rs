//! A released session stays released: every verb of it says so, and what a late call carried is kept.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, STALE, World, agent, list, text};

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

/// Takes the work of a session out of its agent's hands.
fn oust(w: &mut World, how: &str, held: &Value) {
    let session = text(held, "session_id");
    let boss = agent(&format!("Boss_{}", w.now));
    let force = json!({ "session": session, "force": true, "why": "urgent", "summary": "over" });
    let (verb, input) = match how {
        "forced" => {
            ("hd_exec", json!({ "handoff_id": held["baton"]["delta_id"], "force": true, "why": "urgent" }))
        }
        "stale" => ("hd_exec", json!({ "handoff_id": held["baton"]["delta_id"] })),
        "ended" => ("session_end", json!({ "session": session, "force": true, "why": "urgent" })),
        "wrapped" => ("session_wrap", force),
        _ => ("session_reassign", json!({ "session": session, "to": "Q", "wait": true, "why": "urgent" })),
    };
    if how == "stale" {
        w.advance(STALE + 1);
    }
    w.ok(&boss, verb, input);
}

/// Through this token, in a process that is not known, as over HTTP.
fn distant(identities: Option<&[&str]>, token: Option<&str>) -> Agent {
    let mut ann = agent("Ann").process("");
    let identities = identities.map(|own| own.iter().map(|name| (*name).to_owned()).collect());
    let bearer = token.map(|id| Bearer { token_id: id.to_owned(), name: id.to_owned(), identities });
    ann.0.grant = Grant { scope: Scope::Write, projects: None, bearer, ..Grant::default() };
    ann
}

on_every_backend! {
    fn what_an_ousted_agent_sends_by_its_name_alone_is_kept_as_with_the_id_of_its_session(w) {
        let callers = [distant(None, None), distant(Some(&["Ann"]), Some("ann")), distant(None, Some("ci"))];
        for ann in callers {
            for how in ["forced", "stale", "ended", "wrapped", "reassigned"] {
                w.advance(1);
                w.leave_baton(&agent("Lola"), how);
                let held = w.pickup(&ann);
                oust(w, how, &held);
                for (verb, input) in [
                    ("session_checkpoint", json!({ "summary": "late words", "state": { "late": 1 } })),
                    ("session_wrap", json!({ "packet": "{ \"summary\": \"late words\" }" })),
                    ("session_end", json!({ "reason": "late words" })),
                ] {
                    let refusal = w.no(&ann, verb, input, "session_released");
                    assert_eq!(refusal["session_id"], held["session_id"], "{verb} {how}");
                    let note = w.deltas("note").into_iter().find(|note| note["delta_id"] == refusal["kept_delta_id"]);
                    let note = note.unwrap_or_else(|| panic!("{verb} {how}: {refusal}"));
                    assert_eq!(note["session_id"], held["session_id"]);
                    assert!(note["body"].to_string().contains("late words"), "{note}");
                }
                let stranger = distant(None, Some("eve"));
                let input = json!({ "summary": "s" });
                w.no_trace(&distant(Some(&["Ben"]), Some("ben")), "session_checkpoint", input.clone(), "identity_not_bound");
                w.no_trace(&stranger, "session_checkpoint", input, "no_session");
                // It begins anew and ends by itself.
                w.advance(1);
                w.start(&ann);
                w.checkpoint(&ann, "anew");
                w.end(&ann);
                w.no_trace(&ann, "session_checkpoint", json!({ "summary": "s" }), "no_session");
            }
        }
    }

    fn an_ousted_agent_hears_so_on_every_verb_that_writes(w) {
        for how in ["forced", "stale", "ended", "wrapped", "reassigned"] {
            w.advance(1);
            w.leave_baton(&agent("Lola"), how);
            let ann = agent("Ann").process("agent");
            let held = w.pickup(&ann);
            oust(w, how, &held);
            for (verb, input) in [
                ("ledger_note", json!({ "text": "t" })),
                ("ledger_note", json!({ "text": "t", "kind": "decision" })),
                ("task_create", json!({ "title": "t" })),
                ("signal_send", json!({ "to": "Lola", "subject": "s" })),
                ("project_set", json!({ "phase": "late" })),
                ("handoff_create", json!({ "to_project_id": "p", "subject": "s" })),
            ] {
                let refusal = w.no(&ann, verb, input.clone(), "session_released");
                assert_eq!(refusal["session_id"], held["session_id"], "{verb} {how}");
                assert_eq!(refusal.get("kept_delta_id").is_some(), verb == "ledger_note", "{verb}");
            }
            // Another agent of the same process, and the same one that begins anew, are free.
            w.ok(&agent("Ben").process("agent"), "ledger_note", json!({ "text": "t" }));
            w.start(&ann);
            w.ok(&ann, "ledger_note", json!({ "text": "t" }));
            w.end(&ann);
        }
    }

    fn a_retry_of_a_late_call_keeps_its_words_once(w) {
        let own = w.start(&agent("Ann"));
        w.end(&agent("Ann"));
        let calls = [
            ("session_checkpoint", json!({ "summary": "late words" })),
            ("session_wrap", json!({ "packet": "{ \"summary\": \"late words\" }", "request_id": "r" })),
            ("session_wrap", json!({ "summary": "late words", "next": ["n"] })),
            ("session_end", json!({ "reason": "late words" })),
            ("ledger_note", json!({ "text": "late words" })),
        ];
        for (n, (verb, input)) in calls.into_iter().enumerate() {
            let late = agent("Ann").in_session(&own);
            let first = w.no(&late, verb, input.clone(), "session_released")["kept_delta_id"].clone();
            w.advance(1_000);
            let again = w.no(&late, verb, input, "session_released")["kept_delta_id"].clone();
            assert!(first.is_string(), "{verb}");
            assert_eq!(first, again, "{verb}");
            assert_eq!(w.deltas("note").len(), n + 1, "{verb}");
        }
        // The same words in another session are another note.
        w.start(&agent("Ben"));
        w.end(&agent("Ben"));
        let ben = w.no(&agent("Ben"), "session_end", json!({ "reason": "late words", "identity": "Ben" }), "session_released");
        assert_ne!(ben["kept_delta_id"], Value::Null);
        assert_eq!(w.deltas("note").len(), 6);
    }

    fn the_reason_of_a_late_end_is_kept(w) {
        let own = w.start(&agent("Ann"));
        w.end(&agent("Ann"));
        let late = json!({ "session": own["session_id"], "identity": "Ann", "reason": "the tests hang" });
        let refusal = w.no(&agent("Ann"), "session_end", late, "session_released");
        let note = w.deltas("note").into_iter().find(|note| note["delta_id"] == refusal["kept_delta_id"]);
        assert_eq!(note.expect("a note")["body"]["late_reason"], "the tests hang");
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
        let words = baton_model::delta::full_text_of(&note["body"]).unwrap_or_default();
        assert!(words.starts_with("wrap of a released session: ") && !words.contains("\"summary\""), "{words}");
        assert_eq!(note["session_id"], wrap["session_id"]);
        assert_eq!(w.deltas("wrap").len(), 1);
    }

    fn who_wraps_for_another_hands_on_what_that_one_had(w) {
        w.start(&agent("Zoe"));
        w.ok(&agent("Zoe"), "session_wrap", json!({ "packet": { "summary": "z", "open_loops": ["the refund"] } }));
        let held = w.pickup(&agent("Hal"));
        w.ok(&agent("Hal"), "session_checkpoint", json!({ "summary": "half of it", "state": { "step": 7 } }));
        w.ok(&agent("Boss"), "session_wrap",
            json!({ "session": held["session_id"], "summary": "ended for him", "force": true, "why": "stuck" }));
        let body = text(&w.pickup(&agent("Mina"))["baton"], "body");
        for text in ["ended for him", "the refund", "half of it", "\"step\":7"] {
            assert!(body.contains(text), "{text} is gone: {body}");
        }
    }

    fn a_reassigned_packet_has_the_states_of_all_holders(w) {
        w.leave_baton(&agent("Zoe"), "z");
        for (name, step) in [("Hal", 1), ("Ida", 2)] {
            let held = w.pickup(&agent(name));
            w.ok(&agent(name), "session_checkpoint", json!({ "summary": "s", "state": { "step": step, "own": name } }));
            if name == "Hal" {
                w.ok(&agent(name), "session_end", json!({ "session": held["session_id"] }));
            } else {
                w.ok(&agent("Boss"), "session_reassign", json!({ "session": held["session_id"], "to": "Mina", "wait": true, "why": "x" }));
            }
        }
        let packet: Value = serde_json::from_str(&text(&w.pickup(&agent("Mina"))["baton"], "body")).expect("a packet");
        assert_eq!(packet["metadata"]["state"]["own"], "Ida");
        assert_eq!(packet["metadata"]["earlier_states"], json!([{ "step": 1, "own": "Hal" }]));
    }

    fn a_late_call_is_kept_with_its_address_and_its_task(w) {
        for (verb, input, key) in [
            ("session_checkpoint", json!({ "summary": "x", "task": "p-1" }), "/late_checkpoint/task"),
            ("session_wrap", json!({ "summary": "x", "to": "Mina" }), "/to"),
            ("session_wrap", json!({ "summary": "x", "role": "testing" }), "/role"),
        ] {
            let own = w.start(&agent("Lola"));
            w.ok(&agent("Boss"), "session_end", json!({ "session": own["session_id"], "force": true, "why": "stuck" }));
            w.no(&agent("Lola").in_session(&own), verb, input, "session_released");
            let note = w.newest("note")["body"].clone();
            assert!(note.pointer(key).is_some_and(Value::is_string), "{verb}: {note:#}");
        }
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
