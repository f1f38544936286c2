//! Callers without a name: each is told from the others by its process, and holds what it holds alone.

use serde_json::{Value, json};

use crate::world::{Agent, STALE, World, agent, column, list, text};

fn bot(process: &str) -> Agent {
    agent("Bot").process(process)
}

/// Nothing tells it from another one of its machine.
fn unknown() -> Agent {
    bot("")
}

fn create(w: &mut World, title: &str) -> String {
    w.advance(1);
    text(&w.ok(&agent("Setup"), "task_create", json!({ "title": title })), "id")
}

fn held(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&agent("Reader"), "lease_list", json!({}))["items"]), "pattern")
}

on_every_backend! {
    fn an_unnamed_caller_who_picks_up_again_is_told_that_the_baton_is_its_own(w) {
        w.leave_baton(&agent("Lola"), "half");
        let picked = w.pickup(&bot("one"));
        let id = text(&picked, "session_id");
        let hint = |w: &mut World, who: &Agent| text(&w.no_trace(who, "hd_exec", json!({}), "baton_claimed"), "hint");
        let own = hint(w, &bot("one"));
        assert!(own.contains("if that is you, you hold it already") && own.contains(&format!("export BATON_SESSION={id}")), "{own}");
        let again = w.pickup(&bot("one").in_session(&picked));
        assert_eq!(again["baton"]["delta_id"], picked["baton"]["delta_id"], "what it names helps");
        assert!(!hint(w, &bot("two")).contains("if that is you"), "another process is another agent");
        let other = w.no_trace(&agent("Ben").process("one"), "hd_exec", json!({}), "baton_claimed");
        assert!(!text(&other, "hint").contains("if that is you"), "{other:#}");
    }

    fn an_unnamed_caller_where_a_name_picked_up_is_told_how_to_say_it(w) {
        let shop = |who: Agent| who.at("/repos/shop", Some("/repos/shop"));
        w.leave_baton(&agent("Lola"), "half");
        let ann = shop(agent("Ann").process("one"));
        w.pickup(&ann);
        for who in [shop(bot("two")), bot("one")] {
            let hint = text(&w.no_trace(&who, "hd_exec", json!({}), "baton_claimed"), "hint");
            assert!(hint.contains("say so with `--as Ann`"), "{hint}");
        }
        for who in [bot("two"), shop(bot("two")).machine("m2"), bot("two").at("/repos/lib", Some("/repos/lib"))] {
            let hint = text(&w.no_trace(&who, "hd_exec", json!({}), "baton_claimed"), "hint");
            assert!(!hint.contains("if that is you"), "{hint}");
        }
    }

    fn a_task_that_one_unnamed_process_claimed_is_not_given_to_another(w) {
        let id = create(w, "a");
        let first = w.ok(&bot("one"), "task_claim", json!({ "id": id }));
        let refusal = w.no_trace(&bot("two"), "task_claim", json!({ "id": id }), "task_claimed");
        assert!(text(&refusal, "message").contains("process one"), "{refusal:#}");
        assert_eq!((&refusal["holder"], &refusal["holder_process"]), (&json!("Bot"), &json!("one")));
        w.no_trace(&bot("two"), "task_update", json!({ "id": id, "notes": "mine" }), "task_claimed");
        w.no_trace(&bot("two"), "task_close", json!({ "id": id }), "task_claimed");
        w.no_trace(&bot("two"), "task_release", json!({ "id": id }), "task_claimed");
        w.no_trace(&bot("one").machine("m2"), "task_claim", json!({ "id": id }), "task_claimed");
        assert_eq!(w.ok(&bot("two"), "task_claim", json!({}))["claimed"], false, "nothing else is ready");
        let again = w.ok(&bot("one"), "task_claim", json!({ "id": id }));
        assert_eq!(again["token"], first["token"], "its own process has it still");
        // It begins a session: what it claimed before stays its own.
        w.start(&bot("one"));
        w.ok(&bot("one"), "task_update", json!({ "id": id, "notes": "n" }));
        w.start(&bot("two"));
        assert_eq!(w.ok(&bot("two"), "task_claim", json!({}))["claimed"], false, "a session takes over nothing");
        w.no_trace(&bot("two"), "task_update", json!({ "id": id, "notes": "mine" }), "task_claimed");
        w.ok(&bot("one"), "task_close", json!({ "id": id }));
    }

    fn a_name_goes_on_with_its_claim_from_any_process(w) {
        let id = create(w, "a");
        let first = w.ok(&agent("Ann").process("one"), "task_claim", json!({ "id": id }));
        let again = w.ok(&agent("Ann").process("two"), "task_claim", json!({ "id": id }));
        assert_eq!(again["token"], first["token"]);
    }

    fn a_caller_that_nothing_tells_from_the_holder_gets_no_claim_twice(w) {
        let id = create(w, "a");
        let first = w.ok(&unknown(), "task_claim", json!({ "id": id }));
        let refusal = w.no_trace(&unknown(), "task_claim", json!({ "id": id }), "task_claimed");
        assert!(text(&refusal, "hint").contains("token"), "{refusal:#}");
        // The holder is the caller with the token.
        w.ok(&unknown(), "task_update", json!({ "id": id, "notes": "n", "token": first["token"] }));
        w.no_trace(&unknown(), "task_close", json!({ "id": id }), "task_claimed");
        w.ok(&unknown(), "task_close", json!({ "id": id, "token": first["token"] }));
    }

    fn a_lease_of_one_unnamed_process_stands_against_another(w) {
        let taken = w.ok(&bot("one"), "lease_take", json!({ "patterns": ["src/**"] }));
        let refusal = w.no_trace(&bot("two"), "lease_take", json!({ "patterns": ["src/a.rs"] }), "lease_conflict");
        assert!(text(&refusal, "message").contains("process one"), "{refusal:#}");
        let refusal = w.no_trace(&bot("two"), "lease_release", json!({ "leases": ["src/**"] }), "lease_not_yours");
        assert!(text(&refusal, "message").contains("process one"), "{refusal:#}");
        let all = w.ok(&bot("two"), "lease_release", json!({}));
        assert_eq!((list(&all["items"]).len(), held(w).len()), (0, 1), "all of one's own is none");
        let again = w.ok(&bot("one"), "lease_take", json!({ "patterns": ["src/**"] }));
        assert_eq!(again["items"][0]["lease_id"], taken["items"][0]["lease_id"]);
        w.start(&bot("one"));
        w.ok(&bot("one"), "lease_release", json!({}));
        assert_eq!(held(w).len(), 0);
    }

    fn a_lease_of_a_session_is_its_own_process_only(w) {
        w.start(&bot("one"));
        w.ok(&bot("one"), "lease_take", json!({ "patterns": ["src/**"] }));
        w.start(&bot("two"));
        w.no_trace(&bot("two"), "lease_release", json!({ "leases": ["src/**"] }), "lease_not_yours");
        w.ok(&bot("two"), "lease_release", json!({ "leases": ["src/**"], "force": true, "why": "it hangs" }));
        assert_eq!(held(w).len(), 0);
    }

    fn without_a_session_an_unnamed_process_reaches_no_others(w) {
        let one = w.start(&bot("one"));
        for (verb, input) in [
            ("session_checkpoint", json!({ "summary": "s" })),
            ("session_wrap", json!({ "summary": "s" })),
            ("session_end", json!({})),
            ("session_heartbeat", json!({})),
        ] {
            let refusal = w.no_trace(&bot("two"), verb, input.clone(), "no_session");
            assert!(text(&refusal, "hint").contains("--session"), "{verb}: {refusal:#}");
            w.no_trace(&bot("one").machine("m2"), verb, input, "no_session");
        }
        let note = w.ok(&bot("two"), "ledger_note", json!({ "text": "of the second" }));
        assert_eq!(note["session_id"], Value::Null, "its note is not the first one's");
        w.start(&bot("two"));
        w.end(&bot("two"));
        assert_eq!(w.wrap(&bot("one"), "s")["session_id"], one["session_id"]);
    }

    fn a_shell_without_a_process_goes_on_with_the_one_session_of_its_kind(w) {
        let begun = w.start(&unknown());
        w.start(&bot("one"));
        assert_eq!(w.checkpoint(&unknown(), "half")["session_id"], begun["session_id"]);
        assert_eq!(w.wrap(&unknown(), "done")["session_id"], begun["session_id"]);
        w.start(&unknown());
        w.start(&unknown());
        w.no_trace(&unknown(), "session_wrap", json!({ "summary": "s" }), "session_ambiguous");
    }

    fn the_state_of_a_task_that_one_unnamed_process_saved_is_not_replaced_by_another(w) {
        let save = |state: i64| json!({ "task": "p-1", "state": { "n": state } });
        for who in [bot("one"), bot("two")] {
            w.start(&who);
        }
        let first = w.ok(&bot("one"), "session_checkpoint", save(1));
        let refusal = w.no_trace(&bot("two"), "session_checkpoint", save(2), "state_held");
        assert_eq!((&refusal["holder_process"], &refusal["current_version"]), (&json!("one"), &first["state_version"]));
        assert!(text(&refusal, "hint").contains("--as NAME"), "{refusal:#}");
        let saved = |w: &mut World| w.ok(&bot("one"), "session_resolve", json!({ "task": "p-1", "resume": true })).to_string();
        assert!(saved(w).contains("\"n\":1"), "{}", saved(w));
        // Each has a state of its own beside that, and so has a name for each task.
        w.ok(&bot("two"), "session_checkpoint", json!({ "state": { "n": 3 } }));
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "session_checkpoint", save(4));
        // Its own process goes on, and who has read it says so by its version.
        let own = w.ok(&bot("one"), "session_checkpoint", save(5));
        let mut read = save(6);
        read["expected_version"] = own["state_version"].clone();
        w.ok(&bot("two"), "session_checkpoint", read);
        w.no_trace(&bot("one"), "session_checkpoint", save(7), "state_held");
        w.kill(&bot("two"));
        w.ok(&bot("one"), "session_checkpoint", save(8));
    }

    fn the_state_of_a_task_is_taken_over_from_an_unnamed_caller_that_is_silent(w) {
        let save = |state: i64| json!({ "task": "p-1", "state": { "n": state } });
        w.start(&bot("one"));
        w.ok(&bot("one"), "session_checkpoint", save(1));
        w.advance(STALE + 1);
        w.start(&bot("two"));
        w.ok(&bot("two"), "session_checkpoint", save(2));
    }

    fn a_session_that_the_environment_names_is_the_callers(w) {
        let begun = w.start(&bot("one"));
        let next = bot("two").in_session(&begun);
        assert_eq!(w.checkpoint(&next, "half")["session_id"], begun["session_id"]);
        assert_eq!(w.wrap(&next, "done")["session_id"], begun["session_id"]);
    }
}
