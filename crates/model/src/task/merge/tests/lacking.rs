//! Lines that lack fields which every task has, or a closed one.

use super::*;
use crate::task::coverage::LASTING;
use crate::task::merge::{adopt_at, untimed_removals};

/// What a script may leave out of a line.
const KEYS: [&str; 11] = [
    "status",
    "priority",
    "issue_type",
    "created_at",
    "created_by",
    "closed_at",
    "close_reason",
    "assignee",
    "description",
    "labels",
    "updated_at",
];

fn full(status: &str) -> Value {
    let mut row = json!({
        "status": status, "priority": 3, "issue_type": "bug", "created_by": "Ann", "description": "d", "assignee": "bob",
        "labels": ["l"], "created_at": "2026-01-01T00:00:00Z", "updated_at": SECOND,
    });
    if status == "closed" {
        (row["closed_at"], row["close_reason"]) = (json!(SECOND), json!("shipped"));
    }
    row
}

/// The line without some of its keys.
fn without(line: &Record, lacking: &[&str]) -> Record {
    let mut row = crate::task::record::write(line, None);
    lacking.iter().for_each(|key| _ = row.shift_remove(*key));
    read(&row).expect("a record")
}

#[test]
fn no_line_takes_away_what_every_task_has() {
    for status in ["open", "in_progress", "closed"] {
        let base = record(full(status));
        let ours = [
            adopt(&base),
            ledger(
                &base,
                &record(json!({ "status": "closed", "priority": 1, "issue_type": "epic",
            "created_by": "Ann", "closed_at": SECOND, "close_reason": "done", "updated_at": SECOND })),
            ),
        ];
        for set in 0_u32..(1 << KEYS.len()) {
            let lacking: Vec<&str> =
                KEYS.iter().enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, key)| *key).collect();
            for (is_newer, ours) in [(false, &ours[0]), (true, &ours[0]), (true, &ours[1])] {
                let mut line = base.clone();
                if is_newer {
                    line.task.updated_at = record(json!({ "updated_at": THIRD })).task.updated_at;
                }
                let line = without(&line, &lacking);
                for known in [std::slice::from_ref(&base), &[]] {
                    let after = entries(&merge(known, ours, &line).0);
                    let before = entries(ours);
                    let case =
                        format!("{status}, newer: {is_newer}, known: {}, lacking: {lacking:?}", known.len());
                    for name in LASTING.into_iter().filter(|name| lacking.contains(name)) {
                        assert_eq!(after.get(name), before.get(name), "{name}: {case}");
                    }
                    if lacking.contains(&"status") {
                        for name in ["closed_at", "close_reason"] {
                            assert_eq!(after.get(name), before.get(name), "{name}: {case}");
                        }
                    }
                    if !is_newer && !known.is_empty() {
                        assert_eq!(after, before, "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_line_with_clocks_takes_away_nothing_either() {
    let base = record(full("open"));
    let closed = record(full("closed"));
    let mut closed = Record {
        task: crate::task::Task { updated_at: closed.task.updated_at + 5, ..closed.task.clone() },
        ..closed
    };
    closed.task.clocks = base.task.clocks.clone();
    let ours = ledger(&base, &closed);
    let own = read(&crate::task::record::write(&ours, None)).expect("a record");
    for key in ["status", "priority", "issue_type", "created_at", "created_by", "closed_at"] {
        let mut row = crate::task::record::write(&ours, None);
        row.shift_remove(key);
        for newer in [false, true] {
            if newer {
                row["updated_at"] = json!(THIRD);
            }
            let line = read(&row).expect("a record");
            for known in [vec![base.clone(), own.clone()], vec![base.clone()], vec![]] {
                let after = entries(&merge(&known, &ours, &line).0);
                assert_eq!(after, entries(&ours), "{key}, newer: {newer}, {}", known.len());
            }
        }
    }
}

#[test]
fn what_a_line_without_a_new_time_lacks_is_named() {
    let base = record(full("closed"));
    let ours = adopt(&base);
    let line = without(
        &base,
        &["status", "priority", "issue_type", "created_at", "closed_at", "close_reason", "assignee"],
    );
    let merged = merge(std::slice::from_ref(&base), &ours, &line).0;
    let mut named: Vec<String> =
        untimed_removals(&[base], &merged, &line).into_iter().map(|removal| removal.field).collect();
    named.sort();
    let all = ["assignee", "close_reason", "closed_at", "created_at", "issue_type", "priority", "status"];
    assert_eq!(named, all);
}

#[test]
fn a_new_task_begins_with_its_line() {
    let now = 1_800_000_000_000;
    let at = record(json!({ "updated_at": SECOND })).task.updated_at;
    let new = |keys: &[&str]| {
        let begun = adopt_at(&without(&record(json!({ "updated_at": SECOND })), keys), now).task;
        (begun.created_at, begun.updated_at)
    };
    assert_eq!(new(&["created_at"]), (at, at));
    assert_eq!(new(&["created_at", "updated_at"]), (now, now));
    let created_at = record(json!({})).task.created_at;
    assert_eq!(new(&["updated_at"]), (created_at, created_at));
}

#[test]
fn a_line_that_changes_gets_the_fields_that_it_lacked() {
    let row = json!({ "id": "a-1", "title": "t", "updated_at": SECOND });
    let row = row.as_object().expect("an object");
    let mut changed = adopt_at(&read(row).expect("a record"), 0);
    changed.task.title = "u".into();
    let written = crate::task::record::write(&changed, Some(row));
    let fields = ["status", "priority", "issue_type"].map(|key| written[key].clone());
    assert_eq!(fields, [json!("open"), json!(0), json!("task")]);
    let line = Value::Object(row.clone()).to_string();
    let begun = adopt_at(&read(row).expect("a record"), 0);
    assert!(render(&begun, Some(&line), &[]).contains(r#""created_at":"2026-01-02T00:00:00.000Z""#));
}
