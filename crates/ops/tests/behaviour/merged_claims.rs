//! A merge of two projects makes no second holder of a task, whatever was claimed, given or failed before it.

use serde_json::{Value, json};

use crate::hub::Hub;
use crate::saga;
use crate::world::{Agent, World, agent, column, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

fn merging(dry_run: bool) -> Value {
    json!({ "from": "fix", "into": "p", "dry_run": dry_run })
}

fn create(w: &mut World) -> String {
    w.advance(1);
    text(&w.ok(&at("Setup", "fix"), "task_create", json!({ "title": "t", "id": "fix-a" })), "id")
}

/// The line of the task as the file of the project's folder has it.
fn published(w: &mut World, id: &str) -> String {
    let items = list(&w.ok(&at("Setup", "fix"), "beads_export", json!({}))["items"]);
    let line = text(items.iter().find(|item| item["id"] == id).expect("its line"), "line");
    w.ok(&at("Setup", "fix"), "beads_published", json!({ "lines": [{ "id": id, "line": line }] }));
    line
}

on_every_backend! {
    fn no_merge_leaves_a_task_held_in_the_project_that_ends(w) {
        w.register("fix");
        let id = create(w);
        w.ok(&at("Zed", "fix"), "task_claim", json!({ "id": id }));
        for dry_run in [true, false] {
            let refusal = w.no_trace(&agent("Owner"), "project_merge", merging(dry_run), "tasks_claimed");
            assert_eq!(refusal["tasks"], json!(["fix-a"]), "{refusal:#}");
            assert!(text(&refusal, "message").contains("fix-a by Zed"), "{refusal:#}");
            assert!(text(&refusal, "hint").contains("--project fix task release fix-a --force"), "{refusal:#}");
        }
        w.ok(&at("Owner", "fix"), "task_release", json!({ "id": id, "force": true, "why": "the projects are one" }));
        w.ok(&agent("Owner"), "project_merge", merging(false));
        w.no_trace(&at("Zed", "fix"), "task_claim", json!({ "id": id }), "project_merged");
    }

    fn the_promise_of_a_silent_agent_stands_against_a_merge_until_it_is_over(w) {
        w.register("fix");
        let id = create(w);
        w.start(&at("Sil", "fix"));
        w.ok(&at("Sil", "fix"), "task_claim", json!({ "id": id, "lease_s": 3_600 }));
        w.advance(3_500_000);
        w.no_trace(&agent("Owner"), "project_merge", merging(false), "tasks_claimed");
        w.advance(200_000);
        w.ok(&agent("Owner"), "project_merge", merging(false));
        let left = w.ok(&at("Owner", "fix"), "task_show", json!({ "id": id }));
        assert_eq!((&left["status"], &left["claim"]), (&json!("open"), &Value::Null));
    }

    fn what_the_router_gave_and_nobody_began_is_free_after_a_merge(w) {
        w.register("fix");
        w.ok(&at("Ida", "fix"), "agent_register", json!({ "roles": ["implementation"] }));
        let id = create(w);
        w.ok(&at("Setup", "fix"), "task_update", json!({ "id": id, "agent_role": "implementation" }));
        let routed = w.ok(&at("Owner", "fix"), "task_route", json!({}));
        assert_eq!(routed["items"][0]["agent"], "Ida");
        let line = published(w, &id);
        assert!(line.contains("in_progress") && line.contains("Ida"), "{line}");
        w.ok(&agent("Owner"), "project_merge", merging(false));
        let left = w.ok(&at("Owner", "fix"), "task_show", json!({ "id": id }));
        assert_eq!((&left["status"], &left["claim"]), (&json!("open"), &Value::Null));
        let mail = list(&w.ok(&at("Ida", "p"), "mail_inbox", json!({}))["items"]);
        assert_eq!(column(&mail, "subject"), [""; 0], "its letter asks for nothing any more");
        // The file of the folder still says what the merged project had written.
        w.ok(&agent("Setup"), "beads_import", json!({ "lines": [line] }));
        let here = w.ok(&agent("Setup"), "task_show", json!({ "id": id }));
        assert_eq!((&here["status"], &here["assignee"]), (&json!("open"), &Value::Null), "{here:#}");
        w.ok(&agent("Yuri"), "task_claim", json!({ "id": id }));
    }

    fn what_another_ledger_has_in_progress_stays_so_after_a_merge(w) {
        w.register("fix");
        let id = create(w);
        let line = published(w, &id);
        w.ok(&agent("Owner"), "project_merge", merging(false));
        let mut row: Value = serde_json::from_str(&line).expect("json");
        (row["status"], row["assignee"]) = (json!("in_progress"), json!("Zoe"));
        w.ok(&agent("Setup"), "beads_import", json!({ "lines": [row.to_string()] }));
        let here = w.ok(&agent("Setup"), "task_show", json!({ "id": id }));
        assert_eq!((&here["status"], &here["assignee"]), (&json!("in_progress"), &json!("Zoe")));
    }

    fn a_failed_hand_off_to_a_project_that_was_merged_is_not_tried_again(w) {
        let (id, mut hub) = (saga::create(w), Hub { refuse: true, ..Hub::default() });
        saga::drive(w, &mut hub, &id);
        assert_eq!(w.ok(&agent("Lola"), "handoff_show", json!({ "id": id }))["state"], "failed");
        w.register("last");
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "q", "into": "last" }));
        let refusal = w.no_trace(&agent("Lola"), "handoff_retry", json!({ "id": id }), "project_merged");
        assert_eq!(refusal["project_id"], "last");
    }
}
