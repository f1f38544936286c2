//! What was entrusted to an agent stays with its conversation, whatever makes a baton of that.

use serde_json::{Value, json};

use crate::conversations::{Talk, capture, donna, import, offered};
use crate::world::{World, agent, list, text};

/// Donna took over a packet, saved a state, and this is her conversation.
fn entrusted(w: &mut World) -> Talk {
    let packet = json!({ "summary": "the cart rounds", "next_steps": ["test the refund"], "constraints": ["no floats"], "odd": "kept" });
    w.start(&agent("Lola"));
    w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
    let talk = Talk::new();
    w.pickup(&donna());
    w.ok(&donna(), "session_checkpoint", json!({ "state": { "step": 7 } }));
    w.ok(&donna(), "ledger_note", json!({ "text": "the tax is separate" }));
    talk
}

/// A checkpoint ties the conversation to Donna's session.
fn capture_only(w: &mut World, talk: &Talk) {
    let mut input = talk.input();
    (input["event"], input["wrap"]) = (json!("before-compaction"), json!(false));
    w.advance(700_000);
    w.ok(&donna(), "transcript_capture", input);
}

#[track_caller]
fn holds_what_was_entrusted(w: &mut World, baton: &Value) {
    let shown = w.ok(&agent("Reader"), "handoff_show", json!({ "id": baton })).to_string();
    for text in ["test the refund", "no floats", "kept", "step", "the tax is separate"] {
        assert!(shown.contains(text), "{text} is gone: {shown}");
    }
}

on_every_backend! {
    fn a_longer_transcript_takes_the_place_of_a_baton_without_what_was_entrusted_being_dropped(w) {
        let mut talk = entrusted(w);
        let first = capture(w, &talk);
        holds_what_was_entrusted(w, &first["baton_id"]);
        talk.grow();
        let second = import(w, &talk);
        assert_ne!(second["baton_id"], first["baton_id"]);
        holds_what_was_entrusted(w, &second["baton_id"]);
        talk.grow();
        let third = capture(w, &talk);
        assert_ne!(third["baton_id"], second["baton_id"]);
        holds_what_was_entrusted(w, &third["baton_id"]);
        assert_eq!(offered(w).len(), 1);
    }

    fn an_import_of_a_stopped_agents_transcript_has_what_was_entrusted_to_it(w) {
        let talk = entrusted(w);
        capture_only(w, &talk);
        w.advance(700_000);
        let made = import(w, &talk);
        holds_what_was_entrusted(w, &made["baton_id"]);
        assert_eq!(offered(w), [text(&made, "baton_id")], "the baton that it held is nobody else's");
    }

    fn work_that_came_with_an_import_is_no_work_without_a_baton(w) {
        let mut talk = Talk::new();
        let own = w.start(&donna());
        w.advance(60_000);
        talk.called("session_start", &own);
        w.ok(&donna(), "ledger_note", json!({ "text": "the tax is separate" }));
        w.kill(&donna());
        let left = |w: &mut World| {
            let card = w.ok(&agent("Reader"), "session_status", json!({}));
            list(&card["reminders"]).iter().any(|remark| remark["kind"] == "recoverable_work")
        };
        assert!(left(w), "it is named as long as nobody has it");
        let made = import(w, &talk);
        let shown = w.ok(&agent("Reader"), "handoff_show", json!({ "id": made["baton_id"] })).to_string();
        assert!(shown.contains("the tax is separate"), "{shown}");
        assert!(!left(w), "the baton has it");
        w.ok(&donna(), "ledger_note", json!({ "text": "and the tip", "session": own["session_id"] }));
        w.advance(700_000);
        assert!(left(w), "what was said since is in no baton");
    }

    fn what_an_agent_did_after_its_baton_was_taken_is_named_to_whoever_comes_after_the_holder(w) {
        let mut talk = Talk::new();
        w.start(&donna());
        w.advance(60_000);
        capture(w, &talk);
        w.pickup(&agent("Lola"));
        talk.ask("And the refund?");
        talk.grow();
        capture(w, &talk);
        w.wrap(&agent("Lola"), "went on with it");
        let note = w.newest("note");
        assert!(note["body"]["late_packet"].is_string(), "{note:#}");
        let picked = w.pickup(&agent("Bert"));
        let late = list(&picked["rules_reminders"]).into_iter().find(|remark| remark["kind"] == "late_words");
        let message = text(&late.expect("a reminder"), "message");
        assert!(message.contains(&text(&note, "delta_id")) && message.contains("after Lola had taken"), "{message}");
    }
}
