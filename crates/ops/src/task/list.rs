//! `task_list`: tasks by priority, then oldest first; also the search.

use baton_model::query::check_query;
use baton_model::task::Task;
use baton_model::task::board_state::BoardState;
use baton_model::task::filter::Filter;
use baton_model::task::view::{Fields, View};
use baton_model::task::word::{check_status, full_type};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use task::{TaskList, comment, count, dependency};

use super::{at_most, by_id, collect};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists tasks.
pub struct List;

/// Input of `task_list`.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only this status; `closed` ones are listed only when asked for.
    #[serde(default)]
    pub status: Option<String>,
    /// Only tasks that want this role; empty for those that want none.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Only tasks that stand so on the board: `ready`, `in_progress`, `blocked`, `deferred`, `closed`, `other`.
    #[serde(default)]
    pub board_state: Option<BoardState>,
    /// Only tasks of this identity.
    #[serde(default)]
    pub assignee: Option<String>,
    /// Only unassigned tasks.
    #[serde(default)]
    pub unassigned: bool,
    /// Only this type.
    #[serde(default)]
    pub issue_type: Option<String>,
    /// Only tasks with all of these labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Only tasks with at least one of these labels.
    #[serde(default)]
    pub any_label: Vec<String>,
    /// Only tasks with at least one of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Only parts of this task.
    #[serde(default)]
    pub parent: Option<String>,
    /// Only tasks that are a part of no open one; where closed ones are asked for, too: of none that was not deleted. The other filters do
    /// not count for this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Say with each how many parts it has; closed ones count where they are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parts: bool,
    /// Only this priority.
    #[serde(default)]
    pub priority: Option<i64>,
    /// Only tasks that mention all of these words in id, title or text.
    #[serde(default)]
    pub query: Option<String>,
    /// Closed ones too.
    #[serde(default)]
    pub all: bool,
    /// Leave out tasks that are kept for a short time only (`ephemeral`).
    #[serde(default)]
    pub durable: bool,
    /// Leave out tasks of these types.
    #[serde(default)]
    pub other_types: Vec<String>,
    /// With dependencies, and how many depend on it and comment on it.
    #[serde(default)]
    pub edges: bool,
    /// At most so many; 0 for all, 50 when nothing is said.
    #[serde(default)]
    pub limit: Option<i64>,
    /// Leave out so many: `next` of the page before.
    #[serde(default)]
    pub after: usize,
}

/// A task in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Row {
    /// The task.
    #[serde(flatten)]
    pub task: View,
    /// Whether it is assigned to the identity whose tasks come first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// With `edges`: how many it depends on, the whole that it is a part of aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependency_count: Option<usize>,
    /// With `edges`: its dependencies, each as it stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Map<String, Value>>,
    /// With `edges`: how many depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependent_count: Option<i64>,
    /// With `parts`: how many parts it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_count: Option<i64>,
    /// With `edges`: how many comments it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment_count: Option<i64>,
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            is_own: fields.take("is_own").unwrap_or_default(),
            dependency_count: fields.take("dependency_count"),
            dependencies: fields.take("dependencies").unwrap_or_default(),
            dependent_count: fields.take("dependent_count"),
            part_count: fields.take("part_count"),
            comment_count: fields.take("comment_count"),
            task: fields.into_view()?,
        })
    }
}

/// Answer of `task_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for List {
    const META: Meta = Meta::read("task_list", "List tasks by priority, then oldest first").reads_tasks();
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        check_query(input.query.as_deref().unwrap_or_default())?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let limit = at_most(input.limit, 50);
        let Cx { store, env } = cx;
        let (items, more) = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut filter = filter(&input, env.now);
            if let Some(id) = &input.parent {
                filter.parent = Some(by_id(tx, &project_id, id)?.task_id);
            }
            let closed = filter.status.iter().any(|status| status == "closed")
                || input.board_state == Some(BoardState::Closed);
            let shelf = match (input.all || closed, input.whole) {
                (true, true) => TaskList::Wholes,
                (true, false) => TaskList::All,
                (false, true) => TaskList::OpenWholes,
                (false, false) => TaskList::Open,
            };
            let (found, more) = collect(tx, &project_id, env, (shelf, &filter), (input.after, limit))?;
            if found.is_empty() {
                // What was imported may have a status of its own; one that no task has is a slip.
                filter.status.iter().try_for_each(|status| check_status(status))?;
            }
            let mut rows = rows(tx, &found, input.edges)?;
            if input.parts {
                count_parts(tx, &project_id, &mut rows, input.all || closed)?;
            }
            Ok((rows, more))
        })?;
        let end = input.after.saturating_add(limit);
        Ok(ListOutput { project_id, items, next: Some(end).filter(|_| more) })
    }
}

fn filter(input: &ListInput, now: Millis) -> Filter {
    let words = input.query.as_deref().unwrap_or_default();
    Filter {
        status: input.status.iter().flat_map(|list| list.split(',')).map(|s| s.trim().to_owned()).collect(),
        agent_role: input.agent_role.clone().filter(|role| !role.is_empty()),
        assignee: input.assignee.clone(),
        unassigned: input.unassigned,
        issue_type: input.issue_type.as_deref().map(|word| full_type(word).to_owned()),
        labels: input.labels.clone(),
        any_label: input.any_label.clone(),
        tags: input.tags.clone(),
        priority: input.priority,
        durable: input.durable,
        roleless: input.agent_role.as_deref() == Some(""),
        board_state: input.board_state.map(|state| (state, now)),
        other_types: input.other_types.clone(),
        words: words.split_whitespace().map(str::to_owned).collect(),
        ..Filter::default()
    }
}

/// Tasks as lists show them.
pub(super) fn rows(tx: &mut Tx<'_>, found: &[Task], detail: bool) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::with_capacity(found.len());
    for tasks in found.chunks(task::BATCH_SIZE) {
        let first = rows.len();
        rows.extend(tasks.iter().map(|task| Row { task: View::from(task), ..Row::default() }));
        if detail {
            count_edges(tx, tasks, &mut rows[first..])?;
        }
    }
    Ok(rows)
}

/// Puts to each row what its task depends on, and how many depend on it and comment on it: three statements for all of them.
fn count_edges(tx: &mut Tx<'_>, tasks: &[Task], rows: &mut [Row]) -> Result<(), Failure> {
    let Some(Task { project_id, .. }) = tasks.first() else { return Ok(()) };
    let ids: Vec<&str> = tasks.iter().map(|task| task.task_id.as_str()).collect();
    let mut edges = dependency::dependencies_of_many(tx, project_id, &ids)?;
    let dependents = dependency::count_on_many(tx, project_id, &ids)?;
    let comments = comment::count_many(tx, project_id, &ids)?;
    for (row, id) in rows.iter_mut().zip(ids) {
        let edges = edges.remove(id).unwrap_or_default();
        row.dependency_count = Some(edges.iter().filter(|edge| edge.kind != "parent-child").count());
        row.dependencies = edges.into_iter().map(|edge| edge.body).collect();
        row.dependent_count = Some(dependents.get(id).copied().unwrap_or_default());
        row.comment_count = Some(comments.get(id).copied().unwrap_or_default());
    }
    Ok(())
}

/// Puts to each row how many parts it has: of open ones alone where closed ones are not listed.
fn count_parts(
    tx: &mut Tx<'_>,
    project_id: &str,
    rows: &mut [Row],
    counts_closed: bool,
) -> Result<(), Failure> {
    for rows in rows.chunks_mut(task::BATCH_SIZE) {
        let ids: Vec<&str> = rows.iter().map(|row| row.task.id.as_str()).collect();
        let counts = count::parts_of_many(tx, project_id, &ids, counts_closed)?;
        for row in rows {
            row.part_count = Some(counts.get(&row.task.id).copied().unwrap_or_default());
        }
    }
    Ok(())
}
