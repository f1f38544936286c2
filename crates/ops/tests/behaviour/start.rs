//! Beginning fresh work.

use serde_json::{Value, json};

use crate::world::{agent, column, list};

on_every_backend! {
    fn who_begins_again_under_its_name_hears_what_it_saved_for_the_baton_that_it_holds(w) {
        w.leave_baton(&agent("Ann"), "first half");
        let before = agent("Ann").process("Ann 2");
        w.pickup(&before);
        w.checkpoint(&before, "currency parser half");
        w.kill(&before);
        let again = agent("Ann").process("Ann 3");
        let begun = w.start(&again);
        let reminders = begun["rules_reminders"].to_string();
        assert!(reminders.contains("of before saved something since: `baton pickup`"), "{reminders}");
        assert!(w.pickup(&again)["recovered"].to_string().contains("currency parser half"));
    }

    fn a_note_of_another_live_process_of_a_name_is_of_no_session(w) {
        let own = w.start(&agent("Ann"));
        let here = w.ok(&agent("Ann"), "ledger_note", json!({ "text": "mine" }));
        assert_eq!(here["session_id"], own["session_id"]);
        let there = w.ok(&agent("Ann").process("Ann 2"), "ledger_note", json!({ "text": "of the other" }));
        assert_eq!((&there["session_id"], &there["identity"]), (&Value::Null, &json!("Ann")));
        w.kill(&agent("Ann"));
        let after = w.ok(&agent("Ann").process("Ann 2"), "ledger_note", json!({ "text": "goes on" }));
        assert_eq!(after["session_id"], own["session_id"]);
    }

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
