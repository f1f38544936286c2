//! `agent_show`: one agent, what holds for it, and its open sessions.

use baton_model::agent::Profile;
use baton_store::{Failure, agent, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Cx, Meta, Operation};
use crate::{resolve, roles};

/// Shows an agent.
pub struct Show;

/// Input of `agent_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The agent's name; else the caller's identity.
    #[serde(default)]
    pub name: Option<String>,
}

/// Answer of `agent_show`: the agent.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The agent.
    #[serde(flatten)]
    pub agent: Profile,
    /// Its sessions.
    pub sessions: Vec<Value>,
}

impl Operation for Show {
    const META: Meta =
        Meta::read("agent_show", "Show an agent, the limits that hold for it, and its open sessions");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let name = resolve::identity(cx.env.caller, input.name.as_deref())?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let (now, limits) = (cx.env.now, cx.env.limits);
        cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let Some(agent) = agent::get(tx, &project_id, &name)? else {
                return Err(super::unknown(tx, &project_id, &name)?.into());
            };
            let open = session::open_of(tx, &project_id, &name)?;
            Ok(ShowOutput {
                project_id: project_id.clone(),
                agent: agent.profile(&roles, now, limits),
                sessions: open.iter().map(|session| session.to_json(now, limits)).collect(),
            })
        })
    }
}
