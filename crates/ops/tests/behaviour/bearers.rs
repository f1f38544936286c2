//! Tokens and identities: as whom a token acts, and that it takes nothing from anybody by saying another name.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, agent, list, text};

pub(crate) fn bearing(who: Agent, id: &str, scope: Scope, identities: Option<&[&str]>) -> Agent {
    let identities = identities.map(|own| own.iter().map(|name| (*name).to_owned()).collect());
    let bearer = Bearer { token_id: id.to_owned(), name: format!("{id}-token"), identities };
    let mut who = who;
    who.0.grant = Grant { scope, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

/// A caller that says it is this one, in the very same process, through a token that is bound to nobody.
pub(crate) fn impostor(name: &str, scope: Scope) -> Agent {
    bearing(agent(name), "eve", scope, None)
}

fn nameless(who: Agent) -> Agent {
    let mut who = who;
    who.0.identity = None;
    who
}

/// Every verb that acts in a session, with its input but for who and which.
fn session_verbs() -> Vec<(&'static str, Value)> {
    vec![
        ("session_end", json!({})),
        ("session_end", json!({ "reason": "over" })),
        ("session_wrap", json!({ "summary": "s" })),
        ("session_checkpoint", json!({ "summary": "s", "state": { "a": 1 } })),
        ("session_heartbeat", json!({})),
    ]
}

on_every_backend! {
    fn only_an_operator_chooses_where_the_servers_login_makes_an_issue(w) {
        w.register("q");
        for (scope, is_operator) in [(Scope::Write, false), (Scope::Operator, true)] {
            let eve = impostor("Eve", scope);
            for dry_run in [true, false] {
                let params = json!({ "to_project_id": "q", "subject": "s", "issues_github_repo": "victim/repo", "dry_run": dry_run });
                if is_operator {
                    let answer = w.call(&eve, "handoff_create", params);
                    assert!(!format!("{answer:?}").contains("scope_missing"), "{answer:?}");
                } else {
                    w.no_trace(&eve, "handoff_create", params, "scope_missing");
                }
            }
        }
    }

    fn only_an_operator_sends_a_failed_handoff_to_another_repository(w) {
        w.register("q");
        let wanted = json!({ "to_project_id": "q", "subject": "s", "local": true });
        let id = text(&w.ok(&agent("Lola"), "handoff_create", wanted), "handoff_id");
        let input = json!({ "id": id, "repo": "victim/repo" });
        w.no_trace(&impostor("Eve", Scope::Write), "handoff_retry", input, "scope_missing");
    }

    fn naming_somebody_ends_and_writes_nothing_of_theirs(w) {
        w.leave_baton(&agent("Lola"), "done");
        let held = w.pickup(&agent("Ann"));
        for scope in [Scope::Write, Scope::Operator] {
            let eve = impostor("Ann", scope);
            for (verb, input) in session_verbs() {
                w.no_trace(&eve, verb, input.clone(), "session_not_yours");
                let mut named = input.clone();
                named["session"] = held["session_id"].clone();
                w.no_trace(&nameless(eve.clone()), verb, named, "session_not_yours");
                let mut by_name = input;
                by_name["identity"] = json!("Ann");
                w.no_trace(&nameless(eve.clone()), verb, by_name, "session_not_yours");
            }
            w.no_trace(&eve, "hd_exec", json!({}), "identity_conflict");
            w.no_trace(&eve, "session_start", json!({}), "identity_conflict");
            w.no_trace(&eve.clone().in_session(&held), "hd_exec", json!({}), "session_not_yours");
            w.no_trace(&eve.in_session(&held), "ledger_note", json!({ "text": "t" }), "session_not_yours");
        }
        let again = w.pickup(&agent("Ann"));
        assert_eq!(again["session_id"], held["session_id"]);
    }

    fn a_process_that_a_token_says_is_gone_counts_for_nothing(w) {
        w.start(&agent("Ann").process("old"));
        w.kill(&agent("Ann").process("old"));
        w.no_trace(&impostor("Ann", Scope::Write), "session_start", json!({}), "identity_conflict");
    }

    fn force_is_named_to_those_alone_who_may_use_it(w) {
        let baton = text(&w.leave_baton(&agent("Donna"), "half"), "baton_id");
        w.pickup(&agent("Lola"));
        for (scope, is_named) in [(Scope::Write, false), (Scope::Operator, true)] {
            let who = bearing(agent("Mia").process("m"), "mia", scope, Some(&["Mia"]));
            let no = w.no(&who, "hd_exec", json!({ "handoff_id": baton }), "baton_claimed");
            assert_eq!(text(&no, "hint").contains("--force"), is_named, "{no:#}");
        }
    }

    fn ending_somebody_elses_session_is_force_and_says_who_and_why(w) {
        let own = w.start(&agent("Ann"));
        let input = |more: Value| {
            let mut input = json!({ "session": own["session_id"], "force": true });
            input.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
            input
        };
        w.no_trace(&nameless(impostor("Ann", Scope::Write)), "session_end", input(json!({ "why": "w" })), "scope_missing");
        let operator = nameless(impostor("Ann", Scope::Operator));
        w.no_trace(&operator, "session_end", input(json!({})), "why_missing");
        let ended = w.ok(&operator, "session_end", input(json!({ "why": "it hangs" })));
        assert_eq!(ended["identity"], "token:eve-token");
        let release = w.newest("release");
        let body = &release["body"];
        assert_eq!(
            (&body["released_by"], &body["reason"], &body["forced"], &body["why"]),
            (&json!("token:eve-token"), &json!("operator"), &json!(true), &json!("it hangs"))
        );
        let pending = w.pending(&agent("Ann"));
        assert!(pending[0].to_string().contains("it hangs"), "{pending:?}");
        let late = w.no(&agent("Ann").in_session(&own), "session_checkpoint", json!({ "summary": "s" }), "session_released");
        assert_eq!(late["released_by"], "token:eve-token");
    }

    fn a_name_in_the_environment_ends_no_session_of_another(w) {
        let own = w.start(&agent("Ann"));
        let input = json!({ "session": own["session_id"] });
        w.no_trace(&agent("Ben"), "session_end", input.clone(), "session_not_yours");
        let mut forced = input;
        forced["force"] = json!(true);
        forced["why"] = json!("stuck");
        assert_eq!(w.ok(&agent("Ben"), "session_end", forced)["identity"], "Ben");
        assert_eq!(w.newest("release")["body"]["released_by"], "Ben");
    }

    fn a_forced_end_says_who_ends_it_also_where_the_call_names_both(w) {
        let own = w.start(&agent("Ann"));
        let boss = json!({ "session": own["session_id"], "identity": "Boss", "force": true, "why": "stuck" });
        assert_eq!(w.ok(&nameless(agent("Ann").process("elsewhere")), "session_end", boss)["identity"], "Boss");
        let release = w.newest("release");
        assert_eq!((&release["body"]["released_by"], &release["body"]["forced"]), (&json!("Boss"), &json!(true)));
    }

    fn reassigning_somebody_elses_session_needs_an_operator(w) {
        let own = w.start(&agent("Ann"));
        let input = json!({ "session": own["session_id"], "to": "Eve", "wait": true, "why": "w" });
        w.no_trace(&impostor("Eve", Scope::Write), "session_reassign", input.clone(), "scope_missing");
        let given = w.ok(&nameless(impostor("Eve", Scope::Operator)), "session_reassign", input);
        assert_eq!(given["identity"], "token:eve-token");
        assert_eq!(w.newest("release")["body"]["released_by"], "token:eve-token");
    }

    fn what_is_held_under_a_name_is_not_anothers_who_says_the_name(w) {
        w.register("q");
        let params = json!({ "to_project_id": "p", "subject": "s" });
        let other = |id: &str| bearing(agent("Foo").process(""), id, Scope::Write, None);
        for holder in [other("one"), agent("Foo").process("")] {
            let task = w.ok(&agent("Lola"), "task_create", json!({ "title": "t" }));
            let handoff = w.ok(&agent("Lola").project("q"), "handoff_create", params.clone());
            let (task, handoff) = (json!({ "id": task["id"] }), handoff["handoff_id"].clone());
            let end = |action: &str| json!({ "id": handoff, "action": action, "result": "r" });
            let lease = json!({ "patterns": ["x/"] });
            for (verb, taken, given_back) in [
                ("task_claim", &task, json!({})),
                ("lease_take", &lease, json!({})),
                ("handoff_advance", &end("accept"), json!({})),
            ] {
                w.ok(&holder, verb, taken.clone());
                for (verb, input) in [
                    ("task_claim", task.clone()),
                    ("task_close", task.clone()),
                    ("lease_take", lease.clone()),
                    ("lease_release", given_back),
                    ("handoff_advance", end("complete")),
                ] {
                    w.no_trace(&other("two"), verb, input, "identity_not_yours");
                }
                match verb {
                    "task_claim" => w.ok(&holder, "task_release", task.clone()),
                    "lease_take" => w.ok(&holder, "lease_release", json!({})),
                    _ => w.ok(&holder, "handoff_advance", end("complete")),
                };
            }
            w.ok(&other("two"), "lease_take", lease.clone());
            w.ok(&other("two"), "lease_release", json!({}));
        }
    }

    fn the_key_of_a_registered_agent_is_not_another_tokens_to_list(w) {
        w.ok(&agent("Ben"), "agent_register", json!({}));
        w.ok(&agent("Eva"), "key_create", json!({}));
        let key = w.ok(&agent("Eva"), "key_list", json!({}))["items"][0]["public_key"].clone();
        let add = json!({ "name": "Ben", "public_key": key });
        w.no_trace(&nameless(impostor("Eve", Scope::Write)), "key_add", add, "identity_not_yours");
    }

    fn a_token_made_anew_under_a_name_gives_back_nothing_of_the_one_before(w) {
        let ci = |id: &str| bearing(nameless(agent("x")).process(""), id, Scope::Write, None);
        let ci = |id: &str| { let mut who = ci(id); who.0.grant.bearer.as_mut().expect("a token").name = "ci".into(); who };
        w.ok(&ci("old"), "lease_take", json!({ "patterns": ["x/"] }));
        let given = w.ok(&ci("new"), "lease_release", json!({}));
        assert_eq!(given["items"], json!([]), "{given:#}");
        w.no_trace(&ci("new"), "lease_take", json!({ "patterns": ["x/a"] }), "lease_conflict");
        assert_eq!(w.ok(&ci("old"), "lease_release", json!({}))["items"].as_array().map(Vec::len), Some(1));
    }

    fn a_bound_token_is_its_identities_and_nobody_else(w) {
        let ann = |name: &str| bearing(agent(name), "a", Scope::Write, Some(&["Ann", "Anna"]));
        let begun = w.ok(&nameless(ann("Ann")), "session_start", json!({}));
        assert_eq!(begun["identity"], "Ann");
        w.ok(&ann("Anna"), "session_start", json!({}));
        for (verb, input) in [
            ("session_start", json!({})),
            ("hd_exec", json!({})),
            ("mail_send", json!({ "to": "role:testing", "subject": "s" })),
            ("mail_inbox", json!({})),
            ("memory_add", json!({ "text": "t" })),
            ("ledger_note", json!({ "text": "t", "kind": "decision" })),
            ("agent_register", json!({})),
            ("ledger_note", json!({ "text": "t" })),
        ] {
            w.no_trace(&ann("Ben"), verb, input.clone(), "identity_not_bound");
            let mut named = input;
            named["identity"] = json!("Ben");
            w.no_trace(&nameless(ann("Ann")), verb, named, "identity_not_bound");
        }
        // The same identity at home and through its token is one agent.
        w.ok(&ann("Ann"), "session_end", json!({}));
        let local = w.start(&agent("Ann"));
        let through = nameless(ann("Ann")).in_session(&local);
        w.ok(&through, "session_checkpoint", json!({ "summary": "s" }));
    }

    fn a_card_names_the_unread_messages_of_whom_the_token_is_bound_to_and_of_nobody_else(w) {
        for to in ["Ann", "Ben"] {
            w.ok(&agent("Lola"), "signal_send", json!({ "to": to, "subject": format!("for {to}") }));
        }
        let ann = |name: &str| bearing(agent(name), "a", Scope::Read, Some(&["Ann"]));
        let card = w.ok(&nameless(ann("Ann")), "session_status", json!({}));
        assert_eq!((&card["unread"]["identity"], &card["unread"]["items"][0]["subject"]), (&json!("Ann"), &json!("for Ann")));
        let card = w.ok(&ann("Ben"), "session_status", json!({}));
        assert_eq!(card["unread"], Value::Null, "{card:#}");
    }

    fn a_token_without_a_name_becomes_nobody_who_holds_something(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        w.ok(&agent("Ann"), "task_claim", json!({ "id": id, "lease_s": 7200 }));
        w.ok(&agent("Ann"), "key_create", json!({}));
        let mut eve = agent("Ann").process("");
        let bearer = Bearer { token_id: "t9".into(), name: "free".into(), identities: None };
        eve.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
        for verb in ["session_start", "hd_exec"] {
            w.no_trace(&eve, verb, json!({}), "identity_not_yours");
        }
        eve.0.identity = None;
        w.no_trace(&eve, "key_remove", json!({ "name": "Ann" }), "identity_not_yours");
        // Zoe never called; her key was listed for her.
        let key = w.ok(&agent("Ann"), "key_list", json!({}))["items"][0]["public_key"].clone();
        w.ok(&agent("Ann"), "key_add", json!({ "name": "Zoe", "public_key": key }));
        w.no_trace(&eve, "key_remove", json!({ "name": "Zoe" }), "key_not_yours");
        w.no_trace(&eve, "key_remove", json!({ "name": "Zoe", "force": true, "why": "mine now" }), "scope_missing");
        w.no_trace(&eve, "key_remove", json!({ "name": "Zoe", "identity": "Zoe" }), "key_not_yours");
        w.ok(&agent("Ann"), "task_close", json!({ "id": id, "reason": "mine" }));
    }

    fn a_token_without_a_name_acts_as_itself(w) {
        let ci = nameless(bearing(agent("x"), "ci", Scope::Write, None));
        let begun = w.ok(&ci, "session_start", json!({}));
        assert_eq!(begun["identity"], "token:ci-token");
        w.ok(&ci, "session_checkpoint", json!({ "summary": "s" }));
        let sent = w.ok(&ci, "mail_send", json!({ "to": "role:testing", "subject": "s" }));
        assert_eq!(sent["from_identity"].as_str().or(sent["from"].as_str()), Some("token:ci-token"), "{sent}");
        // What it wrote is answered; no message names it as its receiver.
        w.ok(&agent("Ann"), "session_start", json!({}));
        let request = w.ok(&ci, "mail_send", json!({ "to": "Ann", "subject": "may I" }));
        let answer = w.ok(&agent("Ann"), "mail_send", json!({ "reply_to": request["message_id"], "body": "yes" }));
        assert_eq!(answer["to"], "token:ci-token", "{answer:#}");
        assert_eq!(list(&w.ok(&ci, "mail_inbox", json!({}))["items"]).len(), 1);
        let refusal = w.no_trace(&agent("Ann"), "mail_send", json!({ "to": "token:ci-token", "subject": "s" }), "identity_invalid");
        assert!(text(&refusal, "hint").contains("--reply-to MESSAGE"), "{refusal}");
        w.end(&agent("Ann"));
        let other = nameless(bearing(agent("x").process("2"), "ci", Scope::Write, None));
        w.ok(&other, "session_start", json!({}));
        assert_eq!(w.roster().len(), 2, "it may be active any number of times");
        w.ok(&ci, "session_wrap", json!({ "summary": "done" }));
        assert_eq!(w.newest("wrap")["identity"], "token:ci-token");
    }

    fn a_token_uses_a_free_name_and_the_ledger_says_which_token(w) {
        let free = |name: &str| bearing(agent(name), "ci", Scope::Write, None);
        let begun = w.ok(&free("Zoe"), "session_start", json!({}));
        assert_eq!(begun["identity"], "Zoe");
        assert_eq!(w.newest("start")["body"]["actor"], "token:ci-token");
        assert_eq!(w.roster()[0]["opened_by"], "ci");
        w.ok(&free("Zoe"), "session_checkpoint", json!({ "summary": "s" }));
        // Another token does not get into it by the name or by the process.
        let other = bearing(agent("Zoe"), "other", Scope::Write, None);
        w.no_trace(&other, "session_end", json!({}), "session_not_yours");
        w.no_trace(&other, "memory_add", json!({ "text": "t" }), "identity_not_yours");
        w.ok(&free("Zoe"), "session_end", json!({}));
    }

    fn what_is_done_in_the_name_of_somebody_at_work_is_refused(w) {
        let lease = w.ok(&agent("Ann"), "session_start", json!({}));
        w.ok(&agent("Ann"), "lease_take", json!({ "patterns": ["src/**"] }));
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Ann", "subject": "s", "body": "b", "ack_required": true }));
        let id = text(&sent, "message_id");
        let task = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        w.ok(&agent("Ann"), "task_claim", json!({ "id": task }));
        let eve = impostor("Ann", Scope::Write);
        for (verb, input) in [
            ("lease_release", json!({})),
            ("lease_take", json!({ "patterns": ["docs/**"] })),
            ("mail_read", json!({ "message_id": id })),
            ("mail_ack", json!({ "message_id": id })),
            ("mail_send", json!({ "to": "Lola", "subject": "s" })),
            ("memory_add", json!({ "text": "t" })),
            ("agent_register", json!({})),
            ("task_release", json!({ "id": task })),
            ("task_update", json!({ "id": task, "notes": "n" })),
            ("task_close", json!({ "id": task })),
            ("key_create", json!({})),
        ] {
            let refusal = w.call(&eve, verb, input);
            assert_eq!(refusal.expect_err(verb)["code"], "identity_not_yours", "{verb}");
        }
        let others = nameless(impostor("Ann", Scope::Write));
        w.no_trace(&others, "signal_delivered", json!({ "message_ids": [id] }), "identity_not_yours");
        let roster = w.roster();
        assert_eq!(roster[0]["session_id"], lease["session_id"]);
        assert_eq!(w.pending(&agent("Ann")).len(), 1, "it still waits");
    }

    fn a_key_is_listed_for_oneself(w) {
        w.ok(&agent("Ann"), "key_create", json!({}));
        let listed = w.ok(&agent("Ann"), "key_list", json!({}));
        let key = listed["items"][0]["public_key"].clone();
        let eve = bearing(agent("Eve"), "eve", Scope::Write, Some(&["Eve"]));
        w.no_trace(&eve, "key_add", json!({ "name": "Ben", "public_key": key }), "identity_not_bound");
        w.no_trace(&eve, "key_remove", json!({ "name": "Ann" }), "identity_not_bound");
        w.ok(&agent("Lola"), "key_add", json!({ "name": "Ben", "public_key": key }));
    }

    fn a_name_that_a_token_is_bound_to_is_kept_for_it(w) {
        let made = w.ok(&agent("Owner"), "token_create", json!({ "scope": "write", "identities": ["Ann"] }));
        assert_eq!(made["identities"], json!(["Ann"]));
        let checked = w.ok(&agent("Owner"), "token_check", json!({ "token": made["token"] }));
        assert_eq!(checked["identities"], json!(["Ann"]));
        let listed = w.ok(&agent("Owner"), "token_list", json!({}));
        assert_eq!(listed["items"][0]["identities"], json!(["Ann"]));
        let eve = impostor("Ann", Scope::Write);
        for (verb, input) in [("session_start", json!({})), ("hd_exec", json!({})), ("memory_add", json!({ "text": "t" }))] {
            w.no_trace(&eve, verb, input, "identity_not_yours");
        }
        w.no_trace(&agent("Owner"), "token_create", json!({ "scope": "write", "identities": ["a b"] }), "identity_invalid");
    }
}
