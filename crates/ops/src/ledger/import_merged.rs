//! An import of projects of which one was merged into another. Exports from before and after the merge tell the same baton twice:
//! open in the project that ended, and open in the one that goes on, or in neither. One of them has it afterwards: the one that goes on,
//! and after an undoing the one that was merged.

use std::collections::BTreeSet;

use baton_model::delta::Kind;
use baton_store::{Failure, Tx, baton, delta, project, session};
use serde::Deserialize;

use crate::op::Env;
use crate::project::{CarriedBaton, carry_missing, reopen};
use crate::session::move_baton;

/// The most entries of a project's ledger that are searched for merges.
const MOST: i64 = 1_000;

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
    fn other(&self) -> Option<String> {
        self.merged_into.as_ref().or(self.merged_from.as_ref()).or(self.merge_undone.as_ref()).cloned()
    }
}

/// A merge that was not taken back, as a ledger tells it.
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
    let mut tied: BTreeSet<String> = own.filter_map(|entry| entry.other()).collect();
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
        let newer = if theirs.len() > own.len() { theirs } else { own };
        let is_undone = newer.first().is_some_and(|entry| entry.merge.is_none());
        let Some(merge) = newer.into_iter().find_map(|entry| entry.merge) else { continue };
        for carried in &merge.batons {
            still_held.extend(match is_undone {
                false => spend(tx, &merge, carried)?,
                true => give_back(tx, &merge, carried)?,
            });
        }
        let pair = (merge.from.as_str(), merge.into.as_str());
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

/// An entry about a merge of two projects: the merge, or nothing where it tells that the last one was taken back.
struct PairEntry {
    merge: Option<KnownMerge>,
}

/// What a project's ledger tells of its merges with another one, the newest first.
fn entries_about(tx: &mut Tx<'_>, project_id: &str, other: &str) -> Result<Vec<PairEntry>, Failure> {
    let mut found = Vec::new();
    for entry in delta::newest_kind(tx, project_id, Kind::Other, MOST)? {
        let Ok(entry) = serde_json::from_str::<MergeEntry>(&entry.body) else { continue };
        if entry.other().as_deref() != Some(other) {
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
    Ok(found)
}

/// Spends one baton of the project that ended. Returns its id where an open session holds it.
fn spend(tx: &mut Tx<'_>, merge: &KnownMerge, carried: &CarriedBaton) -> Result<Option<String>, Failure> {
    let Some(to) = &carried.to else { return Ok(None) };
    let before = baton::get(tx, &merge.from, &carried.from)?.filter(|before| before.spent_by.is_none());
    let (Some(mut before), Some(_)) = (before, baton::get(tx, &merge.into, to)?) else { return Ok(None) };
    let holder = match &before.holder_session_id {
        Some(id) => session::get(tx, &merge.from, id)?,
        None => None,
    };
    before.spent_by = Some(to.clone());
    move_baton(tx, &before)?;
    let is_at_work = holder.is_some_and(|holder| holder.is_open());
    Ok(is_at_work.then(|| carried.from.clone()))
}

/// Takes one baton back to the project that goes on by itself again, unless it was continued in the other. Returns its id there where
/// an open session holds it.
fn give_back(tx: &mut Tx<'_>, merge: &KnownMerge, carried: &CarriedBaton) -> Result<Option<String>, Failure> {
    let Some(to) = &carried.to else { return Ok(None) };
    let Some(mut now) = baton::get(tx, &merge.into, to)? else { return Ok(None) };
    let is_back = now.spent_by.as_ref() == Some(&carried.from);
    match baton::get(tx, &merge.from, &carried.from)? {
        Some(mut before) if before.spent_by.as_ref() == Some(to) => {
            // The undoing left it where it was, unless the other ledger says that it went back.
            if is_back {
                before.spent_by = None;
                move_baton(tx, &before)?;
            }
            return Ok(None);
        }
        // What a session had saved without a wrap: its own project hands it on again.
        None if now.holder_session_id.is_some() => return Ok(None),
        _ => {}
    }
    if now.spent_by.is_some() {
        return Ok(None);
    }
    let holder = match &now.holder_session_id {
        Some(id) => session::get(tx, &merge.into, id)?,
        None => None,
    };
    now.spent_by = Some(carried.from.clone());
    move_baton(tx, &now)?;
    Ok(holder.is_some_and(|holder| holder.is_open()).then(|| to.clone()))
}
