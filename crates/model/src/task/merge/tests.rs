use serde_json::json;

use super::*;

fn record(fields: Value) -> Record {
    let mut row = json!({ "id": "a-1", "title": "t", "priority": 2, "status": "open", "updated_at": "2026-01-01T00:00:00Z" });
    for (key, value) in fields.as_object().expect("fields") {
        row[key] = value.clone();
    }
    read(row.as_object().expect("object")).expect("a record")
}

fn merged(base: Value, ours: Value, theirs: Value) -> (Map<String, Value>, Vec<String>) {
    let (merged, conflicts) = merge(Some(&record(base)), &record(ours), &record(theirs));
    (canonical(&merged), conflicts.into_iter().map(|c| format!("{} {}", c.field, c.kept)).collect())
}

#[test]
fn each_side_keeps_what_it_changed() {
    let (row, conflicts) = merged(
        json!({ "title": "a", "notes": "n", "metadata": { "x": 1, "y": 1 } }),
        json!({ "title": "b", "notes": "n", "metadata": { "x": 2, "y": 1 } }),
        json!({ "title": "a", "priority": 0, "metadata": { "x": 1, "y": 2 } }),
    );
    assert_eq!((&row["title"], &row["priority"], row.get("notes")), (&json!("b"), &json!(0), None));
    assert_eq!(row["metadata"], json!({ "x": 2, "y": 2 }));
    assert_eq!(conflicts, Vec::<String>::new());
}

#[test]
fn what_both_changed_is_told_and_the_later_change_is_kept() {
    let late = "2026-01-02T00:00:00Z";
    let (row, conflicts) =
        merged(json!({}), json!({ "title": "b" }), json!({ "title": "c", "updated_at": late }));
    assert_eq!((row["title"].clone(), conflicts), (json!("c"), vec!["title theirs".to_owned()]));
    let (row, conflicts) = merged(json!({}), json!({ "title": "b" }), json!({ "title": "c" }));
    assert_eq!((row["title"].clone(), conflicts), (json!("b"), vec!["title ours".to_owned()]));
}

#[test]
fn an_old_file_does_not_undo_newer_work() {
    let (row, conflicts) = merged(
        json!({ "title": "a" }),
        json!({ "title": "b", "status": "in_progress" }),
        json!({ "title": "a" }),
    );
    assert_eq!(
        (row["title"].clone(), row["status"].clone(), conflicts),
        (json!("b"), json!("in_progress"), vec![])
    );
}

#[test]
fn lists_are_joined_and_what_was_taken_away_stays_away() {
    let edge = |to: &str| json!({ "issue_id": "a-1", "depends_on_id": to, "type": "blocks" });
    let comment = |id: Value| json!({ "id": id, "text": "t" });
    let (row, _) = merged(
        json!({ "labels": ["a", "b"], "dependencies": [edge("x"), edge("y")], "comments": [comment(json!(1))] }),
        json!({ "labels": ["a", "c"], "dependencies": [edge("x")], "comments": [comment(json!(1)), comment(json!("u"))] }),
        json!({ "labels": ["b", "a", "d"], "dependencies": [edge("x"), edge("y"), edge("z")], "comments": [comment(json!(1)), comment(json!(2))] }),
    );
    assert_eq!(row["labels"], json!(["a", "c", "d"]));
    assert_eq!(row["dependencies"], json!([edge("x"), edge("z")]));
    assert_eq!(row["comments"].as_array().map(Vec::len), Some(3));
}

#[test]
fn what_was_closed_stays_closed_as_a_whole_and_nothing_rises_from_the_dead() {
    let closed = json!({ "status": "closed", "closed_at": "2026-01-01T00:00:00Z", "close_reason": "done" });
    let (row, conflicts) = merged(json!({}), json!({ "title": "b" }), closed.clone());
    assert_eq!(
        (row["status"].clone(), row["close_reason"].clone(), conflicts),
        (json!("closed"), json!("done"), vec![])
    );
    let late = json!({ "status": "open", "title": "z", "updated_at": "2027-01-01T00:00:00Z" });
    let (row, _) = merged(closed, json!({ "status": "tombstone" }), late.clone());
    assert_eq!(row["status"], "tombstone");
    let (row, _) = merged(json!({}), late, json!({ "status": "tombstone" }));
    assert_eq!(row["status"], "tombstone");
}

#[test]
fn without_a_common_version_nothing_is_lost() {
    let ours = record(json!({ "notes": "n", "labels": ["a"] }));
    let theirs = record(json!({ "design": "d", "labels": ["b"] }));
    let (both, conflicts) = merge(None, &ours, &theirs);
    let row = canonical(&both);
    assert_eq!(
        (&row["notes"], &row["design"], &row["labels"]),
        (&json!("n"), &json!("d"), &json!(["a", "b"]))
    );
    assert_eq!(conflicts, []);
}
