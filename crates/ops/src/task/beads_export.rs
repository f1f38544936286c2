//! `beads_export`: the tasks of a project as lines of `issues.jsonl`.

use baton_model::task::Task;
use baton_model::task::record::{self, Record};
use baton_store::{Failure, Tx, project, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use task::{comment, dependency, line};

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Writes tasks as lines.
pub(crate) struct BeadsExport;

/// Tasks read at a time.
const PAGE: i64 = 500;

/// Input of `beads_export`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Only the number of the newest change, to see whether there is something to write.
    #[serde(default)]
    only_seq: bool,
}

/// A line of the file.
#[derive(Serialize)]
pub(crate) struct Line {
    /// The task; missing for a line that is none.
    id: Option<String>,
    /// The line, without its end.
    line: String,
    /// The line as the file had it last, when it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// It was never in the file, or has changed since.
    changed: bool,
}

/// Answer of `beads_export`: the lines, sorted by id; lines that are no tasks come last.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    seq: i64,
    items: Vec<Line>,
    next: Option<usize>,
}

impl Operation for BeadsExport {
    const NAME: &'static str = "beads_export";
    const DOC: &'static str = "Give the tasks as lines of a Beads file, issues.jsonl";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let (seq, items) = cx.store.read(|tx| {
            resolve::known(tx, &project_id)?;
            let seq = project::seq(tx, &project_id)?;
            Ok((seq, if input.only_seq { Vec::new() } else { lines(tx, &project_id)? }))
        })?;
        Ok(Output { project_id, seq, items, next: None })
    }
}

fn lines(tx: &mut Tx<'_>, project: &str) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    let mut after = String::new();
    loop {
        let tasks = task::by_id(tx, project, &after, PAGE)?;
        let Some(last) = tasks.last() else { break };
        let mut kept = line::page(tx, project, &after, PAGE)?;
        after.clone_from(&last.task_id);
        for task in tasks {
            let known = kept.remove(&task.task_id);
            lines.push(match known {
                Some((line, false)) => Line { id: Some(task.task_id), line, before: None, changed: false },
                known => {
                    let before = known.map(|(line, _)| line);
                    let now = render(tx, task.clone(), before.as_deref())?;
                    let changed = before.as_ref() != Some(&now);
                    Line { id: Some(task.task_id), line: now, before: before.filter(|_| changed), changed }
                }
            });
        }
    }
    // Byte order, whatever the database's own collation is.
    lines.sort_by(|a, b| a.id.cmp(&b.id));
    let others = line::others(tx, project)?;
    lines.extend(others.into_iter().map(|line| Line { id: None, line, before: None, changed: false }));
    Ok(lines)
}

/// A task with everything that hangs on it.
pub(super) fn whole(tx: &mut Tx<'_>, task: Task) -> Result<Record, Failure> {
    let edges = dependency::of(tx, &task.project_id, &task.task_id)?;
    let comments = comment::of(tx, &task.project_id, &task.task_id)?;
    Ok(Record { dependencies: edges.into_iter().map(|edge| edge.body).collect(), comments, task })
}

/// The line of a task, made from the one that the file had last.
pub(super) fn render(tx: &mut Tx<'_>, task: Task, before: Option<&str>) -> Result<String, Failure> {
    let record = whole(tx, task)?;
    let base = before.and_then(|line| serde_json::from_str::<Value>(line).ok());
    let row = record::write(&record, base.as_ref().and_then(Value::as_object));
    let same = base.as_ref().and_then(Value::as_object) == Some(&row);
    match before.filter(|_| same) {
        Some(line) => Ok(line.to_owned()),
        None => Ok(Value::Object(row).to_string()),
    }
}
