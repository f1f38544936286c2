//! A task as a line of `issues.jsonl`, without loss in either direction.
//!
//! What is known is read into fields; everything else is kept as it stands. Writing starts from the line that was read last
//! and changes only what differs from what that line means, so an unchanged record keeps its key order and the text of
//! its times.

use serde_json::{Map, Value, json};

mod write;

pub use write::write;

use super::clock::{self, Clocks};
use super::coverage::Coverage;
use super::{Task, reason};
use crate::time::{Millis, parse_nearest, rfc3339};

/// The key inside `metadata` under which our own fields travel.
pub(super) const OWN: &str = "handoff.v1";

/// A task with what hangs on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// The task. Its project is not part of a line.
    pub task: Task,
    /// Its dependencies, each as it stands.
    pub dependencies: Vec<Map<String, Value>>,
    /// Its comments, each as it stands.
    pub comments: Vec<Map<String, Value>>,
    /// Of a line with clocks: the time of the version that they were written for. Another tool that changes the line leaves it.
    pub stamp: Option<Millis>,
    /// Of a line: which entries it speaks of.
    pub coverage: Coverage,
}

/// What is wrong with a record: the path of the field, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordError {
    /// Such as `dependencies[2].type`.
    pub path: String,
    /// One clause.
    pub what: String,
}

fn bad<T>(path: impl Into<String>, what: &str) -> Result<T, RecordError> {
    Err(RecordError { path: path.into(), what: what.to_owned() })
}

/// Takes fields out of an object, each with the type it must have.
struct Fields(Map<String, Value>);

impl Fields {
    fn text(&mut self, key: &str) -> Result<Option<String>, RecordError> {
        match self.0.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.contains('\0') => {
                bad(key, "holds a NUL character, which no text may have")
            }
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(_) => bad(key, "is not a text"),
        }
    }

    fn int(&mut self, key: &str) -> Result<Option<i64>, RecordError> {
        match self.0.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) if number.is_i64() => Ok(number.as_i64()),
            Some(_) => bad(key, "is not a whole number"),
        }
    }

    fn time(&mut self, key: &str) -> Result<Option<i64>, RecordError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match parse_nearest(&text) {
            Some(at) => Ok(Some(at)),
            None => bad(key, "is not a time as RFC 3339 has it"),
        }
    }

    fn texts(&mut self, key: &str) -> Result<Vec<String>, RecordError> {
        match self.0.shift_remove(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .enumerate()
                .map(|(at, item)| match item {
                    Value::String(text) if !text.contains('\0') => Ok(text),
                    _ => bad(format!("{key}[{at}]"), "is not a text"),
                })
                .collect(),
            Some(_) => bad(key, "is not a list"),
        }
    }

    fn objects(&mut self, key: &str) -> Result<Vec<Map<String, Value>>, RecordError> {
        match self.0.shift_remove(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .enumerate()
                .map(|(at, item)| match item {
                    Value::Object(fields) => Ok(fields),
                    _ => bad(format!("{key}[{at}]"), "is not an object"),
                })
                .collect(),
            Some(_) => bad(key, "is not a list"),
        }
    }

    fn object(&mut self, key: &str) -> Result<Map<String, Value>, RecordError> {
        match self.0.shift_remove(key) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) => bad(key, "is not an object"),
        }
    }
}

/// Reads a record. A priority that is missing means 0, as other trackers have it.
pub fn read(object: &Map<String, Value>) -> Result<Record, RecordError> {
    let mut fields = Fields(object.clone());
    let Some(task_id) = fields.text("id")? else { return bad("id", "is missing") };
    if super::check_id(&task_id).is_err() {
        return bad("id", "is not a task id");
    }
    let (own, stamp) = own_fields(&mut fields)?;
    let dependencies = fields.objects("dependencies")?;
    for (at, dependency) in dependencies.iter().enumerate() {
        check_dependency(at, dependency)?;
    }
    let comments = fields.objects("comments")?;
    let mut task = Task {
        task_id,
        title: fields.text("title")?.unwrap_or_default(),
        description: fields.text("description")?.unwrap_or_default(),
        status: fields.text("status")?.unwrap_or_else(|| "open".into()),
        priority: fields.int("priority")?.unwrap_or(0),
        issue_type: fields.text("issue_type")?.unwrap_or_else(|| "task".into()),
        assignee: fields.text("assignee")?,
        labels: fields.texts("labels")?,
        created_by: fields.text("created_by")?.unwrap_or_default(),
        created_at: fields.time("created_at")?.unwrap_or(0),
        updated_at: fields.time("updated_at")?.unwrap_or(0),
        closed_at: fields.time("closed_at")?,
        close_reason: fields.text("close_reason")?,
        defer_until: fields.time("defer_until")?,
        estimated_minutes: fields.int("estimated_minutes")?.or(own.estimated_minutes),
        ..own
    };
    if task.status == "deleted" {
        "tombstone".clone_into(&mut task.status);
    }
    if !task.is_open() && task.result.is_none() {
        let failed = task.close_reason.as_deref().is_some_and(reason::means_failure);
        task.result = Some(if failed { "fail" } else { "pass" }.into());
    }
    for computed in ["dependency_count", "dependent_count", "comment_count"] {
        fields.0.shift_remove(computed);
    }
    task.parent_id = parent_of(&task.task_id, &dependencies);
    task.extra = fields.0;
    Ok(Record { task, dependencies, comments, stamp, coverage: Coverage::of(object) })
}

fn check_dependency(at: usize, dependency: &Map<String, Value>) -> Result<(), RecordError> {
    let text = |key: &str| dependency.get(key).and_then(Value::as_str).filter(|text| !text.contains('\0'));
    if text("depends_on_id").is_none_or(str::is_empty) {
        return bad(format!("dependencies[{at}].depends_on_id"), "is missing or not a text");
    }
    match dependency.get("type") {
        None => Ok(()),
        Some(Value::String(kind)) if kind.len() <= 50 && !kind.contains('\0') => Ok(()),
        Some(_) => bad(format!("dependencies[{at}].type"), "is not a text of at most 50 bytes"),
    }
}

/// The parent of a task: the first that a dependency names, else the one that a dotted id implies.
pub fn parent_of(id: &str, dependencies: &[Map<String, Value>]) -> Option<String> {
    let named = dependencies.iter().find(|d| kind_of(d) == "parent-child").map(target_of);
    named.or_else(|| super::implied_parent(id)).map(str::to_owned)
}

/// The type of a dependency.
pub fn kind_of(dependency: &Map<String, Value>) -> &str {
    dependency.get("type").and_then(Value::as_str).unwrap_or("blocks")
}

/// The metadata of a dependency, as the tracker keeps it.
pub fn metadata_of(dependency: &Map<String, Value>) -> Option<&Value> {
    dependency.get("metadata")
}

/// Whose dependency it is.
pub fn owner_of(dependency: &Map<String, Value>) -> &str {
    dependency.get("issue_id").and_then(Value::as_str).unwrap_or_default()
}

/// What a dependency depends on.
pub fn target_of(dependency: &Map<String, Value>) -> &str {
    dependency.get("depends_on_id").and_then(Value::as_str).unwrap_or_default()
}

/// Our own fields: from `metadata`, else from the top.
fn own_fields(fields: &mut Fields) -> Result<(Task, Option<Millis>), RecordError> {
    let mut own = Task {
        agent_role: fields.text("agent_role")?,
        agent_context: fields.object("agent_context")?,
        handoff_instructions: fields.object("handoff_instructions")?,
        specialist_tags: fields.texts("specialist_tags")?,
        estimated_minutes: fields.int("estimated_duration")?,
        previous_agent: fields.text("previous_agent")?,
        ..Task::default()
    };
    let stamp = own_metadata(fields, &mut own)?;
    Ok((own, stamp))
}

/// What our own keys of the metadata say; a metadata that held nothing else is gone with them.
fn own_metadata(fields: &mut Fields, own: &mut Task) -> Result<Option<Millis>, RecordError> {
    if fields.0.get("metadata").is_some_and(Value::is_null) {
        fields.0.shift_remove("metadata");
    }
    let Some(Value::Object(metadata)) = fields.0.get_mut("metadata") else { return Ok(None) };
    let mut stamp = None;
    let had = metadata.len();
    if metadata.get("agent_role").is_some_and(Value::is_string)
        && let Some(Value::String(role)) = metadata.shift_remove("agent_role")
    {
        own.agent_role = Some(role);
    }
    if let Some(given) = metadata.shift_remove(OWN) {
        let mut inner = as_object(given);
        stamp = own_clocks(&mut inner, own);
        let rest = own_object(inner, own)?;
        // A newer Baton may have put more there.
        if !rest.is_empty() {
            metadata.insert(OWN.to_owned(), Value::Object(rest));
        }
    }
    if had > 0 && metadata.is_empty() {
        fields.0.shift_remove("metadata");
    }
    Ok(stamp)
}

/// Our own object. What another tool has put in its place is its `value`; a null is nothing.
pub(super) fn as_object(given: Value) -> Map<String, Value> {
    match given {
        Value::Object(own) => own,
        Value::Null => Map::new(),
        other => [("value".to_owned(), other)].into_iter().collect(),
    }
}

/// The clocks of a line, and for which version they were written. What is no clock of ours is left where it is.
fn own_clocks(inner: &mut Map<String, Value>, own: &mut Task) -> Option<Millis> {
    let given = inner.get(clock::KEY)?.as_object()?;
    let stamp = given.get("at").and_then(Value::as_i64)?;
    own.clocks = Clocks::from_json(given)?;
    inner.shift_remove(clock::KEY);
    Some(stamp)
}

/// Reads our own object and returns what of it is unknown.
fn own_object(inner: Map<String, Value>, own: &mut Task) -> Result<Map<String, Value>, RecordError> {
    let mut inner = Fields(inner);
    let path = |bad: RecordError| RecordError { path: format!("metadata.{OWN}.{}", bad.path), ..bad };
    // What stands at the top is what an older line says, where this one does not.
    for (name, slot) in
        [("agent_context", &mut own.agent_context), ("handoff_instructions", &mut own.handoff_instructions)]
    {
        let given = inner.object(name).map_err(path)?;
        if !given.is_empty() {
            *slot = given;
        }
    }
    let tags = inner.texts("specialist_tags").map_err(path)?;
    if !tags.is_empty() {
        own.specialist_tags = tags;
    }
    own.previous_agent = inner.text("previous_agent").map_err(path)?.or(own.previous_agent.take());
    own.attempts = inner.int("attempts").map_err(path)?.unwrap_or(0);
    own.result = inner.text("result").map_err(path)?;
    own.pending_type = inner.text("pending_type").map_err(path)?;
    own.woken = inner.0.shift_remove("woken") == Some(json!(true));
    Ok(inner.0)
}

fn own_json(task: &Task) -> Map<String, Value> {
    let mut own = Map::new();
    let mut put = |key: &str, value: Value| {
        if !super::is_empty(&value) {
            own.insert(key.to_owned(), value);
        }
    };
    put("agent_context", json!(task.agent_context));
    put("handoff_instructions", json!(task.handoff_instructions));
    put("specialist_tags", json!(task.specialist_tags));
    put("previous_agent", json!(task.previous_agent));
    put("attempts", json!(Some(task.attempts).filter(|n| *n > 0)));
    put("pending_type", json!(task.pending_type));
    put("woken", json!(Some(true).filter(|_| task.woken)));
    let implied = task.close_reason.as_deref().is_some_and(reason::means_failure);
    let stated = task.result.as_deref().filter(|result| (*result == "fail") != implied);
    put("result", json!(stated));
    own
}

/// The record in full, every field that has a value, in the order in which Beads writes them; its clocks are not part of it.
pub fn canonical(record: &Record) -> Map<String, Value> {
    let task = &record.task;
    let mut row = Map::new();
    let mut put = |key: &str, value: Value| {
        if !super::is_empty(&value) {
            row.insert(key.to_owned(), value);
        }
    };
    put("id", json!(task.task_id));
    put("title", json!(task.title));
    put("description", json!(task.description));
    for key in ["design", "acceptance_criteria", "notes", "spec_id"] {
        put(key, task.extra.get(key).cloned().unwrap_or_default());
    }
    put("status", json!(task.status));
    put("priority", json!(task.priority));
    put("issue_type", json!(task.issue_type));
    put("assignee", json!(task.assignee));
    put("estimated_minutes", json!(task.estimated_minutes));
    put("created_at", json!(rfc3339(task.created_at)));
    put("created_by", json!(task.created_by));
    put("updated_at", json!(rfc3339(task.updated_at)));
    put("closed_at", json!(task.closed_at.map(rfc3339)));
    put("close_reason", json!(task.close_reason));
    put("defer_until", json!(task.defer_until.map(rfc3339)));
    for (key, value) in task.extra.iter().filter(|(key, _)| *key != "metadata") {
        if !row.contains_key(key) {
            row.insert(key.clone(), value.clone());
        }
    }
    let own = own_json(task);
    add_metadata(&mut row, task, own);
    if !task.labels.is_empty() {
        row.insert("labels".into(), json!(task.labels));
    }
    for (key, list) in [("dependencies", &record.dependencies), ("comments", &record.comments)] {
        if !list.is_empty() {
            row.insert(key.into(), json!(list));
        }
    }
    row
}

fn add_metadata(row: &mut Map<String, Value>, task: &Task, own: Map<String, Value>) {
    let given = task.extra.get("metadata");
    if own.is_empty() && task.agent_role.is_none() {
        if let Some(given) = given {
            row.insert("metadata".into(), given.clone());
        }
        return;
    }
    let mut metadata = match given {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(fields)) => fields.clone(),
        // It is something of its own: ours goes beside it.
        Some(other) => {
            row.insert("metadata".into(), other.clone());
            row.extend(own);
            if let Some(role) = &task.agent_role {
                row.insert("agent_role".into(), json!(role));
            }
            return;
        }
    };
    if let Some(role) = &task.agent_role {
        metadata.insert("agent_role".into(), json!(role));
    }
    if !own.is_empty() {
        let mut all = own;
        if let Some(Value::Object(more)) = metadata.shift_remove(OWN) {
            all.extend(more);
        }
        metadata.insert(OWN.into(), Value::Object(all));
    }
    row.insert("metadata".into(), Value::Object(metadata));
}

#[cfg(test)]
mod tests;
