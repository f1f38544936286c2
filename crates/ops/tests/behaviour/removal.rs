//! Tasks are deleted and renamed, and several changes are made at once.

use serde_json::{Value, json};

use crate::broken::break_every_step;
use crate::world::{World, agent, column, list, text};

fn task(w: &mut World, id: &str, more: Value) -> String {
    let mut input = json!({ "title": format!("title of {id}"), "id": id });
    for (key, value) in more.as_object().into_iter().flatten() {
        input[key] = value.clone();
    }
    text(&w.ok(&agent("Ann"), "task_create", input), "id")
}

fn shown(w: &mut World, id: &str) -> Value {
    w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true }))
}

fn ids(w: &mut World, verb: &str) -> Vec<String> {
    column(&list(&w.ok(&agent("Ann"), verb, json!({}))["items"]), "id")
}

on_every_backend! {
    fn a_deleted_task_is_in_no_list_and_says_who_deleted_it_and_why(w) {
        task(w, "x-1", json!({ "issue_type": "bug", "description": "the words" }));
        w.advance(1);
        let gone = w.ok(&agent("Bob"), "task_delete", json!({ "id": "x-1", "reason": "a test" }));
        assert_eq!(gone["status"], "tombstone");
        assert!(ids(w, "task_list").is_empty() && ids(w, "task_ready").is_empty());
        let found = shown(w, "x-1");
        let fields = ["deleted_by", "delete_reason", "original_type", "description"].map(|key| text(&found, key));
        assert_eq!(fields, ["Bob", "a test", "bug", "the words"]);
        w.no(&agent("Ann"), "task_delete", json!({ "id": "x-1" }), "task_deleted");
        w.no(&agent("Ann"), "task_update", json!({ "id": "x-1", "status": "open" }), "task_deleted");
        assert!(w.ledger().iter().any(|delta| delta.to_string().contains("x-1 is deleted")));
        w.assert_sound();
    }

    fn a_deletion_travels_by_the_file_and_nothing_brings_the_task_back(w) {
        task(w, "x-1", json!({}));
        let lines = |w: &mut World| column(&list(&w.ok(&agent("Ann"), "beads_export", json!({}))["items"]), "line");
        let before = lines(w);
        w.advance(1000);
        w.ok(&agent("Ann"), "task_delete", json!({ "id": "x-1" }));
        assert!(lines(w)[0].contains("\"tombstone\""), "{:?}", lines(w));
        w.advance(1000);
        w.ok(&agent("Ann"), "beads_import", json!({ "lines": before }));
        assert_eq!(shown(w, "x-1")["status"], "tombstone");
    }

    fn what_open_tasks_need_is_deleted_by_force_only_and_sets_them_free(w) {
        task(w, "x-1", json!({}));
        task(w, "x-2", json!({ "deps": ["x-1"] }));
        task(w, "x-3", json!({ "deps": ["related:x-1"] }));
        let refusal = w.no_trace(&agent("Ann"), "task_delete", json!({ "id": "x-1" }), "task_needed");
        assert_eq!(refusal["needed_by"], json!(["x-2"]));
        w.advance(1);
        let gone = w.ok(&agent("Ann"), "task_delete", json!({ "id": "x-1", "force": true }));
        assert_eq!(list(&gone["removed_dependencies"]).len(), 2);
        assert!(shown(w, "x-2")["dependencies"].is_null());
        assert!(ids(w, "task_ready").contains(&"x-2".to_owned()));
        w.assert_sound();
    }

    fn a_whole_with_open_parts_stays(w) {
        task(w, "x-1", json!({}));
        let part = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "part", "parent": "x-1" })), "id");
        w.no_trace(&agent("Ann"), "task_delete", json!({ "id": "x-1" }), "task_needed");
        w.ok(&agent("Ann"), "task_close", json!({ "id": part, "reason": "done" }));
        w.ok(&agent("Ann"), "task_delete", json!({ "id": "x-1" }));
        w.assert_sound();
    }

    fn what_another_works_on_is_not_deleted_and_not_renamed(w) {
        task(w, "x-1", json!({}));
        w.start(&agent("Bob"));
        w.ok(&agent("Bob"), "task_claim", json!({ "id": "x-1" }));
        w.no(&agent("Ann"), "task_delete", json!({ "id": "x-1", "force": true }), "task_claimed");
        w.no(&agent("Ann"), "task_rename", json!({ "id": "x-1", "to": "x-9" }), "task_claimed");
        w.no(&agent("Ann"), "task_batch", json!({ "steps": [{ "close": { "id": "x-1", "reason": "done" } }] }), "task_claimed");
        w.ok(&agent("Bob"), "task_delete", json!({ "id": "x-1" }));
        w.assert_sound();
    }

    fn a_renamed_task_keeps_everything_and_the_others_name_its_new_id(w) {
        task(w, "x-1", json!({ "labels": ["l"], "notes": "n", "agent_context": { "work_completed": "half" } }));
        task(w, "x-2", json!({ "deps": ["x-1"] }));
        let part = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "part", "parent": "x-1" })), "id");
        w.ok(&agent("Ann"), "task_comment", json!({ "id": "x-1", "text": "hm" }));
        w.advance(1);
        let renamed = w.ok(&agent("Bob"), "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
        assert_eq!((renamed["id"].clone(), renamed["dependents"].clone()), (json!("x-auth"), json!([part, "x-2"])));
        let found = shown(w, "x-auth");
        assert_eq!((&found["notes"], &found["labels"], &found["created_by"]), (&json!("n"), &json!(["l"]), &json!("Ann")));
        assert_eq!((&found["comments"][0]["text"], &found["agent_context"]["work_completed"]), (&json!("hm"), &json!("half")));
        assert_eq!(shown(w, &part)["parent"], "x-auth");
        assert_eq!(shown(w, "x-2")["dependencies"][0]["id"], "x-auth");
        assert!(!ids(w, "task_ready").contains(&"x-2".to_owned()), "it still waits");
        let refusal = w.no(&agent("Ann"), "task_update", json!({ "id": "x-1", "title": "t" }), "task_renamed");
        assert_eq!(refusal["renamed_to"], "x-auth");
        w.no(&agent("Ann"), "task_rename", json!({ "id": "x-2", "to": "x-auth" }), "task_exists");
        w.no(&agent("Ann"), "task_rename", json!({ "id": "x-2", "to": "no id" }), "task_invalid");
        let refusal = w.no_trace(&agent("Ann"), "task_rename", json!({ "id": "x-auth", "to": "x-1" }), "task_exists");
        assert!(text(&refusal, "message").contains("was called `x-1` before"), "{refusal}");
        w.ok(&agent("Ann"), "task_close", json!({ "id": "x-auth", "reason": "done" }));
        assert!(ids(w, "task_ready").contains(&"x-2".to_owned()));
        w.assert_sound();
    }

    fn every_text_that_names_a_renamed_task_names_its_new_id(w) {
        task(w, "x-1", json!({ "description": "x-1 comes first" }));
        task(w, "x-2", json!({}));
        task(w, "x-3", json!({ "issue_type": "gate" }));
        w.ok(&agent("Ann"), "task_close", json!({ "id": "x-2", "reason": "duplicate of x-1" }));
        let waits = json!({ "await_type": "bead", "await_id": "shop:x-1" });
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-3", "extra": waits }));
        w.ok(&agent("Ann"), "task_comment", json!({ "id": "x-2", "text": "see x-1" }));
        w.advance(1);
        let renamed = w.ok(&agent("Bob"), "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
        assert_eq!(renamed["mentions"], json!(["x-2", "x-3"]));
        assert_eq!(shown(w, "x-auth")["description"], "x-auth comes first");
        let (closed, gate) = (shown(w, "x-2"), shown(w, "x-3"));
        assert_eq!((&closed["close_reason"], &gate["await_id"]), (&json!("duplicate of x-auth"), &json!("shop:x-auth")));
        assert_eq!(closed["comments"][0]["text"], "see x-1", "a quotation");
        assert_eq!(shown(w, "x-1")["description"], "x-1 comes first", "it said so under that id");
        w.assert_sound();
    }

    fn a_renamed_part_stays_a_part(w) {
        task(w, "x-1", json!({}));
        let part = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "part", "parent": "x-1" })), "id");
        w.ok(&agent("Ann"), "task_rename", json!({ "id": part, "to": "x-part" }));
        assert_eq!(shown(w, "x-part")["parent"], "x-1");
        w.assert_sound();
    }

    fn a_batch_is_carried_out_whole_or_not_at_all(w) {
        task(w, "x-1", json!({}));
        task(w, "x-2", json!({}));
        let create = json!({ "create": { "title": "new", "issue_type": "task", "priority": 1 } });
        let close = json!({ "close": { "id": "x-1", "reason": "done" } });
        let broken = json!({ "depend": { "id": "x-2", "on": "x-7", "type": "blocks" } });
        let steps = json!({ "steps": [create, close, broken] });
        let refusal = w.no_trace(&agent("Ann"), "task_batch", steps, "task_unknown");
        assert!(refusal["step"] == 3 && text(&refusal, "message").starts_with("step 3: "), "{refusal}");
        assert_eq!(ids(w, "task_list").len(), 2, "nothing was created, nothing closed");
        let steps = json!({ "steps": [
            create, close,
            { "update": { "id": "x-2", "priority": 0, "assignee": "Bob" } },
            { "depend": { "id": "x-2", "on": "x-1", "type": "related" } },
            { "depend": { "id": "x-2", "on": "x-1", "type": "related", "remove": true } },
        ] });
        let done = w.ok(&agent("Ann"), "task_batch", steps);
        assert_eq!(column(&list(&done["results"]), "id")[1..], ["x-1", "x-2", "x-2", "x-2"]);
        assert_eq!((&done["results"][3]["dependency"], &done["results"][4]["dependency"]), (&json!("added"), &json!("removed")));
        assert_eq!((&shown(w, "x-2")["assignee"], &shown(w, "x-1")["status"]), (&json!("Bob"), &json!("closed")));
        let many = vec![json!({ "close": { "id": "x-2" } }); 1001];
        w.no_trace(&agent("Ann"), "task_batch", json!({ "steps": many }), "batch_too_long");
        w.assert_sound();
    }

    fn a_batch_writes_tasks_that_name_each_other(w) {
        let step = |name: &str, task: Value| json!({ "write": { "name": name, "task": task } });
        let steps = json!([
            step("whole", json!({ "title": "W", "id": "x-1", "issue_type": "epic" })),
            step("part", json!({ "title": "P", "parent": "@whole", "design": "one pass", "labels": ["a"] })),
            step("after", json!({ "title": "A", "deps": ["@part", "related:@whole"] })),
            { "update": { "id": "@part", "status": "in_progress", "metadata_refs": { "next": "@after" } } },
            { "depend": { "id": "@after", "on": "@whole", "type": "waits-for", "metadata": { "gate": "any-children" } } },
        ]);
        let done = w.ok(&agent("Ann"), "task_batch", json!({ "steps": steps.clone() }));
        let ids = column(&list(&done["results"]), "id");
        let part = shown(w, &ids[1]);
        assert_eq!((&part["id"], &part["parent"], &part["design"]), (&json!("x-1.1"), &json!("x-1"), &json!("one pass")));
        assert_eq!((&part["status"], &part["metadata"]["next"]), (&json!("in_progress"), &json!(ids[2])));
        assert_eq!(list(&shown(w, &ids[2])["dependencies"]).len(), 3);
        assert_eq!(done["results"][4]["depends_on_id"], "x-1");
        let refused = [
            (json!([{ "close": { "id": "@nobody" } }]), "step_name_unknown"),
            (json!([step("a", json!({ "title": "A", "deps": ["related:@b"] })), step("b", json!({ "title": "B" }))]), "step_name_unknown"),
            (json!([step("a", json!({ "title": "A" })), step("b", json!({ "title": "B", "sensitive": true }))]), "step_invalid"),
            (json!([step("a", json!({ "title": "A" })), step("b", json!({ "title": "B", "priority": 9 }))]), "task_invalid"),
            (json!([{ "update": { "id": "x-1", "status": "nonsense" } }]), "task_invalid"),
        ];
        for (steps, code) in refused {
            w.no_trace(&agent("Ann"), "task_batch", json!({ "steps": steps }), code);
        }
        w.assert_sound();
    }

    fn a_task_changes_its_whole_and_leaves_it(w) {
        for id in ["x-1", "x-2", "x-3"] {
            task(w, id, json!({ "parent": "" }));
        }
        for (to, expected) in [("x-1", json!("x-1")), ("x-2", json!("x-2")), ("", Value::Null), ("", Value::Null)] {
            w.ok(&agent("Ann"), "task_update", json!({ "id": "x-3", "parent": to }));
            assert_eq!(shown(w, "x-3")["parent"], expected, "{to}");
        }
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-3", "parent": "x-1" }));
        w.no_trace(&agent("Ann"), "task_update", json!({ "id": "x-1", "parent": "x-3" }), "dependency_cycle");
        task(w, "x-1.1", json!({}));
        w.no_trace(&agent("Ann"), "task_update", json!({ "id": "x-1.1", "parent": "", "title": "t" }), "task_parent_implied");
        w.assert_sound();
    }

    fn a_memory_of_the_file_is_changed_and_taken_out(w) {
        let lines = json!([r#"{"_type":"memory","key":"k","value":"v","x":1}"#, r#"{"_type":"note","key":"k"}"#]);
        w.ok(&agent("Ann"), "beads_import", json!({ "lines": lines }));
        let others = |w: &mut World| column(&list(&w.ok(&agent("Ann"), "beads_export", json!({ "only_others": true }))["items"]), "line");
        let done = w.ok(&agent("Ann"), "beads_memory", json!({ "key": "k", "value": "new" }));
        assert_eq!((&done["before"], &others(w)[0]), (&json!("v"), &r#"{"_type":"memory","key":"k","value":"new","x":1}"#.to_owned()));
        assert_eq!(w.ok(&agent("Ann"), "beads_memory", json!({ "key": "other", "value": "new" }))["before"], Value::Null);
        w.no_trace(&agent("Ann"), "beads_memory", json!({ "key": "k", "value": " " }), "memory_invalid");
        assert_eq!(w.newest("other")["body"]["replaced"]["value"], "v", "what it said stays in the ledger");
        w.ok(&agent("Ann"), "beads_memory", json!({ "key": "k" }));
        assert_eq!(others(w), [r#"{"_type":"note","key":"k"}"#]);
    }

    fn a_broken_deletion_rename_or_batch_is_not_there(w) {
        task(w, "x-1", json!({}));
        task(w, "x-2", json!({ "deps": ["x-1"] }));
        break_every_step(w, &agent("Ann"), "task_rename", &json!({ "id": "x-1", "to": "x-3" }));
        let steps = json!({ "steps": [{ "update": { "id": "x-3", "priority": 0 } }, { "close": { "id": "x-2", "reason": "done" , "result": "pass" } }] });
        let refusal = w.no_trace(&agent("Ann"), "task_batch", steps, "task_blocked");
        assert_eq!(refusal["step"], 2);
        let steps = json!({ "steps": [{ "write": { "task": { "title": "t", "parent": "x-3" } } }] });
        break_every_step(w, &agent("Ann"), "task_batch", &steps);
        break_every_step(w, &agent("Ann"), "task_update", &json!({ "id": "x-2", "parent": "x-3" }));
        break_every_step(w, &agent("Ann"), "task_delete", &json!({ "id": "x-3", "force": true }));
    }
}
