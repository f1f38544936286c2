//! In which working copy a session works, and that its project knows this place.

use baton_model::project::{Project, guess_vcs, without_credentials};
use baton_model::repository::{MadeCommit, WorkingCopy, is_commit_id, is_host_name};
use baton_model::session::{ReleaseReason, Session};
use baton_model::time::Millis;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, project, project_root, session, session_commit, session_open};

use crate::displaced::{is_taken, put_root};
use crate::locate::{CallerLocation, root_of};
use crate::op::Env;
use crate::ownership::is_at_work;

/// The most commits of a session that are noted at once.
const MAX_COMMITS: usize = 200;

/// The working copy that the caller stands in.
pub(crate) fn of_caller(env: &Env<'_>) -> Option<WorkingCopy> {
    let caller = env.caller;
    let root = caller.git_root.as_ref().or(caller.folders.first())?.clone();
    let repository = caller.repository.as_ref();
    Some(WorkingCopy {
        root,
        branch: repository.and_then(|repository| repository.branch.clone()),
        commit: repository.and_then(|repository| repository.commit.clone()),
        is_worktree: repository.is_some_and(|repository| repository.is_worktree),
        host: repository.and_then(|repository| repository.host.clone()).filter(|host| is_host_name(host)),
    })
}

/// Writes the session that a pickup opens or goes on in, and the place that it works in.
pub(super) fn save(tx: &mut Tx<'_>, env: &Env<'_>, own: &mut Session, is_new: bool) -> Result<(), Failure> {
    if is_new {
        session::insert(tx, own)?;
    } else {
        session::put(tx, own)?;
        refresh(tx, env, own)?;
    }
    note_root(tx, env, &own.project_id)
}

/// Writes where a session works now, if that has changed since it last said so.
pub(crate) fn refresh(tx: &mut Tx<'_>, env: &Env<'_>, own: &mut Session) -> Result<(), Failure> {
    let now = of_caller(env);
    if now.is_none() || now == own.working_copy || env.caller.location.machine != own.location.machine {
        return Ok(());
    }
    if let (Some(before), Some(now)) = (&own.working_copy, &now)
        && is_no_place(tx, env, &own.project_id, (before, now))?
    {
        return Ok(());
    }
    let before = std::mem::replace(&mut own.working_copy, now);
    session::set_copy(tx, own)?;
    let (head, root) = (before.as_ref().and_then(|copy| copy.commit.clone()), env.caller.git_root.as_deref());
    // What was made in the working copy that it leaves is read now: no later command asks there.
    if let Some(before) = before.as_ref().filter(|before| Some(before.root.as_str()) != root) {
        note_commits(tx, env, own, (&before.root, head.clone()))?;
    }
    if let Some(root) = root {
        note_commits(tx, env, own, (root, head))?;
    }
    note_root(tx, env, &own.project_id)
}

/// Whether a command of a session was only given from somewhere else: outside of any working copy while the session works in one, or in
/// one of another project. The work stays where it was.
fn is_no_place(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    (before, now): (&WorkingCopy, &WorkingCopy),
) -> Result<bool, Failure> {
    if before.root == now.root {
        return Ok(false);
    }
    let here = CallerLocation::of(env.caller);
    let was_in_git = before.branch.is_some() || before.commit.is_some();
    let Some(repository) = here.repository else { return Ok(was_in_git && here.git_root.is_none()) };
    let id = repository.id.as_deref();
    let mut known = project_root::of_repository(tx, here.machine, &repository.common_dir, id)?;
    known.extend(project_root::get(tx, here.machine, &now.root)?);
    known.retain(|place| place.machine == here.machine);
    Ok(!known.is_empty() && known.iter().all(|place| place.project_id != project_id))
}

/// Notes the commits that were made in a working copy since the session began, and since `head` was checked out there.
fn note_commits(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &Session,
    (root, head): (&str, Option<String>),
) -> Result<(), Failure> {
    let made = env.host.commits_made(root, own.started_at, head.as_deref()).unwrap_or_default();
    let made: Vec<MadeCommit> =
        made.into_iter().filter(|commit| is_commit_id(&commit.id)).take(MAX_COMMITS).collect();
    let Some(first) = made.iter().map(|commit| commit.at).min() else { return Ok(()) };
    for commit in &made {
        session_commit::put(tx, &own.project_id, &own.session_id, commit)?;
    }
    // Who shares the working copy may have made them as well, and perhaps never says so.
    let place = (own.location.machine.as_str(), root);
    for other in session_open::in_copy(tx, &own.project_id, place, first)? {
        if other.session_id == own.session_id {
            continue;
        }
        for commit in may_have_made(env, &other, &made) {
            session_commit::put(tx, &own.project_id, &other.session_id, commit)?;
        }
    }
    Ok(())
}

/// Which commits of its working copy, oldest first, another session may have made: after it began and after the commit that it knew
/// there, and before it ended.
fn may_have_made<'a>(env: &Env<'_>, other: &Session, made: &'a [MadeCommit]) -> Vec<&'a MadeCommit> {
    let last = match &other.release {
        None if is_at_work(env, other) => Millis::MAX,
        None => other.heartbeat_at,
        // It noted its own when it ended.
        Some(_) if !other.is_preempted() => return Vec::new(),
        Some(release) if release.reason == ReleaseReason::Stale => other.heartbeat_at,
        Some(release) => release.at,
    };
    let head = other.working_copy.as_ref().and_then(|copy| copy.commit.as_ref());
    let known = made.iter().rposition(|commit| Some(&commit.id) == head).map_or(0, |at| at + 1);
    let first = other.started_at - other.started_at.rem_euclid(1_000);
    made[known..].iter().filter(|commit| commit.at >= first && commit.at <= last).collect()
}

/// Notes the caller's worktree as a place of its project, so that it is known when it is gone, and the repository of a folder that
/// was registered before places had one. A folder of another project is not touched.
pub(crate) fn note_root(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<(), Failure> {
    let here = CallerLocation::of(env.caller);
    let (Some(repository), Some(root)) = (here.repository, here.git_root) else { return Ok(()) };
    let known = project_root::get(tx, here.machine, root)?.filter(|known| !is_taken(known, root, repository));
    if known.as_ref().is_some_and(|known| known.project_id == project_id) {
        note_remote(tx, env, (project_id, repository.remote.as_deref()))?;
    }
    let main = root_of(&here, project_id);
    if let Some(main) = main.filter(|_| !repository.is_worktree || repository.main.is_some())
        && let Some(old) = project_root::get(tx, here.machine, &main.path)?
        && old.project_id == project_id
        && old.common_dir.is_none()
    {
        project_root::put(tx, &main, env.now)?;
    }
    if !repository.is_worktree
        || known.is_some_and(|known| known.project_id != project_id || !known.is_worktree)
    {
        return Ok(());
    }
    let of_it =
        project_root::of_repository(tx, here.machine, &repository.common_dir, repository.id.as_deref())?;
    if of_it.iter().any(|place| place.project_id == project_id && place.machine == here.machine) {
        let worktree = ProjectRoot {
            project_id: project_id.to_owned(),
            machine: here.machine.to_owned(),
            path: root.to_owned(),
            repository_id: repository.id.clone(),
            common_dir: Some(repository.common_dir.clone()),
            is_worktree: true,
        };
        put_root(tx, &worktree, env.now)?;
    }
    Ok(())
}

/// Notes the remote of a repository that had none when it was registered, so that its clones are asked about. Where a project's code
/// is pushed to, only an operator says: the user of this machine, or a token that may register projects.
fn note_remote(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, remote): (&str, Option<&str>),
) -> Result<(), Failure> {
    let Some(remote) = remote.filter(|_| env.caller.grant.is_operator()) else { return Ok(()) };
    let Some(known) = project::get(tx, project_id)?.filter(|known| known.vcs_remote_url.is_none()) else {
        return Ok(());
    };
    let guess = |remote| Some(guess_vcs(remote, env.host.github_enterprise()).to_owned());
    let is_guessed = known.vcs_provider.is_none() || known.vcs_provider == guess(None);
    let provider = if is_guessed { guess(Some(remote)) } else { known.vcs_provider.clone() };
    let vcs_remote_url = Some(without_credentials(remote));
    Ok(project::put(tx, &Project { vcs_provider: provider, vcs_remote_url, updated_at: env.now, ..known })?)
}
