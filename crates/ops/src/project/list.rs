//! `project_list`: every registered project.

use baton_model::project::Project;
use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation};

/// Lists projects.
pub(crate) struct List;

/// Input of `project_list`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

/// Answer of `project_list`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: Option<String>,
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for List {
    const NAME: &'static str = "project_list";
    const DOC: &'static str = "List the registered projects";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(_: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let mut projects = cx.store.read(|tx| Ok(project::list(tx)?))?;
        projects.retain(|project| cx.env.caller.grant.reaches(&project.project_id));
        Ok(Output { project_id: None, items: projects.iter().map(Project::to_json).collect(), next: None })
    }
}
