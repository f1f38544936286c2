//! What earlier sessions on the way of a baton left that the latest work does not have, on whatever machine: commits, and files that are
//! not committed.

use std::collections::BTreeSet;

use baton_model::repository::WorkingCopy;
use baton_model::session::Session;

use super::work_inspection::as_checked_out;
use super::work_location::{EarlierLocation, WorkLocation};
use crate::op::{Cx, Host};

/// A place of an earlier session.
pub(super) struct LeftBehind {
    pub location: WorkLocation,
    /// Whether the session has commits of its own there, or may have.
    pub may_have_commits: bool,
    /// Whether it left files there, on another machine, that are not committed and go with no baton.
    pub is_dirty: bool,
}

/// A session's last working copy, and the commits at which it began on the branch that it left.
struct Stretch {
    machine: String,
    copy: WorkingCopy,
    begun_at: Vec<String>,
}

/// From which commits the sessions on the way of a baton went on, the newest first: what git cannot say where a commit is not here.
#[derive(Default)]
pub(super) struct LineCommits(Vec<Stretch>);

impl LineCommits {
    /// Adds a session that is older than those before.
    pub(super) fn add<'a>(&mut self, of: &Session, beginnings: impl Iterator<Item = &'a WorkingCopy>) {
        let Some(copy) = of.working_copy.clone() else { return };
        let is_same = |begun: &&WorkingCopy| begun.root == copy.root && begun.branch == copy.branch;
        let begun_at = beginnings.filter(is_same).filter_map(|begun| begun.commit.clone()).collect();
        self.0.push(Stretch { machine: of.location.machine.clone(), copy, begun_at });
    }

    /// Whether a commit is one from which the sessions that led to a place went on.
    fn leads_to(&self, found: &WorkLocation, commit: &str) -> bool {
        let mut known: BTreeSet<&str> = found.copy.commit.as_deref().into_iter().collect();
        for one in &self.0 {
            let of = one.copy.commit.as_deref();
            let is_place = one.machine == found.machine
                && one.copy.root == found.copy.root
                && one.copy.branch == found.copy.branch;
            if is_place || of.is_some_and(|of| known.contains(of)) {
                known.extend(of);
                known.extend(one.begun_at.iter().map(String::as_str));
            }
        }
        known.contains(commit)
    }
}

/// Whether the latest work has a commit, as git says it: where it lies, or by the commit that was left.
fn has_commit(cx: &Cx<'_>, found: &WorkLocation, commit: &str) -> Option<bool> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    if found.is_found() {
        // A commit that is not in that repository at all is not in what is checked out.
        let is_missing = || host.has_commit(&found.copy.root, commit).filter(|is_there| !is_there);
        return host.head_contains(&found.copy.root, commit).or_else(is_missing);
    }
    let own_root = caller.git_root.as_deref()?;
    let is_contained = host.commit_contains(own_root, found.copy.commit.as_deref()?, commit);
    // A commit that the caller has checked out needs no mention.
    is_contained.or_else(|| host.head_contains(own_root, commit).filter(|has_it| *has_it))
}

/// Whether the branch of an earlier place is still there, with commits that can be merged. Of another machine that is not known.
fn has_branch(cx: &Cx<'_>, found: &WorkLocation, left: &WorkLocation) -> bool {
    if !left.is_this_machine {
        return true;
    }
    let Some(branch) = &left.copy.branch else { return false };
    let roots = [left, found].into_iter().filter(|one| one.is_found()).map(|one| one.copy.root.as_str());
    let root = roots.chain(cx.env.caller.git_root.as_deref()).next();
    root.is_some_and(|root| cx.env.host.has_commit(root, &format!("refs/heads/{branch}")) == Some(true))
}

/// Whether a place is of the machine of another one.
fn is_on_machine(machine: Option<&String>, left: &WorkLocation) -> bool {
    machine.map_or(left.is_this_machine, |machine| *machine == left.machine)
}

/// Names what was left in an earlier place, if the work that came after it does not have it.
pub(super) fn name_behind(cx: &Cx<'_>, found: &mut WorkLocation, line: &LineCommits, left: LeftBehind) {
    let LeftBehind { location, may_have_commits, is_dirty } = left;
    let known = |earlier: &&EarlierLocation| is_on_machine(earlier.machine.as_ref(), &location);
    let is_same_branch = |copy: &WorkingCopy| copy.branch == location.copy.branch;
    let is_covered = found.machine == location.machine && is_same_branch(&found.copy)
        || found.earlier.iter().filter(known).any(|known| is_same_branch(&known.copy));
    let missed = location.copy.commit.as_deref().filter(|_| may_have_commits && !is_covered);
    let missed = missed.filter(|commit| !line.leads_to(found, commit));
    let seen = missed.and_then(|commit| has_commit(cx, found, commit));
    let lacks_commit = missed.is_some() && seen != Some(true) && has_branch(cx, found, &location);
    let is_same_root = |copy: &WorkingCopy| copy.root == location.copy.root;
    let is_place_known = found.machine == location.machine && is_same_root(&found.copy)
        || found.earlier.iter().filter(known).any(|known| is_same_root(&known.copy));
    let was_dirty = is_dirty && !is_place_known;
    if lacks_commit || was_dirty {
        found.earlier.push(EarlierLocation {
            machine: (!location.is_this_machine).then_some(location.machine),
            copy: location.copy,
            lacks_commit,
            is_unseen: lacks_commit && seen.is_none(),
            has_commit: location.has_commit.filter(|_| lacks_commit),
            was_dirty,
            ..EarlierLocation::default()
        });
    }
}

/// A place of this machine in which something is not committed.
pub(super) fn earlier_location(host: &dyn Host, location: &WorkLocation) -> EarlierLocation {
    EarlierLocation {
        copy: as_checked_out(host, location.copy.clone()),
        uncommitted: location.uncommitted.clone(),
        uncommitted_total: location.uncommitted_total.unwrap_or_default(),
        ..EarlierLocation::default()
    }
}
