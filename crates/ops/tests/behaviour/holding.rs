//! What a live holder holds, only this holder changes: its name, or its process where its name is that of many, or its token.
//! Another one takes it over by force, with a reason that the holder is told.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn bot(process: &str) -> Agent {
    agent("Bot").process(process)
}

/// Nothing tells it from another one of its machine.
fn unknown() -> Agent {
    bot("")
}

/// A client whose access token may write, bound to a name; one that is bound to nobody acts as itself.
fn bearing(name: &str) -> Agent {
    let mut who = agent(name).process("");
    let identities = (name != "Bot").then(|| vec![name.to_owned()]);
    let bearer = Bearer { token_id: format!("{name}-id"), name: "ci".to_owned(), identities };
    who.0.identity = None;
    who.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

fn at_q(who: Agent) -> Agent {
    who.project("q")
}

fn create(w: &mut World, title: &str) -> String {
    w.advance(1);
    text(&w.ok(&agent("Setup"), "task_create", json!({ "title": title })), "id")
}

/// A hand-off to project `q` that nobody has accepted, and its task.
fn offered(w: &mut World) -> (String, String) {
    w.register("q");
    let made =
        w.ok(&agent("Lola"), "handoff_create", json!({ "to_project_id": "q", "subject": "add an endpoint" }));
    let id = text(&made, "handoff_id");
    let shown = w.ok(&at_q(agent("Reader")), "handoff_show", json!({ "id": id }));
    (id, text(&shown["task"], "id"))
}

fn advance(id: &str, action: &str) -> Value {
    json!({ "id": id, "action": action })
}

fn end(id: &str, action: &str, result: &str) -> Value {
    json!({ "id": id, "action": action, "result": result })
}

/// The one lease, by its pattern.
fn held(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&agent("Reader"), "lease_list", json!({}))["items"]), "pattern")
}

on_every_backend! {
    fn the_task_of_an_accepted_handoff_is_claimed_by_force_with_a_reason_that_its_acceptor_hears(w) {
        let (id, task) = offered(w);
        let (ben, mia) = (at_q(agent("Ben")), at_q(agent("Mia")));
        w.ok(&ben, "hd_exec", json!({ "handoff_id": id }));
        w.no_trace(&mia, "task_claim", json!({ "id": task, "force": true }), "why_missing");
        w.ok(&mia, "task_claim", json!({ "id": task, "force": true, "why": "Ben is away" }));
        let heard = w.pending(&ben);
        assert!(text(&heard[0], "subject").contains("which you accepted"), "{heard:#?}");
        assert_eq!(heard[0]["body"], "Ben is away");
    }

    fn what_an_acceptor_saved_goes_to_the_one_who_took_the_handoff_over(w) {
        let (id, _) = offered(w);
        let (zed, ben, cleo) = (at_q(agent("Zed")), at_q(agent("Ben")), at_q(agent("Cleo")));
        w.ok(&zed, "hd_exec", json!({ "handoff_id": id }));
        w.checkpoint(&zed, "api half");
        w.kill(&zed);
        let silent = w.ok(&ben, "attention_list", json!({ "project": "q", "reason": "session_silent" }));
        assert!(text(&silent["items"][0], "help").starts_with("baton pickup --handoff "), "{silent:#}");
        let taken = w.ok(&ben, "hd_exec", json!({ "handoff_id": id }));
        assert!(taken["recovered"].to_string().contains("api half"), "{taken:#}");
        let left = |w: &mut World| {
            let begun = w.ok(&cleo, "session_start", json!({}));
            w.ok(&cleo, "session_end", json!({}));
            begun["rules_reminders"].to_string().contains("left work")
        };
        assert!(!left(w), "Ben works on it");
        assert!(!w.pickup(&cleo)["recovered"].to_string().contains("api half"), "and nobody else gets it");
        w.ok(&cleo, "session_end", json!({}));
        w.ok(&ben, "handoff_advance", end(&id, "complete", "merged"));
        w.ok(&ben, "session_end", json!({}));
        assert!(!left(w), "it went into the result");
    }

    fn a_handoff_whose_task_an_agent_holds_is_not_taken_from_it(w) {
        let (id, task) = offered(w);
        let (cas, dan) = (at_q(agent("Cas")), at_q(agent("Dan")));
        w.ok(&cas, "task_claim", json!({ "id": task }));
        w.no_trace(&dan, "handoff_advance", advance(&id, "accept"), "task_claimed");
        w.no_trace(&dan, "handoff_advance", end(&id, "decline", "no time"), "task_claimed");
        let refusal = w.no(&dan, "hd_exec", json!({ "handoff_id": id }), "task_claimed");
        assert!(text(&refusal, "hint").contains("--force"), "{refusal:#}");
        w.ok(&cas, "handoff_advance", advance(&id, "accept"));
        assert_eq!(w.ok(&cas, "handoff_advance", end(&id, "complete", "merged"))["state"], "completed");
    }

    fn who_holds_the_task_of_a_handoff_hears_that_its_sender_took_it_back(w) {
        let (id, task) = offered(w);
        let cas = at_q(agent("Cas"));
        w.ok(&cas, "task_claim", json!({ "id": task }));
        w.ok(&agent("Lola"), "handoff_advance", json!({ "id": id, "action": "cancel", "why": "not needed" }));
        let heard = w.pending(&cas);
        assert!(text(&heard[0], "subject").contains(&format!("task {task} you had claimed")), "{heard:#?}");
        assert!(text(&heard[0], "body").contains("not needed"), "{heard:#?}");
        let refusal = w.no(&cas, "handoff_advance", end(&id, "complete", "half of it"), "handoff_state");
        assert!(refusal["kept_delta_id"].is_string(), "{refusal:#}");
    }

    fn a_handoff_does_not_expire_while_an_agent_holds_its_task(w) {
        w.register("q");
        let wanted = json!({ "to_project_id": "q", "subject": "add an endpoint", "expires_in": "1m" });
        let id = text(&w.ok(&agent("Lola"), "handoff_create", wanted), "handoff_id");
        let cas = at_q(agent("Cas"));
        let shown = w.ok(&cas, "handoff_show", json!({ "id": id }));
        w.ok(&cas, "task_claim", json!({ "id": shown["task"]["id"] }));
        w.advance(120_000);
        for who in [&cas, &agent("Lola")] {
            assert_eq!(w.ok(who, "handoff_show", json!({ "id": id }))["state"], "offered");
        }
        let sent = w.ok(&agent("Lola"), "session_status", json!({}))["sent"].to_string();
        assert!(!sent.contains("expired"), "{sent}");
        w.ok(&cas, "handoff_advance", advance(&id, "accept"));
        assert_eq!(w.ok(&cas, "handoff_advance", end(&id, "complete", "merged"))["state"], "completed");
    }

    fn the_task_of_an_accepted_handoff_is_taken_back_from_its_acceptor_by_no_write_token(w) {
        let (id, task) = offered(w);
        w.ok(&at_q(agent("Cas")), "handoff_advance", advance(&id, "accept"));
        let force = json!({ "id": task, "force": true, "why": "I want it" });
        w.no_trace(&at_q(bearing("Dan")), "task_release", force.clone(), "scope_missing");
        assert_eq!(w.ok(&at_q(agent("Dan")), "task_release", force)["status"], "open");
    }

    fn a_handoff_that_one_unnamed_process_accepted_is_not_ended_by_another(w) {
        let (id, task) = offered(w);
        let (one, two) = (at_q(bot("one")), at_q(bot("two")));
        w.ok(&one, "handoff_advance", advance(&id, "accept"));
        for action in ["complete", "decline"] {
            let refusal = w.no_trace(&two, "handoff_advance", advance(&id, action), "handoff_not_yours");
            assert!(text(&refusal, "message").contains("process one"), "{refusal:#}");
            assert!(text(&refusal, "hint").contains("--force --why"), "{refusal:#}");
        }
        w.no_trace(&two, "task_close", json!({ "id": task }), "handoff_not_yours");
        w.no_trace(&two, "task_update", json!({ "id": task, "status": "closed" }), "handoff_not_yours");
        w.no_trace(&two, "task_update", json!({ "id": task, "status": "open" }), "handoff_not_yours");
        w.no_trace(&two, "task_update", json!({ "id": task, "assignee": "Ben" }), "handoff_not_yours");
        w.no_trace(&two, "task_claim", json!({ "id": task }), "handoff_not_yours");
        // Its words are kept as those of every other one.
        let refusal = w.no(&two, "handoff_advance", end(&id, "complete", "I did it"), "handoff_not_yours");
        assert!(refusal["kept_delta_id"].is_string(), "{refusal:#}");
        w.ok(&one, "task_claim", json!({ "id": task }));
        assert_eq!(w.ok(&one, "handoff_advance", end(&id, "complete", "merged"))["state"], "completed");
    }

    fn a_handoff_that_an_unnamed_session_picked_up_is_its_own(w) {
        let (id, _) = offered(w);
        w.ok(&at_q(bot("one")), "hd_exec", json!({ "handoff_id": id }));
        w.start(&at_q(bot("two")));
        w.no_trace(&at_q(bot("two")), "handoff_advance", advance(&id, "complete"), "handoff_not_yours");
        w.ok(&at_q(bot("one")), "handoff_advance", end(&id, "complete", "merged"));
    }

    fn a_handoff_whose_unnamed_acceptor_is_gone_is_ended_by_the_next(w) {
        for by_pickup in [true, false] {
            let (id, _) = offered(w);
            let one = at_q(bot(&format!("one {by_pickup}")));
            match by_pickup {
                true => _ = w.ok(&one, "hd_exec", json!({ "handoff_id": id })),
                false => _ = w.ok(&one, "handoff_advance", advance(&id, "accept")),
            }
            let two = at_q(bot("two"));
            w.no_trace(&two, "handoff_advance", advance(&id, "complete"), "handoff_not_yours");
            w.kill(&one);
            w.ok(&two, "handoff_advance", end(&id, "complete", "merged"));
        }
        let (id, _) = offered(w);
        w.ok(&at_q(bot("a")), "hd_exec", json!({ "handoff_id": id }));
        w.wrap(&at_q(bot("a")), "half of it");
        w.ok(&at_q(bot("b")), "handoff_advance", end(&id, "complete", "the other half"));
    }

    fn whoever_would_end_what_a_gone_agent_accepted_is_told_to_take_it_over(w) {
        let (id, _) = offered(w);
        let (donna, ben) = (at_q(agent("Donna")), at_q(agent("Ben")));
        w.ok(&donna, "hd_exec", json!({ "handoff_id": id }));
        let refusal = w.no_trace(&ben, "handoff_advance", advance(&id, "complete"), "handoff_not_yours");
        assert!(text(&refusal, "hint").starts_with("leave it to Donna"), "{refusal:#}");
        w.kill(&donna);
        let refusal = w.no_trace(&ben, "handoff_advance", advance(&id, "complete"), "handoff_not_yours");
        assert!(text(&refusal, "hint").contains("baton pickup --handoff"), "{refusal:#}");
        w.ok(&ben, "hd_exec", json!({ "handoff_id": id }));
        w.ok(&ben, "handoff_advance", end(&id, "complete", "merged"));
    }

    fn an_unnamed_acceptor_is_told_who_ended_its_handoff_by_force(w) {
        let (id, _) = offered(w);
        w.ok(&at_q(bot("one")), "handoff_advance", advance(&id, "accept"));
        let mut forced = end(&id, "complete", "by hand");
        forced["force"] = json!(true);
        w.no_trace(&at_q(bot("two")), "handoff_advance", forced.clone(), "why_missing");
        forced["why"] = json!("it hangs");
        w.ok(&at_q(bot("two")), "handoff_advance", forced);
        let pending = w.pending(&at_q(bot("one")));
        assert!(pending.len() == 1 && text(&pending[0], "body").contains("it hangs"), "{pending:#?}");
    }

    fn a_claim_of_a_caller_that_nothing_tells_apart_is_its_tokens(w) {
        let id = create(w, "a");
        let token = w.ok(&unknown(), "task_claim", json!({ "id": id }))["token"].clone();
        for (verb, input) in [
            ("task_claim", json!({ "id": id })),
            ("task_update", json!({ "id": id, "notes": "mine" })),
            ("task_update", json!({ "id": id, "status": "open" })),
            ("task_close", json!({ "id": id })),
            ("task_close", json!({ "id": id, "force": true })),
            ("task_release", json!({ "id": id })),
            ("task_reopen", json!({ "id": id })),
        ] {
            let refusal = w.no_trace(&unknown(), verb, input, "task_claimed");
            assert!(text(&refusal, "hint").contains("token"), "{verb}: {refusal:#}");
            assert!(text(&refusal, "hint").contains("--force --why"), "{verb}: {refusal:#}");
        }
        w.ok(&unknown(), "task_update", json!({ "id": id, "notes": "n", "token": token }));
        w.ok(&unknown(), "task_close", json!({ "id": id, "token": token }));
        w.ok(&unknown(), "task_reopen", json!({ "id": id }));
    }

    fn a_claim_is_taken_over_by_force_with_a_reason_that_its_holder_is_told(w) {
        for (holder, other) in [(agent("Ann"), agent("Ben")), (bot("one"), bot("two")), (unknown(), unknown())] {
            let id = create(w, "a");
            let first = w.ok(&holder, "task_claim", json!({ "id": id }));
            w.no_trace(&other, "task_claim", json!({ "id": id, "force": true }), "task_claimed");
            let forced = json!({ "id": id, "force": true, "why": "it hangs" });
            let taken = w.ok(&other, "task_claim", forced);
            assert_eq!(taken["token"].as_i64(), first["token"].as_i64().map(|token| token + 1));
            w.no_trace(&holder, "task_close", json!({ "id": id, "token": first["token"] }), "lease_lost");
            let pending = w.pending(&holder);
            let last = pending.last().unwrap_or_else(|| panic!("{holder:?} is not told"));
            assert!(text(last, "subject").contains(&id) && text(last, "body").contains("it hangs"), "{last:#}");
            w.ok(&other, "task_close", json!({ "id": id, "token": taken["token"] }));
            let audit = w.ok(&agent("Reader"), "audit_report", json!({})).to_string();
            assert!(audit.contains("it hangs"), "{audit}");
        }
    }

    fn a_named_session_without_a_process_is_not_acted_in_by_its_id_alone(w) {
        let ann = agent("Ann").process("");
        let begun = w.start(&ann);
        let mut anybody = agent("Ann").process("");
        anybody.0.identity = None;
        for (verb, mut input) in [
            ("session_checkpoint", json!({ "summary": "s" })),
            ("session_wrap", json!({ "summary": "s" })),
            ("session_end", json!({})),
        ] {
            input["session"] = begun["session_id"].clone();
            w.no_trace(&anybody, verb, input.clone(), "session_not_yours");
        }
        let mut forced = json!({ "session": begun["session_id"], "summary": "s", "force": true });
        w.no_trace(&anybody, "session_wrap", forced.clone(), "why_missing");
        // Its environment names the session, or the call its name.
        w.checkpoint(&anybody.clone().in_session(&begun), "half");
        let named = json!({ "session": begun["session_id"], "identity": "Ann", "summary": "more" });
        w.ok(&anybody, "session_checkpoint", named);
        forced["why"] = json!("it hangs");
        w.ok(&anybody, "session_wrap", forced);
        let pending = w.pending(&agent("Ann"));
        assert!(pending.len() == 1 && text(&pending[0], "body").contains("it hangs"), "{pending:#?}");
        // An unnamed session without a process is that of all such callers, as documented.
        let begun = w.start(&unknown());
        w.ok(&unknown(), "session_wrap", json!({ "session": begun["session_id"], "summary": "s" }));
    }

    fn a_live_process_of_a_name_holds_what_it_took_in_its_session(w) {
        let (one, two) = (agent("Ann").process("one"), agent("Ann").process("two"));
        let id = create(w, "a");
        let begun = w.start(&one);
        let token = w.ok(&one, "task_claim", json!({ "id": id }))["token"].clone();
        w.ok(&one, "lease_take", json!({ "patterns": ["src/**"] }));
        for (verb, input) in [
            ("task_claim", json!({ "id": id })),
            ("task_update", json!({ "id": id, "notes": "mine" })),
            ("task_close", json!({ "id": id })),
            ("task_release", json!({ "id": id })),
        ] {
            let refusal = w.no_trace(&two, verb, input, "task_claimed");
            assert!(text(&refusal, "message").contains("other process"), "{verb}: {refusal:#}");
            assert!(text(&refusal, "message").contains("process one"), "{verb}: {refusal:#}");
        }
        assert_eq!(w.ok(&two, "task_claim", json!({}))["claimed"], false, "what its other process has is not offered");
        let refusal = w.no_trace(&two, "lease_release", json!({ "leases": ["src/**"] }), "lease_not_yours");
        assert!(text(&refusal, "message").contains("other process"), "{refusal:#}");
        w.ok(&two, "lease_release", json!({}));
        assert_eq!(held(w).len(), 1);
        // The token, the session in the environment and a caller without a process go on with it.
        w.ok(&two, "task_update", json!({ "id": id, "notes": "n", "token": token }));
        w.ok(&two.clone().in_session(&begun), "task_update", json!({ "id": id, "notes": "m" }));
        w.ok(&agent("Ann").process(""), "task_update", json!({ "id": id, "notes": "o" }));
        // What the second claims is its own, and not the first one's.
        let other = create(w, "b");
        w.ok(&two, "task_claim", json!({ "id": other }));
        w.ok(&two, "task_update", json!({ "id": other, "notes": "n" }));
        w.no_trace(&one, "task_close", json!({ "id": other }), "task_claimed");
        w.ok(&two, "task_close", json!({ "id": other }));
        // It ends: the next one takes over without a word.
        w.kill(&one);
        assert_eq!(w.ok(&two, "task_claim", json!({ "id": id }))["token"], token);
        w.ok(&two, "task_close", json!({ "id": id }));
        w.ok(&two, "lease_release", json!({ "leases": ["src/**"] }));
        assert_eq!(held(w).len(), 0);
    }

    fn a_token_proves_a_claim_only_with_the_claims_identity(w) {
        let id = create(w, "a");
        w.start(&agent("Ann"));
        let token = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }))["token"].clone();
        for other in [agent("Bob"), bearing("Bob"), bearing("Bot")] {
            let seen = w.ok(&other, "task_show", json!({ "id": id, "full": true }));
            assert_eq!((&seen["claim"]["by"], seen["claim"].get("token")), (&json!("Ann"), None), "{other:?}");
            for (verb, mut input) in [
                ("task_update", json!({ "id": id, "notes": "mine" })),
                ("task_update", json!({ "id": id, "status": "open" })),
                ("task_close", json!({ "id": id })),
                ("task_release", json!({ "id": id })),
            ] {
                input["token"] = token.clone();
                let refusal = w.no_trace(&other, verb, input.clone(), "task_claimed");
                assert!(text(&refusal, "hint").contains("--force --why"), "{verb}: {refusal:#}");
                input["token"] = json!(99);
                let refusal = w.no_trace(&other, verb, input, "lease_lost");
                assert_eq!(refusal.get("current_token"), None, "{verb}: {refusal:#}");
            }
        }
        let items = list(&w.ok(&agent("Bob"), "task_list", json!({}))["items"]);
        assert!(items.iter().all(|row| row["claim"].get("token").is_none()), "{items:#?}");
        // Its holder sees it, and so does a token that is bound to the name. A script without a name goes on by it.
        for own in [agent("Ann"), bearing("Ann")] {
            assert_eq!(w.ok(&own, "task_show", json!({ "id": id }))["claim"]["token"], token);
        }
        w.ok(&bearing("Ann"), "task_update", json!({ "id": id, "notes": "a", "token": token }));
        w.ok(&bot("script"), "task_update", json!({ "id": id, "notes": "b", "token": token }));
        w.ok(&agent("Ann"), "task_close", json!({ "id": id, "token": token }));
    }

    fn a_token_of_an_unnamed_process_is_no_other_live_process_s(w) {
        let id = create(w, "a");
        let token = w.ok(&bot("one"), "task_claim", json!({ "id": id }))["token"].clone();
        assert_eq!(w.ok(&bot("two"), "task_show", json!({ "id": id }))["claim"].get("token"), None);
        assert_eq!(w.ok(&bot("one"), "task_show", json!({ "id": id }))["claim"]["token"], token);
        for other in [bot("two"), bot("one").machine("m2"), agent("Ann")] {
            w.no_trace(&other, "task_close", json!({ "id": id, "token": token }), "task_claimed");
        }
        // A call that has no process, and a process after the holder's has ended, go on by the token.
        w.ok(&unknown(), "task_update", json!({ "id": id, "notes": "n", "token": token }));
        w.kill(&bot("one"));
        w.ok(&bot("two"), "task_close", json!({ "id": id, "token": token }));
    }

    fn a_silent_process_of_a_name_holds_nothing_against_the_next(w) {
        let (one, two) = (agent("Ann").process("one"), agent("Ann").process("two"));
        let id = create(w, "a");
        w.start(&one);
        let first = w.ok(&one, "task_claim", json!({ "id": id, "lease_s": 7200 }));
        w.advance(crate::world::STALE + 1);
        assert_eq!(w.ok(&two, "task_claim", json!({ "id": id }))["token"], first["token"]);
    }
    fn a_span_that_a_caller_gives_is_bounded_and_the_refusal_names_the_bound(w) {
        let id = create(w, "a");
        let ten_years = "315360000";
        let cases = [
            ("task_claim", json!({ "id": id }), "lease_s", "lease_invalid", "24 hours"),
            ("lease_take", json!({ "patterns": ["src/**"] }), "for_s", "span_invalid", "week"),
            ("signal_send", json!({ "to": "Ben", "subject": "s" }), "expires_in_s", "message_invalid", ten_years),
            (
                "signal_send",
                json!({ "to": "Ben", "subject": "s", "type": "Question" }),
                "ack_by_s",
                "message_invalid",
                ten_years,
            ),
            ("mail_send", json!({ "to": "Ben", "subject": "s" }), "expires_in_s", "message_invalid", ten_years),
            ("mail_send", json!({ "to": "Ben", "subject": "s" }), "ack_by_s", "message_invalid", ten_years),
            ("token_create", json!({ "name": "ci", "scope": "read" }), "expires_in_s", "expiry_invalid", ten_years),
            ("task_route", json!({}), "fallback_after_s", "route_invalid", ten_years),
            ("task_route", json!({}), "escalate_after_s", "route_invalid", ten_years),
        ];
        for (verb, input, field, code, bound) in cases {
            for wrong in [i64::MAX, 315_360_001, -1] {
                let mut input = input.clone();
                input[field] = json!(wrong);
                let refusal = w.no_trace(&agent("Ann"), verb, input, code);
                let explanation = format!("{} {}", text(&refusal, "message"), text(&refusal, "hint"));
                assert!(explanation.contains(bound), "{verb} {field}: {refusal:#}");
            }
        }
        for span in ["99999999999w", "5000d"] {
            w.no_trace(&agent("Ann"), "task_update", json!({ "id": id, "due": span }), "time_invalid");
        }
        assert_eq!(w.ok(&agent("Ann"), "task_claim", json!({ "id": id, "lease_s": 86_400 }))["claimed"], true);
    }
}
