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
pub struct RolesShownInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `agent_roles`.
#[derive(Serialize, Deserialize)]
pub struct RolesShownOutput {
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
    type Input = RolesShownInput;
    type Output = RolesShownOutput;

    fn run(input: RolesShownInput, cx: &mut Cx<'_>) -> Result<RolesShownOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| resolve::require_project(tx, &project_id))?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let items = roles.iter().map(Role::row).collect();
        Ok(RolesShownOutput { project_id, file: roles.file, items, next: None })
    }
}
