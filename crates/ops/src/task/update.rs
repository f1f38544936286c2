//! `task_update`: change, close or reopen a task.

use baton_model::delta::Kind;
use baton_model::id::check_label;
use baton_model::task::Task;
use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::by_id;
use crate::handoff::tracker;
use crate::ledger::{Author, append_json};
use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Changes a task.
pub(crate) struct Update;

/// Input of `task_update`; what is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that changes it.
    #[serde(default)]
    identity: Option<String>,
    /// Task id or a unique prefix of one.
    id: String,
    /// One line.
    #[serde(default)]
    title: Option<String>,
    /// What is to be done.
    #[serde(default)]
    description: Option<String>,
    /// `open`, `in_progress`, `blocked`, `deferred` or `closed`.
    #[serde(default)]
    status: Option<String>,
    /// Why it is closed.
    #[serde(default)]
    close_reason: Option<String>,
    /// 0 (now) to 4 (some day).
    #[serde(default)]
    priority: Option<i64>,
    /// Who works on it.
    #[serde(default)]
    assignee: Option<String>,
    /// Which role it wants.
    #[serde(default)]
    agent_role: Option<String>,
    /// Labels, in place of those before.
    #[serde(default)]
    labels: Option<Vec<String>>,
    /// Other fields, set one by one.
    #[serde(default)]
    extra: Map<String, Value>,
}

/// Answer of `task_update`: the task.
#[derive(Serialize)]
pub(crate) struct Output {
    #[serde(flatten)]
    task: Value,
}

impl Operation for Update {
    const NAME: &'static str = "task_update";
    const DOC: &'static str = "Change, close or reopen a task";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        for label in input.labels.iter().flatten().chain(&input.agent_role) {
            check_label("label", label)?;
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        // Closing the task of a hand-off tells its sender.
        let sender = store.read(|tx| tracker::sender_of(tx, &project_id, &input.id))?;
        let task = store.write(&[&project_id, sender.as_ref().unwrap_or(&project_id)], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::beat(tx, env, &project_id, &identity, Self::NAME)?;
            let known = by_id(tx, &project_id, &input.id)?;
            let wanted = change(known.clone(), &input, env.now);
            wanted.check()?;
            if wanted == known {
                return Ok(known);
            }
            let task = Task { updated_at: env.now, ..wanted };
            task::put(tx, &task)?;
            let own = resolve::own_or_callers(tx, env, &project_id, &identity)?;
            let author = Author { project_id: &project_id, identity: &identity, session: own.as_ref() };
            let what = if known.status == task.status {
                "changed".to_owned()
            } else {
                format!("is now {}", task.status)
            };
            let body = json!({ "summary": format!("task {} {what}", task.task_id), "task_id": task.task_id });
            append_json(tx, env, &author, Kind::Other, &body)?;
            if known.is_open() && !task.is_open() {
                tracker::task_closed(tx, env, &task, &identity)?;
            }
            Ok(task)
        })?;
        Ok(Output { task: task.to_json() })
    }
}

fn change(mut task: Task, input: &Input, now: i64) -> Task {
    fn set<T: Clone>(field: &mut T, new: Option<&T>) {
        if let Some(new) = new {
            field.clone_from(new);
        }
    }
    set(&mut task.title, input.title.as_ref());
    set(&mut task.description, input.description.as_ref());
    set(&mut task.priority, input.priority.as_ref());
    set(&mut task.labels, input.labels.as_ref());
    for (field, new) in [(&mut task.assignee, &input.assignee), (&mut task.agent_role, &input.agent_role)] {
        match new.as_deref() {
            None => {}
            Some("") => *field = None,
            Some(text) => *field = Some(text.to_owned()),
        }
    }
    if let Some(status) = &input.status {
        let was_open = task.is_open();
        task.status.clone_from(status);
        match (was_open, task.is_open()) {
            (true, false) => task.closed_at = Some(now),
            (false, true) => (task.closed_at, task.close_reason) = (None, None),
            _ => {}
        }
    }
    if !task.is_open() && input.close_reason.is_some() {
        task.close_reason.clone_from(&input.close_reason);
    }
    for (key, value) in &input.extra {
        task.extra.insert(key.clone(), value.clone());
    }
    task
}
