//! When each entry of a task's record got its value: what decides between two versions of it.
//!
//! An entry is a field, a key of `metadata`, a label, a dependency or a comment (see [`super::entry`]). A change that was seen has a
//! time of its own; everything else has the time of the version in which the task was first met, its floor. The times of
//! one task only grow, also when the clock of the machine goes back or stands still.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::time::Millis;

/// The key inside our own object of a line's metadata under which the clocks travel.
pub(super) const KEY: &str = "clock";

/// When the entries of a task got their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks {
    /// The time of every entry that has none of its own; 0 for the instant at which the task was created.
    pub floor: Millis,
    /// Entries whose change was seen, also those that were taken away.
    pub entries: BTreeMap<String, Millis>,
}

/// The time of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Whether its change was seen, which says more than any version that it merely stood in.
    pub is_seen: bool,
    /// When, or in the oldest version that had it.
    pub at: Millis,
}

impl Clocks {
    /// Those of a task that was first met in a version of this time.
    pub fn since(floor: Millis) -> Self {
        Self { floor, entries: BTreeMap::new() }
    }

    /// The time of an entry.
    pub fn of(&self, entry: &str) -> Stamp {
        match self.entries.get(entry) {
            Some(at) => Stamp { is_seen: true, at: *at },
            None => Stamp { is_seen: false, at: self.floor },
        }
    }

    /// The newest time.
    pub fn newest(&self) -> Millis {
        self.entries.values().copied().fold(self.floor, Millis::max)
    }

    /// Notes that these entries change now, which is later than everything before.
    pub fn touch(&mut self, entries: impl IntoIterator<Item = String>, now: Millis) {
        let at = now.max(self.newest().saturating_add(1));
        self.entries.extend(entries.into_iter().map(|entry| (entry, at)));
    }

    /// As a store keeps them.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut row = Map::new();
        if self.floor != 0 {
            row.insert("floor".into(), json!(self.floor));
        }
        if !self.entries.is_empty() {
            row.insert("entries".into(), json!(self.entries));
        }
        row
    }

    /// Reads what [`Self::to_json`] wrote; nothing for anything else.
    pub fn from_json(row: &Map<String, Value>) -> Option<Self> {
        let floor = row.get("floor").map_or(Some(0), Value::as_i64)?;
        let mut entries = BTreeMap::new();
        if let Some(given) = row.get("entries") {
            for (entry, at) in given.as_object()? {
                entries.insert(entry.clone(), at.as_i64()?);
            }
        }
        Some(Self { floor, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_task_only_grow() {
        let mut clocks = Clocks::since(100);
        clocks.touch(["title".to_owned()], 100);
        clocks.touch(["status".to_owned()], 50);
        clocks.touch(["title".to_owned()], 500);
        assert_eq!((clocks.of("status").at, clocks.of("title").at, clocks.of("notes").at), (102, 500, 100));
        assert_eq!(Clocks::from_json(&clocks.to_json()), Some(clocks));
        assert_eq!(Clocks::from_json(&Map::new()), Some(Clocks::default()));
        for bad in [json!({ "floor": "x" }), json!({ "entries": 1 }), json!({ "entries": { "a": "b" } })] {
            assert_eq!(Clocks::from_json(bad.as_object().expect("object")), None);
        }
    }
}
