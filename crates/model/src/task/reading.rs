//! What a line of the file says about when its entries changed, given the versions that were there before.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::clock::Stamp;
use super::coverage;
use super::entry::{self, entries};
use super::merge::{State, clocks_of};
use super::record::Record;
use crate::time::{Millis, parse_rfc3339};

/// The value of an entry in a line, if it is there, and its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EntryValue {
    pub(super) value: Option<Value>,
    pub(super) stamp: Stamp,
}

/// What a line says. An entry of which it says nothing stays as it is.
#[derive(Debug, Default)]
pub(super) struct LineContent {
    /// Its entries, as they stand.
    pub(super) entries: Map<String, Value>,
    /// What it says about them.
    pub(super) facts: BTreeMap<String, EntryValue>,
    /// The time of its other entries; none where it is compared with a version.
    pub(super) floor: Option<Millis>,
    /// The entries of the version that it was made from, where that is known.
    pub(super) base: Option<Map<String, Value>>,
    /// Whether an entry that it does not have, and does not name as taken away, was absent all along.
    is_whole: bool,
}

/// What is known about the version that a line was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ancestor {
    /// One of the known versions, or another.
    Guessed,
    /// The last of the known versions, or a descendant of it, according to git.
    Given,
}

impl LineContent {
    /// Of a line that was made from a version.
    fn from(base: &Version<'_>, line: &Version<'_>) -> Self {
        Self { entries: line.entries.clone(), base: Some(base.entries.clone()), ..Self::default() }
    }

    /// What it says about an entry.
    pub(super) fn about(&self, name: &str) -> Option<(Option<&Value>, Stamp)> {
        if let Some(fact) = self.facts.get(name) {
            return Some((fact.value.as_ref(), fact.stamp));
        }
        // Of what not every tool writes, the line may have been begun by one that left it out.
        let is_said = self.is_whole && coverage::is_core(name) && !entry::is_comment(name);
        let at = self.floor.filter(|_| is_said)?;
        Some((None, Stamp { is_seen: false, at }))
    }

    /// A comment that a line lacks was not there yet when the line was made: nothing takes comments away.
    fn insert(&mut self, name: &str, value: Option<&Value>, is_seen: bool, at: Millis) {
        if value.is_none() && entry::is_comment(name) {
            return;
        }
        let fact = EntryValue { value: value.cloned(), stamp: Stamp { is_seen, at } };
        self.facts.insert(name.to_owned(), fact);
    }

    /// Another instant of closing is another closing, also where the status and the reason were the same at an earlier one.
    fn say_closed_again(&mut self) {
        let stamp = match self.facts.get("closed_at") {
            Some(EntryValue { value: Some(_), stamp }) => *stamp,
            _ => return,
        };
        let status = self.entries.get("status").filter(|status| *status == "closed").cloned();
        if let (Some(status), false) = (status, self.facts.contains_key("status")) {
            self.facts.insert("status".to_owned(), EntryValue { value: Some(status), stamp });
        }
    }

    /// What a line lacks although its clocks name it was taken away, at that time or after it.
    fn say_gone(&mut self, line: &Version<'_>) {
        let clocks = &line.record.task.clocks.entries;
        for (name, at) in clocks.iter().filter(|(name, _)| !line.entries.contains_key(*name)) {
            self.insert(name, None, true, *at);
        }
    }
}

/// Reads a line. `known`: earlier versions of it, oldest first.
pub(super) fn reading(known: &[Version<'_>], ancestor: Ancestor, ours: &State, line: &Record) -> LineContent {
    let line = Version::of(line);
    let is_own = line.record.stamp == Some(line.at());
    if let (Ancestor::Given, Some(base), false) = (ancestor, known.last(), is_own)
        && !line.is_before(base)
        && (line.record.stamp.is_some() || base.record.stamp.is_none() || line.may_come_from(base))
    {
        return grown(base, &line);
    }
    if let Some(base) = base(known, &line) {
        return since(base, known, ours, &line);
    }
    match line.record.stamp {
        Some(_) if is_own => dated(known, ours, &line),
        Some(stamp) => edited(known, ours, &line, stamp),
        None => undated(ours, &line),
    }
}

/// A version of a task, taken apart.
pub(super) struct Version<'a> {
    record: &'a Record,
    pub(super) entries: Map<String, Value>,
}

impl<'a> Version<'a> {
    /// Of a record.
    pub(super) fn of(record: &'a Record) -> Self {
        Self { record, entries: entries(record) }
    }

    /// When an entry of it got its value.
    pub(super) fn stamp(&self, name: &str) -> Stamp {
        match self.record.stamp {
            Some(_) => self.record.task.clocks.of(name),
            None => Stamp { is_seen: false, at: self.made_at() },
        }
    }

    /// The time of a line without clocks. One that holds what was made after its own time was written with a clock that is behind.
    pub(super) fn made_at(&self) -> Millis {
        // Behind the second in which that was: the version without it may have been written in whole seconds.
        let next = self.newest_instant().div_euclid(1000).saturating_add(1).saturating_mul(1000);
        if self.is_behind() { next } else { self.at() }
    }

    /// The newest instant that it names of something that has happened.
    fn newest_instant(&self) -> Millis {
        let task = &self.record.task;
        let hung = self.record.comments.iter().chain(&self.record.dependencies);
        let made = |row: &Map<String, Value>| parse_rfc3339(row.get("created_at")?.as_str()?);
        let instants = [Some(task.created_at), task.closed_at].into_iter().flatten();
        instants.chain(hung.filter_map(made)).max().unwrap_or_default()
    }

    /// Whether it is the version with which the task began, and the other is a later one.
    fn is_before(&self, other: &Self) -> bool {
        let is_first = self.record.stamp.is_none() && self.at() == self.record.task.created_at;
        is_first && (other.record.stamp.is_some() || other.made_at() > self.until())
    }

    fn at(&self) -> Millis {
        self.record.task.updated_at
    }

    /// The end of what the text of its time stands for: other trackers write whole seconds.
    fn until(&self) -> Millis {
        let at = self.at();
        if at % 1000 == 0 { at.saturating_add(999) } else { at }
    }

    /// Nothing takes comments away, so a version without one was not made from a version with it. One that holds what the other got
    /// at its own time is later, whatever its time says.
    fn may_come_from(&self, base: &Self) -> bool {
        let is_later = base.made_at() <= self.until().max(self.newest_instant()) || self.has_newest_of(base);
        is_later && self.has_comments_of(base)
    }

    fn has_comments_of(&self, base: &Self) -> bool {
        let mut comments = base.entries.keys().filter(|name| entry::is_comment(name));
        comments.all(|name| self.entries.contains_key(name))
    }

    /// Whether it was written with a clock that is behind: its own time is before that of its changes. A time before
    /// 1970 is ignored.
    fn is_behind(&self) -> bool {
        self.at() > 0 && self.until() < self.newest_instant()
    }

    /// Whether it holds the last change of another version. A field with few values may have had the same one before.
    fn has_newest_of(&self, base: &Self) -> bool {
        let few = ["status", "assignee", "priority", "issue_type"];
        let mut newest = base.record.task.clocks.entries.iter().filter(|(_, at)| **at == base.at());
        newest.any(|(name, _)| {
            let value = self.entries.get(name);
            let is_telling = !entry::is_member(name) && !few.contains(&name.as_str());
            is_telling && value.is_some() && value == base.entries.get(name)
        })
    }

    /// The entries in which the line differs from a version that it may come from, as far as it speaks of them.
    fn differing<'b>(&'b self, base: &'b Self) -> impl Iterator<Item = &'b String> {
        let more = self.entries.keys().filter(|name| !base.entries.contains_key(*name));
        base.entries.keys().chain(more).filter(|name| {
            match (self.entries.get(*name), base.entries.get(*name)) {
                (None, _) => self.record.coverage.includes(name),
                (Some(_), Some(_)) if entry::is_comment(name) => false,
                (value, other) => value != other,
            }
        })
    }

    fn has_clocks_of(&self, other: &Self) -> bool {
        self.record.stamp == other.record.stamp && self.record.task.clocks == other.record.task.clocks
    }
}

/// The version that a line was made from by another tool, which leaves the clocks as they are: of those with the same clocks,
/// or without any as the line, the one that was there last. None where the clocks are the line's own.
fn base<'a, 'b>(known: &'b [Version<'a>], line: &Version<'_>) -> Option<&'b Version<'a>> {
    let alike = || known.iter().rev().filter(|version| version.has_clocks_of(line));
    if !line.record.coverage.has_own()
        && let Some(newest) = newest(known, line)
    {
        return Some(newest);
    }
    // The version that the clocks were written for is where the line began, whatever the other tool's clock says.
    let written = || alike().find(|version| version.record.stamp == Some(version.at()));
    alike().find(|version| line.may_come_from(version)).or_else(written)
}

/// Where a line without our place in the metadata may have been made from a version with clocks, by a tool that dropped them: the
/// newest version. A tool changes the file that is there, and what it takes back makes its line look like an older version.
fn newest<'a, 'b>(known: &'b [Version<'a>], line: &Version<'_>) -> Option<&'b Version<'a>> {
    // A line that is as old as its task was never changed, by whatever tool.
    let is_changed = line.at() != line.record.task.created_at;
    let is_possible = |version: &&Version<'_>| {
        let is_stripped = version.record.stamp.is_some() && is_changed;
        match version.has_clocks_of(line) {
            // Its time says nothing about which of them it was.
            true if line.is_behind() => line.has_comments_of(version),
            is_alike => (is_stripped || is_alike) && line.may_come_from(version),
        }
    };
    known.iter().rev().find(is_possible)
}

/// What a line differs in from the version that it was made from was changed since.
///
/// Where its time has not moved it may as well be what another clone wrote, whose change happens to have the same time as the one
/// here: it is no later than its clocks say for an entry that the ledger has changed since.
fn since(base: &Version<'_>, known: &[Version<'_>], ours: &State, line: &Version<'_>) -> LineContent {
    let mut reading = LineContent::from(base, line);
    let has_moved = line.at() != base.at();
    // Made from this version or an earlier one that is not known any more: what it lacks may have come later, and what was there
    // before may have been changed later.
    let is_unsure = line.record.stamp.is_none()
        && line.is_behind()
        && line.differing(base).any(|name| line.entries.contains_key(name));
    for name in line.differing(base) {
        let value = line.entries.get(name);
        // At the same time, what is there wins over what is not.
        let is_old = || known.iter().any(|version| value.is_some() && version.entries.get(name) == value);
        if (value.is_none() && !has_moved) || (is_unsure && (value.is_none() || is_old())) {
            continue;
        }
        // The line's own, or those that its writer has dropped.
        let stamp = base.record.task.clocks.of(name);
        if !has_moved && stamp.is_seen && ours.entries.get(name) != base.entries.get(name) {
            reading.insert(name, value, true, stamp.at);
            continue;
        }
        let before = base.made_at().max(stamp.at);
        reading.insert(name, value, true, line.at().max(before.saturating_add(1)));
    }
    reading.say_closed_again();
    reading
}

/// A line of another tool that was made from this version: whatever its clock says, it is later. What its clocks name as changed since
/// was changed by Baton.
fn grown(base: &Version<'_>, line: &Version<'_>) -> LineContent {
    let mut reading = LineContent::from(base, line);
    let has_moved = line.at() != base.at();
    let written_at = line.record.stamp.unwrap_or(i64::MIN);
    for name in line.differing(base) {
        let value = line.entries.get(name);
        if value.is_none() && !has_moved {
            continue;
        }
        let (own, was) = (line.stamp(name), base.record.task.clocks.of(name));
        if line.record.stamp.is_some() && (own.is_seen || was.is_seen) && own != was {
            // Where it is the older one, the line was brought back from before the other.
            if own > was {
                reading.insert(name, value, true, own.at);
            }
            continue;
        }
        let before = base.made_at().max(was.at).max(written_at);
        reading.insert(name, value, true, line.at().max(before.saturating_add(1)));
    }
    reading.say_closed_again();
    reading
}

/// A line whose clocks are its own. What it has from the beginning says nothing where the ledger knows that as an old value.
fn dated(known: &[Version<'_>], ours: &State, line: &Version<'_>) -> LineContent {
    let clocks = clocks_of(line.record);
    let floor = Some(clocks.floor);
    let mut reading =
        LineContent { entries: line.entries.clone(), floor, is_whole: true, ..LineContent::default() };
    for (name, value) in &line.entries {
        let stamp = clocks.of(name);
        let differs = !known.is_empty() && ours.entries.get(name) != Some(value);
        let is_old = known.iter().any(|version| version.entries.get(name) == Some(value));
        if stamp.is_seen || !differs || !is_old {
            reading.insert(name, Some(value), stamp.is_seen || differs, stamp.at);
        }
    }
    reading.say_gone(line);
    reading
}

/// A line whose clocks are those of a version that was never here, written at this time: another tool has changed it since.
fn edited(known: &[Version<'_>], ours: &State, line: &Version<'_>, written_at: Millis) -> LineContent {
    let mut reading = LineContent { entries: line.entries.clone(), ..LineContent::default() };
    let edited_at = line.at().max(written_at.saturating_add(1));
    for (name, value) in &line.entries {
        let is_old = known.iter().any(|version| version.entries.get(name) == Some(value));
        let (stamp, our) = (line.record.task.clocks.of(name), ours.clocks.of(name));
        // A value that was there before is back where its clock says that it was set after ours, or names the change of ours.
        let is_set_again = stamp.is_seen && stamp >= our;
        if ours.entries.get(name) != Some(value) && (!is_old || is_set_again) {
            // Another value under the time of ours was put there after it.
            let is_changed_there = stamp.is_seen && stamp != our;
            reading.insert(name, Some(value), true, if is_changed_there { stamp.at } else { edited_at });
        }
    }
    reading.say_closed_again();
    reading.say_gone(line);
    for name in ours.entries.keys().filter(|name| !line.entries.contains_key(*name)) {
        if line.record.coverage.includes(name) && had(line, ours, name) {
            reading.insert(name, None, true, edited_at);
        }
    }
    reading
}

/// Whether the version that a line was made from had an entry as it is here: its clocks name the same change, or both have had it
/// from the beginning. What such a line lacks was taken away by the tool that changed it.
fn had(line: &Version<'_>, ours: &State, name: &str) -> bool {
    let (their, our) = (line.record.task.clocks.entries.get(name), ours.clocks.of(name));
    match their {
        Some(at) => our.is_seen && our.at == *at,
        None => !our.is_seen && clocks_of(line.record).floor >= ours.clocks.floor,
    }
}

/// A line of which nothing is known but its own time. What it lacks, it may never have had. Nothing is older than the creation, so
/// another value than that of the creation is newer.
fn undated(ours: &State, line: &Version<'_>) -> LineContent {
    let at = line.made_at();
    let mut reading =
        LineContent { entries: line.entries.clone(), floor: Some(at), ..LineContent::default() };
    let created_at = line.record.task.created_at;
    let is_behind = line.until() < created_at && ours.clocks.floor <= created_at;
    for (name, value) in &line.entries {
        let is_first = !ours.clocks.of(name).is_seen && ours.entries.get(name) != Some(value);
        reading.insert(name, Some(value), is_behind && is_first, at);
    }
    reading
}
