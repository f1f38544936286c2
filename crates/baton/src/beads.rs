//! The tasks of a project and the Beads file: taken in, written out, kept in step. Both ways go by a few lines at a time, so a
//! file may be larger than the memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use baton_ops::{ImportWish, Lines};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::issues_file::{FileLines, FileTurn, ReplaceResult, Version};
use crate::private::store_identity;
use crate::raw_lines::{LineSelection, RawLines};
use crate::render;
use crate::repo_file::RepoFile;

/// Tasks whose lines are in memory at once.
const CHUNK: usize = 200;

/// Takes the tasks of a file in.
pub fn import(app: &mut App, file: &RepoFile, identity: Option<&str>, dry_run: bool) -> Result<Value, Ended> {
    let mut lines = FileLines::open(file)?;
    let project = app.project.clone();
    let wish = ImportWish { project: project.as_deref(), identity, dry_run, ..ImportWish::default() };
    app.import_lines(&wish, &mut lines)
}

/// How often the file is read anew when another program writes it at the same time.
const TRIES: u32 = 5;

/// Writes the tasks to a file that holds nothing else.
pub fn export(app: &mut App, file: &RepoFile) -> Result<Value, Ended> {
    let (mut turn, path) = (FileTurn::wait(file, &app.config.data_dir)?, file.path());
    for _ in 0..TRIES {
        let version = turn.version();
        let head = head(app, app.project.clone().as_deref())?;
        if !turn.is_ours(&stamp(app, &head)) {
            let unseen = unseen(app, &turn, &head)?;
            if unseen.lines > 0 {
                return Err(would_lose(&path, &unseen).into());
            }
        }
        let kept =
            LineSelection::Last(if turn.is_ours(&stamp(app, &head)) { turn.unreadable_tail() } else { 0 });
        if let Some(answer) = publish(app, &mut turn, &head, (version.as_ref(), &kept), &path)? {
            return Ok(answer);
        }
    }
    Err(overtaken(&path).into())
}

fn overtaken(path: &Path) -> Refusal {
    let what = format!("{} was written by another program each time it was read", path.display());
    Refusal::new(
        Kind::Conflict,
        "beads_busy",
        what,
        "try again when that program is done; nothing was overwritten",
    )
}

/// The project of the working directory, whose file it is.
pub fn own_project(app: &mut App) -> Option<String> {
    let mut caller = app.caller();
    // Not what the command line names: that may be another project.
    caller.project.clone_from(&app.config.project);
    let found = app.call_as(&caller, "beads_export", json!({ "only_seq": true })).ok()?;
    found["project_id"].as_str().map(str::to_owned)
}

/// Brings the file to where the tasks of this project are; what it has that the ledger has not seen is taken in first. What is wrong
/// with single lines is told: they stay as they are.
pub fn mirror(app: &mut App, project: &str, file: &RepoFile) -> Result<Vec<String>, Ended> {
    let mut turn = FileTurn::wait(file, &app.config.data_dir)?;
    bring_in_step(app, project, &mut turn, &file.path())
}

/// The turn at a file that is in step, held while an operation runs that only one ledger may carry out.
pub struct ExclusiveTurn {
    turn: FileTurn,
    project: String,
    path: PathBuf,
}

impl ExclusiveTurn {
    /// Waits for the turn and brings the file in step.
    pub fn take(app: &mut App, project: String, file: &RepoFile) -> Result<(Self, Vec<String>), Ended> {
        let (turn, path) = (FileTurn::wait(file, &app.config.data_dir)?, file.path());
        let mut held = Self { turn, project, path };
        let complaints = held.look(app)?;
        Ok((held, complaints))
    }

    fn look(&mut self, app: &mut App) -> Result<Vec<String>, Ended> {
        bring_in_step(app, &self.project, &mut self.turn, &self.path)
    }

    /// Writes what the operation did and ends the turn.
    pub fn settle(mut self, app: &mut App) -> Result<Vec<String>, Ended> {
        self.look(app)
    }
}

/// The same, by the holder of the turn.
fn bring_in_step(
    app: &mut App,
    project: &str,
    turn: &mut FileTurn,
    path: &Path,
) -> Result<Vec<String>, Ended> {
    let mut complaints = Vec::new();
    for _ in 0..TRIES {
        if step(app, project, turn, path, &mut complaints)? {
            return Ok(complaints);
        }
    }
    Err(overtaken(path).into())
}

/// One attempt; false where another program wrote the file in the meantime.
fn step(
    app: &mut App,
    project: &str,
    turn: &mut FileTurn,
    path: &Path,
    complaints: &mut Vec<String>,
) -> Result<bool, Ended> {
    let version = turn.version();
    let now = app.call("beads_export", json!({ "project": project, "only_seq": true }))?;
    // Whoever had the turn before has written what we wrote, too.
    if turn.is_current(&stamp(app, &now), now["seq"].as_i64().unwrap_or_default()) {
        return Ok(true);
    }
    let mut whole = head(app, Some(project))?;
    // A store that went back to an earlier state, by a backup or a copy, has not seen what the file has.
    let went_back = turn.noted_seq().is_some_and(|seq| seq > whole["seq"].as_i64().unwrap_or_default());
    let is_ours = !went_back && turn.is_ours(&stamp(app, &whole));
    let mut kept = LineSelection::Last(if is_ours { turn.unreadable_tail() } else { 0 });
    if !is_ours
        && unseen(app, turn, &whole)?.lines > 0
        && let Some(mut lines) = turn.lines()?
    {
        // The file has changed beside us: the whole of it is read, so that a fault is named by its line.
        let wish = ImportWish { project: Some(project), lenient: true, ..ImportWish::default() };
        let came = app.import_lines(&wish, &mut lines)?;
        let found = render::list(&came, "complaints");
        complaints.clear();
        complaints.extend(found.iter().map(complaint_text));
        let unreadable = found.iter().filter(|complaint| complaint["unreadable"] == true);
        let numbers = unreadable.filter_map(|complaint| usize::try_from(complaint["line"].as_u64()?).ok());
        kept = LineSelection::Numbers(numbers.collect());
        whole = head(app, Some(project))?;
    }
    Ok(publish(app, turn, &whole, (version.as_ref(), &kept), path)?.is_some())
}

fn complaint_text(complaint: &Value) -> String {
    let text = render::text(complaint, "text");
    if complaint["unreadable"] == true { format!("{text}; it is kept as it is") } else { text }
}

/// The ids of all tasks, the lines that are no tasks, and for which change of the ledger that is.
fn head(app: &mut App, project: Option<&str>) -> Result<Value, Ended> {
    app.call("beads_export", json!({ "project": project, "only_ids": true }))
}

/// The lines of these tasks.
fn lines_of(app: &mut App, head: &Value, ids: &[&str]) -> Result<Value, Ended> {
    app.call("beads_export", json!({ "project": head["project_id"], "tasks": ids }))
}

fn ids(head: &Value) -> Vec<&str> {
    render::list(head, "ids").iter().filter_map(Value::as_str).collect()
}

/// Which store and project a file was written from. A store that was put in the place of another is another one.
fn stamp(app: &App, answer: &Value) -> String {
    format!(
        "{}{} {}",
        app.config.ledger(),
        store_identity(&app.config.store),
        render::text(answer, "project_id")
    )
}

/// What is looked at of a line.
#[derive(Deserialize)]
struct Glance {
    #[serde(rename = "_type")]
    kind: Option<Value>,
    id: Option<Value>,
    key: Option<Value>,
}

impl Glance {
    fn of(line: &str) -> Self {
        serde_json::from_str(line).unwrap_or(Self { kind: None, id: None, key: None })
    }

    /// The id of a task; none for a line that is no task.
    fn task(&self) -> Option<&str> {
        let is_task = self.kind.as_ref().is_none_or(|kind| kind == "issue");
        self.id.as_ref().and_then(Value::as_str).filter(|_| is_task)
    }

    fn name(&self) -> String {
        let named = [&self.id, &self.key].into_iter().flatten().find_map(Value::as_str);
        named.unwrap_or("a line that is no task").to_owned()
    }
}

/// Lines of a file that are neither what the ledger would write nor what it knows was there.
#[derive(Default)]
struct Unseen {
    lines: usize,
    /// Of the first few.
    names: Vec<String>,
}

impl Unseen {
    fn add(&mut self, name: String) {
        self.lines += 1;
        if self.names.len() < 5 {
            self.names.push(name);
        }
    }
}

fn unseen(app: &mut App, turn: &FileTurn, head: &Value) -> Result<Unseen, Ended> {
    let mut found = Unseen::default();
    let Some(mut lines) = turn.lines()? else { return Ok(found) };
    let known: HashSet<&str> = ids(head).into_iter().collect();
    let others: HashSet<&str> =
        render::list(head, "items").iter().filter_map(|item| item["line"].as_str()).collect();
    let mut chunk: Vec<(String, String)> = Vec::new();
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line.trim().to_owned(),
            Ok(None) => break,
            Err(refusal) if refusal.code == "beads_invalid" => {
                found.add("a line that cannot be read".to_owned());
                continue;
            }
            Err(refusal) => return Err(refusal.into()),
        };
        let glance = Glance::of(&line);
        match glance.task() {
            _ if line.is_empty() => {}
            Some(id) if known.contains(id) => chunk.push((id.to_owned(), line)),
            None if others.contains(line.as_str()) => {}
            _ => found.add(glance.name()),
        }
        if chunk.len() >= CHUNK {
            compare(app, head, &mut chunk, &mut found)?;
        }
    }
    compare(app, head, &mut chunk, &mut found)?;
    Ok(found)
}

/// Looks for lines of tasks that the ledger knows in another form.
fn compare(
    app: &mut App,
    head: &Value,
    chunk: &mut Vec<(String, String)>,
    found: &mut Unseen,
) -> Result<(), Ended> {
    if chunk.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = chunk.iter().map(|(id, _)| id.as_str()).collect();
    let answer = lines_of(app, head, &ids)?;
    let items = render::list(&answer, "items");
    for (id, line) in chunk.iter() {
        let known = items.iter().find(|item| item["id"] == id.as_str());
        if known.is_none_or(|item| item["line"] != line.as_str() && item["before"] != line.as_str()) {
            found.add(id.clone());
        }
    }
    chunk.clear();
    Ok(())
}

fn would_lose(path: &Path, unseen: &Unseen) -> Refusal {
    let more = if unseen.lines > unseen.names.len() { ", …" } else { "" };
    Refusal::new(
        Kind::Conflict,
        "export_would_lose",
        format!(
            "{} holds {} lines that the ledger has not seen: {}{more}",
            path.display(),
            unseen.lines,
            unseen.names.join(", ")
        ),
        format!("take them in first: `baton import beads {}`", path.display()),
    )
    .with("ids", json!(unseen.names))
}

/// Writes the file and notes what it holds. One that holds all of it already is left as it is; none where the file is no longer
/// the version that was read.
fn publish(
    app: &mut App,
    turn: &mut FileTurn,
    head: &Value,
    (read, kept): (Option<&Version>, &LineSelection),
    path: &Path,
) -> Result<Option<Value>, Ended> {
    let stamp = stamp(app, head);
    let (ours, bytes) = (turn.is_ours(&stamp), turn.bytes());
    let kept = match kept.is_none() {
        true => None,
        false => turn.raw(kept)?,
    };
    let count = kept.as_ref().map_or(0, RawLines::len);
    let (mut changed, mut tasks, mut lines) = (HashSet::new(), 0, 0);
    let write = |out: &mut dyn std::io::Write| {
        let mut written = 0;
        let mut put = |line: &str| {
            (written, lines) = (written + line.len() as u64 + 1, lines + 1);
            writeln!(out, "{line}")
        };
        for chunk in ids(head).chunks(CHUNK) {
            let answer = lines_of(app, head, chunk)?;
            for item in render::list(&answer, "items") {
                tasks += 1;
                if let (Some(id), true) = (item["id"].as_str(), item["changed"] == true) {
                    changed.insert(id.to_owned());
                }
                put(item["line"].as_str().unwrap_or_default())?;
            }
        }
        for other in render::list(head, "items").iter().filter_map(|item| item["line"].as_str()) {
            put(other)?;
        }
        if let Some(kept) = kept {
            written += kept.copy(out)?;
        }
        // In a file that we wrote nothing is another when no line has changed and all are as long together.
        Ok(!ours || !changed.is_empty() || written != bytes)
    };
    let ReplaceResult::Is(version) = turn.replace(read, write)? else { return Ok(None) };
    turn.note(&stamp, head["seq"].as_i64().unwrap_or_default(), &version, count)?;
    note(app, turn, head, (&changed, lines), &version)?;
    Ok(Some(json!({
        "project_id": head["project_id"], "path": path.display().to_string(), "tasks": tasks, "changed": changed.len(),
    })))
}

/// Tells the ledger which lines of tasks that changed are in the file now.
fn note(
    app: &mut App,
    turn: &FileTurn,
    head: &Value,
    (changed, count): (&HashSet<String>, usize),
    version: &Version,
) -> Result<(), Ended> {
    if changed.is_empty() {
        return Ok(());
    }
    // What another program has written since is not what was published.
    let Some(mut lines) = turn.lines_of(version)? else { return Ok(()) };
    let (mut chunk, mut left) = (Vec::new(), count);
    loop {
        // What follows is kept although it cannot be read.
        let line = if left > 0 { lines.next()? } else { None };
        left = left.saturating_sub(1);
        let last = line.is_none();
        if let Some(line) = line {
            let glance = Glance::of(&line);
            if let Some(id) = glance.task().filter(|id| changed.contains(*id)) {
                chunk.push(json!({ "id": id, "line": line }));
            }
        }
        if chunk.len() >= CHUNK || (last && !chunk.is_empty()) {
            let input = json!({ "project": head["project_id"], "lines": std::mem::take(&mut chunk) });
            app.call("beads_published", input)?;
        }
        if last {
            return Ok(());
        }
    }
}
