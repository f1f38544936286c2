//! Finds where picked-up work lies. That is where the latest session on the way of the baton left something: files that are not
//! committed, or commits of its own. A session that only looked hides nothing.

use baton_model::delta::Kind;
use baton_model::repository::{CommitsPlace, SessionCommitsQuery, WorkingCopy};
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, changes, delta, session_commit};

use super::bundle_view::PickupOutput;
use super::prior_changes::{self, Beginning, UncommittedFiles, beginnings, is_prior};
use super::work_location::{EarlierLocation, OTHER_REPOSITORY, WorkLocation, advice};
use super::working_copy_lookup::{LeftCopy, PlaceNow, has_branch, look_up};
use crate::op::{Cx, Host};

/// Most uncommitted files that are named.
const MAX_NAMED_FILES: usize = 20;
/// Most commits of a session that are looked for.
const NEWEST_COMMITS: i64 = 5;
/// Most commits of others since it began that are told from its own.
const OTHERS_COMMITS: i64 = 500;
/// Most sessions on the way of a baton that are looked at.
pub(super) const SESSIONS: usize = 8;

/// A session on the way of a baton, and what the ledger says that it did.
struct CandidateSession {
    session: Session,
    /// Commits were made in its working copy while it was open.
    has_commits: bool,
    /// The newest of them, as far as they were noted, the oldest first.
    commits: Vec<String>,
    /// Commits that were made since it began and may be another session's.
    foreign: Vec<String>,
    /// Where it began and picked up.
    beginnings: Vec<Beginning>,
    /// Whether it went on with the work of another one, and took nothing along that was not committed. What lay where the first of all
    /// began is its work, too.
    is_successor: bool,
}

impl CandidateSession {
    /// The working copy in which it began, where it ended in another one.
    fn begun_in(&self) -> Option<WorkingCopy> {
        let last = self.session.working_copy.as_ref()?;
        let first = self.beginnings.first().map(|begun| begun.copy.clone());
        first.filter(|copy| copy.root != last.root)
    }

    /// Where its commits are, as the repository of the working copy says in which it ended.
    fn commits_place(&self, host: &dyn Host, last: &WorkLocation) -> Option<CommitsPlace> {
        let begun = self.begun_in();
        if !last.is_found() || last.holds_other || (begun.is_none() && !self.has_commits) {
            return None;
        }
        host.commits_place(&SessionCommitsQuery {
            folder: last.copy.root.clone(),
            branch: begun.and_then(|copy| copy.branch),
            commits: self.commits.iter().filter(|own| !self.foreign.contains(own)).cloned().collect(),
            foreign: self.foreign.clone(),
            since: self.session.started_at,
            until: self.session.release.as_ref().map_or(self.session.heartbeat_at, |release| release.at),
        })
    }

    /// The working copy of the branch on which its commits are, where it ended in another one that does not have them.
    fn committed_in(
        &self,
        host: &dyn Host,
        last: &WorkLocation,
        place: Option<&CommitsPlace>,
    ) -> Option<WorkingCopy> {
        let Some(CommitsPlace::Branch { name, commit }) = place else { return None };
        if last.copy.branch.as_ref() == Some(name) {
            return None;
        }
        let copy = match host.checkout_of(&last.copy.root, name) {
            Some(root) => WorkingCopy { root, is_worktree: true, ..last.copy.clone() },
            // Where a worktree is gone, its branch is left.
            None => self.begun_in().filter(|begun| begun.branch.as_ref() == Some(name))?,
        };
        Some(WorkingCopy { branch: Some(name.clone()), commit: Some(commit.clone()), ..copy })
    }

    /// The id of the repository in which it began, where that was in this folder.
    fn repository_of(&self, root: &str) -> Option<&str> {
        let begun = self.beginnings.iter().find(|begun| begun.copy.root == root);
        begun.and_then(|begun| begun.repository_id.as_deref())
    }

    /// Whether it went on with another one's work and has the same checked out as when it began.
    fn has_only_looked(&self) -> bool {
        let last = self.session.working_copy.as_ref();
        self.is_successor && self.beginnings.first().is_some_and(|begun| Some(&begun.copy) == last)
    }

    /// Whether it left something that is not committed in a folder. `root`: the folder as the session named it.
    fn has_left(&self, host: &dyn Host, root: &str, found: &FoundCopy) -> bool {
        let now = &found.location.copy.root;
        found.location.has_uncommitted()
            && !(self.is_successor && is_prior(host, &self.beginnings, (root, now), &found.uncommitted))
    }
}

/// A working copy of a session as it is now.
struct FoundCopy {
    location: WorkLocation,
    /// All that is not committed there.
    uncommitted: Vec<String>,
}

/// Where the work of a bundle lies, as far as the sessions on its way said so.
pub(super) fn of_bundle(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    files: &mut UncommittedFiles,
) -> Result<Option<WorkLocation>, Failure> {
    let candidates = cx.store.read(|tx| candidates(tx, &bundle.lineage))?;
    let mut seen: Vec<WorkLocation> = Vec::new();
    let mut left = LeftPlaces::default();
    let mut is_before_commits = false;
    for of in candidates {
        let Some(copy) = of.session.working_copy.clone() else { continue };
        let root = copy.root.clone();
        let found = inspect(cx, bundle, files, (&of, copy))?;
        if is_before_commits {
            // What lies in another folder is in none of the later commits.
            if of.has_left(cx.env.host, &root, &found)
                && !seen.iter().any(|other| is_same(other, &found.location))
            {
                left.note(position(&mut seen, found.location), true, false);
            }
            continue;
        }
        // What was left in a folder that cannot be looked at is not known, unless its session saved nothing at all.
        let may_hold_work = !found.location.is_found() && cx.store.read(|tx| has_saved(tx, &of.session))?;
        let has_left = of.has_left(cx.env.host, &root, &found);
        let commits = of.commits_place(cx.env.host, &found.location);
        let has_commits = of.has_commits || commits.is_some();
        let committed_in = of.committed_in(cx.env.host, &found.location, commits.as_ref());
        let are_elsewhere = committed_in.is_some();
        if let Some(copy) = committed_in {
            let found = inspect(cx, bundle, files, (&of, copy))?;
            left.note(position(&mut seen, found.location), !found.uncommitted.is_empty(), true);
        }
        let at = position(&mut seen, found.location);
        left.note(at, has_left, (has_commits && !are_elsewhere) || may_hold_work);
        left.note_visit(at, of.has_only_looked());
        // Who worked in one folder and wrapped in another left there what is not committed.
        if let Some(copy) = of.begun_in() {
            let root = copy.root.clone();
            let found = inspect(cx, bundle, files, (&of, copy))?;
            if of.has_left(cx.env.host, &root, &found)
                && !seen.iter().any(|other| is_same(other, &found.location))
            {
                left.note(position(&mut seen, found.location), true, false);
            }
        }
        // What lies further back in the same folder was there before these commits.
        is_before_commits = has_commits;
    }
    let Some(mut found) = seen.get(left.first()).cloned() else { return Ok(None) };
    let host = cx.env.host;
    for earlier in
        left.uncommitted_elsewhere().filter_map(|at| seen.get(at)).map(|at| earlier_location(host, at))
    {
        if !found.earlier.iter().any(|known| known.copy.root == earlier.copy.root) {
            found.earlier.push(earlier);
        }
    }
    Ok(Some(found))
}

/// The places at which sessions left something, the latest first, by their position.
#[derive(Default)]
struct LeftPlaces {
    found: Vec<(usize, bool)>,
    /// The place of the latest session that did more than look; of none, that of the first one.
    visited: Option<(usize, bool)>,
}

impl LeftPlaces {
    fn note(&mut self, at: usize, is_uncommitted: bool, is_work: bool) {
        match self.found.iter_mut().find(|(other, _)| *other == at) {
            Some((_, known)) => *known |= is_uncommitted,
            None if is_uncommitted || is_work => self.found.push((at, is_uncommitted)),
            None => {}
        }
    }

    fn note_visit(&mut self, at: usize, has_only_looked: bool) {
        if self.visited.is_none_or(|(_, is_look)| is_look) {
            self.visited = Some((at, has_only_looked));
        }
    }

    /// Where the work lies.
    fn first(&self) -> usize {
        self.found.first().or(self.visited.as_ref()).map_or(0, |(at, _)| *at)
    }

    /// The others in which something is not committed.
    fn uncommitted_elsewhere(&self) -> impl Iterator<Item = usize> {
        self.found.iter().skip(1).filter(|(_, is_uncommitted)| *is_uncommitted).map(|(at, _)| *at)
    }
}

/// The position of a place among those that were seen, to which it is added.
fn position(seen: &mut Vec<WorkLocation>, location: WorkLocation) -> usize {
    seen.iter().position(|other| is_same(other, &location)).unwrap_or_else(|| {
        seen.push(location);
        seen.len() - 1
    })
}

/// Whether two places are one. Another repository may lie in a folder by now, in which a later session worked.
fn is_same(one: &WorkLocation, other: &WorkLocation) -> bool {
    let key = |place: &WorkLocation| (place.machine.clone(), place.copy.root.clone(), place.holds_other);
    key(one) == key(other)
}

/// A working copy with the branch and the commit that are checked out there now: its session may have had others.
fn as_checked_out(host: &dyn Host, copy: WorkingCopy) -> WorkingCopy {
    match host.repository(&copy.root) {
        Some((root, now)) if root == copy.root => {
            WorkingCopy { branch: now.branch, commit: now.commit, ..copy }
        }
        _ => copy,
    }
}

fn earlier_location(host: &dyn Host, location: &WorkLocation) -> EarlierLocation {
    EarlierLocation {
        copy: as_checked_out(host, location.copy.clone()),
        uncommitted: location.uncommitted.clone(),
        uncommitted_total: location.uncommitted_total.unwrap_or_default(),
    }
}

/// The sessions that work came through, with what the ledger says of each.
fn candidates(tx: &mut Tx<'_>, lineage: &[Session]) -> Result<Vec<CandidateSession>, Failure> {
    let looked_at = &lineage[..lineage.len().min(SESSIONS)];
    // Without a working copy there is nothing to look at.
    let has_copy = |session: &&Session| session.working_copy.is_some();
    tx.prefetch(|tx| {
        for session in looked_at.iter().filter(has_copy) {
            drop(session_commit::newest_of(tx, &session.project_id, &session.session_id, NEWEST_COMMITS));
            drop(baton::of_session(tx, &session.project_id, &session.session_id));
            prior_changes::prefetch(tx, session);
        }
    });
    let mut candidates = Vec::new();
    for (depth, session) in looked_at.iter().enumerate().filter(|(_, session)| has_copy(session)) {
        let commits =
            session_commit::newest_of(tx, &session.project_id, &session.session_id, NEWEST_COMMITS)?;
        let since = (session.started_at - 1_000, OTHERS_COMMITS);
        let foreign = session_commit::of_others(tx, &session.project_id, &session.session_id, since)?;
        candidates.push(CandidateSession {
            session: session.clone(),
            foreign,
            has_commits: !commits.is_empty(),
            commits,
            beginnings: beginnings(tx, session)?,
            is_successor: depth + 1 < lineage.len() && !has_captured(tx, session)?,
        });
    }
    Ok(candidates)
}

/// Whether a session left a baton with changes of its own: what was not committed counts as its work then.
fn has_captured(tx: &mut Tx<'_>, of: &Session) -> Result<bool, Failure> {
    let Some(left) = baton::of_session(tx, &of.project_id, &of.session_id)? else { return Ok(false) };
    let Some(own) = changes::get(tx, &of.project_id, &left.baton_id)? else { return Ok(false) };
    let held = match &of.baton_id {
        Some(held) => changes::get(tx, &of.project_id, held)?,
        None => None,
    };
    Ok(held.is_none_or(|held| held.content_hash != own.content_hash))
}

/// Whether a session wrapped or saved a checkpoint.
fn has_saved(tx: &mut Tx<'_>, of: &Session) -> Result<bool, Failure> {
    for kind in [Kind::Wrap, Kind::Checkpoint] {
        if delta::last_of_session(tx, &of.project_id, &of.session_id, kind)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
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
    Some(EarlierLocation { copy, uncommitted, uncommitted_total: changed.len() })
}

/// Notes where in the caller's repository the branch of the work is checked out: git checks no branch out twice.
pub(super) fn note_checkout(host: &dyn Host, own_root: Option<&String>, found: &mut WorkLocation) {
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
    let has_branch = |branch: &str| has_branch(host, own_root?, (branch, found.has_commit));
    found.advice = advice(found, caller.repository.as_ref(), bundle.changes.is_some(), has_branch);
    note_checkout(host, own_root, found);
    let is_moved = found.is_this_machine && found.is_there == Some(false) && !found.copy.is_worktree;
    if let Some(advice) = found.advice.as_mut().filter(|_| is_moved && bundle.changes.is_none()) {
        advice.push_str("; what was not committed, if anything, is in the folder that is gone, wherever that was moved to");
    }
    found.advice.take()
}

/// Whether the document of `baton init` is all that git names as not committed: it is no work, so that the list has it not.
fn has_new_document(host: &dyn Host, root: &str) -> bool {
    host.git(root).is_some_and(|state| state.dirty.is_none())
}

/// A working copy of a session, as it is now.
fn inspect(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    files: &mut UncommittedFiles,
    (of, mut copy): (&CandidateSession, WorkingCopy),
) -> Result<FoundCopy, Failure> {
    let caller = cx.env.caller;
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let is_this_machine = of.session.location.machine == caller.location.machine;
    let host = cx.env.host;
    let begun_in = WorkingCopy { host: None, ..copy.clone() };
    let left = LeftCopy { repository_id: of.repository_of(&copy.root), at: of.session.heartbeat_at };
    let PlaceNow { is_there, owner, holds_other, moved_to, earlier } = match is_this_machine {
        true => look_up(cx, &bundle.project_id, &left, &mut copy)?,
        false => PlaceNow::default(),
    };
    if is_this_machine {
        copy.host = None;
    }
    let begun_in = WorkingCopy { root: moved_to.unwrap_or_else(|| begun_in.root.clone()), ..begun_in };
    let is_in_folder = is_this_machine && own_root == Some(&copy.root);
    let is_here = is_in_folder && !holds_other;
    let changed = match owner {
        Some(owner) if owner == bundle.project_id && !holds_other => files.of(host, &copy.root),
        // A clone in which only a setting names the project: the caller stands in it.
        None if is_here => files.of(host, &copy.root),
        _ => None,
    };
    let left_behind = earlier.as_ref().and_then(|_| uncommitted_in(host, files, begun_in));
    let has_commit = own_root.zip(copy.commit.as_deref()).and_then(|(root, commit)| {
        let own = caller.repository.as_ref().and_then(|own| own.commit.as_deref());
        if own == Some(commit) { Some(true) } else { host.has_commit(root, commit) }
    });
    let uncommitted_total = changed.as_ref().map(Vec::len);
    let has_new_document = uncommitted_total == Some(0) && has_new_document(host, &copy.root);
    let changed = changed.unwrap_or_default();
    let uncommitted = changed.iter().take(MAX_NAMED_FILES).cloned().collect();
    let mut found = WorkLocation {
        machine: of.session.location.machine.clone(),
        is_this_machine,
        copy,
        is_here,
        is_there,
        holds_other,
        uncommitted,
        uncommitted_total,
        has_new_document,
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
