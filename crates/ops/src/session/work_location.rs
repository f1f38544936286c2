//! Where picked-up work lies: in which working copy it was left, whether that is there still, and how to get at it.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::id::{short, visible};
use baton_model::repository::WorkingCopy;
use baton_model::session::{Session, View};
use baton_store::Failure;
use serde::{Deserialize, Serialize};

use super::bundle_view::Bundle;
use crate::locate;
use crate::op::{Caller, Cx, Host};

/// Most uncommitted files that are named.
const NAMED: usize = 20;

/// The working copy in which work was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkLocation {
    /// Stable id of the machine.
    pub machine: String,
    /// The folder, and what was checked out in it at the end.
    #[serde(flatten)]
    pub copy: WorkingCopy,
    /// Whether that is the caller's machine.
    pub is_this_machine: bool,
    /// Whether the caller stands in it.
    pub is_here: bool,
    /// Whether the folder is there still; nothing where that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_there: Option<bool>,
    /// Whether the folder holds something else by now: another repository, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_other: bool,
    /// Files with changes that are not committed, as they are now; at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
    /// How many there are in all; nothing where that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted_total: Option<usize>,
    /// Whether the caller's working copy has that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_commit: Option<bool>,
    /// What to do to go on there; nothing where the caller is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Where the work of a bundle lies, if the session that left it said so.
pub(super) fn of_bundle(cx: &mut Cx<'_>, bundle: &Bundle) -> Result<Option<WorkLocation>, Failure> {
    let Some(Session { copy: Some(mut copy), place, .. }) = bundle.predecessor.clone() else {
        return Ok(None);
    };
    let caller = cx.env.caller;
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let is_same_machine = place.machine == caller.place.machine;
    let host = cx.env.host;
    let PlaceNow { is_there, owner, holds_other, earlier } = match is_same_machine {
        true => look_up(cx, &bundle.project_id, &mut copy)?,
        false => PlaceNow::default(),
    };
    let is_here = is_same_machine && own_root == Some(&copy.root);
    let changed = match owner {
        Some(owner) if owner == bundle.project_id => host.uncommitted(&copy.root),
        _ => None,
    };
    let has_commit = own_root.zip(copy.commit.as_deref()).and_then(|(root, commit)| {
        let own = caller.repository.as_ref().and_then(|own| own.commit.as_deref());
        if own == Some(commit) { Some(true) } else { host.has_commit(root, commit) }
    });
    let uncommitted_total = changed.as_ref().map(Vec::len);
    let mut uncommitted = changed.unwrap_or_default();
    uncommitted.truncate(NAMED);
    let mut found = WorkLocation {
        machine: place.machine,
        is_this_machine: is_same_machine,
        copy,
        is_here,
        is_there,
        holds_other,
        uncommitted,
        uncommitted_total,
        has_commit,
        advice: None,
    };
    let has_branch = |branch: &str| {
        let root = own_root?;
        host.has_commit(root, &format!("refs/heads/{branch}"))
    };
    let travel = bundle.changes.is_some();
    found.advice = advice(&found, travel, has_branch);
    if let (Some(advice), Some(earlier)) = (&mut found.advice, earlier) {
        advice.push_str(&earlier);
    }
    Ok(Some(found))
}

/// What is known of the folder in which work was left, on the caller's machine.
#[derive(Default)]
struct PlaceNow {
    /// Whether the working copy is there still, or where it was moved to.
    is_there: Option<bool>,
    /// The project of the folder.
    owner: Option<String>,
    /// Whether the folder holds something else, and the working copy is found nowhere.
    holds_other: bool,
    /// What the folder of before has checked out by now, as the end of an advice, where the branch is found in another one.
    earlier: Option<String>,
}

/// Looks up the folder of a working copy. Where its branch is found in another folder, the copy is said to lie there.
fn look_up(cx: &mut Cx<'_>, project_id: &str, copy: &mut WorkingCopy) -> Result<PlaceNow, Failure> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let is_there = host.has_folder(&copy.root);
    // No other folder is looked into than one of the project.
    let owner = match is_there {
        Some(true) => locate::of_folder(cx.store, &cx.env, copy.root.as_ref())?,
        _ => None,
    };
    let is_own = owner.as_deref() == Some(project_id);
    let holds_other = is_there == Some(true) && is_another(copy, host, is_own);
    let switched = if is_there == Some(true) && is_own { other_branch(copy, host) } else { None };
    let now = PlaceNow { is_there, owner, holds_other, earlier: None };
    if is_there != Some(false) && !holds_other && switched.is_none() {
        return Ok(now);
    }
    let Some(moved) = moved_to(copy, caller, host) else {
        return Ok(PlaceNow { is_there: Some(switched.is_some() && !holds_other), ..now });
    };
    let earlier = switched.map(|branch| {
        format!("; {}, in which the work was left, has branch {} now", visible(&copy.root), visible(&branch))
    });
    copy.root = moved;
    let owner = locate::of_folder(cx.store, &cx.env, copy.root.as_ref())?;
    Ok(PlaceNow { is_there: Some(true), owner, holds_other: false, earlier })
}

/// Whether a folder holds another repository than the one in which work was left, or none of its own. `is_own`: it belongs to the
/// project of that work.
fn is_another(copy: &WorkingCopy, host: &dyn Host, is_own: bool) -> bool {
    let Some(commit) = copy.commit.as_deref() else { return false };
    match host.repository(&copy.root) {
        Some((root, now)) if root == copy.root => {
            !is_own
                && now.commit.as_deref() != Some(commit)
                && host.has_commit(&copy.root, commit) == Some(false)
        }
        // A worktree whose repository cannot be read is known by its folder.
        None => !is_own,
        Some(_) => true,
    }
}

/// The other branch that a worktree's folder has checked out by now.
fn other_branch(copy: &WorkingCopy, host: &dyn Host) -> Option<String> {
    let (root, now) = host.repository(&copy.root).filter(|_| copy.is_worktree)?;
    now.branch.filter(|branch| root == copy.root && copy.branch.as_deref().is_some_and(|left| left != branch))
}

/// Where a working copy lies that was moved: where its branch is checked out in the repository that the caller stands in.
fn moved_to(copy: &WorkingCopy, caller: &Caller, host: &dyn Host) -> Option<String> {
    let branch = copy.branch.as_deref()?;
    let own = caller.repository.as_ref()?;
    let root = caller.git_root.as_deref()?;
    let found = match own.branch.as_deref() {
        Some(checked_out) if checked_out == branch => root.to_owned(),
        _ => host.checkout_of(root, branch)?,
    };
    // A main working copy does not become a linked one.
    let is_main = own.main.as_deref() == Some(&found);
    (is_main != copy.is_worktree).then_some(found)
}

/// What to do to go on where the work lies. `travel`: its uncommitted changes go with the baton.
fn advice(work: &WorkLocation, travel: bool, has_branch: impl Fn(&str) -> Option<bool>) -> Option<String> {
    let root = visible(&work.copy.root);
    let branch = work.copy.branch.as_deref();
    let commit = work.copy.commit.as_deref().map(|commit| visible(commit.get(..12).unwrap_or(commit)));
    if work.is_here {
        return None;
    }
    if work.is_there == Some(true) {
        let only = match work.uncommitted_total {
            Some(0) | None => "",
            Some(_) if travel => "",
            Some(_) => "; what is not committed is there only",
        };
        return Some(format!("go on there: `cd {root}`{only}"));
    }
    if work.is_there.is_none() && work.is_this_machine {
        return Some(format!("go on there, if it still is: `cd {root}`"));
    }
    let is_left = branch.and_then(has_branch);
    let gone = match (work.is_this_machine, work.holds_other) {
        (true, true) => "the folder holds something else by now",
        (true, false) => "the folder is gone",
        (false, _) => "it is on another machine",
    };
    Some(match (branch, is_left, work.has_commit, commit) {
        (Some(branch), _, Some(false), Some(commit)) if !work.is_this_machine => {
            let branch = visible(branch);
            format!(
                "{gone}, and its commit {commit} is not here: push it there (`git push origin {branch}`), then `git fetch` here"
            )
        }
        (Some(branch), Some(true), Some(false), Some(commit)) => {
            let branch = visible(branch);
            format!(
                "{gone}; its branch {branch} is left here, without its commit {commit}: `git switch {branch}`"
            )
        }
        (Some(branch), Some(true), _, _) => {
            let branch = visible(branch);
            // Git takes the branch for checked out in a worktree whose folder is gone.
            let prune = match work.is_this_machine && work.copy.is_worktree {
                true => "`git worktree prune`, then ",
                false => "",
            };
            // The path of another machine says nothing here.
            let anew = match work.is_this_machine && !work.holds_other {
                true => format!("`git worktree add {root} {branch}`, or "),
                false => String::new(),
            };
            format!("{gone}; its branch {branch} is left here: {prune}{anew}`git switch {branch}`")
        }
        (_, _, Some(true), Some(commit)) => {
            format!("{gone}; its commit is here: `git switch --detach {commit}`")
        }
        (Some(branch), ..) => {
            format!("{gone}, and branch {0} is not here: `git fetch` it, once it is pushed", visible(branch))
        }
        (None, ..) => format!("{gone}, and its commit is not here: `git fetch` it, once it is pushed"),
    })
}

/// What a caller is told who works in the same working copy as others.
pub(super) fn shared_copy(
    own: Option<&WorkingCopy>,
    machine: &str,
    own_id: Option<&str>,
    open: &[View],
) -> Option<Remark> {
    let root = &own?.root;
    let is_beside = |other: &&View| {
        other.fresh
            && Some(other.session_id.as_str()) != own_id
            && other.machine == machine
            && other.copy.as_ref().is_some_and(|copy| copy.root == *root)
    };
    let others: Vec<String> = open
        .iter()
        .filter(is_beside)
        .map(|other| {
            format!(
                "{} ({}, {})",
                visible(&other.identity),
                visible(&other.surface),
                short(&other.session_id)
            )
        })
        .collect();
    if others.is_empty() {
        return None;
    }
    let verb = if others.len() == 1 { "works" } else { "work" };
    let message = format!(
        "{} {verb} in this working copy too, {}: a worktree of your own (`git worktree add`) keeps the changes apart",
        others.join(", "),
        visible(root)
    );
    Some(Remark { kind: RemarkKind::SharedWorkingCopy, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(work: &WorkLocation, is_left: Option<bool>, expected: &str) {
        let copy = WorkingCopy {
            root: "/src/shop".into(),
            branch: Some("main".into()),
            commit: Some("1a2b3c4d5e6f7a8b".into()),
            ..work.copy
        };
        let work = WorkLocation { copy, ..work.clone() };
        assert_eq!(advice(&work, false, |_| is_left).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_advised_can_be_done_where_the_caller_stands() {
        let gone = WorkLocation {
            machine: "m".into(),
            copy: WorkingCopy::default(),
            is_this_machine: true,
            is_here: false,
            is_there: Some(false),
            holds_other: false,
            uncommitted: Vec::new(),
            uncommitted_total: None,
            has_commit: Some(true),
            advice: None,
        };
        let here = "its branch main is left here";
        check(
            &gone,
            Some(true),
            &format!("the folder is gone; {here}: `git worktree add /src/shop main`, or `git switch main`"),
        );
        let worktree = WorkingCopy { is_worktree: true, ..WorkingCopy::default() };
        check(
            &WorkLocation { copy: worktree, ..gone.clone() },
            Some(true),
            &format!(
                "the folder is gone; {here}: `git worktree prune`, then `git worktree add /src/shop main`, or `git switch main`"
            ),
        );
        let other = WorkLocation { holds_other: true, ..gone.clone() };
        check(
            &other,
            Some(true),
            &format!("the folder holds something else by now; {here}: `git switch main`"),
        );
        let behind = WorkLocation { has_commit: Some(false), ..gone.clone() };
        check(
            &behind,
            Some(true),
            &format!("the folder is gone; {here}, without its commit 1a2b3c4d5e6f: `git switch main`"),
        );
        let far = WorkLocation { is_this_machine: false, is_there: None, ..gone };
        check(&far, Some(true), &format!("it is on another machine; {here}: `git switch main`"));
        let unpushed = WorkLocation { has_commit: Some(false), ..far };
        for is_left in [Some(true), Some(false)] {
            check(
                &unpushed,
                is_left,
                "it is on another machine, and its commit 1a2b3c4d5e6f is not here: push it there (`git push origin main`), then \
                 `git fetch` here",
            );
        }
    }

    #[test]
    fn what_goes_with_the_baton_is_not_said_to_be_there_only() {
        let work = WorkLocation {
            machine: "m".into(),
            copy: WorkingCopy { root: "/src/shop".into(), ..WorkingCopy::default() },
            is_this_machine: true,
            is_here: false,
            is_there: Some(true),
            holds_other: false,
            uncommitted: vec!["a".into()],
            uncommitted_total: Some(1),
            has_commit: None,
            advice: None,
        };
        assert_eq!(advice(&work, true, |_| None).as_deref(), Some("go on there: `cd /src/shop`"));
        let only = advice(&work, false, |_| None).expect("advice");
        assert!(only.ends_with("there only"), "{only}");
    }
}
