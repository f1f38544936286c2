//! A conversation that goes on after its baton was taken: what is asked for then reaches somebody.

use baton_model::time::{Millis, rfc3339};
use serde_json::{Value, json};

use crate::conversations::{Talk, capture, donna, import, offered, person};
use crate::world::{World, agent, text};

impl Talk {
    /// The user asks for more at this time.
    pub(crate) fn ask_at(&mut self, what: &str, at: Millis) {
        self.line_at(&json!({ "role": "user", "content": what }), "user", &rfc3339(at));
    }

    /// The same over MCP, where a sentence stands before the fields.
    pub(crate) fn called_over_mcp(&mut self, tool: &str, sentence: &str, answer: &Value) {
        let fields = answer.to_string();
        let text = format!("{{\"next_step\":{},{}", json!(sentence), &fields[1..]);
        let (id, name) = (format!("c{}", self.said), format!("mcp__baton__{tool}"));
        let call = json!([{ "type": "tool_use", "id": id, "name": name, "input": {} }]);
        self.line(&json!({ "role": "assistant", "content": call }), "assistant");
        let content = json!([{ "type": "text", "text": text }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": content }]);
        self.line(&json!({ "role": "user", "content": result }), "user");
    }
}

/// A conversation whose baton another agent has carried on.
fn carried_on(w: &mut World) -> (Talk, String) {
    let talk = Talk::new();
    capture(w, &talk);
    w.pickup(&agent("Lola"));
    let next = w.wrap(&agent("Lola"), "went on with it");
    w.advance(60_000);
    (talk, text(&next, "baton_id"))
}

on_every_backend! {
    fn what_is_asked_for_after_the_baton_was_carried_on_is_a_baton_of_its_own(w) {
        let (mut talk, next) = carried_on(w);
        talk.ask("Now the taxes");
        let captured = capture(w, &talk);
        let own = text(&captured, "baton_id");
        let mut both = vec![next, own.clone()];
        both.sort();
        let mut found = offered(w);
        found.sort();
        assert_eq!(found, both);
        let picked = w.ok(&agent("Bert"), "hd_exec", json!({ "handoff_id": own }));
        assert!(text(&picked["baton"], "body").contains("Now the taxes"), "{picked:#}");
        w.assert_sound();
    }

    fn an_import_of_it_leaves_that_baton_once(w) {
        let (mut talk, next) = carried_on(w);
        talk.ask("Now the taxes");
        let imported = import(w, &talk);
        assert_eq!(imported["imported_before"], json!(false), "{imported:#}");
        assert_eq!(import(w, &talk)["baton_id"], imported["baton_id"]);
        talk.ask("And the customs");
        let newer = import(w, &talk);
        assert_eq!(newer["superseded_baton_id"], imported["baton_id"]);
        let mut found = offered(w);
        found.sort();
        let mut both = vec![next, text(&newer, "baton_id")];
        both.sort();
        assert_eq!(found, both);
    }

    fn last_words_after_the_baton_was_carried_on_make_none(w) {
        let (mut talk, next) = carried_on(w);
        talk.ask("thanks!");
        capture(w, &talk);
        assert_eq!(offered(w), [next]);
    }

    fn a_holder_of_the_same_name_hears_of_more(w) {
        let mut talk = Talk::new();
        capture(w, &talk);
        let namesake = donna().process("another");
        w.pickup(&namesake);
        w.advance(60_000);
        talk.ask("Now the taxes");
        let captured = capture(w, &talk);
        assert!(captured["existing_baton"]["kept_delta_id"].is_string(), "{captured:#}");
        let heard = w.ok(&namesake, "mail_inbox", json!({})).to_string();
        assert!(heard.contains("more was said about baton"), "{heard}");
    }

    fn what_is_asked_for_after_the_agents_own_wrap_is_in_the_baton_with_its_words(w) {
        let mut talk = Talk::new();
        let own = w.start(&donna());
        talk.called("session_start", &own);
        let left = w.wrap(&donna(), "in my own words");
        talk.called("session_wrap", &left);
        talk.grow();
        capture(w, &talk);
        assert_eq!(offered(w), [text(&left, "baton_id")], "last words make none");
        talk.ask("Now the taxes");
        talk.grow();
        let captured = capture(w, &talk);
        assert_eq!(offered(w), [text(&captured, "baton_id")], "{captured:#}");
        let body = text(&w.pickup(&agent("Lola"))["baton"], "body");
        assert!(body.contains("Now the taxes") && body.contains("in my own words"), "{body}");
        w.assert_sound();
    }

    fn what_is_asked_for_after_a_wrap_over_mcp_is_in_the_baton(w) {
        let mut talk = Talk::new();
        let own = w.start(&donna());
        talk.called_over_mcp("session_start", "You are Donna. Work, then wrap.", &own);
        let left = w.wrap(&donna(), "in my own words");
        talk.called_over_mcp("session_wrap", "Wrapped: a baton waits. Your session is over.", &left);
        talk.ask("Now the taxes");
        let captured = capture(w, &talk);
        assert_eq!(offered(w), [text(&captured, "baton_id")], "{captured:#}");
        let body = text(&w.pickup(&agent("Lola"))["baton"], "body");
        assert!(body.contains("Now the taxes") && body.contains("in my own words"), "{body}");
    }

    fn what_is_asked_for_after_a_wrap_and_compacted_then_is_kept_at_once_and_in_the_baton(w) {
        let mut talk = Talk::new();
        let own = w.start(&donna());
        talk.called("session_start", &own);
        let left = w.wrap(&donna(), "in my own words");
        talk.called("session_wrap", &left);
        talk.ask("Now the taxes");
        let mut compaction = talk.input();
        compaction["event"] = json!("before-compaction");
        let saved = w.ok(&donna(), "transcript_capture", compaction);
        assert!(saved["delta_id"].is_string(), "{saved:#}");
        assert_eq!(offered(w), [text(&left, "baton_id")], "a checkpoint leaves the baton as it is");
        let captured = capture(w, &talk);
        assert_eq!(offered(w), [text(&captured, "baton_id")], "{captured:#}");
        let body = text(&w.pickup(&agent("Lola"))["baton"], "body");
        assert!(body.contains("Now the taxes") && body.contains("in my own words"), "{body}");
        w.assert_sound();
    }

    fn what_is_asked_for_after_a_wrap_that_the_transcript_does_not_tell_is_known_by_its_time(w) {
        let mut talk = Talk::new();
        // The conversation began before it.
        w.advance(7_200_000);
        w.start(&donna());
        let left = w.wrap(&donna(), "in my own words");
        talk.ask_at("Before the wrap", w.now - 60_000);
        capture(w, &talk);
        assert_eq!(offered(w), [text(&left, "baton_id")]);
        talk.ask_at("Now the taxes", w.now + 60_000);
        w.advance(120_000);
        let captured = capture(w, &talk);
        assert_eq!(offered(w), [text(&captured, "baton_id")], "{captured:#}");
        let body = text(&w.pickup(&agent("Lola"))["baton"], "body");
        assert!(body.contains("Now the taxes") && body.contains("in my own words"), "{body}");
    }

    fn what_is_asked_for_after_a_wrap_that_said_done_is_a_baton_of_its_own(w) {
        let mut talk = Talk::new();
        w.start(&donna());
        let left = w.ok(&donna(), "session_wrap", json!({ "summary": "the cart adds up", "done": true }));
        talk.called("session_wrap", &left);
        capture(w, &talk);
        assert!(offered(w).is_empty());
        talk.ask("Now the taxes");
        let captured = capture(w, &talk);
        assert_eq!(offered(w), [text(&captured, "baton_id")], "{captured:#}");
    }

    fn an_older_copy_of_a_transcript_replaces_nothing(w) {
        let (old, mut talk) = (Talk::new(), Talk::new());
        talk.grow();
        let first = import(w, &talk);
        let again = import(w, &old);
        assert_eq!((&again["baton_id"], &again["imported_before"]), (&first["baton_id"], &json!(true)));
        assert_eq!(offered(w).len(), 1);
    }

    fn another_conversation_of_the_process_leaves_its_own(w) {
        let talk = Talk::new();
        capture(w, &talk);
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../transcripts/samples/claude/compacted.jsonl");
        w.ok(&person(), "transcript_import", json!({ "id": other }));
        assert_eq!(offered(w).len(), 2);
    }
}
