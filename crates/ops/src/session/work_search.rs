//! Finds where picked-up work lies. That is where the latest session on the way of the baton left something: files that are not
//! committed, or commits of its own. A session that only looked hides nothing.

use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::repository::{Repository, WorkingCopy};
use baton_model::session::Session;
use baton_store::place::Place;
use baton_store::{Failure, Tx, delta, place, session_commit};
use serde_json::Value;

use super::bundle_view::Bundle;
use super::work_location::{EarlierLocation, WorkLocation, advice};
use crate::locate;
use crate::op::{Cx, Host, PathKind};

/// Most uncommitted files that are named.
const NAMED: usize = 20;
/// Most sessions on the way of a baton that are looked at.
pub(super) const SESSIONS: usize = 8;

/// A session on the way of a baton, and what the ledger says that it did.
struct Candidate {
    session: Session,
    /// Commits were made in its working copy while it was open.
    has_commits: bool,
    /// The working copy in which it began, where it ended in another one.
    begun_in: Option<WorkingCopy>,
}

/// Where the work of a bundle lies, as far as the sessions on its way said so.
pub(super) fn of_bundle(cx: &mut Cx<'_>, bundle: &Bundle) -> Result<Option<WorkLocation>, Failure> {
    let candidates = cx.store.read(|tx| candidates(tx, &bundle.lineage))?;
    let mut seen: Vec<WorkLocation> = Vec::new();
    let mut left: Vec<usize> = Vec::new();
    for Candidate { session, has_commits, begun_in } in candidates {
        let Some(location) = inspect(cx, bundle, &session, session.copy.clone())? else { continue };
        let known = seen.iter().position(|other| is_same(other, &location));
        let at = known.unwrap_or(seen.len());
        // What was left in a folder that cannot be looked at is not known, unless its session saved nothing at all.
        let may_hold_work = !location.is_found() && cx.store.read(|tx| has_saved(tx, &session))?;
        if !left.contains(&at) && (has_commits || location.has_uncommitted() || may_hold_work) {
            left.push(at);
        }
        if known.is_none() {
            seen.push(location);
        }
        // Who worked in one folder and wrapped in another left there what is not committed.
        if let Some(location) = inspect(cx, bundle, &session, begun_in)?.filter(WorkLocation::has_uncommitted)
            && !seen.iter().any(|other| is_same(other, &location))
        {
            left.push(seen.len());
            seen.push(location);
        }
        // What lies further back was there before these commits.
        if has_commits {
            break;
        }
    }
    let Some(mut found) = seen.get(left.first().copied().unwrap_or(0)).cloned() else { return Ok(None) };
    let others = left.iter().skip(1).filter_map(|at| seen.get(*at));
    found.earlier = others.filter(|other| other.has_uncommitted()).map(earlier_location).collect();
    Ok(Some(found))
}

fn is_same(one: &WorkLocation, other: &WorkLocation) -> bool {
    (&one.machine, &one.copy.root) == (&other.machine, &other.copy.root)
}

fn earlier_location(location: &WorkLocation) -> EarlierLocation {
    EarlierLocation {
        copy: location.copy.clone(),
        uncommitted: location.uncommitted.clone(),
        uncommitted_total: location.uncommitted_total.unwrap_or_default(),
    }
}

/// The sessions that work came through, with what the ledger says of each.
fn candidates(tx: &mut Tx<'_>, lineage: &[Session]) -> Result<Vec<Candidate>, Failure> {
    let lineage = &lineage[..lineage.len().min(SESSIONS)];
    // Without a working copy there is nothing to look at.
    let has_copy = |session: &&Session| session.copy.is_some();
    tx.prefetch(|tx| {
        for session in lineage.iter().filter(has_copy) {
            drop(session_commit::of(tx, &session.project_id, &session.session_id, 1));
            for kind in BEGINNINGS {
                drop(delta::last_of_session(tx, &session.project_id, &session.session_id, kind));
            }
        }
    });
    let candidate = |session: &Session| -> Result<Candidate, Failure> {
        let (project_id, id) = (&session.project_id, &session.session_id);
        let has_commits = session.copy.is_some() && !session_commit::of(tx, project_id, id, 1)?.is_empty();
        let begun_in = begun_in(tx, session)?;
        Ok(Candidate { session: session.clone(), has_commits, begun_in })
    };
    lineage.iter().map(candidate).collect()
}

/// The entries that say where a session began.
const BEGINNINGS: [Kind; 2] = [Kind::Start, Kind::Pickup];

/// The working copy in which a session began, if it has said another one since.
fn begun_in(tx: &mut Tx<'_>, of: &Session) -> Result<Option<WorkingCopy>, Failure> {
    let Some(last) = &of.copy else { return Ok(None) };
    for kind in BEGINNINGS {
        let Some(begun) = delta::last_of_session(tx, &of.project_id, &of.session_id, kind)? else { continue };
        let body = serde_json::from_str::<Value>(&begun.body).unwrap_or_default();
        let copy = serde_json::from_value::<WorkingCopy>(body["place"].clone()).ok();
        return Ok(copy.filter(|copy| copy.root != last.root));
    }
    Ok(None)
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

/// A working copy of a session, as it is now.
fn inspect(
    cx: &mut Cx<'_>,
    bundle: &Bundle,
    of: &Session,
    copy: Option<WorkingCopy>,
) -> Result<Option<WorkLocation>, Failure> {
    let Some(mut copy) = copy else { return Ok(None) };
    let caller = cx.env.caller;
    let own_root = caller.git_root.as_ref().or(caller.folders.first());
    let is_this_machine = of.place.machine == caller.place.machine;
    let host = cx.env.host;
    let PlaceNow { is_there, owner, holds_other, earlier } = match is_this_machine {
        true => look_up(cx, &bundle.project_id, &mut copy)?,
        false => PlaceNow::default(),
    };
    let is_here = is_this_machine && own_root == Some(&copy.root);
    let changed = match owner {
        Some(owner) if owner == bundle.project_id && !holds_other => host.uncommitted(&copy.root),
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
        machine: of.place.machine.clone(),
        is_this_machine,
        copy,
        is_here,
        is_there,
        holds_other,
        uncommitted,
        uncommitted_total,
        has_commit,
        advice: None,
        earlier: Vec::new(),
    };
    let has_branch = |branch: &str| {
        let root = own_root?;
        host.has_commit(root, &format!("refs/heads/{branch}"))
    };
    found.advice = advice(&found, caller.repository.as_ref(), bundle.changes.is_some(), has_branch);
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
    let host = cx.env.host;
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
    let Some(moved) = moved_to(cx, project_id, copy)?.filter(|moved| *moved != copy.root) else {
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
    if copy.branch.is_none() && copy.commit.is_none() {
        return false;
    }
    match host.repository(&copy.root) {
        Some((root, now)) if root == copy.root => copy.commit.as_deref().is_some_and(|commit| {
            !is_own
                && now.commit.as_deref() != Some(commit)
                && host.has_commit(&copy.root, commit) == Some(false)
        }),
        // A worktree whose repository cannot be read is known by its folder, as long as it has its `.git`.
        None => !is_own || host.path_kind(&copy.root, ".git") == Some(PathKind::Nothing),
        Some(_) => true,
    }
}

/// The other branch that a worktree's folder has checked out by now.
fn other_branch(copy: &WorkingCopy, host: &dyn Host) -> Option<String> {
    let (root, now) = host.repository(&copy.root).filter(|_| copy.is_worktree)?;
    now.branch.filter(|branch| root == copy.root && copy.branch.as_deref().is_some_and(|left| left != branch))
}

/// Where a working copy lies that was moved: where its branch is checked out in its repository.
fn moved_to(cx: &mut Cx<'_>, project_id: &str, copy: &WorkingCopy) -> Result<Option<String>, Failure> {
    let (caller, host) = (cx.env.caller, cx.env.host);
    let Some(branch) = copy.branch.as_deref() else { return Ok(None) };
    let mut places = cx.store.read(|tx| Ok(place::of_project(tx, project_id)?))?;
    places.retain(|place| place.machine == caller.place.machine);
    let own = caller.repository.as_ref().zip(caller.git_root.as_deref());
    let found = match own.filter(|(own, _)| may_be_of(own, copy, &places)) {
        Some((own, root)) if own.branch.as_deref() == Some(branch) => {
            Some((root.to_owned(), own.main.clone()))
        }
        Some((own, root)) => host.checkout_of(root, branch).map(|found| (found, own.main.clone())),
        None => main_place(copy, &places).and_then(|main| {
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

/// Whether a working copy that is not in its folder may be one of this repository: the ledger says so, or knows no other repository
/// of the project on this machine.
fn may_be_of(own: &Repository, copy: &WorkingCopy, places: &[Place]) -> bool {
    let known = places.iter().find(|place| place.path == copy.root && place.common_dir.is_some());
    match known {
        Some(known) => is_place_of(known, own.id.as_deref(), Some(&own.common_dir)),
        None => {
            let mut roots = places.iter().filter(|place| !place.is_worktree && place.common_dir.is_some());
            roots.all(|place| is_place_of(place, own.id.as_deref(), Some(&own.common_dir)))
        }
    }
}

/// Whether a place is one of the repository with this id and common git folder.
fn is_place_of(place: &Place, id: Option<&str>, common_dir: Option<&str>) -> bool {
    match (place.repository_id.as_deref(), id) {
        (Some(known), Some(id)) => known == id,
        _ => place.common_dir.as_deref() == common_dir,
    }
}

/// The registered folder of the repository of a worktree.
fn main_place<'a>(copy: &WorkingCopy, places: &'a [Place]) -> Option<&'a Place> {
    let of = places.iter().find(|place| place.path == copy.root && place.is_worktree)?;
    let is_main = |place: &&Place| {
        !place.is_worktree && is_place_of(place, of.repository_id.as_deref(), of.common_dir.as_deref())
    };
    places.iter().find(is_main)
}
