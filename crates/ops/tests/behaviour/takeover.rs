//! What a caller may do in a session that it names: in its own everything, in another agent's nothing but by force that the
//! ledger keeps.

use serde_json::{Value, json};

use crate::world::{STALE, World, agent, text};

/// The verbs that act in a session as its agent.
fn verbs() -> Vec<(&'static str, Value)> {
    vec![
        ("session_checkpoint", json!({ "summary": "s" })),
        ("ledger_note", json!({ "text": "t" })),
        ("ledger_note", json!({ "text": "t", "kind": "decision" })),
        ("session_wrap", json!({ "summary": "s" })),
        ("session_end", json!({})),
    ]
}

fn refused(w: &mut World, who: &crate::world::Agent, session: &Value) {
    for (verb, mut input) in verbs() {
        input["session"] = session["session_id"].clone();
        let refusal = w.no_trace(who, verb, input, "session_not_yours");
        assert_eq!(refusal["session_id"], session["session_id"], "{verb}");
        if verb != "ledger_note" {
            assert!(text(&refusal, "hint").contains("--force --why"), "{verb}: {refusal:#}");
        }
    }
}

on_every_backend! {
    fn the_session_of_another_name_is_not_acted_in(w) {
        let donna = w.start(&agent("Donna"));
        refused(w, &agent("Lola"), &donna);
        refused(w, &agent("Bot").process("Lola 1"), &donna);
        w.wrap(&agent("Donna"), "mine");
    }

    fn the_session_of_another_process_that_is_alive_is_not_acted_in(w) {
        let donna = w.start(&agent("Donna"));
        refused(w, &agent("Donna").process("another"), &donna);
        let bot = w.start(&agent("Bot").process("one"));
        refused(w, &agent("Bot").process("two"), &bot);
        w.wrap(&agent("Donna"), "mine");
    }

    fn a_session_whose_process_is_gone_is_its_names_again(w) {
        let donna = w.start(&agent("Donna"));
        w.kill(&agent("Donna"));
        refused(w, &agent("Lola"), &donna);
        let input = json!({ "summary": "s", "session": donna["session_id"] });
        let wrapped = w.ok(&agent("Donna").process("another"), "session_wrap", input);
        assert_eq!(wrapped["session_id"], donna["session_id"]);
        let bot = w.start(&agent("Bot").process("one"));
        w.kill(&agent("Bot").process("one"));
        w.ok(&agent("Bot").process("two"), "session_end", json!({ "session": bot["session_id"] }));
    }

    fn a_session_that_went_silent_is_its_names_again(w) {
        let donna = w.start(&agent("Donna").machine("m2"));
        refused(w, &agent("Donna"), &donna);
        w.advance(STALE + 1);
        w.ok(&agent("Donna"), "session_end", json!({ "session": donna["session_id"] }));
    }

    fn whoever_runs_where_the_session_began_or_is_told_of_it_is_its_agent(w) {
        let donna = w.start(&agent("Donna"));
        let input = json!({ "summary": "s", "session": donna["session_id"] });
        w.ok(&agent("Bot").process("Donna 1"), "session_checkpoint", input.clone());
        w.ok(&agent("Bot").process("elsewhere").in_session(&donna), "session_checkpoint", input.clone());
        // A shell that lives for one command has no process: its name says who it is.
        w.ok(&agent("Donna").process(""), "session_checkpoint", input);
    }

    fn a_forced_wrap_says_who_and_why(w) {
        let donna = w.start(&agent("Donna"));
        let input = |why: Value| json!({ "summary": "s", "session": donna["session_id"], "force": true, "why": why });
        w.no_trace(&agent("Lola"), "session_wrap", input(Value::Null), "why_missing");
        let wrapped = w.ok(&agent("Lola"), "session_wrap", input(json!("she left")));
        assert_eq!((&wrapped["session_id"], &wrapped["identity"]), (&donna["session_id"], &json!("Donna")));
        assert_eq!(wrapped["forced_by"], "Lola");
        let note = w.newest("note");
        assert_eq!((&note["identity"], &note["body"]["forced"], &note["body"]["why"]), (&json!("Lola"), &json!(true), &json!("she left")));
        assert_eq!(note["body"]["session_id"], donna["session_id"]);
        let refusal = w.no(&agent("Donna"), "session_checkpoint", json!({ "summary": "s" }), "session_released");
        assert_eq!((&refusal["released_by"], &refusal["reason"]), (&json!("Lola"), &json!("wrapped")));
        assert_eq!(w.pending(&agent("Donna"))[0]["body"], "she left");
        assert_eq!(w.pickup(&agent("Rex"))["baton"]["delta_id"], wrapped["baton_id"]);
    }

    fn one_word_is_said_of_a_baton_that_was_let_go(w) {
        let baton = text(&w.leave_baton(&agent("Lola"), "done"), "baton_id");
        w.pickup(&agent("Donna"));
        assert_eq!(w.baton_state(&baton).as_deref(), Some("held"));
        let ended = w.end(&agent("Donna"));
        assert_eq!(ended["freed_baton_id"], baton.as_str());
        assert_eq!(w.baton_state(&baton).as_deref(), Some("open"), "who ended holds nothing");
        w.pickup(&agent("Rex"));
        let rex = w.roster()[0]["session_id"].clone();
        w.ok(&agent("Lola"), "session_end", json!({ "session": rex, "force": true, "why": "it hangs" }));
        assert_eq!(w.baton_state(&baton).as_deref(), Some("open"));
        w.pickup(&agent("Rex"));
        w.advance(STALE + 1);
        assert_eq!(w.baton_state(&baton).as_deref(), Some("abandoned"), "its holder went silent");
    }

    fn a_forced_end_of_an_unnamed_caller_is_its_own_act(w) {
        let donna = w.start(&agent("Donna"));
        let input = json!({ "session": donna["session_id"], "force": true, "why": "it hangs" });
        let ended = w.ok(&agent("Bot").process("two"), "session_end", input);
        assert_eq!(ended["identity"], "Bot");
        let release = w.newest("release");
        assert_eq!((&release["body"]["released_by"], &release["body"]["reason"]), (&json!("Bot"), &json!("operator")));
    }
}
