//! A version of a task that one clone has deleted and another renamed: the task stays, with what was changed before it was deleted.

use serde_json::{Map, Value};

use super::super::entry::entries;
use super::super::record::{Record, parent_of, read, write};
use super::RENAMED_TO;
use crate::time::parse_rfc3339;

/// What deleting writes, beside the status and what goes with it.
const DELETION: [&str; 5] = ["deleted_at", "deleted_by", "delete_reason", "original_type", RENAMED_TO];

/// The version as it was before it was deleted, as far as that is known. Its status and the dependencies that went with it are those of
/// the task as it goes on.
pub fn without_deletion(mut record: Record, to: &Record) -> Record {
    if record.task.status != "tombstone" {
        return record;
    }
    let present = entries(&record);
    let deleted_at = record.task.text("deleted_at").and_then(parse_rfc3339).unwrap_or(i64::MAX);
    let (to_record, to) = (to, &to.task);
    let task = &mut record.task;
    let closed_with = task.clocks.entries.get("status").copied();
    // Deleting takes every dependency away, just before.
    let is_unlinked = |name: &str, at: i64| {
        name.starts_with("dependencies:") && !present.contains_key(name) && at >= deleted_at
    };
    task.clocks.entries.retain(|name, at| Some(*at) != closed_with && !is_unlinked(name, *at));
    task.status.clone_from(&to.status);
    task.closed_at = to.closed_at;
    task.close_reason.clone_from(&to.close_reason);
    task.result.clone_from(&to.result);
    task.pending_type.clone_from(&to.pending_type);
    task.woken = to.woken;
    for key in DELETION {
        match to.extra.get(key) {
            Some(value) => _ = task.extra.insert(key.to_owned(), value.clone()),
            None => _ = task.extra.shift_remove(key),
        }
        task.clocks.entries.remove(key);
    }
    restore_dependencies(&mut record, to_record);
    record
}

/// Adds the dependencies of the task as it goes on, as old as they are there: that the deleted version lacks them takes none away.
fn restore_dependencies(record: &mut Record, to: &Record) {
    let present = entries(record);
    for dependency in &to.dependencies {
        let alone = Record { dependencies: vec![dependency.clone()], ..Record::default() };
        let Some(name) = entries(&alone).keys().find(|name| name.starts_with("dependencies:")).cloned()
        else {
            continue;
        };
        let is_removed_before = record.task.clocks.entries.contains_key(&name);
        if present.contains_key(&name) || is_removed_before {
            continue;
        }
        let at = to.task.clocks.entries.get(&name).copied().unwrap_or(to.task.clocks.floor);
        record.task.clocks.entries.insert(name, at);
        record.dependencies.push(dependency.clone());
    }
    record.task.parent_id = parent_of(&to.task.task_id, &record.dependencies);
}

/// A line of the Beads file, likewise without the deletion.
pub fn row_without_deletion(row: Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
    match (read(&row), read(to)) {
        (Ok(record), Ok(to)) if record.task.status == "tombstone" => {
            write(&without_deletion(record, &to), Some(&row))
        }
        _ => row,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::record::OWN;
    use super::*;

    fn row(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("a row")
    }

    #[test]
    fn a_deletion_takes_no_dependency_and_no_clock_along_to_the_new_id() {
        let edge = json!({ "issue_id": "a-new", "depends_on_id": "a-1", "type": "parent-child" });
        let to = row(json!({
            "id": "a-new", "title": "part", "status": "open", "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-02T00:00:00Z", "dependencies": [edge],
        }));
        let deleted = row(json!({
            "id": "a-new", "title": "part", "status": "tombstone", "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-03T00:00:00Z", "deleted_at": "2026-01-03T00:00:00Z", "deleted_by": "T",
            "metadata": { "team": "x", OWN: { "clock": {
                "at": 1_767_398_400_000_i64,
                "entries": {
                    "status": 1_767_398_400_001_i64, "deleted_by": 1_767_398_400_001_i64,
                    "dependencies:parent-child a-1": 1_767_398_400_000_i64,
                },
            } } },
        }));
        let after = row_without_deletion(deleted, &to);
        let record = read(&after).expect("a record");
        assert_eq!((after["status"].as_str(), record.task.parent_id.as_deref()), (Some("open"), Some("a-1")));
        let clocks: Vec<&String> = record.task.clocks.entries.keys().collect();
        assert_eq!(clocks, ["dependencies:parent-child a-1"], "as old as it is there: {after:#?}");
        assert_eq!(after["metadata"]["team"], "x");
    }
}
