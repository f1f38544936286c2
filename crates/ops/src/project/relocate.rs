//! `project_split` and `place_remove`: a place goes to another project, or is forgotten.

use baton_model::access::Scope;
use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::id::{check_project, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::session::Session;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, baton, delta, project, project_root, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::isolation::keep_isolation;
use super::merge::{CarriedBaton, MAX_MOVED, end_hint};
use super::merge_carry::{carry, carry_saved, preview_carried};
use super::merge_rest::end_open;
use super::merge_undo::note_carried;
use super::merged::{refuse_merged, require_not_merged};
use super::places::moved_to;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Reach};
use crate::ownership::is_at_work;
use crate::session::unwrapped_sessions;
use crate::task::require_unclaimed_in_file;
use crate::{project_name, resolve};

/// Gives a place to another project.
pub struct Split;

/// Input of `project_split`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitInput {
    /// The folder, as `project_places` names it.
    pub path: String,
    /// The project that gets it; made if there is none.
    pub to: String,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
    /// Identity that decides.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Forgets a place.
pub struct RemovePlace;

/// Input of `place_remove`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemovePlaceInput {
    /// The folder, as `project_places` names it.
    pub path: String,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
    /// Identity that decides.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of both: which folders changed.
#[derive(Serialize, Deserialize)]
pub struct RelocateOutput {
    /// The project that had the folder.
    pub project_id: String,
    /// What it is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The project that has it now; none where it was forgotten.
    pub to: Option<String>,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_name: Option<String>,
    /// The folders: that one, and the worktrees of its repository that go along.
    pub paths: Vec<String>,
    /// What silent agents had saved there without a wrap: it waits as batons of the other project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batons: Vec<CarriedBaton>,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The command that takes it back.
    pub undo: String,
}

impl Operation for Split {
    const META: Meta =
        Meta::write("project_split", "Give a folder of a project to another one, or to a new one")
            .reads_tasks()
            .scope(Scope::Operator)
            .reach(Reach::Everything);
    type Input = SplitInput;
    type Output = RelocateOutput;

    fn run(input: SplitInput, cx: &mut Cx<'_>) -> Result<RelocateOutput, Failure> {
        check_project(&input.to)?;
        let input = SplitInput { to: cx.env.caller.id_of(&input.to).to_owned(), ..input };
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let mut moved = lookup(cx, &input.path)?;
        refuse_moved(cx, &moved)?;
        let from = moved.project_id().to_owned();
        cx.store.read(|tx| match project::get(tx, &input.to)? {
            None => project_name::refuse(tx, &input.to),
            Some(_) => require_not_merged(tx, &input.to),
        })?;
        if from == input.to {
            let project = cx.store.read(|tx| project_name::title(tx, &from))?;
            let what = format!("{} belongs to project {project} already", visible(&input.path));
            return Err(Refusal::invalid("place_unchanged", what, "name another project").into());
        }
        if !input.dry_run {
            let Cx { store, env } = cx;
            store.write(&[&from, &input.to], |tx| {
                refuse_busy(tx, env, &moved)?;
                require_unclaimed_in_file(tx, env, &from)?;
                refuse_merged(tx, &input.to)?;
                let saved = left_there(tx, env, &from, &moved)?;
                let keeps_isolation = keep_isolation(tx, &from, (&input.to, false))?;
                project_name::register(tx, &input.to, false, env.now)?;
                if keeps_isolation {
                    project::isolate(tx, &input.to, true)?;
                }
                for place in moved.all() {
                    project_root::put(tx, &in_project(place, &input.to, &moved), env.now)?;
                }
                let mut silent = session::open(tx, &from)?;
                silent.retain(|one| moved.holds(one));
                moved.batons = carry_unwrapped(tx, env, &input.to, saved)?;
                moved.batons.extend(carry_back(tx, env, (&from, &input.to), &moved)?);
                let why = format!("its folder went to project {}", input.to);
                end_open(tx, env, &input.to, (&identity, &why), silent)?;
                let gone = format!("folder {} moved to project {}", moved.root.path, input.to);
                let come = format!("folder {} came from project {from}", moved.root.path);
                note(tx, env, (&from, &identity), &gone, json!({ "paths": moved.paths() }))?;
                note(
                    tx,
                    env,
                    (&input.to, &identity),
                    &come,
                    json!({ "paths": moved.paths(), SPLIT_FROM: from, "batons": moved.batons }),
                )
            })?;
        } else {
            moved.batons = cx.store.read(|tx| {
                refuse_busy(tx, &cx.env, &moved)?;
                require_unclaimed_in_file(tx, &cx.env, &from)?;
                let saved = left_there(tx, &cx.env, &from, &moved)?;
                keep_isolation(tx, &from, (&input.to, false))?;
                saved.iter().map(|saved| preview_carried(tx, saved)).collect()
            })?;
        }
        let undo = format!("baton project split {} --to {from}", moved.root.path);
        with_names(cx, moved.answer(Some(input.to), input.dry_run, undo))
    }
}

impl Operation for RemovePlace {
    const META: Meta = Meta::write("place_remove", "Forget a folder of a project; its ledger stays")
        .scope(Scope::Operator)
        .reach(Reach::Everything);
    type Input = RemovePlaceInput;
    type Output = RelocateOutput;

    fn run(input: RemovePlaceInput, cx: &mut Cx<'_>) -> Result<RelocateOutput, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let moved = lookup(cx, &input.path)?;
        let from = moved.project_id().to_owned();
        if !moved.is_registered {
            let path = visible(&input.path);
            let project = cx.store.read(|tx| project_name::title(tx, &from))?;
            let what = format!(
                "{path} is a worktree of project {project}, and no place of its own that could be forgotten"
            );
            let hint = format!("`baton project split {path} --to ID` gives it to another project");
            return Err(Refusal::new(refusal::Kind::NotFound, "place_unknown", what, hint).into());
        }
        if !input.dry_run {
            let Cx { store, env } = cx;
            store.write(&[&from], |tx| {
                refuse_busy(tx, env, &moved)?;
                for place in moved.all() {
                    project_root::remove(tx, &place.machine, &place.path)?;
                }
                let what = format!("folder {} is no place of this project any more", moved.root.path);
                note(tx, env, (&from, &identity), &what, json!({ "paths": moved.paths() }))
            })?;
        } else {
            cx.store.read(|tx| refuse_busy(tx, &cx.env, &moved))?;
        }
        let undo = format!("in {}: baton init --join {from}", moved.root.path);
        with_names(cx, moved.answer(None, input.dry_run, undo))
    }
}

/// The answer with what its projects are called that were renamed.
fn with_names(cx: &mut Cx<'_>, answer: RelocateOutput) -> Result<RelocateOutput, Failure> {
    cx.store.read(|tx| {
        let name = project_name::given_name(tx, &answer.project_id)?;
        let to_name = match &answer.to {
            Some(to) => project_name::given_name(tx, to)?,
            None => None,
        };
        Ok(RelocateOutput { name, to_name, ..answer })
    })
}

/// The silent sessions of a project that saved something in these folders without a wrap.
fn left_there(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    moved: &PlaceGroup,
) -> Result<Vec<Session>, Failure> {
    let mut saved = unwrapped_sessions(tx, env, project_id)?;
    saved.retain(|one| one.is_open() && moved.holds(one));
    Ok(saved)
}

/// Leaves what agents that are silent have saved in a folder as batons of the project that gets it. Their sessions end, so
/// it could not be reached there any more.
fn carry_unwrapped(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    to: &str,
    saved: Vec<Session>,
) -> Result<Vec<CarriedBaton>, Failure> {
    let mut carried = Vec::new();
    for saved in saved {
        let anew = carry_saved(tx, env, &saved, to)?;
        note_carried(tx, env, (&saved, to), anew.to.as_deref())?;
        carried.push(anew);
        env.now += 1;
    }
    Ok(carried)
}

/// What an entry says of a split.
#[derive(Deserialize)]
struct SplitRecord {
    split_from: String,
    paths: Vec<String>,
    #[serde(default)]
    batons: Vec<CarriedBaton>,
}

/// Takes back what an earlier split of these folders had carried over, as far as no session has picked it up since.
fn carry_back(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (from, to): (&str, &str),
    moved: &PlaceGroup,
) -> Result<Vec<CarriedBaton>, Failure> {
    let mut found = Vec::new();
    for entry in delta::newest_of_kind(tx, from, Kind::Other, MAX_MOVED)? {
        let Ok(record) = serde_json::from_str::<SplitRecord>(&entry.body) else { continue };
        let is_of_these = record.paths.iter().any(|path| moved.paths().contains(&path.as_str()));
        if record.split_from != to || !is_of_these {
            continue;
        }
        for id in record.batons.into_iter().filter_map(|carried| carried.to) {
            let waits = |baton: &Baton| baton.spent_by.is_none() && baton.holder_session_id.is_none();
            if let Some(waiting) = baton::get(tx, from, &id)?.filter(waits) {
                found.push(carry(tx, env, waiting, to)?);
                env.now += 1;
            }
        }
    }
    Ok(found)
}

/// The field of an entry that says from which project folders came by a split: a user keeps them apart on purpose.
pub const SPLIT_FROM: &str = "split_from";

/// A place, and the worktrees of its repository that go along.
struct PlaceGroup {
    root: ProjectRoot,
    worktrees: Vec<ProjectRoot>,
    /// Whether the ledger had the place before.
    is_registered: bool,
    /// What silent agents had saved there, as it waits in the other project.
    batons: Vec<CarriedBaton>,
}

impl PlaceGroup {
    fn project_id(&self) -> &str {
        &self.root.project_id
    }

    fn all(&self) -> impl Iterator<Item = &ProjectRoot> {
        std::iter::once(&self.root).chain(&self.worktrees)
    }

    fn paths(&self) -> Vec<&str> {
        self.all().map(|place| place.path.as_str()).collect()
    }

    /// Whether a session works in one of the folders.
    fn holds(&self, session: &Session) -> bool {
        session.working_copy.as_ref().is_some_and(|copy| {
            self.all().any(|place| place.machine == session.location.machine && place.path == copy.root)
        })
    }

    fn answer(self, to: Option<String>, dry_run: bool, undo: String) -> RelocateOutput {
        let paths = self.all().map(|place| place.path.clone()).collect();
        let (project_id, batons) = (self.root.project_id, self.batons);
        RelocateOutput { project_id, name: None, to, to_name: None, paths, batons, dry_run, undo }
    }
}

/// A place as it stands in another project. A worktree that goes alone is registered by itself: its repository stays where it is.
fn in_project(place: &ProjectRoot, project_id: &str, moved: &PlaceGroup) -> ProjectRoot {
    let place = ProjectRoot { project_id: project_id.to_owned(), ..place.clone() };
    match moved.root.is_worktree {
        true => ProjectRoot { is_worktree: false, repository_id: None, common_dir: None, ..place },
        false => place,
    }
}

fn lookup(cx: &mut Cx<'_>, path: &str) -> Result<PlaceGroup, Failure> {
    let machine = cx.env.caller.location.machine.clone();
    cx.store.read(|tx| {
        let known = project_root::get(tx, &machine, path)?;
        let is_registered = known.is_some();
        let Some(place) =
            known.map_or_else(|| unregistered_worktree(tx, &cx.env, path), |place| Ok(Some(place)))?
        else {
            let what = format!("{} is no place of any project on this machine", visible(path));
            let hint = "`baton project places` names those of a project";
            return Err(Refusal::new(refusal::Kind::NotFound, "place_unknown", what, hint).into());
        };
        let mut worktrees = match &place.common_dir {
            Some(common_dir) if !place.is_worktree => {
                project_root::of_repository(tx, &machine, common_dir, None)?
            }
            _ => Vec::new(),
        };
        worktrees.retain(|other| other.is_worktree && other.project_id == place.project_id);
        Ok(PlaceGroup { root: place, worktrees, is_registered, batons: Vec::new() })
    })
}

/// A worktree in which no session was yet: it belongs to the project of its repository.
fn unregistered_worktree(tx: &mut Tx<'_>, env: &Env<'_>, path: &str) -> Result<Option<ProjectRoot>, Failure> {
    let machine = &env.caller.location.machine;
    let around = env.host.repository(path).filter(|(root, now)| root == path && now.is_worktree);
    let Some((_, now)) = around else { return Ok(None) };
    let of_it = project_root::of_repository(tx, machine, &now.common_dir, now.id.as_deref())?;
    Ok(of_it.into_iter().find(|place| place.machine == *machine).map(|main| ProjectRoot {
        project_id: main.project_id,
        machine: machine.clone(),
        path: path.to_owned(),
        repository_id: now.id,
        common_dir: Some(now.common_dir),
        is_worktree: true,
    }))
}

/// Refuses to give away the former folder of a worktree: nothing lies there, and the worktree would stay where it is.
fn refuse_moved(cx: &mut Cx<'_>, moved: &PlaceGroup) -> Result<(), Failure> {
    let Some(folder) = moved_to(cx, &moved.root)? else { return Ok(()) };
    let what = format!("the worktree {} was moved to {}", visible(&moved.root.path), visible(&folder));
    let hint =
        format!("name the folder in which it is now: `baton project split {} --to ID`", visible(&folder));
    Err(Refusal::new(refusal::Kind::Conflict, "place_moved", what, hint).into())
}

/// Refuses while an agent is at work in one of the folders: what it does next would go elsewhere.
fn refuse_busy(tx: &mut Tx<'_>, env: &Env<'_>, moved: &PlaceGroup) -> Result<(), Failure> {
    let at_work = |session: &Session| is_at_work(env, session) && moved.holds(session);
    let open = session::open(tx, moved.project_id())?;
    let busy: Vec<&Session> = open.iter().filter(|one| at_work(one)).collect();
    if busy.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = busy.iter().map(|one| one.describe(env.now)).collect();
    let what = format!("{} is at work in {}", names.join(", "), visible(&moved.root.path));
    Err(Refusal::new(refusal::Kind::Conflict, "place_busy", what, end_hint(busy)).into())
}

fn note(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, identity): (&str, &str),
    summary: &str,
    mut body: Value,
) -> Result<(), Failure> {
    let author = Author { project_id, identity, session: None };
    body["summary"] = json!(summary);
    append_json(tx, env, &author, Kind::Other, &body)?;
    Ok(())
}
