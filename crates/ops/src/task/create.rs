//! `task_create`: write a task down.

use baton_model::delta::Kind;
use baton_model::id::{check_label, short_hash};
use baton_model::task::Task;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ledger::{Author, append_json};
use crate::op::{Access, Cx, Env, Operation};
use crate::resolve;

/// Writes a task down.
pub(crate) struct Create;

/// Input of `task_create`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that writes it down.
    #[serde(default)]
    identity: Option<String>,
    /// One line.
    title: String,
    /// What is to be done.
    #[serde(default)]
    description: String,
    /// 0 (now) to 4 (some day).
    #[serde(default = "usual")]
    priority: i64,
    /// `task`, `bug`, `feature`, …
    #[serde(default = "task_type")]
    issue_type: String,
    /// Who works on it.
    #[serde(default)]
    assignee: Option<String>,
    /// Which role it wants.
    #[serde(default)]
    agent_role: Option<String>,
    /// Labels.
    #[serde(default)]
    labels: Vec<String>,
    /// Any other field; kept as given.
    #[serde(default)]
    extra: Map<String, Value>,
}

fn usual() -> i64 {
    2
}

fn task_type() -> String {
    "task".into()
}

/// Answer of `task_create`: the task.
#[derive(Serialize)]
pub(crate) struct Output {
    #[serde(flatten)]
    task: Value,
}

impl Operation for Create {
    const NAME: &'static str = "task_create";
    const DOC: &'static str = "Write a task down";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        for label in input.labels.iter().chain(&input.agent_role).chain([&input.issue_type]) {
            check_label("label", label)?;
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let task = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::beat(tx, env, &project_id, &identity, Self::NAME)?;
            let own = resolve::own_or_callers(tx, env, &project_id, &identity)?;
            let author = Author { project_id: &project_id, identity: &identity, session: own.as_ref() };
            add(tx, env, &author, from_input(&input))
        })?;
        Ok(Output { task: task.to_json() })
    }
}

fn from_input(input: &Input) -> Task {
    Task {
        title: input.title.clone(),
        description: input.description.clone(),
        status: "open".into(),
        priority: input.priority,
        issue_type: input.issue_type.clone(),
        assignee: input.assignee.clone(),
        agent_role: input.agent_role.clone(),
        labels: input.labels.clone(),
        extra: input.extra.clone(),
        ..Task::default()
    }
}

/// Gives a task its id and writes it with its delta; also used where another verb leaves a task behind.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    task: Task,
) -> Result<Task, Failure> {
    let prefix: String = author.project_id.chars().take(24).collect();
    let mut task = Task {
        project_id: author.project_id.to_owned(),
        created_by: author.identity.to_owned(),
        created_at: env.now,
        updated_at: env.now,
        ..task
    };
    task.check()?;
    for length in 4..=12 {
        task.task_id = format!("{prefix}-{}", short_hash(env.number(), length));
        if task::get(tx, author.project_id, &task.task_id)?.is_none() {
            break;
        }
    }
    task::insert(tx, &task)?;
    let body = json!({ "summary": format!("task {} created: {}", task.task_id, task.title), "task_id": task.task_id });
    append_json(tx, env, author, Kind::Other, &body)?;
    Ok(task)
}
