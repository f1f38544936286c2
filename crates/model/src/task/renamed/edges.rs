//! Dependencies that one clone takes away while another gives their target a new id: they do not come back under that id.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::entry::{self, entries};
use super::super::record::{Record, kind_of, read, target_of, write};
use crate::time::{Millis, parse_rfc3339};

/// A dependency that a version of a task has taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedEdge {
    /// Its type.
    pub kind: String,
    /// The task on which it was.
    pub on: String,
    at: Millis,
    /// The dependencies of which the version says anything. One that knows the new id has not taken the dependency away, but has
    /// put the new id in the place of the old one.
    names: BTreeSet<String>,
}

/// The dependencies that a version says were taken away, of which another version of the task says anything, too: a clone that puts
/// a new id in the place of an old one says of both.
pub fn removed_edges(version: &Record, others: &[&Record]) -> Vec<RemovedEdge> {
    let clocks = &version.task.clocks.entries;
    if !clocks.keys().any(|name| split(name).is_some()) {
        return Vec::new();
    }
    let (present, known) =
        (entries(version), others.iter().copied().flat_map(names).collect::<BTreeSet<_>>());
    let own: BTreeSet<String> = names(version).collect();
    let is_removed = |name: &String| !present.contains_key(name) && known.contains(name);
    let edge = |(name, at): (&String, &Millis)| {
        let (kind, on) = split(name)?;
        Some(RemovedEdge { kind: kind.to_owned(), on: on.to_owned(), at: *at, names: own.clone() })
    };
    clocks.iter().filter(|(name, _)| is_removed(name)).filter_map(edge).collect()
}

/// The dependencies of which a version says anything.
fn names(version: &Record) -> impl Iterator<Item = String> {
    let present: Vec<String> = entries(version).keys().cloned().collect();
    let all = version.task.clocks.entries.keys().cloned().chain(present);
    all.filter(|name| split(name).is_some())
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("dependencies:")?.split_once(' ')
}

impl RemovedEdge {
    /// Whether a dependency is this one under another id of its target. `ids`: those that the target was given since.
    pub fn is_under(&self, edge: &Map<String, Value>, ids: &[String]) -> bool {
        let knows = |id: &String| self.names.contains(&entry::dependency(&self.kind, id));
        let made_at =
            edge.get("created_at").and_then(Value::as_str).and_then(parse_rfc3339).unwrap_or_default();
        kind_of(edge) == self.kind
            && ids.iter().any(|id| id == target_of(edge))
            && !ids.iter().any(knows)
            && made_at <= self.at
    }
}

/// A merged line without the dependencies that one of the lines from which it was made has taken away under a former id of their
/// target. `ids`: those that a task was given since.
pub fn without_removed_edges(
    merged: Map<String, Value>,
    sides: &[&Map<String, Value>],
    ids: impl Fn(&str) -> Vec<String>,
) -> Map<String, Value> {
    let sides: Vec<Record> = sides.iter().filter_map(|row| read(row).ok()).collect();
    let mut removed: Vec<(RemovedEdge, Vec<String>)> = Vec::new();
    for side in &sides {
        let others: Vec<&Record> = sides.iter().filter(|other| *other != side).collect();
        removed.extend(removed_edges(side, &others).into_iter().map(|edge| {
            let ids = ids(&edge.on);
            (edge, ids)
        }));
    }
    let Ok(mut record) = read(&merged) else { return merged };
    let (gone, left): (Vec<_>, Vec<_>) = record
        .dependencies
        .into_iter()
        .partition(|edge| removed.iter().any(|(removed, ids)| removed.is_under(edge, ids)));
    record.dependencies = left;
    if gone.is_empty() {
        return merged;
    }
    let names: Vec<String> =
        gone.iter().map(|edge| entry::dependency(kind_of(edge), target_of(edge))).collect();
    let at = record.task.updated_at;
    record.task.clocks.touch(names, at);
    write(&record, Some(&merged))
}
