//! Which project a folder is registered for, and as which place. What is not clear is asked, never guessed.

use baton_model::delta::Kind;
use baton_model::id::{check_project, slug, visible};
use baton_model::project::Project;
use baton_model::project_document;
use baton_model::refusal::{self, Refusal};
use baton_model::repository::Repository;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, project, project_root, session};
use serde_json::json;

use super::init::InitInput;
use crate::displaced::put_root;
use crate::ledger::{Author, append_json};
use crate::locate::{
    AddressSource, CallerLocation, CloneOf, LocatedProject, by_address, clone_refusal, locate, root_of,
    unresolved_refusal,
};
use crate::op::{Cx, Env};
use crate::resolve;
use crate::task::require_unclaimed_in_file;

/// Most names that a refusal lists.
const MAX_NAMED_PROJECTS: usize = 5;

/// What a registration writes.
pub(super) struct Choice {
    /// The folder, with its project.
    pub root: ProjectRoot,
    /// Places of the same repository that go along, or are gone.
    also: Vec<ProjectRoot>,
    /// The project that it belonged to.
    pub taken_from: Option<String>,
    /// Whether it did not belong to the project before.
    pub is_new: bool,
    /// Whether there was no such project, so that the folder founds it.
    is_founding: bool,
}

impl Choice {
    /// The projects that the registration writes into.
    pub(super) fn projects(&self) -> Vec<&str> {
        std::iter::once(self.root.project_id.as_str()).chain(self.taken_from.as_deref()).collect()
    }
}

/// The project of the caller's folder: the one that is named, else the one that it belongs to, else a new one.
pub(super) fn choose(cx: &mut Cx<'_>, input: &InitInput) -> Result<Choice, Failure> {
    let caller = cx.env.caller;
    let here = CallerLocation::of(caller);
    let unknown_folder = || {
        let what = "the working directory is not known";
        Refusal::invalid("folder_unknown", what, "run `baton init` in the folder of the project")
    };
    let named = input.join.as_deref().or(input.id.as_deref()).or(caller.project.as_deref());
    let named = named.map(|name| caller.id_of(name));
    named.map_or(Ok(()), check_project)?;
    if root_of(&here, "").is_none() {
        return Err(unknown_folder().into());
    }
    let host = cx.env.host;
    let (project_id, location, is_founding) = cx.store.read(|tx| {
        let location = locate(tx, host, &here)?;
        let project_id = match named {
            Some(id) => named_project(tx, input, id)?,
            None => unnamed_project(tx, input, &here, &location)?,
        };
        let belongs_to = match &location {
            LocatedProject::Project(own) => Some(own),
            LocatedProject::Moved(from) => Some(&from.project_id),
            _ => None,
        };
        if let Some(own) = belongs_to.filter(|own| **own != project_id && !input.move_folder) {
            return Err(folder_taken(tx, &here, own, &project_id)?.into());
        }
        if named.is_some() && input.join.is_none() && belongs_to.is_none() {
            refuse_stranger(tx, input, &location, &project_id)?;
        }
        let is_founding = project::get(tx, &project_id)?.is_none_or(|known| known.is_placeholder);
        Ok((project_id, location, is_founding))
    })?;
    let is_new = match &location {
        LocatedProject::Project(own) | LocatedProject::Moved(ProjectRoot { project_id: own, .. }) => {
            *own != project_id
        }
        _ => true,
    };
    let taken_from = match location {
        LocatedProject::Project(own) | LocatedProject::Moved(ProjectRoot { project_id: own, .. })
            if own != project_id =>
        {
            Some(own)
        }
        _ => None,
    };
    let place = root_of(&here, &project_id).ok_or_else(unknown_folder)?;
    let mut chosen = Choice { root: place, also: Vec::new(), taken_from, is_new, is_founding };
    if let Some(repository) = here.repository {
        let fresh = cx.env.id();
        cx.store.read(|tx| choose_repository_id(tx, &cx.env, (&here, repository), &mut chosen, &fresh))?;
    }
    Ok(chosen)
}

fn named_project(tx: &mut Tx<'_>, input: &InitInput, id: &str) -> Result<String, Failure> {
    if project::get(tx, id)?.is_none() && (input.join.is_some() || project::of_name(tx, id)?.is_some()) {
        return Err(resolve::no_project_refusal(id).into());
    }
    Ok(id.to_owned())
}

/// The project that the folder belongs to; else the one that the repository's file names, or one named after the folder, where
/// there is none of that name.
fn unnamed_project(
    tx: &mut Tx<'_>,
    input: &InitInput,
    here: &CallerLocation<'_>,
    location: &LocatedProject,
) -> Result<String, Failure> {
    match location {
        LocatedProject::Project(id) if !input.separate => return Ok(id.clone()),
        LocatedProject::Moved(from) if !input.separate => return Ok(from.project_id.clone()),
        LocatedProject::Clone(of) if !input.separate => return Err(clone_refusal(here, of).into()),
        _ => {}
    }
    if let Some(claimed) = input.claimed.as_deref() {
        check_project(claimed)?;
        if project::get(tx, claimed)?.is_some() || project::of_name(tx, claimed)?.is_some() {
            return Err(claims_another_refusal(claimed).into());
        }
        return Ok(claimed.to_owned());
    }
    // The folder of a repository that cannot be found would become a project of its own.
    if here.git_fault.is_some() {
        return Err(unresolved_refusal(here).into());
    }
    if !input.separate {
        refuse_clone(tx, input, here)?;
    }
    let path = root_of(here, "").map(|place| place.path).unwrap_or_default();
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    let id = slug(name).ok_or_else(|| {
        Refusal::invalid(
            "project_invalid",
            format!("no project id can be made from the folder name `{name}`"),
            "say one: baton init --id ID",
        )
    })?;
    let known = project::get(tx, &id)?.filter(|known| !known.is_placeholder);
    // Another process may have registered this very folder since it was looked up.
    let is_own = project_root::get(tx, here.machine, &path)?.is_some_and(|own| own.project_id == id);
    let is_free = known.is_none() && project::of_name(tx, &id)?.is_none();
    if is_free || is_own { Ok(id) } else { Err(name_conflict_refusal(&id).into()) }
}

/// Refuses a clone of a known project: by its own remote, or by the one that its committed document names.
fn refuse_clone(tx: &mut Tx<'_>, input: &InitInput, here: &CallerLocation<'_>) -> Result<(), Failure> {
    let document = input.document.as_deref().and_then(|text| project_document::read(text).ok());
    let document = document.and_then(|document| document.vcs_remote_url);
    let own = here.repository.and_then(|repository| repository.remote.as_deref());
    for (remote, source) in [(own, AddressSource::Remote), (document.as_deref(), AddressSource::Document)] {
        if let Some(of) = by_address(tx, here, remote, source)? {
            return Err(clone_refusal(here, &of).into());
        }
    }
    Ok(())
}

/// Refuses to make a folder a place of a project that is there and to which nothing leads from it but the id that was named: it may be
/// the project of another repository.
fn refuse_stranger(
    tx: &mut Tx<'_>,
    input: &InitInput,
    location: &LocatedProject,
    project_id: &str,
) -> Result<(), Failure> {
    let is_clone =
        |of: &CloneOf| of.project_id == project_id || of.others.iter().any(|other| other == project_id);
    if matches!(location, LocatedProject::Clone(of) if !input.separate && is_clone(of)) {
        return Ok(());
    }
    // What was merged is refused as that.
    let is_met = |known: &Project| !known.is_placeholder && known.merged_into.is_none();
    let known = project::get(tx, project_id)?.filter(is_met);
    if known.is_some() { Err(name_conflict_refusal(project_id).into()) } else { Ok(()) }
}

/// Refuses where a project was to be founded and another folder has founded it since, unless it is this very one.
pub(super) fn refuse_overtaken(tx: &mut Tx<'_>, chosen: &Choice) -> Result<(), Failure> {
    let place = &chosen.root;
    if !chosen.is_founding || project::get(tx, &place.project_id)?.is_none_or(|known| known.is_placeholder) {
        return Ok(());
    }
    let there = project_root::get(tx, &place.machine, &place.path)?;
    let is_own = there.is_some_and(|there| there.project_id == place.project_id);
    if is_own { Ok(()) } else { Err(name_conflict_refusal(&place.project_id).into()) }
}

fn name_conflict_refusal(id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "project_taken",
        format!("there is a project `{id}`, and this folder is no place of it"),
        format!(
            "say which is meant: `baton init --join {id}` joins it, `baton init --id OTHER` makes a new one"
        ),
    )
    .with("project_id", id)
}

/// The refusal for a repository that names an existing project: it would receive that project's hand-offs, and write
/// into it.
fn claims_another_refusal(id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "project_claimed",
        format!("this repository's .baton.toml names project `{id}`, which is registered elsewhere"),
        format!(
            "if it is the same work, `baton init --join {id}` joins it; else `baton init --id OTHER` makes a new one"
        ),
    )
    .with("project_id", id)
}

/// The refusal for a folder that belongs to another project, with who is at work in that.
fn folder_taken(
    tx: &mut Tx<'_>,
    here: &CallerLocation<'_>,
    own: &str,
    wanted: &str,
) -> Result<Refusal, Failure> {
    let open = session::open(tx, own)?;
    let mut names: Vec<String> = open.iter().map(|session| visible(&session.identity)).collect();
    names.dedup();
    let more = names.len().saturating_sub(MAX_NAMED_PROJECTS);
    names.truncate(MAX_NAMED_PROJECTS);
    let at_work = match (names.as_slice(), more) {
        ([], _) => String::new(),
        (names, 0) => format!(", in which {} has an open session", names.join(", ")),
        (names, more) => format!(", in which {} and {more} more have open sessions", names.join(", ")),
    };
    let folder = root_of(here, own).map(|place| visible(&place.path)).unwrap_or_default();
    let what = format!("{folder} belongs to project `{own}`{at_work}");
    let verb = if project::get(tx, wanted)?.is_some() { "join" } else { "id" };
    let hint = format!(
        "`baton init --{verb} {wanted} --move` takes it away from there; what was done stays in project {own}"
    );
    let sessions: Vec<&str> = open.iter().map(|session| session.session_id.as_str()).collect();
    let refusal = Refusal::new(refusal::Kind::Conflict, "folder_taken", what, hint);
    Ok(refusal.with("project_id", own).with("sessions", json!(sessions)))
}

/// Settles the id of the repository, and which other places are touched.
fn choose_repository_id(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (here, repository): (&CallerLocation<'_>, &Repository),
    chosen: &mut Choice,
    fresh: &str,
) -> Result<(), Failure> {
    let project_id = chosen.root.project_id.clone();
    // A worktree that was registered as a project of its own stays one: its repository may be another project's.
    if repository.is_worktree
        && let Some(git) = here.git_root
        && project_root::get(tx, here.machine, git)?
            .is_some_and(|own| !own.is_worktree && own.project_id == project_id)
        && repository.main.is_some()
    {
        chosen.root = ProjectRoot {
            path: git.to_owned(),
            repository_id: None,
            common_dir: None,
            ..chosen.root.clone()
        };
        return Ok(());
    }
    let known =
        project_root::of_repository(tx, here.machine, &repository.common_dir, repository.id.as_deref())?;
    let own_dir = Some(repository.common_dir.as_str());
    let (at_home, elsewhere): (Vec<ProjectRoot>, Vec<ProjectRoot>) = known
        .into_iter()
        .partition(|place| place.machine == here.machine && place.common_dir.as_deref() == own_dir);
    let at_home = at_home.into_iter().filter(|place| place.is_worktree);
    chosen.also.extend(at_home.map(|place| ProjectRoot { project_id: project_id.clone(), ..place }));
    let mut is_copy = false;
    // On another machine it may be this very folder, mounted there: it keeps its id.
    for other in elsewhere.into_iter().filter(|other| other.machine == here.machine) {
        let there = other.common_dir.as_deref();
        let holds =
            there.zip(repository.id.as_deref()).and_then(|(dir, id)| env.host.holds_repository(dir, id));
        match holds {
            // It was there, and is here now.
            Some(false) => chosen.also.push(ProjectRoot { project_id: String::new(), ..other }),
            // Each copy has an id of its own, so that either may move.
            _ => is_copy = true,
        }
    }
    if is_copy || chosen.root.repository_id.is_none() {
        chosen.root.repository_id = Some(fresh.to_owned());
    }
    Ok(())
}

/// Writes the places of a registration.
pub(super) fn record(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    chosen: &Choice,
    identity: &str,
) -> Result<(), Failure> {
    if let Some(from) = chosen.taken_from.as_deref() {
        require_unclaimed_in_file(tx, env, from)?;
    }
    for other in &chosen.also {
        if other.project_id.is_empty() {
            project_root::remove(tx, &other.machine, &other.path)?;
        } else {
            project_root::put(tx, other, env.now)?;
        }
    }
    put_root(tx, &chosen.root, env.now)?;
    let Some(from) = chosen.taken_from.as_deref() else { return Ok(()) };
    let summary = format!("folder moved to project {}", chosen.root.project_id);
    let body = json!({ "summary": summary, "path": chosen.root.path, "project_id": chosen.root.project_id });
    let author = Author { project_id: from, identity, session: None };
    append_json(tx, env, &author, Kind::Other, &body)?;
    Ok(())
}
