//! Tasks: written down, listed, changed, closed, reopened.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn create(w: &mut World, input: Value) -> String {
    text(&w.ok(&agent("Donna"), "task_create", input), "id")
}

fn titles(w: &mut World, input: Value) -> Vec<String> {
    column(&list(&w.ok(&agent("Donna"), "task_list", input)["items"]), "title")
}

on_every_backend! {
    fn metadata_is_merged_key_by_key_where_that_is_asked_for(w) {
        let made = json!({ "title": "t", "extra": { "metadata": { "ticket": "J-1", "owner": { "a": 1 } } } });
        let id = w.ok(&agent("Ann"), "task_create", made)["id"].clone();
        let more = json!({ "id": id, "extra": { "metadata": { "sprint": 7 } }, "merge": true });
        w.ok(&agent("Ann"), "task_update", more);
        let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true }));
        let metadata = &shown["metadata"];
        assert_eq!((&metadata["ticket"], &metadata["sprint"]), (&json!("J-1"), &json!(7)), "{shown:#}");
    }

    fn a_task_is_shown_as_it_was_written(w) {
        let input = json!({
            "title": "fix the lexer", "description": "it\nloops", "priority": 1, "issue_type": "bug", "assignee": "Lola",
            "agent_role": "fixing", "labels": ["lexer"], "extra": { "spec_id": "S-1" },
        });
        let id = create(w, input.clone());
        assert!(id.starts_with("p-"), "{id}");
        let shown = w.ok(&agent("Rex"), "task_show", json!({ "id": id }));
        for field in ["title", "description", "priority", "issue_type", "assignee", "agent_role", "labels"] {
            assert_eq!(shown[field], input[field], "{field}");
        }
        assert_eq!((shown["status"].clone(), shown["created_by"].clone()), (json!("open"), json!("Donna")));
        assert_eq!(shown["spec_id"], "S-1");
        assert_eq!(w.newest("other")["body"]["task_id"], id.as_str());
    }

    fn tasks_are_listed_by_priority_then_the_oldest_first(w) {
        for (title, priority) in [("a", 2), ("b", 0), ("c", 2), ("d", 1)] {
            create(w, json!({ "title": title, "priority": priority }));
            w.advance(1);
        }
        assert_eq!(titles(w, json!({})), ["b", "d", "a", "c"]);
        assert_eq!(titles(w, json!({ "limit": 2 })), ["b", "d"]);
        let next = |w: &mut World, input: Value| w.ok(&agent("Donna"), "task_list", input)["next"].clone();
        let after = next(w, json!({ "limit": 2 }));
        assert_ne!(after, Value::Null, "a list that is cut says so");
        assert_eq!(titles(w, json!({ "limit": 2, "after": after })), ["a", "c"]);
        assert_eq!(next(w, json!({ "limit": 2, "after": after })), Value::Null);
        assert_eq!(next(w, json!({ "limit": 4 })), Value::Null);
    }

    fn a_list_holds_fifty_unless_more_are_asked_for(w) {
        for n in 0..51 {
            create(w, json!({ "title": format!("t{n}") }));
        }
        let page = w.ok(&agent("Donna"), "task_list", json!({}));
        assert_eq!((page["items"].as_array().map(Vec::len), &page["next"]), (Some(50), &json!(50)), "and says that there is more");
        assert_eq!(titles(w, json!({ "limit": 0 })).len(), 51);
    }

    fn a_list_is_filtered_by_status_and_role(w) {
        let a = create(w, json!({ "title": "a", "agent_role": "testing" }));
        create(w, json!({ "title": "b" }));
        w.ok(&agent("Donna"), "task_update", json!({ "id": a, "status": "in_progress" }));
        assert_eq!(titles(w, json!({ "status": "in_progress" })), ["a"]);
        assert_eq!(titles(w, json!({ "agent_role": "testing" })), ["a"]);
        assert_eq!(titles(w, json!({ "status": "open" })), ["b"]);
    }

    fn a_closed_task_says_when_and_why_and_a_reopened_one_does_not(w) {
        let id = create(w, json!({ "title": "a" }));
        w.advance(1_000);
        let closed = json!({ "id": id, "status": "closed", "close_reason": "done" });
        let closed = w.ok(&agent("Rex"), "task_update", closed);
        assert_eq!((closed["closed_at"].clone(), closed["close_reason"].clone()), (json!("2026-11-20T10:00:01.000Z"), json!("done")));
        assert_eq!(titles(w, json!({})), Vec::<String>::new());
        assert_eq!(titles(w, json!({ "all": true })), ["a"]);
        assert_eq!(titles(w, json!({ "status": "closed" })), ["a"]);
        let open = w.ok(&agent("Rex"), "task_update", json!({ "id": id, "status": "open" }));
        assert_eq!((open.get("closed_at"), open.get("close_reason")), (None, None));
        assert_eq!(titles(w, json!({})), ["a"]);
    }

    fn what_is_left_out_stays_and_an_empty_text_removes(w) {
        let id = create(w, json!({ "title": "a", "assignee": "Lola", "labels": ["x"], "extra": { "k": 1 } }));
        let changed = json!({ "id": id, "title": "b", "extra": { "l": 2 } });
        let changed = w.ok(&agent("Rex"), "task_update", changed);
        assert_eq!((changed["title"].clone(), changed["assignee"].clone(), changed["labels"].clone()), (json!("b"), json!("Lola"), json!(["x"])));
        assert_eq!((changed["k"].clone(), changed["l"].clone()), (json!(1), json!(2)));
        let bare = w.ok(&agent("Rex"), "task_update", json!({ "id": id, "assignee": "", "labels": [] }));
        assert_eq!((bare.get("assignee"), bare.get("labels")), (None, None));
    }

    fn a_change_is_a_delta_and_no_change_is_none(w) {
        let id = create(w, json!({ "title": "a" }));
        let before = w.ledger().len();
        w.ok(&agent("Rex"), "task_update", json!({ "id": id, "priority": 0 }));
        assert_eq!(w.ledger().len(), before + 1);
        assert_eq!(w.newest("other")["identity"], "Rex");
        w.ok(&agent("Rex"), "task_update", json!({ "id": id, "priority": 0 }));
        assert_eq!(w.ledger().len(), before + 1);
    }

    fn the_number_of_a_task_is_no_beginning_of_another_number(w) {
        for id in ["p-12", "p-12.1", "p-3ab"] {
            w.ok(&agent("Rex"), "task_create", json!({ "title": "t", "id": id }));
        }
        for gone in ["1", "p-1", "p-12.1.1"] {
            w.no_trace(&agent("Rex"), "task_close", json!({ "id": gone }), "task_unknown");
        }
        for (named, found) in [("12", "p-12"), ("p-12", "p-12"), ("12.1", "p-12.1"), ("3a", "p-3ab")] {
            assert_eq!(w.ok(&agent("Rex"), "task_show", json!({ "id": named }))["id"], found, "{named}");
        }
    }

    fn a_task_is_named_by_its_id_or_a_unique_prefix(w) {
        let id = create(w, json!({ "title": "a" }));
        assert_eq!(w.ok(&agent("Rex"), "task_show", json!({ "id": &id[..4] }))["id"], id.as_str());
        create(w, json!({ "title": "b" }));
        w.no_trace(&agent("Rex"), "task_show", json!({ "id": "p-" }), "id_ambiguous");
        w.no_trace(&agent("Rex"), "task_show", json!({ "id": "x-1" }), "task_unknown");
        w.no_trace(&agent("Rex"), "task_update", json!({ "id": "", "title": "c" }), "task_unknown");
    }

    fn a_malformed_task_is_refused(w) {
        let id = create(w, json!({ "title": "a" }));
        let donna = agent("Donna");
        for input in [
            json!({ "title": "" }), json!({ "title": "a\nb" }), json!({ "title": "x".repeat(501) }),
            json!({ "title": "a", "priority": 5 }), json!({ "title": "a", "priority": -1 }),
        ] {
            w.no_trace(&donna, "task_create", input.clone(), "task_invalid");
            let mut change = input;
            change["id"] = json!(id);
            w.no_trace(&donna, "task_update", change, "task_invalid");
        }
        w.no_trace(&donna, "task_update", json!({ "id": id, "status": "shut" }), "task_invalid");
        w.no_trace(&donna, "task_create", json!({ "title": "a", "labels": ["a\nb"] }), "label_invalid");
        w.no_trace(&donna, "task_create", json!({}), "input_invalid");
        w.no_trace(&donna, "task_create", json!({ "title": "a", "description": "a\u{0}b" }), "input_invalid");
        w.no_trace(&donna, "task_create", json!({ "title": "a", "extra": { "k": ["a\u{0}b"] } }), "input_invalid");
    }
}
