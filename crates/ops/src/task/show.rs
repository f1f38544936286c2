//! `task_show`: one task.

use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::by_id;
use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Shows a task.
pub(crate) struct Show;

/// Input of `task_show`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Task id or a unique prefix of one.
    id: String,
}

/// Answer of `task_show`: the task.
#[derive(Serialize)]
pub(crate) struct Output {
    #[serde(flatten)]
    task: Value,
}

impl Operation for Show {
    const NAME: &'static str = "task_show";
    const DOC: &'static str = "Show a task";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let task = cx.store.read(|tx| {
            if project::get(tx, &project_id)?.is_none() {
                return Err(resolve::unknown_project(&project_id).into());
            }
            by_id(tx, &project_id, &input.id)
        })?;
        Ok(Output { task: task.to_json() })
    }
}
