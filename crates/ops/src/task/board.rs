//! `task_board`: the tasks of a project by role and state.

use std::collections::BTreeMap;

use baton_model::route;
use baton_model::task::Task;
use baton_model::task::board_state::BoardFacts;
pub use baton_model::task::board_state::BoardState;
use baton_model::task::closing::IncrementStage;
use baton_model::task::filter::Filter;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::TaskList;
use task::count::TaskCount;

use super::collect;
use super::figures::figures;
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Shows the board.
pub struct Board;

/// Tasks shown in each cell.
const MAX_CELL_TASKS: usize = 5;

/// Input of `task_board`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// The tasks of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardRow {
    /// The role; empty for tasks without one.
    pub role: String,
    /// How many stand where; a state that none is in is left out.
    pub counts: BTreeMap<BoardState, i64>,
    /// The first that are worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<Vec<BoardCell>>,
    /// The first that are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Vec<BoardCell>>,
    /// The first that are blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Vec<BoardCell>>,
}

/// A task on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardCell {
    /// Its id.
    pub id: String,
    /// One line.
    pub title: String,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
    /// Who works on it.
    pub assignee: Option<String>,
    /// How often it was tried since it was last opened again.
    pub attempts: i64,
    /// Why it waits for an agent, or was blocked.
    pub why: Option<String>,
}

/// Answer of `task_board`: a row for each role, in the order of the work; tasks without a role come last.
#[derive(Serialize, Deserialize)]
pub struct BoardOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<BoardRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Board {
    const META: Meta = Meta::read("task_board", "Show the tasks by role and state").reads_tasks();
    type Input = BoardInput;
    type Output = BoardOutput;

    fn run(input: BoardInput, cx: &mut Cx<'_>) -> Result<BoardOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let items = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut roles: BTreeMap<(usize, String), Vec<TaskCount>> = BTreeMap::new();
            let (figures, late) = figures(tx, env, &project_id)?;
            for figure in figures {
                roles.entry((role_rank(&figure.role), figure.role.clone())).or_default().push(figure);
            }
            let row = |((_, role), figures): (&(usize, String), &Vec<TaskCount>)| {
                row(tx, env, (&project_id, &late), role, figures)
            };
            roles.iter().map(row).collect()
        })?;
        Ok(BoardOutput { project_id, items, next: None })
    }
}

/// The built-in roles in the order of the work, then the project's own, then none.
fn role_rank(role: &str) -> usize {
    match IncrementStage::of(Some(role)) {
        Some(stage) => stage as usize,
        None if role.is_empty() => 9,
        None => 8,
    }
}

/// The state that a figure counts for.
fn state(figure: &TaskCount) -> BoardState {
    BoardState::of(BoardFacts {
        status: &figure.status,
        is_blocked: figure.blocked,
        is_deferred: figure.deferred,
        is_ready: figure.ready,
    })
}

fn row(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project, late): (&str, &[Task]),
    role: &str,
    figures: &[TaskCount],
) -> Result<BoardRow, Failure> {
    let mut counts: BTreeMap<BoardState, i64> = BTreeMap::new();
    for figure in figures {
        *counts.entry(state(figure)).or_default() += figure.count;
    }
    let mut row = BoardRow { role: role.to_owned(), counts, in_progress: None, ready: None, blocked: None };
    let of_role = |status: &[&str]| Filter {
        agent_role: Some(role.to_owned()).filter(|role| !role.is_empty()),
        status: status.iter().map(|s| (*s).to_owned()).collect(),
        ..Filter::default()
    };
    // A task may be blocked by another, or by hand.
    let shelves = [
        (BoardState::InProgress, TaskList::Open, of_role(&["in_progress", "hooked"])),
        (BoardState::Ready, TaskList::Ready(env.now), of_role(&[])),
        (BoardState::Blocked, TaskList::Blocked, of_role(&[])),
        (BoardState::Blocked, TaskList::Open, of_role(&["blocked"])),
    ];
    for (state, shelf, filter) in shelves {
        if row.counts.get(&state).copied().unwrap_or(0) == 0 {
            continue;
        }
        let limit = if role.is_empty() { 500 } else { MAX_CELL_TASKS };
        let (mut found, _) = collect(tx, project, env, (shelf, &filter), (0, limit))?;
        if state == BoardState::Ready {
            found.extend(late.iter().filter(|task| task.readiness.ready).cloned());
            found.sort_by_key(|task| (task.priority, task.created_at));
        }
        let cells = match state {
            BoardState::InProgress => row.in_progress.get_or_insert_default(),
            BoardState::Ready => row.ready.get_or_insert_default(),
            _ => row.blocked.get_or_insert_default(),
        };
        let mine = found.iter().filter(|task| task.agent_role.as_deref().unwrap_or("") == role);
        let fresh = |task: &&Task| cells.iter().all(|cell| cell.id != task.task_id);
        let more: Vec<BoardCell> =
            mine.filter(fresh).take(MAX_CELL_TASKS.saturating_sub(cells.len())).map(cell).collect();
        cells.extend(more);
    }
    Ok(row)
}

fn cell(task: &Task) -> BoardCell {
    BoardCell {
        id: task.task_id.clone(),
        title: task.title.clone(),
        priority: task.priority,
        assignee: task.assignee.clone(),
        attempts: route::recent_attempts(task),
        why: route::routing_reason(task).map(str::to_owned),
    }
}
