//! An import of projects of which one was merged into another. Exports from before and after the merge tell the same baton twice:
//! open in the project that ended, and open in the one that goes on, or in neither. One of them has it afterwards: the one that goes on,
//! and after an undoing the one that was merged.

use std::collections::BTreeSet;

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_store::{Failure, Tx, baton, delta, project, session};
use serde::Deserialize;

use crate::op::Env;
use crate::project::{CarriedBaton, carry_missing, reopen};
use crate::session::update_baton;

/// The most entries of a project's ledger that are searched for merges.
const MAX_ENTRIES: i64 = 1_000;

/// What a merge, or its undoing, leaves in the ledger of either project.
#[derive(Deserialize)]
struct MergeEntry {
    merged_into: Option<String>,
    merged_from: Option<String>,
    merge_undone: Option<String>,
    #[serde(default)]
    batons: Vec<CarriedBaton>,
}

impl MergeEntry {
    /// The other project; none in an entry about something else.
    fn other_project(&self) -> Option<String> {
        self.merged_into.as_ref().or(self.merged_from.as_ref()).or(self.merge_undone.as_ref()).cloned()
    }
}

/// A merge, as a ledger tells it.
struct KnownMerge {
    from: String,
    into: String,
    batons: Vec<CarriedBaton>,
}

/// The projects of the store that a merge ties to one which is imported: its own ledger tells of the merge, or theirs does.
pub(super) fn tied<'a>(
    tx: &mut Tx<'_>,
    imported: &str,
    entries: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>, Failure> {
    let own = entries.filter_map(|body| serde_json::from_str::<MergeEntry>(body).ok());
    let mut tied: BTreeSet<String> = own.filter_map(|entry| entry.other_project()).collect();
    let mut there = BTreeSet::new();
    for known in project::list(tx)? {
        if !entries_about(tx, &known.project_id, imported)?.is_empty() {
            tied.insert(known.project_id.clone());
        }
        there.insert(known.project_id);
    }
    tied.retain(|id| there.contains(id));
    Ok(tied)
}

/// Brings the batons of projects that were merged, or whose merge was taken back, to one place each. A merge and its undoing are written
/// into both ledgers at once, so of two exports the one that knows more of them is the newer, and says how the two stand. Returns
/// the batons that were moved on while an open session holds them.
pub(super) fn reconcile(tx: &mut Tx<'_>, env: &mut Env<'_>, imported: &str) -> Result<Vec<String>, Failure> {
    let mut still_held = Vec::new();
    for known in project::list(tx)? {
        let other = known.project_id;
        if other == imported {
            continue;
        }
        let own = entries_about(tx, imported, &other)?;
        let theirs = entries_about(tx, &other, imported)?;
        let is_own_newer = own.len() >= theirs.len();
        let (newer, older) =
            if is_own_newer { (imported, other.as_str()) } else { (other.as_str(), imported) };
        let entries = if is_own_newer { own } else { theirs };
        let Some(last) = entries.iter().rev().find_map(|entry| entry.merge.as_ref()) else { continue };
        let is_undone = entries.last().is_some_and(|entry| entry.merge.is_none());
        let pair = (last.from.as_str(), last.into.as_str());
        let merges = MergeHistory { newer, older, entries: &entries };
        merges.settle_sessions(tx)?;
        still_held.extend(merges.settle_batons(tx)?);
        // What the older export tells of a merge in the other direction was taken back before this one.
        unmark(tx, env, (pair.1, pair.0))?;
        if is_undone {
            reopen(tx, env, pair)?;
        } else {
            carry_missing(tx, env, pair)?;
        }
    }
    still_held.sort_unstable();
    still_held.dedup();
    Ok(still_held)
}

/// Lets a project go on by itself that an older export says to be merged.
fn unmark(tx: &mut Tx<'_>, env: &mut Env<'_>, (from, into): (&str, &str)) -> Result<(), Failure> {
    let marked = project::get(tx, from)?.and_then(|project| project.merged_into);
    if marked.as_deref() == Some(into) { reopen(tx, env, (from, into)) } else { Ok(()) }
}

/// An entry about a merge of two projects: the merge, or nothing where it tells that the last one was taken back.
struct PairEntry {
    merge: Option<KnownMerge>,
}

/// What a project's ledger tells of its merges with another one, the oldest first.
fn entries_about(tx: &mut Tx<'_>, project_id: &str, other: &str) -> Result<Vec<PairEntry>, Failure> {
    let mut found = Vec::new();
    for entry in delta::newest_of_kind(tx, project_id, Kind::Other, MAX_ENTRIES)? {
        let Ok(entry) = serde_json::from_str::<MergeEntry>(&entry.body) else { continue };
        if entry.other_project().as_deref() != Some(other) {
            continue;
        }
        let MergeEntry { merged_into, merged_from, batons, .. } = entry;
        let (own, other) = (project_id.to_owned(), other.to_owned());
        let merge = match (merged_into, merged_from) {
            (Some(_), _) => Some(KnownMerge { from: own, into: other, batons }),
            (None, Some(_)) => Some(KnownMerge { from: other, into: own, batons }),
            (None, None) => None,
        };
        found.push(PairEntry { merge });
    }
    found.reverse();
    Ok(found)
}

/// The merges and undoings of two projects, and which of the two exports knows all of them.
struct MergeHistory<'a> {
    newer: &'a str,
    older: &'a str,
    /// As the newer export tells them, the oldest first.
    entries: &'a [PairEntry],
}

/// The batons of one piece of work, in the order in which merges made them.
#[derive(Default)]
struct CarriedWork {
    in_newer: Vec<String>,
    in_older: Vec<String>,
}

impl MergeHistory<'_> {
    /// The batons that merges made of one another.
    fn works(&self) -> Vec<CarriedWork> {
        let mut works: Vec<CarriedWork> = Vec::new();
        for merge in self.entries.iter().filter_map(|entry| entry.merge.as_ref()) {
            for carried in merge.batons.iter().filter(|carried| !carried.is_session) {
                let Some(to) = &carried.to else { continue };
                let (newer, older) =
                    if merge.from == self.newer { (&carried.from, to) } else { (to, &carried.from) };
                let is_of =
                    |work: &CarriedWork| work.in_newer.contains(newer) || work.in_older.contains(older);
                let at = works.iter().position(is_of).unwrap_or(works.len());
                if at == works.len() {
                    works.push(CarriedWork::default());
                }
                let work = &mut works[at];
                for (side, id) in [(&mut work.in_newer, newer), (&mut work.in_older, older)] {
                    if !side.contains(id) {
                        side.push(id.clone());
                    }
                }
            }
        }
        works
    }

    /// Leaves each piece of work where the newer export says that it is.
    fn settle_batons(&self, tx: &mut Tx<'_>) -> Result<Vec<String>, Failure> {
        let mut still_held = Vec::new();
        for work in self.works() {
            let newer = read(tx, self.newer, &work.in_newer)?;
            let older = read(tx, self.older, &work.in_older)?;
            let Some(last) = newer.iter().find(|baton| baton.spent_by.is_none()).or(newer.last()) else {
                continue;
            };
            let moved_to = last.spent_by.as_ref().filter(|id| work.in_older.contains(id));
            let there = moved_to.and_then(|id| older.iter().find(|baton| baton.baton_id == *id));
            let successor = match (moved_to, there) {
                (None, _) => &last.baton_id,
                (Some(id), Some(there)) => {
                    // The older export is of a time at which it was in the other project.
                    if there.spent_by.as_ref().is_some_and(|by| work.in_newer.contains(by)) {
                        update_baton(tx, &Baton { spent_by: None, ..there.clone() })?;
                    }
                    id
                }
                // The older export is of a time before it came there. Where it was continued there and came back, that one goes on.
                (Some(_), None) => {
                    if is_last_of_thread(tx, last)? {
                        update_baton(tx, &Baton { spent_by: None, ..last.clone() })?;
                    }
                    &last.baton_id
                }
            };
            let mut older = older;
            if older.is_empty() {
                // The older export is of a time before the baton was left that was carried: what that one continued may wait there.
                older = baton::of_thread(tx, self.older, &last.thread_id)?;
            }
            for left in older.iter().filter(|left| left.spent_by.is_none() && left.baton_id != *successor) {
                still_held.extend(spend(tx, left, successor)?);
            }
        }
        Ok(still_held)
    }

    /// Takes back what sessions had saved without a wrap, in merges that were undone: their own project hands it on again.
    fn settle_sessions(&self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let is_undone = |at: usize| self.entries[at..].iter().any(|entry| entry.merge.is_none());
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(merge) = entry.merge.as_ref().filter(|_| is_undone(at)) else { continue };
            for carried in merge.batons.iter().filter(|carried| carried.is_session) {
                let Some(to) = &carried.to else { continue };
                let is_free = |now: &Baton| now.spent_by.is_none() && now.holder_session_id.is_none();
                if let Some(now) = baton::get(tx, &merge.into, to)?.filter(is_free) {
                    spend(tx, &now, &carried.from)?;
                }
            }
        }
        Ok(())
    }
}

/// The batons of these that are there.
fn read(tx: &mut Tx<'_>, project_id: &str, ids: &[String]) -> Result<Vec<Baton>, Failure> {
    let mut found = Vec::new();
    for id in ids {
        found.extend(baton::get(tx, project_id, id)?);
    }
    Ok(found)
}

/// Whether nothing was left after a baton on its line of work.
fn is_last_of_thread(tx: &mut Tx<'_>, baton: &Baton) -> Result<bool, Failure> {
    let of_thread = baton::of_thread(tx, &baton.project_id, &baton.thread_id)?;
    Ok(of_thread.iter().all(|other| other.seq <= baton.seq))
}

/// Spends a baton that goes on as another one. Returns its id where an open session holds it.
fn spend(tx: &mut Tx<'_>, left: &Baton, successor: &str) -> Result<Option<String>, Failure> {
    let holder = match &left.holder_session_id {
        Some(id) => session::get(tx, &left.project_id, id)?,
        None => None,
    };
    update_baton(tx, &Baton { spent_by: Some(successor.to_owned()), ..left.clone() })?;
    Ok(holder.is_some_and(|holder| holder.is_open()).then(|| left.baton_id.clone()))
}
