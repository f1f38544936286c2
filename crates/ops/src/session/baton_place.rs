//! Where the work of a baton lies, for who lets it leave the ledger without picking it up.

use baton_model::baton_file::{EarlierPlace, FileLocation};
use baton_model::changes::CarriedOperation;
use baton_model::repository::WorkingCopy;
use baton_store::{Failure, baton};
use serde::{Deserialize, Serialize};

use super::carried_operations::not_finished;
use super::prior_changes::UncommittedFiles;
use super::work_location::{EarlierLocation, WorkLocation};
use super::{PickupResult, pickup_bundle, work_search};
use crate::op::Cx;

/// A working copy, and the machine on which it lies.
pub(crate) struct PlaceOfWork {
    pub machine: String,
    pub copy: WorkingCopy,
    /// Whether files are not committed there, or were not when it was left; nothing where that is not known.
    pub was_dirty: Option<bool>,
    /// What is not committed there, and in other folders of this machine in which earlier sessions left something.
    pub uncommitted: Vec<UncommittedPlace>,
    /// Other places along its way, on whatever machine.
    pub earlier: Vec<EarlierPlace>,
}

/// Files that are not committed in a folder of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedPlace {
    /// The folder.
    pub root: String,
    /// The files; at most twenty.
    pub files: Vec<String>,
    /// How many there are in all.
    pub files_total: usize,
}

/// What a baton leaves behind, as its pickup would say it.
pub(crate) struct WorkOfBaton {
    /// Where its work lies.
    pub place: Option<PlaceOfWork>,
    /// What git was in the middle of along its way, and nobody is known to have finished.
    pub unfinished: Vec<CarriedOperation>,
}

/// Where the work of a baton lies, and what was not finished along its way.
pub(crate) fn work_of_baton(
    cx: &mut Cx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<WorkOfBaton, Failure> {
    let Cx { store, env } = cx;
    let bundle = store.read(|tx| {
        let Some(left) = baton::get(tx, project_id, baton_id)? else { return Ok(None) };
        let picked = PickupResult {
            identity: left.identity,
            predecessor_session_id: Some(left.session_id),
            baton_id: Some(left.baton_id),
            ..PickupResult::default()
        };
        pickup_bundle::read(tx, env, project_id, &picked, (true, false)).map(Some)
    })?;
    let Some(mut bundle) = bundle else { return Ok(WorkOfBaton { place: None, unfinished: Vec::new() }) };
    let location = work_search::of_bundle(cx, &bundle, &mut UncommittedFiles::default())?;
    let carried = std::mem::take(&mut bundle.carried_operations);
    let unfinished = not_finished(cx, carried, location.as_ref());
    let own_machine = cx.env.caller.location.machine.as_str();
    Ok(WorkOfBaton { place: location.map(|location| place(location, own_machine)), unfinished })
}

fn place(location: WorkLocation, own_machine: &str) -> PlaceOfWork {
    let places = location.earlier.iter().map(|earlier| earlier_place(earlier, own_machine)).collect();
    let here = UncommittedPlace {
        root: location.copy.root.clone(),
        files_total: location.uncommitted_total.unwrap_or(location.uncommitted.len()),
        files: location.uncommitted,
    };
    let earlier = location.earlier.into_iter().map(|earlier| UncommittedPlace {
        root: earlier.copy.root,
        files_total: earlier.uncommitted_total,
        files: earlier.uncommitted,
    });
    let was_dirty = match location.is_this_machine {
        true => location.uncommitted_total.map(|total| total > 0),
        false => Some(location.was_dirty),
    };
    PlaceOfWork {
        was_dirty,
        uncommitted: std::iter::once(here).chain(earlier).filter(|place| place.files_total > 0).collect(),
        machine: location.machine,
        copy: location.copy,
        earlier: places,
    }
}

/// A place along the way of the work, for a file.
fn earlier_place(of: &EarlierLocation, own_machine: &str) -> EarlierPlace {
    let WorkingCopy { root, branch, commit, is_worktree, .. } = of.copy.clone();
    let was_dirty = Some(of.was_dirty || of.uncommitted_total > 0);
    EarlierPlace {
        machine: of.machine.clone().unwrap_or_else(|| own_machine.to_owned()),
        location: FileLocation { root, branch, commit, is_worktree, was_dirty },
        lacks_commit: of.lacks_commit,
    }
}
