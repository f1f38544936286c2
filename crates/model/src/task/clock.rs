//! When each entry of a task's record got its value: what decides between two versions of it.
//!
//! An entry is a field, a key of `metadata`, a label, a dependency or a comment (see [`super::entry`]). A change that was seen has a
//! time of its own; everything else has the time of the version in which the task was first met, its floor. The times of
//! one task only grow, also when the clock of the machine goes back or stands still.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::entry::digest;
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
    /// Of an entry with a text: which texts were replaced until it got its value, by their digests, and when.
    pub replaced: BTreeMap<String, BTreeMap<String, Millis>>,
}

/// The most replaced texts of an entry that are remembered: the newest.
const MAX_REPLACED: usize = 8;

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
        Self { floor, ..Self::default() }
    }

    /// Notes that a text of an entry is replaced, at this time.
    pub(super) fn replace(&mut self, entry: &str, text: &str, at: Millis) {
        let texts = self.replaced.entry(entry.to_owned()).or_default();
        remember(texts, format!("{:016x}", digest(text)), at);
    }

    /// Whether an entry got its value from a text, directly or by way of others.
    pub(super) fn has_replaced(&self, entry: &str, text: &str) -> bool {
        let texts = self.replaced.get(entry);
        texts.is_some_and(|texts| texts.contains_key(&format!("{:016x}", digest(text))))
    }

    /// Takes in the replaced texts of another version.
    pub(super) fn join_replaced(&mut self, other: &Self) {
        for (entry, texts) in &other.replaced {
            let own = self.replaced.entry(entry.clone()).or_default();
            texts.iter().for_each(|(text, at)| remember(own, text.clone(), *at));
        }
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
        if !self.replaced.is_empty() {
            row.insert("replaced".into(), json!(self.replaced));
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
        let mut clocks = Self { floor, entries, ..Self::default() };
        for (entry, texts) in row.get("replaced").map_or(Some(&Map::new()), Value::as_object)? {
            for (text, at) in texts.as_object()? {
                let own = clocks.replaced.entry(entry.clone()).or_default();
                remember(own, text.clone(), at.as_i64()?);
            }
        }
        Some(clocks)
    }
}

/// Adds a text, and forgets the oldest where there are too many. The same texts in any order give the same result.
fn remember(texts: &mut BTreeMap<String, Millis>, text: String, at: Millis) {
    let known = texts.entry(text).or_insert(at);
    *known = at.max(*known);
    while texts.len() > MAX_REPLACED {
        let oldest = texts.iter().min_by_key(|(text, at)| (**at, *text)).map(|(text, _)| text.clone());
        let Some(oldest) = oldest else { break };
        texts.remove(&oldest);
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
        let mut texts = Clocks::default();
        (0..20).for_each(|n| texts.replace("notes", &format!("text {n}"), n));
        assert!(texts.has_replaced("notes", "text 12") && !texts.has_replaced("notes", "text 11"));
        assert_eq!(Clocks::from_json(&texts.to_json()), Some(texts));
        for bad in [
            json!({ "floor": "x" }),
            json!({ "entries": 1 }),
            json!({ "entries": { "a": "b" } }),
            json!({ "replaced": { "a": 1 } }),
        ] {
            assert_eq!(Clocks::from_json(bad.as_object().expect("object")), None);
        }
    }
}
