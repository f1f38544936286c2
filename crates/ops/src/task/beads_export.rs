//! `beads_export`: the tasks of a project as lines of `issues.jsonl`.

use baton_model::task::Task;
use baton_model::task::line::render;
use baton_model::task::record::Record;
use baton_model::task::sealed;
use baton_store::{Failure, Tx, project, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::{comment, dependency, line};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Writes tasks as lines.
pub struct BeadsExport;

/// Input of `beads_export`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeadsExportInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only the number of the newest change, to see whether there is something to write.
    #[serde(default)]
    pub only_seq: bool,
    /// Only the ids of the tasks, and the lines that are no tasks: the lines of tasks can then be asked for by and by.
    #[serde(default)]
    pub only_ids: bool,
    /// Only the lines that are no tasks.
    #[serde(default)]
    pub only_others: bool,
    /// Also tasks that are kept for a short time only (`ephemeral`) and that the file never had.
    #[serde(default)]
    pub ephemeral: bool,
    /// Only the lines of these tasks, in this order.
    #[serde(default)]
    pub tasks: Option<Vec<String>>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
pub struct ExportLine {
    /// The task; missing for a line that is none.
    pub id: Option<String>,
    /// The line, without its end.
    pub line: String,
    /// The line as the file had it last, when it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// It was never in the file, or has changed since.
    pub changed: bool,
}

/// Answer of `beads_export`: the lines, sorted by id; lines that are no tasks come last.
#[derive(Serialize, Deserialize)]
pub struct BeadsExportOutput {
    /// The project.
    pub project_id: String,
    /// Position in the order of the ledger.
    pub seq: i64,
    /// With `only_ids`: every task, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// The rows of this page.
    pub items: Vec<ExportLine>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for BeadsExport {
    const META: Meta = Meta::read("beads_export", "Give the tasks as lines of a Beads file, issues.jsonl");
    type Input = BeadsExportInput;
    type Output = BeadsExportOutput;

    fn run(input: BeadsExportInput, cx: &mut Cx<'_>) -> Result<BeadsExportOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut output = BeadsExportOutput {
                project_id: project_id.clone(),
                seq: project::seq(tx, &project_id)?,
                ids: Vec::new(),
                items: Vec::new(),
                next: None,
            };
            if input.only_seq {
                return Ok(output);
            }
            let ids = match &input.tasks {
                Some(named) => named.clone(),
                None if input.only_others => Vec::new(),
                None => ids(tx, &project_id)?,
            };
            match input.only_ids {
                true => output.ids = ids,
                false => output.items = lines(tx, &project_id, ids, input.ephemeral)?,
            }
            if input.tasks.is_none() {
                let others = line::others(tx, &project_id)?.into_iter();
                output.items.extend(others.map(|line| ExportLine {
                    id: None,
                    line,
                    before: None,
                    changed: false,
                }));
            }
            Ok(output)
        })
    }
}

/// Tasks in byte order, independent of the database collation.
fn ids(tx: &mut Tx<'_>, project: &str) -> Result<Vec<String>, Failure> {
    let mut ids = task::ids(tx, project)?;
    ids.sort_unstable();
    Ok(ids)
}

/// The lines of these tasks; one that is gone has none. One that is kept for a short time only has one where it is asked for, and where
/// the file had it already: other tools may have written it there.
fn lines(
    tx: &mut Tx<'_>,
    project: &str,
    ids: Vec<String>,
    with_ephemeral: bool,
) -> Result<Vec<ExportLine>, Failure> {
    let mut lines = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some((line, false)) = line::state(tx, project, &id)? {
            lines.push(ExportLine { id: Some(id), line, before: None, changed: false });
            continue;
        }
        let Some(task) = task::get(tx, project, &id)? else { continue };
        let known = line::known_lines(tx, project, &id)?;
        if task.is_ephemeral() && known.last.is_none() && !with_ephemeral {
            continue;
        }
        let now = line_of(tx, task, &known)?;
        let changed = known.last.as_ref() != Some(&now);
        lines.push(ExportLine { id: Some(id), line: now, before: known.last.filter(|_| changed), changed });
    }
    Ok(lines)
}

/// A task with everything that hangs on it.
pub(super) fn full_record(tx: &mut Tx<'_>, task: Task) -> Result<Record, Failure> {
    let edges = dependency::dependencies_of(tx, &task.project_id, &task.task_id)?;
    let comments = comment::of(tx, &task.project_id, &task.task_id)?;
    let dependencies = edges.into_iter().map(|edge| edge.body).collect();
    Ok(Record { dependencies, comments, task, ..Record::default() })
}

/// The line of a task, made from those that the file had.
pub(super) fn line_of(tx: &mut Tx<'_>, task: Task, known: &line::KnownLines) -> Result<String, Failure> {
    Ok(render(&full_record(tx, task)?, known.last.as_deref(), &known.earlier))
}

/// Keeps a line as the one that the file has now, if there is such a task.
pub(super) fn keep_line(tx: &mut Tx<'_>, project: &str, id: &str, text: &str) -> Result<(), Failure> {
    let Some(task) = task::get(tx, project, id)? else { return Ok(()) };
    let mut known = line::known_lines(tx, project, id)?.followed_by(text);
    if sealed::is_sensitive(&task) {
        known.earlier = known.earlier.iter().map(|line| sealed::without_plain(line)).collect();
    }
    let stale = line_of(tx, task, &known)? != text;
    Ok(line::put(tx, project, id, &known, stale)?)
}
