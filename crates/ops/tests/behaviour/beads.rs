//! The interchange file: in and out without loss, and changes of both sides put together.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

const RICH: &str = include_str!("../../../model/src/task/record/full.jsonl");

fn import(w: &mut World, lines: &[String]) -> Value {
    w.ok(&agent("Ann"), "beads_import", json!({ "lines": lines }))
}

fn export(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&agent("Ann"), "beads_export", json!({}))["items"]), "line")
}

fn publish(w: &mut World) {
    let items = list(&w.ok(&agent("Ann"), "beads_export", json!({}))["items"]);
    let lines: Vec<Value> = items
        .iter()
        .filter(|l| l["id"].is_string())
        .map(|l| json!({ "id": l["id"], "line": l["line"] }))
        .collect();
    w.ok(&agent("Ann"), "beads_published", json!({ "lines": lines }));
}

fn show_one(w: &mut World, id: &str) -> Value {
    w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true }))
}

fn rich() -> Vec<String> {
    RICH.lines().map(str::to_owned).collect()
}

fn line(id: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","title":"t","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"{more}}}"#
    )
}

on_every_backend! {
    fn a_file_comes_out_as_it_went_in(w) {
        let imported = import(w, &rich());
        let counts = ["created", "deleted", "memories", "other_lines"].map(|field| imported[field].clone());
        assert_eq!(counts, [json!(3), json!(1), json!(1), json!(1)]);
        let mut wanted = rich();
        wanted.sort_by_key(|line| {
            let row: Value = serde_json::from_str(line).expect("json");
            (row.get("id").is_none(), row["id"].as_str().map(str::to_owned))
        });
        assert_eq!(export(w), wanted);
        let again = import(w, &wanted);
        assert_eq!((again["created"].clone(), again["updated"].clone(), again["unchanged"].clone()), (json!(0), json!(0), json!(4)));
    }

    fn a_change_changes_its_own_line_only(w) {
        import(w, &rich());
        let before = export(w);
        w.ok(&agent("Ann"), "task_update", json!({ "id": "bd-b", "priority": 0 }));
        let after = export(w);
        let differing: Vec<(&String, &String)> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
        assert_eq!(differing.len(), 1);
        let (was, is): (Value, Value) = (serde_json::from_str(differing[0].0).expect("json"), serde_json::from_str(differing[0].1).expect("json"));
        let mut wanted = was;
        wanted["priority"] = json!(0);
        wanted["updated_at"] = is["updated_at"].clone();
        // Beside it only when it changed, for whoever merges the line.
        let own = is["metadata"]["handoff.v1"].as_object().expect("our own object");
        assert_eq!((own.len(), own["clock"]["entries"].as_object().map(|entries| entries.keys().collect::<Vec<_>>())), (1, Some(vec![&"priority".to_owned()])));
        wanted["metadata"] = is["metadata"].clone();
        assert_eq!(is.to_string(), wanted.to_string(), "the keys keep their order");
    }

    fn imported_tasks_are_ready_blocked_and_numbered_like_others(w) {
        import(w, &[
            line("x-1", ""),
            line("x-2", r#","dependencies":[{"issue_id":"x-2","depends_on_id":"x-1","type":"blocks"}]"#),
            line("x-1.7", ""),
            line("x-3", r#","dependencies":[{"issue_id":"x-3","depends_on_id":"gone","type":"blocks"}]"#),
        ]);
        let ready = column(&list(&w.ok(&agent("Ann"), "task_ready", json!({}))["items"]), "id");
        assert_eq!(ready, ["x-1", "x-1.7", "x-3"], "what is not there blocks nobody");
        assert_eq!(w.ok(&agent("Ann"), "task_create", json!({ "title": "c", "parent": "x-1" }))["id"], "x-1.8");
        w.ok(&agent("Ann"), "task_close", json!({ "id": "x-1" }));
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": "x-2" })).get("blocked"), None);
    }

    fn both_sides_are_kept_field_by_field_and_a_clash_is_told(w) {
        import(w, &[line("x-1", r#","labels":["a"]"#)]);
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-1", "title": "ours", "add_labels": ["b"] }));
        let theirs = line("x-1", r#","labels":["a","c"],"notes":"theirs""#).replace("\"priority\":2", "\"priority\":0");
        let imported = import(w, &[theirs]);
        assert_eq!((imported["updated"].clone(), imported["conflicts"].clone()), (json!(1), json!([])));
        let now = w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" }));
        assert_eq!((now["title"].clone(), now["priority"].clone(), now["notes"].clone(), now["labels"].clone()), (json!("ours"), json!(0), json!("theirs"), json!(["a", "b", "c"])));
        // Of a version that was never seen, older than ours.
        let clash = line("x-1", r#","notes":"theirs","labels":["a","c"]"#).replace("\"t\"", "\"other\"");
        let imported = import(w, &[clash]);
        assert_eq!((imported["conflicts"][0]["field"].clone(), imported["conflicts"][0]["kept"].clone()), (json!("title"), json!("ours")));
    }

    fn an_edit_of_a_tool_whose_clock_is_behind_is_taken_in(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "alpha", "description": "d" })), "id");
        publish(w);
        let begun: Value = serde_json::from_str(&export(w).remove(0)).expect("json");
        for (field, value) in [("notes", json!("edited")), ("title", json!("beta")), ("labels", json!(["x"])), ("priority", json!(0)), ("status", json!("in_progress"))] {
            let mut line: Value = serde_json::from_str(&export(w).remove(0)).expect("json");
            line[field] = value.clone();
            line["updated_at"] = json!("2020-01-01T00:00:00Z");
            let taken = import(w, &[line.to_string()]);
            assert_eq!((taken["updated"].clone(), taken["conflicts"].clone()), (json!(1), json!([])), "{field}");
            assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": id }))[field], value, "{field}");
            publish(w);
        }
        // The line with which the task began comes back by way of git.
        import(w, &[begun.to_string()]);
        let now = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
        assert_eq!((&now["title"], &now["notes"], &now["status"]), (&json!("beta"), &json!("edited"), &json!("in_progress")));
    }

    fn a_dependency_that_is_removed_under_a_clock_days_behind_is_removed_after_it_was_added(w) {
        let [one, other] = ["one", "other"].map(|title| text(&w.ok(&agent("Ann"), "task_create", json!({ "title": title })), "id"));
        let own = |w: &mut World| -> Value {
            let lines: Vec<Value> = export(w).iter().map(|line| serde_json::from_str(line).expect("json")).collect();
            lines.into_iter().find(|line| line["id"] == json!(one)).expect("its line")
        };
        let newest = |line: &Value| {
            let entries = line["metadata"]["handoff.v1"]["clock"]["entries"].as_object().cloned().unwrap_or_default();
            entries.values().filter_map(Value::as_i64).max().unwrap_or_default()
        };
        w.advance(1_000);
        w.ok(&agent("Ann"), "task_depend", json!({ "id": one, "on": other }));
        publish(w);
        let with = own(w);
        let days = 3 * 24 * 60 * 60 * 1_000;
        w.advance(-days);
        w.ok(&agent("Ann"), "task_depend", json!({ "id": one, "on": other, "remove": true }));
        let is_recorded = w.ledger().iter().any(|row| row["body"].to_string().contains("does not depend on"));
        assert!(is_recorded, "{:#?}", w.ledger());
        publish(w);
        w.advance(days);
        let without = own(w);
        assert!(newest(&without) > newest(&with), "{with:#} {without:#}");
        assert!(without["updated_at"].as_str() >= with["updated_at"].as_str(), "{with:#} {without:#}");
        // The line of another clone, which has not seen the removal, comes and goes.
        import(w, &[with.to_string()]);
        assert_eq!(own(w).get("dependencies"), None);
    }

    fn what_was_settled_is_in_the_ledger_with_what_was_not_kept(w) {
        import(w, &[line("x-1", "")]);
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-1", "notes": "ours" }));
        let theirs = line("x-1", r#","notes":"p\nq""#).replace("\"updated_at\":\"2026-01-01", "\"updated_at\":\"2026-01-02");
        // Both have added to nothing: both stay. A text that was written anew is at odds.
        import(w, std::slice::from_ref(&theirs));
        let notes = w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1", "full": true }))["notes"].clone();
        assert_eq!(notes, "p\nq\nours");
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-1", "title": "anew" }));
        let clash = theirs.replace("\"t\"", "\"other\"").replace("01-02T", "01-03T");
        let taken = import(w, &[clash]);
        assert_eq!((&taken["conflicts"][0]["kept"], &taken["conflicts"][0]["theirs"]), (&json!("ours"), &json!("other")));
        let delta = w.ledger().into_iter().find(|delta| delta["body"]["field"] == "title").expect("a delta");
        assert_eq!((&delta["body"]["task_id"], &delta["body"]["theirs"], &delta["body"]["kept"]), (&json!("x-1"), &json!("other"), &json!("ours")));
        assert_eq!(delta["body"]["summary"], "task x-1 title was changed on both sides: ours \"anew\" is kept, theirs was \"other\"");
        // A line that is older than the ledger's, and was never seen: nothing of it is taken, and that is said.
        let newest = line("x-9", "").replace("\"updated_at\":\"2026-01-01", "\"updated_at\":\"2026-01-05");
        import(w, std::slice::from_ref(&newest));
        let taken = import(w, &[newest.replace("01-05T", "01-02T").replace("\"t\"", "\"early\"")]);
        assert_eq!(taken["unchanged"], 1);
        assert!(text(&taken["complaints"][0], "text").contains("x-9 (title): \"t\" is kept, the line has \"early\""), "{taken}");
        // A late tool that drops the metadata takes a label and a text away: its line looks like the version before.
        import(w, &[line("x-8", "")]);
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-8", "add_labels": ["b"], "notes": "n" }));
        publish(w);
        let taken = import(w, &[line("x-8", "").replace("\"updated_at\":\"2026-01-01", "\"updated_at\":\"2026-01-02")]);
        let complaint = text(&taken["complaints"][0], "text");
        assert!(complaint.contains("x-8 (labels:b): \"b\" is kept, the line has empty") && complaint.contains("x-8 (notes): \"n\" is kept"), "{taken}");
        assert!(complaint.contains("baton task update"), "{taken}");
    }

    fn an_old_file_undoes_nothing(w) {
        let old = [line("x-1", "")];
        import(w, &old);
        w.ok(&agent("Ann"), "task_close", json!({ "id": "x-1", "reason": "done" }));
        import(w, &old);
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" }))["status"], "closed");
        publish(w);
        import(w, &[line("x-1", "").replace("\"open\"", "\"tombstone\"")]);
        import(w, &old);
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" }))["status"], "tombstone", "nothing rises from the dead");
        assert_eq!(w.ok(&agent("Ann"), "task_list", json!({ "all": true }))["items"], json!([]));
    }

    fn what_was_published_is_the_ground_of_the_next_merge(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_role": "testing" })), "id");
        publish(w);
        let lines = export(w);
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "priority": 0 }));
        let imported = import(w, &lines);
        assert_eq!((imported["unchanged"].clone(), imported["updated"].clone()), (json!(1), json!(0)), "the file is as we left it");
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": id }))["priority"], 0);
    }

    fn versions_beside_each_other_are_merged_by_field(w) {
        let base = line("x-1", r#","labels":["a"]"#);
        let later = |day: &str, more: &str| base.replace("\"updated_at\":\"2026-01-01", &format!("\"updated_at\":\"2026-01-{day}")).replace(r#","labels":["a"]"#, more);
        let ours = later("02", r#","labels":["a","b"],"notes":"n""#);
        let theirs = later("03", r#","labels":["c"],"design":"d","status_note":1"#).replace("\"priority\":2", "\"priority\":0");
        let marked = [
            "<<<<<<< HEAD".to_owned(), ours.clone(), "||||||| base".to_owned(), base.clone(), "=======".to_owned(), theirs.clone(), ">>>>>>> theirs".to_owned(),
        ];
        import(w, &[line("x-0", "")]);
        let imported = import(w, &marked);
        assert_eq!((imported["created"].clone(), imported["updated"].clone(), imported["ids"].clone()), (json!(1), json!(1), json!(["x-1"])));
        let now = w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" }));
        assert_eq!((now["priority"].clone(), now["notes"].clone(), now["design"].clone(), now["labels"].clone()), (json!(0), json!("n"), json!("d"), json!(["b", "c"])));
        // The same without marks, as git's union leaves it; a second time changes nothing.
        for lines in [[ours.clone(), theirs.clone()], [theirs, ours]] {
            assert_eq!(import(w, &lines)["updated"], 0);
        }
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" }))["labels"], json!(["b", "c"]));
    }

    fn a_history_that_is_taken_in_backwards_undoes_nothing(w) {
        let old = line("x-1", r#","labels":["early"],"notes":"early""#);
        let new = line("x-1", r#","closed_at":"2026-01-09T00:00:00Z","close_reason":"done""#)
            .replace("\"open\"", "\"closed\"").replace("\"updated_at\":\"2026-01-01", "\"updated_at\":\"2026-01-09");
        import(w, std::slice::from_ref(&new));
        let before = w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" }));
        let imported = import(w, std::slice::from_ref(&old));
        assert_eq!((imported["updated"].clone(), imported["unchanged"].clone()), (json!(0), json!(1)));
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1" })), before);
        assert_eq!(export(w), std::slice::from_ref(&new), "the file gets the newer one back");
        import(w, &[new]);
        assert_eq!(import(w, &[old])["updated"], 0);
    }

    fn removals_are_remembered_and_what_a_line_gains_stays(w) {
        let edge = r#""dependencies":[{"issue_id":"x-1","depends_on_id":"x-2","type":"blocks"}]"#;
        let old = line("x-1", &format!(r#","labels":["a"],{edge}"#));
        import(w, &[old.clone(), line("x-2", "")]);
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-1", "remove_labels": ["a"] }));
        w.ok(&agent("Ann"), "task_depend", json!({ "id": "x-1", "on": "x-2", "remove": true }));
        w.ok(&agent("Ann"), "task_close", json!({ "id": "x-1" }));
        publish(w);
        // Another change to the older version, made where nobody knew of the removals.
        import(w, &[old.replace("\"updated_at\":\"2026-01-01", "\"updated_at\":\"2026-01-02").replace("\"priority\":2", "\"priority\":1")]);
        let now = w.ok(&agent("Ann"), "task_show", json!({ "id": "x-1", "full": true }));
        assert_eq!((now.get("labels"), now.get("dependencies"), now["priority"].clone(), now["status"].clone()), (None, None, json!(1), json!("closed")));
        publish(w);
        let line = export(w).remove(0);
        let mut gained: Value = serde_json::from_str(&line).expect("json");
        gained["close_reason"] = json!("why");
        import(w, &[gained.to_string()]);
        let row: Value = serde_json::from_str(&export(w).remove(0)).expect("json");
        assert_eq!(row["close_reason"], "why", "under the same time, what is there wins");
    }

    fn a_bad_file_is_refused_as_a_whole_with_line_and_path(w) {
        for (bad, at, path) in [
            ("<<<<<<< HEAD".to_owned(), 2, ""),
            (">>>>>>> theirs".to_owned(), 2, ""),
            ("=======".to_owned(), 2, ""),
            ("{\"id\":".to_owned(), 2, "column 6"),
            ("[1]".to_owned(), 2, ""),
            (line("x-2", r#","labels":[1]"#), 2, "labels[0]"),
            (line("x-2", r#","created_by":"a\u0000""#), 2, "created_by"),
        ] {
            let lines = json!({ "lines": [line("x-1", ""), bad] });
            let refused = w.no_trace(&agent("Ann"), "beads_import", lines, "beads_invalid");
            assert_eq!((refused["line"].clone(), refused["path"].clone()), (json!(at), json!(path)));
        }
        let before = w.everything();
        let tried = w.ok(&agent("Ann"), "beads_import", json!({ "lines": [line("x-1", "")], "dry_run": true }));
        assert_eq!((tried["created"].clone(), tried["dry_run"].clone()), (json!(1), json!(true)));
        assert_eq!(w.everything(), before);
    }

    fn a_closed_line_that_does_not_say_when_stays_as_it_came_and_counts_no_time(w) {
        let closed = |id: &str, more: &str| format!(r#"{{"id":"{id}","title":"t","status":"closed","priority":2,"issue_type":"task"{more}}}"#);
        let dated = r#","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z""#;
        let lines = [
            closed("x-1", dated),
            // Closed before the instant that stands for its creation.
            closed("x-2", r#","updated_at":"2026-01-02T00:00:00Z","closed_at":"2025-01-02T00:00:00Z""#),
        ];
        import(w, &lines);
        assert_eq!(export(w)[0], lines[0]);
        let stats = w.ok(&agent("Ann"), "task_stats", json!({}))["summary"].clone();
        assert_eq!((&stats["closed_issues"], &stats["average_lead_time_hours"]), (&json!(2), &json!(0.0)));
        let listed = w.ok(&agent("Ann"), "task_list", json!({ "status": "closed" }));
        assert_eq!(listed["items"][0].get("closed_at"), None, "{listed:#}");
        w.ok(&agent("Ann"), "task_update", json!({ "id": "x-1", "title": "another" }));
        assert_eq!(show_one(w, "x-1").get("closed_at"), None);
        w.ok(&agent("Ann"), "task_reopen", json!({ "id": "x-1" }));
        assert_eq!(show_one(w, "x-1")["status"], "open");
    }

    fn comments_get_ids_like_those_that_are_there(w) {
        import(w, &[line("x-1", r#","comments":[{"id":41,"issue_id":"x-1","author":"a","text":"t","created_at":"2026-01-01T00:00:00Z"}]"#)]);
        assert_eq!(w.ok(&agent("Ann"), "task_comment", json!({ "id": "x-1", "text": "u" }))["id"], 42);
    }

    fn what_we_write_is_read_by_a_strict_reader(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T ä \" \\", "labels": ["x"] }));
        w.ok(&agent("Ann"), "task_comment", json!({ "id": made["test_id"], "text": "a\nb" }));
        w.ok(&agent("Ann"), "task_close", json!({ "id": made["implementation_id"], "reason": "done", "context": { "k": 1 } }));
        let lines = export(w);
        assert_eq!(lines.len(), 4);
        lines.iter().for_each(|line| strict(line));
    }
}

/// Reads a line as the notes on the format have it, and fails on anything that they do not have.
fn strict(line: &str) {
    const KEYS: &str = "id title description design acceptance_criteria notes spec_id status priority issue_type assignee owner \
        estimated_minutes created_at created_by updated_at started_at closed_at close_reason closed_by_session due_at \
        defer_until external_ref source_system metadata compaction_level compacted_at compacted_at_commit original_size labels \
        dependencies comments sender ephemeral no_history wisp_type pinned is_template bonded_from await_type await_id timeout \
        waiters source_formula source_location mol_type work_type event_kind actor target payload _type";
    assert!(!line.contains('\n'));
    let row: Value = serde_json::from_str(line).expect("json");
    let row = row.as_object().expect("an object");
    let known: Vec<&str> = KEYS.split_whitespace().collect();
    row.keys().for_each(|key| assert!(known.contains(&key.as_str()), "{key} is no field of the format"));
    for key in ["id", "title", "status", "issue_type", "created_at", "updated_at"] {
        assert!(row[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    assert!(row["priority"].as_i64().is_some_and(|p| (0..=4).contains(&p)));
    assert!(
        ["open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked"]
            .contains(&row["status"].as_str().expect("text"))
    );
    assert_eq!(row["status"] == "closed", row.contains_key("closed_at"));
    assert!(row["title"].as_str().is_some_and(|title| title.len() <= 500));
    for (key, value) in row.iter().filter(|(key, _)| key.ends_with("_at")) {
        let time = value.as_str().and_then(baton_model::time::parse_rfc3339);
        assert!(time.is_some(), "{key}");
    }
    for edge in row.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
        assert_eq!(edge["issue_id"], row["id"]);
        assert!(
            edge["depends_on_id"].is_string() && edge["type"].as_str().is_some_and(|kind| kind.len() <= 50)
        );
        assert!(edge.get("metadata").is_none_or(Value::is_string), "metadata of an edge is a text");
    }
    for comment in row.get("comments").and_then(Value::as_array).into_iter().flatten() {
        assert!(comment["id"].is_string() || comment["id"].is_i64());
        assert!(["issue_id", "author", "text", "created_at"].iter().all(|key| comment[*key].is_string()));
    }
    assert!(row.get("metadata").is_none_or(Value::is_object));
}
