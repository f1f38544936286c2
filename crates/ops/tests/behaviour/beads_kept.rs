//! What a Beads file replaces or cannot have stays: in the ledger, with its holder, with its readers.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, list, text};

const SECRET: &str = "the code of the safe";

fn line(w: &mut World, id: &str) -> Value {
    let items = list(&w.ok(&agent("Setup"), "beads_export", json!({}))["items"]);
    let own = items.iter().find(|item| item["id"] == id).expect("its line");
    serde_json::from_str(&text(own, "line")).expect("json")
}

fn publish(w: &mut World) {
    let items = list(&w.ok(&agent("Setup"), "beads_export", json!({}))["items"]);
    let lines: Vec<Value> = items.iter().map(|l| json!({ "id": l["id"], "line": l["line"] })).collect();
    w.ok(&agent("Setup"), "beads_published", json!({ "lines": lines }));
}

/// The line of a task, written later by another tool.
fn later(w: &mut World, mut row: Value) -> String {
    w.advance(5_000);
    row["updated_at"] = json!(baton_model::time::rfc3339(w.now));
    row.to_string()
}

fn token(name: &str, scope: Scope) -> Agent {
    let mut who = agent(name);
    let bearer = Bearer { token_id: "t1".into(), name: "t".into(), identities: Some(vec![name.to_owned()]) };
    who.0.grant = Grant { scope, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

fn import(w: &mut World, who: &Agent, lines: &[String]) -> Value {
    w.ok(who, "beads_import", json!({ "lines": lines }))
}

fn sensitive(w: &mut World) -> String {
    w.ok(&agent("Ann"), "key_create", json!({}));
    let secret = json!({ "title": "t", "handoff_instructions": { "a": SECRET }, "sensitive": true });
    text(&w.ok(&agent("Ann"), "task_create", secret), "id")
}

fn replaced(w: &mut World) -> String {
    w.deltas("other").iter().map(|delta| delta["body"]["replaced"].to_string()).collect()
}

on_every_backend! {
    fn a_circle_that_two_clones_close_together_is_named_with_what_opens_it(w) {
        let ann = agent("Ann");
        let [a, b] = ["a", "b"].map(|id| text(&w.ok(&ann, "task_create", json!({ "title": id, "id": format!("p-{id}") })), "id"));
        publish(w);
        // The other clone gave B up for A and made A a part of B; here A gives way to B, and B is a part of A.
        let (mut one, mut other) = (line(w, &b), line(w, &a));
        for (from, on, kind) in [(&a, &b, "duplicates"), (&b, &a, "parent-child")] {
            w.ok(&ann, "task_depend", json!({ "id": from, "on": on, "type": kind }));
        }
        w.ok(&ann, "task_close", json!({ "id": a, "result": "pass" }));
        let edge = |from: &str, on: &str, kind: &str| {
            json!({ "issue_id": from, "depends_on_id": on, "type": kind, "created_at": "2026-11-20T10:00:00Z", "created_by": "Ben" })
        };
        one["status"] = json!("closed");
        one["closed_at"] = json!(baton_model::time::rfc3339(w.now + 5_000));
        one["dependencies"] = json!([edge(&b, &a, "duplicates")]);
        other["dependencies"] = json!([edge(&a, &b, "parent-child")]);
        assert_eq!(w.ok(&ann, "task_cycles", json!({}))["items"], json!([]));
        let lines = [one, other].map(|row| later(w, row));
        let complaints = import(w, &ann, &lines)["complaints"].clone();
        let shown = complaints.to_string();
        assert!(shown.contains("none is open: p-b → p-a → p-b; open the one that is to stay: `baton task reopen p-b`"), "{shown}");
        assert!(shown.contains("each of these is a part of the next") && shown.contains("--parent"), "{shown}");
        assert_eq!(list(&complaints).len(), 2, "each circle once: {shown}");
        assert_eq!(list(&w.ok(&ann, "task_cycles", json!({}))["items"]).len(), 2);
        w.ok(&ann, "task_reopen", json!({ "id": b }));
        w.ok(&ann, "task_update", json!({ "id": b, "parent": "" }));
        assert_eq!(w.ok(&ann, "task_cycles", json!({}))["items"], json!([]));
    }

    fn a_task_that_somebody_went_on_with_is_not_gone_by_the_older_deletion_of_another_clone(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "Parser" })), "id");
        publish(w);
        let mut deleted = line(w, &id);
        deleted["status"] = json!("tombstone");
        deleted["deleted_at"] = json!(baton_model::time::rfc3339(w.now + 5_000));
        let deleted = later(w, deleted);
        w.advance(1_200);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "notes": "cause found", "priority": 0 }));
        let conflicts = import(w, &agent("Ann"), &[deleted])["conflicts"].clone();
        assert_eq!((&conflicts[0]["field"], &conflicts[0]["kept"], &conflicts[0]["theirs"]), (&json!("status"), &json!("ours"), &json!("tombstone")), "{conflicts}");
        let found = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
        assert_eq!((&found["status"], &found["notes"], found.get("deleted_at")), (&json!("open"), &json!("cause found"), None), "{found:#}");
        // A deletion that is newer holds, and what it takes along is told.
        publish(w);
        let mut deleted = line(w, &id);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "notes": "cause found, fix near" }));
        deleted["status"] = json!("tombstone");
        let deleted = later(w, deleted);
        let conflicts = import(w, &agent("Ann"), &[deleted])["conflicts"].clone();
        assert_eq!((&conflicts[0]["field"], &conflicts[0]["kept"]), (&json!("status"), &json!("theirs")), "{conflicts}");
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": id }))["status"], "tombstone");
    }

    fn what_gave_way_to_a_task_that_another_clone_deleted_is_named(w) {
        let ann = agent("Ann");
        let [a, b] = ["a", "b"].map(|id| text(&w.ok(&ann, "task_create", json!({ "title": id, "id": format!("p-{id}") })), "id"));
        publish(w);
        let mut deleted = line(w, &b);
        w.ok(&ann, "task_depend", json!({ "id": a, "on": b, "type": "supersedes" }));
        w.ok(&ann, "task_close", json!({ "id": a, "result": "pass" }));
        deleted["status"] = json!("tombstone");
        deleted["deleted_at"] = json!(baton_model::time::rfc3339(w.now + 5_000));
        let deleted = later(w, deleted);
        let complaints = import(w, &ann, &[deleted])["complaints"].to_string();
        assert!(complaints.contains("p-a gave way to p-b, which is deleted: `baton task reopen p-a` opens it again"), "{complaints}");
    }

    fn what_a_file_replaces_is_in_the_ledger(w) {
        let task = json!({ "title": "t", "description": "old words", "notes": "old note", "agent_context": { "a": "old context" } });
        let id = text(&w.ok(&agent("Ann"), "task_create", task), "id");
        publish(w);
        for number in 0..20 {
            let mut row = line(w, &id);
            row["description"] = json!(format!("words {number}"));
            row["notes"] = json!("new");
            row["metadata"]["handoff.v1"]["agent_context"]["a"] = json!("new");
            let row = later(w, row);
            import(w, &agent("Ann"), &[row]);
            publish(w);
        }
        let replaced = replaced(w);
        for text in ["old words", "old note", "old context", "words 0", "words 18"] {
            assert!(replaced.contains(text), "{text} is gone: {replaced}");
        }
    }

    fn both_sides_of_a_conflict_are_told_whatever_else_one_of_them_changed(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "description": "D0" })), "id");
        publish(w);
        let mut theirs = line(w, &id);
        theirs["description"] = json!("theirs");
        let theirs = later(w, theirs);
        w.advance(5_000);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "description": "ours" }));
        publish(w);
        w.ok(&agent("Ann"), "task_close", json!({ "id": id, "reason": "done" }));
        publish(w);
        let ours = line(w, &id).to_string();
        let marked = ["<<<<<<< HEAD", &ours, "=======", &theirs, ">>>>>>> theirs"].map(str::to_owned);
        let answer = import(w, &agent("Ann"), &marked);
        let conflicts = answer["conflicts"].to_string();
        assert!(conflicts.contains("ours") && conflicts.contains("theirs"), "{answer:#}");
        assert!(w.deltas("other").iter().any(|delta| delta["body"]["field"] == "description"), "{:#?}", w.deltas("other"));
    }

    fn two_reasons_of_a_closing_are_both_told(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        publish(w);
        let mut theirs = line(w, &id);
        w.ok(&agent("Ann"), "task_close", json!({ "id": id, "reason": "ours" }));
        w.advance(5_000);
        let now = json!(baton_model::time::rfc3339(w.now));
        let closing = json!({ "status": "closed", "closed_at": now, "close_reason": "theirs" });
        theirs.as_object_mut().expect("an object").extend(closing.as_object().cloned().expect("an object"));
        let theirs = later(w, theirs);
        let answer = import(w, &agent("Ann"), &[theirs]);
        let conflicts = answer["conflicts"].to_string();
        assert!(conflicts.contains("ours") && conflicts.contains("theirs"), "{answer:#}");
    }

    fn an_encrypted_context_does_not_give_way_to_what_nobody_has_encrypted(w) {
        let id = sensitive(w);
        publish(w);
        for other in [json!({ "sealed": "garbage" }), json!({ "mine": "plain" }), Value::Null] {
            let mut row = line(w, &id);
            let own = row["metadata"]["handoff.v1"].as_object_mut().expect("ours");
            own.insert("handoff_instructions".into(), other.clone());
            own.retain(|_, value| !value.is_null());
            let row = later(w, row);
            import(w, &token("Zed", Scope::Write), &[row]);
            let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
            assert_eq!(shown["handoff_instructions"]["a"], SECRET, "{other}: {shown:#}");
        }
        // Nor does who reads it, or what stands beside it, change by a line of a token.
        for (key, value) in [("readers", json!(["Zed"])), ("more", json!("plain"))] {
            let mut row = line(w, &id);
            row["metadata"]["handoff.v1"]["handoff_instructions"][key] = value;
            let row = later(w, row);
            import(w, &token("Zed", Scope::Write), &[row]);
            let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
            assert_eq!(shown["handoff_instructions"], json!({ "a": SECRET }), "{key}: {shown:#}");
        }
    }

    fn a_line_without_our_entries_takes_none_of_them_away(w) {
        let task = json!({ "title": "t", "handoff_instructions": { "a": "do it" }, "agent_context": { "b": "seen" } });
        let id = text(&w.ok(&agent("Ann"), "task_create", task), "id");
        publish(w);
        let mut row = line(w, &id);
        row["metadata"]["handoff.v1"] = json!({});
        let row = later(w, row);
        import(w, &agent("Ann"), &[row]);
        let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
        assert_eq!((&shown["handoff_instructions"]["a"], &shown["agent_context"]["b"]), (&json!("do it"), &json!("seen")));
    }

    fn no_line_of_a_token_moves_a_live_claim(w) {
        let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "t" })), "id");
        let claim = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        for fields in [json!({ "status": "closed" }), json!({ "status": "in_progress", "assignee": "Zed" }), json!({ "status": "open" })] {
            let mut row = line(w, &id);
            row.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
            let row = later(w, row);
            import(w, &token("Zed", Scope::Write), &[row]);
            w.no(&token("Zed", Scope::Write), "task_claim", json!({ "id": id }), "task_claimed");
        }
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "notes": "mine", "token": claim["token"] }));
    }

    fn no_line_of_a_token_changes_what_another_holds_or_speaks_for_it_unnoticed(w) {
        let task = json!({ "title": "t", "description": "by Ann", "labels": ["a"], "priority": 1 });
        let id = text(&w.ok(&agent("Setup"), "task_create", task), "id");
        w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        let forged = json!([{ "id": 9, "author": "Ann", "text": "go ahead", "created_at": "2026-01-01T00:00:00Z" }]);
        let changes = json!({ "title": "x", "description": "x", "labels": ["b"], "priority": 4, "comments": forged });
        for (who, is_taken) in [(token("Zed", Scope::Write), false), (token("Ann", Scope::Write), true)] {
            let mut row = line(w, &id);
            row.as_object_mut().expect("an object").extend(changes.as_object().cloned().expect("an object"));
            let row = later(w, row);
            let done = import(w, &who, &[row]);
            let after = w.ok(&agent("Setup"), "task_show", json!({ "id": id }));
            let fields = ["title", "description", "labels", "priority"].map(|field| after[field].clone());
            match is_taken {
                true => assert_eq!(fields, [json!("x"), json!("x"), json!(["b"]), json!(4)]),
                false => {
                    assert_eq!(fields, [json!("t"), json!("by Ann"), json!(["a"]), json!(1)]);
                    let conflicting: Vec<String> = list(&done["conflicts"]).iter().map(|one| text(one, "field")).collect();
                    for field in ["title", "description", "priority", "labels:b"] {
                        assert!(conflicting.contains(&field.to_owned()), "{field} in {conflicting:?}");
                    }
                }
            }
        }
        let notes: Vec<String> = w.deltas("note").iter().map(|delta| delta["body"]["text"].to_string()).collect();
        assert!(notes.iter().any(|note| note.contains("under the name Ann") && note.contains("Zed sent")), "{notes:?}");
    }

    fn what_a_token_may_not_write_is_told_once_for_each_field(w) {
        let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "t" })), "id");
        publish(w);
        let mut row = line(w, &id);
        w.advance(1_000);
        let claim = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "title": "by Ann", "token": claim["token"] }));
        row["title"] = json!("by Zed");
        let row = later(w, row);
        let done = import(w, &token("Zed", Scope::Write), &[row]);
        let mut fields: Vec<String> = list(&done["conflicts"]).iter().map(|one| format!("{} {}", text(one, "field"), text(one, "kept"))).collect();
        fields.retain(|one| one.starts_with("title "));
        assert_eq!(fields, ["title ours"]);
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": id }))["title"], "by Ann");
    }

    fn no_line_of_a_token_ends_the_handoff_that_another_has_accepted(w) {
        w.register("q");
        w.register("p");
        let made = w.ok(&agent("Max").project("q"), "handoff_create", json!({ "to_project_id": "p", "subject": "s" }));
        let handoff = text(&made, "handoff_id");
        let id = text(&list(&w.ok(&agent("Ann"), "task_list", json!({}))["items"])[0], "id");
        let mut row = line(w, &id);
        row["status"] = json!("tombstone");
        let row = later(w, row);
        import(w, &token("Zed", Scope::Write), &[row]);
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": id }))["status"], "open");
        w.ok(&agent("Ann"), "handoff_advance", json!({ "id": handoff, "action": "accept" }));
        for fields in [json!({ "status": "closed" }), json!({ "status": "in_progress", "assignee": "Zed" })] {
            let mut row = line(w, &id);
            row.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
            let row = later(w, row);
            import(w, &token("Zed", Scope::Write), &[row]);
            let after = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
            assert!(after["status"] != "closed" && after["assignee"] != "Zed", "{after:#}");
        }
        let forced = json!({ "id": id, "force": true, "reason": "mine now" });
        w.no(&token("Zed", Scope::Write), "task_close", forced.clone(), "scope_missing");
        w.no(&agent("Zed"), "task_close", json!({ "id": id, "force": true }), "why_missing");
        w.no(&agent("Zed"), "task_close", json!({ "id": id, "reason": "mine now" }), "handoff_not_yours");
        let publish = json!({ "id": handoff, "issues_github_repo": "zed/own" });
        w.no(&token("Zed", Scope::Write), "handoff_publish", publish.clone(), "handoff_not_yours");
        w.no(&token("Ann", Scope::Write), "handoff_publish", publish, "scope_missing");
        assert_eq!(w.ok(&agent("Ann"), "handoff_show", json!({ "id": handoff }))["state"], "accepted");
        w.ok(&agent("Zed"), "task_close", forced);
    }

    fn a_write_token_adds_comments_to_the_task_of_an_accepted_handoff_and_changes_nothing_else(w) {
        w.register("q");
        w.register("p");
        let made = w.ok(&agent("Max").project("q"), "handoff_create", json!({ "to_project_id": "p", "subject": "s" }));
        let items = |w: &mut World| w.ok(&agent("Ann"), "task_list", json!({}));
        let id = text(&list(&items(w)["items"])[0], "id");
        let handoff = text(&made, "handoff_id");
        let other = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "other" })), "id");
        w.ok(&agent("Ann"), "handoff_advance", json!({ "id": handoff, "action": "accept" }));
        let before = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
        let eve = token("Eve", Scope::Write);
        let mut row = line(w, &id);
        row["title"] = json!("EVE");
        row["priority"] = json!(0);
        let row = later(w, row);
        import(w, &eve, &[row]);
        for (operation, input) in [
            ("task_update", json!({ "id": id, "title": "EVE", "description": "other work" })),
            ("task_update", json!({ "id": id, "notes": "EVE" })),
            ("task_update", json!({ "id": id, "status": "open" })),
            ("task_depend", json!({ "id": id, "on": other })),
            ("task_rename", json!({ "id": id, "to": "p-eve" })),
        ] {
            w.no(&eve, operation, input, "handoff_not_yours");
        }
        w.ok(&eve, "task_comment", json!({ "id": id, "text": "a word" }));
        let after = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
        for field in ["title", "description", "priority", "status", "assignee", "notes", "dependencies"] {
            assert_eq!(after[field], before[field], "{field}: {after:#}");
        }
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "title": "the acceptor's" }));
        w.ok(&token("Eve", Scope::Operator), "task_update", json!({ "id": id, "title": "an operator's" }));
    }

    fn what_becomes_sensitive_is_plain_in_no_kept_answer_and_no_remembered_line(w) {
        w.ok(&agent("Ann"), "key_create", json!({}));
        let plain = json!({ "title": "t", "handoff_instructions": { "a": SECRET } });
        let create = baton_ops::all::find("task_create").expect("an operation");
        let made = w.once(&agent("Ann"), create, plain, "k").expect("made");
        let id = text(&made, "id");
        publish(w);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "notes": "n" }));
        publish(w);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "sensitive": true }));
        publish(w);
        let everything = w.everything().join("\n");
        assert!(!everything.contains(SECRET), "{everything}");
    }
}
