//! What git was in the middle of along the way of a baton, and nobody has finished since. A later wrap is in the middle of nothing, so
//! that only the way of the work knows: a merge would lose its other parent in silence.

use baton_model::changes::{CarriedOperation, GitOperation};
use baton_store::{Failure, Tx};
use serde::{Deserialize, Serialize};

use super::bundle_view::PickupOutput;
use super::file_facts::file_facts;
use super::work_location::WorkLocation;
use crate::changes::line_operations;
use crate::op::Cx;

/// An operation of git's that an earlier session did not finish, as a pickup names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierOperation {
    /// What it is, and where it was named.
    #[serde(flatten)]
    pub carried: CarriedOperation,
    /// What to do, in a sentence.
    pub message: String,
}

/// The operations that were named on the way of a baton, also in the file with which it came.
pub(super) fn on_the_way(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<Vec<CarriedOperation>, Failure> {
    let mut found = line_operations(tx, project_id, baton_id)?;
    if let Some(first) = found.first_session.clone() {
        for carried in file_facts(tx, project_id, &first)?.unfinished {
            found.add(carried);
        }
    }
    Ok(found.earlier)
}

/// Those of the operations that what was left is not known to have finished. Git is asked.
pub(super) fn not_finished(
    cx: &Cx<'_>,
    carried: Vec<CarriedOperation>,
    location: Option<&WorkLocation>,
) -> Vec<CarriedOperation> {
    carried.into_iter().filter(|one| !location.is_some_and(|left| is_finished(cx, one, left))).collect()
}

/// Names those that are not finished before everything else.
pub(super) fn name_operations(cx: &Cx<'_>, bundle: &mut PickupOutput) {
    let carried = std::mem::take(&mut bundle.carried_operations);
    for carried in not_finished(cx, carried, bundle.location.as_ref()) {
        let message = carried.sentence();
        bundle.instruction = format!("Also left: {message}. {}", bundle.instruction).into();
        bundle.earlier_operations.push(EarlierOperation { carried, message });
    }
}

/// Whether the commit that was left, or what is checked out in its folder by now, finishes an operation.
fn is_finished(cx: &Cx<'_>, of: &CarriedOperation, left: &WorkLocation) -> bool {
    let commits = &of.unfinished.commits;
    if commits.is_empty() {
        return false;
    }
    let has_all = |ids: &[&String]| !ids.is_empty() && ids.iter().all(|id| has_commit(cx, left, id));
    let merged: Vec<&String> = commits.iter().collect();
    let with_base: Vec<&String> = commits.iter().chain(&of.base).collect();
    match of.unfinished.operation {
        // A history of the caller's with both parents has the merge, too: it came by a pull.
        GitOperation::Merge => has_all(&merged) || of.base.is_some() && is_in_own_history(cx, &with_base),
        // In the middle of a rebase its branch is checked out nowhere.
        GitOperation::Rebase => {
            let is_on_branch = left.copy.branch.is_some() && left.copy.branch == of.unfinished.branch;
            is_on_branch && has_all(&with_base)
        }
        // What was committed on top of the changes is the pick.
        GitOperation::CherryPick | GitOperation::Revert => {
            let has_moved = of.base.is_some() && left.copy.commit != of.base;
            has_all(&merged) || has_moved && of.base.as_ref().is_some_and(|base| has_all(&[base]))
        }
        GitOperation::Am | GitOperation::Bisect => false,
    }
}

/// Whether what the caller has checked out contains all of these commits.
fn is_in_own_history(cx: &Cx<'_>, commits: &[&String]) -> bool {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let contains = |root: &String| commits.iter().all(|id| host.head_contains(root, id) == Some(true));
    caller.git_root.as_ref().is_some_and(contains)
}

/// Whether the work has a commit, as far as can be seen: where it lies, or as it was left.
fn has_commit(cx: &Cx<'_>, left: &WorkLocation, commit: &str) -> bool {
    let (caller, host) = (cx.env.caller, cx.env.host);
    if left.is_found() && host.head_contains(&left.copy.root, commit) == Some(true) {
        return true;
    }
    let own_root = caller.git_root.as_deref().zip(left.copy.commit.as_deref());
    own_root.is_some_and(|(root, tip)| host.commit_contains(root, tip, commit) == Some(true))
}
