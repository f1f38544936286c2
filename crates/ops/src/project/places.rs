//! `project_places`: where a project is worked on.

use std::path::Path;

use baton_model::repository::WorkingCopy;
use baton_model::session::{Session, View};
use baton_model::time::Timestamp;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, baton, project_root, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::displaced::{is_displaced, is_taken};
use crate::op::{Cx, Env, Meta, Operation, PathKind};
use crate::{ownership, resolve};

/// How many of the newest sessions of a project tell which branch a worktree had that is gone, or one of another machine.
const MAX_SCANNED_SESSIONS: i64 = 200;

/// Lists the places of a project.
pub struct Places;

/// Input of `project_places`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacesInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// A folder that was registered.
    Registered,
    /// A linked worktree, in which an agent worked once.
    Worktree,
    /// A folder that was not registered: an open session names it, or a baton that waits was left there.
    Session,
}

impl PlaceKind {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Worktree => "worktree",
            Self::Session => "session",
        }
    }
}

/// A folder of a machine in which a project is worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceRow {
    /// Stable id of the machine.
    pub machine: String,
    /// The name of its host, where a session has said it and it is not the caller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The folder.
    pub path: String,
    /// What it is.
    pub kind: PlaceKind,
    /// Whether it is on the caller's machine.
    pub is_this_machine: bool,
    /// Whether the folder is there; nothing where that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_there: Option<bool>,
    /// Whether another repository lies in the folder by now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_other: bool,
    /// Where the worktree was moved to, if git knows it still and its branch is checked out in another folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// The branch that is checked out now; of another machine, the one that a session said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When a session was last heard of in it, as far as the newest ones tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_heard_at: Option<Timestamp>,
    /// Open sessions in it.
    pub sessions: Vec<View>,
}

/// Answer of `project_places`.
#[derive(Serialize, Deserialize)]
pub struct PlacesOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<PlaceRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for Places {
    const META: Meta =
        Meta::read("project_places", "List the folders and worktrees in which a project is worked on");
    type Input = PlacesInput;
    type Output = PlacesOutput;

    fn run(input: PlacesInput, cx: &mut Cx<'_>) -> Result<PlacesOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let (known, sessions) = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let open = session::open(tx, &project_id)?;
            let newest = session::newest(tx, &project_id, MAX_SCANNED_SESSIONS)?;
            let left = left_open(tx, &project_id, &newest)?;
            Ok((project_root::of_project(tx, &project_id)?, Sessions { open, newest, left }))
        })?;
        let mut items = Vec::new();
        for place in known.iter().filter(|place| !is_displaced(place)) {
            let row = place_row(&cx.env, place, &sessions);
            let is_gone = row.is_there == Some(false) && place.is_worktree;
            let moved_to = if is_gone { new_folder(&cx.env, place, &known, &sessions) } else { None };
            // Of a folder that holds another repository by now, no branch is told.
            let moved = moved_to.as_deref().filter(|_| !row.holds_other);
            let now = moved.and_then(|folder| cx.env.host.repository(folder));
            let (branch, commit) = now.map_or((row.branch, row.commit), |(_, now)| (now.branch, now.commit));
            items.push(PlaceRow { moved_to, branch, commit, ..row });
        }
        each_once(&mut items);
        for (session, is_open) in sessions.unregistered() {
            let Some(copy) = &session.working_copy else { continue };
            let is_listed = |row: &PlaceRow| row.machine == session.location.machine && row.path == copy.root;
            if items.iter().any(is_listed) {
                continue;
            }
            let row = session_row(&cx.env, session, &sessions);
            // Where the work of a folder went that is not there any more, its baton says.
            if is_open || row.is_there != Some(false) {
                items.push(row);
            }
        }
        // This machine's first.
        items.sort_by_key(|row| !row.is_this_machine);
        Ok(PlacesOutput { project_id, items, next: None })
    }
}

/// Where the worktree of a place lies by now, if its folder is gone and git knows it still.
pub(super) fn moved_to(cx: &mut Cx<'_>, place: &ProjectRoot) -> Result<Option<String>, Failure> {
    let is_here = place.machine == cx.env.caller.location.machine;
    if !is_here || !place.is_worktree || cx.env.host.has_folder(&place.path) != Some(false) {
        return Ok(None);
    }
    let (known, sessions) = cx.store.read(|tx| {
        let open = session::open(tx, &place.project_id)?;
        let newest = session::newest(tx, &place.project_id, MAX_SCANNED_SESSIONS)?;
        Ok((project_root::of_project(tx, &place.project_id)?, Sessions { open, newest, left: Vec::new() }))
    })?;
    let found = new_folder(&cx.env, place, &known, &sessions);
    Ok(found.filter(|found| known.iter().all(|place| place.path != *found)))
}

/// Leaves of a worktree that was moved, once or several times, one row: that of its folder where a session has been in it, else the one of
/// the folder in which a session was last.
pub fn each_once(rows: &mut Vec<PlaceRow>) {
    let places: Vec<(String, String)> =
        rows.iter().map(|row| (row.machine.clone(), row.path.clone())).collect();
    rows.retain_mut(|row| {
        let is_listed = row
            .moved_to
            .as_ref()
            .is_some_and(|to| places.iter().any(|(machine, path)| *machine == row.machine && path == to));
        if is_listed {
            row.moved_to = None;
        }
        !(is_listed && row.sessions.is_empty())
    });
    let moved: Vec<(String, String, Option<i64>)> = rows
        .iter()
        .filter_map(|row| {
            let to = row.moved_to.clone()?;
            Some((to, row.path.clone(), row.last_heard_at.map(|at| at.0)))
        })
        .collect();
    rows.retain(|row| {
        let key = |at: Option<i64>, path: &str| (at, path.to_owned());
        let own = key(row.last_heard_at.map(|at| at.0), &row.path);
        let is_older = |(to, path, at): &(String, String, Option<i64>)| {
            row.moved_to.as_ref() == Some(to) && own < key(*at, path)
        };
        !row.sessions.is_empty() || !moved.iter().any(is_older)
    });
}

/// The sessions that say what is checked out where.
struct Sessions {
    open: Vec<Session>,
    /// The newest of all, the newest first.
    newest: Vec<Session>,
    /// Those whose baton no session has taken.
    left: Vec<Session>,
}

/// The sessions whose baton no session has taken, among the newest of a project.
fn left_open(tx: &mut Tx<'_>, project_id: &str, newest: &[Session]) -> Result<Vec<Session>, Failure> {
    let batons = baton::unspent(tx, project_id, MAX_SCANNED_SESSIONS)?;
    let waits = |session: &&Session| {
        batons.iter().any(|one| one.session_id == session.session_id && one.holder_session_id.is_none())
    };
    Ok(newest.iter().filter(waits).cloned().collect())
}

impl Sessions {
    /// Those whose folders are named although they may not be registered, and whether they are open.
    fn unregistered(&self) -> impl Iterator<Item = (&Session, bool)> {
        let open = self.open.iter().map(|session| (session, true));
        open.chain(self.left.iter().map(|session| (session, false)))
    }

    /// What the last session said that is checked out in a folder of a machine.
    fn last_copy(&self, machine: &str, path: &str) -> Option<&WorkingCopy> {
        self.last(machine, path)?.working_copy.as_ref()
    }

    /// The last session in a folder of a machine.
    fn last(&self, machine: &str, path: &str) -> Option<&Session> {
        let mut all = self.open.iter().rev().chain(&self.newest);
        all.find(|one| is_in(one, machine, path))
    }
}

/// Whether a session works, or worked last, in a folder of a machine.
fn is_in(session: &Session, machine: &str, path: &str) -> bool {
    session.location.machine == machine && session.working_copy.as_ref().is_some_and(|copy| copy.root == path)
}

/// Where a worktree lies whose folder is gone: where git has it under its name, also with another branch, or where the branch is
/// checked out that a session had there last. Git has forgotten one that was removed, so that whatever has its branch now is another
/// one, and so is one that was made under its name later.
fn new_folder(env: &Env<'_>, of: &ProjectRoot, known: &[ProjectRoot], sessions: &Sessions) -> Option<String> {
    let is_main = |place: &&ProjectRoot| {
        !place.is_worktree && place.machine == of.machine && place.repository_id == of.repository_id
    };
    let main = known.iter().find(is_main)?;
    let name = file_name(&of.path)?;
    let common_dir = of.common_dir.as_ref().or(main.common_dir.as_ref())?;
    let last = sessions.last(&of.machine, &of.path);
    let is_it = |folder: &str, since: i64| {
        // One that was made later under the name has the folder of that name.
        file_name(folder) != Some(name) || last.is_some_and(|last| since <= last.heartbeat_at)
    };
    let named = env.host.worktree_named(&main.path, name).filter(|(folder, since)| is_it(folder, *since));
    let found = match named {
        Some((folder, _)) => folder,
        None => {
            let last = last?;
            let found = env.host.checkout_of(&main.path, last.working_copy.as_ref()?.branch.as_ref()?)?;
            let is_known_by_name =
                env.host.path_kind(common_dir, &format!("worktrees/{name}")) != Some(PathKind::Nothing);
            let is_it = is_known_by_name || is_moved_again(env, main, last, (&found, sessions));
            is_it.then_some(found)?
        }
    };
    (found != of.path).then_some(found)
}

fn file_name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

/// Whether the worktree that has the branch of a session now is the one in which the session was, under the name of a folder before that:
/// it was not made after that session, and was no other place while the session was in its own.
fn is_moved_again(
    env: &Env<'_>,
    main: &ProjectRoot,
    last: &Session,
    (found, sessions): (&str, &Sessions),
) -> bool {
    let made_there = file_name(found)
        .and_then(|name| env.host.worktree_named(&main.path, name))
        .filter(|(folder, _)| folder == found);
    let branch = |session: &Session| session.working_copy.as_ref().and_then(|copy| copy.branch.clone());
    let was_other = |session: &Session| {
        is_in(session, &last.location.machine, found)
            && session.started_at <= last.heartbeat_at
            && branch(session) != branch(last)
    };
    found != main.path
        && made_there.is_none_or(|(_, since)| since <= last.heartbeat_at)
        && !sessions.newest.iter().any(was_other)
}

fn place_row(env: &Env<'_>, place: &ProjectRoot, sessions: &Sessions) -> PlaceRow {
    let kind = if place.is_worktree { PlaceKind::Worktree } else { PlaceKind::Registered };
    let row = row(env, (&place.machine, &place.path), kind, sessions);
    let around = if row.is_this_machine { env.host.repository(&place.path) } else { None };
    if !around.is_some_and(|(root, now)| is_taken(place, &root, &now)) {
        return row;
    }
    // What lies there is nothing of this project.
    PlaceRow { is_there: Some(false), holds_other: true, branch: None, commit: None, ..row }
}

fn session_row(env: &Env<'_>, session: &Session, sessions: &Sessions) -> PlaceRow {
    let path = session.working_copy.as_ref().map(|copy| copy.root.as_str()).unwrap_or_default();
    row(env, (&session.location.machine, path), PlaceKind::Session, sessions)
}

fn row(env: &Env<'_>, (machine, path): (&str, &str), kind: PlaceKind, sessions: &Sessions) -> PlaceRow {
    let is_this_machine = machine == env.caller.location.machine;
    let own: Vec<&Session> = sessions.open.iter().filter(|one| is_in(one, machine, path)).collect();
    let around = if is_this_machine { env.host.repository(path) } else { None };
    let now = around.filter(|(root, _)| root == path).map(|(_, repository)| repository);
    let is_there = if is_this_machine { env.host.has_folder(path) } else { None };
    // Of a folder here that is gone, only who is at work in it says what it had; of one that cannot be seen, who was there last.
    let last = match is_there.is_some() {
        true => own.last().and_then(|session| session.working_copy.as_ref()),
        false => sessions.last_copy(machine, path),
    };
    let (branch, commit) = match &now {
        Some(now) => (now.branch.clone(), now.commit.clone()),
        None => (last.and_then(|copy| copy.branch.clone()), last.and_then(|copy| copy.commit.clone())),
    };
    PlaceRow {
        machine: machine.to_owned(),
        host: last.and_then(|copy| copy.host.clone()).filter(|_| !is_this_machine),
        path: path.to_owned(),
        kind,
        is_this_machine,
        moved_to: None,
        holds_other: false,
        is_there,
        branch,
        commit,
        last_heard_at: sessions.last(machine, path).map(|session| Timestamp(session.heartbeat_at)),
        sessions: own.iter().map(|session| ownership::view(env, session)).collect(),
    }
}
