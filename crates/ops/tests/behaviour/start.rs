//! Beginning fresh work.

use serde_json::{Value, json};

use crate::world::{agent, column, list};

on_every_backend! {
    fn a_start_is_exactly_one_delta(w) {
        let started = w.start(&agent("Donna"));
        let starts = w.deltas("start");
        assert_eq!(starts.len(), 1);
        assert_eq!(starts[0]["delta_id"], started["delta_id"]);
        assert_eq!(starts[0]["session_id"], started["session_id"]);
        assert_eq!(starts[0]["identity"], "Donna");
        assert_eq!(starts[0]["inherited_from"], Value::Null);
        w.start(&agent("Donna"));
        assert_eq!(w.deltas("start").len(), 1);
    }

    fn a_start_shows_the_last_wraps_summary_but_never_its_baton(w) {
        w.start(&agent("Lola"));
        let packet = r#"{"summary":"half done","next_steps":["the secret step"]}"#;
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        let started = w.start(&agent("Donna"));
        let text = started.to_string();
        assert!(!text.contains("secret step"), "{text}");
        assert_eq!(started["last_wrap"]["last_wrapped_summary"], "half done");
        assert_eq!(started["last_wrap"]["last_wrapped_by"], "Lola");
        assert_eq!(started["last_wrap"]["last_wrapped_delta_id"], wrap["delta_id"]);
        let state = w.baton_state(wrap["baton_id"].as_str().expect("id"));
        assert_eq!(state.as_deref(), Some("open"), "announced, not taken");
    }

    fn a_waiting_baton_is_announced_without_a_word_of_it(w) {
        let wrap = w.leave_baton(&agent("Lola"), "the work");
        let waiting = list(&w.start(&agent("Donna"))["handoffs"]);
        assert_eq!(waiting.len(), 1);
        assert_eq!((waiting[0]["id"].clone(), waiting[0]["from"].clone()), (wrap["baton_id"].clone(), json!("Lola")));
        assert_eq!(waiting[0].get("summary"), None);
        assert_eq!(waiting[0].get("body"), None);
    }

    fn a_start_drains_no_signals(w) {
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "hello" }));
        let started = w.start(&agent("Donna"));
        assert_eq!(started.get("pending_signals"), None);
        assert_eq!(w.pending(&agent("Donna")).len(), 1);
        assert_eq!(w.pending(&agent("Donna"))[0]["delivered_at"], Value::Null);
    }

    fn a_start_moves_no_last_wrap(w) {
        w.start(&agent("Donna"));
        assert_eq!(w.project().get("last_wrapped_at"), None);
    }

    fn the_surface_is_kept_and_may_be_said(w) {
        w.ok(&agent("Donna"), "session_start", json!({ "surface": "claude_code" }));
        assert_eq!(w.roster()[0]["surface"], "claude_code");
        let odd = json!({ "surface": "a\nb" });
        w.no_trace(&agent("Lola"), "session_start", odd, "label_invalid");
    }

    fn a_project_must_be_known(w) {
        w.no_trace(&agent("Donna").project("nowhere"), "session_start", json!({}), "project_unknown");
        w.no_trace(&agent("Donna").project("No Where"), "session_start", json!({}), "project_invalid");
    }

    fn reminders_count_what_waits(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.ok(&agent("Lola"), "task_create", json!({ "title": "t" }));
        w.start(&agent("Rex"));
        w.advance(700_000);
        let started = w.start(&agent("Donna"));
        let reminders = list(&started["reminders"]);
        assert_eq!(started["rules_reminders"], started["reminders"]);
        let all = column(&reminders, "message").join("; ");
        for part in ["1 open task", "last wrap 11m ago by Lola", "1 session went silent"] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    fn the_same_request_starts_once(w) {
        let first = w.ok(&agent("Donna"), "session_start", json!({ "request_id": "r1" }));
        let again = w.ok(&agent("Donna"), "session_start", json!({ "request_id": "r1" }));
        assert_eq!(again["session_id"], first["session_id"]);
        assert_eq!(again["delta_id"], first["delta_id"]);
        assert_eq!(w.deltas("start").len(), 1);
    }

    fn the_same_request_gives_a_bot_its_session_again(w) {
        let first = w.ok(&agent("Bot"), "session_start", json!({ "request_id": "r1" }));
        let again = w.ok(&agent("Bot"), "session_start", json!({ "request_id": "r1" }));
        assert_eq!(again["session_id"], first["session_id"]);
        assert_eq!(w.roster().len(), 1);
    }

    fn a_retry_that_arrives_late_begins_nothing_new(w) {
        w.start(&agent("Donna"));
        let resumed = w.ok(&agent("Donna"), "session_start", json!({ "request_id": "r1" }));
        w.end(&agent("Donna"));
        let late = w.ok(&agent("Donna"), "session_start", json!({ "request_id": "r1" }));
        assert_eq!(late["session_id"], resumed["session_id"]);
        assert_eq!(w.roster().len(), 0);
    }
}
