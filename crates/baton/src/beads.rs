//! The tasks of a project and the Beads file: taken in, written out, kept in step. Both ways go by a few lines at a time, so a
//! file may be larger than the memory.

use std::cell::Cell;
use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::conflict::Conflict;
use baton_ops::task::{
    BeadsExport, BeadsExportInput, BeadsExportOutput, BeadsImportOutput, BeadsPublished, BeadsPublishedInput,
    Complaint, EmptiedText, ExportLine, Published,
};
use baton_ops::{ImportRequest, Lines};
use serde::Serialize;

use crate::app::App;
use crate::beads_file::{FileLines, FileTurn, FileVersion, ReplaceResult};
use crate::error::AppError;
use crate::private_file::store_identity;
use crate::raw_lines::{LineSelection, RawLines};
use crate::repo_file::RepoFile;

mod conflict_base;
mod owner;
mod turn;
mod unseen;

use conflict_base::conflict_base;
use owner::{require_own_file, require_single_project};
pub(crate) use turn::{Direction, ExclusiveTurn, sync_beads_file};
use unseen::{unseen, would_lose_refusal};

/// Tasks whose lines are in memory at once.
const CHUNK: usize = 200;

/// Takes the tasks of a file in.
pub(crate) fn import(
    app: &mut App,
    file: &RepoFile,
    identity: Option<&str>,
    dry_run: bool,
) -> Result<BeadsImportOutput, AppError> {
    let mut lines = FileLines::open(file)?;
    let (project, path) = (app.project.clone(), file.path());
    let base = || conflict_base(&path);
    // Only the file that is in step with the project says which memories and lines of other kinds it has no longer.
    let is_own = app.config.beads_file.as_ref().is_some_and(|own| is_same(&own.path(), &path))
        && own_project(app).is_some_and(|own| project.as_ref().is_none_or(|named| *named == own));
    let request = ImportRequest {
        project: project.as_deref(),
        identity,
        dry_run,
        partial: !is_own,
        base: Some(&base),
        ..ImportRequest::default()
    };
    app.import_lines(&request, &mut lines)
}

/// Whether two paths lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Takes the tasks of a file in and writes it, with nothing between: also a file in which git has left a conflict.
pub(crate) fn sync(
    app: &mut App,
    file: &RepoFile,
    identity: Option<&str>,
) -> Result<(BeadsImportOutput, Exported), AppError> {
    require_own_file(app, file, app.project.clone())?;
    let (mut turn, path) = (app.file_turn(file)?, file.path());
    let mut taken = BeadsImportOutput::default();
    let project = app.project.clone().or_else(|| own_project(app));
    let base = || conflict_base(&path);
    let request = ImportRequest {
        project: project.as_deref(),
        identity,
        base: Some(&base),
        ..ImportRequest::default()
    };
    for _ in 0..MAX_ATTEMPTS {
        let version = turn.version();
        if let Some(mut lines) = turn.lines()? {
            let done = app.import_lines(&request, &mut lines)?;
            taken.created += done.created;
            taken.updated += done.updated;
            taken.complaints.extend(done.complaints);
            taken.conflicts.extend(done.conflicts);
            taken.emptied.extend(done.emptied);
        }
        let head = head(app, project.as_deref())?;
        let selection = LineSelection::Last(0);
        if let Some(answer) = publish(app, &mut turn, &head, (version.as_ref(), &selection), &path)? {
            return Ok((taken, answer));
        }
    }
    Err(overtaken_refusal(&path).into())
}

/// How often the file is read anew when another program writes it at the same time.
const MAX_ATTEMPTS: u32 = 5;

/// What was written to a file.
#[derive(Serialize)]
pub(crate) struct Exported {
    /// The project.
    pub project_id: String,
    /// The file.
    pub path: String,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many of their lines were changed.
    pub changed: usize,
}

/// Writes the tasks to a file that holds nothing else.
pub(crate) fn export(app: &mut App, file: &RepoFile) -> Result<Exported, AppError> {
    require_own_file(app, file, app.project.clone().or_else(|| app.config.project.clone()))?;
    let (mut turn, path) = (app.file_turn(file)?, file.path());
    for _ in 0..MAX_ATTEMPTS {
        let version = turn.version();
        let head = head(app, app.project.clone().as_deref())?;
        if !turn.is_ours(&stamp(app, &head)) {
            let unseen = unseen(app, &turn, &head)?;
            if unseen.lines > 0 {
                return Err(would_lose_refusal(&path, &unseen).into());
            }
        }
        let selection =
            LineSelection::Last(if turn.is_ours(&stamp(app, &head)) { turn.unreadable_tail() } else { 0 });
        if let Some(answer) = publish(app, &mut turn, &head, (version.as_ref(), &selection), &path)? {
            return Ok(answer);
        }
    }
    Err(overtaken_refusal(&path).into())
}

fn overtaken_refusal(path: &Path) -> Refusal {
    let what = format!("{} was written by another program each time it was read", path.display());
    Refusal::new(
        Kind::Conflict,
        "beads_busy",
        what,
        "try again when that program is done; nothing was overwritten",
    )
}

/// The project of the working directory, whose file it is. What a variable or a setting names counts only where the folder belongs to
/// no project: the tasks of another one never get into its file, nor the other way.
pub(crate) fn own_project(app: &mut App) -> Option<String> {
    app.folder_project().or_else(|| {
        let named = app.config.project.clone()?;
        let input = of_project(Some(&named));
        let input = BeadsExportInput { only_seq: true, ..input };
        Some(app.run::<BeadsExport>(&input).ok()?.project_id)
    })
}

/// What there is to say about a file that was brought in step.
#[derive(Default)]
struct Findings {
    /// About single lines, as they were read last.
    lines: Vec<String>,
    /// About what both sides had changed differently.
    settled: Vec<String>,
}

/// Imports and writes the file, by the holder of the turn.
fn sync_file(
    app: &mut App,
    project: &str,
    turn: &mut FileTurn,
    (path, direction): (&Path, Direction),
) -> Result<Vec<String>, AppError> {
    let mut findings = Findings::default();
    require_single_project(app, project, turn, path)?;
    record_resolutions(app, project, turn)?;
    for _ in 0..MAX_ATTEMPTS {
        if step(app, project, turn, (path, direction), &mut findings)? {
            findings.lines.append(&mut findings.settled);
            return Ok(findings.lines);
        }
    }
    Err(overtaken_refusal(path).into())
}

/// No lines.
struct Nothing;

impl Lines for Nothing {
    fn rewind(&mut self) -> Result<(), Refusal> {
        Ok(())
    }

    fn next(&mut self) -> Result<Option<String>, Refusal> {
        Ok(None)
    }
}

/// Records in the ledger how git's merge driver resolved conflicts; the driver has reported them already. Skipped for a
/// store behind a server.
fn record_resolutions(app: &mut App, project: &str, turn: &FileTurn) -> Result<(), AppError> {
    let settled: Vec<Conflict> = turn.resolved_conflicts();
    if settled.is_empty() || app.config.server.is_some() {
        return Ok(());
    }
    let request = ImportRequest {
        project: Some(project),
        partial: true,
        settled: &settled,
        ..ImportRequest::default()
    };
    app.import_lines(&request, &mut Nothing)?;
    turn.clear_resolved_conflicts();
    Ok(())
}

/// One attempt; false where another program wrote the file in the meantime.
fn step(
    app: &mut App,
    project: &str,
    turn: &mut FileTurn,
    (path, direction): (&Path, Direction),
    findings: &mut Findings,
) -> Result<bool, AppError> {
    let version = turn.version();
    let input = BeadsExportInput { only_seq: true, ..of_project(Some(project)) };
    let now = app.run::<BeadsExport>(&input)?;
    // The previous holder of the lock may already have written this state.
    if turn.is_current(&stamp(app, &now), now.seq) {
        return Ok(true);
    }
    let mut whole = head(app, Some(project))?;
    // A store that went back to an earlier state, by a backup or a copy, has not seen what the file has.
    let went_back = turn.noted_seq().is_some_and(|seq| seq > whole.seq);
    let is_ours = !went_back && turn.is_ours(&stamp(app, &whole));
    let has_conflict = Cell::new(false);
    let mut selection = LineSelection::Last(if is_ours { turn.unreadable_tail() } else { 0 });
    if !is_ours
        && unseen(app, turn, &whole)?.lines > 0
        && let Some(mut lines) = turn.lines()?
    {
        // The file has changed beside us: the whole of it is read, so that a fault is named by its line.
        let base = || {
            has_conflict.set(true);
            conflict_base(path)
        };
        let request = ImportRequest {
            project: Some(project),
            lenient: true,
            base: Some(&base),
            ..ImportRequest::default()
        };
        let imported = app.import_lines(&request, &mut lines)?;
        findings.lines = imported.complaints.iter().map(complaint_text).collect();
        findings.settled.extend(imported.conflicts.iter().map(Conflict::summary));
        findings.settled.extend(imported.emptied.iter().map(EmptiedText::summary));
        let unreadable = imported.complaints.iter().filter(|complaint| complaint.unreadable);
        selection = LineSelection::Numbers(unreadable.map(|complaint| complaint.line).collect());
        whole = head(app, Some(project))?;
    }
    // A file in which git has left a conflict cannot be read by other tools as it is.
    if direction == Direction::Import && !has_conflict.get() {
        return Ok(true);
    }
    Ok(publish(app, turn, &whole, (version.as_ref(), &selection), path)?.is_some())
}

fn complaint_text(complaint: &Complaint) -> String {
    let text = visible(&complaint.text);
    if complaint.unreadable { format!("{text}; it is kept as it is") } else { text }
}

fn of_project(project: Option<&str>) -> BeadsExportInput {
    BeadsExportInput { project: project.map(str::to_owned), ..BeadsExportInput::default() }
}

/// The ids of all tasks, the lines that are no tasks, and for which change of the ledger that is.
fn head(app: &mut App, project: Option<&str>) -> Result<BeadsExportOutput, AppError> {
    app.run::<BeadsExport>(&BeadsExportInput { only_ids: true, ..of_project(project) })
}

/// The lines of these tasks.
fn lines_of(app: &mut App, project: &str, ids: Vec<String>) -> Result<Vec<ExportLine>, AppError> {
    let input = BeadsExportInput { tasks: Some(ids), ..of_project(Some(project)) };
    Ok(app.run::<BeadsExport>(&input)?.items)
}

/// Which store and project a file was written from. A store that was put in the place of another is another one.
fn stamp(app: &App, answer: &BeadsExportOutput) -> String {
    format!("{}{} {}", app.config.ledger(), store_identity(&app.config.store), visible(&answer.project_id))
}

/// Writes the file and notes what it holds; a file that holds all of it already is left as it is. None where the file is no longer
/// the version that was read. The ledger notes the lines before the file has them: if the writer is killed between the two, no line
/// of its own comes back as another writer's.
fn publish(
    app: &mut App,
    turn: &mut FileTurn,
    head: &BeadsExportOutput,
    (read, selection): (Option<&FileVersion>, &LineSelection),
    path: &Path,
) -> Result<Option<Exported>, AppError> {
    let stamp = stamp(app, head);
    let (ours, bytes) = (turn.is_ours(&stamp), turn.bytes());
    turn.forget()?;
    let raw_lines = match selection.is_none() {
        true => None,
        false => turn.raw(selection)?,
    };
    let count = raw_lines.as_ref().map_or(0, RawLines::len);
    let (mut changed, mut tasks) = (0, 0);
    let write = |out: &mut dyn std::io::Write| {
        let mut written = 0;
        let mut put = |line: &str| {
            written += line.len() as u64 + 1;
            writeln!(out, "{line}")
        };
        for chunk in head.ids.chunks(CHUNK) {
            let mut lines = Vec::new();
            for item in lines_of(app, &head.project_id, chunk.to_vec())? {
                tasks += 1;
                put(&item.line)?;
                if let (Some(id), true) = (item.id, item.changed) {
                    lines.push(Published { id, line: item.line });
                }
            }
            changed += lines.len();
            note(app, &head.project_id, lines)?;
        }
        for other in &head.items {
            put(&other.line)?;
        }
        if let Some(raw_lines) = raw_lines {
            written += raw_lines.copy(out)?;
        }
        // In a file that we wrote nothing is another when no line has changed and all are as long together.
        Ok(!ours || changed > 0 || written != bytes)
    };
    let ReplaceResult::Is(version) = turn.replace(read, write)? else { return Ok(None) };
    turn.note(&stamp, head.seq, &version, count)?;
    let (project_id, path) = (head.project_id.clone(), path.display().to_string());
    Ok(Some(Exported { project_id, path, tasks, changed }))
}

/// Records in the ledger lines that the file is about to hold.
fn note(app: &mut App, project: &str, lines: Vec<Published>) -> Result<(), AppError> {
    if !lines.is_empty() {
        app.run::<BeadsPublished>(&BeadsPublishedInput { project: Some(project.to_owned()), lines })?;
    }
    Ok(())
}
