//! What a line of the file says about when its entries changed, given the versions that were there before.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::clock::Stamp;
use super::coverage;
use super::entry::{self, entries};
use super::merge::{State, clocks_of};
use super::record::Record;
use crate::time::Millis;

/// The value of an entry in a line, if it is there, and its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    pub(super) value: Option<Value>,
    pub(super) stamp: Stamp,
}

/// What a line says. An entry of which it says nothing stays as it is.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Its entries, as they stand.
    pub(super) entries: Map<String, Value>,
    /// What it says about them.
    pub(super) facts: BTreeMap<String, Fact>,
    /// The time of its other entries; none where it is compared with a version.
    pub(super) floor: Option<Millis>,
    /// Whether an entry that it does not have, and does not name as taken away, was absent all along.
    is_whole: bool,
}

impl Reading {
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
    fn say(&mut self, name: &str, value: Option<&Value>, is_seen: bool, at: Millis) {
        if value.is_none() && entry::is_comment(name) {
            return;
        }
        let fact = Fact { value: value.cloned(), stamp: Stamp { is_seen, at } };
        self.facts.insert(name.to_owned(), fact);
    }

    /// What a line lacks although its clocks name it was taken away, at that time or after it.
    fn say_gone(&mut self, line: &Version<'_>) {
        let clocks = &line.record.task.clocks.entries;
        for (name, at) in clocks.iter().filter(|(name, _)| !line.entries.contains_key(*name)) {
            self.say(name, None, true, *at);
        }
    }
}

/// Reads a line. `known`: earlier versions of it, oldest first.
pub(super) fn reading(known: &[Record], ours: &State, line: &Record) -> Reading {
    let known: Vec<Version<'_>> = known.iter().map(Version::of).collect();
    let line = Version::of(line);
    if let Some(base) = base(&known, &line) {
        return since(base, ours, &line);
    }
    match line.record.stamp {
        Some(stamp) if stamp == line.at() => dated(&known, ours, &line),
        Some(_) => edited(&known, ours, &line),
        None => undated(&line),
    }
}

struct Version<'a> {
    record: &'a Record,
    entries: Map<String, Value>,
}

impl<'a> Version<'a> {
    fn of(record: &'a Record) -> Self {
        Self { record, entries: entries(record) }
    }

    fn at(&self) -> Millis {
        self.record.task.updated_at
    }

    /// The end of what the text of its time stands for: other trackers write whole seconds.
    fn until(&self) -> Millis {
        let at = self.at();
        if at % 1000 == 0 { at.saturating_add(999) } else { at }
    }

    /// Nothing takes comments away, so a version without one was not made from a version with it.
    fn may_come_from(&self, base: &Self) -> bool {
        let comments = base.entries.keys().filter(|name| entry::is_comment(name));
        base.at() <= self.until() && comments.into_iter().all(|name| self.entries.contains_key(name))
    }

    /// The entries in which the line differs from a version that it may come from, as far as it speaks of them.
    fn differing<'b>(&'b self, base: &'b Self) -> impl Iterator<Item = &'b String> {
        let more = self.entries.keys().filter(|name| !base.entries.contains_key(*name));
        base.entries.keys().chain(more).filter(|name| {
            match (self.entries.get(*name), base.entries.get(*name)) {
                (None, _) => self.record.coverage.includes(name),
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
        && let Some(nearest) = nearest(known, line)
    {
        return Some(nearest);
    }
    // The version that the clocks were written for is where the line began, whatever the other tool's clock says.
    let written = || alike().find(|version| version.record.stamp == Some(version.at()));
    alike().find(|version| line.may_come_from(version)).or_else(written)
}

/// Where a line without our place in the metadata may have been made from a version with clocks, by a tool that dropped them: the
/// version that it differs from in the least, the newest of several.
fn nearest<'a, 'b>(known: &'b [Version<'a>], line: &Version<'_>) -> Option<&'b Version<'a>> {
    // A line that is as old as its task was never changed, by whatever tool.
    let is_changed = line.at() != line.record.task.created_at;
    let is_possible = |version: &&Version<'_>| {
        let is_stripped = version.record.stamp.is_some() && is_changed;
        (is_stripped || version.has_clocks_of(line)) && line.may_come_from(version)
    };
    known.iter().rev().filter(is_possible).min_by_key(|version| line.differing(version).count())
}

/// What a line differs in from the version that it was made from was changed since.
///
/// Where its time has not moved it may as well be what another clone wrote, whose change happens to have the same time as the one
/// here: it is no later than its clocks say for an entry that the ledger has changed since.
fn since(base: &Version<'_>, ours: &State, line: &Version<'_>) -> Reading {
    let mut reading = Reading { entries: line.entries.clone(), ..Reading::default() };
    let has_moved = line.at() != base.at();
    for name in line.differing(base) {
        let value = line.entries.get(name);
        // At the same time, what is there wins over what is not.
        if value.is_none() && !has_moved {
            continue;
        }
        // The line's own, or those that its writer has dropped.
        let stamp = base.record.task.clocks.of(name);
        if !has_moved && stamp.is_seen && ours.entries.get(name) != base.entries.get(name) {
            reading.say(name, value, true, stamp.at);
            continue;
        }
        let before = base.at().max(stamp.at);
        reading.say(name, value, true, line.at().max(before.saturating_add(1)));
    }
    reading
}

/// A line whose clocks are its own. What it has from the beginning says nothing where the ledger knows that as an old value.
fn dated(known: &[Version<'_>], ours: &State, line: &Version<'_>) -> Reading {
    let clocks = clocks_of(line.record);
    let floor = Some(clocks.floor);
    let mut reading = Reading { entries: line.entries.clone(), floor, is_whole: true, ..Reading::default() };
    for (name, value) in &line.entries {
        let stamp = clocks.of(name);
        let differs = !known.is_empty() && ours.entries.get(name) != Some(value);
        let is_old = known.iter().any(|version| version.entries.get(name) == Some(value));
        if stamp.is_seen || !differs || !is_old {
            reading.say(name, Some(value), stamp.is_seen || differs, stamp.at);
        }
    }
    reading.say_gone(line);
    reading
}

/// A line whose clocks are those of a version that was never here: another tool has changed it since.
fn edited(known: &[Version<'_>], ours: &State, line: &Version<'_>) -> Reading {
    let mut reading = Reading { entries: line.entries.clone(), ..Reading::default() };
    for (name, value) in &line.entries {
        let is_old = known.iter().any(|version| version.entries.get(name) == Some(value));
        if ours.entries.get(name) != Some(value) && !is_old {
            let stamp = line.record.task.clocks.of(name);
            reading.say(name, Some(value), true, if stamp.is_seen { stamp.at } else { line.at() });
        }
    }
    reading.say_gone(line);
    reading
}

/// A line of which nothing is known but its own time. What it lacks, it may never have had.
fn undated(line: &Version<'_>) -> Reading {
    let floor = Some(line.at());
    let mut reading = Reading { entries: line.entries.clone(), floor, ..Reading::default() };
    for (name, value) in &line.entries {
        reading.say(name, Some(value), false, line.at());
    }
    reading
}
