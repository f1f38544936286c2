//! A working copy in which work was left, as it is now.

use baton_model::delta::Kind;
use baton_model::packet::ValidatedPacket;
use baton_model::repository::WorkingCopy;
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, changes, delta};

use super::bundle_view::PickupOutput;
use super::file_facts::file_facts;
use super::prior_changes::UncommittedFiles;
use super::work_advice::{OTHER_REPOSITORY, advice};
use super::work_location::{EarlierLocation, WorkLocation};
use super::working_copy_lookup::{LeftCopy, PlaceNow, has_branch, is_branch_behind, look_up};
use crate::op::{Cx, Host};

/// Most uncommitted files that are named.
const MAX_NAMED_FILES: usize = 20;

/// A working copy of a session.
pub(super) struct SessionCopy<'a> {
    pub session: &'a Session,
    /// The id of the repository in which it began, where that was in this folder.
    pub repository_id: Option<&'a str>,
    pub copy: WorkingCopy,
    /// On another machine: whether the newest packet that says so of the folder says that something was not committed there.
    pub was_dirty: bool,
}

/// A working copy of a session as it is now.
pub(super) struct FoundCopy {
    pub location: WorkLocation,
    /// All that is not committed there.
    pub uncommitted: Vec<String>,
}

/// A working copy with the branch and the commit that are checked out there now: its session may have had others.
pub(super) fn as_checked_out(host: &dyn Host, copy: WorkingCopy) -> WorkingCopy {
    match host.repository(&copy.root) {
        Some((root, now)) if root == copy.root => {
            WorkingCopy { branch: now.branch, commit: now.commit, ..copy }
        }
        _ => copy,
    }
}

/// What is not committed in the folder in which work was left, although its branch is checked out in another one by now.
fn uncommitted_in(
    host: &dyn Host,
    files: &mut UncommittedFiles,
    copy: WorkingCopy,
) -> Option<EarlierLocation> {
    let changed = files.of(host, &copy.root).filter(|changed| !changed.is_empty())?;
    let uncommitted = changed.iter().take(MAX_NAMED_FILES).cloned().collect();
    let copy = as_checked_out(host, copy);
    Some(EarlierLocation {
        copy,
        uncommitted,
        uncommitted_total: changed.len(),
        ..EarlierLocation::default()
    })
}

/// Notes where in the caller's repository the branch of the work is checked out, since git checks no branch out twice, and whether it
/// lacks the commit of the work there.
pub(super) fn note_checkout(host: &dyn Host, own_root: Option<&String>, found: &mut WorkLocation) {
    let root = if found.is_found() { Some(&found.copy.root) } else { own_root };
    let left = found.copy.branch.clone().zip(found.copy.commit.clone()).zip(root.cloned());
    if let Some(((branch, commit), root)) = left.filter(|_| found.names_switch())
        && is_branch_behind(host, &root, &branch, &commit)
    {
        found.is_behind_on(&branch, &commit);
    }
    let checked_out = found.copy.branch.clone().zip(own_root).and_then(|(branch, root)| {
        Some((host.checkout_of(root, &branch).filter(|folder| folder != root)?, branch))
    });
    if let Some((folder, branch)) = checked_out {
        found.is_checked_out_in(&folder, &branch);
    }
}

/// What to do to go on where the work lies.
fn way_there(cx: &Cx<'_>, bundle: &PickupOutput, found: &mut WorkLocation) -> Option<String> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let is_fetched = !found.is_this_machine && found.has_commit == Some(true);
    let has_branch = |branch: &str| has_branch(host, own_root?, (branch, is_fetched));
    found.advice = advice(found, caller.repository.as_ref(), bundle.changes.is_some(), has_branch);
    note_checkout(host, own_root, found);
    let is_moved = found.is_this_machine && found.is_there == Some(false) && !found.copy.is_worktree;
    if let Some(advice) = found.advice.as_mut().filter(|_| is_moved && bundle.changes.is_none()) {
        advice.push_str(
            "; what was not committed, if anything, is in the folder that is gone, wherever that was moved to",
        );
    }
    found.advice.take()
}

/// Whether the document of `baton init` is all that git names as not committed: it is no work, so that the list has it not.
fn has_new_document(host: &dyn Host, root: &str) -> bool {
    host.git(root).is_some_and(|state| state.new_document)
}

/// What a session left behind says of files that were not committed where it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirtyState {
    /// Whether there were any.
    pub is_dirty: bool,
    /// Whether all of them lay there when the session began, and held what they held then.
    pub is_unchanged: bool,
}

/// What a session left behind says of files that were not committed where it worked; nothing where it does not say. Of one that stands
/// for a session of another ledger the file says it: its packet may be that of a later session, which worked in another place.
pub(super) fn dirty_state(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    of: &Session,
) -> Result<Option<DirtyState>, Failure> {
    let of_file = cx.store.read(|tx| file_facts(tx, &of.project_id, &of.session_id))?;
    if let Some(is_dirty) = of_file.was_dirty {
        return Ok(Some(DirtyState { is_dirty, is_unchanged: false }));
    }
    let picked = bundle.baton.as_ref();
    let body = cx.store.read(|tx| {
        let Some(own) = baton::of_session(tx, &of.project_id, &of.session_id)? else { return Ok(None) };
        match picked.filter(|picked| picked.baton_id == own.baton_id) {
            Some(picked) => Ok(Some(picked.body.clone())),
            None => Ok(delta::get(tx, &of.project_id, &own.baton_id)?.map(|left| left.body)),
        }
    })?;
    let packet = body.and_then(|body| ValidatedPacket::parse(body).ok());
    let Some(git) = packet.as_ref().and_then(|packet| packet.view().git.as_ref()) else { return Ok(None) };
    let is_dirty = git.dirty.or(git.new_document.then_some(false));
    let is_unchanged = git.unchanged_since_begin;
    Ok(is_dirty.map(|is_dirty| DirtyState { is_dirty, is_unchanged }))
}

/// Whether the caller's repository has a commit; what is checked out there is known without a look.
fn has_commit(cx: &Cx<'_>, own_root: &str, commit: &str) -> Option<bool> {
    let own = cx.env.caller.repository.as_ref().and_then(|own| own.commit.as_deref());
    if own == Some(commit) { Some(true) } else { cx.env.host.has_commit(own_root, commit) }
}

/// A working copy of a session, as it is now.
pub(super) fn inspect(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    files: &mut UncommittedFiles,
    SessionCopy { session, repository_id, mut copy, was_dirty }: SessionCopy<'_>,
) -> Result<FoundCopy, Failure> {
    let caller = cx.env.caller;
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let is_this_machine = session.location.machine == caller.location.machine;
    let host = cx.env.host;
    let begun_in = WorkingCopy { host: None, ..copy.clone() };
    let left = LeftCopy { repository_id, at: session.heartbeat_at };
    let PlaceNow { is_there, owner, holds_other, moved_to, earlier, other_checkout } = match is_this_machine {
        true => look_up(cx, &bundle.project_id, &left, &mut copy)?,
        false => PlaceNow::default(),
    };
    if is_this_machine {
        copy.host = None;
    }
    let begun_in = WorkingCopy { root: moved_to.unwrap_or_else(|| begun_in.root.clone()), ..begun_in };
    let is_in_folder = is_this_machine && own_root == Some(&copy.root);
    let is_here = is_in_folder && !holds_other;
    // A clone in which only a setting names the project belongs to none: the caller stands in it.
    let is_own = owner.map_or(is_here, |owner| owner == bundle.project_id && !holds_other);
    let changed = if is_own { files.of(host, &copy.root) } else { None };
    let left_behind = earlier.as_ref().and_then(|_| uncommitted_in(host, files, begun_in));
    let has_commit =
        own_root.zip(copy.commit.as_deref()).and_then(|(root, commit)| has_commit(cx, root, commit));
    let uncommitted_total = changed.as_ref().map(Vec::len);
    let has_new_document = uncommitted_total == Some(0) && has_new_document(host, &copy.root);
    let changed = changed.unwrap_or_default();
    let uncommitted = changed.iter().take(MAX_NAMED_FILES).cloned().collect();
    let mut found = WorkLocation {
        machine: session.location.machine.clone(),
        is_this_machine,
        copy,
        is_here,
        is_there,
        holds_other,
        uncommitted,
        uncommitted_total,
        has_new_document,
        other_checkout,
        was_dirty,
        has_commit,
        advice: None,
        earlier: left_behind.into_iter().collect(),
    };
    found.advice = match is_in_folder && holds_other {
        true => Some(OTHER_REPOSITORY.to_owned()),
        false => way_there(cx, bundle, &mut found),
    };
    if let (Some(advice), Some(earlier)) = (&mut found.advice, earlier) {
        advice.push_str(&earlier);
    }
    Ok(FoundCopy { location: found, uncommitted: changed })
}

/// Whether a session left a baton with changes of its own: what was not committed counts as its work then.
pub(super) fn has_captured(tx: &mut Tx<'_>, of: &Session) -> Result<bool, Failure> {
    let Some(left) = baton::of_session(tx, &of.project_id, &of.session_id)? else { return Ok(false) };
    let Some(own) = changes::get(tx, &of.project_id, &left.baton_id)? else { return Ok(false) };
    let held = match &of.baton_id {
        Some(held) => changes::get(tx, &of.project_id, held)?,
        None => None,
    };
    Ok(held.is_none_or(|held| held.content_hash != own.content_hash))
}

/// Whether a session wrapped or saved a checkpoint.
pub(super) fn has_saved(tx: &mut Tx<'_>, of: &Session) -> Result<bool, Failure> {
    for kind in [Kind::Wrap, Kind::Checkpoint] {
        if delta::last_of_session(tx, &of.project_id, &of.session_id, kind)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
