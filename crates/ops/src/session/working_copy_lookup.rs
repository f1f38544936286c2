//! Where a working copy is now in which work was left: in its folder, or where it was moved to.

use std::ffi::OsStr;
use std::path::Path;

use baton_model::id::visible;
use baton_model::repository::{Repository, WorkingCopy};
use baton_model::time::Millis;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, project_root};

use super::work_location::OtherCheckout;
use crate::caller_project;
use crate::displaced::{is_displaced, is_root_of};
use crate::op::{Cx, Host, PathKind};

/// What is known of the folder in which work was left, on the caller's machine.
#[derive(Default)]
pub(super) struct PlaceNow {
    /// Whether the working copy is there still, or where it was moved to.
    pub is_there: Option<bool>,
    /// The project of the folder.
    pub owner: Option<String>,
    /// Whether the folder holds something else, and the working copy is found nowhere.
    pub holds_other: bool,
    /// Where a worktree lies by now that was moved.
    pub moved_to: Option<String>,
    /// What the folder of before has checked out by now, as the end of an advice, where the branch is found in another one.
    pub earlier: Option<String>,
    /// What the folder has checked out in place of what was left there.
    pub other_checkout: Option<OtherCheckout>,
}

/// Looks up the folder of a working copy. Where its branch, or the repository with its id, is found in another folder, the copy is said
/// to lie there.
pub(super) fn look_up(
    cx: &mut Cx<'_>,
    project_id: &str,
    left: &LeftCopy<'_>,
    copy: &mut WorkingCopy,
) -> Result<PlaceNow, Failure> {
    let moved_to = find_renamed(cx, project_id, left.at, copy)?;
    if let Some(moved) = &moved_to {
        copy.root.clone_from(moved);
    }
    Ok(PlaceNow { moved_to, ..look_up_in_place(cx, project_id, left.repository_id, copy)? })
}

/// What is known of a working copy besides what it had checked out.
pub(super) struct LeftCopy<'a> {
    /// The id of its repository.
    pub repository_id: Option<&'a str>,
    /// When its session was heard of last.
    pub at: Millis,
}

/// Where git has the worktree by now that lay in a folder which is gone. One that was made later under its name is another one.
fn find_renamed(
    cx: &mut Cx<'_>,
    project_id: &str,
    left_at: Millis,
    copy: &WorkingCopy,
) -> Result<Option<String>, Failure> {
    if !copy.is_worktree || has_folder(cx, project_id, &copy.root)? != Some(false) {
        return Ok(None);
    }
    let host = cx.env.host;
    let name = Path::new(&copy.root).file_name().and_then(OsStr::to_str);
    let mut places = cx.store.read(|tx| Ok(project_root::of_project(tx, project_id)?))?;
    places.retain(|place| place.machine == cx.env.caller.location.machine);
    let main = main_root(copy, &places).map(|main| main.path.as_str());
    let found = main.zip(name).and_then(|(main, name)| host.worktree_named(main, name));
    Ok(found.filter(|(_, since)| *since <= left_at).map(|(folder, _)| folder))
}

/// Whether the folder of a working copy is there; nothing where that cannot be seen. A client tells a server of the working copies of its
/// caller's repository alone: one that the ledger knows as such, and of which the client says nothing, is not there.
fn has_folder(cx: &mut Cx<'_>, project_id: &str, root: &str) -> Result<Option<bool>, Failure> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let known = host.has_folder(root);
    let is_unsaid = known.is_none() && host.client_answers() && caller.git_root.as_deref() != Some(root);
    let Some(own) = caller.repository.as_ref().filter(|_| is_unsaid) else { return Ok(known) };
    let place = cx.store.read(|tx| Ok(project_root::get(tx, &caller.location.machine, root)?))?;
    let is_of_callers = place.is_some_and(|place| {
        place.project_id == project_id && is_root_of(&place, own.id.as_deref(), Some(&own.common_dir))
    });
    Ok(is_of_callers.then_some(false))
}

fn look_up_in_place(
    cx: &mut Cx<'_>,
    project_id: &str,
    repository_id: Option<&str>,
    copy: &mut WorkingCopy,
) -> Result<PlaceNow, Failure> {
    let is_there = has_folder(cx, project_id, &copy.root)?;
    let (host, machine) = (cx.env.host, &cx.env.caller.location.machine);
    // No other folder is looked into than one of the project.
    let owner = match is_there {
        Some(true) => caller_project::of_folder(cx.store, &cx.env, copy.root.as_ref())?,
        _ => None,
    };
    let is_own = owner.as_deref() == Some(project_id);
    let known = cx.store.read(|tx| Ok(project_root::of_project(tx, project_id)?))?;
    let known = known.iter().find(|place| place.machine == *machine && place.path == copy.root);
    let holds_other = is_there == Some(true) && is_another(copy, host, is_own, known);
    let switched = if is_there == Some(true) && is_own { other_checkout(copy, host) } else { None };
    let now = PlaceNow { is_there, owner, holds_other, ..PlaceNow::default() };
    if is_there != Some(false) && !holds_other && switched.is_none() {
        return Ok(now);
    }
    let found = match copy.branch.as_deref().filter(|_| switched.is_some() && !holds_other) {
        // On a detached head there is no branch to look for.
        None if switched.is_some() && !holds_other => None,
        // Its own repository is there and knows, also that its main working copy has the branch.
        Some(branch) => host.checkout_of(&copy.root, branch),
        None => find_moved(cx, project_id, repository_id, copy)?,
    };
    let Some(moved) = found.filter(|moved| *moved != copy.root) else {
        let other_checkout = switched.filter(|_| !holds_other);
        return Ok(PlaceNow { is_there: Some(other_checkout.is_some()), other_checkout, ..now });
    };
    let earlier = switched.map(|checkout| {
        let checkout = match &checkout.branch {
            Some(branch) => format!("branch {}", visible(branch)),
            None => "no branch".to_owned(),
        };
        format!("; {}, in which the work was left, has {checkout} checked out now", visible(&copy.root))
    });
    copy.root = moved;
    copy.is_worktree = host.repository(&copy.root).map_or(copy.is_worktree, |(_, now)| now.is_worktree);
    let owner = caller_project::of_folder(cx.store, &cx.env, copy.root.as_ref())?;
    Ok(PlaceNow { is_there: Some(true), owner, earlier, ..PlaceNow::default() })
}

/// Whether a folder holds another repository than the one in which work was left, or none of its own. `is_own`: it belongs to the
/// project of that work. `known`: what the ledger noted of it then.
fn is_another(copy: &WorkingCopy, host: &dyn Host, is_own: bool, known: Option<&ProjectRoot>) -> bool {
    if copy.branch.is_none() && copy.commit.is_none() {
        return false;
    }
    match host.repository(&copy.root) {
        // A worktree does not become a main working copy, wherever its commits are had too.
        Some((root, now)) if root == copy.root && copy.is_worktree => {
            !now.is_worktree
                || known
                    .filter(|known| known.is_worktree)
                    .is_some_and(|known| !is_root_of(known, now.id.as_deref(), Some(&now.common_dir)))
        }
        Some((root, now)) if root == copy.root => copy.commit.as_deref().is_some_and(|commit| {
            // A session that works in the other repository makes the folder the project's, and the work no more there.
            let has_its_id =
                known.is_none_or(|known| known.repository_id.is_none() || known.repository_id == now.id);
            !(is_own && has_its_id)
                && now.commit.as_deref() != Some(commit)
                && host.has_commit(&copy.root, commit) == Some(false)
        }),
        // A folder of the project whose repository cannot be read counts as the same one, as long as it has its `.git`.
        None => !is_own || host.path_kind(&copy.root, ".git") == Some(PathKind::Nothing),
        Some(_) => true,
    }
}

/// What a folder has checked out by now in place of what was left there: another branch, or none.
fn other_checkout(copy: &WorkingCopy, host: &dyn Host) -> Option<OtherCheckout> {
    let (_, now) = host.repository(&copy.root).filter(|(root, _)| *root == copy.root)?;
    let is_same = match (&copy.branch, &now.branch) {
        (Some(left), Some(branch)) => left == branch,
        // Of a session that said neither nothing can be missed.
        (None, _) => copy.commit.is_none() || now.commit == copy.commit,
        (Some(_), None) => false,
    };
    if is_same {
        return None;
    }
    let has_work = copy.commit.as_deref().and_then(|commit| {
        if now.commit.as_deref() == Some(commit) {
            Some(true)
        } else {
            host.head_contains(&copy.root, commit)
        }
    });
    Some(OtherCheckout { branch: now.branch, commit: now.commit, has_work })
}

/// Where a working copy lies that was moved: where its repository was noted since, or where its branch is checked out in its repository.
fn find_moved(
    cx: &mut Cx<'_>,
    project_id: &str,
    repository_id: Option<&str>,
    copy: &WorkingCopy,
) -> Result<Option<String>, Failure> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let mut places = cx.store.read(|tx| Ok(project_root::of_project(tx, project_id)?))?;
    places.retain(|place| place.machine == caller.location.machine && !is_displaced(place));
    if let Some(main) = repository_id.and_then(|id| noted_root(host, id, &places)) {
        if !copy.is_worktree {
            return Ok(Some(main.path.clone()));
        }
        let found = copy.branch.as_deref().and_then(|branch| host.checkout_of(&main.path, branch));
        return Ok(found.filter(|found| *found != main.path));
    }
    let Some(branch) = copy.branch.as_deref() else { return Ok(None) };
    let own = caller.repository.as_ref().zip(caller.git_root.as_deref());
    let found = match own.filter(|(own, _)| may_be_of(own, copy, &places)) {
        Some((own, root)) if own.branch.as_deref() == Some(branch) => {
            Some((root.to_owned(), own.main.clone()))
        }
        Some((own, root)) => host.checkout_of(root, branch).map(|found| (found, own.main.clone())),
        None => main_root(copy, &places).and_then(|main| {
            host.checkout_of(&main.path, branch).map(|found| (found, Some(main.path.clone())))
        }),
    };
    // A main working copy does not become a linked one.
    let is_same_kind = |found: &(String, Option<String>)| {
        let is_main = found.1.as_deref() == Some(found.0.as_str());
        is_main != copy.is_worktree
    };
    Ok(found.filter(is_same_kind).map(|(found, _)| found))
}

/// The registered folder in which the repository with this id lies.
fn noted_root<'a>(host: &dyn Host, id: &str, places: &'a [ProjectRoot]) -> Option<&'a ProjectRoot> {
    let of_it =
        places.iter().filter(|place| !place.is_worktree && place.repository_id.as_deref() == Some(id));
    let mut found = of_it.filter(|place| {
        host.repository(&place.path)
            .is_some_and(|(root, now)| root == place.path && now.id.as_deref() == Some(id))
    });
    found.next()
}

/// Whether a working copy that is not in its folder may be one of this repository: the ledger says so, or knows no other repository
/// of the project on this machine.
fn may_be_of(own: &Repository, copy: &WorkingCopy, places: &[ProjectRoot]) -> bool {
    let known = places.iter().find(|place| place.path == copy.root && place.common_dir.is_some());
    match known {
        Some(known) => is_root_of(known, own.id.as_deref(), Some(&own.common_dir)),
        None => {
            let mut roots = places.iter().filter(|place| !place.is_worktree && place.common_dir.is_some());
            roots.all(|place| is_root_of(place, own.id.as_deref(), Some(&own.common_dir)))
        }
    }
}

/// The registered folder of the repository of a worktree.
fn main_root<'a>(copy: &WorkingCopy, places: &'a [ProjectRoot]) -> Option<&'a ProjectRoot> {
    let of = places.iter().find(|place| place.path == copy.root && place.is_worktree)?;
    let is_main = |place: &&ProjectRoot| {
        !place.is_worktree && is_root_of(place, of.repository_id.as_deref(), of.common_dir.as_deref())
    };
    places.iter().find(is_main)
}

/// Whether a repository has a branch that git can switch to: its own or, of work of another machine whose commit was fetched, one of its
/// remote. On this machine that may be older than the work. A commit that is checked out without a branch has the next ones on none.
pub(super) fn has_branch(host: &dyn Host, root: &str, (branch, is_fetched): (&str, bool)) -> Option<bool> {
    let own = host.has_commit(root, &format!("refs/heads/{branch}"));
    if own != Some(false) || !is_fetched {
        return own;
    }
    host.has_commit(root, &format!("refs/remotes/origin/{branch}"))
}

/// Whether the branch to which git switches by this name lacks a commit that the repository has: it is older, or another one.
pub(super) fn is_branch_behind(host: &dyn Host, root: &str, branch: &str, commit: &str) -> bool {
    let names = [format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}")];
    let tip = names.iter().find(|name| host.has_commit(root, name) == Some(true));
    tip.is_some_and(|tip| host.commit_contains(root, tip, commit) == Some(false))
}
