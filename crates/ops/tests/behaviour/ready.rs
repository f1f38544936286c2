//! What is ready: dependencies, parts, deferral, and a comparison with the plainest way to work it out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn new(w: &mut World, title: &str) -> String {
    w.advance(1);
    text(&w.ok(&agent("Ann"), "task_create", json!({ "title": title, "id": format!("p-{title}") })), "id")
}

fn link(w: &mut World, id: &str, kind: &str, on: &str) {
    w.ok(&agent("Ann"), "task_depend", json!({ "id": id, "on": on, "type": kind }));
}

fn close(w: &mut World, id: &str, result: &str) -> Value {
    w.ok(&agent("Ann"), "task_close", json!({ "id": id, "result": result, "force": true }))
}

fn ready(w: &mut World) -> Vec<String> {
    let items = list(&w.ok(&agent("Ann"), "task_ready", json!({ "limit": 0 }))["items"]);
    column(&items, "id").into_iter().map(|id| id.trim_start_matches("p-").to_owned()).collect()
}

on_every_backend! {
    fn what_was_opened_again_gives_way_to_nothing_that_gave_way_to_it(w) {
        let ann = agent("Ann");
        let [a, b] = ["A", "B"].map(|title| text(&w.ok(&ann, "task_create", json!({ "title": title })), "id"));
        let gives_way = |one: &str, other: &str| json!({ "id": one, "on": other, "type": "duplicates" });
        w.ok(&ann, "task_depend", gives_way(&a, &b));
        w.ok(&ann, "task_close", json!({ "id": a, "result": "pass" }));
        w.ok(&ann, "task_reopen", json!({ "id": a }));
        w.ok(&ann, "task_depend", gives_way(&b, &a));
        w.ok(&ann, "task_close", json!({ "id": b, "result": "pass" }));
        w.no_trace(&ann, "task_depend", gives_way(&a, &b), "dependency_cycle");
    }

    fn what_is_blocked_is_ready_once_its_blockers_are_closed(w) {
        let (a, b, c) = (new(w, "a"), new(w, "b"), new(w, "c"));
        link(w, &c, "blocks", &a);
        link(w, &c, "blocks", &b);
        link(w, &b, "related", &a);
        assert_eq!(ready(w), ["a", "b"]);
        let refused = w.no_trace(&agent("Ann"), "task_close", json!({ "id": c }), "task_blocked");
        assert_eq!(refused["blocked_by"], json!(["p-a", "p-b"]));
        let blocked = w.ok(&agent("Ann"), "task_blocked", json!({}));
        assert_eq!(blocked["items"][0]["blocked_by"], json!(["p-a", "p-b"]));
        assert_eq!(close(w, &a, "pass")["unblocked"], json!([]));
        assert_eq!(close(w, &b, "fail")["unblocked"], json!(["p-c"]), "closed is closed");
        assert_eq!(ready(w), ["c"]);
        w.ok(&agent("Ann"), "task_reopen", json!({ "id": a }));
        assert_eq!(ready(w), ["a"]);
        w.ok(&agent("Ann"), "task_depend", json!({ "id": c, "on": a, "remove": true }));
        assert_eq!(ready(w), ["a", "c"]);
    }

    fn a_blocked_whole_blocks_its_parts_at_any_depth_and_its_own_parts_never_do(w) {
        let (epic, x) = (new(w, "epic"), new(w, "x"));
        let part = |w: &mut World, of: &str| text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "parent": of })), "id");
        let child = part(w, &epic);
        let grandchild = part(w, &child);
        assert_eq!((child.as_str(), grandchild.as_str()), ("p-epic.1", "p-epic.1.1"));
        link(w, &epic, "blocks", &x);
        assert_eq!(ready(w), ["x"]);
        close(w, &x, "pass");
        assert_eq!(ready(w).len(), 3);
        // The whole waits for its own part: the other parts can begin all the same.
        let other = part(w, &epic);
        link(w, &epic, "blocks", &other);
        assert_eq!(ready(w), ["epic.1", "epic.1.1", "epic.2"]);
        close(w, &other, "pass");
        assert_eq!(ready(w).len(), 3);
    }

    fn deferral_and_a_status_set_by_hand_hold_the_parts_too(w) {
        let epic = new(w, "epic");
        w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "parent": epic }));
        w.ok(&agent("Ann"), "task_update", json!({ "id": epic, "defer": "1h" }));
        assert_eq!(ready(w), Vec::<String>::new());
        w.advance(3_600_000);
        assert_eq!(ready(w).len(), 2);
        w.ok(&agent("Ann"), "task_update", json!({ "id": epic, "status": "blocked" }));
        assert_eq!(ready(w), Vec::<String>::new());
        w.ok(&agent("Ann"), "task_update", json!({ "id": epic, "status": "in_progress" }));
        assert_eq!(ready(w), ["epic.1"]);
    }

    fn a_condition_and_waiting_for_parts_are_kept(w) {
        let (a, fallback, epic, after) = (new(w, "a"), new(w, "fallback"), new(w, "epic"), new(w, "after"));
        link(w, &fallback, "conditional-blocks", &a);
        link(w, &after, "waits-for", &epic);
        assert_eq!(ready(w), ["a", "epic", "after"], "no parts yet: nothing to wait for");
        let part = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "parent": epic })), "id");
        assert_eq!(ready(w), ["a", "epic", "epic.1"]);
        close(w, &part, "pass");
        close(w, &a, "pass");
        assert_eq!(ready(w), ["epic", "after"], "it did not fail, so the fallback sleeps on");
        w.ok(&agent("Ann"), "task_reopen", json!({ "id": a }));
        w.ok(&agent("Ann"), "task_close", json!({ "id": a, "reason": "Cancelled by the owner" }));
        assert_eq!(ready(w), ["fallback", "epic", "after"]);
    }

    fn records_that_are_no_work_are_never_offered(w) {
        for (kind, extra) in [("message", json!({})), ("gate", json!({})), ("task", json!({ "pinned": true })), ("task", json!({ "ephemeral": true }))] {
            w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "issue_type": kind, "extra": extra }));
        }
        assert_eq!(ready(w), Vec::<String>::new());
    }

    fn a_circle_is_refused_and_shown(w) {
        let (a, b, c, epic) = (new(w, "a"), new(w, "b"), new(w, "c"), new(w, "epic"));
        link(w, &a, "blocks", &b);
        link(w, &b, "blocks", &c);
        let refused = w.no_trace(&agent("Ann"), "task_depend", json!({ "id": c, "on": a }), "dependency_cycle");
        assert_eq!(refused["cycle"], json!(["p-c", "p-a", "p-b", "p-c"]));
        w.no_trace(&agent("Ann"), "task_depend", json!({ "id": a, "on": a }), "dependency_cycle");
        // c waits for the epic, which is to have a part that c waits for: the part would wait for c through the whole.
        let part = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "parent": epic })), "id");
        link(w, &c, "blocks", &part);
        let refused = w.no_trace(&agent("Ann"), "task_depend", json!({ "id": epic, "on": a }), "dependency_cycle");
        assert_eq!(refused["cycle"], json!(["p-epic", "p-a", "p-b", "p-c", part]));
        w.no_trace(&agent("Ann"), "task_depend", json!({ "id": epic, "on": part, "type": "parent-child" }), "dependency_cycle");
        link(w, &c, "related", &a);
        assert_eq!(w.ok(&agent("Ann"), "task_cycles", json!({}))["items"], json!([]));
    }

    fn a_new_task_may_come_with_its_dependencies(w) {
        let a = new(w, "a");
        let b = w.ok(&agent("Ann"), "task_create", json!({ "title": "b", "deps": [a] }));
        let c = w.ok(&agent("Ann"), "task_create", json!({ "title": "c", "deps": ["blocks:p-a", "discovered-from:p-a"] }));
        assert_eq!((b["blocked"].clone(), c.get("blocked")), (json!(true), None));
        assert_eq!(ready(w), [text(&c, "id").trim_start_matches("p-")]);
        let mut tree = list(&w.ok(&agent("Ann"), "task_tree", json!({ "id": b["id"] }))["items"]);
        tree.retain(|row| row.get("seen").is_none());
        assert_eq!(column(&tree, "id"), [text(&b, "id"), a, text(&c, "id")]);
        w.no_trace(&agent("Ann"), "task_create", json!({ "title": "d", "deps": ["p-nobody"] }), "task_unknown");
    }

    fn the_column_says_what_the_plainest_way_says_after_every_change(w) {
        let mut ids: Vec<String> = (0..6).map(|n| new(w, &format!("s{n}"))).collect();
        let kinds = ["blocks", "conditional-blocks", "waits-for", "parent-child", "related"];
        let statuses = ["open", "blocked", "in_progress", "deferred"];
        for step in 0..160 {
            w.advance(1);
            let (one, two) = (ids[w.dice.below(ids.len())].clone(), ids[w.dice.below(ids.len())].clone());
            let kind = kinds[w.dice.below(kinds.len())];
            let pick = w.dice.below(10);
            let (verb, input) = match pick {
                0 => ("task_create", json!({ "title": "t", "id": format!("p-n{step}") })),
                1..=4 => ("task_depend", json!({ "id": one, "on": two, "type": kind })),
                5 => ("task_depend", json!({ "id": one, "on": two, "type": kind, "remove": true })),
                6 => ("task_close", json!({ "id": one, "force": true, "result": if w.dice.below(2) == 0 { "pass" } else { "fail" } })),
                7 => ("task_reopen", json!({ "id": one })),
                8 => ("task_update", json!({ "id": one, "status": statuses[w.dice.below(4)] })),
                _ => ("task_update", json!({ "id": one, "defer": if w.dice.below(2) == 0 { "1h" } else { "" } })),
            };
            let answer = w.call(&agent("Ann"), verb, input.clone());
            if let (Ok(made), 0) = (&answer, pick) {
                ids.push(text(made, "id"));
            }
            let mut found = ready(w);
            found.sort();
            assert_eq!(found, plainly(w), "after step {step}: {verb} {input}");
        }
    }
}

/// Every task by id, with its dependencies.
type All = BTreeMap<String, Value>;

/// What is ready, worked out from nothing but the tasks themselves.
fn plainly(w: &mut World) -> Vec<String> {
    let now = w.now;
    let items =
        list(&w.ok(&agent("Ann"), "task_list", json!({ "all": true, "edges": true, "limit": 0 }))["items"]);
    let all: All = items.into_iter().map(|task| (text(&task, "id"), task)).collect();
    let is_ready = |task: &&Value| {
        task["status"] == "open"
            && held_by(&all, task).is_empty()
            && !parent(&all, task).is_some_and(|parent| passes(&all, parent))
            && !later(&all, task, now)
    };
    all.values().filter(is_ready).map(|task| text(task, "id").trim_start_matches("p-").to_owned()).collect()
}

fn parent<'a>(all: &'a All, task: &Value) -> Option<&'a Value> {
    all.get(task["parent"].as_str()?)
}

fn is_within(all: &All, task: &Value, whole: &Value) -> bool {
    task["id"] == whole["id"] || parent(all, task).is_some_and(|parent| is_within(all, parent, whole))
}

fn later(all: &All, task: &Value, now: i64) -> bool {
    let own =
        task["defer_until"].as_str().and_then(baton_model::time::parse_rfc3339).is_some_and(|at| at > now);
    own || parent(all, task).is_some_and(|parent| later(all, parent, now))
}

/// What holds a task back by its own dependencies.
fn held_by<'a>(all: &'a All, task: &Value) -> Vec<&'a Value> {
    let edges = task["dependencies"].as_array().cloned().unwrap_or_default();
    let holds = |edge: &Value| {
        let on = &all[edge["depends_on_id"].as_str().expect("a target")];
        let parts = || all.values().filter(|t| t["parent"] == on["id"] && t["id"] != task["id"]);
        let held = match edge["type"].as_str().expect("a type") {
            "blocks" => on["status"] != "closed",
            "conditional-blocks" => on["status"] != "closed" || on["result"] == "pass",
            "waits-for" => parts().any(|part| part["status"] != "closed"),
            _ => false,
        };
        held.then_some(on)
    };
    edges.iter().filter_map(holds).collect()
}

fn passes(all: &All, task: &Value) -> bool {
    let shelved = task["status"] == "blocked" || task["status"] == "deferred";
    let outside = task["status"] != "closed" && held_by(all, task).iter().any(|on| !is_within(all, on, task));
    shelved || outside || parent(all, task).is_some_and(|parent| passes(all, parent))
}
