//! A version of a task: its entries, and what its times say about when it was made.

use serde_json::{Map, Value};

use super::clock::Stamp;
use super::entry::{self, entries};
use super::record::Record;
use crate::time::{Millis, parse_rfc3339};

/// A version of a task, taken apart.
pub(super) struct Version<'a> {
    pub(super) record: &'a Record,
    pub(super) entries: Map<String, Value>,
}

impl<'a> Version<'a> {
    /// Of a record: what its line says.
    pub(super) fn of(record: &'a Record) -> Self {
        let mut entries = entries(record);
        entries.retain(|name, _| !record.coverage.is_missing(name));
        Self { record, entries }
    }

    /// When an entry of it got its value.
    pub(super) fn stamp_of(&self, name: &str) -> Stamp {
        match self.record.stamp {
            Some(_) => self.record.task.clocks.of(name),
            None => Stamp { is_seen: false, at: self.earliest() },
        }
    }

    /// The earliest time at which a line without clocks can have been made. One that holds what was made after its own time was written
    /// with a clock that is behind, some time after that: a later time would let what it had from the beginning win over changes.
    pub(super) fn earliest(&self) -> Millis {
        match self.is_behind() {
            true => self.newest_instant().saturating_add(1),
            // A time in whole seconds stands for all of its second: the line was made after what it names of that second.
            false if self.at() > 0 => self.at().max(self.newest_instant()),
            false => self.at(),
        }
    }

    /// The earliest time of a line that was made from this one. One that is behind was made after the second of its newest
    /// instant: the version without it may have been written in whole seconds.
    fn earliest_successor(&self) -> Millis {
        let next = self.newest_instant().div_euclid(1000).saturating_add(1).saturating_mul(1000);
        // Where a clock stood still, changes count on from it.
        let changed_at = self.record.task.clocks.newest();
        if self.is_behind() { next.max(changed_at) } else { self.at().max(changed_at) }
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
    pub(super) fn is_before(&self, other: &Self) -> bool {
        self.is_first() && (other.record.stamp.is_some() || other.is_behind() || other.at() > self.until())
    }

    /// Whether nothing has changed it since its creation, as far as it says.
    pub(super) fn is_first(&self) -> bool {
        self.record.stamp.is_none() && self.at() == self.record.task.created_at
    }

    pub(super) fn at(&self) -> Millis {
        self.record.task.updated_at
    }

    /// Whether it has another time than the version that it was made from. One without a time was given none.
    pub(super) fn is_modified_since(&self, base: &Self) -> bool {
        self.at() != base.at() && self.at() > 0
    }

    /// The end of what the text of its time stands for: other trackers write whole seconds.
    pub(super) fn until(&self) -> Millis {
        let at = self.at();
        if at % 1000 == 0 { at.saturating_add(999) } else { at }
    }

    /// Nothing takes comments away, so a version without one was not made from a version with it. One that holds what the other got
    /// at its own time is later, whatever its time says.
    pub(super) fn may_come_from(&self, base: &Self) -> bool {
        let is_later =
            base.earliest_successor() <= self.until().max(self.newest_instant()) || self.has_newest_of(base);
        is_later && self.has_comments_of(base)
    }

    pub(super) fn has_comments_of(&self, base: &Self) -> bool {
        let mut comments = base.entries.keys().filter(|name| entry::is_comment(name));
        comments.all(|name| self.entries.contains_key(name))
    }

    /// Whether it was written with a clock that is behind: its own time is before that of its changes. A time before
    /// 1970 is ignored.
    pub(super) fn is_behind(&self) -> bool {
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
    pub(super) fn differing<'b>(&'b self, base: &'b Self) -> impl Iterator<Item = &'b String> {
        let more = self.entries.keys().filter(|name| !base.entries.contains_key(*name));
        base.entries.keys().chain(more).filter(|name| {
            match (self.entries.get(*name), base.entries.get(*name)) {
                (None, _) => self.record.coverage.includes(name),
                (Some(_), Some(_)) if entry::is_comment(name) => false,
                (value, other) => value != other,
            }
        })
    }

    /// Whether its clocks are its own: no other tool has changed it since they were written.
    pub(super) fn is_own(&self) -> bool {
        self.record.stamp == Some(self.at())
    }

    /// Whether another version is this one, changed by another tool.
    pub(super) fn is_origin_of(&self, other: &Self) -> bool {
        self.is_own() && !other.is_own() && self.has_clocks_of(other)
    }

    pub(super) fn has_clocks_of(&self, other: &Self) -> bool {
        self.record.stamp == other.record.stamp && self.record.task.clocks == other.record.task.clocks
    }
}
