//! An import of projects of which one was merged into another. Exports from before and after the merge tell the same baton twice:
//! open in the project that ended, and open in the one that goes on. Only the second can be picked up.

use std::collections::BTreeSet;

use baton_model::delta::Kind;
use baton_store::{Failure, Tx, baton, delta, project, session};
use serde::Deserialize;

use crate::project::CarriedBaton;
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
        let merges = merges_in(tx, &known.project_id)?;
        if merges.iter().any(|merge| merge.from == imported || merge.into == imported) {
            tied.insert(known.project_id.clone());
        }
        there.insert(known.project_id);
    }
    tied.retain(|id| there.contains(id));
    Ok(tied)
}

/// Spends the batons of a project that was merged whose successors are in the store. Returns
/// those that an open session of that project holds.
pub(super) fn settle(tx: &mut Tx<'_>, imported: &str) -> Result<Vec<String>, Failure> {
    let mut still_held = Vec::new();
    let projects = project::list(tx)?;
    for known in &projects {
        for merge in merges_in(tx, &known.project_id)? {
            if merge.from != imported && merge.into != imported {
                continue;
            }
            for carried in &merge.batons {
                still_held.extend(spend(tx, &merge, carried)?);
            }
        }
    }
    still_held.sort_unstable();
    still_held.dedup();
    Ok(still_held)
}

/// The merges of which a project's ledger tells, without those that were taken back.
fn merges_in(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<KnownMerge>, Failure> {
    let mut met = Vec::new();
    let mut merges = Vec::new();
    for entry in delta::newest_kind(tx, project_id, Kind::Other, MOST)? {
        let Ok(entry) = serde_json::from_str::<MergeEntry>(&entry.body) else { continue };
        let Some(other) = entry.other() else { continue };
        // The newest entry about a project says how the two stand.
        if met.contains(&other) {
            continue;
        }
        met.push(other);
        let MergeEntry { merged_into, merged_from, batons, .. } = entry;
        let own = project_id.to_owned();
        match (merged_into, merged_from) {
            (Some(into), _) => merges.push(KnownMerge { from: own, into, batons }),
            (None, Some(from)) => merges.push(KnownMerge { from, into: own, batons }),
            (None, None) => {}
        }
    }
    Ok(merges)
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
