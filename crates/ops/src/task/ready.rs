//! `task_ready`: what can be worked on now.

use baton_model::task::Task;
use baton_model::task::filter::Filter;
use baton_model::task::word::full_type;
use baton_model::time::Millis;
use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::TaskList;

use super::claim::{AgentFilter, claim_filter};
use super::lease::overdue;
use super::list::{Row, rows};
use super::{at_most, by_id, collect};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists what is ready.
pub struct Ready;

/// Input of `task_ready`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only tasks that want this role.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Only tasks that this agent may take, by the role that its name says: `testing-specialist`.
    #[serde(default)]
    pub for_agent: Option<String>,
    /// Only tasks of this identity.
    #[serde(default)]
    pub assignee: Option<String>,
    /// Only tasks of nobody.
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
    /// Only this priority.
    #[serde(default)]
    pub priority: Option<i64>,
    /// Only tasks whose metadata has this value under this key, as `KEY=VALUE`.
    #[serde(default)]
    pub metadata: Option<String>,
    /// What is assigned to this identity comes first.
    #[serde(default)]
    pub assigned_first: Option<String>,
    /// With what is put off.
    #[serde(default)]
    pub deferred: bool,
    /// With dependencies, and how many depend on it and comment on it.
    #[serde(default)]
    pub edges: bool,
    /// At most so many; 0 for all, 100 when nothing is said.
    #[serde(default)]
    pub limit: Option<i64>,
    /// Leave out so many: `next` of the page before.
    #[serde(default)]
    pub after: usize,
}

/// Answer of `task_ready`.
#[derive(Serialize, Deserialize)]
pub struct ReadyOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Ready {
    const META: Meta =
        Meta::read("task_ready", "List what can be worked on now, by priority, then oldest first")
            .follows_tasks();
    type Input = ReadyInput;
    type Output = ReadyOutput;

    fn run(input: ReadyInput, cx: &mut Cx<'_>) -> Result<ReadyOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let for_agent = AgentFilter::find(cx, Some(&project_id), input.for_agent.as_deref())?;
        let (limit, now) = (at_most(input.limit, 100), cx.env.now);
        let Cx { store, env } = cx;
        let env = &*env;
        let (items, more) = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut filter = filter(&input, for_agent.as_ref());
            if let Some(id) = &input.parent {
                filter.parent = Some(by_id(tx, &project_id, id)?.task_id);
            }
            let late = overdue(tx, env, &project_id)?.into_iter().map(|(_, task)| task);
            let mut late: Vec<Task> =
                late.filter(|task| task.readiness.ready && filter.takes(task)).collect();
            let window =
                if late.is_empty() { (input.after, limit) } else { (0, input.after.saturating_add(limit)) };
            let shelf = TaskList::Ready(if input.deferred { Millis::MAX } else { now });
            let owner = input.assigned_first.as_deref();
            let is_own = |task: &Task| owner.is_some() && task.assignee.as_deref() == owner;
            let own = Filter { assignee: input.assigned_first.clone(), ..filter.clone() };
            let has_own = input.assignee.is_none()
                && owner.is_some()
                && (late.iter().any(is_own)
                    || !collect(tx, &project_id, env, (shelf, &own), (0, 1))?.0.is_empty());
            // Where one's own come first, every page is cut out of the whole list.
            let window = if has_own { (0, usize::MAX) } else { window };
            let (mut found, mut more) = collect(tx, &project_id, env, (shelf, &filter), window)?;
            if has_own || !late.is_empty() {
                // Leases that ran out are given back by the next claim; until then they are ready all the same.
                found.append(&mut late);
                found.sort_by(|a, b| (!is_own(a), key(a)).cmp(&(!is_own(b), key(b))));
                found.drain(..input.after.min(found.len()));
                more |= found.len() > limit;
                found.truncate(limit);
            }
            Ok((rows(tx, &found, input.edges)?, more))
        })?;
        let end = input.after.saturating_add(limit);
        Ok(ReadyOutput { project_id, items, next: Some(end).filter(|_| more) })
    }
}

fn key(task: &Task) -> (i64, i64, &str) {
    (task.priority, task.created_at, &task.task_id)
}

fn filter(input: &ReadyInput, for_agent: Option<&AgentFilter>) -> Filter {
    let metadata = input.metadata.as_deref().and_then(|text| text.split_once('='));
    Filter {
        assignee: input.assignee.clone(),
        unassigned: input.unassigned,
        issue_type: input.issue_type.as_deref().map(|word| full_type(word).to_owned()),
        labels: input.labels.clone(),
        any_label: input.any_label.clone(),
        priority: input.priority,
        metadata: metadata.map(|(key, value)| (key.to_owned(), value.to_owned())),
        ..claim_filter(input.agent_role.as_deref(), &input.tags, for_agent)
    }
}
