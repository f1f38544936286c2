//! `task_blocked`: what waits, and for what.

use baton_model::task::Task;
use baton_model::task::filter::Filter;
use baton_model::task::view::View;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::TaskList;

use super::claim_expiry::with_expiry_applied;
use super::{at_most, collect, readiness};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Lists what waits.
pub struct Blocked;

/// Input of `task_blocked`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockedInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only tasks that want this role.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Only these tasks, by their whole ids; each that waits is listed.
    #[serde(default)]
    pub ids: Vec<String>,
    /// At most so many; 0 for all, 100 when nothing is said.
    #[serde(default)]
    pub limit: Option<i64>,
    /// Leave out so many: `next` of the page before.
    #[serde(default)]
    pub after: usize,
}

/// A task that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockedRow {
    /// The task.
    #[serde(flatten)]
    pub task: View,
    /// For how many others.
    pub blocked_by_count: usize,
    /// For which.
    pub blocked_by: Vec<String>,
}

/// Answer of `task_blocked`.
#[derive(Serialize, Deserialize)]
pub struct BlockedOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<BlockedRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Blocked {
    const META: Meta = Meta::read("task_blocked", "List the tasks that wait, and for what").reads_tasks();
    type Input = BlockedInput;
    type Output = BlockedOutput;

    fn run(input: BlockedInput, cx: &mut Cx<'_>) -> Result<BlockedOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let limit = at_most(input.limit, 100);
        let filter = Filter { agent_role: input.agent_role.clone(), ..Filter::default() };
        let Cx { store, env } = cx;
        let (items, more) = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let (found, more) = if input.ids.is_empty() {
                collect(tx, &project_id, env, (TaskList::Blocked, &filter), (input.after, limit))?
            } else {
                (waiting(tx, env, &project_id, &input.ids)?, false)
            };
            let rows = found.iter().map(|task| row(tx, task)).collect::<Result<Vec<_>, _>>()?;
            Ok((rows, more))
        })?;
        let end = input.after.saturating_add(limit);
        Ok(BlockedOutput { project_id, items, next: Some(end).filter(|_| more) })
    }
}

/// Those of these tasks that wait, in their order.
fn waiting(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, ids: &[String]) -> Result<Vec<Task>, Failure> {
    let mut found = Vec::new();
    for id in ids {
        if let Some(task) = task::get(tx, project_id, id)? {
            let task = with_expiry_applied(tx, env, task)?;
            found.extend(Some(task).filter(|task| task.readiness.blocked && task.is_open()));
        }
    }
    Ok(found)
}

fn row(tx: &mut Tx<'_>, task: &Task) -> Result<BlockedRow, Failure> {
    let mut by: Vec<String> =
        readiness::holding(tx, task)?.into_iter().map(|edge| edge.depends_on_id).collect();
    by.dedup();
    if let (true, Some(parent)) = (by.is_empty(), &task.parent_id) {
        by.push(parent.clone());
    }
    Ok(BlockedRow { task: View::from(task), blocked_by_count: by.len(), blocked_by: by })
}
