//! What a line of the file says about when its entries changed, given the versions that were there before.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::clock::Stamp;
use super::coverage::{self, Coverage};
use super::entry;
use super::merge::{State, clocks_of};
use super::record::Record;
use super::version::Version;
use crate::time::Millis;

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
    /// What the line speaks of.
    coverage: Coverage,
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
    pub(super) fn entry(&self, name: &str) -> Option<(Option<&Value>, Stamp)> {
        if let Some(fact) = self.facts.get(name) {
            return Some((fact.value.as_ref(), fact.stamp));
        }
        // Of what not every tool writes, the line may have been begun by one that left it out.
        let is_core = coverage::is_core(name) && !self.coverage.is_missing(name);
        let is_said = self.is_whole && is_core && !entry::is_comment(name);
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
    fn mark_removed(&mut self, line: &Version<'_>) {
        let clocks = &line.record.task.clocks.entries;
        let is_missing = |name: &str| line.record.coverage.is_missing(name);
        let removed = clocks.iter().filter(|(name, _)| !line.entries.contains_key(*name));
        for (name, at) in removed.filter(|(name, _)| !is_missing(name)) {
            self.insert(name, None, true, *at);
        }
    }
}

/// Reads a line. `known`: earlier versions of it, oldest first.
pub(super) fn reading(known: &[Version<'_>], ancestor: Ancestor, ours: &State, line: &Record) -> LineContent {
    let line = Version::of(line);
    let is_own = line.is_own();
    if let (Ancestor::Given, Some(base), false) = (ancestor, known.last(), is_own)
        && !line.is_before(base)
        && (line.record.stamp.is_some() || base.record.stamp.is_none() || line.may_come_from(base))
    {
        return grown(base, &line);
    }
    if let Some(version) = successor(known, &line).filter(|_| is_own) {
        return origin(version, known, ours, &line);
    }
    if let Some(base) = base(known, &line) {
        return content_since(base, known, ours, &line);
    }
    match line.record.stamp {
        Some(_) if is_own => dated(known, ours, &line),
        Some(stamp) => edited(known, ours, &line, stamp),
        None => undated(ours, &line),
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

/// The known version that another tool made from a line whose clocks are its own. None where the line was here itself.
fn successor<'a, 'b>(known: &'b [Version<'a>], line: &Version<'_>) -> Option<&'b Version<'a>> {
    let alike = || known.iter().rev().filter(|version| version.has_clocks_of(line));
    alike().next().filter(|_| !alike().any(Version::is_own))
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
fn content_since(base: &Version<'_>, known: &[Version<'_>], ours: &State, line: &Version<'_>) -> LineContent {
    let mut reading = LineContent::from(base, line);
    let has_moved = line.is_modified_since(base);
    // Made from this version or an earlier one that is not known any more: what it lacks may have come later, and what was there
    // before may have been changed later.
    let is_origin_unknown = match line.record.stamp {
        Some(stamp) => {
            line.until() < stamp && !base.is_own() && !known.iter().any(|version| version.is_origin_of(base))
        }
        None => line.is_behind(),
    };
    let is_unsure = is_origin_unknown && line.differing(base).any(|name| line.entries.contains_key(name));
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
        let before = base.earliest().max(stamp.at);
        reading.insert(name, value, true, line.at().max(before.saturating_add(1)));
    }
    reading.say_closed_again();
    reading
}

/// A line that comes after the version that was made from it: it says in what that one was changed. What the ledger has changed
/// since is later.
fn origin(version: &Version<'_>, known: &[Version<'_>], ours: &State, line: &Version<'_>) -> LineContent {
    let mut reading = content_since(line, known, ours, version);
    reading.facts.retain(|name, fact| ours.entries.get(name) == fact.value.as_ref());
    // A comment changes no clock: the line may have one that the version was made without.
    for (name, value) in line.entries.iter().filter(|(name, _)| entry::is_comment(name)) {
        if !version.entries.contains_key(name) {
            reading.insert(name, Some(value), true, line.at());
        }
    }
    reading
}

/// A line of another tool that was made from this version: whatever its clock says, it is later. What its clocks name as changed since
/// was changed by Baton.
fn grown(base: &Version<'_>, line: &Version<'_>) -> LineContent {
    let mut reading = LineContent::from(base, line);
    let has_moved = line.is_modified_since(base);
    let written_at = line.record.stamp.unwrap_or(i64::MIN);
    for name in line.differing(base) {
        let value = line.entries.get(name);
        if value.is_none() && !has_moved {
            continue;
        }
        let (own, was) = (line.stamp_of(name), base.record.task.clocks.of(name));
        if line.record.stamp.is_some() && (own.is_seen || was.is_seen) && own != was {
            // Where it is the older one, the line was brought back from before the other.
            if own > was {
                reading.insert(name, value, true, own.at);
            }
            continue;
        }
        let before = base.earliest().max(was.at).max(written_at);
        reading.insert(name, value, true, line.at().max(before.saturating_add(1)));
    }
    reading.say_closed_again();
    reading
}

/// A line whose clocks are its own. What it has from the beginning says nothing where the ledger knows that as an old value.
fn dated(known: &[Version<'_>], ours: &State, line: &Version<'_>) -> LineContent {
    let clocks = clocks_of(line.record);
    let floor = Some(clocks.floor);
    let (entries, coverage) = (line.entries.clone(), line.record.coverage.clone());
    let mut reading = LineContent { entries, floor, is_whole: true, coverage, ..LineContent::default() };
    for (name, value) in &line.entries {
        let stamp = clocks.of(name);
        let our = ours.clocks.of(name);
        let differs =
            !known.is_empty() && ours.entries.get(name) != Some(value) && (!our.is_seen || stamp.at > our.at);
        let is_old = known.iter().any(|version| version.entries.get(name) == Some(value));
        if stamp.is_seen || !differs || !is_old {
            reading.insert(name, Some(value), stamp.is_seen || differs, stamp.at);
        }
    }
    reading.mark_removed(line);
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
    reading.mark_removed(line);
    for name in ours.entries.keys().filter(|name| !line.entries.contains_key(*name)) {
        if line.record.coverage.includes(name) && had(line, known, ours, name) {
            reading.insert(name, None, true, edited_at);
        }
    }
    reading
}

/// Whether the version that a line was made from had an entry as it is here: its clocks name the same change, or both have had it
/// from the beginning. What such a line lacks was taken away by the tool that changed it.
fn had(line: &Version<'_>, known: &[Version<'_>], ours: &State, name: &str) -> bool {
    // What first came with a line that another tool had changed may be that tool's: the line need not have had it.
    let is_from_elsewhere = |version: &Version<'_>| {
        let is_edited = match version.record.stamp {
            Some(_) => !version.is_own() && !known.iter().any(|origin| origin.is_origin_of(version)),
            // The line began with the creation itself, and the version here is a later one.
            None => !version.is_first() && clocks_of(line.record).floor == line.record.task.created_at,
        };
        is_edited && version.entries.contains_key(name)
    };
    let had_first = || known.iter().any(|version| version.is_first() && version.entries.contains_key(name));
    let (their, our) = (line.record.task.clocks.entries.get(name), ours.clocks.of(name));
    match their {
        Some(at) => our.is_seen && our.at == *at,
        None => {
            let is_as_old = !our.is_seen && clocks_of(line.record).floor >= ours.clocks.floor;
            is_as_old && (had_first() || !known.iter().any(is_from_elsewhere))
        }
    }
}

/// A line of which nothing is known but its own time. What it lacks, it may never have had. Nothing is older than the creation, so
/// another value than that of the creation is newer.
fn undated(ours: &State, line: &Version<'_>) -> LineContent {
    let at = line.earliest();
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
