//! The files of an increment: each once, those of the newest change first.

use serde_json::{Value, json};

use super::carried::{IncrementTasks, list};
use crate::task::Task;

/// Takes entries out of a list that it has more than once.
pub(super) fn drop_repeated(value: &mut Value) {
    if let Value::Array(entries) = value {
        let mut met = std::collections::HashSet::new();
        entries.retain(|entry| met.insert(entry.to_string()));
    }
}

impl IncrementTasks {
    /// The files of all tasks, each once, those of the newest change first; with who changed it where several did, or another than
    /// the agent that hands them on. None where no task names any.
    pub(super) fn files(&self, handed_on_by: Option<&str>) -> Option<Value> {
        let mut found: Vec<ChangedFile> = Vec::new();
        for task in self.all() {
            let Some(value) = self.own_files(task) else { continue };
            for entry in list(Some(value)) {
                let path = path_of(&entry)?.to_owned();
                let by = entry.get("by").and_then(Value::as_str).or(task.assignee.as_deref());
                let by: Vec<String> =
                    by.into_iter().flat_map(|by| by.split(", ")).map(str::to_owned).collect();
                match found.iter_mut().find(|known| known.path == path) {
                    Some(known) => {
                        let news: Vec<String> =
                            by.into_iter().filter(|name| !known.by.contains(name)).collect();
                        known.by.extend(news);
                    }
                    None => found.push(ChangedFile { path, entry, by }),
                }
            }
        }
        found.sort_by_cached_key(|file| self.age(&file.path));
        let mut names: Vec<&str> = found.iter().flat_map(|file| &file.by).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let is_by_sender = names.iter().all(|name| Some(*name) == handed_on_by);
        let row = |file: &ChangedFile| if is_by_sender { file.entry.clone() } else { file.signed() };
        let rows: Vec<Value> = found.iter().map(row).collect();
        (!rows.is_empty()).then_some(Value::Array(rows))
    }

    /// The place of a file by how new its change is: first what the fix alone names, then the rest of its list, then the lists of the
    /// others. That of the test is the one that it was handed before the fix.
    fn age(&self, path: &str) -> (usize, usize) {
        let newest_first = [&self.fixing, &self.testing, &self.verification, &self.implementation];
        let mut places = newest_first.into_iter().map(|task| {
            let files = list(task.as_ref().and_then(|task| task.agent_context.get("files_modified")));
            files.iter().position(|entry| path_of(entry) == Some(path))
        });
        let of_fix = places.next().flatten();
        let mut of_others = places.enumerate().filter_map(|(at, place)| Some((at, place?)));
        match (of_fix, of_others.next()) {
            (Some(place), None) => (0, place),
            (Some(place), Some(_)) => (1, place),
            (None, Some((at, place))) => (2 + at, place),
            (None, None) => (usize::MAX, 0),
        }
    }

    /// The list of files of a task, unless it is the one that it was handed.
    fn own_files<'a>(&self, task: &'a Task) -> Option<&'a Value> {
        let value = task.agent_context.get("files_modified")?;
        let before = self.all().take_while(|other| other.task_id != task.task_id);
        before
            .into_iter()
            .all(|other| other.agent_context.get("files_modified") != Some(value))
            .then_some(value)
    }
}

/// The path of a file, however it is told.
fn path_of(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("path").and_then(Value::as_str))
}

/// A file with who changed it.
struct ChangedFile {
    path: String,
    entry: Value,
    by: Vec<String>,
}

impl ChangedFile {
    fn signed(&self) -> Value {
        let mut row = match &self.entry {
            Value::Object(fields) => fields.clone(),
            _ => [("path".to_owned(), json!(self.path))].into_iter().collect(),
        };
        if !self.by.is_empty() {
            row.insert("by".into(), json!(self.by.join(", ")));
        }
        Value::Object(row)
    }
}
