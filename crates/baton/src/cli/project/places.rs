//! `baton project places`, `rename`, `split`, `remove` and `merge`

use std::path::{Component, Path, PathBuf};

use baton_model::accounting::plural;
use baton_model::id::{short, visible};
use baton_model::project::title;
use baton_model::repository::machine_name;
use baton_ops::project::{
    self, CarriedBaton, MergeInput, MergeOutput, PlaceKind, PlaceRow, PlacesInput, RelocateOutput,
    RenameInput, RenameOutput, SplitInput,
};

use crate::app::App;
use crate::cli::ActingIdentity;
use crate::error::AppError;
use crate::git;
use crate::render;

#[derive(clap::Args)]
pub(super) struct Split {
    /// Folder; the working directory if omitted
    path: Option<PathBuf>,
    /// Project that gets it; made if there is none
    #[arg(long, value_name = "ID")]
    to: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct Rename {
    /// Project id or name; the project of the working directory if omitted
    id: Option<String>,
    /// Name from now on; the id takes it away again
    #[arg(long, value_name = "NAME")]
    to: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct Remove {
    /// Folder; the working directory if omitted
    path: Option<PathBuf>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct Merge {
    /// Project that ends
    from: String,
    /// Project that goes on
    #[arg(long, value_name = "ID")]
    into: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// Take an earlier merge of the two back
    #[arg(long)]
    undo: bool,
}

pub(super) fn list(app: &mut App) -> Result<(), AppError> {
    let mut places = app.run::<project::Places>(&PlacesInput { project: app.project.clone() })?;
    find_gone(app, &mut places.items);
    app.show(&places, |places| render::table(&places.items.iter().map(row).collect::<Vec<_>>()))
}

/// Says of worktrees of this machine which are gone, and where they were moved to, where the answer does not: a server is told nothing of
/// folders that are no working copies.
fn find_gone(app: &App, places: &mut Vec<PlaceRow>) {
    let is_unknown = |place: &&mut PlaceRow| place.is_this_machine && place.is_there.is_none();
    for place in places.iter_mut().filter(is_unknown) {
        place.is_there = Some(Path::new(&place.path).is_dir());
        if place.is_there == Some(false) && place.kind == PlaceKind::Worktree {
            place.moved_to = app.config.cwd.as_deref().and_then(|cwd| new_folder(cwd, place));
            let now = place.moved_to.as_deref().and_then(|folder| git::repository(Path::new(folder)).ok());
            (place.branch, place.commit) = now.map_or((None, None), |now| (now.branch, now.commit));
        }
    }
    project::each_once(places);
}

/// Where a worktree lies by now, as git says: under its name, or, where it was moved before, too, where its branch is checked out.
fn new_folder(cwd: &Path, place: &PlaceRow) -> Option<String> {
    // One that was made after the last session there is another one.
    let heard_at = place.last_heard_at.map_or(0, |at| at.0);
    let named = |folder: &str| {
        let name = Path::new(folder).file_name()?.to_str()?;
        git::worktree_named(cwd, name)
    };
    let by_name = named(&place.path).filter(|(_, since)| *since <= heard_at).map(|(found, _)| found);
    let found = by_name.or_else(|| {
        let found = git::checkout_of(cwd, place.branch.as_deref()?)?;
        let is_main = git::repository(Path::new(&found)).is_ok_and(|own| !own.is_worktree);
        let made_there = named(&found).filter(|(folder, _)| *folder == found);
        (!is_main && made_there.is_none_or(|(_, since)| since <= heard_at)).then_some(found)
    });
    found.filter(|found| *found != place.path)
}

fn row(place: &PlaceRow) -> Vec<String> {
    let machine = match place.is_this_machine {
        true => "this machine".to_owned(),
        false => machine_name(place.host.as_deref(), &place.machine),
    };
    let head = match (&place.branch, &place.commit) {
        (Some(branch), _) => format!("branch {}", visible(branch)),
        (None, Some(commit)) => format!("at {}", visible(commit.get(..7).unwrap_or(commit))),
        (None, None) => String::new(),
    };
    let gone = match &place.moved_to {
        Some(folder) => format!("moved to {}", visible(folder)),
        None if place.holds_other => "gone: another repository lies there".to_owned(),
        None if place.is_there == Some(false) => "gone".to_owned(),
        None => String::new(),
    };
    let sessions: Vec<String> = place.sessions.iter().map(|session| visible(&session.identity)).collect();
    vec![machine, visible(&place.path), place.kind.as_str().to_owned(), head, gone, sessions.join(", ")]
}

pub(super) fn split(args: Split, app: &mut App) -> Result<(), AppError> {
    let input = SplitInput {
        path: folder(args.path, app),
        to: args.to,
        dry_run: args.dry_run,
        identity: args.who.identity,
    };
    let moved = app.run::<project::Split>(&input)?;
    app.show(&moved, relocated)
}

pub(super) fn remove(args: Remove, app: &mut App) -> Result<(), AppError> {
    let (path, identity) = (folder(args.path, app), args.who.identity);
    let input = project::RemovePlaceInput { path, dry_run: args.dry_run, identity };
    let removed = app.run::<project::RemovePlace>(&input)?;
    app.show(&removed, relocated)
}

pub(super) fn rename(args: Rename, app: &mut App) -> Result<(), AppError> {
    let project = args.id.or_else(|| app.project.clone());
    let input = RenameInput { project, to: args.to, dry_run: args.dry_run, identity: args.who.identity };
    let renamed = app.run::<project::Rename>(&input)?;
    app.show(&renamed, renamed_text)
}

fn renamed_text(answer: &RenameOutput) -> String {
    let would = if answer.dry_run { "nothing was changed; this would happen:\n" } else { "" };
    let names: Vec<String> = answer.names.iter().map(|name| visible(name)).collect();
    format!(
        "{would}project {} is called {}; its id {} stays\n  it is found by: {}\nundo: {}\n",
        visible(&answer.before),
        visible(&answer.name),
        visible(&answer.project_id),
        names.join(", "),
        visible(&answer.undo)
    )
}

/// The folder that is meant, as the ledger knows it: whole, and the top of the working copy where none is named.
fn folder(named: Option<PathBuf>, app: &mut App) -> String {
    let caller = app.caller();
    let own = || caller.git_root.clone().or_else(|| caller.folders.first().cloned());
    let Some(named) = named else { return own().unwrap_or_default() };
    let whole = app.config.cwd.as_deref().unwrap_or(Path::new("")).join(named);
    absolute(&whole).display().to_string()
}

/// A path without links and `..`. Of a folder that is gone, as far as it is there; the rest is named as it was.
fn absolute(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    for above in path.ancestors() {
        if let Ok(there) = above.canonicalize() {
            return rest.iter().rev().fold(there, |mut path, part| {
                match part {
                    Component::ParentDir => _ = path.pop(),
                    part => path.push(part),
                }
                path
            });
        }
        rest.extend(above.components().next_back());
    }
    path.to_owned()
}

fn relocated(answer: &RelocateOutput) -> String {
    let would = if answer.dry_run { "nothing was changed; this would happen:\n" } else { "" };
    let from = visible(&title(&answer.project_id, answer.name.as_deref()));
    let what = match &answer.to {
        Some(to) => {
            format!("from project {from} to project {}", visible(&title(to, answer.to_name.as_deref())))
        }
        None => format!("is no place of project {from} any more"),
    };
    let paths = answer.paths.iter().map(|path| format!("{} {what}\n", visible(path)));
    let batons: String = answer.batons.iter().map(carried_text).collect();
    format!("{would}{}{batons}undo: {}\n", paths.collect::<String>(), visible(&answer.undo))
}

pub(super) fn merge(args: Merge, app: &mut App) -> Result<(), AppError> {
    let input = MergeInput {
        from: args.from,
        into: args.into,
        dry_run: args.dry_run,
        undo: args.undo,
        identity: args.who.identity,
    };
    let merged = app.run::<project::Merge>(&input)?;
    app.show(&merged, merged_text)
}

fn carried_text(carried: &CarriedBaton) -> String {
    let to = carried.to.as_deref().map(|to| format!(" is {} now", visible(short(to)))).unwrap_or_default();
    let what = if carried.is_session { "session" } else { "baton" };
    format!("  {what} {}{to}: {}\n", visible(short(&carried.from)), visible(&carried.summary))
}

/// What waits again in the project to which it is given back.
fn returned_text(carried: &CarriedBaton) -> String {
    let (id, summary) = (visible(short(&carried.from)), visible(&carried.summary));
    match carried.is_session {
        true => format!("  what session {id} saved waits as a baton: {summary}\n"),
        false => format!("  baton {id} waits again: {summary}\n"),
    }
}

fn merged_text(answer: &MergeOutput) -> String {
    let from = visible(&answer.from);
    let ended = visible(&title(&answer.from, answer.from_name.as_deref()));
    let into = visible(&title(&answer.project_id, answer.name.as_deref()));
    let mut text =
        if answer.dry_run { "nothing was changed; this would happen:\n".to_owned() } else { String::new() };
    text.push_str(&match answer.undo {
        Some(_) => format!("project {ended} merged into {into}\n"),
        None => format!("the merge of project {ended} into {into} is taken back\n"),
    });
    text.extend(answer.paths.iter().map(|path| format!("  folder {}\n", visible(path))));
    let line = if answer.undo.is_some() { carried_text } else { returned_text };
    text.extend(answer.batons.iter().map(line));
    if !answer.batons_left.is_empty() {
        text.push_str(&format!("  continued in {into} meanwhile, and left there:\n"));
        text.extend(answer.batons_left.iter().map(carried_text));
    }
    if answer.undo.is_some() {
        text.push_str(&format!("  the ledger of {ended} stays as it is: `baton --project {from} log`\n"));
    }
    if answer.messages_moved > 0 || answer.leases_moved > 0 {
        let (mail, leases) = (answer.messages_moved, answer.leases_moved);
        text.push_str(&format!("  mail that waits: {mail}, leases that are held: {leases}\n"));
    }
    if answer.handoffs_moved > 0 {
        text.push_str(&format!("  hand-offs whose result is awaited here: {}\n", answer.handoffs_moved));
    }
    if answer.sealed_left > 0 {
        text.push_str(&format!(
            "  {} encrypted messages stay there, whose keys are of that project: `baton --project {from} mail inbox`\n",
            answer.sealed_left
        ));
    }
    if answer.transcripts_moved > 0 {
        text.push_str(&format!("  sessions that were pushed: {}\n", answer.transcripts_moved));
    }
    if answer.transcripts_left > 0 {
        text.push_str(&format!(
            "  {} {} left there, encrypted or because {into} takes none: `baton --project {from} transcripts pushed`\n",
            answer.transcripts_left,
            plural(answer.transcripts_left, "pushed session")
        ));
    }
    if answer.tasks_left > 0 {
        text.push_str(&format!(
            "  {} {} left there: `baton --project {from} task list`\n",
            answer.tasks_left,
            plural(answer.tasks_left, "open task")
        ));
    }
    text.extend(answer.undo.as_ref().map(|undo| format!("undo: {}\n", visible(undo))));
    text
}
