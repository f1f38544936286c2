//! A record as a line of the file, made from the line that was there.

use serde_json::{Map, Value, json};

use super::super::{clock, coverage, entry};
use super::{OWN, Record, as_object, canonical, read};

/// Names that an older or newer file has for our own fields, at the top.
const TOP: [&str; 6] = [
    "agent_role",
    "agent_context",
    "handoff_instructions",
    "specialist_tags",
    "estimated_duration",
    "previous_agent",
];

/// The record as a line is written: what the line that was read last means, and the record does not, is changed in that
/// line; everything else of it stays as it is. A line that changes says when its entries did.
pub fn write(record: &Record, base: Option<&Map<String, Value>>) -> Map<String, Value> {
    let wanted = canonical(record);
    let canonical_base = base.and_then(|base| Some((base, canonical(&read(base).ok()?))));
    let Some((base, canonical_base)) = canonical_base else { return with_clocks(wanted, record) };
    let mut row = base.clone();
    let (mut changed, mut ours_changed) = (false, false);
    for key in canonical_base.keys().filter(|key| !wanted.contains_key(*key)) {
        (changed, ours_changed) = (true, ours_changed || key == "metadata");
        row.shift_remove(key);
    }
    // The times of a line that has none are not its own: they are written with the first change.
    let is_undated = !["created_at", "updated_at"].iter().any(|key| base.contains_key(*key));
    let is_given = |key: &str| is_undated && ["created_at", "updated_at"].contains(&key);
    for (key, value) in wanted.iter().filter(|(key, _)| !is_given(key)) {
        if !entry::is_same(key, canonical_base.get(key), Some(value)) {
            (changed, ours_changed) = (true, ours_changed || key == "metadata" || key == "estimated_minutes");
            row.insert(key.clone(), value.clone());
        }
    }
    if changed {
        // Its readers take nothing from a line about what it lacks of these.
        let lasting = coverage::LASTING.into_iter().chain(["updated_at"]);
        let lacking = lasting.filter(|key| !base.contains_key(*key));
        row.extend(lacking.filter_map(|key| Some((key.to_owned(), wanted.get(key)?.clone()))));
    }
    if ours_changed {
        // They travel in the metadata from now on; at the top they would say what was.
        TOP.iter().for_each(|key| _ = row.shift_remove(*key));
        if let Some(metadata) = wanted.get("metadata") {
            row.insert("metadata".into(), metadata.clone());
        }
        if let Some(minutes) = record.task.estimated_minutes {
            row.insert("estimated_minutes".into(), json!(minutes));
        }
    }
    if changed { with_clocks(row, record) } else { row }
}

/// Takes clocks that were written for another version out of a row.
fn remove_clocks(row: &mut Map<String, Value>) {
    let Some(Value::Object(metadata)) = row.get_mut("metadata") else { return };
    let Some(Value::Object(own)) = metadata.get_mut(OWN) else { return };
    if own.shift_remove(clock::KEY).is_some() && own.is_empty() {
        metadata.shift_remove(OWN);
        if metadata.is_empty() {
            row.shift_remove("metadata");
        }
    }
}

/// The row with the clocks of the record in our own object, unless every entry is as old as the task. A metadata that is no object
/// has no place for them.
fn with_clocks(mut row: Map<String, Value>, record: &Record) -> Map<String, Value> {
    let task = &record.task;
    let is_new = task.clocks.floor == task.created_at && task.updated_at == task.created_at;
    if task.clocks.entries.is_empty() && (task.clocks.floor == 0 || is_new) {
        remove_clocks(&mut row);
        return row;
    }
    let mut clocks = task.clocks.to_json();
    if task.clocks.floor == task.created_at {
        clocks.shift_remove("floor");
    }
    clocks.insert("at".into(), json!(task.updated_at));
    let metadata = row.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = json!({});
    }
    if let Value::Object(metadata) = metadata {
        let own = metadata.entry(OWN).or_insert_with(|| json!({}));
        let mut inner = as_object(own.take());
        inner.insert(clock::KEY.into(), Value::Object(clocks));
        *own = Value::Object(inner);
    }
    row
}
