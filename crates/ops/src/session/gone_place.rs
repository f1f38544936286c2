//! A place of work that a server cannot see, as the caller's own machine sees it. A server is told of no folder outside of the caller's
//! repository, so the caller's side looks itself whether one is gone.

use super::bundle_view::PickupOutput;
use super::work_advice::advice;
use super::work_inspection::note_checkout;
use super::working_copy_lookup::has_branch;
use crate::op::{Caller, Host};

/// Says of a place of this machine, of which the server could not say whether it is there, that it is gone, with what is left of it.
pub fn note_gone_place(bundle: &mut PickupOutput, caller: &Caller, host: &dyn Host) {
    let travel = bundle.changes.is_some();
    let Some(work) = &mut bundle.location else { return };
    let is_unknown = work.is_this_machine && !work.is_here && work.is_there.is_none();
    if !is_unknown || host.has_folder(&work.copy.root) != Some(false) {
        return;
    }
    work.is_there = Some(false);
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let has_branch = |branch: &str| has_branch(host, own_root?, (branch, false));
    work.advice = advice(work, caller.repository.as_ref(), travel, has_branch);
    note_checkout(host, own_root, work);
}
