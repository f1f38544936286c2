//! `task_ready`: what can be worked on now.

use baton_model::id::is_shared_name;
use baton_model::route;
use baton_model::task::Task;
use baton_model::task::filter::{Filter, is_assigned_to};
use baton_model::task::word::full_type;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, project, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::TaskList;

use super::claim_expiry::{expired_pairs, with_expiry_applied};
use super::claim_filter::{AgentFilter, claim_filter};
use super::list::{Row, rows};
use super::{at_most, by_id, collect};
use crate::op::{Caller, Cx, Env, Meta, Operation};
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
    /// Only this priority.
    #[serde(default)]
    pub priority: Option<i64>,
    /// Only tasks whose metadata has this value under this key, as `KEY=VALUE`.
    #[serde(default)]
    pub metadata: Option<String>,
    /// What is assigned to this identity comes first; of the caller when nothing is said; an empty name puts none first.
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
            .reads_tasks();
    type Input = ReadyInput;
    type Output = ReadyOutput;

    fn run(input: ReadyInput, cx: &mut Cx<'_>) -> Result<ReadyOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let for_agent = AgentFilter::find(cx, Some(&project_id), input.for_agent.as_deref())?;
        let owner = owner(cx.env.caller, input.assigned_first.as_deref());
        let window = Window { after: input.after, limit: at_most(input.limit, 100) };
        let Cx { store, env } = cx;
        let env = &*env;
        let until = if input.deferred { Millis::MAX } else { env.now };
        let (items, more) = store.read(|tx| {
            tx.prefetch(|tx| {
                drop(project::get(tx, &project_id));
                drop(task::expiring_claims(tx, &project_id, env.now));
                drop(task::due_deferrals(tx, &project_id, env.now));
                if let Some(owner) = owner.as_deref() {
                    drop(task::ready_of(tx, &project_id, owner, until));
                    drop(task::given_to(tx, &project_id, owner));
                }
            });
            resolve::require_project(tx, &project_id)?;
            let mut filter = filter(&input, for_agent.as_ref());
            if let Some(id) = &input.parent {
                filter.parent = Some(by_id(tx, &project_id, id)?.task_id);
            }
            let query = Query { project_id: &project_id, owner: owner.as_deref(), filter, until };
            let (found, more) = query.page(tx, env, window)?;
            let mut rows = rows(tx, &found, input.edges)?;
            for (row, task) in rows.iter_mut().zip(&found) {
                row.is_own = owner.as_deref().is_some_and(|owner| is_assigned_to(task, owner));
            }
            Ok((rows, more))
        })?;
        let end = window.after.saturating_add(window.limit);
        Ok(ReadyOutput { project_id, items, next: Some(end).filter(|_| more) })
    }
}

/// Whose tasks come first: whom the call names, else the caller where its name is its own. An empty name puts none first.
fn owner(caller: &Caller, named: Option<&str>) -> Option<String> {
    match named {
        Some(name) => Some(name.to_owned()).filter(|name| !name.is_empty()),
        None => resolve::identity(caller, None).ok().filter(|name| !is_shared_name(name)),
    }
}

/// Which part of a list is wanted.
#[derive(Clone, Copy)]
struct Window {
    after: usize,
    limit: usize,
}

/// What can be worked on in a project: of one identity first, then the rest, each by priority, then oldest first.
struct Query<'a> {
    project_id: &'a str,
    owner: Option<&'a str>,
    filter: Filter,
    until: Millis,
}

impl Query<'_> {
    fn page(&self, tx: &mut Tx<'_>, env: &Env<'_>, window: Window) -> Result<(Vec<Task>, bool), Failure> {
        // Leases that ran out are given back by the next claim, and deferrals end with the next write; until then they are ready all the
        // same.
        let overdue = expired_pairs(tx, env, self.project_id)?;
        let is_overdue = |task: &Task| overdue.iter().any(|(_, late)| late.task_id == task.task_id);
        let late = overdue.iter().map(|(_, task)| task.clone());
        let is_free = |task: &Task| task.readiness.ready && task.readiness.wait_until <= self.until;
        let late = late.filter(|task| is_free(task) && self.filter.takes(task));
        let is_own = |task: &Task| self.owner.is_some_and(|owner| is_assigned_to(task, owner));
        let (mut own, mut late): (Vec<Task>, Vec<Task>) = late.partition(is_own);
        if let Some(owner) = self.owner {
            for task in task::ready_of(tx, self.project_id, owner, self.until)? {
                let task = with_expiry_applied(tx, env, task)?;
                own.extend(Some(task).filter(|task| self.filter.takes(task)));
            }
        }
        own.sort_by(|a, b| key(a).cmp(&key(b)));
        // What the router gave it and waits to be begun comes before all: that is what a claim takes up.
        if let Some(owner) = self.owner {
            let given = task::given_to(tx, self.project_id, owner)?;
            let waits =
                |task: &Task| route::awaits_start(task) && !is_overdue(task) && self.filter.takes(task);
            let mut given: Vec<Task> = given.into_iter().filter(waits).collect();
            given.append(&mut own);
            own = given;
        }
        let (first, rest) = (own.len(), window.after.saturating_sub(own.len()));
        let mut found: Vec<Task> = own.into_iter().skip(window.after).take(window.limit).collect();
        let room = window.limit - found.len();
        let other_than = self.owner.filter(|_| first > 0).map(str::to_owned);
        let filter = Filter { other_than, ..self.filter.clone() };
        let (skip, taken) = if late.is_empty() { (rest, room) } else { (0, rest.saturating_add(room)) };
        let list = (TaskList::Ready(self.until), &filter);
        let (mut others, mut more) = collect(tx, self.project_id, env, list, (skip, taken))?;
        if !late.is_empty() {
            others.append(&mut late);
            others.sort_by(|a, b| key(a).cmp(&key(b)));
            others.drain(..rest.min(others.len()));
            more |= others.len() > room;
            others.truncate(room);
        }
        found.append(&mut others);
        more |= first > window.after.saturating_add(window.limit);
        Ok((found, more))
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
