use serde_json::json;

use super::super::record::canonical;
use super::*;

fn record(fields: Value) -> Record {
    let mut row = json!({
        "id": "a-1", "title": "t", "priority": 2, "status": "open", "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    });
    for (key, value) in fields.as_object().expect("fields") {
        row[key] = value.clone();
    }
    read(row.as_object().expect("object")).expect("a record")
}

/// The ledger after a task that was read from `base` was changed to `ours`.
fn ledger(base: &Record, ours: &Record) -> Record {
    let mut changed = ours.clone();
    changed.task.clocks = adopt(base).task.clocks;
    let (old, new) = (entries(base), entries(ours));
    let names = old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name));
    note(&mut changed.task, names.cloned(), ours.task.updated_at);
    changed
}

fn merged(base: Value, ours: Value, theirs: Value) -> (Map<String, Value>, Vec<String>) {
    let base = record(base);
    let ours = ledger(&base, &record(ours));
    let (merged, conflicts) = merge(&[base], &ours, &record(theirs));
    (canonical(&merged), conflicts.into_iter().map(|c| format!("{} {}", c.field, c.kept)).collect())
}

const SECOND: &str = "2026-01-02T00:00:00Z";
const THIRD: &str = "2026-01-03T00:00:00Z";

#[test]
fn each_side_keeps_what_it_changed() {
    let (row, conflicts) = merged(
        json!({ "title": "a", "notes": "n", "metadata": { "x": 1, "y": 1 } }),
        json!({ "title": "b", "notes": "n", "metadata": { "x": 2, "y": 1 }, "updated_at": SECOND }),
        json!({ "title": "a", "priority": 0, "metadata": { "x": 1, "y": 2 }, "updated_at": THIRD }),
    );
    assert_eq!((&row["title"], &row["priority"], row.get("notes")), (&json!("b"), &json!(0), None));
    assert_eq!(row["metadata"], json!({ "x": 2, "y": 2 }));
    assert_eq!(conflicts, Vec::<String>::new());
}

#[test]
fn what_both_changed_is_told_and_the_later_change_is_kept() {
    for (ours, theirs, title, kept) in [(SECOND, THIRD, "c", "theirs"), (THIRD, SECOND, "b", "ours")] {
        let (row, conflicts) = merged(
            json!({}),
            json!({ "title": "b", "updated_at": ours }),
            json!({ "title": "c", "updated_at": theirs }),
        );
        assert_eq!((row["title"].clone(), conflicts), (json!(title), vec![format!("title {kept}")]));
    }
}

#[test]
fn an_older_line_than_the_ledgers_undoes_nothing() {
    let newest = record(json!({
        "status": "closed", "closed_at": THIRD, "close_reason": "done", "updated_at": THIRD, "labels": ["x"],
        "comments": [{ "id": 1, "author": "a", "text": "late", "created_at": THIRD }],
    }));
    let older = record(json!({
        "updated_at": SECOND, "notes": "n", "labels": ["y"],
        "comments": [{ "id": 1, "author": "a", "text": "early", "created_at": SECOND }],
    }));
    let (row, conflicts) = merge(std::slice::from_ref(&newest), &adopt(&newest), &older);
    let row = canonical(&row);
    assert_eq!(
        (&row["status"], &row["close_reason"], &row["labels"]),
        (&json!("closed"), &json!("done"), &json!(["x"]))
    );
    assert_eq!(
        (row.get("notes"), row["comments"].as_array().map(Vec::len)),
        (None, Some(2)),
        "what was said stays said"
    );
    assert_eq!(conflicts, []);
}

#[test]
fn what_is_there_wins_over_what_is_absent_at_the_same_time() {
    let closed = json!({ "status": "closed", "updated_at": SECOND });
    let more =
        json!({ "status": "closed", "updated_at": SECOND, "closed_at": SECOND, "close_reason": "why" });
    for (base, line) in [(closed.clone(), more.clone()), (more, closed)] {
        let (row, _) = merged(base.clone(), base, line);
        assert_eq!((&row["close_reason"], row.contains_key("closed_at")), (&json!("why"), true));
    }
}

#[test]
fn lists_are_joined_and_what_was_taken_away_stays_away() {
    let edge = |to: &str| json!({ "issue_id": "a-1", "depends_on_id": to, "type": "blocks" });
    let comment =
        |id: Value, text: &str| json!({ "id": id, "text": text, "author": "a", "created_at": SECOND });
    let (row, _) = merged(
        json!({ "labels": ["a", "b"], "dependencies": [edge("x"), edge("y")], "comments": [comment(json!(1), "t")] }),
        json!({ "labels": ["a", "c"], "dependencies": [edge("x")], "updated_at": SECOND,
            "comments": [comment(json!(1), "t"), comment(json!(2), "u")] }),
        json!({ "labels": ["b", "a", "d"], "dependencies": [edge("x"), edge("y"), edge("z")], "updated_at": THIRD,
            "comments": [comment(json!(1), "t"), comment(json!(2), "v")] }),
    );
    assert_eq!(row["labels"], json!(["a", "c", "d"]));
    assert_eq!(row["dependencies"], json!([edge("x"), edge("z")]));
    assert_eq!(row["comments"].as_array().map(Vec::len), Some(3), "two with the same number are two");
}

#[test]
fn a_removal_is_remembered_against_every_older_version() {
    let begun = record(json!({ "labels": ["a"] }));
    let ours = ledger(&begun, &record(json!({ "updated_at": THIRD })));
    // Neither version is known: one is older than the removal, one has the label from another change after it.
    let line = record(json!({ "labels": ["a"], "notes": "n", "updated_at": SECOND }));
    let after = merge(&[], &ours, &line).0;
    assert_eq!((after.task.labels.clone(), after.task.extra["notes"].clone()), (vec![], json!("n")));
    let mut again = ledger(&begun, &record(json!({ "labels": ["a"], "updated_at": "2026-01-04T00:00:00Z" })));
    again.task.clocks.entries.insert("labels:a".into(), again.task.updated_at);
    again.stamp = Some(again.task.updated_at);
    assert_eq!(merge(&[], &after, &again).0.task.labels, ["a"]);
}

#[test]
fn what_was_closed_stays_closed_as_a_whole_and_nothing_rises_from_the_dead() {
    let closed =
        json!({ "status": "closed", "closed_at": SECOND, "close_reason": "done", "updated_at": SECOND });
    let (row, conflicts) = merged(json!({}), json!({ "title": "b", "updated_at": THIRD }), closed.clone());
    assert_eq!(
        (row["status"].clone(), row["close_reason"].clone(), conflicts),
        (json!("closed"), json!("done"), vec![])
    );
    let (row, _) = merged(closed.clone(), closed.clone(), json!({ "status": "open", "updated_at": THIRD }));
    assert_eq!((&row["status"], row.get("close_reason"), row.get("closed_at")), (&json!("open"), None, None));
    let late = json!({ "status": "open", "title": "z", "updated_at": "2027-01-01T00:00:00Z" });
    let (row, _) = merged(closed, json!({ "status": "tombstone", "updated_at": THIRD }), late.clone());
    assert_eq!(row["status"], "tombstone");
    let (row, _) = merged(json!({}), late, json!({ "status": "tombstone", "updated_at": SECOND }));
    assert_eq!(row["status"], "tombstone");
}

#[test]
fn without_a_common_version_nothing_is_lost() {
    let ours = record(json!({ "notes": "n", "labels": ["a"] }));
    let theirs = record(json!({ "design": "d", "labels": ["b"], "updated_at": THIRD }));
    let (both, conflicts) = merge(&[], &ours, &theirs);
    let row = canonical(&both);
    assert_eq!(
        (&row["notes"], &row["design"], &row["labels"]),
        (&json!("n"), &json!("d"), &json!(["a", "b"]))
    );
    assert_eq!(conflicts, []);
}

/// The line of a record, read again.
fn published(record: &Record) -> Record {
    read(&super::super::record::write(record, None)).expect("a line")
}

#[test]
fn a_side_that_knew_nothing_of_a_change_does_not_undo_it() {
    let begun = record(json!({}));
    let first = ledger(&begun, &record(json!({ "title": "new", "assignee": "ann", "updated_at": SECOND })));
    let second = ledger(&begun, &record(json!({ "notes": "n", "updated_at": THIRD })));
    let known = [begun.clone(), published(&first)];
    let both = merge(&known, &first, &published(&second)).0;
    assert_eq!(
        (both.task.title.as_str(), both.task.assignee.as_deref(), &both.task.extra["notes"]),
        ("new", Some("ann"), &json!("n"))
    );
    let other = merge(&[begun, published(&second)], &second, &published(&first)).0;
    assert_eq!((entries(&other), other.task.clocks), (entries(&both), both.task.clocks));
}

#[test]
fn another_tools_change_counts_from_the_version_that_it_was_made_from() {
    let begun = record(json!({}));
    let ours = ledger(
        &begun,
        &record(
            json!({ "title": "ours", "status": "closed", "closed_at": SECOND, "updated_at": "2026-01-02T00:00:00.700Z" }),
        ),
    );
    let line = published(&ours);
    // It writes whole seconds, so its version looks older than ours.
    let mut theirs = line.clone();
    theirs.task.status = "open".into();
    theirs.task.closed_at = None;
    theirs.task.updated_at -= 700;
    let known = [begun.clone(), line.clone()];
    let after = merge(&known, &ours, &theirs).0;
    assert_eq!(
        (after.task.status.as_str(), after.task.closed_at, after.task.title.as_str()),
        ("open", None, "ours")
    );
    // Under the same time a value is taken, and nothing is taken away.
    let mut theirs = line.clone();
    (theirs.task.title, theirs.task.closed_at) = ("by hand".into(), None);
    let after = merge(&known, &ours, &theirs).0;
    assert_eq!((after.task.title.as_str(), after.task.closed_at.is_some()), ("by hand", true));
    // A line without clocks that has not the comment of the newest version was made from an older one.
    let said = json!([{ "id": 1, "author": "a", "text": "t", "created_at": SECOND }]);
    let newest = record(json!({ "title": "second", "comments": said, "updated_at": SECOND }));
    let after = merge(
        &[begun, newest.clone()],
        &adopt(&newest),
        &record(json!({ "notes": "n", "updated_at": THIRD })),
    )
    .0;
    assert_eq!((after.task.title.as_str(), after.comments.len()), ("second", 1));
}

#[test]
fn times_may_be_missing_have_offsets_or_stand_still() {
    let begun = record(json!({ "updated_at": "2026-01-02T01:00:00.123456789+02:00" }));
    let mut bare = begun.clone();
    (bare.task.updated_at, bare.task.title) = (0, "bare".into());
    let ours = ledger(&begun, &record(json!({ "notes": "n", "updated_at": THIRD })));
    let after = merge(std::slice::from_ref(&begun), &ours, &bare).0;
    assert_eq!(
        (after.task.title.as_str(), &after.task.extra["notes"]),
        ("t", &json!("n")),
        "a line without a time is the oldest"
    );
    let same = record(json!({ "updated_at": "2026-01-01T23:00:00.123Z", "assignee": "ann" }));
    let after = merge(&[begun], &ours, &same).0;
    assert_eq!(after.task.assignee.as_deref(), Some("ann"), "another spelling of the same time");
}
