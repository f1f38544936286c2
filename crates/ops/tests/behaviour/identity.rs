//! Who is asking: names, the same-identity rule, and both cut-offs of liveness.

use serde_json::{Value, json};

use crate::world::{LIVE, STALE, World, agent, column, list};

fn live(w: &mut World) -> Value {
    w.roster()[0]["live"].clone()
}

on_every_backend! {
    fn the_argument_wins_over_the_environment(w) {
        let answer = w.ok(&agent("Lola"), "session_start", json!({ "identity": "Donna" }));
        assert_eq!(answer["identity"], "Donna");
    }

    fn the_environment_names_the_identity_where_no_argument_does(w) {
        assert_eq!(w.start(&agent("Lola"))["identity"], "Lola");
    }

    fn whoever_gives_no_name_is_bot(w) {
        let answer = w.ok(&agent("x").nameless(), "session_start", json!({ "project": "p" }));
        assert_eq!(answer["identity"], "Bot");
    }

    fn bot_may_be_active_any_number_of_times(w) {
        for process in ["a", "b", "c"] {
            w.start(&agent("Bot").process(process));
        }
        assert_eq!(w.roster().len(), 3);
    }

    fn names_are_compared_without_case_and_kept_as_first_given(w) {
        let first = w.start(&agent("Donna"));
        let again = w.ok(&agent("Donna"), "session_start", json!({ "identity": "DONNA" }));
        assert_eq!(again["session_id"], first["session_id"]);
        assert_eq!(again["identity"], "Donna");
        w.no(&agent("donna").machine("m2"), "session_start", json!({}), "identity_conflict");
        w.wrap(&agent("Donna"), "done");
        let later = w.start(&agent("dOnna").process("later"));
        assert_eq!(later["identity"], "Donna", "as first given, in an earlier session");
        assert_eq!(w.newest("start")["identity"], "Donna");
    }

    fn a_name_that_could_break_a_line_is_refused_before_anything_is_written(w) {
        let donna = w.start(&agent("Donna"));
        for name in ["Donna\n", "a b", "", "-x", "ä"] {
            for (verb, mut input) in [
                ("session_start", json!({})),
                ("session_checkpoint", json!({ "summary": "s" })),
                ("session_wrap", json!({ "summary": "s" })),
                ("session_end", json!({})),
                ("hd_exec", json!({})),
                ("ledger_note", json!({ "text": "t" })),
                ("signal_send", json!({ "to": "Lola", "subject": "s" })),
                ("task_create", json!({ "title": "t" })),
                ("project_set", json!({ "phase": "build" })),
                ("handoff_create", json!({ "to_project_id": "q", "subject": "s" })),
            ] {
                input["identity"] = json!(name);
                w.no_trace(&agent("Lola"), verb, input.clone(), "identity_invalid");
                w.no_trace(&agent("Donna").in_session(&donna), verb, input, "identity_invalid");
            }
        }
        w.no_trace(&agent("Donna\n"), "session_start", json!({}), "identity_invalid");
        w.no_trace(&agent("Donna"), "signal_send", json!({ "to": "a\nb", "subject": "s" }), "identity_invalid");
        w.no_trace(&agent("Donna"), "session_wrap", json!({ "summary": "s", "to": "a\nb" }), "identity_invalid");
    }

    fn the_same_process_gets_its_session_back_and_nothing_new_is_written(w) {
        let first = w.start(&agent("Donna"));
        let before = w.ledger();
        w.advance(5_000);
        let again = w.start(&agent("Donna"));
        assert_eq!(again["session_id"], first["session_id"]);
        assert_eq!(again["delta_id"], first["delta_id"]);
        assert_eq!((first["resumed"].clone(), again["resumed"].clone()), (json!(false), json!(true)));
        assert_eq!(w.ledger(), before);
        assert_eq!(w.roster().len(), 1);
    }

    fn another_process_of_a_fresh_identity_is_a_conflict(w) {
        w.start(&agent("Donna"));
        w.no_trace(&agent("Donna").process("2"), "session_start", json!({}), "identity_conflict");
        w.no_trace(&agent("Donna").machine("m2"), "session_start", json!({}), "identity_conflict");
    }

    fn an_old_process_that_is_gone_gives_way_as_a_reconnect(w) {
        let old = w.start(&agent("Donna"));
        w.kill(&agent("Donna"));
        let new = w.start(&agent("Donna").process("2"));
        assert_ne!(new["session_id"], old["session_id"]);
        let release = w.newest("release");
        assert_eq!(release["session_id"], old["session_id"]);
        assert_eq!(release["body"]["reason"], "reconnect");
        assert_eq!(release["body"]["forced"], false);
        assert_eq!(release["body"]["successor_session_id"], new["session_id"]);
        assert_eq!(w.roster().len(), 1);
    }

    fn a_process_of_another_machine_is_never_known_to_be_gone(w) {
        w.start(&agent("Donna"));
        w.kill(&agent("Donna"));
        w.no_trace(&agent("Donna").machine("m2"), "session_start", json!({}), "identity_conflict");
    }

    fn a_reconnect_by_start_keeps_the_baton(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let old = w.pickup(&agent("Donna"));
        w.kill(&agent("Donna"));
        let new = w.start(&agent("Donna").process("2"));
        let me = &w.roster()[0];
        assert_eq!(me["baton_id"], wrap["baton_id"]);
        assert_eq!(me["thread_id"], w.newest("wrap")["thread_id"]);
        assert_eq!(me["inherited_from"], old["session_id"]);
        let refusal = w.no(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        assert_eq!(refusal["holder"]["session_id"], new["session_id"]);
    }

    fn a_reconnect_by_pickup_gets_the_held_baton_again(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half way");
        w.kill(&agent("Donna"));
        let new = w.pickup(&agent("Donna").process("2"));
        assert_eq!(new["baton"]["delta_id"], wrap["baton_id"]);
        assert_eq!(w.newest("release")["body"]["reason"], "reconnect");
        assert_eq!(new["recovered"]["last_checkpoint"]["body"]["summary"], "half way");
        assert_eq!(w.roster().len(), 1);
        assert_eq!(w.roster()[0]["baton_id"], wrap["baton_id"]);
    }

    fn a_reconnect_by_pickup_keeps_its_baton_though_a_newer_one_waits(w) {
        let held = w.leave_baton(&agent("Lola"), "first");
        w.pickup(&agent("Donna"));
        let newer = w.leave_baton(&agent("Rex"), "second");
        w.kill(&agent("Donna"));
        let new = w.pickup(&agent("Donna").process("2"));
        assert_eq!(new["baton"]["delta_id"], held["baton_id"]);
        assert_eq!(w.baton_state(newer["baton_id"].as_str().expect("id")).as_deref(), Some("open"));
        let other = json!({ "handoff_id": newer["baton_id"] });
        w.no_trace(&agent("Donna").process("2"), "hd_exec", other, "already_holding");
    }

    fn a_reconnect_by_pickup_is_not_stopped_by_its_own_dead_session(w) {
        let old = w.start(&agent("Donna"));
        w.kill(&agent("Donna"));
        let new = w.pickup(&agent("Donna").process("2"));
        assert!(new["baton"].is_null());
        assert_eq!(new["predecessor_session_id"], old["session_id"]);
        assert_eq!(w.newest("release")["body"]["reason"], "reconnect");
    }

    fn a_session_is_fresh_up_to_the_cut_off_and_stale_beyond(w) {
        w.start(&agent("Donna"));
        w.advance(STALE);
        assert_eq!(w.roster()[0]["fresh"], true);
        w.no(&agent("Donna").machine("m2"), "session_start", json!({}), "identity_conflict");
        w.advance(1);
        assert_eq!(w.roster()[0]["fresh"], false);
        w.start(&agent("Donna").machine("m2"));
        assert_eq!(w.newest("release")["body"]["reason"], "stale");
    }

    fn a_session_is_live_up_to_the_cut_off_and_not_beyond(w) {
        w.start(&agent("Donna"));
        w.advance(LIVE);
        assert_eq!(live(w), true);
        w.advance(1);
        assert_eq!(live(w), false);
    }

    fn both_cut_offs_are_settings(w) {
        w.limits.stale_after = 10;
        w.limits.live_after = 5;
        w.start(&agent("Donna"));
        w.advance(5);
        assert_eq!(live(w), true);
        w.advance(1);
        assert_eq!(live(w), false);
        w.advance(4);
        w.no(&agent("Donna").machine("m2"), "session_start", json!({}), "identity_conflict");
        w.advance(1);
        w.start(&agent("Donna").machine("m2"));
    }

    fn a_caller_cannot_shorten_what_another_session_was_promised(w) {
        w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        let usual = w.limits;
        w.limits.stale_after = 1_000;
        w.advance(STALE);
        assert_eq!(w.roster()[0]["fresh"], true);
        w.no_trace(&agent("Donna").machine("m2"), "session_start", json!({}), "identity_conflict");
        w.no_trace(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        // One that is patient waits longer than was promised.
        w.limits.stale_after = 2 * STALE;
        w.advance(1);
        w.no_trace(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        w.limits = usual;
        w.pickup(&agent("Rex"));
    }

    fn every_verb_of_a_session_keeps_it_fresh(w) {
        w.register("q");
        let donna = w.start(&agent("Donna"));
        for (verb, input) in [
            ("session_start", json!({})),
            ("session_checkpoint", json!({ "summary": "s" })),
            ("ledger_note", json!({ "text": "t" })),
            ("task_create", json!({ "title": "t" })),
            ("signal_send", json!({ "to": "Lola", "subject": "s" })),
            ("project_set", json!({ "phase": "build" })),
            ("handoff_create", json!({ "to_project_id": "q", "subject": "s" })),
        ] {
            w.advance(STALE);
            w.ok(&agent("Donna"), verb, input);
            let me = &w.roster()[0];
            assert_eq!((me["session_id"].clone(), me["live"].clone()), (donna["session_id"].clone(), json!(true)), "{verb}");
            assert_eq!(me["last_verb"], verb);
        }
    }

    fn a_stale_session_is_revived_by_its_own_next_verb(w) {
        w.start(&agent("Donna"));
        w.advance(STALE + 1);
        w.checkpoint(&agent("Donna"), "back");
        assert_eq!(w.roster()[0]["fresh"], true);
        w.advance(STALE + 1);
        assert_eq!(w.start(&agent("Donna"))["resumed"], true);
        assert_eq!(w.roster()[0]["fresh"], true);
    }

    fn force_takes_over_and_says_who_and_why_in_the_ledger(w) {
        let old = w.start(&agent("Donna"));
        let input = json!({ "force": true, "why": "lost the terminal" });
        let new = w.ok(&agent("Donna").machine("m2"), "session_start", input);
        let release = w.newest("release");
        assert_eq!(release["session_id"], old["session_id"]);
        assert_eq!(release["body"]["reason"], "operator");
        assert_eq!(release["body"]["forced"], true);
        assert_eq!(release["body"]["released_by"], "Donna");
        assert_eq!(release["body"]["why"], "lost the terminal");
        assert_eq!(release["body"]["successor_session_id"], new["session_id"]);
        let start = w.newest("start");
        assert_eq!((start["body"]["forced"].clone(), start["body"]["why"].clone()), (json!(true), json!("lost the terminal")));
    }

    fn a_session_belongs_to_its_identity(w) {
        let donna = w.start(&agent("Donna"));
        for (verb, mut input) in [
            ("session_checkpoint", json!({ "summary": "s" })),
            ("session_wrap", json!({ "summary": "s" })),
            ("session_end", json!({})),
        ] {
            input["session"] = donna["session_id"].clone();
            input["identity"] = json!("Lola");
            w.no_trace(&agent("Lola"), verb, input, "session_not_yours");
        }
    }

    fn every_answer_says_where_it_wrote(w) {
        let donna = agent("Donna");
        let started = w.start(&donna);
        for (verb, input) in [
            ("session_checkpoint", json!({ "summary": "s" })),
            ("ledger_note", json!({ "text": "t" })),
            ("session_wrap", json!({ "summary": "s" })),
        ] {
            let answer = w.ok(&donna, verb, input);
            assert_eq!(answer["project_id"], "p", "{verb}");
            assert_eq!(answer["identity"], "Donna", "{verb}");
            assert_eq!(answer["session_id"], started["session_id"], "{verb}");
        }
        let picked = w.pickup(&donna);
        assert_eq!((picked["project_id"].clone(), picked["identity"].clone()), (json!("p"), json!("Donna")));
        let ended = w.end(&donna);
        assert_eq!(ended["session_id"], picked["session_id"]);
    }

    fn one_of_several_bots_is_told_by_its_process_or_asked_for(w) {
        let first = w.start(&agent("Bot").process("a"));
        w.start(&agent("Bot").process("b"));
        assert_eq!(w.checkpoint(&agent("Bot").process("a"), "s")["session_id"], first["session_id"]);
        let input = json!({ "summary": "s" });
        let refusal = w.no_trace(&agent("Bot").process("c"), "session_checkpoint", input.clone(), "no_session");
        assert_eq!(list(&refusal["candidates"]).len(), 2);
        w.start(&agent("Bot").process("a"));
        let refusal = w.no_trace(&agent("Bot").process("a"), "session_checkpoint", input, "session_ambiguous");
        assert_eq!(list(&refusal["candidates"]).len(), 2);
    }

    fn a_session_is_named_by_its_id_or_a_unique_prefix(w) {
        let first = w.start(&agent("Donna"));
        w.advance(100_000);
        let id = first["session_id"].as_str().expect("id").to_owned();
        let input = json!({ "summary": "s", "session": &id[..13] });
        assert_eq!(w.ok(&agent("Donna"), "session_checkpoint", input)["session_id"], id.as_str());
        w.start(&agent("Lola"));
        let input = json!({ "summary": "s", "session": &id[..6] });
        let refusal = w.no_trace(&agent("Donna"), "session_checkpoint", input, "id_ambiguous");
        assert_eq!(list(&refusal["candidates"]).len(), 2);
        let unknown = json!({ "summary": "s", "session": "ffffffff" });
        w.no_trace(&agent("Donna"), "session_checkpoint", unknown, "session_unknown");
    }

    fn the_roster_says_who_works_where(w) {
        w.start(&agent("Donna"));
        w.start(&agent("Lola").machine("m2"));
        let roster = w.roster();
        assert_eq!(column(&roster, "identity"), ["Donna", "Lola"]);
        assert_eq!(column(&roster, "machine"), ["m1", "m2"]);
        assert_eq!(column(&roster, "surface"), ["codex", "codex"]);
        assert_eq!(column(&roster, "last_verb"), ["session_start", "session_start"]);
    }
}
