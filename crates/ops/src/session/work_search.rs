//! Finds where picked-up work lies. That is where the latest session on the way of the baton left something: files that are not
//! committed, or commits of its own. A session that only looked hides nothing.

use baton_model::baton_file::EarlierPlace;
use baton_model::repository::{CommitsPlace, SessionCommitsQuery, WorkingCopy};
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, session_commit};

use super::bundle_view::PickupOutput;
use super::file_facts::file_facts;
use super::prior_changes::{self, Beginning, UncommittedFiles, beginnings, is_prior};
use super::work_behind::{LeftBehind, LineCommits, earlier_location, name_behind};
use super::work_inspection::{
    DirtyState, FoundCopy, SessionCopy, dirty_state, has_captured, has_saved, inspect,
};
use super::work_location::WorkLocation;
use crate::op::{Cx, Host};

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
    /// On another machine: what it says of files that were not committed, if anything. A folder of this machine says so itself.
    dirty_state: Option<DirtyState>,
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

    /// `all`: the sessions on the way of the baton, the newest first.
    fn copy_of(&self, copy: WorkingCopy, all: &[Self]) -> SessionCopy<'_> {
        let repository_id = self.repository_of(&copy.root);
        let was_dirty = dirty_word(all, &self.session, &copy.root) == Some(true);
        SessionCopy { session: &self.session, repository_id, copy, was_dirty }
    }

    /// Whether it went on with another one's work and has the same checked out as when it began.
    fn has_only_looked(&self) -> bool {
        let last = self.session.working_copy.as_ref();
        self.is_successor && self.beginnings.first().is_some_and(|begun| Some(&begun.copy) == last)
    }

    /// On another machine, of one that has the same checked out as at its beginning: whether its packet says that it left nothing of its
    /// own, or it has none and another one says that something was left elsewhere.
    fn is_no_work(&self, all: &[Self]) -> bool {
        let is_left = |of: &Self| {
            let root = of.session.working_copy.as_ref().map(|copy| copy.root.as_str());
            of.has_left_own() == Some(true)
                && root.is_some_and(|root| dirty_word(all, &of.session, root) == Some(true))
        };
        self.has_left_own().map_or_else(|| all.iter().any(is_left), |has_left| !has_left)
    }

    /// Whether it says that it left something uncommitted that did not lie there before it began; nothing where it does not say.
    fn has_left_own(&self) -> Option<bool> {
        self.dirty_state.map(|state| state.is_dirty && !(state.is_unchanged && self.is_successor))
    }

    /// What it left in a place behind later work. Of another machine its packet is all that is known; what a baton has of that is left
    /// nowhere alone. A session that stands for one of another ledger noted no commits.
    fn left_behind(
        &self,
        cx: &mut Cx<'_>,
        location: &WorkLocation,
        has_commits: bool,
    ) -> Result<LeftBehind, Failure> {
        let is_elsewhere = !location.is_this_machine;
        let was_dirty = is_elsewhere && location.was_dirty && self.has_left_own() == Some(true);
        let is_dirty = was_dirty && !cx.store.read(|tx| has_captured(tx, &self.session))?;
        let may_have_commits = has_commits || is_elsewhere && self.beginnings.is_empty();
        Ok(LeftBehind { location: location.clone(), may_have_commits, is_dirty })
    }

    /// Whether it left something that is not committed in a folder. `root`: the folder as the session named it.
    fn has_left(&self, host: &dyn Host, root: &str, found: &FoundCopy) -> bool {
        let now = &found.location.copy.root;
        found.location.has_uncommitted()
            && !(self.is_successor && is_prior(host, &self.beginnings, (root, now), &found.uncommitted))
    }
}

/// What the newest packet that says it says of uncommitted files in a folder in which a session was.
fn dirty_word(all: &[CandidateSession], session: &Session, root: &str) -> Option<bool> {
    let is_there = |other: &&CandidateSession| {
        other.session.location.machine == session.location.machine
            && other.session.working_copy.as_ref().is_some_and(|copy| copy.root == root)
    };
    all.iter().filter(is_there).find_map(|other| other.dirty_state).map(|state| state.is_dirty)
}

/// Where the work of a bundle lies, as far as the sessions on its way said so.
pub(super) fn of_bundle(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    files: &mut UncommittedFiles,
) -> Result<Option<WorkLocation>, Failure> {
    let (all, places) = line_sessions(cx, bundle)?;
    let mut seen: Vec<WorkLocation> = Vec::new();
    let mut left = LeftPlaces::default();
    let mut is_before_commits = false;
    let mut behind: Vec<LeftBehind> = Vec::new();
    for of in &all {
        let Some(copy) = of.session.working_copy.clone() else { continue };
        let root = copy.root.clone();
        let found = inspect(cx, bundle, files, of.copy_of(copy, &all))?;
        if is_before_commits {
            behind.push(of.left_behind(cx, &found.location, of.has_commits)?);
            // What lies in another folder is in none of the later commits.
            left.note_left(cx.env.host, of, (&root, found), &mut seen);
            continue;
        }
        // What was left in a folder that cannot be looked at is not known, unless its session saved nothing at all, or says that it left
        // everything as it found it.
        let is_known = found.location.is_found() || (of.has_only_looked() && of.is_no_work(&all));
        let may_hold_work = !is_known && cx.store.read(|tx| has_saved(tx, &of.session))?;
        let has_left = of.has_left(cx.env.host, &root, &found);
        let commits = of.commits_place(cx.env.host, &found.location);
        let has_commits = of.has_commits || commits.is_some();
        let committed_in = of.committed_in(cx.env.host, &found.location, commits.as_ref());
        let beside = match committed_in {
            Some(copy) => Some(inspect(cx, bundle, files, of.copy_of(copy, &all))?),
            None => None,
        };
        let holds_work = (has_commits && beside.is_none()) || may_hold_work;
        if !left.found.is_empty() {
            let commits_at = &beside.as_ref().unwrap_or(&found).location;
            behind.push(of.left_behind(cx, commits_at, has_commits)?);
        }
        if let Some(beside) = beside {
            left.note(position(&mut seen, beside.location), !beside.uncommitted.is_empty(), true);
        }
        let at = match has_left || holds_work {
            true => left.position_of_work(&mut seen, found.location),
            false => position(&mut seen, found.location),
        };
        left.note(at, has_left, holds_work);
        left.note_visit(at, of.has_only_looked());
        // Who worked in one folder and wrapped in another left there what is not committed.
        if let Some(copy) = of.begun_in() {
            let root = copy.root.clone();
            let found = inspect(cx, bundle, files, of.copy_of(copy, &all))?;
            left.note_left(cx.env.host, of, (&root, found), &mut seen);
        }
        // What lies further back in the same folder was there before these commits.
        is_before_commits = has_commits;
    }
    of_file(cx, bundle, files, places, (&mut seen, &mut left, &mut behind))?;
    Ok(latest(cx, &seen, &left, (&line_commits(&all), behind)))
}

/// The sessions on the way of a bundle, with what those of other machines left uncommitted, and the places that its file names.
fn line_sessions(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
) -> Result<(Vec<CandidateSession>, Vec<EarlierPlace>), Failure> {
    let (mut all, places) = cx.store.read(|tx| {
        let all = candidates(tx, &bundle.lineage)?;
        let Some(first) = imported(&bundle.lineage) else { return Ok((all, Vec::new())) };
        Ok((all, file_facts(tx, &first.project_id, &first.session_id)?.earlier))
    })?;
    for of in all.iter_mut().filter(|of| of.session.location.machine != cx.env.caller.location.machine) {
        of.dirty_state = dirty_state(cx, bundle, &of.session)?;
    }
    Ok((all, places))
}

/// From which commits they went on.
fn line_commits(all: &[CandidateSession]) -> LineCommits {
    let mut line = LineCommits::default();
    for of in all {
        line.add(&of.session, of.beginnings.iter().map(|begun| &begun.copy));
    }
    line
}

/// Adds what the file says with which the work came: places on its way in other ledgers, one of which may lie on this machine.
fn of_file(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    files: &mut UncommittedFiles,
    places: Vec<EarlierPlace>,
    (seen, left, behind): (&mut Vec<WorkLocation>, &mut LeftPlaces, &mut Vec<LeftBehind>),
) -> Result<(), Failure> {
    let Some(first) = bundle.lineage.last() else { return Ok(()) };
    for place in places {
        let copy = place.copy();
        let mut session = Session { working_copy: Some(copy.clone()), ..first.clone() };
        session.location.machine.clone_from(&place.machine);
        let was_dirty = place.location.was_dirty == Some(true);
        let of = SessionCopy { session: &session, repository_id: None, copy, was_dirty };
        let found = inspect(cx, bundle, files, of)?.location;
        let is_dirty = was_dirty && !found.is_this_machine;
        behind.push(LeftBehind { may_have_commits: place.lacks_commit, is_dirty, location: found.clone() });
        if found.has_uncommitted() {
            left.note_elsewhere(seen, found);
        }
    }
    Ok(())
}

/// The place of the latest work, which names what else is left: uncommitted in other folders, and earlier commits.
fn latest(
    cx: &Cx<'_>,
    seen: &[WorkLocation],
    left: &LeftPlaces,
    (line, behind): (&LineCommits, Vec<LeftBehind>),
) -> Option<WorkLocation> {
    let host = cx.env.host;
    let mut found = seen.get(left.first()).cloned()?;
    for earlier in
        left.uncommitted_elsewhere().filter_map(|at| seen.get(at)).map(|at| earlier_location(host, at))
    {
        if !found.earlier.iter().any(|known| known.copy.root == earlier.copy.root) {
            found.earlier.push(earlier);
        }
    }
    for left in behind {
        name_behind(cx, &mut found, line, left);
    }
    Some(found)
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

    /// Notes what a session left uncommitted in a folder in which no later session was. `root`: the folder as it named it.
    fn note_left(
        &mut self,
        host: &dyn Host,
        of: &CandidateSession,
        (root, found): (&str, FoundCopy),
        seen: &mut Vec<WorkLocation>,
    ) {
        if of.has_left(host, root, &found) {
            self.note_elsewhere(seen, found.location);
        }
    }

    /// Notes what is not committed in a place in which no later session was.
    fn note_elsewhere(&mut self, seen: &mut Vec<WorkLocation>, location: WorkLocation) {
        if !seen.iter().any(|other| is_same(other, &location)) {
            self.note(position(seen, location), true, false);
        }
    }

    /// The position of a place in which something was left. What a later session had checked out there that left nothing does not hide it.
    fn position_of_work(&self, seen: &mut Vec<WorkLocation>, location: WorkLocation) -> usize {
        let at = position(seen, location.clone());
        if let Some(known) = seen.get_mut(at).filter(|_| !self.found.iter().any(|(other, _)| *other == at)) {
            *known = location;
        }
        at
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

/// The session of a line that may stand for one of another ledger: a file names no other places without that of its work.
fn imported(lineage: &[Session]) -> Option<&Session> {
    lineage.last().filter(|first| first.working_copy.is_some())
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
        if let Some(first) = imported(lineage) {
            drop(file_facts(tx, &first.project_id, &first.session_id));
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
            dirty_state: None,
            beginnings: beginnings(tx, session)?,
            is_successor: depth + 1 < lineage.len() && !has_captured(tx, session)?,
        });
    }
    Ok(candidates)
}
