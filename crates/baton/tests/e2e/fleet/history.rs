//! What clients saw, and whether it can be true: every interval in which somebody surely held a thing, and everything that was
//! acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// From the moment at which a client knew that it held something to the one at which it began to let go.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub what: String,
    pub by: String,
    pub from: Instant,
    pub until: Instant,
}

/// What one client, or all of them, did.
#[derive(Debug, Default)]
pub(super) struct History {
    pub held: Vec<Held>,
    /// Notes that were acknowledged, and those of which no answer came.
    pub kept: BTreeSet<String>,
    pub unknown: BTreeSet<String>,
    /// Wraps that were acknowledged.
    pub wraps: BTreeSet<String>,
    pub refused: usize,
    pub retried: usize,
}

impl History {
    pub(super) fn join(&mut self, other: Self) {
        self.held.extend(other.held);
        self.kept.extend(other.kept);
        self.unknown.extend(other.unknown);
        self.wraps.extend(other.wraps);
        self.refused += other.refused;
        self.retried += other.retried;
    }

    /// Pairs of holders who held one thing at one time.
    pub(super) fn conflicts(&self) -> Vec<(&Held, &Held)> {
        let mut by_thing: BTreeMap<&str, Vec<&Held>> = BTreeMap::new();
        self.held.iter().for_each(|held| by_thing.entry(&held.what).or_default().push(held));
        let mut found = Vec::new();
        for held in by_thing.values_mut() {
            held.sort_by_key(|held| held.from);
            let mut last: Option<&Held> = None;
            for next in held.iter() {
                found.extend(
                    last.filter(|last| last.by != next.by && last.until > next.from)
                        .map(|last| (last, *next)),
                );
                if last.is_none_or(|last| next.until > last.until) {
                    last = Some(next);
                }
            }
        }
        found
    }

    /// What is wrong with a ledger's notes: lost, doubled, or never written by anybody.
    pub(super) fn faults_of_notes(&self, notes: &[String]) -> Vec<String> {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        notes.iter().for_each(|note| *count.entry(note).or_default() += 1);
        let lost = self
            .kept
            .iter()
            .filter(|note| !count.contains_key(note.as_str()))
            .map(|note| format!("lost {note}"));
        let doubled = count
            .iter()
            .filter(|(_, times)| **times > 1)
            .map(|(note, times)| format!("{times} times {note}"));
        let strange =
            count.keys().filter(|note| !self.kept.contains(**note) && !self.unknown.contains(**note));
        lost.chain(doubled).chain(strange.map(|note| format!("nobody wrote {note}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn held(what: &str, by: &str, from: u64, until: u64, begin: Instant) -> Held {
        let at = |ms| begin + Duration::from_millis(ms);
        Held { what: what.into(), by: by.into(), from: at(from), until: at(until) }
    }

    #[test]
    fn two_holders_at_one_time_are_found() {
        let begin = Instant::now();
        let check = |held: Vec<Held>| History { held, ..History::default() }.conflicts().len();
        assert_eq!(check(vec![held("a", "x", 0, 5, begin), held("a", "y", 5, 9, begin)]), 0);
        assert_eq!(check(vec![held("a", "x", 0, 5, begin), held("b", "y", 1, 9, begin)]), 0);
        assert_eq!(check(vec![held("a", "x", 0, 5, begin), held("a", "y", 4, 9, begin)]), 1);
        let within =
            vec![held("a", "x", 0, 9, begin), held("a", "y", 1, 2, begin), held("a", "z", 3, 4, begin)];
        assert_eq!(check(within), 2);
    }

    #[test]
    fn notes_that_are_lost_doubled_or_strange_are_found() {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let history = History { kept: all(&["a", "b"]), unknown: all(&["c", "d"]), ..History::default() };
        let faults = |notes: &[&str]| {
            history.faults_of_notes(&notes.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(faults(&["a", "b", "d"]), Vec::<String>::new());
        assert_eq!(faults(&["a", "a", "d", "e"]), ["lost b", "2 times a", "nobody wrote e"]);
    }
}
