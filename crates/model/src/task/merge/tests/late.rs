//! Lines of tools whose clock is behind, where the ledger lacks the version that they were made from.

use super::super::super::line::merge_lines;
use super::super::super::record::write;
use super::*;

const EARLY: &str = "2025-12-31T23:00:00Z";

/// A line that another tool has changed with a clock that is behind.
fn edited(line: &Record, more: Value) -> Record {
    let mut row = write(line, None);
    row["updated_at"] = json!(EARLY);
    row.extend(more.as_object().cloned().expect("fields"));
    row.insert("metadata".into(), write(line, None).get("metadata").cloned().unwrap_or_default());
    read(&row).expect("a record")
}

#[test]
fn the_version_that_a_late_tool_began_with_does_not_undo_its_edit() {
    let comment = json!([{ "id": 1, "author": "a", "text": "t", "created_at": SECOND }]);
    let origin =
        published(&ledger(&record(json!({})), &record(json!({ "assignee": "ann", "updated_at": SECOND }))));
    for edit in [
        json!({ "design": "d" }),
        json!({ "title": "edited" }),
        json!({ "assignee": "ben" }),
        json!({ "labels": ["x"] }),
    ] {
        let late = edited(&origin, edit.clone());
        // The origin got a comment meanwhile, which changes no clock.
        let origin = Record { comments: record(json!({ "comments": comment })).comments, ..origin.clone() };
        let after = merge(std::slice::from_ref(&late), &adopt(&late), &origin).0;
        for (key, value) in edit.as_object().expect("fields") {
            assert_eq!(canonical(&after)[key], *value);
        }
        assert_eq!(after.comments.len(), 1, "{edit}");
        // What was changed here since is later than either.
        let ours = changed(
            &adopt(&late),
            &Record {
                task: super::super::super::Task {
                    title: "ours".into(),
                    updated_at: late.task.updated_at,
                    ..late.task.clone()
                },
                ..late.clone()
            },
        );
        assert_eq!(merge(std::slice::from_ref(&late), &ours, &origin).0.task.title, "ours");
    }
}

#[test]
fn what_a_task_began_with_undoes_no_change_in_the_second_of_its_creation() {
    let begun =
        record(json!({ "created_at": "2026-01-01T00:00:00.361Z", "updated_at": "2026-01-01T00:00:00.361Z" }));
    let closed = ledger(
        &begun,
        &record(json!({
            "created_at": "2026-01-01T00:00:00.361Z", "status": "closed", "closed_at": "2026-01-01T00:00:00.568Z",
            "updated_at": "2026-01-01T00:00:00.568Z",
        })),
    );
    // Another ledger meets the task in a late tool's line, and changes it.
    let late = adopt(&edited(&begun, json!({ "design": "late" })));
    let mut labelled = late.clone();
    labelled.task.labels.push("x".into());
    labelled.task.updated_at = begun.task.updated_at + 9000;
    touch(&late.task, &mut labelled.task, begun.task.updated_at + 9000);
    let [base, theirs] = [&closed, &labelled].map(|record| write(record, None));
    let more = ledger(
        &begun,
        &record(json!({ "created_at": "2026-01-01T00:00:00.361Z", "notes": "n", "updated_at": THIRD })),
    );
    let ours = write(&merge(&[published(&closed)], &closed, &published(&more)).0, None);
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge_lines(Some(&base), ours, theirs).expect("merged").0;
        assert_eq!((&merged["status"], &merged["labels"]), (&json!("closed"), &json!(["x"])));
    }
}

#[test]
fn a_late_tools_edit_of_the_first_version_undoes_no_change_of_the_instant_of_creation() {
    let begun = record(json!({}));
    // The clock stands still, so that the change has the time of the creation.
    let ours = changed(
        &adopt(&begun),
        &record(json!({ "title": "ours", "labels": ["x"], "status": "in_progress" })),
    );
    let late = edited(&begun, json!({ "design": "late" }));
    let after = merge(&[published(&ours)], &ours, &late).0;
    assert_eq!(
        (
            after.task.title.as_str(),
            after.task.labels.len(),
            after.task.status.as_str(),
            &after.task.extra["design"]
        ),
        ("ours", 1, "in_progress", &json!("late"))
    );
}

#[test]
fn what_one_late_tool_added_is_not_taken_away_by_another_that_never_saw_it() {
    let begun = record(json!({}));
    let origin = published(&ledger(&begun, &record(json!({ "assignee": "ann", "updated_at": SECOND }))));
    let first = edited(&origin, json!({ "design": "d" }));
    // Made from the same version, or from a later one without the edit.
    let next = published(&Record {
        stamp: None,
        task: super::super::super::Task { updated_at: origin.task.updated_at + 5, ..origin.task.clone() },
        ..origin.clone()
    });
    for line in [&origin, &next] {
        let second = edited(line, json!({ "x_other": 1 }));
        let after = merge(std::slice::from_ref(&first), &adopt(&first), &second).0;
        assert_eq!((&after.task.extra["design"], &after.task.extra["x_other"]), (&json!("d"), &json!(1)));
    }
}

#[test]
fn an_edit_in_whole_seconds_within_the_second_of_the_creation_stays() {
    // Another tool has edited the task before this clone saw it for the first time.
    let created = json!({ "created_at": "2026-01-01T00:00:00.304Z" });
    let of = |fields: Value| {
        let mut row = created.clone();
        row.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        record(row)
    };
    let first = of(json!({ "updated_at": "2026-01-01T00:00:00.304Z" }));
    let edited = of(json!({ "design": "d", "updated_at": "2026-01-01T00:00:00Z" }));
    let ours = ledger(
        &edited,
        &of(json!({ "design": "d", "assignee": "ann", "updated_at": "2026-01-01T00:00:00.403Z" })),
    );
    let theirs = ledger(&first, &of(json!({ "labels": ["l"], "updated_at": "2026-01-01T00:00:00.427Z" })));
    for known in [vec![], vec![edited.clone()], vec![edited.clone(), published(&ours)]] {
        let after = merge(&known, &ours, &published(&theirs)).0;
        assert_eq!((&after.task.extra["design"], after.task.assignee.as_deref()), (&json!("d"), Some("ann")));
        assert_eq!(after.task.labels, ["l"]);
        if known.is_empty() {
            continue;
        }
        // The same after another tool, which keeps the clocks, has set the label.
        let theirs = ledger(&first, &of(json!({ "notes": "n", "updated_at": "2026-01-01T00:00:00.420Z" })));
        let mut line = write(&published(&theirs), None);
        line.insert("labels".into(), json!(["l"]));
        line.insert("updated_at".into(), json!("2026-01-01T00:00:00.427Z"));
        let after = merge(&known, &ours, &read(&line).expect("a line")).0;
        assert_eq!((&after.task.extra["design"], after.task.labels.len()), (&json!("d"), 1), "{known:?}");
    }
}

/// A home that saw these versions of a text one after the other, and the last of which it is not told the way.
fn seen_by_another(texts: &[&str]) -> (String, String) {
    let at = |n: usize| format!("2026-01-{:02}T00:00:00Z", n + 2);
    let mut ours = adopt(&record(json!({ "notes": texts[0] })));
    let mut theirs = ours.clone();
    let mut known = Vec::new();
    for (n, text) in texts.iter().enumerate().skip(1) {
        let mut next = record(json!({ "notes": text, "updated_at": at(n) }));
        next.task.clocks = theirs.task.clocks.clone();
        let changed_at = next.task.updated_at;
        touch(&theirs.task, &mut next.task, changed_at);
        theirs = next;
        theirs.stamp = Some(changed_at);
        // The other home does not look at every version.
        if n % 2 == 1 || n + 1 == texts.len() {
            ours = merge(&known, &ours, &theirs).0;
            known.push(theirs.clone());
        }
    }
    let text = |record: &Record| {
        entries(record).get("notes").map_or("", |text| text.as_str().unwrap_or_default()).to_owned()
    };
    (text(&ours), text(&merge(&[], &theirs, &ours).0))
}

#[test]
fn a_line_that_was_taken_away_stays_away_in_a_home_that_only_reads() {
    for texts in [
        &["base", "base\nthe token", "base"][..],
        &["", "A", "B"],
        &["base", "base\na\nb", "base\na"],
        &["base", "base\na", "base\nrewritten"],
        &["base", "base\na", "base\na\nb", "base\nb"],
        &["base", "base\na", "base\na\nb", "base\na\nb\nc", "base\nc"],
    ] {
        let last = texts[texts.len() - 1].to_owned();
        assert_eq!(seen_by_another(texts), (last.clone(), last), "{texts:?}");
    }
}
