//! A version of a task that one clone has deleted and another renamed: the task stays, with what was changed before it was deleted.

use serde_json::{Map, Value};

use super::super::Task;
use super::super::entry::entries;
use super::super::record::{Record, read, write};
use super::RENAMED_TO;
use crate::time::parse_rfc3339;

/// What deleting writes, beside the status and what goes with it.
const DELETION: [&str; 5] = ["deleted_at", "deleted_by", "delete_reason", "original_type", RENAMED_TO];

/// The version as it was before it was deleted, as far as that is known. Its status is that of the task as it goes on.
pub fn without_deletion(mut record: Record, to: &Task) -> Record {
    if record.task.status != "tombstone" {
        return record;
    }
    let present = entries(&record);
    let deleted_at = record.task.text("deleted_at").and_then(parse_rfc3339).unwrap_or(i64::MAX);
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
    record
}

/// A line of the Beads file, likewise without the deletion.
pub fn row_without_deletion(row: Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
    match (read(&row), read(to)) {
        (Ok(record), Ok(to)) if record.task.status == "tombstone" => {
            write(&without_deletion(record, &to.task), Some(&row))
        }
        _ => row,
    }
}
