//! `agent_roles`: the roles that apply, and where each value came from.

use baton_model::role::{Role, RoleRow};
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::{resolve, roles};

/// Shows the roles.
pub struct ListRoles;

/// Input of `agent_roles`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRolesInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `agent_roles`.
#[derive(Serialize, Deserialize)]
pub struct ListRolesOutput {
    /// The project.
    pub project_id: String,
    /// The roles file.
    pub file: Option<String>,
    /// The rows of this page.
    pub items: Vec<RoleRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for ListRoles {
    const META: Meta =
        Meta::read("agent_roles", "Show the roles that apply in a project and where each value came from");
    type Input = ListRolesInput;
    type Output = ListRolesOutput;

    fn run(input: ListRolesInput, cx: &mut Cx<'_>) -> Result<ListRolesOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| resolve::require_project(tx, &project_id))?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let items = roles.iter().map(Role::row).collect();
        Ok(ListRolesOutput { project_id, file: roles.file, items, next: None })
    }
}
