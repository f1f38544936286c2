//! Where a session of a coding agent can go on: its folder as git and the ledger know it by now. A worktree that was moved is found, and
//! another repository in its place is not taken for it.

use std::path::Path;

use baton_model::id::visible;
use baton_model::repository::WorkingCopy;
use baton_model::time::Millis;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, project_root, session};
use serde::{Deserialize, Serialize};

use super::work_advice::advice;
use super::work_inspection::note_checkout;
use super::work_location::WorkLocation;
use super::working_copy_lookup::{LeftCopy, has_branch, look_up};
use crate::caller_project;
use crate::displaced::is_displaced;
use crate::op::{Cx, Host};

/// How many of the newest sessions of a project tell what was checked out in a folder.
const MAX_SCANNED_SESSIONS: i64 = 50;

/// The folder of a session as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFolder {
    /// Where it lies now; none where it is gone or holds something else.
    pub folder: Option<String>,
    /// Whether another repository, or none, lies in the folder of before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_other: bool,
    /// What is left of it, and how to get at that; nothing where it lies somewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// What a transcript says of where its session worked.
pub(crate) struct RecordedFolder<'a> {
    /// The folder, an absolute path.
    pub cwd: &'a str,
    /// The branch.
    pub branch: Option<&'a str>,
    /// When it was written to last.
    pub at: Millis,
}

/// Looks up the folder of a session of this machine.
pub(crate) fn session_folder(cx: &mut Cx<'_>, of: &RecordedFolder<'_>) -> Result<SessionFolder, Failure> {
    let machine = cx.env.caller.location.machine.clone();
    let known = cx.store.read(|tx| {
        let Some(place) = place_of(tx, &machine, of.cwd)? else { return Ok(None) };
        let copy = left_copy(tx, &place, of.branch)?;
        Ok(Some((place, copy)))
    })?;
    let host = cx.env.host;
    let Some((place, left)) = known else {
        let main = cx.env.caller.git_root.as_deref();
        let folder = existing(host, of.cwd).or_else(|| renamed(host, main?, of));
        let advice = of
            .branch
            .filter(|_| folder.is_none())
            .map(|branch| format!("its branch was {}", visible(branch)));
        return Ok(SessionFolder { folder, advice, ..SessionFolder::default() });
    };
    let mut copy = left.clone();
    let lookup = LeftCopy { repository_id: place.repository_id.as_deref(), at: of.at };
    let now = look_up(cx, &place.project_id, &lookup, &mut copy)?;
    // What is checked out in it is the session's own affair: `earlier` says that the folder is the same.
    let is_moved = copy.root != place.path && now.earlier.is_none();
    let is_same = !is_moved && !now.holds_other && (now.is_there != Some(false) || now.earlier.is_some());
    let folder = match (is_moved, is_same) {
        (true, _) => Some(within(host, &copy.root, &place.path, of.cwd)),
        (_, true) => existing(host, of.cwd).or_else(|| renamed(host, &place.path, of)),
        _ => None,
    };
    if folder.is_some() {
        return Ok(SessionFolder { folder, ..SessionFolder::default() });
    }
    let left = match is_same {
        true => match inner_worktree(host, &place.path, of) {
            Some(inner) => inner,
            None => return Ok(SessionFolder::default()),
        },
        false => left,
    };
    let advice = what_is_left(cx, &place, left, now.holds_other)?;
    Ok(SessionFolder { folder: None, holds_other: now.holds_other, advice })
}

/// The registered folder, or the worktree in which an agent worked, around a folder.
fn place_of(tx: &mut Tx<'_>, machine: &str, cwd: &str) -> Result<Option<ProjectRoot>, Failure> {
    for folder in Path::new(cwd).ancestors().filter_map(Path::to_str) {
        if let Some(place) = project_root::get(tx, machine, folder)?.filter(|place| !is_displaced(place)) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// What was checked out in a place when an agent worked there last, else on the branch that the transcript names.
fn left_copy(tx: &mut Tx<'_>, place: &ProjectRoot, branch: Option<&str>) -> Result<WorkingCopy, Failure> {
    let newest = session::newest(tx, &place.project_id, MAX_SCANNED_SESSIONS)?;
    let of_machine = newest.into_iter().filter(|one| one.location.machine == place.machine);
    let mut copies = of_machine.filter_map(|one| one.working_copy).filter(|copy| copy.root == place.path);
    Ok(copies.next().unwrap_or_else(|| WorkingCopy {
        root: place.path.clone(),
        branch: branch.map(str::to_owned),
        commit: None,
        is_worktree: place.is_worktree,
        host: None,
    }))
}

fn existing(host: &dyn Host, folder: &str) -> Option<String> {
    (host.has_folder(folder) == Some(true)).then(|| folder.to_owned())
}

/// The folder below a working copy that was moved, else its top folder.
fn within(host: &dyn Host, moved: &str, before: &str, cwd: &str) -> String {
    let below = Path::new(cwd).strip_prefix(before).unwrap_or(Path::new(""));
    let folder = Path::new(moved).join(below).display().to_string();
    existing(host, folder.trim_end_matches('/')).unwrap_or_else(|| moved.to_owned())
}

/// Where git has a worktree of this repository by now in which no agent was known to work.
fn renamed(host: &dyn Host, main: &str, of: &RecordedFolder<'_>) -> Option<String> {
    let folders = Path::new(of.cwd).ancestors().filter_map(Path::to_str);
    let mut gone = folders.take_while(|folder| host.has_folder(folder) == Some(false));
    gone.find_map(|folder| {
        let name = Path::new(folder).file_name()?.to_str()?;
        let (moved, _) = host.worktree_named(main, name).filter(|(_, since)| *since <= of.at)?;
        Some(within(host, &moved, folder, of.cwd))
    })
}

/// The worktree inside a working copy that a folder was which is gone, unless it was a plain folder on the branch of that one.
fn inner_worktree(host: &dyn Host, around: &str, of: &RecordedFolder<'_>) -> Option<WorkingCopy> {
    let branch = of.branch?;
    let (_, now) = host.repository(around)?;
    let copy = WorkingCopy {
        root: of.cwd.to_owned(),
        branch: Some(branch.to_owned()),
        commit: None,
        is_worktree: true,
        host: None,
    };
    (now.branch.as_deref() != Some(branch)).then_some(copy)
}

/// What is left of a working copy that is not in its folder.
fn what_is_left(
    cx: &mut Cx<'_>,
    place: &ProjectRoot,
    copy: WorkingCopy,
    holds_other: bool,
) -> Result<Option<String>, Failure> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let own = match own_root {
        Some(root) => caller_project::of_folder(cx.store, &cx.env, root.as_ref())?,
        None => None,
    };
    let Some(own_root) = own_root.filter(|_| own.as_deref() == Some(place.project_id.as_str())) else {
        let branch = copy.branch.as_deref().map(|branch| format!(", whose branch was {},", visible(branch)));
        let project = visible(&place.project_id);
        return Ok(Some(format!(
            "what is left of it{} is said in a working copy of project {project}",
            branch.unwrap_or_default()
        )));
    };
    let has_commit = copy.commit.as_deref().and_then(|commit| host.has_commit(own_root, commit));
    let mut work = WorkLocation {
        machine: place.machine.clone(),
        copy,
        is_this_machine: true,
        is_here: false,
        is_there: Some(false),
        holds_other,
        uncommitted: Vec::new(),
        uncommitted_total: None,
        has_new_document: false,
        other_checkout: None,
        was_dirty: false,
        has_commit,
        advice: None,
        earlier: Vec::new(),
    };
    let has_branch = |branch: &str| has_branch(host, own_root, (branch, false));
    work.advice = advice(&work, caller.repository.as_ref(), false, has_branch);
    note_checkout(host, Some(own_root), &mut work);
    Ok(work.advice)
}
