mod deletion;
mod foreign;
mod lacking;
mod late;

use serde_json::json;

use super::super::line::render;
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
    changed(&adopt(base), ours)
}

/// The ledger after one of its tasks was changed.
fn changed(before: &Record, after: &Record) -> Record {
    let mut changed = after.clone();
    changed.task.clocks = before.task.clocks.clone();
    let (old, new) = (entries(before), entries(after));
    let names = old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name));
    note(&mut changed.task, names.cloned(), after.task.updated_at);
    changed
}

fn merged(base: Value, ours: Value, theirs: Value) -> (Map<String, Value>, Vec<String>) {
    let base = record(base);
    let ours = ledger(&base, &record(ours));
    let (merged, conflicts) = merge(&[base], &ours, &record(theirs));
    (canonical(&merged), conflicts.into_iter().map(|c| format!("{} {}", c.field, c.kept.as_str())).collect())
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
    for (ours, theirs, title, winner) in [(SECOND, THIRD, "c", "theirs"), (THIRD, SECOND, "b", "ours")] {
        let (row, conflicts) = merged(
            json!({}),
            json!({ "title": "b", "updated_at": ours }),
            json!({ "title": "c", "updated_at": theirs }),
        );
        assert_eq!((row["title"].clone(), conflicts), (json!(title), vec![format!("title {winner}")]));
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
fn a_deletion_keeps_why_the_other_side_had_closed_the_issue() {
    let deleted = json!({ "status": "tombstone", "deleted_at": SECOND, "delete_reason": "stale", "updated_at": SECOND });
    let closed = json!({ "status": "closed", "closed_at": THIRD, "close_reason": "fixed by 1a2b", "updated_at": THIRD });
    for (ours, theirs) in [(deleted.clone(), closed.clone()), (closed, deleted)] {
        let (row, _) = merged(json!({}), ours, theirs);
        let fields = ["status", "close_reason", "delete_reason"].map(|field| row[field].clone());
        assert_eq!(fields, [json!("tombstone"), json!("fixed by 1a2b"), json!("stale")]);
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
    let early = json!({ "status": "open", "title": "z", "updated_at": SECOND });
    let deleted = json!({ "status": "tombstone", "updated_at": THIRD });
    let (row, conflicts) = merged(json!({}), deleted.clone(), early.clone());
    assert_eq!((&row["status"], conflicts), (&json!("tombstone"), vec!["status ours".to_owned()]));
    let (row, conflicts) = merged(json!({}), early, deleted);
    assert_eq!((&row["status"], conflicts), (&json!("tombstone"), vec!["status theirs".to_owned()]));
}

#[test]
fn an_issue_that_somebody_went_on_with_is_not_deleted_by_an_older_deletion() {
    let deleted = json!({ "status": "tombstone", "deleted_at": SECOND, "delete_reason": "stale", "updated_at": SECOND });
    let comment = json!([{ "id": 1, "text": "found it", "author": "a", "created_at": THIRD }]);
    for goes_on in [
        json!({ "notes": "reproduced", "priority": 0, "updated_at": THIRD }),
        json!({ "status": "in_progress", "assignee": "tess", "updated_at": THIRD }),
        json!({ "comments": comment, "updated_at": THIRD }),
        json!({ "notes": "done", "status": "closed", "close_reason": "fixed", "updated_at": THIRD }),
    ] {
        for (ours, theirs, side) in [(&deleted, &goes_on, "theirs"), (&goes_on, &deleted, "ours")] {
            let (row, conflicts) = merged(json!({}), ours.clone(), theirs.clone());
            let status = goes_on.get("status").cloned().unwrap_or_else(|| json!("open"));
            let left = ["deleted_at", "delete_reason"].map(|field| row.get(field).cloned());
            assert_eq!((&row["status"], left), (&status, [None, None]), "{goes_on}");
            assert_eq!(
                (row.get("notes"), row.get("assignee")),
                (goes_on.get("notes"), goes_on.get("assignee"))
            );
            assert!(conflicts.contains(&format!("status {side}")), "{goes_on}: {conflicts:?}");
        }
    }
    // What Baton notes for itself is nobody's work.
    let noted = json!({ "metadata": { "handoff.v1": { "attempts": 2 } }, "updated_at": THIRD });
    assert_eq!(merged(json!({}), noted, deleted).0["status"], "tombstone");
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
    let comments = json!([{ "id": 1, "author": "a", "text": "t", "created_at": SECOND }]);
    let newest = record(json!({ "title": "second", "comments": comments, "updated_at": SECOND }));
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

#[test]
fn a_comment_that_a_line_lacks_stays_whatever_its_clocks_and_its_time() {
    let begun = record(json!({}));
    let closed = json!({ "status": "closed", "closed_at": THIRD, "updated_at": THIRD });
    let line = published(&ledger(&begun, &record(closed)));
    let comment = |text: &str| {
        json!({ "id": 0, "author": "a", "text": text, "created_at": SECOND })
            .as_object()
            .cloned()
            .expect("object")
    };
    let ours = Record { comments: vec![comment("ours")], ..line.clone() };
    // A comment has no clock: the version with it has those of the one that another tool, whose clock is late, goes on from.
    let mut theirs = Record { comments: vec![comment("theirs")], ..line.clone() };
    theirs.task.updated_at -= 5000;
    let texts =
        |record: &Record| record.comments.iter().map(|entry| entry["text"].clone()).collect::<Vec<_>>();
    let after = merge(&[line.clone(), ours.clone()], &ours, &theirs).0;
    assert_eq!(texts(&after), ["ours", "theirs"]);
    // A line whose clocks say that a comment was taken away, as they once did.
    let mut theirs = line;
    let now = theirs.task.updated_at;
    let names: Vec<String> = entries(&ours).keys().filter(|name| entry::is_comment(name)).cloned().collect();
    note(&mut theirs.task, names, now);
    assert_eq!(texts(&merge(&[], &ours, &theirs).0), ["ours"]);
    assert_eq!(texts(&merge(&[], &adopt(&theirs), &ours).0), ["ours"]);
}

#[test]
fn an_earlier_line_that_says_the_same_does_not_stand_for_a_later_change() {
    let begun = record(json!({}));
    let first = ledger(&begun, &record(json!({ "priority": 4, "updated_at": THIRD })));
    // The clock of the machine goes back, so that all three versions have one time.
    let with = |before: &Record, assignee: Option<&str>| {
        let mut after = before.clone();
        after.task.assignee = assignee.map(str::to_owned);
        touch(&before.task, &mut after.task, before.task.updated_at - 9000);
        after
    };
    let second = with(&first, Some("ann"));
    let third = with(&second, None);
    let line = |record: &Record| render(record, None, &[]);
    let lines = [&first, &second].map(line);
    let last = render(&third, Some(&lines[1]), &lines[..1]);
    let read_line = |line: &str| read(&serde_json::from_str(line).expect("object")).expect("a record");
    let known = lines.each_ref().map(|line| read_line(line));
    assert_eq!(merge(&known[1..], &second, &read_line(&last)).0.task.assignee, None, "{last}");
    // A line that git brings back gives way to the very one that the ledger wrote.
    assert_eq!(render(&second, Some(&lines[0]), &lines[1..]), lines[1]);
}

#[test]
fn two_clones_that_change_a_field_at_the_same_tick_undo_nothing_later() {
    let begun = ledger(&record(json!({})), &record(json!({ "notes": "n", "updated_at": THIRD })));
    // The clocks of both machines go back, so that both first changes have the same time.
    let with = |before: &Record, priority: i64| {
        let mut after = before.clone();
        after.task.priority = priority;
        touch(&before.task, &mut after.task, 0);
        after
    };
    let (first, theirs) = (with(&begun, 1), with(&begun, 4));
    assert_eq!(first.task.clocks, theirs.task.clocks);
    let second = with(&first, 0);
    let known = [&begun, &first, &second].map(published);
    for known in [&known[..], &known[..2]] {
        assert_eq!(merge(known, &second, &published(&theirs)).0.task.priority, 0);
    }
    let known = [&begun, &theirs].map(published);
    assert_eq!(merge(&known, &theirs, &published(&second)).0.task.priority, 0);
}

#[test]
fn what_was_taken_away_before_another_tool_changed_a_line_stays_away() {
    let begun = record(json!({}));
    let ours = ledger(&begun, &record(json!({ "labels": ["a"], "updated_at": SECOND })));
    let mut without = ours.clone();
    without.task.labels.clear();
    touch(&ours.task, &mut without.task, ours.task.updated_at + 1);
    let mut theirs = published(&without);
    (theirs.task.title, theirs.task.updated_at) = ("by another".into(), ours.task.updated_at + 9000);
    // The version that the other tool began with was never here.
    let after = merge(&[published(&ours)], &ours, &theirs).0;
    assert_eq!((after.task.title.as_str(), after.task.labels), ("by another", vec![]));
}

/// A record as a task tracker's line has it, with whatever metadata.
fn with_own(more: Value) -> Record {
    let mut fields = json!({
        "notes": "n", "x_team": "blue", "spec_id": "s-1", "updated_at": SECOND,
        "metadata": { "sprint": 7, "agent_role": "testing", "handoff.v1": {
            "agent_context": { "files": ["a.rs"] }, "handoff_instructions": { "next": "run" },
            "clock": { "at": crate::time::parse_rfc3339(SECOND), "entries": { "metadata/handoff.v1/agent_context/files": 1_767_312_000_000_i64 } },
        } },
    });
    for (key, value) in more.as_object().expect("fields") {
        fields[key] = value.clone();
        if value == "absent" {
            fields.as_object_mut().expect("fields").shift_remove(key);
        }
    }
    record(fields)
}

#[test]
fn a_line_without_our_place_in_the_metadata_takes_nothing_of_ours_away() {
    let base = with_own(json!({}));
    let ours = adopt(&base);
    for (metadata, sprint) in [
        (json!("absent"), Some(7)),
        (json!(null), Some(7)),
        (json!("text"), Some(7)),
        (json!({}), None),
        (json!({ "other": 1 }), None),
        (json!({ "sprint": 8 }), Some(8)),
        (json!({ "sprint": 7, "handoff.v1": "of another shape" }), Some(7)),
        (json!({ "sprint": 7, "handoff.v1": null }), Some(7)),
    ] {
        let theirs = with_own(json!({ "metadata": metadata, "priority": 0, "updated_at": THIRD }));
        let row = canonical(&merge(std::slice::from_ref(&base), &ours, &theirs).0);
        let own = &row["metadata"]["handoff.v1"];
        assert_eq!(
            (&own["agent_context"], &own["handoff_instructions"], &row["metadata"]["agent_role"]),
            (&json!({ "files": ["a.rs"] }), &json!({ "next": "run" }), &json!("testing")),
            "{metadata}"
        );
        assert_eq!(row["priority"], 0, "{metadata}: what it says counts");
        assert_eq!(row["metadata"].get("sprint").and_then(Value::as_i64), sprint, "{metadata}");
    }
}

#[test]
fn what_another_clone_took_away_on_purpose_is_gone() {
    let base = with_own(json!({}));
    let mut theirs = adopt(&base);
    let before = theirs.task.clone();
    theirs.task.agent_context.clear();
    theirs.task.updated_at += 1000;
    let now = theirs.task.updated_at;
    touch(&before, &mut theirs.task, now);
    let line = read(&super::super::record::write(&theirs, None)).expect("a line");
    let merged = merge(std::slice::from_ref(&base), &adopt(&base), &line).0;
    assert!(merged.task.agent_context.is_empty(), "{merged:?}");
    // A tool that drops the metadata of an older line does not bring it back.
    let stripped = with_own(json!({ "metadata": "absent", "title": "later", "updated_at": THIRD }));
    let merged = merge(&[base, line], &merged, &stripped).0;
    assert_eq!((merged.task.agent_context.len(), merged.task.title.as_str()), (0, "later"));
}

#[test]
fn a_tool_that_drops_what_it_does_not_know_takes_nothing_away() {
    let base = with_own(json!({}));
    let ours = adopt(&base);
    let merged = |more: Value| canonical(&merge(std::slice::from_ref(&base), &ours, &with_own(more)).0);
    // No tracker knows this field: whether it is to go has to be said.
    let row = merged(json!({ "x_team": "absent", "updated_at": THIRD }));
    assert_eq!(row["x_team"], "blue");
    let row = merged(json!({ "x_team": null, "updated_at": THIRD }));
    assert_eq!(row["x_team"], Value::Null);
    // Beads leaves out what is empty; a tool that has lost the metadata is no such.
    let row = merged(json!({ "spec_id": "absent", "notes": "absent", "updated_at": THIRD }));
    assert_eq!((row.get("spec_id"), row.get("notes")), (None, None));
    let row =
        merged(json!({ "spec_id": "absent", "notes": "absent", "metadata": "absent", "updated_at": THIRD }));
    assert_eq!((&row["spec_id"], row.get("notes")), (&json!("s-1"), None));
}

#[test]
fn an_edit_by_a_tool_that_drops_the_metadata_counts() {
    let base = with_own(json!({}));
    let mut ours = adopt(&base);
    let before = ours.task.clone();
    ours.task.title = "ours".into();
    touch(&before, &mut ours.task, before.updated_at + 1000);
    ours.task.updated_at = before.updated_at + 1000;
    let bare = record(json!({}));
    let line = read(&super::super::record::write(&ours, None)).expect("a line");
    let edited = with_own(json!({ "title": "theirs", "metadata": "absent", "updated_at": THIRD }));
    let merged = merge(&[bare, line], &ours, &edited).0;
    assert_eq!((merged.task.title.as_str(), merged.task.agent_context.len()), ("theirs", 1));
}

#[test]
fn labels_stand_as_the_line_has_them() {
    let base = record(json!({ "labels": ["b", "a"] }));
    let ours = adopt(&record(json!({ "labels": ["a", "b"] })));
    assert_eq!(merge(&[], &ours, &base).0.task.labels, ["b", "a"]);
    let mut more = ours.clone();
    more.task.labels = vec!["z".into(), "c".into()];
    let now = more.task.updated_at + 1;
    note(&mut more.task, ["labels:z", "labels:c"].map(str::to_owned), now);
    assert_eq!(merge(&[], &more, &base).0.task.labels, ["a", "b", "c", "z"], "no line has just these");
}
