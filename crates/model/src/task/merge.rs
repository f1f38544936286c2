//! Two versions of a record made one: entry by entry, by when each got its value.
//!
//! What a task is in the ledger has a time for every entry. A line of the file says when its entries changed in one of three
//! ways: by clocks that it carries; by what it differs from a version that it was made from; else only by the time of the
//! whole line. The later change wins; at the same time what is there wins over what is not, and between two values the
//! same one on every side. Taking the join of the same versions in any order gives the same record.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::clock::{Clocks, Stamp};
use super::conflict::{Conflict, DELETED, Side};
use super::coverage::Coverage;
use super::entry::{self, entries};
use super::reading::{Ancestor, EntryValue, LineContent, reading};
use super::receipt;
use super::record::{Record, read};
use super::version::Version;
use crate::time::{Millis, rfc3339};

pub use lost::{Sides, keep_sealed, lost_by_sides, replaced_by};
pub use untimed::untimed_removals;

/// Fields that follow the status: they are taken from the side whose status wins.
const CLOSING: [&str; 4] = ["closed_at", "close_reason", "deleted_at", RESULT];
/// Result of the task; empty if it passed.
const RESULT: &str = "metadata/handoff.v1/result";

/// The merged record with its clocks, and what both sides had changed differently since the version seen last. `known`: the
/// versions of this task that the file had before, oldest first.
pub fn merge(known: &[Record], ours: &Record, theirs: &Record) -> (Record, Vec<Conflict>) {
    merge_from(known, Ancestor::Guessed, ours, theirs)
}

/// [`merge`], given whether both sides were made from the last of the known versions.
pub(super) fn merge_from(
    known: &[Record],
    ancestor: Ancestor,
    ours: &Record,
    theirs: &Record,
) -> (Record, Vec<Conflict>) {
    let dated = dated_as(ours, theirs);
    let theirs = dated.as_ref().unwrap_or(theirs);
    let mine = State { entries: entries(ours), clocks: clocks_of(ours) };
    let known: Vec<Version<'_>> = known.iter().map(Version::of).collect();
    let incoming = reading(&known, ancestor, &mine, theirs);
    let their_clocks = &theirs.task.clocks;
    let texts = text::joined(&known, &mine, (&incoming, their_clocks));
    let (mut merged, kept_theirs) = join(&mine, &incoming, &texts);
    text::note_replaced(&mut merged, &mine, &incoming, their_clocks);
    let id = &ours.task.task_id;
    let mut conflicts = conflicts(id, known.last(), &mine, &incoming, &kept_theirs);
    if let Some(deletion) = deletion::conflict(id, known.last(), (&mine, &incoming), &merged) {
        conflicts.retain(|conflict| conflict.field != deletion.field);
        conflicts.push(deletion);
    }
    conflicts.retain(|conflict| !texts.contains_key(conflict.field.as_str()));
    for conflict in reverted_changes(&known, &mine, theirs, &kept_theirs) {
        if conflicts.iter().all(|other| other.field != conflict.field) {
            conflicts.push(conflict);
        }
    }
    let updated_at = ours.task.updated_at.max(theirs.task.updated_at);
    let row = entry::row(&ours.task.task_id, &rfc3339(updated_at), merged.entries);
    let mut record = read(&row).unwrap_or_else(|_| ours.clone());
    record.task.clocks = merged.clocks;
    order_labels(&mut record.task.labels, &theirs.task.labels);
    record.coverage = Coverage::default();
    (record, conflicts)
}

/// Copies our creation time to a line that lacks one but has a time of change.
fn dated_as(ours: &Record, line: &Record) -> Option<Record> {
    let is_needed = line.coverage.is_missing("created_at") && line.task.updated_at > 0;
    is_needed.then(|| {
        let mut dated = line.clone();
        dated.task.created_at = ours.task.created_at;
        dated
    })
}

/// Differences of an older line without clocks that were not applied: values that the ledger never had; of a line whose time no
/// known version has, also earlier values and missing ones, which its writer may have removed.
pub fn ignored_changes(known: &[Record], merged: &Record, theirs: &Record) -> Vec<Conflict> {
    if theirs.stamp.is_some() || theirs.task.updated_at >= merged.task.updated_at {
        return Vec::new();
    }
    let is_known = known.iter().any(|version| version.task.updated_at == theirs.task.updated_at);
    let versions: Vec<Map<String, Value>> = known.iter().map(entries).collect();
    let (merged_entries, line) = (entries(merged), Version::of(theirs).entries);
    let is_passed = |name: &&String| {
        let (our, their) = (merged_entries.get(*name), line.get(*name));
        let is_old = |known: &Map<String, Value>| {
            is_known && known.get(*name) == their || text::is_more(name, known.get(*name), their)
        };
        let is_said = match their {
            Some(_) => !entry::is_comment(name) && !versions.iter().any(is_old),
            None => !is_known && theirs.coverage.includes(name),
        };
        is_said && our != their && !text::is_more(name, our, their)
    };
    let names = line.keys().chain(merged_entries.keys().filter(|name| !line.contains_key(*name)));
    let names = names.filter(|name| *name == "status" || !CLOSING.contains(&name.as_str()));
    let passed = |name: &String| {
        let [ours, theirs] =
            [merged_entries.get(name), line.get(name)].map(|value| value.cloned().unwrap_or_default());
        let (id, field) = (merged.task.task_id.clone(), name.replace('/', "."));
        Conflict { id, field, ours, theirs, kept: Side::Ours }
    };
    names.filter(is_passed).map(passed).collect()
}

/// Labels as the line has them, where they are the same; else sorted, as Beads does it.
fn order_labels(labels: &mut Vec<String>, line: &[String]) {
    labels.sort();
    let mut sorted = line.to_vec();
    sorted.sort();
    if *labels == sorted {
        line.clone_into(labels);
    }
}

/// [`adopt`] of a line that comes at this instant. Without a time it was made when its task was, or now; a task whose line does not say
/// when it was created begins with the line.
pub fn adopt_at(line: &Record, now: Millis) -> Record {
    let mut record = line.clone();
    let task = &mut record.task;
    if task.updated_at == 0 {
        task.updated_at = Some(task.created_at).filter(|at| *at > 0).unwrap_or(now);
    }
    if line.coverage.is_missing("created_at") {
        task.created_at = task.updated_at;
    }
    adopt(&record)
}

/// The record of a task that was not there, with clocks: its own, else the time of the line.
pub fn adopt(line: &Record) -> Record {
    let mut record = line.clone();
    if line.stamp.is_none() {
        record.task.clocks = Clocks::since(Version::of(line).earliest());
    }
    record.task.clocks = clocks_of(&record);
    record.stamp = None;
    record.coverage = Coverage::default();
    record
}

/// Notes in the clocks of a task which of its fields were changed, and returns the texts that the change replaces, by field.
/// `now`: the instant of the change.
pub fn touch(before: &super::Task, after: &mut super::Task, now: Millis) -> Map<String, Value> {
    let alone = |task: &super::Task| entries(&Record { task: task.clone(), ..Record::default() });
    let (old, new) = (alone(before), alone(after));
    let names = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
    let changed: Vec<String> = names.filter(|key| old.get(*key) != new.get(*key)).cloned().collect();
    let texts: Vec<String> =
        changed.iter().filter(|key| text::TEXTS.contains(&key.as_str())).cloned().collect();
    note(after, changed, now);
    for name in texts {
        let text = old.get(&name).and_then(Value::as_str).unwrap_or_default();
        let at = after.clocks.of(&name).at;
        after.clocks.replace(&name, text, at);
    }
    replaced::texts(old, &new)
}

/// Notes in the clocks of a task that these entries of it are changed now.
pub fn note(task: &mut super::Task, changed: impl IntoIterator<Item = String>, now: Millis) {
    // Bounded: otherwise every later change would be as far ahead.
    receipt::settle(task, now);
    if task.clocks.floor == 0 {
        task.clocks.floor = task.created_at;
    }
    task.clocks.touch(changed, now.max(task.updated_at));
}

/// Every entry of a record and its time.
pub(super) struct State {
    pub(super) entries: Map<String, Value>,
    pub(super) clocks: Clocks,
}

/// A floor that is not said is the creation.
pub(super) fn clocks_of(record: &Record) -> Clocks {
    let mut clocks = record.task.clocks.clone();
    if clocks.floor == 0 {
        clocks.floor = record.task.created_at;
    }
    clocks
}

/// What is there before what is not, and of two values the same one wherever they meet.
fn rank(value: Option<&Value>) -> (bool, bool, String) {
    let is_closed = value.is_some_and(|value| value == "closed");
    (value.is_some(), is_closed, value.map(Value::to_string).unwrap_or_default())
}

/// Whether a status is that of a deleted issue.
fn is_grave(status: Option<&Value>) -> bool {
    status.is_some_and(|value| value == DELETED)
}

/// Which of two versions of an entry is kept. What was deleted stays deleted, unless one side goes on with it ([`deletion::revive`]).
fn order(name: &str, ours: (Option<&Value>, Stamp), theirs: (Option<&Value>, Stamp)) -> Ordering {
    let is_deleted = |value: Option<&Value>| name == "status" && is_grave(value);
    is_deleted(theirs.0)
        .cmp(&is_deleted(ours.0))
        .then_with(|| theirs.1.cmp(&ours.1))
        .then_with(|| text::is_more(name, theirs.0, ours.0).cmp(&text::is_more(name, ours.0, theirs.0)))
        .then_with(|| rank(theirs.0).cmp(&rank(ours.0)))
}

/// The join, and which entries of it are theirs and not ours.
fn join(ours: &State, incoming: &LineContent, texts: &BTreeMap<&str, Value>) -> (State, Vec<String>) {
    let floor = ours.clocks.floor.max(incoming.floor.unwrap_or(i64::MIN));
    let mut merged = State { entries: Map::new(), clocks: Clocks::since(floor) };
    let mut theirs_kept = Vec::new();
    let (status, result) = (Status::of(ours, incoming), Status::of_result(ours, incoming));
    let has_grave = [&ours.entries, &incoming.entries].iter().any(|entries| is_grave(entries.get("status")));
    // Why an issue was closed is not lost with its deletion elsewhere, so it goes by its own time there.
    let goes_with_status = |name: &str| CLOSING.contains(&name) && !(has_grave && name == "close_reason");
    let mut names: Vec<&String> = ours.entries.keys().collect();
    names.extend(incoming.facts.keys().filter(|name| !ours.entries.contains_key(*name)));
    let gone = ours.clocks.entries.keys().filter(|name| !ours.entries.contains_key(*name));
    names.extend(gone.filter(|name| !incoming.facts.contains_key(*name)));
    for name in names {
        let our = (ours.entries.get(name), stamp_of(&ours.clocks, name, ours.entries.contains_key(name)));
        let status = if name == RESULT { result } else { status };
        let their = match status {
            Status::Ours if goes_with_status(name) => None,
            Status::Theirs(stamp) if goes_with_status(name) => {
                Some((incoming.entries.get(name), stamp.max(our.1)))
            }
            _ => incoming.entry(name),
        };
        let (value, stamp) = match (their, status) {
            (None, _) => our,
            // Its id and the parts of a second are but hints.
            (Some(_), _) if entry::is_comment(name) && our.0.is_some() => our,
            (Some(their), Status::Theirs(_)) if goes_with_status(name) => their,
            (Some(their), _) if order(name, our, their).is_gt() => their,
            (Some(their), _) => (our.0, our.1.max(their.1)),
        };
        let value = texts.get(name.as_str()).or(value);
        if value != our.0 {
            theirs_kept.push(name.clone());
        }
        // A comment changes no clock: nothing takes one away.
        if stamp.is_seen && !entry::is_comment(name) {
            merged.clocks.entries.insert(name.clone(), stamp.at);
        }
        if let Some(value) = value {
            merged.entries.insert(name.clone(), value.clone());
        }
    }
    for name in deletion::revive(&mut merged, ours, incoming) {
        theirs_kept.retain(|other| *other != name);
        if merged.entries.get(&name) != ours.entries.get(&name) {
            theirs_kept.push(name);
        }
    }
    (merged, theirs_kept)
}

/// Stamp of one of our entries; an absent comment never existed, whatever clocks of an older Baton say.
fn stamp_of(clocks: &Clocks, name: &str, is_there: bool) -> Stamp {
    match entry::is_comment(name) && !is_there {
        true => Stamp { is_seen: false, at: i64::MIN },
        false => clocks.of(name),
    }
}

/// Side whose status (open or closed) wins.
#[derive(Clone, Copy)]
enum Status {
    /// Both say the same: each of its fields goes by its own time.
    Same,
    Ours,
    Theirs(Stamp),
}

impl Status {
    fn of(ours: &State, incoming: &LineContent) -> Self {
        let our = (ours.entries.get("status"), ours.clocks.of("status"));
        if our.0 == incoming.entries.get("status") {
            return Self::Same;
        }
        match incoming.entry("status") {
            Some(their) if order("status", our, their).is_gt() => Self::Theirs(their.1),
            _ => Self::Ours,
        }
    }

    /// Whose result is kept. Where both have closed the task, that is the later close, which says nothing if the task passed.
    fn of_result(ours: &State, incoming: &LineContent) -> Self {
        let (status, our) = (Self::of(ours, incoming), ours.clocks.of("status"));
        let is_closed = ours.entries.get("status").is_some_and(|value| value == "closed");
        match (status, incoming.entry("status")) {
            (Self::Same, Some((_, their))) if is_closed && our.is_seen && their.is_seen => {
                match their.at.cmp(&our.at) {
                    Ordering::Greater => Self::Theirs(their),
                    Ordering::Less => Self::Ours,
                    Ordering::Equal => Self::Same,
                }
            }
            _ => status,
        }
    }
}

fn conflicts(
    id: &str,
    last: Option<&Version<'_>>,
    ours: &State,
    incoming: &LineContent,
    theirs_kept: &[String],
) -> Vec<Conflict> {
    let base = incoming.base.as_ref().or(last.map(|last| &last.entries));
    let began = |name: &str| base.and_then(|base| base.get(name));
    let mut found = Vec::new();
    for (name, EntryValue { value, stamp }) in &incoming.facts {
        let (our, their) = (ours.entries.get(name), value.as_ref());
        // What is older than the version seen last was no change since.
        let is_new = last.is_none_or(|last| *stamp > last.stamp_of(name) || incoming.base.is_some());
        let both = our != their && began(name) != our && began(name) != their;
        // The status reports a reopening; two closings may have two reasons.
        let is_reason = name == "close_reason" && our.is_some() && their.is_some();
        let is_said = name == "status" || is_reason || !CLOSING.contains(&name.as_str());
        if is_said && is_new && both && !entry::is_member(name) {
            let winner = if theirs_kept.contains(name) { Side::Theirs } else { Side::Ours };
            let [ours, theirs] = [our, their].map(|value| value.cloned().unwrap_or_default());
            found.push(Conflict {
                id: id.to_owned(),
                field: name.replace('/', "."),
                ours,
                theirs,
                kept: winner,
            });
        }
    }
    found
}

/// Ledger changes that a line without Baton's metadata sets back to an earlier value; the line does not say whether its writer
/// undid or never saw them.
fn reverted_changes(
    known: &[Version<'_>],
    ours: &State,
    theirs: &Record,
    theirs_kept: &[String],
) -> Vec<Conflict> {
    if theirs.stamp.is_some() || theirs.coverage.has_own() {
        return Vec::new();
    }
    let line = Version::of(theirs).entries;
    let is_put_back = |name: &&String| {
        let is_earlier = known.iter().any(|version| version.entries.get(*name) == line.get(*name));
        let is_said = *name == "status" || !CLOSING.contains(&name.as_str());
        is_said && is_earlier && ours.clocks.of(name).is_seen
    };
    let conflict = |name: &String| Conflict {
        id: theirs.task.task_id.clone(),
        field: name.replace('/', "."),
        ours: ours.entries.get(name).cloned().unwrap_or_default(),
        theirs: line.get(name).cloned().unwrap_or_default(),
        kept: Side::Theirs,
    };
    theirs_kept.iter().filter(is_put_back).map(conflict).collect()
}

mod deletion;
mod lost;
mod replaced;
mod text;
mod untimed;

#[cfg(test)]
mod histories;
#[cfg(test)]
mod tests;
