//! The checks that the pickup verb was specified with, by their number.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

on_every_backend! {
    fn seed_1_the_baton_body_is_the_wraps_payload_exactly(w) {
        let packet = "{ \"zeta\": 1,\n  \"summary\": \"half done\" }";
        w.start(&agent("Lola"));
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(picked["baton"]["body"], packet);
        assert_eq!(picked["baton"]["delta_id"], wrap["delta_id"]);
        assert_eq!(picked["baton"]["kind"], "wrap");
        assert_eq!(picked["baton"]["agent_identity"], "Lola");
        assert_eq!(picked["baton"]["created_at"], "2026-11-20T10:00:00.000Z");
        assert_eq!(picked["baton"]["summary"], "half done");
    }

    fn seed_2_without_a_wrap_there_is_no_baton_and_a_warning(w) {
        let picked = w.pickup(&agent("Donna"));
        assert!(picked["baton"].is_null());
        assert_eq!(column(&list(&picked["warnings"]), "kind"), ["no_baton"]);
        assert!(!text(&picked["warnings"][0], "message").is_empty());
        assert_eq!(w.newest("pickup")["delta_id"], picked["pickup_delta_id"]);
    }

    fn seed_3_the_same_identity_active_elsewhere_is_a_conflict(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.start(&agent("Donna"));
        let refusal = w.no_trace(&agent("Donna").machine("m2"), "hd_exec", json!({}), "identity_conflict");
        assert_eq!(refusal["holder"]["identity"], "Donna");
        assert_eq!(refusal["holder"]["surface"], "codex");
        assert_eq!(refusal["holder"]["machine"], "m1");
        assert_eq!(refusal["holder"]["last_heartbeat"], "2026-11-20T10:00:00.000Z");
    }

    fn seed_4_a_predecessor_at_work_blocks(w) {
        let lola = w.start(&agent("Lola"));
        w.advance(1_000);
        w.checkpoint(&agent("Lola"), "half way");
        let input = json!({ "from_session": lola["session_id"] });
        let refusal = w.no_trace(&agent("Donna"), "hd_exec", input, "predecessor_active");
        assert_eq!(refusal["predecessor"]["identity"], "Lola");
        assert_eq!(refusal["since"], "2026-11-20T10:00:00.000Z");
        assert_eq!(refusal["last_heartbeat"], "2026-11-20T10:00:01.000Z");
    }

    fn seed_4_the_newest_session_at_work_blocks_where_nobody_has_wrapped(w) {
        w.start(&agent("Lola"));
        w.no_trace(&agent("Donna"), "hd_exec", json!({}), "predecessor_active");
    }

    fn seed_5_force_releases_the_other_session_of_the_same_identity(w) {
        w.leave_baton(&agent("Lola"), "done");
        let old = w.start(&agent("Donna"));
        let new = w.force(&agent("Donna").machine("m2"), "the old terminal hangs");
        assert_ne!(new["session_id"], old["session_id"]);
        let release = w.newest("release");
        assert_eq!(release["session_id"], old["session_id"]);
        assert_eq!(release["body"]["reason"], "preempted_by_pickup");
        assert_eq!(release["body"]["released_by"], "Donna");
        assert_eq!(release["body"]["why"], "the old terminal hangs");
        assert_eq!(release["body"]["forced"], true);
        assert_eq!(w.roster().len(), 1);
    }

    fn seed_6_another_identity_inherits_from_the_one_that_wrapped(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(picked["predecessor_session_id"], wrap["session_id"]);
        let me = &w.roster()[0];
        assert_eq!(me["session_id"], picked["session_id"]);
        assert_eq!(me["inherited_from"], wrap["session_id"]);
        assert_eq!(me["picked_up_session_id"], wrap["session_id"]);
    }

    fn seed_7_a_pickup_is_a_delta_and_leaves_the_last_wrap_alone(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let before = w.project();
        w.advance(5_000);
        let picked = w.pickup(&agent("Donna"));
        let delta = w.newest("pickup");
        assert_eq!(delta["delta_id"], picked["pickup_delta_id"]);
        assert_eq!(delta["body"], json!({
            "predecessor_session_id": wrap["session_id"],
            "inherited_from_wrap_delta_id": wrap["delta_id"],
            "picker_identity": "Donna",
            "picked_up_at": "2026-11-20T10:00:05.000Z",
        }));
        for field in ["at", "by", "session_id", "delta_id", "summary"] {
            let field = format!("last_wrapped_{field}");
            assert_eq!(w.project()[&field], before[&field], "{field}");
            assert_ne!(before[&field], Value::Null, "{field}");
        }
    }

    fn seed_8_what_the_picker_writes_names_whom_it_inherits_from(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        w.ok(&agent("Donna"), "ledger_note", json!({ "text": "seen" }));
        w.checkpoint(&agent("Donna"), "on it");
        w.wrap(&agent("Donna"), "finished");
        let ledger = w.ledger();
        let donnas: Vec<_> = ledger.iter().filter(|d| d["identity"] == "Donna").collect();
        assert_eq!(donnas.len(), 4);
        for delta in donnas {
            assert_eq!(delta["inherited_from"], wrap["session_id"], "{delta:#}");
        }
        for delta in ledger.iter().filter(|d| d["identity"] == "Lola") {
            assert_eq!(delta["inherited_from"], Value::Null);
        }
    }

    fn seed_9_the_verb_is_no_stub_to_the_audit(w) {
        let text = "When you continue another agent's work, call `hd_exec`, or run `baton hd-exec`.";
        let found = audit_of(w, text);
        assert_eq!(found, json!([]), "the verb is there, as a tool and as a command");
        assert_eq!(audit_of(w, "Call `hd_exek` first: a tool.")[0]["kind"], "unknown_tool");
    }

    fn seed_10_a_marker_that_is_left_is_reported_with_its_line_and_none_is_when_none_is_left(w) {
        let marked = "# How we work\n\nCall `hd_exec` *(PRISM-NYI \u{2014} SPEC-040)* to pick up.\n";
        let found = audit_of(w, marked);
        assert_eq!((found[0]["kind"].clone(), found[0]["line"].clone()), (json!("not_implemented"), json!(3)));
        assert_eq!(audit_of(w, "# How we work\n\nCall `hd_exec` to pick up.\n"), json!([]));
    }
}

/// What the audit finds in an instruction file, given the commands that the seed's words need.
fn audit_of(w: &mut World, text: &str) -> Value {
    let documents = json!([{ "path": "CLAUDE.md", "text": text }]);
    let commands = json!([{ "name": "" }, { "name": "hd-exec" }]);
    w.ok(&agent("Donna"), "audit_report", json!({ "documents": documents, "commands": commands }))["findings"]
        .clone()
}
