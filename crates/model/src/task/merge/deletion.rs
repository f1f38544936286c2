//! An issue that one side deleted and the other went on with. What is newer holds, and either way it is told.

use serde_json::{Map, Value};

use super::super::clock::Stamp;
use super::super::conflict::{Conflict, DELETED, Side};
use super::super::entry;
use super::super::reading::LineContent;
use super::super::record::OWN;
use super::super::version::Version;
use super::{CLOSING, State};
use crate::time::{Millis, parse_rfc3339};

/// Fields that the deletion of an issue writes.
const OF_DELETION: [&str; 3] = ["deleted_by", "delete_reason", "original_type"];

/// Which side has not deleted the issue that the other has deleted. An issue that was renamed goes on under its new id.
fn living_side(ours: &State, incoming: &LineContent) -> Option<Side> {
    let is_renamed = [&ours.entries, &incoming.entries].iter().any(|side| side.contains_key("renamed_to"));
    let is_deleted =
        |entries: &Map<String, Value>| entries.get("status").is_some_and(|value| value == DELETED);
    match (is_deleted(&ours.entries), is_deleted(&incoming.entries)) {
        _ if is_renamed => None,
        (true, false) => incoming.entries.contains_key("status").then_some(Side::Theirs),
        (false, true) => Some(Side::Ours),
        _ => None,
    }
}

/// Whether a change of an entry is work of an agent or a user on the issue. How it was closed goes along with its deletion, and what
/// Baton keeps of an issue for itself is no such work; nor are its dependencies, which change with the issues that they lead to.
fn is_work(name: &str, status: Option<&Value>) -> bool {
    let own = format!("metadata/{OWN}/");
    let is_kept_by_us = name.strip_prefix(&own).is_some_and(|field| {
        !["agent_context", "handoff_instructions"].iter().any(|context| field.starts_with(context))
    });
    match name {
        "status" => status.is_some_and(|status| status != "closed"),
        _ if name.starts_with("dependencies:") => false,
        _ => !CLOSING.contains(&name) && !OF_DELETION.contains(&name) && !is_kept_by_us,
    }
}

/// Keeps an issue that one side went on with after the other had deleted it: it takes the state of the side that did not delete it.
/// Returns the names of the entries that this changes.
pub(super) fn revive(merged: &mut State, ours: &State, incoming: &LineContent) -> Vec<String> {
    let is_deleted = merged.entries.get("status").is_some_and(|value| value == DELETED);
    let Some(living) = living_side(ours, incoming).filter(|_| is_deleted) else { return Vec::new() };
    let unknown = Stamp { is_seen: false, at: i64::MIN };
    let stamps = [ours.clocks.of("status"), incoming.entry("status").map_or(unknown, |(_, stamp)| stamp)];
    let (entries, [own, deletion]) = match living {
        Side::Ours => (&ours.entries, stamps),
        Side::Theirs => (&incoming.entries, [stamps[1], stamps[0]]),
    };
    let deleted_at = deletion.at;
    let status = entries.get("status");
    let deleted = if living == Side::Ours { &incoming.entries } else { &ours.entries };
    // Of a line without clocks it is not known when its status changed: it counts with whatever else is other there.
    let is_other = |(name, value): (&String, &Value)| {
        name != "status" && is_work(name, status) && deleted.get(name) != Some(value)
    };
    let is_later = |(name, at): (&String, &i64)| match name.as_str() {
        "status" if !own.is_seen && !entries.iter().any(is_other) => false,
        "status" => own.at > deleted_at && is_work(name, status),
        _ => *at > deleted_at && is_work(name, status),
    };
    let is_said_later = |(name, value): (&String, &Value)| {
        let said_at = value.get("created_at").and_then(Value::as_str).and_then(parse_rfc3339);
        entry::is_comment(name) && said_at.is_some_and(|at| at > deleted_at)
    };
    if !merged.clocks.entries.iter().any(is_later) && !merged.entries.iter().any(is_said_later) {
        return Vec::new();
    }
    let at = own.at.max(deleted_at);
    let names = ["status"].into_iter().chain(CLOSING).chain(OF_DELETION);
    let mut changed = Vec::new();
    for name in names {
        match entries.get(name) {
            Some(value) => _ = merged.entries.insert(name.to_owned(), value.clone()),
            None if merged.entries.shift_remove(name).is_none() => continue,
            None => {}
        }
        merged.clocks.entries.insert(name.to_owned(), at);
        changed.push(name.to_owned());
    }
    changed.extend(restore_dependencies(merged, entries, (deleted, at)));
    changed
}

/// Gives a revived issue the dependencies back that its deletion took away, and returns their entries. One that was removed before the
/// deletion stays removed. `at`: the instant of the revival.
fn restore_dependencies(
    merged: &mut State,
    living: &Map<String, Value>,
    (deleted, at): (&Map<String, Value>, Millis),
) -> Vec<String> {
    let deleted_at = deleted.get("deleted_at").and_then(Value::as_str).and_then(parse_rfc3339).unwrap_or(at);
    let mut restored = Vec::new();
    for (name, value) in living.iter().filter(|(name, _)| name.starts_with("dependencies:")) {
        let removed_at = merged.clocks.entries.get(name).copied().unwrap_or(deleted_at);
        if merged.entries.contains_key(name) || removed_at < deleted_at {
            continue;
        }
        merged.entries.insert(name.clone(), value.clone());
        merged.clocks.entries.insert(name.clone(), at.max(removed_at));
        restored.push(name.clone());
    }
    restored
}

/// What there is to say of an issue that one side deleted and the other changed. `last`: the version that both had seen.
pub(super) fn conflict(
    id: &str,
    last: Option<&Version<'_>>,
    (ours, incoming): (&State, &LineContent),
    merged: &State,
) -> Option<Conflict> {
    let living = living_side(ours, incoming)?;
    let status = |entries: &Map<String, Value>| entries.get("status").cloned().unwrap_or_default();
    let base = incoming.base.as_ref().or(last.map(|last| &last.entries));
    let is_new = |name: &str, value: Option<&Value>| base.is_none_or(|base| base.get(name) != value);
    let is_changed = match living {
        Side::Ours => ours.clocks.entries.keys().any(|name| {
            let value = ours.entries.get(name);
            let is_other = incoming.entries.get(name) != value && is_new(name, value);
            is_other && is_work(name, ours.entries.get("status"))
        }),
        Side::Theirs => incoming.facts.iter().any(|(name, fact)| {
            let is_other = fact.stamp.is_seen && ours.entries.get(name) != fact.value.as_ref();
            is_other && is_work(name, incoming.entries.get("status"))
        }),
    };
    let is_kept = merged.entries.get("status").is_some_and(|value| value != DELETED);
    let other = if living == Side::Ours { Side::Theirs } else { Side::Ours };
    (is_changed || is_kept).then(|| Conflict {
        id: id.to_owned(),
        field: "status".to_owned(),
        ours: status(&ours.entries),
        theirs: status(&incoming.entries),
        kept: if is_kept { living } else { other },
    })
}
