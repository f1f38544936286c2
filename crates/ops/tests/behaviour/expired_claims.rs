//! A hand-off that nobody took before its deadline has expired at that moment, whichever call is the first to find it so.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn cas() -> Agent {
    agent("Cas").project("q").process("")
}

/// A hand-off that waits for a minute, and its task.
fn offered(w: &mut World) -> (String, String) {
    w.register("q");
    let wanted = json!({ "to_project_id": "q", "subject": "add an endpoint", "expires_in": "1m" });
    let id = text(&w.ok(&agent("Lola"), "handoff_create", wanted), "handoff_id");
    let shown = w.ok(&cas(), "handoff_show", json!({ "id": id }));
    (id, text(&shown["task"], "id"))
}

fn state(w: &mut World, id: &str) -> Value {
    w.ok(&agent("Lola"), "handoff_show", json!({ "id": id }))["state"].clone()
}

/// The first call after the deadline is refused, and the hand-off has expired.
fn is_expired(w: &mut World, verb: &str, more: &Value) -> (String, String) {
    let (id, task) = offered(w);
    w.advance(60_000);
    let mut input = more.clone();
    input["id"] = json!(task);
    let refusal = w.no(&cas(), verb, input, "handoff_state");
    assert!(text(&refusal, "message").contains("expired"), "{refusal:#}");
    assert_eq!((&refusal["handoff_id"], &refusal["task_id"]), (&json!(id), &json!(task)));
    assert_eq!(state(w, &id), "expired");
    let ledger = Value::from(w.ledger()).to_string();
    assert!(ledger.contains("expired"), "the ledger says so: {ledger}");
    let left = w.ok(&cas(), "task_show", json!({ "id": task }));
    assert_eq!((&left["status"], &left["claim"]), (&json!("closed"), &Value::Null), "{left:#}");
    (id, task)
}

on_every_backend! {
    fn a_claim_in_the_last_moment_holds_and_one_at_the_deadline_does_not(w) {
        let (id, task) = offered(w);
        w.advance(59_999);
        w.ok(&cas(), "task_claim", json!({ "id": task }));
        w.advance(60_000);
        assert_eq!(state(w, &id), "offered", "it does not expire while its task is held");
        w.ok(&cas(), "task_close", json!({ "id": task, "reason": "merged as 12" }));
    }

    fn a_claim_at_the_deadline_finds_it_expired(w) {
        is_expired(w, "task_claim", &json!({}));
    }

    fn nor_does_force_bring_it_back(w) {
        is_expired(w, "task_claim", &json!({ "force": true, "why": "I want it" }));
    }

    fn nor_an_update_that_begins_it(w) {
        is_expired(w, "task_update", &json!({ "status": "in_progress", "assignee": "Cas" }));
    }

    fn nor_a_close(w) {
        let (id, task) = is_expired(w, "task_close", &json!({ "reason": "merged as 12" }));
        // What was done all the same is kept where both sides look.
        let shown = w.ok(&cas(), "handoff_show", json!({ "id": id }));
        assert_eq!(shown["late_results"][0]["result"], "merged as 12", "{shown:#}");
        let comments = w.ok(&cas(), "task_show", json!({ "id": task }))["comments"].clone();
        assert_eq!(comments[0]["text"], "merged as 12");
    }

    fn its_task_is_no_open_work_any_more(w) {
        let (_, task) = offered(w);
        let ids = |card: &Value| column(&list(&card["tasks"]), "id");
        assert_eq!(ids(&w.ok(&cas(), "session_status", json!({}))), [task]);
        w.advance(60_000);
        assert_eq!(ids(&w.ok(&cas(), "session_status", json!({}))), Vec::<String>::new());
    }

    fn who_asks_for_any_ready_task_is_given_another(w) {
        let (_, task) = offered(w);
        let other = text(&w.ok(&cas(), "task_create", json!({ "title": "another", "priority": 4 })), "id");
        w.advance(60_000);
        let taken = w.ok(&cas(), "task_claim", json!({}));
        assert_eq!(taken["task"]["id"], json!(other), "not {task}");
    }

    fn the_router_gives_it_to_nobody(w) {
        let (id, task) = offered(w);
        w.ok(&cas(), "task_update", json!({ "id": task, "agent_role": "implementation" }));
        w.ok(&agent("Ida").project("q"), "agent_register", json!({ "roles": ["implementation"] }));
        w.advance(60_000);
        assert_eq!(w.ok(&agent("Owner").project("q"), "task_route", json!({}))["items"], json!([]));
        assert_eq!(state(w, &id), "expired");
    }

    fn a_claim_that_ran_out_after_the_deadline_is_not_taken_up_again(w) {
        let (id, task) = offered(w);
        w.ok(&cas(), "task_claim", json!({ "id": task, "lease_s": 120 }));
        w.advance(119_999);
        assert_eq!(state(w, &id), "offered");
        w.advance(1);
        w.no(&cas(), "task_claim", json!({ "id": task }), "handoff_state");
        assert_eq!(state(w, &id), "expired");
    }
}
