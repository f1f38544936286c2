//! What a picker is given besides the baton; previews; answers to a request that is repeated.

use serde_json::{Value, json};

use crate::world::{STALE, agent, column, list, text};

const HOUR: i64 = 3_600_000;

on_every_backend! {
    fn the_answer_has_every_part(w) {
        w.leave_baton(&agent("Lola"), "done");
        let picked = w.pickup(&agent("Donna"));
        for part in [
            "session_id", "predecessor_session_id", "baton", "pickup_delta_id", "context", "recent_deltas", "todos", "adrs",
            "wip", "pending_signals", "controller_status", "instruction", "rules_reminders", "warnings", "inherited_chain",
        ] {
            assert!(picked.get(part).is_some_and(|value| !value.is_null()), "{part}");
        }
    }

    fn the_context_is_project_phase_and_focus(w) {
        w.ok(&agent("Lola"), "project_set", json!({ "phase": "build", "focus": ["parser", "lexer"] }));
        let picked = w.pickup(&agent("Donna"));
        let context = json!({ "project_id": "p", "phase": "build", "focus": ["parser", "lexer"] });
        assert_eq!(picked["context"], context);
    }

    fn a_pickup_brings_the_newest_few_and_names_what_is_left_out(w) {
        let lola = agent("Lola");
        for n in 0..30 {
            let long = "x".repeat(400);
            w.ok(&lola, "task_create", json!({ "title": format!("task {n}"), "description": long }));
            w.ok(&lola, "ledger_note", json!({ "kind": "decision", "text": format!("d{n}"), "why": "w" }));
            w.pickup(&lola);
            w.wrap(&lola, "passed on");
            w.advance(1);
        }
        for n in 0..9 {
            w.start(&agent(&format!("Other{n}")));
        }
        let brief = w.pickup(&agent("Donna"));
        // Who came and went is told by the chain, decisions by themselves.
        assert_eq!(brief["has_more"], json!(["todos", "adrs", "wip", "controller_status", "inherited_chain"]));
        let size = |bundle: &Value| bundle.to_string().len() - bundle["baton"].to_string().len();
        assert!(size(&brief) < 5_000, "{}: {brief:#}", size(&brief));
        let full = w.ok(&agent("Donna"), "hd_exec", json!({ "full": true }));
        assert_eq!(full["session_id"], brief["session_id"]);
        let long = |key: &str| list(&full[key]).len() > list(&brief[key]).len();
        for key in ["recent_deltas", "todos", "adrs", "wip", "controller_status", "inherited_chain"] {
            assert!(long(key), "{key}");
        }
    }

    fn recent_deltas_are_of_the_last_day(w) {
        w.start(&agent("Lola"));
        for n in 0..12 {
            w.checkpoint(&agent("Lola"), &format!("n{n}"));
        }
        w.wrap(&agent("Lola"), "done");
        let recent = list(&w.pickup(&agent("Donna"))["recent_deltas"]);
        assert_eq!(recent.len(), 3);
        assert_eq!((&recent[0]["kind"], &recent[0]["summary"]), (&json!("checkpoint"), &json!("n11")), "the newest first");
        assert!(recent.iter().all(|row| row.get("body").is_none()));
        w.advance(24 * HOUR);
        assert_eq!(list(&w.pickup(&agent("Donna"))["recent_deltas"]).len(), 3, "a day old is of the last day");
        w.advance(1);
        assert_eq!(list(&w.pickup(&agent("Donna"))["recent_deltas"]).len(), 0);
    }

    fn todos_are_open_tasks_those_of_the_batons_focus_first(w) {
        let lola = agent("Lola");
        for (title, priority, labels) in [("a", 0, json!([])), ("b", 4, json!(["parser"])), ("c", 1, json!(["x"]))] {
            w.ok(&lola, "task_create", json!({ "title": title, "priority": priority, "labels": labels }));
        }
        let closed = w.ok(&lola, "task_create", json!({ "title": "d", "labels": ["parser"] }));
        w.ok(&lola, "task_update", json!({ "id": closed["id"], "status": "closed" }));
        w.start(&lola);
        w.ok(&lola, "session_wrap", json!({ "summary": "s", "focus": ["parser"] }));
        assert_eq!(column(&list(&w.pickup(&agent("Donna"))["todos"]), "title"), ["b", "a", "c"]);
    }

    fn the_focus_is_read_from_a_packet_with_a_number_that_no_type_holds(w) {
        let lola = agent("Lola");
        w.ok(&lola, "task_create", json!({ "title": "a", "priority": 0 }));
        w.ok(&lola, "task_create", json!({ "title": "b", "labels": ["parser"] }));
        w.start(&lola);
        let packet = r#"{"summary":"s","focus":["parser"],"n":1e400}"#;
        w.ok(&lola, "session_wrap", json!({ "packet": packet }));
        assert_eq!(column(&list(&w.pickup(&agent("Donna"))["todos"]), "title"), ["b", "a"]);
    }

    fn adrs_are_the_last_decisions(w) {
        for n in 0..7 {
            let note = json!({ "kind": "decision", "text": format!("d{n}"), "why": "w", "rejected": ["x"] });
            w.ok(&agent("Lola"), "ledger_note", note);
        }
        let adrs = list(&w.pickup(&agent("Donna"))["adrs"]);
        let what: Vec<String> = adrs.iter().map(|adr| text(&adr["body"], "what")).collect();
        assert_eq!(what, ["d6", "d5"]);
        assert_eq!((adrs[0]["body"]["why"].clone(), adrs[0]["body"]["rejected"].clone()), (json!("w"), json!(["x"])));
    }

    fn work_in_progress_is_tasks_and_sessions_that_have_not_wrapped(w) {
        w.leave_baton(&agent("Lola"), "done");
        let task = w.ok(&agent("Rex"), "task_create", json!({ "title": "t" }));
        w.ok(&agent("Rex"), "task_update", json!({ "id": task["id"], "status": "in_progress" }));
        let rex = w.start(&agent("Rex"));
        let wip = list(&w.pickup(&agent("Donna"))["wip"]);
        assert_eq!(wip.len(), 2);
        assert_eq!(wip[0]["task"], task["id"]);
        assert_eq!((wip[1]["session"].clone(), wip[1]["live"].clone()), (rex["session_id"].clone(), json!(true)));
    }

    fn what_a_pickup_says_of_sessions_does_not_depend_on_how_many_it_shows(w) {
        w.leave_baton(&agent("Lola"), "done");
        let copy = |who: &str| agent(who).at("/repos/p", Some("/repos/p"));
        let [rex, ann] = ["Rex", "Ann"].map(|who| {
            w.advance(1);
            w.start(&agent(who))
        });
        w.advance(1);
        w.start(&agent("Far").machine("m9"));
        w.advance(STALE + 1);
        let beside = w.start(&copy("Beside"));
        w.start(&agent("Ended"));
        w.kill(&agent("Ended"));
        w.start(&agent("Lee").machine("m9"));
        let picked = w.pickup(&copy("Donna"));
        assert_eq!(column(&list(&picked["controller_status"]), "session_id"), [&rex, &ann].map(|one| text(one, "session_id")));
        assert_eq!(list(&picked["wip"]).len(), 5, "of six others, besides no task");
        let left_out = picked["has_more"].to_string();
        assert!(left_out.contains("controller_status") && left_out.contains("wip"), "{left_out}");
        let reminders = picked["rules_reminders"].to_string();
        assert!(reminders.contains("4 sessions went silent"), "two on m1, one on m9, and one that ended: {reminders}");
        let id = text(&beside, "session_id");
        assert!(reminders.contains("works in this working copy too") && reminders.contains(&id[..8]), "{reminders}");
        let full = w.ok(&copy("Donna"), "hd_exec", json!({ "full": true }));
        assert_eq!(list(&full["controller_status"]).len(), 7);
        assert_eq!(full["rules_reminders"], picked["rules_reminders"]);
    }

    fn pending_signals_come_along_and_wait_until_they_are_marked(w) {
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "hello" }));
        w.leave_baton(&agent("Lola"), "done");
        let picked = w.pickup(&agent("Donna"));
        let signals = list(&picked["pending_signals"]);
        assert_eq!(column(&signals, "subject"), ["hello"]);
        assert_eq!(list(&w.pickup(&agent("Donna"))["pending_signals"]), signals, "until it is written out");
        w.ok(&agent("Donna"), "signal_delivered", json!({ "message_ids": column(&signals, "message_id") }));
        assert_eq!(w.pickup(&agent("Donna"))["pending_signals"], json!([]));
    }

    fn the_answer_to_a_retry_brings_the_messages_of_the_first(w) {
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "hello" }));
        w.leave_baton(&agent("Lola"), "done");
        let pickup = json!({ "request_id": "r" });
        let first = list(&w.ok(&agent("Donna"), "hd_exec", pickup.clone())["pending_signals"]);
        w.ok(&agent("Donna"), "signal_delivered", json!({ "message_ids": column(&first, "message_id") }));
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "later" }));
        let again = w.ok(&agent("Donna"), "hd_exec", pickup.clone());
        assert_eq!(column(&list(&again["pending_signals"]), "subject"), ["hello"], "the first answer may be lost");
        w.ok(&agent("Ben"), "hd_exec", json!({ "force": true, "why": "urgent" }));
        let over = w.ok(&agent("Donna"), "hd_exec", pickup);
        assert_eq!(column(&list(&over["pending_signals"]), "subject"), ["hello"], "it is delivered, and waits no more");
        assert_eq!(column(&list(&w.ok(&agent("Donna"), "mail_inbox", json!({}))["items"]), "subject")[..1], ["later"]);
    }

    fn the_roster_shows_everybody_at_work(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.start(&agent("Rex"));
        w.advance(100_000);
        let roster = list(&w.pickup(&agent("Donna"))["controller_status"]);
        assert_eq!(column(&roster, "identity"), ["Rex", "Donna"]);
        assert_eq!(roster.iter().map(|s| s["live"].clone()).collect::<Vec<_>>(), [json!(false), json!(true)]);
        assert_eq!(roster[1]["last_verb"], "hd_exec");
    }

    fn a_preview_writes_nothing_at_all_and_drains_nothing(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "hello" }));
        let before = w.everything();
        let shown = w.ok(&agent("Donna"), "hd_exec", json!({ "dry_run": true, "request_id": "r1" }));
        assert_eq!(w.everything(), before);
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(shown["dry_run"], true);
        assert_eq!((shown["session_id"].clone(), shown["pickup_delta_id"].clone()), (Value::Null, Value::Null));
        for part in ["baton", "predecessor_session_id", "inherited_chain", "pending_signals", "todos", "context"] {
            assert_eq!(shown[part], picked[part], "{part}");
        }
        assert_eq!(w.pending(&agent("Donna")).len(), 1);
    }

    fn a_preview_of_a_forced_pickup_writes_nothing_either(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half way");
        let before = w.everything();
        let shown = w.ok(&agent("Rex"), "hd_exec", json!({ "dry_run": true, "force": true }));
        assert_eq!(w.everything(), before);
        assert_eq!(shown["recovered"]["last_checkpoint"]["body"]["summary"], "half way");
        w.advance(STALE + 1);
        let before = w.everything();
        w.ok(&agent("Rex"), "hd_exec", json!({ "dry_run": true }));
        assert_eq!(w.everything(), before);
    }

    fn a_preview_is_refused_like_the_real_thing(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        w.no_trace(&agent("Rex"), "hd_exec", json!({ "dry_run": true }), "baton_claimed");
        w.no_trace(&agent("Rex").project("nowhere"), "hd_exec", json!({ "dry_run": true }), "project_unknown");
    }

    fn a_preview_answers_one_whose_name_is_at_work_elsewhere(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.ok(&agent("Donna"), "session_start", json!({}));
        let before = (w.deltas("pickup").len(), w.roster().len());
        let elsewhere = agent("Donna").machine("m2");
        let seen = w.ok(&elsewhere, "hd_exec", json!({ "dry_run": true }));
        assert_eq!(seen["warnings"][0]["kind"], "identity_conflict", "{seen:#}");
        assert!(seen["baton"].is_object() && seen["session_id"].is_null(), "{seen:#}");
        assert_eq!((w.deltas("pickup").len(), w.roster().len()), before);
        w.no_trace(&elsewhere, "hd_exec", json!({}), "identity_conflict");
    }

    fn the_same_request_picks_up_once(w) {
        w.leave_baton(&agent("Lola"), "done");
        let input = json!({ "request_id": "r1" });
        let first = w.ok(&agent("Bot"), "hd_exec", input.clone());
        w.leave_baton(&agent("Rex"), "newer");
        let again = w.ok(&agent("Bot"), "hd_exec", input);
        for field in ["session_id", "pickup_delta_id", "predecessor_session_id", "baton"] {
            assert_eq!(again[field], first[field], "{field}");
        }
        assert_eq!(w.deltas("pickup").len(), 1);
        assert_eq!(w.roster().len(), 1);
    }

    fn a_late_retry_of_a_repeated_pickup_takes_no_other_baton(w) {
        w.leave_baton(&agent("Lola"), "one");
        w.pickup(&agent("Donna"));
        let input = json!({ "request_id": "r1" });
        let again = w.ok(&agent("Donna"), "hd_exec", input.clone());
        w.wrap(&agent("Donna"), "two");
        let late = w.ok(&agent("Donna"), "hd_exec", input);
        assert_eq!((late["session_id"].clone(), late["baton"].clone()), (again["session_id"].clone(), again["baton"].clone()));
        assert_eq!(w.deltas("pickup").len(), 1);
    }

    fn a_request_id_belongs_to_one_project(w) {
        w.register("q");
        let input = json!({ "request_id": "r1" });
        let here = w.ok(&agent("Donna"), "session_start", input.clone());
        let there = w.ok(&agent("Donna").project("q"), "session_start", input);
        assert_ne!(there["session_id"], here["session_id"]);
    }

    fn a_request_id_is_one_line(w) {
        w.no_trace(&agent("Donna"), "session_start", json!({ "request_id": "a\nb" }), "label_invalid");
        w.no_trace(&agent("Donna"), "session_start", json!({ "request_id": "" }), "label_invalid");
    }
}
