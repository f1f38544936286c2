//! `task_board`: the tasks of a project by role and state.

use std::collections::BTreeMap;

use baton_model::route;
use baton_model::task::Task;
use baton_model::task::closing::IncrementStage;
use baton_model::task::filter::Filter;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use task::TaskList;
use task::count::{self, TaskCount};

use super::collect;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Shows the board.
pub struct Board;

/// Tasks shown in each cell.
const SHOWN: usize = 5;

/// Input of `task_board`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `task_board`: a row for each role, in the order of the work; tasks without a role come last.
#[derive(Serialize, Deserialize)]
pub struct BoardOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Value>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Board {
    const META: Meta = Meta::read("task_board", "Show the tasks by role and state").follows_tasks();
    type Input = BoardInput;
    type Output = BoardOutput;

    fn run(input: BoardInput, cx: &mut Cx<'_>) -> Result<BoardOutput, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let now = cx.env.now;
        let items = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut roles: BTreeMap<(usize, String), Vec<TaskCount>> = BTreeMap::new();
            for figure in count::figures(tx, &project_id, now)? {
                roles.entry((place(&figure.role), figure.role.clone())).or_default().push(figure);
            }
            roles.iter().map(|((_, role), figures)| row(tx, &project_id, now, role, figures)).collect()
        })?;
        Ok(BoardOutput { project_id, items, next: None })
    }
}

/// The built-in roles in the order of the work, then the project's own, then none.
fn place(role: &str) -> usize {
    match IncrementStage::of(Some(role)) {
        Some(stage) => stage as usize,
        None if role.is_empty() => 9,
        None => 8,
    }
}

/// The state that a figure counts for.
fn state(figure: &TaskCount) -> &'static str {
    match figure.status.as_str() {
        "closed" => "closed",
        "in_progress" | "hooked" => "in_progress",
        "open" if figure.blocked => "blocked",
        "open" if figure.deferred => "deferred",
        "open" if figure.ready => "ready",
        "deferred" => "deferred",
        "blocked" => "blocked",
        _ => "other",
    }
}

fn row(
    tx: &mut Tx<'_>,
    project: &str,
    now: i64,
    role: &str,
    figures: &[TaskCount],
) -> Result<Value, Failure> {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for figure in figures {
        *counts.entry(state(figure)).or_default() += figure.count;
    }
    let mut row = json!({ "role": role, "counts": counts });
    let of_role = |status: &[&str]| Filter {
        agent_role: Some(role.to_owned()).filter(|role| !role.is_empty()),
        status: status.iter().map(|s| (*s).to_owned()).collect(),
        ..Filter::default()
    };
    // A task may be blocked by another, or by hand.
    let shelves = [
        ("in_progress", TaskList::Open, of_role(&["in_progress", "hooked"])),
        ("ready", TaskList::Ready(now), of_role(&[])),
        ("blocked", TaskList::Blocked, of_role(&[])),
        ("blocked", TaskList::Open, of_role(&["blocked"])),
    ];
    for (key, shelf, filter) in shelves {
        if counts.get(key).copied().unwrap_or(0) == 0 {
            continue;
        }
        let (found, _) =
            collect(tx, project, shelf, &filter, (0, if role.is_empty() { 500 } else { SHOWN }))?;
        let mut cells: Vec<Value> = row[key].as_array().cloned().unwrap_or_default();
        let mine = found.iter().filter(|task| task.agent_role.as_deref().unwrap_or("") == role);
        let fresh = |task: &&Task| cells.iter().all(|cell| cell["id"] != task.task_id.as_str());
        let more: Vec<Value> = mine.filter(fresh).take(SHOWN.saturating_sub(cells.len())).map(cell).collect();
        cells.extend(more);
        row[key] = cells.into();
    }
    Ok(row)
}

fn cell(task: &Task) -> Value {
    json!({
        "id": task.task_id, "title": task.title, "priority": task.priority, "assignee": task.assignee,
        "attempts": task.attempts, "why": route::routing_reason(task),
    })
}
