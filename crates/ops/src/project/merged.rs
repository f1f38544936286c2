//! Whether a project was merged into another, and the refusal of what would begin something in it.

use baton_model::access::Grant;
use baton_model::accounting::{Remark, RemarkKind};
use baton_model::delta::Kind;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, baton, delta, project, project_root};
use serde::Deserialize;

use super::merge::{MAX_MOVED, MergeRecord};
use crate::project_name::title;
use crate::resolve;

/// How many of the newest entries tell that a project was merged by an earlier version.
const MAX_SCANNED_ENTRIES: i64 = 20;

/// The projects that were merged into one, by way of others too.
pub(crate) fn merged_from(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Failure> {
    let all = project::list(tx)?;
    let mut found = vec![project_id.to_owned()];
    let mut next = 0;
    while let Some(into) = found.get(next).cloned() {
        for other in all.iter().filter(|other| other.merged_into.as_ref() == Some(&into)) {
            if !found.contains(&other.project_id) {
                found.push(other.project_id.clone());
            }
        }
        next += 1;
    }
    found.remove(0);
    Ok(found)
}

/// The project in which the work of this one goes on: the last of those into which it was merged one after another.
pub(crate) fn merged_into(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<String>, Failure> {
    let mut passed = vec![project_id.to_owned()];
    while let Some(into) = next_hop(tx, &passed[passed.len() - 1])? {
        if passed.contains(&into) {
            break;
        }
        passed.push(into);
    }
    Ok(passed.pop().filter(|_| !passed.is_empty()))
}

/// The project into which this one itself was merged. Merges of earlier versions stand in the ledger alone.
fn next_hop(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<String>, Failure> {
    if let Some(into) = noted_merge(tx, project_id)? {
        return Ok(Some(into));
    }
    if !project_root::of_project(tx, project_id)?.is_empty() {
        return Ok(None);
    }
    Ok(last_record(tx, project_id, None, MAX_SCANNED_ENTRIES)?.map(|record| record.merged_into))
}

/// The merge that the project's row tells of: a write that takes the project has it at hand.
fn noted_merge(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<String>, Failure> {
    if tx.has_project(project_id) {
        return Ok(tx.merged_into(project_id).map(str::to_owned));
    }
    Ok(project::get(tx, project_id)?.and_then(|project| project.merged_into))
}

/// The baton as which a baton of a merged project, or what a session saved there, goes on in another project, if it was carried there.
pub(crate) fn carried_as(
    tx: &mut Tx<'_>,
    (project_id, id): (&str, &str),
    into: &str,
) -> Result<Option<String>, Failure> {
    let mut at = (project_id.to_owned(), id.to_owned());
    let mut passed = Vec::new();
    while at.0 != into && !passed.contains(&at) {
        passed.push(at.clone());
        let Some(record) = last_record(tx, &at.0, None, MAX_MOVED)? else { return Ok(None) };
        let carried = record.batons.iter().find(|carried| carried.from == at.1);
        let Some(to) = carried.and_then(|carried| carried.to.clone()) else { return Ok(None) };
        at = (record.merged_into, to);
    }
    Ok(Some(at.1).filter(|_| at.0 == into))
}

/// The baton as which a baton of a project that was merged into this one goes on here, by its id or a unique prefix.
pub(crate) fn carried_here(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Option<String>, Failure> {
    if id.len() < 4 || !id.is_ascii() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for from in merged_from(tx, project_id)? {
        for former in baton::by_prefix(tx, &from, id)? {
            found.extend(carried_as(tx, (&from, &former), project_id)?);
        }
    }
    Ok(if found.len() == 1 { found.pop() } else { None })
}

/// What an entry says of a merge that was taken back.
#[derive(Deserialize)]
struct UndoRecord {
    merge_undone: String,
}

/// The newest merge of a project, into this one where one is named, that was not taken back.
pub(super) fn last_record(
    tx: &mut Tx<'_>,
    project_id: &str,
    into: Option<&str>,
    limit: i64,
) -> Result<Option<MergeRecord>, Failure> {
    let is_meant = |other: &str| into.is_none_or(|into| into == other);
    let mut undone: Vec<String> = Vec::new();
    for entry in delta::newest_of_kind(tx, project_id, Kind::Other, limit)? {
        if let Ok(UndoRecord { merge_undone }) = serde_json::from_str(&entry.body) {
            undone.push(merge_undone);
            continue;
        }
        let Ok(record) = serde_json::from_str::<MergeRecord>(&entry.body) else { continue };
        match undone.iter().position(|other| *other == record.merged_into) {
            Some(at) => _ = undone.swap_remove(at),
            None if is_meant(&record.merged_into) => return Ok(Some(record)),
            None => {}
        }
    }
    Ok(None)
}

/// Refuses a write to a project that was merged: no folder leads to its ledger any more.
pub(crate) fn require_not_merged(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    match merged_into(tx, project_id)? {
        None => Ok(()),
        Some(into) => {
            let message = format!("project {} was merged into {}", title(tx, project_id)?, title(tx, &into)?);
            Err(Refusal { message, ..merged_refusal(project_id, &into) }.into())
        }
    }
}

/// Refuses to begin anything in a project that is unknown or was merged, of those that this write takes.
pub(crate) fn require_active(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    resolve::require(tx, project_id)?;
    refuse_merged(tx, project_id)
}

/// Refuses a project that was merged, of those that this write takes; one without a row is none. Only the refusal asks the store.
pub(crate) fn refuse_merged(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    if tx.merged_into(project_id).is_none() {
        return Ok(());
    }
    require_not_merged(tx, project_id)
}

/// Names the project in which the work of a merged one goes on, to a caller who reaches it.
pub(crate) fn merged_remark(
    tx: &mut Tx<'_>,
    grant: &Grant,
    of: &baton_model::project::Project,
) -> Result<Option<Remark>, Failure> {
    if of.merged_into.is_none() {
        return Ok(None);
    }
    let into = merged_into(tx, &of.project_id)?.filter(|into| grant.reaches(into));
    let message = match into {
        Some(into) => {
            format!(
                "this project was merged into {into}, where its work goes on: `baton --project {into} status`"
            )
        }
        None => "this project was merged into another, where its work goes on".to_owned(),
    };
    Ok(Some(Remark { kind: RemarkKind::ProjectMerged, message }))
}

/// The refusal for a project that was merged into another.
pub(super) fn merged_refusal(project_id: &str, into: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "project_merged",
        format!("project {project_id} was merged into {into}"),
        format!("name project {into} in its place: nothing is sent to this one or begun in it any more"),
    )
    .with("project_id", into)
    .with("merged_from", project_id)
}
