//! Which conversations left no baton: what an agent wrapped by itself covers what came before, what was made of a transcript covers that
//! one conversation.

use baton_model::time::parse_rfc3339;
use serde_json::{Value, json};

use crate::conversations::{Talk, donna, import};
use crate::world::{World, agent, column, list};

/// A conversation of Claude Code whose last entry is this old, and the first one five minutes older.
fn old(w: &World, id: &str, ago: i64) -> Value {
    let at = w.now - ago;
    json!({ "agent": "claude", "id": id, "created_at_ms": at - 300_000, "updated_at_ms": at, "bytes": 9 })
}

#[track_caller]
fn check(w: &mut World, conversations: Vec<Value>, expected: &[&str]) {
    let answer = w.ok(&agent("Owner"), "transcript_unwrapped", json!({ "conversations": conversations }));
    assert_eq!(column(&list(&answer["items"]), "id"), expected, "{answer:#}");
}

on_every_backend! {
    fn a_wrap_covers_the_conversations_before_it_and_its_agents_last_words(w) {
        let all = |w: &World| vec![old(w, "new", 1_000), old(w, "before", 400_000)];
        let requests = all(w);
        check(w, requests, &["new", "before"]);
        w.start(&donna());
        w.wrap(&donna(), "done for today");
        w.advance(30_000);
        let requests = all(w);
        // It had begun by then, and these may be its last words.
        check(w, requests, &[]);
        w.advance(60_000);
        let requests = all(w);
        check(w, requests, &["new"]);
    }

    fn a_conversation_that_was_imported_covers_no_other_one(w) {
        let talk = Talk::new();
        import(w, &talk);
        w.advance(30_000);
        let requests = vec![old(w, "killed", 600_000)];
        check(w, requests, &["killed"]);
    }

    fn a_conversation_with_a_baton_is_left_only_once_it_has_gone_on(w) {
        let talk = Talk::new();
        let made = import(w, &talk);
        let id = made["transcript_id"].as_str().expect("an id").to_owned();
        // The last entry of the transcript is of this time.
        let last = parse_rfc3339("2026-11-20T11:01:00Z").expect("a time").max(w.now);
        let known = json!({ "agent": "claude", "id": id, "updated_at_ms": last + 30_000, "bytes": 1_000_000 });
        check(w, vec![known], &[]);
        let grown = json!({ "agent": "claude", "id": id, "updated_at_ms": last + 600_000, "bytes": 2_000_000 });
        check(w, vec![grown], &[id.as_str()]);
        let many: Vec<Value> = (0..51).map(|n| old(w, &n.to_string(), 0)).collect();
        w.no_trace(&agent("Owner"), "transcript_unwrapped", json!({ "conversations": many }), "too_many");
    }
}
