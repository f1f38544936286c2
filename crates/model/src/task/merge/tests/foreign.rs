//! Lines that other tools, or two sides at once, have changed.

use super::*;

#[test]
fn an_edit_of_a_tool_whose_clock_is_behind_counts_where_nobody_else_changed_the_field() {
    // The line that Baton writes of a new task has no clocks; the other tool's time is before the task began.
    let begun = record(json!({}));
    let early = "2025-12-31T23:59:40Z";
    let comments = json!([{ "id": 1, "author": "x", "text": "hello", "created_at": early }]);
    let edits = [
        json!({ "notes": "n" }),
        json!({ "title": "edited" }),
        json!({ "status": "in_progress" }),
        json!({ "priority": 0 }),
        json!({ "labels": ["x"] }),
        json!({ "comments": comments }),
    ];
    for edit in edits {
        let mut fields = edit.clone();
        fields["updated_at"] = json!(early);
        let theirs = record(fields);
        let after = merge(std::slice::from_ref(&begun), &adopt(&begun), &theirs).0;
        for (key, value) in edit.as_object().expect("fields") {
            assert_eq!(canonical(&after)[key], *value);
        }
        // A clone that never saw the line without the edit is not brought back by it.
        let after = merge(std::slice::from_ref(&theirs), &adopt(&theirs), &begun).0;
        for (key, value) in edit.as_object().expect("fields") {
            assert_eq!(canonical(&after)[key], *value, "undone by the older line");
        }
        // What was changed here meanwhile stays, too.
        let ours = ledger(&begun, &record(json!({ "design": "d", "updated_at": SECOND })));
        let after = merge(std::slice::from_ref(&begun), &ours, &theirs).0;
        for (key, value) in edit.as_object().expect("fields") {
            assert_eq!((&canonical(&after)[key], &canonical(&after)["design"]), (value, &json!("d")));
        }
    }
    // A later version that names what it was made from: here the instant of the closing.
    let closed = record(json!({ "status": "closed", "closed_at": SECOND, "updated_at": SECOND }));
    let edited = record(
        json!({ "status": "closed", "closed_at": SECOND, "notes": "n", "updated_at": "2026-01-01T12:00:00Z" }),
    );
    let after = merge(std::slice::from_ref(&closed), &adopt(&closed), &edited).0;
    assert_eq!(after.task.extra["notes"], "n");
}

#[test]
fn what_a_tool_that_drops_the_clocks_puts_back_is_named() {
    // Nothing says whether the tool has taken our change back, or never saw it.
    let begun = record(json!({ "labels": ["x"] }));
    let ours = ledger(&begun, &record(json!({ "priority": 0, "labels": ["x", "y"], "updated_at": SECOND })));
    let known = [begun.clone(), published(&ours)];
    for metadata in [json!({}), json!(null)] {
        let mut line = json!({ "title": "edited", "labels": ["x"], "updated_at": THIRD });
        line["metadata"] = metadata;
        let (after, conflicts) = merge(&known, &ours, &record(line));
        let named: Vec<String> =
            conflicts.iter().map(|c| format!("{} {}", c.field, c.kept.as_str())).collect();
        assert_eq!((after.task.priority, after.task.title.as_str()), (2, "edited"));
        assert_eq!(named, ["priority theirs", "labels:y theirs"]);
    }
    // A change to a value that was never here is no undoing.
    let further = record(json!({ "priority": 1, "labels": ["x", "y"], "metadata": {}, "updated_at": THIRD }));
    assert_eq!(merge(&known, &ours, &further).1, []);
}

#[test]
fn what_both_sides_add_to_a_text_stays() {
    let begun = record(json!({ "notes": "p" }));
    let ours = ledger(&begun, &record(json!({ "notes": "p\nours", "updated_at": THIRD })));
    let theirs = ledger(&begun, &record(json!({ "notes": "p\ntheirs", "updated_at": SECOND })));
    let known = [begun.clone(), published(&ours)];
    let (both, conflicts) = merge(&known, &ours, &published(&theirs));
    assert_eq!((&both.task.extra["notes"], conflicts), (&json!("p\ntheirs\nours"), vec![]));
    let other = merge(&[begun.clone(), published(&theirs)], &theirs, &published(&ours)).0;
    assert_eq!((entries(&other), other.task.clocks), (entries(&both), both.task.clocks.clone()));
    // The other's version once more, and one that goes on from it.
    assert_eq!(entries(&merge(&known, &both, &published(&theirs)).0), entries(&both));
    let further =
        ledger(&theirs, &record(json!({ "notes": "p\ntheirs\nmore", "updated_at": "2026-01-04T00:00:00Z" })));
    let after = merge(&[begun.clone(), published(&ours), published(&both)], &both, &published(&further)).0;
    assert_eq!(after.task.extra["notes"], "p\ntheirs\nours\nmore");
    // A line that was taken away stays away, and a text written anew is no addition.
    let less = ledger(&both, &record(json!({ "notes": "p\nours", "updated_at": THIRD })));
    let after = merge(&[begun.clone(), published(&both)], &less, &published(&theirs)).0;
    assert_eq!(after.task.extra["notes"], "p\nours");
    let anew = ledger(&begun, &record(json!({ "notes": "anew", "updated_at": THIRD })));
    let (after, conflicts) = merge(&[begun], &anew, &published(&theirs));
    assert_eq!((&after.task.extra["notes"], conflicts.len()), (&json!("anew"), 1));
}

#[test]
fn a_comment_is_the_same_whatever_its_number_and_the_parts_of_its_second() {
    let comment =
        |id: i64, text: &str, at: &str| json!({ "id": id, "author": "a", "text": text, "created_at": at });
    let (exact, whole) = ("2026-01-02T00:00:00.700Z", "2026-01-02T00:00:00Z");
    let base =
        record(json!({ "comments": [comment(1, "t", exact), comment(2, "u", exact)], "updated_at": SECOND }));
    let theirs = record(json!({
        "comments": [comment(7, "t", whole), comment(8, "u", whole), comment(9, "v", whole)], "updated_at": THIRD,
    }));
    let after = merge(std::slice::from_ref(&base), &adopt(&base), &theirs).0;
    let ids: Vec<&Value> = after.comments.iter().map(|comment| &comment["id"]).collect();
    assert_eq!(ids.len(), 3, "{:?}", after.comments);
    assert!(ids.contains(&&json!(1)) && ids.contains(&&json!(2)) && ids.contains(&&json!(9)), "{ids:?}");
    let line = super::super::super::record::write(&theirs, None);
    let merged = Record { task: theirs.task.clone(), comments: after.comments.clone(), ..Record::default() };
    let written = super::super::super::record::write(&merged, Some(&line));
    assert_eq!(written["comments"], line["comments"], "the line stays as the other tool has it");
    // One that says the same twice within a second has said it twice.
    let twice = record(json!({ "comments": [comment(1, "t", exact), comment(2, "t", whole)] }));
    assert_eq!(merge(&[], &adopt(&twice), &twice).0.comments.len(), 2);
}

#[test]
fn a_state_that_came_back_is_taken_from_a_line_that_lost_its_clocks() {
    const FOURTH: &str = "2026-01-04T00:00:00Z";
    const FIFTH: &str = "2026-01-05T00:00:00Z";
    const SIXTH: &str = "2026-01-06T00:00:00Z";
    let closed = |at: &str| json!({ "status": "closed", "closed_at": at, "close_reason": "passed", "updated_at": at, "metadata": { "x": 1 } });
    let open = |at: &str| json!({ "updated_at": at, "metadata": { "x": 1 } });
    // A field that goes on telling that the work has begun.
    let started = |mut state: Value| {
        state["started_at"] = json!(SECOND);
        state
    };
    // Another ledger goes on by one state; its line is rewritten by a tool that drops the metadata, or changes a field.
    for states in [
        vec![open(SECOND), closed(THIRD), open(FOURTH), closed(FIFTH)],
        vec![closed(SECOND), open(THIRD), closed(FOURTH), open(FIFTH)],
        vec![
            open(SECOND),
            started(closed(THIRD)),
            started(open(FOURTH)),
            started(closed(FIFTH)),
            started(open(SIXTH)),
        ],
    ] {
        let begun = record(json!({ "metadata": { "x": 1 } }));
        let mut ledgers = vec![adopt(&begun)];
        for state in &states {
            ledgers.push(changed(&ledgers[ledgers.len() - 1], &record(state.clone())));
        }
        let mut versions = vec![begun];
        versions.extend(ledgers[1..].iter().map(published));
        let last = versions.pop().expect("the last");
        let ours = &ledgers[states.len() - 1];
        let mut dropped = states[states.len() - 1].clone();
        dropped.as_object_mut().expect("fields").remove("metadata");
        let after = merge(&versions, ours, &record(dropped.clone())).0;
        assert_eq!(
            canonical(&after).get("status"),
            dropped.get("status").or(Some(&json!("open"))),
            "{states:?}"
        );
        assert_eq!(canonical(&after).get("close_reason"), dropped.get("close_reason"), "{states:?}");
        let mut edited = last.clone();
        edited.task.updated_at += 1_000;
        edited.task.extra.insert("notes".to_owned(), json!("n"));
        let after = merge(&versions, ours, &edited).0;
        assert_eq!(canonical(&after).get("status"), canonical(&last).get("status"), "{states:?}");
        assert_eq!(canonical(&after).get("closed_at"), canonical(&last).get("closed_at"), "{states:?}");
        assert_eq!(after.task.extra["notes"], "n");
    }
}

#[test]
fn what_a_tool_takes_back_is_taken_back_however_much_it_is() {
    const FOURTH: &str = "2026-01-04T00:00:00Z";
    // A tool that writes no clocks edits, closes, and opens again; another home only looks.
    let edits = [json!({}), json!({ "title": "new" }), json!({ "priority": 0 }), json!({ "labels": ["x"] })];
    for edit in edits {
        let with = |mut more: Value| {
            for (key, value) in edit.as_object().expect("fields") {
                more[key] = value.clone();
            }
            record(more)
        };
        let closed =
            json!({ "status": "closed", "closed_at": THIRD, "close_reason": "r", "updated_at": THIRD });
        let known = [record(json!({})), with(json!({ "updated_at": SECOND })), with(closed)];
        let opened = with(json!({ "updated_at": FOURTH }));
        let mut ours = adopt(&known[0]);
        for at in 1..known.len() {
            ours = merge(&known[..at], &ours, &known[at]).0;
        }
        let after = merge(&known, &ours, &opened).0;
        assert_eq!((after.task.status.as_str(), after.task.closed_at), ("open", None), "{edit}");
    }
    // A tool that drops the metadata takes back what Baton has changed one after the other.
    let begun = record(json!({ "metadata": { "x": 1 } }));
    let first = changed(&adopt(&begun), &record(json!({ "labels": ["a"], "updated_at": SECOND })));
    let second = changed(&first, &record(json!({ "labels": ["a", "b"], "title": "u", "updated_at": THIRD })));
    let known = [begun, published(&first), published(&second)];
    let after = merge(&known, &second, &record(json!({ "updated_at": FOURTH }))).0;
    assert_eq!((after.task.labels.len(), after.task.title.as_str()), (0, "t"));
}

#[test]
fn what_a_tool_takes_away_from_a_version_that_was_never_here_is_gone() {
    const FOURTH: &str = "2026-01-04T00:00:00Z";
    let all = json!({ "labels": ["a"], "design": "d", "status": "closed", "closed_at": SECOND, "close_reason": "r" });
    let at = |fields: &Value, title: &str, at: &str| {
        let mut fields = fields.clone();
        fields["title"] = json!(title);
        fields["updated_at"] = json!(at);
        record(fields)
    };
    // The entries are there from the beginning, or both know their change.
    let begun = at(&all, "t", SECOND);
    let bare = record(json!({}));
    let set = changed(&adopt(&bare), &at(&all, "t", SECOND));
    for (known, here) in [(vec![begun.clone()], adopt(&begun)), (vec![bare, published(&set)], set.clone())] {
        let elsewhere = changed(&here, &at(&all, "retitled", THIRD));
        let mut line = published(&elsewhere);
        line.task.labels.clear();
        line.task.extra.shift_remove("design");
        line.task.set_status("open", 0);
        line.task.updated_at = record(json!({ "updated_at": FOURTH })).task.updated_at;
        let after = canonical(&merge(&known, &here, &line).0);
        assert_eq!(
            (after.get("labels"), after.get("design"), &after["status"], &after["title"]),
            (None, None, &json!("open"), &json!("retitled"))
        );
        // What the other side never had stays.
        let more = changed(&here, &at(&json!({ "labels": ["a", "b"], "notes": "n" }), "t", THIRD));
        let after = canonical(&merge(&known, &more, &line).0);
        assert_eq!((&after["labels"], &after["notes"]), (&json!(["b"]), &json!("n")));
    }
}
