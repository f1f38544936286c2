//! A session of another tool goes on: one baton, one holder, whoever asks how often.

use serde_json::{Value, json};

use crate::world::{agent, text};

/// The sample of a session of Claude Code.
fn session() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../transcripts/samples/claude/normal.jsonl").to_owned()
}

fn carried(hold: bool) -> Value {
    json!({ "id": session(), "to": "codex", "hold": hold })
}

on_every_backend! {
    fn a_shown_command_leaves_one_baton_that_waits(w) {
        let first = w.ok(&agent("Lola"), "transcript_continue", carried(false));
        let again = w.ok(&agent("Lola"), "transcript_continue", carried(false));
        assert_eq!((&first["handoff_id"], &first["session_id"]), (&again["handoff_id"], &Value::Null));
        assert_eq!(again["imported_before"], true);
        let shown = w.ok(&agent("Lola"), "handoff_show", json!({ "id": first["handoff_id"] }));
        assert_eq!((&shown["state"], &shown["from_identity"]), (&json!("open"), &json!("claude")));
        let picked = w.ok(&agent("Donna"), "hd_exec", json!({ "handoff_id": first["handoff_id"] }));
        assert_eq!(picked["baton"]["delta_id"], first["handoff_id"]);
    }

    fn the_one_who_goes_on_holds_it_until_its_process_ends(w) {
        let first = w.ok(&agent("Codex").process("c1"), "transcript_continue", carried(true));
        w.no_trace(&agent("Gemini").process("g1"), "transcript_continue", carried(true), "baton_claimed");
        // The same process is the same session.
        let again = w.ok(&agent("Codex").process("c1"), "transcript_continue", carried(true));
        assert_eq!(again["session_id"], first["session_id"]);
        w.kill(&agent("Codex").process("c1"));
        let next = w.ok(&agent("Gemini").process("g1"), "transcript_continue", carried(true));
        assert_eq!((&next["handoff_id"], next["session_id"] == first["session_id"]), (&first["handoff_id"], false));
        let released = w.newest("release");
        assert_eq!((&released["session_id"], &released["body"]["reason"]), (&first["session_id"], &json!("stale")));
    }

    fn what_was_carried_on_and_wrapped_begins_anew_only_by_force(w) {
        let first = w.ok(&agent("Codex"), "transcript_continue", carried(true));
        w.ok(&agent("Codex"), "session_wrap", json!({ "summary": "went on" }));
        w.no_trace(&agent("Gemini"), "transcript_continue", carried(true), "baton_spent");
        let mut forced = carried(true);
        (forced["force"], forced["why"]) = (json!(true), json!("another try"));
        let second = w.ok(&agent("Gemini"), "transcript_continue", forced);
        assert_ne!(text(&second, "handoff_id"), text(&first, "handoff_id"));
    }
}
