//! `task_list`: tasks by priority, then oldest first.

use baton_model::task::Task;
use baton_store::{Failure, project, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Lists tasks.
pub(crate) struct List;

/// Input of `task_list`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Only this status; `closed` ones are listed only when asked for.
    #[serde(default)]
    status: Option<String>,
    /// Only tasks that want this role.
    #[serde(default)]
    agent_role: Option<String>,
    /// Closed ones too.
    #[serde(default)]
    all: bool,
    /// At most so many; 0 for all, 50 when nothing is said.
    #[serde(default)]
    limit: Option<i64>,
    /// Leave out so many: `next` of the page before.
    #[serde(default)]
    after: usize,
}

/// Answer of `task_list`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    items: Vec<Value>,
    next: Option<usize>,
}

impl Operation for List {
    const NAME: &'static str = "task_list";
    const DOC: &'static str = "List tasks by priority, then oldest first";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let closed = input.all || input.status.as_deref() == Some("closed");
        let tasks = cx.store.read(|tx| {
            if project::get(tx, &project_id)?.is_none() {
                return Err(resolve::unknown_project(&project_id).into());
            }
            Ok(task::list(tx, &project_id, closed, i64::MAX)?)
        })?;
        let wanted = |task: &&Task| {
            input.status.as_ref().is_none_or(|status| task.status == *status)
                && input.agent_role.as_ref().is_none_or(|role| task.agent_role.as_ref() == Some(role))
        };
        let limit = match input.limit.unwrap_or(50) {
            0 => usize::MAX,
            n => usize::try_from(n).unwrap_or(usize::MAX),
        };
        let found: Vec<&Task> = tasks.iter().filter(wanted).collect();
        let items = found.iter().skip(input.after).take(limit).map(|task| task.to_json()).collect();
        let end = input.after.saturating_add(limit);
        Ok(Output { project_id, items, next: Some(end).filter(|end| *end < found.len()) })
    }
}
