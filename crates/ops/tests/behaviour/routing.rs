//! Routing: who gets which task with which message, and what happens when nobody can.

use baton_model::access::Scope;
use serde_json::{Value, json};

use crate::bearers::bearing;
use crate::broken::break_every_step;
use crate::world::{STALE, World, agent, column, list, text};

fn register(w: &mut World, name: &str, role: &str, input: Value) {
    let mut all = json!({ "roles": [role] });
    all.as_object_mut().expect("object").extend(input.as_object().cloned().expect("object"));
    w.ok(&agent(name), "agent_register", all);
}

fn team(w: &mut World) {
    for (name, role) in
        [("Ida", "implementation"), ("Tess", "testing"), ("Fred", "fixing"), ("Vera", "verification")]
    {
        register(w, name, role, json!({}));
    }
}

fn route(w: &mut World, input: Value) -> Value {
    w.advance(1);
    w.ok(&agent("Owner"), "task_route", input)
}

fn task(w: &mut World, input: Value) -> String {
    text(&w.ok(&agent("Ann"), "task_create", input), "id")
}

fn show(w: &mut World, id: &str) -> Value {
    w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true }))
}

/// The hand-off messages that wait for somebody, as they were written.
fn mail(w: &mut World, name: &str) -> Vec<Value> {
    let inbox = list(&w.ok(&agent(name), "mail_inbox", json!({}))["items"]);
    let handoffs = inbox.iter().filter(|m| m["type"].as_str().is_some_and(|t| t.contains('_')));
    let ids: Vec<String> = handoffs.map(|m| text(m, "message_id")).collect();
    ids.iter()
        .map(|id| {
            let read = w.ok(&agent(name), "mail_read", json!({ "message_id": id }));
            w.ok(&agent(name), "signal_delivered", json!({ "message_ids": [id] }));
            match &read["content"] {
                Value::Object(_) => read["content"].clone(),
                _ => serde_json::from_str(read["body"].as_str().expect("a body")).expect("json"),
            }
        })
        .collect()
}

fn work(w: &mut World, id: &Value, by: &str, result: &str, context: Value) {
    w.advance(1);
    w.ok(&agent(by), "task_claim", json!({ "id": id }));
    w.ok(
        &agent(by),
        "task_close",
        json!({ "id": id, "result": result, "context": context, "reason": "as said" }),
    );
}

on_every_backend! {
    fn an_assignment_comes_with_its_message_its_lease_and_a_delta(w) {
        team(w);
        let id = task(w, json!({ "title": "Build it", "agent_role": "implementation", "description": "all of it" }));
        let routed = route(w, json!({}));
        assert_eq!((&routed["items"][0]["agent"], &routed["items"][0]["message_type"]), (&json!("Ida"), &json!("task_assignment")));
        let given = show(w, &id);
        assert_eq!((&given["status"], &given["assignee"], &given["claim"]["by"]), (&json!("in_progress"), &json!("Ida"), &json!("Ida")));
        let mail = mail(w, "Ida");
        assert_eq!(mail.len(), 1);
        assert_eq!((&mail[0]["type"], &mail[0]["task_id"], &mail[0]["from_agent"], &mail[0]["handoff_type"]), (&json!("task_assignment"), &json!(id), &json!("router"), &json!("new_to_implementation")));
        assert!(w.ledger().iter().any(|d| d["body"]["summary"] == format!("task {id} is given to Ida (task_assignment)")));
        assert_eq!(route(w, json!({}))["items"], json!([]), "given once");
        w.start(&agent("Ida"));
        let claimed = w.ok(&agent("Ida"), "task_claim", json!({}));
        assert_eq!((&claimed["task"]["id"], &claimed["token"]), (&json!(id), &json!(1)), "what it was given comes first");
        assert_eq!((given["claim"].get("token"), routed["items"][0].get("token")), (None, None), "the token is its agent's");
    }

    fn a_token_that_is_bound_to_a_name_routes_under_that_name(w) {
        for (scope, name) in [(Scope::Write, "Ben"), (Scope::Operator, "Cy")] {
            let who = bearing(agent(name), name, scope, Some(&[name]));
            w.ok(&who, "agent_register", json!({ "roles": ["testing"] }));
            let none = w.ok(&who, "task_route", json!({ "agent": name }));
            assert_eq!((&none["identity"], &none["items"]), (&json!(name), &json!([])), "nothing is ready");
            let id = task(w, json!({ "title": "t", "agent_role": "testing" }));
            let routed = w.ok(&who, "task_route", json!({ "agent": name, "agent_role": "testing" }));
            assert_eq!((&routed["identity"], &routed["items"][0]["agent"]), (&json!(name), &json!(name)), "{routed:#}");
            assert_eq!(w.pending(&agent(name))[0]["from"], name, "the message says who routed");
            w.ok(&who, "task_claim", json!({ "id": id }));
            w.ok(&who, "task_close", json!({ "id": id, "result": "pass", "reason": "as said" }));
            w.no_trace(&who, "task_route", json!({ "identity": "router" }), "identity_not_bound");
        }
        // One that is bound to nobody routes as the router, unless another token has that name.
        let free = bearing(agent("Zoe"), "zoe", Scope::Write, None);
        assert_eq!(w.ok(&free, "task_route", json!({}))["identity"], "router");
    }

    fn the_best_one_gets_it_and_nobody_more_than_allowed(w) {
        register(w, "Abe", "testing", json!({ "max_tasks": 2 }));
        register(w, "Zoe", "testing", json!({ "skills": ["rust"] }));
        for _ in 0..4 {
            task(w, json!({ "title": "t", "agent_role": "testing-specialist", "specialist_tags": ["qa", "rust"] }));
            w.advance(1);
        }
        let routed = route(w, json!({ "explain": true }));
        assert_eq!(column(&list(&routed["items"]), "agent"), ["Zoe", "Abe", "Abe"]);
        assert_eq!(routed["items"][0]["candidates"][0]["skills"], 2);
        assert_eq!(routed["waiting"][0]["why"], "2 with the role testing: 2 with as many tasks as allowed");
    }

    fn a_dry_run_says_the_same_and_writes_nothing(w) {
        team(w);
        task(w, json!({ "title": "t", "agent_role": "testing" }));
        task(w, json!({ "title": "u", "agent_role": "testing" }));
        let before = w.everything();
        let dry = w.ok(&agent("Owner"), "task_route", json!({ "dry_run": true }));
        assert_eq!(w.everything(), before);
        let real = w.ok(&agent("Owner"), "task_route", json!({}));
        assert_eq!((&dry["items"][0]["task_id"], &dry["items"][0]["agent"]), (&real["items"][0]["task_id"], &real["items"][0]["agent"]));
        assert_eq!(dry["waiting"][0]["why"], real["waiting"][0]["why"]);
    }

    fn a_broken_route_assigns_nothing_and_sends_nothing(w) {
        team(w);
        task(w, json!({ "title": "t", "agent_role": "testing", "agent_context": { "work_completed": "x" } }));
        let routed = break_every_step(w, &agent("Owner"), "task_route", &json!({}));
        assert_eq!(routed["items"][0]["agent"], "Tess");
        let sent = mail(w, "Tess");
        assert_eq!((sent.len(), &sent[0]["type"]), (1, &json!("task_handoff")));
    }

    fn a_broken_give_back_block_or_call_for_help_is_whole_or_not_there(w) {
        team(w);
        let id = task(w, json!({ "title": "t", "agent_role": "testing" }));
        let claimed = w.ok(&agent("Tess"), "task_claim", json!({ "id": id }));
        let back = json!({ "id": id, "token": claimed["token"], "why": "exit 3" });
        assert_eq!(break_every_step(w, &agent("Tess"), "task_release", &back)["attempts"], 1);
        let blocked = break_every_step(w, &agent("Owner"), "task_route", &json!({ "max_attempts": 1 }));
        assert_eq!(blocked["blocked"][0]["failed_attempts"][0]["why"], "exit 3");
        task(w, json!({ "title": "u", "agent_role": "implementation", "specialist_tags": ["cobol"] }));
        break_every_step(w, &agent("Owner"), "task_route", &json!({ "escalate_after_s": 0 }));
        break_every_step(w, &agent("Owner"), "task_route", &json!({ "escalate_after_s": 0 }));
        assert_eq!(w.pending(&agent("human")).len(), 2);
    }

    fn the_messages_of_an_increment_are_those_of_the_table(w) {
        team(w);
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Detect" }));
        let seen = |w: &mut World, name: &str| {
            route(w, json!({}));
            let sent = mail(w, name);
            assert_eq!(sent.len(), 1, "{name}: {sent:#?}");
            (text(&sent[0], "type"), text(&sent[0], "handoff_type"))
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(seen(w, "Ida"), pair("task_assignment", "new_to_implementation"));
        work(w, &made["implementation_id"], "Ida", "pass", json!({ "work_completed": "built" }));
        assert_eq!(seen(w, "Tess"), pair("task_handoff", "implementation_to_testing"));
        work(w, &made["test_id"], "Tess", "fail", json!({ "failure_details": "boom" }));
        assert_eq!(seen(w, "Fred"), pair("test_failure_report", "testing_to_fixing"));
        work(w, &made["fix_id"], "Fred", "pass", json!({ "work_completed": "mended" }));
        assert_eq!(seen(w, "Tess"), pair("fix_complete", "fixing_to_testing"));
        work(w, &made["test_id"], "Tess", "pass", json!({ "summary": "12 pass" }));
        assert_eq!(seen(w, "Vera"), pair("verification_request", "testing_to_verification"));
        work(w, &made["verify_id"], "Vera", "pass", json!({}));
        assert_eq!(route(w, json!({}))["items"], json!([]));
        assert_eq!(show(w, &text(&made, "implementation_id"))["status"], "closed");
    }

    fn without_an_agent_it_waits_then_a_generalist_may_then_a_human_is_told_once(w) {
        w.ok(&agent("Gen"), "agent_register", json!({}));
        let id = task(w, json!({ "title": "t", "agent_role": "testing" }));
        let policy = json!({ "fallback_after_s": 60, "escalate_after_s": 120, "human": "Chief" });
        let first = route(w, policy.clone());
        assert_eq!(first["waiting"][0]["why"], "no agent with the role testing is registered");
        assert_eq!(show(w, &id)["route"]["why"], "no agent with the role testing is registered");
        w.advance(59_000);
        assert_eq!(route(w, policy.clone())["items"], json!([]));
        w.ok(&agent("Gen"), "agent_register", json!({ "roles": ["fixing"] }));
        w.advance(61_000);
        assert_eq!(route(w, policy.clone())["waiting"][0]["told"], true);
        route(w, policy.clone());
        assert_eq!(w.pending(&agent("Chief")).len(), 1, "told once");
        w.ok(&agent("Gen"), "agent_register", json!({ "roles": [] }));
        assert_eq!(route(w, policy)["items"][0]["agent"], "Gen");
    }

    fn a_failed_agent_is_asked_after_others_and_too_many_attempts_block(w) {
        register(w, "Abe", "testing", json!({ "skills": ["rust"] }));
        register(w, "Bob", "testing", json!({}));
        let id = task(w, json!({ "title": "t", "agent_role": "testing", "specialist_tags": ["qa", "rust"] }));
        for (round, name) in ["Abe", "Bob", "Abe"].into_iter().enumerate() {
            let routed = route(w, json!({ "max_attempts": 3 }));
            assert_eq!(routed["items"][0]["agent"], name, "round {round}");
            w.ok(&agent(name), "task_release", json!({ "id": id, "why": format!("exit {round}") }));
        }
        assert_eq!(show(w, &id)["attempts"], 3);
        let blocked = route(w, json!({ "max_attempts": 3 }));
        assert_eq!(column(&list(&blocked["blocked"][0]["failed_attempts"]), "by"), ["Abe", "Bob", "Abe"]);
        assert_eq!(show(w, &id)["status"], "blocked");
        let pending = w.pending(&agent("human"));
        let body = text(&pending[0], "body");
        assert!(["exit 0", "exit 1", "exit 2"].iter().all(|why| body.contains(why)), "{body}");
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "status": "open" }));
        assert_eq!(route(w, json!({ "max_attempts": 3 }))["items"][0]["agent"], "Bob", "a human gave it three more");
    }

    fn a_fix_that_a_human_opens_again_lets_its_test_route_again(w) {
        team(w);
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        for key in ["test_id", "fix_id"] {
            w.ok(&agent("Ann"), "task_update", json!({ "id": made[key], "specialist_tags": [] }));
        }
        let policy = json!({ "max_attempts": 2 });
        work(w, &made["implementation_id"], "Ida", "pass", json!({}));
        work(w, &made["test_id"], "Tess", "fail", json!({}));
        work(w, &made["fix_id"], "Fred", "pass", json!({}));
        work(w, &made["test_id"], "Tess", "fail", json!({}));
        assert_eq!(column(&list(&route(w, policy.clone())["blocked"]), "task_id"), [text(&made, "fix_id")]);
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["fix_id"], "status": "open" }));
        // As many attempts once more, for the whole circle, and no more than that.
        for round in 0..2 {
            assert_eq!(route(w, policy.clone())["blocked"], json!([]), "the fix in round {round}");
            work(w, &made["fix_id"], "Fred", "pass", json!({}));
            assert_eq!(route(w, policy.clone())["blocked"], json!([]), "the test in round {round}");
            work(w, &made["test_id"], "Tess", "fail", json!({}));
        }
        assert_eq!(column(&list(&route(w, policy)["blocked"]), "task_id"), [text(&made, "fix_id")]);
    }

    fn a_lease_that_runs_out_counts_and_its_unread_message_is_taken_back(w) {
        register(w, "Abe", "testing", json!({}));
        let id = task(w, json!({ "title": "t", "agent_role": "testing", "agent_context": { "work_completed": "x" } }));
        route(w, json!({}));
        w.advance(STALE + 1);
        register(w, "Bob", "testing", json!({}));
        let again = route(w, json!({}));
        assert_eq!((&again["given_back"], &again["items"][0]["agent"]), (&json!([id]), &json!("Bob")));
        assert_eq!(again["items"][0]["message_type"], "task_handoff");
        assert_eq!((mail(w, "Abe").len(), mail(w, "Bob").len()), (0, 1), "one of them has the message");
        assert_eq!(show(w, &id)["attempts"], 1);
    }

    fn a_holder_whose_process_ended_has_what_it_was_promised_and_no_more(w) {
        register(w, "Abe", "testing", json!({}));
        register(w, "Bob", "testing", json!({}));
        let id = task(w, json!({ "title": "t", "agent_role": "testing" }));
        assert_eq!(route(w, json!({}))["items"][0]["agent"], "Abe");
        let abe = agent("Abe").process("worker");
        w.start(&abe);
        let until = text(&w.ok(&abe, "task_claim", json!({ "id": id })), "expires_at");
        assert_eq!(route(w, json!({}))["given_back"], json!([]));
        w.kill(&abe);
        assert_eq!(route(w, json!({}))["given_back"], json!([]), "it was promised until {until}");
        let until = baton_model::time::parse_rfc3339(&until).expect("a time");
        w.advance(until - w.now);
        register(w, "Bob", "testing", json!({}));
        let again = route(w, json!({}));
        assert_eq!((&again["given_back"], &again["items"][0]["agent"]), (&json!([id]), &json!("Bob")));
    }

    fn a_worker_that_promised_nothing_is_not_waited_for(w) {
        register(w, "Abe", "testing", json!({}));
        register(w, "Bob", "testing", json!({}));
        let id = task(w, json!({ "title": "t", "agent_role": "testing" }));
        route(w, json!({}));
        let abe = agent("Abe").process("worker");
        w.start(&abe);
        w.ok(&abe, "task_claim", json!({ "id": id, "while_alive": true }));
        w.advance(1_000);
        assert_eq!(route(w, json!({}))["given_back"], json!([]), "it lives");
        w.kill(&abe);
        let again = route(w, json!({}));
        assert_eq!((&again["given_back"], &again["items"][0]["agent"]), (&json!([id]), &json!("Bob")));
    }

    fn a_worker_asks_for_itself_and_gets_what_it_was_given_first(w) {
        register(w, "Abe", "testing", json!({ "max_tasks": 2 }));
        register(w, "Bob", "testing", json!({}));
        let first = task(w, json!({ "title": "t", "agent_role": "testing" }));
        let routed = route(w, json!({ "agent": "Bob", "limit": 1 }));
        assert_eq!((&routed["items"][0]["task_id"], &routed["items"][0]["agent"]), (&json!(first), &json!("Bob")));
        assert_eq!(route(w, json!({ "agent": "Bob", "limit": 1 }))["not_begun"], json!([first]));
        w.ok(&agent("Bob"), "task_release", json!({ "id": first }));
        assert_eq!(route(w, json!({ "agent": "Bob", "limit": 1 }))["items"], json!([]), "Abe has not tried yet");
        assert_eq!(route(w, json!({ "agent": "Abe", "limit": 1 }))["items"][0]["task_id"], json!(first));
    }
}
