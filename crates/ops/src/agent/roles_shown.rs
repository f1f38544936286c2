//! `agent_roles`: the roles that apply, and where each value came from.

use baton_model::role::Role;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation};
use crate::{resolve, roles};

/// Shows the roles.
pub(crate) struct RolesShown;

/// Input of `agent_roles`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
}

/// Answer of `agent_roles`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: String,
    file: Option<String>,
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for RolesShown {
    const NAME: &'static str = "agent_roles";
    const DOC: &'static str = "Show the roles that apply in a project and where each value came from";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        cx.store.read(|tx| resolve::known(tx, &project_id))?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let items = roles.iter().map(Role::to_json).collect();
        Ok(Output { project_id, file: roles.file, items, next: None })
    }
}
