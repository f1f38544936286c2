//! What a file that is imported must not hold, and whose project it must be of.

use baton_model::baton_file::{MAX_EARLIER, MAX_RECEIPTS, MAX_UNFINISHED, PortableBaton, invalid_refusal};
use baton_model::id::{check_identity, check_label, check_project};
use baton_model::refusal::{self, Refusal};
use baton_model::repository::{canonical_address, is_commit_id};
use baton_store::{Failure, Tx, project};

/// Refuses what no export makes.
pub(super) fn check(of: &PortableBaton) -> Result<(), Refusal> {
    check_label("id of the baton", &of.baton_id)?;
    check_project(&of.project_id)?;
    check_identity(&of.identity)?;
    check_identity(&of.exported_by)?;
    check_label("surface", &of.surface)?;
    check_label("thread id", &of.thread_id)?;
    if !of.machine.is_empty() {
        check_label("machine", &of.machine)?;
    }
    if let Some(to) = &of.to_identity {
        check_identity(to)?;
    }
    if let Some(role) = &of.to_role {
        check_label("role", role)?;
    }
    if of.receipts.len() > MAX_RECEIPTS {
        return Err(invalid_refusal("has too many receipts"));
    }
    if of.unfinished.len() > MAX_UNFINISHED {
        return Err(invalid_refusal("has too many unfinished operations of git"));
    }
    for carried in &of.unfinished {
        check_label("id of the baton", &carried.baton_id)?;
        carried.check()?;
    }
    if of.earlier.len() > MAX_EARLIER {
        return Err(invalid_refusal("has too many earlier places"));
    }
    for earlier in &of.earlier {
        check_label("machine", &earlier.machine)?;
    }
    let mut locations = of.location.iter().chain(of.earlier.iter().map(|earlier| &earlier.location));
    if locations.any(|location| location.commit.as_deref().is_some_and(|id| !is_commit_id(id))) {
        return Err(invalid_refusal("names a commit that is none"));
    }
    for receipt in &of.receipts {
        check_label("id of the baton", &receipt.baton_id)?;
        check_identity(&receipt.picked_up_by)?;
    }
    Ok(())
}

/// Refuses a baton of another project. One project may have two names: then both are pushed to one remote.
pub(super) fn require_same_project(
    tx: &mut Tx<'_>,
    project_id: &str,
    of: &PortableBaton,
) -> Result<(), Failure> {
    if of.project_id == project_id {
        return Ok(());
    }
    let own = project::get(tx, project_id)?.and_then(|own| own.vcs_remote_url);
    let [own, theirs] =
        [own.as_deref(), of.remote.as_deref()].map(|remote| remote.and_then(canonical_address));
    if own.is_some() && own == theirs {
        return Ok(());
    }
    let what = format!("the baton is of project {}, and this folder belongs to {project_id}", of.project_id);
    let hint = format!(
        "go to the working copy of {} and repeat it there; `baton --project {project_id} handoff import FILE` takes it here all the same",
        of.project_id
    );
    Err(Refusal::new(refusal::Kind::Conflict, "baton_other_project", what, hint).into())
}
