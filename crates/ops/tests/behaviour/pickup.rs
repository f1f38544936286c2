//! Picking a baton up, step by step: which one, from whom, and what comes along.

use serde_json::{Value, json};

use crate::world::{STALE, agent, column, list, text};

on_every_backend! {
    fn a_pickup_is_itself_the_call_that_opens_the_session(w) {
        w.leave_baton(&agent("Lola"), "done");
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(w.roster().len(), 1);
        assert_eq!(w.roster()[0]["session_id"], picked["session_id"]);
        assert_eq!(w.deltas("start").len(), 1, "Lola's");
    }

    fn the_newest_wrap_is_meant_where_nothing_is_named(w) {
        w.leave_baton(&agent("Lola"), "older");
        let newer = w.leave_baton(&agent("Rex"), "newer");
        assert_eq!(w.pickup(&agent("Donna"))["baton"]["delta_id"], newer["baton_id"]);
    }

    fn from_session_brings_what_a_session_held_that_fell_silent(w) {
        let left = w.leave_baton(&agent("Ann"), "the cart");
        let hal = agent("Hal");
        let held = w.pickup(&hal);
        w.ok(&hal, "session_checkpoint", json!({ "summary": "half of it" }));
        w.advance(2 * 3_600_000);
        let silent = json!({ "from_session": held["session_id"] });
        let picked = w.ok(&agent("Donna"), "hd_exec", silent);
        assert_eq!(picked["baton"]["delta_id"], left["baton_id"]);
        assert!(picked["recovered"].to_string().contains("half of it"), "{picked:#}");
    }

    fn what_a_silent_session_saved_is_named_although_a_baton_waits(w) {
        let ann = w.start(&agent("Ann"));
        w.checkpoint(&agent("Ann"), "the parser is half done");
        w.advance(2 * 3_600_000);
        w.leave_baton(&agent("Lola"), "the cart");
        let id = text(&ann, "session_id");
        let command = format!("Ann left work without a baton: `baton pickup --from-session {}`", &id[..13]);
        let status = w.ok(&agent("Hal"), "session_status", json!({}));
        assert!(status["reminders"].to_string().contains(&command), "{status:#}");
        let begun = w.start(&agent("Hal"));
        assert!(begun["reminders"].to_string().contains(&command), "{begun:#}");
        let picked = w.pickup(&agent("Donna"));
        assert!(picked["rules_reminders"].to_string().contains(&command), "{picked:#}");
        let status = w.ok(&agent("Hal"), "session_status", json!({}));
        assert!(status["reminders"].to_string().contains(&command), "Donna brought another baton: {status:#}");
        let from = json!({ "from_session": id });
        w.no_trace(&agent("Donna"), "hd_exec", from.clone(), "already_holding");
        let taken = w.ok(&agent("Hal"), "hd_exec", from);
        assert!(taken["recovered"].to_string().contains("the parser is half done"), "{taken:#}");
        assert_eq!(list(&taken["recovered"]["sessions"]), [json!(id)]);
        let status = w.ok(&agent("Rex"), "session_status", json!({}));
        assert!(!status["reminders"].to_string().contains("--from-session"), "{status:#}");
    }

    fn what_a_session_saved_whose_name_begins_again_is_named_until_that_wraps(w) {
        let ann = w.start(&agent("Ann"));
        w.checkpoint(&agent("Ann"), "the parser is half done");
        w.advance(2 * 3_600_000);
        w.leave_baton(&agent("Lola"), "the cart");
        let again = agent("Ann").process("another");
        let begun = w.start(&again);
        assert_ne!(begun["session_id"], ann["session_id"]);
        let command = format!("--from-session {}", &text(&ann, "session_id")[..13]);
        assert!(begun["reminders"].to_string().contains(&command), "{begun:#}");
        w.ok(&again, "session_wrap", json!({ "summary": "all of it" }));
        let status = w.ok(&agent("Hal"), "session_status", json!({}));
        assert!(!status["reminders"].to_string().contains(&command), "{status:#}");
    }

    fn from_session_means_the_newest_wrap_of_that_session(w) {
        let older = w.leave_baton(&agent("Lola"), "older");
        w.leave_baton(&agent("Rex"), "newer");
        let input = json!({ "from_session": older["session_id"] });
        let picked = w.ok(&agent("Donna"), "hd_exec", input);
        assert_eq!(picked["baton"]["delta_id"], older["baton_id"]);
        assert_eq!(picked["predecessor_session_id"], older["session_id"]);
    }

    fn from_a_session_that_never_wrapped_there_is_no_baton(w) {
        w.leave_baton(&agent("Lola"), "done");
        let ended = w.start(&agent("Rex"));
        w.end(&agent("Rex"));
        let picked = w.ok(&agent("Donna"), "hd_exec", json!({ "from_session": ended["session_id"] }));
        assert!(picked["baton"].is_null());
        assert_eq!(column(&list(&picked["warnings"]), "kind"), ["no_baton"]);
        assert_eq!(picked["predecessor_session_id"], ended["session_id"]);
    }

    fn a_session_that_nobody_knows_is_refused(w) {
        w.no_trace(&agent("Donna"), "hd_exec", json!({ "from_session": "ffffffff" }), "session_unknown");
        w.no_trace(&agent("Donna").project("nowhere"), "hd_exec", json!({}), "project_unknown");
    }

    fn a_baton_is_named_by_its_id_or_a_unique_prefix(w) {
        let wrap = w.leave_baton(&agent("Lola"), "first");
        w.advance(100_000);
        w.leave_baton(&agent("Lola"), "second");
        let id = text(&wrap, "baton_id");
        let picked = w.ok(&agent("Donna"), "hd_exec", json!({ "handoff_id": &id[..13] }));
        assert_eq!(picked["baton"]["delta_id"], id.as_str());
        let refusal = w.no_trace(&agent("Rex"), "hd_exec", json!({ "handoff_id": &id[..6] }), "id_ambiguous");
        assert_eq!(list(&refusal["candidates"]).len(), 2);
        w.no_trace(&agent("Rex"), "hd_exec", json!({ "handoff_id": "ffffffff" }), "baton_unknown");
        w.no_trace(&agent("Rex"), "hd_exec", json!({ "handoff_id": "" }), "baton_unknown");
        w.no_trace(&agent("Rex"), "hd_exec", json!({ "handoff_id": "ä%_'" }), "baton_unknown");
    }

    fn a_baton_of_another_project_is_unknown_here(w) {
        w.register("q");
        let lola = agent("Lola").project("q");
        let there = w.leave_baton(&lola, "done");
        let input = json!({ "handoff_id": there["baton_id"] });
        w.no_trace(&agent("Donna"), "hd_exec", input, "baton_unknown");
        assert!(w.pickup(&agent("Donna"))["baton"].is_null());
    }

    fn without_a_baton_the_newest_other_session_is_the_predecessor(w) {
        let rex = w.start(&agent("Rex"));
        w.end(&agent("Rex"));
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(picked["predecessor_session_id"], rex["session_id"]);
        assert_eq!(w.newest("pickup")["inherited_from"], rex["session_id"]);
    }

    fn a_stale_predecessor_does_not_block_and_is_released(w) {
        let rex = w.start(&agent("Rex"));
        w.advance(STALE);
        w.no_trace(&agent("Donna"), "hd_exec", json!({}), "predecessor_active");
        w.advance(1);
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(picked["predecessor_session_id"], rex["session_id"]);
        assert_eq!(w.newest("release")["body"]["reason"], "stale");
        assert_eq!(w.newest("release")["session_id"], rex["session_id"]);
    }

    fn force_releases_a_predecessor_at_work_and_leaves_it_a_signal(w) {
        let lola = w.start(&agent("Lola"));
        w.checkpoint(&agent("Lola"), "half way");
        let input = json!({ "from_session": lola["session_id"], "force": true, "why": "urgent" });
        let picked = w.ok(&agent("Donna"), "hd_exec", input);
        assert!(picked["baton"].is_null());
        assert_eq!(picked["predecessor_session_id"], lola["session_id"]);
        let release = w.newest("release");
        assert_eq!(release["session_id"], lola["session_id"]);
        assert_eq!(release["body"]["reason"], "preempted_by_pickup");
        assert_eq!((release["body"]["released_by"].clone(), release["body"]["why"].clone()), (json!("Donna"), json!("urgent")));
        let signals = w.pending(&agent("Lola"));
        assert_eq!(signals.len(), 1);
        assert_eq!(signals[0]["from"], "Donna");
        assert!(text(&signals[0], "subject").contains("Donna took over"));
        assert_eq!(signals[0]["body"], "urgent");
    }

    fn a_held_baton_is_refused_with_its_holder_and_the_other_open_ones(w) {
        let other = w.leave_baton(&agent("Lola"), "older");
        let held = w.leave_baton(&agent("Lola"), "newer");
        let donna = w.pickup(&agent("Donna"));
        assert_eq!(donna["baton"]["delta_id"], held["baton_id"]);
        let refusal = w.no_trace(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        assert_eq!(refusal["baton_id"], held["baton_id"]);
        assert_eq!(refusal["holder"]["identity"], "Donna");
        assert_eq!(refusal["holder"]["session_id"], donna["session_id"]);
        assert_eq!(column(&list(&refusal["open_batons"]), "baton_id"), [text(&other, "baton_id")]);
        let command = format!("pick up another: `baton pickup --handoff {}` (\"older\")", &text(&other, "baton_id")[..13]);
        assert!(text(&refusal, "hint").starts_with(&command), "{refusal:#}");
        assert_eq!(w.baton_state(&text(&held, "baton_id")).as_deref(), Some("held"));
    }

    fn a_held_baton_goes_to_force_and_its_holder_gets_a_signal(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let donna = w.pickup(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half way");
        let rex = w.force(&agent("Rex"), "Donna is on leave");
        assert_eq!(rex["baton"]["delta_id"], wrap["baton_id"]);
        let release = w.newest("release");
        assert_eq!(release["session_id"], donna["session_id"]);
        assert_eq!(release["body"]["reason"], "preempted_by_pickup");
        assert_eq!(release["body"]["successor_session_id"], rex["session_id"]);
        assert_eq!((release["body"]["released_by"].clone(), release["body"]["why"].clone()), (json!("Rex"), json!("Donna is on leave")));
        let pickup = w.newest("pickup");
        assert_eq!((pickup["body"]["forced"].clone(), pickup["body"]["why"].clone()), (json!(true), json!("Donna is on leave")));
        assert_eq!(column(&w.pending(&agent("Donna")), "from"), ["Rex"]);
        assert!(w.pending(&agent("Lola")).is_empty(), "who had wrapped is not told");
        assert_eq!(column(&w.roster(), "identity"), ["Rex"]);
    }

    fn a_holder_is_protected_up_to_the_cut_off_and_recovered_from_beyond(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let donna = w.pickup(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "first");
        w.ok(&agent("Donna"), "ledger_note", json!({ "text": "found it" }));
        let last = w.ok(&agent("Donna"), "session_checkpoint", json!({ "summary": "second", "state": { "at": 2 } }));
        w.advance(STALE);
        w.no_trace(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        w.advance(1);
        let rex = w.pickup(&agent("Rex"));
        assert_eq!(rex["baton"]["delta_id"], wrap["baton_id"]);
        assert_eq!(rex["predecessor_session_id"], donna["session_id"]);
        let recovered = &rex["recovered"];
        assert_eq!(recovered["session"], donna["session_id"]);
        assert_eq!(recovered["last_checkpoint"]["delta_id"], last["delta_id"]);
        assert_eq!(recovered["last_checkpoint"]["body"]["state"], json!({ "at": 2 }));
        assert_eq!(column(&list(&recovered["deltas"]), "kind"), ["pickup", "checkpoint", "note", "checkpoint"]);
        assert!(text(recovered, "note").contains("recovered"));
        assert_eq!(w.newest("release")["body"]["reason"], "stale");
        let pickup = w.newest("pickup");
        assert_eq!(pickup["body"]["predecessor_session_id"], donna["session_id"]);
        assert_eq!(pickup["body"]["inherited_from_wrap_delta_id"], wrap["baton_id"]);
        assert_eq!(pickup["inherited_from"], donna["session_id"]);
    }

    fn what_is_recovered_is_all_that_its_holder_left(w) {
        w.start(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "before");
        w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "after");
        w.advance(STALE + 1);
        let rex = w.pickup(&agent("Rex"));
        assert_eq!(column(&list(&rex["recovered"]["deltas"]), "kind"), ["start", "checkpoint", "pickup", "checkpoint"]);
        assert_eq!(rex["recovered"]["last_checkpoint"]["body"]["summary"], "after");
    }

    fn an_open_baton_recovers_nothing(w) {
        w.leave_baton(&agent("Lola"), "done");
        assert_eq!(w.pickup(&agent("Donna")).get("recovered"), None);
    }

    fn an_own_open_session_becomes_the_picker(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let donna = w.start(&agent("Donna"));
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(picked["session_id"], donna["session_id"]);
        assert_eq!(w.roster().len(), 1);
        assert_eq!(w.newest("pickup")["session_id"], donna["session_id"]);
        assert_eq!(w.newest("pickup")["inherited_from"], wrap["session_id"]);
        assert_eq!(w.newest("pickup")["thread_id"], w.newest("wrap")["thread_id"]);
        assert_eq!(w.checkpoint(&agent("Donna"), "s")["session_id"], donna["session_id"]);
        assert_eq!(w.newest("checkpoint")["inherited_from"], wrap["session_id"]);
    }

    fn a_bot_that_was_started_here_becomes_the_picker_and_the_next_one_is_refused(w) {
        w.leave_baton(&agent("Lola"), "first");
        let bot = agent("Bot").process("shell");
        let started = w.start(&bot);
        assert_eq!(w.pickup(&bot)["session_id"], started["session_id"]);
        w.no(&bot, "hd_exec", json!({}), "baton_claimed");
        w.wrap(&bot, "carried on");
        assert_eq!(w.pickup(&agent("Rex"))["baton"]["summary"], "carried on");
    }

    fn a_bot_of_another_process_is_not_taken_for_the_caller(w) {
        w.leave_baton(&agent("Lola"), "first");
        let started = w.start(&agent("Bot").process("one"));
        assert_ne!(w.pickup(&agent("Bot").process("two"))["session_id"], started["session_id"]);
    }

    fn a_named_own_session_becomes_the_picker(w) {
        w.leave_baton(&agent("Lola"), "done");
        let bot = w.start(&agent("Bot"));
        let picked = w.ok(&agent("Bot"), "hd_exec", json!({ "session": bot["session_id"] }));
        assert_eq!(picked["session_id"], bot["session_id"]);
        assert_eq!(w.roster().len(), 1);
    }

    fn the_holder_that_asks_again_gets_the_same_answer(w) {
        w.leave_baton(&agent("Lola"), "done");
        let first = w.pickup(&agent("Donna"));
        let before = w.ledger();
        w.leave_baton(&agent("Rex"), "newer");
        let again = w.pickup(&agent("Donna"));
        for field in ["session_id", "predecessor_session_id", "pickup_delta_id", "baton", "inherited_chain"] {
            assert_eq!(again[field], first[field], "{field}");
        }
        assert_eq!(w.ledger()[..before.len()], before);
        assert_eq!(w.deltas("pickup").len(), 1);
    }

    fn the_holder_that_asks_again_by_its_session_alone_gets_the_same_answer(w) {
        w.leave_baton(&agent("Lola"), "done");
        let first = w.pickup(&agent("Donna"));
        w.leave_baton(&agent("Rex"), "newer");
        let mut face = agent("Donna").in_session(&first);
        face.0.identity = None;
        let again = w.pickup(&face);
        assert_eq!((again["session_id"].clone(), again["baton"].clone()), (first["session_id"].clone(), first["baton"].clone()));
        assert_eq!(again["identity"], "Donna");
    }

    fn the_holder_that_asks_again_gets_what_was_recovered_too(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half way");
        w.advance(STALE + 1);
        let first = w.pickup(&agent("Rex"));
        let again = w.pickup(&agent("Rex"));
        assert_eq!(again["recovered"], first["recovered"]);
        assert_eq!(again["predecessor_session_id"], first["predecessor_session_id"]);
    }

    fn after_a_reconnect_the_holder_gets_the_same_baton_and_pickup(w) {
        w.leave_baton(&agent("Lola"), "done");
        let first = w.pickup(&agent("Donna"));
        w.kill(&agent("Donna"));
        let donna = agent("Donna").process("2");
        w.start(&donna);
        let again = w.pickup(&donna);
        assert_eq!(again["baton"], first["baton"]);
        assert_eq!(again["pickup_delta_id"], first["pickup_delta_id"]);
    }

    fn a_session_that_holds_one_baton_takes_no_other(w) {
        let held = w.leave_baton(&agent("Lola"), "first");
        w.pickup(&agent("Donna"));
        let other = w.leave_baton(&agent("Lola"), "second");
        let input = json!({ "handoff_id": other["baton_id"] });
        let refusal = w.no_trace(&agent("Donna"), "hd_exec", input, "already_holding");
        assert_eq!(refusal["baton_id"], held["baton_id"]);
    }

    fn a_dry_run_answers_who_holds_another_baton_and_says_that_a_pickup_would_be_refused(w) {
        let held = w.leave_baton(&agent("Lola"), "first");
        w.pickup(&agent("Donna"));
        let other = w.leave_baton(&agent("Lola"), "second");
        let silent = w.start(&agent("Ann"));
        w.checkpoint(&agent("Ann"), "half");
        w.advance(STALE + 1);
        w.ok(&agent("Donna"), "session_heartbeat", json!({}));
        for (name, look) in [("handoff_id", &other["baton_id"]), ("from_session", &silent["session_id"])] {
            let shown = w.ok(&agent("Donna"), "hd_exec", json!({ name: look, "dry_run": true }));
            let warning = &shown["warnings"][0];
            assert_eq!(warning["kind"], "already_holding", "{shown:#}");
            let short = &text(&held, "baton_id")[..13];
            let message = text(warning, "message");
            assert!(message.starts_with("a pickup would be refused") && message.contains(short), "{message}");
        }
        let shown = w.ok(&agent("Donna"), "hd_exec", json!({ "handoff_id": other["baton_id"], "dry_run": true }));
        assert_eq!((&shown["baton"]["summary"], w.baton_state(&text(&other, "baton_id")).as_deref()), (&json!("second"), Some("open")));
        let own = w.ok(&agent("Donna"), "hd_exec", json!({ "dry_run": true }));
        assert_eq!((&own["baton"]["summary"], own["warnings"].to_string().contains("already_holding")), (&json!("first"), false));
    }

    fn an_addressed_baton_is_passed_over_by_others(w) {
        let open = w.leave_baton(&agent("Lola"), "for anybody");
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "for Donna", "to": "Donna" }));
        assert_eq!(w.pickup(&agent("Rex"))["baton"]["delta_id"], open["baton_id"]);
        assert_eq!(w.pickup(&agent("DONNA"))["baton"]["summary"], "for Donna");
    }

    fn an_addressed_baton_alone_is_no_baton_for_others_but_they_hear_of_it(w) {
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "s", "to": "Donna" }));
        let picked = w.ok(&agent("Rex"), "hd_exec", json!({ "dry_run": true }));
        assert!(picked["baton"].is_null());
        let warning = &picked["warnings"][0];
        assert_eq!(warning["kind"], "no_baton");
        assert!(text(warning, "message").contains("1 wait"), "{warning}");
    }

    fn an_addressed_baton_goes_to_others_by_its_id_or_with_force(w) {
        w.start(&agent("Lola"));
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "s", "to": "Donna" }));
        let from = json!({ "from_session": wrap["session_id"] });
        w.no_trace(&agent("Rex"), "hd_exec", from, "baton_addressed");
        let id = json!({ "handoff_id": wrap["baton_id"], "dry_run": true });
        assert_eq!(w.ok(&agent("Rex"), "hd_exec", id)["baton"]["delta_id"], wrap["baton_id"]);
        assert_eq!(w.force(&agent("Rex"), "Donna left")["baton"]["delta_id"], wrap["baton_id"]);
    }

    fn an_own_open_session_finds_what_is_addressed_to_its_name(w) {
        let donna = w.start(&agent("Donna"));
        w.start(&agent("Lola"));
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "s", "to": "Donna" }));
        let mut face = agent("Donna").in_session(&donna);
        face.0.identity = None;
        assert_eq!(w.pickup(&face)["baton"]["delta_id"], wrap["baton_id"]);
    }

    fn a_session_does_not_inherit_from_itself(w) {
        let donna = w.start(&agent("Donna"));
        let picked = w.ok(&agent("Donna"), "hd_exec", json!({ "from_session": donna["session_id"] }));
        assert_eq!((picked["baton"].clone(), picked["predecessor_session_id"].clone()), (Value::Null, Value::Null));
        assert_eq!(w.newest("pickup")["inherited_from"], Value::Null);
    }

    fn a_baton_for_a_role_is_taken_by_its_id(w) {
        w.start(&agent("Lola"));
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "s", "role": "testing" }));
        assert!(w.ok(&agent("Rex"), "hd_exec", json!({ "dry_run": true }))["baton"].is_null());
        let picked = w.ok(&agent("Rex"), "hd_exec", json!({ "handoff_id": wrap["baton_id"] }));
        assert_eq!(picked["baton"]["delta_id"], wrap["baton_id"]);
    }

    fn a_thread_is_handed_on_three_times_and_stays_readable(w) {
        let a = w.leave_baton(&agent("Ann"), "one");
        let thread = w.newest("wrap")["thread_id"].clone();
        let b = w.pickup(&agent("Ben"));
        w.checkpoint(&agent("Ben"), "two");
        w.wrap(&agent("Ben"), "two");
        let c = w.pickup(&agent("Cid"));
        w.ok(&agent("Cid"), "ledger_note", json!({ "text": "three" }));
        w.wrap(&agent("Cid"), "three");
        assert_eq!(column(&list(&c["inherited_chain"]), "identity"), ["Ben", "Ann"]);
        assert_eq!(column(&list(&c["inherited_chain"]), "session_id"), [text(&b, "session_id"), text(&a, "session_id")]);
        assert_eq!(column(&list(&b["inherited_chain"]), "identity"), ["Ann"]);
        for delta in w.ledger().iter().filter(|d| d.get("session_id").is_some_and(|id| !id.is_null())) {
            let from = match text(delta, "identity").as_str() {
                "Ann" => &Value::Null,
                "Ben" => &a["session_id"],
                _ => &b["session_id"],
            };
            assert_eq!(delta["inherited_from"], *from, "{delta:#}");
            assert_eq!(delta["thread_id"], thread, "{delta:#}");
        }
    }

    fn fresh_work_is_a_thread_of_its_own(w) {
        w.leave_baton(&agent("Ann"), "one");
        w.leave_baton(&agent("Ann"), "two");
        let threads = column(&w.deltas("wrap"), "thread_id");
        assert_ne!(threads[0], threads[1]);
    }
}
