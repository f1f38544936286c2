//! Where the work of a baton lies, for who lets it leave the ledger without picking it up.

use baton_model::repository::WorkingCopy;
use baton_store::{Failure, baton};

use super::prior_changes::UncommittedFiles;
use super::{PickupResult, pickup_bundle, work_search};
use crate::op::Cx;

/// A working copy, and the machine on which it lies.
pub(crate) struct PlaceOfWork {
    pub machine: String,
    pub copy: WorkingCopy,
}

/// The working copy in which the work of a baton was left, as its pickup would name it.
pub(crate) fn place_of_work(
    cx: &mut Cx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<Option<PlaceOfWork>, Failure> {
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
    let Some(bundle) = bundle else { return Ok(None) };
    let location = work_search::of_bundle(cx, &bundle, &mut UncommittedFiles::default())?;
    Ok(location.map(|location| PlaceOfWork { machine: location.machine, copy: location.copy }))
}
