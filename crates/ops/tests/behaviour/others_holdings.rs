//! What an agent holds stays its own: every operation is tried with everything of hers by tokens that may write, without force.

use std::collections::BTreeSet;

use baton_model::access::Scope;
use baton_ops::all;
use baton_ops::op::TxMode;
use serde_json::{Value, json};

use crate::bearers::bearing;
use crate::tokens::{gather, inputs};
use crate::transcript_copies::{open, push};
use crate::world::{Agent, World, agent, text};

/// Ann at work in project `p`, with something of every kind that one can hold; the ids by which it is named.
pub(crate) fn at_work(w: &mut World) -> BTreeSet<String> {
    w.register("q");
    let ann = agent("Ann");
    open(w, "p");
    w.leave_baton(&agent("Zed"), "half of it");
    let mut answers = vec![w.pickup(&ann)];
    let task = w.ok(&ann, "task_create", json!({ "title": "hers" }));
    answers.push(w.ok(&ann, "task_claim", json!({ "id": task["id"] })));
    answers.push(w.ok(&ann, "lease_take", json!({ "patterns": ["src/**"] })));
    answers.push(w.ok(&ann, "key_create", json!({})));
    answers.push(w.ok(&ann, "agent_register", json!({ "roles": ["testing"] })));
    answers.push(w.ok(&ann, "session_checkpoint", json!({ "summary": "so far", "state": { "k": 1 } })));
    answers.push(push(w, &ann, "0b1c7d52-of-ann", b"what she said"));
    let sent = w.ok(
        &agent("Sue").project("q"),
        "handoff_create",
        json!({ "to_project_id": "p", "subject": "work", "local": true }),
    );
    w.ok(&ann, "handoff_advance", json!({ "id": sent["handoff_id"], "action": "accept" }));
    answers.extend([task, sent]);
    let mut ids = BTreeSet::new();
    answers.iter().for_each(|answer| gather(answer, &mut ids));
    ids.extend(["Ann", "p", "src/**", "0b1c7d52-of-ann"].map(str::to_owned));
    ids
}

/// What she holds: rows of hers, and what is told of her task and hand-off.
fn holdings(w: &mut World, (task, handoff): (&str, &str)) -> Value {
    let ann = agent("Ann");
    let task = w.ok(&ann, "task_show", json!({ "id": task }));
    let handoff = w.ok(&ann, "handoff_show", json!({ "id": handoff }));
    let is_hers = |row: &String| {
        ["session:", "session_state:", "file_lease:", "public_key:", "transcript_copy:", "agent:"]
            .iter()
            .any(|table| row.starts_with(table))
            && row.contains("Row([Text(\"p\")")
            && row.contains("\"Ann\"")
    };
    let rows: Vec<String> = w.everything().into_iter().filter(is_hers).collect();
    assert!(rows.len() >= 6, "something of every kind: {rows:#?}");
    json!({
        "rows": rows,
        "task": [&task["status"], &task["assignee"], &task["title"], &task["close_reason"]],
        "handoff": [&handoff["state"], &handoff["accepted_by"], &handoff["result"]],
    })
}

/// Tries every operation that writes with everything of hers.
fn try_all(w: &mut World, mal: &Agent, ids: &BTreeSet<String>) {
    let ann = agent("Ann");
    let task = text(&w.ok(&ann, "task_list", json!({ "status": "in_progress" }))["items"][0], "id");
    let handoff = text(&w.ok(&ann, "handoff_list", json!({}))["items"][0], "handoff_id");
    let named = (task.as_str(), handoff.as_str());
    let before = holdings(w, named);
    for entry in all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Write) {
        for input in inputs(&(entry.input_schema)().to_value(), ids) {
            let _ = w.call(mal, entry.name, input);
        }
        let after = holdings(w, named);
        assert_eq!(after, before, "{} moves what Ann holds", entry.name);
    }
}

on_every_backend! {
    fn no_operation_of_a_bound_token_moves_what_another_holds(w) {
        let ids = at_work(w);
        try_all(w, &bearing(agent("Mal").process("mal"), "mal", Scope::Write, Some(&["Mal"])), &ids);
    }

    fn no_operation_of_a_token_that_says_her_name_moves_what_she_holds(w) {
        let ids = at_work(w);
        try_all(w, &bearing(agent("Ann").process("mal"), "eve", Scope::Write, None), &ids);
    }

    fn no_operation_of_a_nameless_token_moves_what_another_holds(w) {
        let ids = at_work(w);
        try_all(w, &bearing(agent("Ann").process("mal").nameless(), "eve", Scope::Write, None), &ids);
    }
}
