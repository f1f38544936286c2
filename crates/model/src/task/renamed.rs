//! A task that has another id now. The old id stays as that of a deleted task, which names the new one; what other clones change under
//! the old id belongs to the new one.

mod deletion;
mod mention;

use serde_json::{Map, Value, json};

pub use deletion::{row_without_deletion, without_deletion};
pub use mention::with_mentions_renamed;

use super::merge::clocks_of;
use super::record::{Record, parent_of};
use super::{Task, check_id};
use crate::time::{Millis, parse_rfc3339, rfc3339};

/// The field of the deleted task that names the new id.
pub const RENAMED_TO: &str = "renamed_to";
/// The field of a renamed task that says when it got its present id.
const RENAMED_AT: &str = "renamed_at";
/// The field of a renamed task that names the id before its present one.
const RENAMED_FROM: &str = "renamed_from";

/// The id that a task has now, where it was given another.
pub fn renamed_to(task: &Task) -> Option<&str> {
    let to = task.extra.get(RENAMED_TO)?.as_str()?;
    (task.status == "tombstone" && is_other_id(&task.task_id, to)).then_some(to)
}

fn is_other_id(id: &str, to: &str) -> bool {
    id != to && check_id(to).is_ok()
}

/// The new id in a line of the Beads file, where the task was given another one.
pub fn row_renamed_to(row: &Map<String, Value>) -> Option<&str> {
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let (id, to) = (text("id")?, text(RENAMED_TO)?);
    (text("status") == Some("tombstone") && is_other_id(id, to)).then_some(to)
}

/// Whether two ids can be those of one task: a task keeps the instant of its creation when it gets another id.
pub fn is_same_task(old: &Task, new: &Task) -> bool {
    old.created_at == new.created_at
}

/// When a task got its present id, with that id: a total order of the ids of one task, the same for every clone. Whatever names
/// two clones give it, the name that comes last in it stays. Renaming goes up in it, so that no two names point at each other.
pub fn name_order(task: &Task) -> (Millis, &str) {
    let renamed_at = task.extra.get(RENAMED_AT).and_then(Value::as_str).and_then(parse_rfc3339);
    (renamed_at.unwrap_or(task.created_at), &task.task_id)
}

/// Notes when a task gets its present id: now, and later than the one before.
pub fn note_rename(renamed: &mut Task, before: &Task, now: Millis) {
    let at = now.max(name_order(before).0.saturating_add(1));
    renamed.extra.insert(RENAMED_AT.to_owned(), json!(rfc3339(at)));
    renamed.extra.insert(RENAMED_FROM.to_owned(), json!(before.task_id));
}

/// The id that a task had before its present one.
pub fn renamed_from(task: &Task) -> Option<&str> {
    task.extra.get(RENAMED_FROM)?.as_str().filter(|from| is_other_id(&task.task_id, from))
}

/// A version of a task under the id that the task has now.
pub fn under_id(mut record: Record, to: &Task) -> Record {
    for row in record.dependencies.iter_mut().chain(&mut record.comments) {
        row.insert("issue_id".to_owned(), json!(to.task_id));
    }
    let Task { task_id, parent_id, extra, clocks, .. } = &mut record.task;
    *parent_id = parent_of(&to.task_id, &record.dependencies);
    to.task_id.clone_into(task_id);
    // When it got its id, and from which, is said by the task that has it.
    for key in [RENAMED_AT, RENAMED_FROM] {
        match to.extra.get(key) {
            Some(value) => _ = extra.insert(key.to_owned(), value.clone()),
            None => _ = extra.shift_remove(key),
        }
        clocks.entries.remove(key);
    }
    record
}

/// What the ledger has of a task, as a version under the id that the task has now. Its clocks are its own.
pub fn ledger_version_under_id(record: Record, to: &Task) -> Record {
    let mut version = under_id(record, to);
    version.task.clocks = clocks_of(&version);
    version.stamp = Some(version.task.updated_at);
    version
}

/// A line of the file under the id that the task has now, whose line there is `to`.
pub fn row_under_id(mut row: Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
    let id = to.get("id").cloned().unwrap_or_default();
    for list in ["dependencies", "comments"] {
        for member in row.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(member) = member.as_object_mut() {
                member.insert("issue_id".to_owned(), id.clone());
            }
        }
    }
    row.insert("id".to_owned(), id);
    for key in [RENAMED_AT, RENAMED_FROM] {
        match to.get(key) {
            Some(value) => _ = row.insert(key.to_owned(), value.clone()),
            None => _ = row.shift_remove(key),
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::record::read;

    fn row(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).expect("an object")
    }

    #[test]
    fn a_deleted_task_names_another_id_or_was_only_deleted() {
        for (status, to, is_renamed) in [
            ("tombstone", "x-2", true),
            ("open", "x-2", false),
            ("tombstone", "x-1", false),
            ("tombstone", "no id", false),
            ("tombstone", "", false),
        ] {
            let row = row(&format!(r#"{{"id":"x-1","title":"t","status":"{status}","renamed_to":"{to}"}}"#));
            let task = read(&row).expect("a record").task;
            assert_eq!(renamed_to(&task).is_some(), is_renamed, "{status} {to}");
            assert_eq!(row_renamed_to(&row).is_some(), is_renamed, "{status} {to}");
        }
    }

    #[test]
    fn a_version_under_another_id_is_what_that_line_reads_as() {
        let line = row(r#"{"id":"x-1.2","title":"t","comments":[{"issue_id":"x-1.2","text":"c"}],
               "dependencies":[{"issue_id":"x-1.2","depends_on_id":"x-3","type":"blocks"}]}"#);
        let to = row(
            r#"{"id":"x-9","title":"t","renamed_at":"2026-01-02T00:00:00Z","created_at":"2026-01-01T00:00:00Z"}"#,
        );
        let now_called = read(&to).expect("read").task;
        let (moved, direct) = (under_id(read(&line).expect("read"), &now_called), row_under_id(line, &to));
        assert_eq!(moved.task.parent_id, None, "it was a part by its id alone");
        let mut direct = read(&direct).expect("read");
        direct.coverage = moved.coverage.clone();
        assert_eq!(moved, direct);
    }

    #[test]
    fn a_later_name_comes_later_whatever_the_clock_says() {
        let first = Task { task_id: "x-1".into(), created_at: 5_000, ..Task::default() };
        let mut second = Task { task_id: "x-0".into(), ..first.clone() };
        note_rename(&mut second, &first, 4_000);
        assert!(name_order(&first) < name_order(&second));
        let mut third = Task { task_id: "x-9".into(), ..second.clone() };
        note_rename(&mut third, &second, 4_000);
        assert!(name_order(&second) < name_order(&third));
    }
}
