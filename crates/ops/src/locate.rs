//! Which project a folder belongs to. A project is a repository, wherever its working copies lie:
//!
//! 1. a folder that was registered inside the working copy, or its top folder itself;
//! 2. another working copy of the same repository: the common git folder is a place of the project;
//! 3. the same repository in another folder, by the id in git's settings, if it is gone from the place that the ledger knows.
//!
//! Whatever else looks alike (a copy with the same id, a clone of the same remote) is asked about, never joined. An id in git's
//! settings says nothing by itself: an unpacked archive brings its own. It counts where the ledger remembers it.

use std::path::Path;

use baton_model::access::Grant;
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::repository::{NAMES_NO_WORKTREE, Repository, canonical_address};
use baton_model::shell::shell_word;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, project, project_root};
use serde_json::json;

use crate::displaced::{folder_of, is_replaced, is_taken};
use crate::op::{Caller, Host};
use crate::project_hint::{way_to_clone, way_to_project};

/// The most other projects of one remote that a refusal names.
const MAX_NAMED_PROJECTS: usize = 5;

/// Where a caller stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerLocation<'a> {
    /// The machine.
    pub machine: &'a str,
    /// The folder and those above it, nearest first.
    pub folders: &'a [String],
    /// The top folder of the working copy.
    pub git_root: Option<&'a str>,
    /// Its repository, where its files are sound.
    pub repository: Option<&'a Repository>,
    /// What is wrong with them where they are not, in a sentence.
    pub git_fault: Option<&'a str>,
    /// Which projects the caller may see.
    pub grant: &'a Grant,
}

impl<'a> CallerLocation<'a> {
    /// Where a caller stands.
    pub(crate) fn of(caller: &'a Caller) -> Self {
        Self {
            machine: &caller.location.machine,
            folders: &caller.folders,
            git_root: caller.git_root.as_deref(),
            repository: caller.repository.as_ref(),
            git_fault: caller.git_fault.as_deref(),
            grant: &caller.grant,
        }
    }

    pub(crate) fn folder(&self) -> &str {
        self.git_root.or(self.folders.first().map(String::as_str)).unwrap_or("no folder")
    }

    fn id(&self) -> Option<&'a str> {
        self.repository?.id.as_deref()
    }

    /// Whether a place is of another repository than the one that lies there now.
    fn is_stale(&self, place: &ProjectRoot) -> bool {
        self.git_root.zip(self.repository).is_some_and(|(root, now)| is_taken(place, root, now))
    }
}

/// The project of a standpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LocatedProject {
    /// It belongs to this one.
    Project(String),
    /// Its repository moved here from a folder in which it is no more.
    Moved(ProjectRoot),
    /// It looks like a clone or a copy of one.
    Clone(CloneOf),
    /// It is a repository of its own in the folder of a project.
    Inside {
        /// The project.
        project_id: String,
        /// Its folder.
        root: String,
    },
    /// It belongs to none.
    Unknown,
}

/// A project that a repository looks like a clone of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloneOf {
    /// The project.
    pub project_id: String,
    /// What says so, in a clause.
    pub reason: String,
    /// Other projects of which the same can be said.
    pub others: Vec<String>,
}

impl CloneOf {
    fn new(project_id: String, reason: String) -> Self {
        Self { project_id, reason, others: Vec::new() }
    }
}

/// The project of a standpoint, looked up; nothing is written.
pub(crate) fn locate(
    tx: &mut Tx<'_>,
    host: &dyn Host,
    here: &CallerLocation<'_>,
) -> Result<LocatedProject, Failure> {
    let above = nearest(tx, host, here)?;
    let is_inside = |place: &ProjectRoot| here.git_root.is_none_or(|git| is_at_or_below(&place.path, git));
    if let Some(place) = above.as_ref().filter(|place| is_inside(place) && !place.is_worktree) {
        return Ok(LocatedProject::Project(place.project_id.clone()));
    }
    if let Some(found) = by_repository(tx, host, here)? {
        return Ok(found);
    }
    if let Some(place) = above {
        // A worktree in which an agent worked, whose repository cannot be read any more, is one still.
        return Ok(match is_inside(&place) {
            true => LocatedProject::Project(place.project_id),
            false => LocatedProject::Inside { project_id: place.project_id, root: place.path },
        });
    }
    let remote = here.repository.and_then(|repository| repository.remote.as_deref());
    let found = by_address(tx, here, remote, AddressSource::Remote)?;
    Ok(found.map_or(LocatedProject::Unknown, LocatedProject::Clone))
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    Path::new(path).starts_with(folder)
}

/// The nearest folder that is a place of a project. To a token that does not reach what is here, nothing is here.
fn nearest(
    tx: &mut Tx<'_>,
    host: &dyn Host,
    here: &CallerLocation<'_>,
) -> Result<Option<ProjectRoot>, Failure> {
    for folder in here.folders {
        let found = project_root::get(tx, here.machine, folder)?;
        if let Some(place) =
            found.filter(|place| here.grant.reaches(&place.project_id) && !here.is_stale(place))
            && !is_replaced(tx, host, here, &place)?
            && !has_left_isolated(tx, host, here, &place)?
        {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Whether the repository of an isolated project has left a place: what lies there now, readable for git or not, reads nothing of it.
fn has_left_isolated(
    tx: &mut Tx<'_>,
    host: &dyn Host,
    here: &CallerLocation<'_>,
    place: &ProjectRoot,
) -> Result<bool, Failure> {
    let Some((id, folder)) = place.repository_id.as_deref().zip(place.common_dir.as_deref()) else {
        return Ok(false);
    };
    Ok(here.id() != Some(id)
        && project::get(tx, &place.project_id)?.is_some_and(|of| of.is_isolated)
        && host.holds_repository(folder, id) == Some(false))
}

fn by_repository(
    tx: &mut Tx<'_>,
    host: &dyn Host,
    here: &CallerLocation<'_>,
) -> Result<Option<LocatedProject>, Failure> {
    let Some(repository) = here.repository else { return Ok(None) };
    let mut known = project_root::of_repository(tx, here.machine, &repository.common_dir, here.id())?;
    known.retain(|place| here.grant.reaches(&place.project_id));
    let is_of_it = |place: &&ProjectRoot| match (place.repository_id.as_deref(), here.id()) {
        (Some(known), Some(own)) => known == own,
        // Git's settings were lost, or cannot be written.
        _ => true,
    };
    let is_here = |place: &&ProjectRoot| {
        place.machine == here.machine && place.common_dir.as_deref() == Some(repository.common_dir.as_str())
    };
    let found = known.iter().find(|place| is_here(place) && is_of_it(place));
    if let Some(main) = found.and_then(|found| left_folder(host, here, found, &known)) {
        return Ok(Some(moved_or_copied(tx, host, here, main)?));
    }
    if let Some(place) = found
        && !is_replaced(tx, host, here, place)?
    {
        return Ok(Some(LocatedProject::Project(place.project_id.clone())));
    }
    // A main working copy that was registered before repositories had ids.
    if let Some(main) = repository.main.as_deref().filter(|_| repository.is_worktree)
        && let Some(place) = project_root::get(tx, here.machine, main)?
        && here.grant.reaches(&place.project_id)
        && place.common_dir.is_none()
    {
        return Ok(Some(LocatedProject::Project(place.project_id)));
    }
    let same_id =
        |place: &&ProjectRoot| place.repository_id.is_some() && place.repository_id.as_deref() == here.id();
    // A folder that two machines share, or that was copied from one to another, has one id on both.
    let same_machine = |place: &&ProjectRoot| same_id(place) && place.machine == here.machine;
    let Some(other) = known.iter().find(same_machine).or_else(|| known.iter().find(same_id)) else {
        return Ok(None);
    };
    Ok(Some(moved_or_copied(tx, host, here, other)?))
}

/// The registered folder from which a repository is gone, where only a worktree is known to belong to the common git folder here: it was
/// moved away and back.
fn left_folder<'a>(
    host: &dyn Host,
    here: &CallerLocation<'_>,
    found: &ProjectRoot,
    known: &'a [ProjectRoot],
) -> Option<&'a ProjectRoot> {
    let id = here.id().filter(|id| found.is_worktree && found.repository_id.as_deref() == Some(id))?;
    let is_main = |place: &&ProjectRoot| !place.is_worktree && place.machine == here.machine;
    let main = known.iter().find(|place| is_main(place) && place.repository_id.as_deref() == Some(id))?;
    let there = main.common_dir.as_deref().filter(|there| Some(*there) != found.common_dir.as_deref())?;
    (host.holds_repository(there, id) == Some(false)).then_some(main)
}

/// A repository whose id the ledger knows from another folder: moved, if it is there no more.
fn moved_or_copied(
    tx: &mut Tx<'_>,
    host: &dyn Host,
    here: &CallerLocation<'_>,
    other: &ProjectRoot,
) -> Result<LocatedProject, Failure> {
    let (project_id, path) = (other.project_id.clone(), visible(folder_of(other)));
    let there = other.common_dir.as_deref().filter(|_| other.machine == here.machine);
    let holds = there.zip(here.id()).and_then(|(there, id)| host.holds_repository(there, id));
    let is_isolated = project::get(tx, &project_id)?.is_some_and(|project| project.is_isolated);
    Ok(match (holds, is_isolated) {
        (Some(false), false) => LocatedProject::Moved(other.clone()),
        (Some(false), true) => {
            let reason = format!("its repository has gone from {path}, and the project is isolated");
            LocatedProject::Clone(CloneOf::new(project_id, reason))
        }
        _ if other.machine == here.machine => {
            let reason = format!("git's settings here hold the id of the repository in {path}");
            LocatedProject::Clone(CloneOf::new(project_id, reason))
        }
        _ => {
            let reason =
                format!("git's settings here hold the id of the repository in {path} on another machine");
            LocatedProject::Clone(CloneOf::new(project_id, reason))
        }
    })
}

/// Where the address of a remote was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressSource {
    /// Git's settings of the clone.
    Remote,
    /// The committed `docs/PROJECT.md`, which a clone on any machine has as it was written on the first one.
    Document,
}

impl AddressSource {
    /// The beginning of the clause that ends in the address.
    fn clause(self) -> &'static str {
        match self {
            Self::Remote => "its remote is",
            Self::Document => "its docs/PROJECT.md names the remote",
        }
    }
}

/// The project whose remote this is, or one of whose folders.
pub(crate) fn by_address(
    tx: &mut Tx<'_>,
    here: &CallerLocation<'_>,
    remote: Option<&str>,
    source: AddressSource,
) -> Result<Option<CloneOf>, Failure> {
    let Some(address) = remote.and_then(canonical_address) else { return Ok(None) };
    let is_path = address.starts_with('/');
    let reason = format!("{} {}", source.clause(), visible(&address));
    if is_path && let Some(place) = root_at(tx, here, &address)? {
        return Ok(Some(CloneOf::new(place.project_id, reason)));
    }
    let mut same = Vec::new();
    for known in project::list(tx)? {
        let own = known.vcs_remote_url.as_deref().and_then(canonical_address);
        let is_gone = known.is_placeholder || known.merged_into.is_some();
        if own.as_deref() != Some(address.as_str()) || is_gone || !here.grant.reaches(&known.project_id) {
            continue;
        }
        // A path is another repository on another machine; one that was committed is text, and the same wherever it is read.
        let is_of_here = !is_path || source == AddressSource::Document;
        if is_of_here || !project_root::roots(tx, &known.project_id, here.machine)?.is_empty() {
            same.push(known);
        }
    }
    // The first that was registered; later ones may be clones that are kept apart.
    same.sort_by(|a, b| (a.created_at, &a.project_id).cmp(&(b.created_at, &b.project_id)));
    let mut ids = same.into_iter().map(|known| known.project_id);
    Ok(ids.next().map(|project_id| CloneOf {
        project_id,
        reason,
        others: ids.take(MAX_NAMED_PROJECTS).collect(),
    }))
}

/// The place whose folder, or whose repository, a path of this machine leads to.
fn root_at(tx: &mut Tx<'_>, here: &CallerLocation<'_>, path: &str) -> Result<Option<ProjectRoot>, Failure> {
    let mut found: Vec<ProjectRoot> = project_root::get(tx, here.machine, path)?.into_iter().collect();
    // Links on the way to a folder stay in its place; a git folder is without them.
    for common_dir in [format!("{path}/.git"), format!("{path}.git")] {
        found.extend(project_root::of_repository(tx, here.machine, &common_dir, None)?);
    }
    found.retain(|place| place.machine == here.machine && here.grant.reaches(&place.project_id));
    Ok(found.into_iter().next())
}

/// The place that a project has at a standpoint: of a worktree the main working copy, which stays when the worktree goes.
pub(crate) fn root_of(here: &CallerLocation<'_>, project_id: &str) -> Option<ProjectRoot> {
    let main = here.repository.and_then(|repository| repository.main.as_deref());
    let path = main.or(here.git_root).or(here.folders.first().map(String::as_str))?;
    Some(ProjectRoot {
        project_id: project_id.to_owned(),
        machine: here.machine.to_owned(),
        path: path.to_owned(),
        repository_id: here.id().map(str::to_owned),
        common_dir: here.repository.map(|repository| repository.common_dir.clone()),
        is_worktree: false,
    })
}

/// The refusal for what looks like a clone of a project: whether it is one is the user's to say.
pub(crate) fn clone_refusal(here: &CallerLocation<'_>, of: &CloneOf) -> Refusal {
    let project = &of.project_id;
    let others = match of.others.as_slice() {
        [] => String::new(),
        others => format!("; it is also the remote of {}", others.join(", ")),
    };
    let that = if of.others.is_empty() { "that project" } else { "the first of them" };
    let what =
        format!("{} looks like a clone of project {project}: {}{others}", visible(here.folder()), of.reason);
    Refusal::new(Kind::Conflict, "project_is_clone", what, way_to_clone(here.grant, project, that))
        .with("project_id", json!(project))
}

pub(crate) fn ambiguous_refusal(project: &str, root: &str, git: &str) -> Refusal {
    Refusal::new(
        Kind::Refused,
        "project_ambiguous",
        format!("the repository {git} is not registered, but it lies in {root}, which is project {project}"),
        format!("register it with `baton init`, or say --project {project}"),
    )
}

fn way_to_repair(fault: &str, folder: &str) -> String {
    if fault.contains(NAMES_NO_WORKTREE) {
        return format!(
            "if it is yours: `git -C {folder} config core.worktree {folder}`; else say --project ID"
        );
    }
    format!(
        "if it was moved: `git worktree repair {folder}` in its repository; where git has forgotten it (`git worktree prune`), copy its files \
         to a new worktree; else say --project ID"
    )
}

pub(crate) fn unresolved_refusal(here: &CallerLocation<'_>) -> Refusal {
    if let Some(fault) = here.git_fault {
        return Refusal::new(
            Kind::NotFound,
            "project_unresolved",
            format!("no project is registered for {}: {fault}", visible(here.folder())),
            way_to_repair(fault, &shell_word(here.folder())),
        );
    }
    let what = match here.folders.first() {
        Some(folder) => format!("no project is registered for {}", visible(folder)),
        None => "no project is named, and the caller is in no folder that could belong to one".to_owned(),
    };
    Refusal::new(Kind::NotFound, "project_unresolved", what, way_to_project(here.grant))
}
