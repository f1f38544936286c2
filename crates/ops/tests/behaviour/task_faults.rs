//! What is wrong with a task, a claim or a file is told with its place, and nothing is half done.

use serde_json::{Value, json};

use crate::broken::break_every_step;
use crate::world::{World, agent, column, list, text};

fn task(w: &mut World, input: Value) -> String {
    text(&w.ok(&agent("Ann"), "task_create", input), "id")
}

on_every_backend! {
    fn a_broken_claim_or_close_is_not_there(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "t" }));
        let id = &made["implementation_id"];
        w.start(&agent("Ida"));
        let claimed = break_every_step(w, &agent("Ida"), "task_claim", &json!({ "id": id }));
        let close = json!({ "id": id, "token": claimed["token"], "result": "pass", "context": { "work_completed": "x" } });
        let closed = break_every_step(w, &agent("Ida"), "task_close", &close);
        assert_eq!(closed["set_off"][0]["id"], made["test_id"]);
        w.ok(&agent("Ida"), "task_claim", json!({ "id": made["test_id"] }));
        let failed = json!({ "id": made["test_id"], "result": "fail", "reason": "boom" });
        assert_eq!(break_every_step(w, &agent("Ida"), "task_close", &failed)["set_off"][0]["act"], "wake");
        let again = break_every_step(w, &agent("Ida"), "task_reopen", &json!({ "id": id }));
        assert_eq!(again["status"], "open");
    }

    fn a_broken_increment_leaves_none_of_its_four_tasks(w) {
        let before = task(w, json!({ "title": "epic", "issue_type": "epic" }));
        let made = break_every_step(w, &agent("Ann"), "task_increment", &json!({ "title": "t", "parent": before }));
        assert_eq!(list(&made["items"]).len(), 4);
        break_every_step(w, &agent("Ann"), "task_depend", &json!({ "id": before, "on": made["verify_id"], "type": "related" }));
        break_every_step(w, &agent("Ann"), "task_comment", &json!({ "id": before, "text": "hm" }));
    }

    fn a_broken_import_of_tasks_takes_none_in(w) {
        let line = |id: &str, more: &str| format!(r#"{{"id":"{id}","title":"t","status":"open","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"{more}}}"#);
        let needs = r#","dependencies":[{"issue_id":"x-2","depends_on_id":"x-1","type":"blocks"}]"#;
        let lines = json!({ "lines": [line("x-1", ""), line("x-2", needs), r#"{"_type":"memory","key":"k","value":"v"}"#] });
        let imported = break_every_step(w, &agent("Ann"), "beads_import", &lines);
        assert_eq!(imported["created"], 2);
        let changed = json!({ "lines": [line("x-1", r#","priority":1"#), line("x-2", needs)] });
        assert_eq!(break_every_step(w, &agent("Ann"), "beads_import", &changed)["updated"], 1);
    }

    fn nothing_is_done_to_a_task_that_was_deleted(w) {
        let line = |id: &str, status: &str| format!(r#"{{"id":"{id}","title":"t","status":"{status}","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}}"#);
        w.ok(&agent("Ann"), "beads_import", json!({ "lines": [line("x-1", "tombstone"), line("x-2", "open")] }));
        for (verb, input) in [
            ("task_update", json!({ "id": "x-1", "title": "u" })),
            ("task_update", json!({ "id": "x-1", "add_labels": ["l"] })),
            ("task_update", json!({ "id": "x-1", "status": "open" })),
            ("task_reopen", json!({ "id": "x-1" })),
            ("task_claim", json!({ "id": "x-1" })),
            ("task_release", json!({ "id": "x-1" })),
            ("task_comment", json!({ "id": "x-1", "text": "hm" })),
            ("task_depend", json!({ "id": "x-1", "on": "x-2" })),
            ("task_depend", json!({ "id": "x-2", "on": "x-1" })),
            ("task_create", json!({ "title": "part", "parent": "x-1" })),
            ("task_increment", json!({ "title": "more", "after": "x-1" })),
            ("task_route", json!({ "id": "x-1" })),
        ] {
            let refused = w.no_trace(&agent("Ann"), verb, input, "task_deleted");
            assert_eq!(refused["task_id"], "x-1", "{verb}");
        }
        // Only what it was to be closed with is kept.
        let refused = w.no(&agent("Ann"), "task_close", json!({ "id": "x-1", "reason": "done" }), "task_deleted");
        assert!(!refused["kept_comment_id"].is_null(), "{refused}");
        let found = w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1", "full": true }));
        assert_eq!((&found["status"], &found["comments"][0]["text"]), (&json!("tombstone"), &json!("done")));
    }

    fn an_unknown_role_is_told_with_the_ones_that_are_near(w) {
        let refused = w.no_trace(&agent("Ann"), "task_create", json!({ "title": "t", "agent_role": "testign" }), "role_unknown");
        assert_eq!(refused["near"], json!(["testing"]));
        let id = task(w, json!({ "title": "t", "agent_role": "testing-specialist" }));
        w.no_trace(&agent("Ann"), "task_update", json!({ "id": id, "agent_role": "tester" }), "role_unknown");
        w.no_trace(&agent("Ann"), "agent_register", json!({ "roles": ["verifcation"] }), "role_unknown");
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "agent_role": "" }));
    }

    fn what_an_agent_may_take_is_what_its_registration_says(w) {
        w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing", "verification"], "skills": ["rust"] }));
        let rust = task(w, json!({ "title": "a", "agent_role": "testing", "specialist_tags": ["rust"] }));
        let check = task(w, json!({ "title": "b", "agent_role": "verification", "priority": 3 }));
        task(w, json!({ "title": "c", "agent_role": "testing", "specialist_tags": ["cobol"] }));
        task(w, json!({ "title": "d", "agent_role": "fixing" }));
        task(w, json!({ "title": "e", "agent_role": "testing", "assignee": "Theo" }));
        let ready = |w: &mut World, name: &str| {
            let items = list(&w.ok(&agent("Ann"), "task_ready", json!({ "for_agent": name }))["items"]);
            let mut titles = column(&items, "title");
            titles.sort();
            titles
        };
        assert_eq!(ready(w, "Tess"), ["a", "b"]);
        assert_eq!(ready(w, "testing-specialist"), ["a", "c", "e"], "who is not registered is known by the name");
        let refused = w.no_trace(&agent("Ann"), "task_ready", json!({ "for_agent": "Tes" }), "agent_unregistered");
        assert!(text(&refused, "hint").contains("Tess"), "{refused}");
        for wanted in [rust, check] {
            let claimed = w.ok(&agent("Tess"), "task_claim", json!({ "for_agent": "Tess" }));
            assert_eq!(claimed["task"]["id"], wanted.as_str());
        }
        assert_eq!(w.ok(&agent("Tess"), "task_claim", json!({ "for_agent": "Tess" }))["claimed"], false);
    }

    fn who_works_without_a_session_takes_up_what_the_router_gave_and_then_the_next(w) {
        w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing"], "max_tasks": 1 }));
        let given = task(w, json!({ "title": "a", "agent_role": "testing", "priority": 4 }));
        w.ok(&agent("Owner"), "task_route", json!({}));
        let next = task(w, json!({ "title": "b", "agent_role": "testing", "priority": 0 }));
        let claimed = w.ok(&agent("Tess"), "task_claim", json!({}));
        assert_eq!((&claimed["task"]["id"], &claimed["session_id"]), (&json!(given), &Value::Null), "what it was given comes first");
        w.advance(3_600_000);
        let update = json!({ "id": given, "token": claimed["token"], "notes": "still on it" });
        w.ok(&agent("Tess"), "task_update", update);
        assert_eq!(w.ok(&agent("Tess"), "task_claim", json!({}))["task"]["id"], next.as_str(), "it has the first already");
        let closed = w.ok(&agent("Tess"), "task_close", json!({ "id": given, "token": claimed["token"] }));
        assert_eq!(closed["status"], "closed");
    }
}
