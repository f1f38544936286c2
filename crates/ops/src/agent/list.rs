//! `agent_list`: who has registered, and what they can do.

use baton_model::agent::{Agent, Profile, State};
use baton_store::{Failure, agent, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::{resolve, roles};

/// Lists agents.
pub struct List;

/// Input of `agent_list`, also called `list_agents`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only agents with this role.
    #[serde(default)]
    pub role: Option<String>,
    /// Only agents with this skill, their own or of a role.
    #[serde(default)]
    pub skill: Option<String>,
    /// Only agents that were heard of lately.
    #[serde(default)]
    pub fresh: bool,
    /// Also identities that were in a session and never registered.
    #[serde(default)]
    pub all: bool,
}

/// An agent of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// One that registered.
    Agent(Box<Profile>),
    /// One that was in a session and never registered.
    Stranger {
        /// Its name.
        name: String,
        /// That it never registered.
        state: State,
    },
}

impl Row {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(profile) => &profile.name,
            Self::Stranger { name, .. } => name,
        }
    }
}

/// Answer of `agent_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for List {
    const META: Meta = Meta::read(
        "agent_list",
        "List the agents of a project with their roles, skills and whether they are there",
    );
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let role = input.role.as_deref().map(|role| roles.check_known(role)).transpose()?;
        let (now, limits) = (cx.env.now, cx.env.limits);
        let (agents, names) = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let names = if input.all { session::names(tx, &project_id)? } else { Vec::new() };
            Ok((agent::list(tx, &project_id)?, names))
        })?;
        let skill = input.skill.as_ref().map(|skill| skill.to_lowercase());
        let wanted = |agent: &&Agent| {
            role.as_ref().is_none_or(|role| agent.has_role(role))
                && skill.as_ref().is_none_or(|skill| agent.capability(&roles).skills.contains(skill))
                && (!input.fresh || agent.is_fresh(now, limits))
        };
        let profile = |agent: &Agent| Row::Agent(Box::new(agent.profile(&roles, now, limits)));
        let mut items: Vec<Row> = agents.iter().filter(wanted).map(profile).collect();
        let strangers = names.iter().filter(|name| {
            role.is_none()
                && skill.is_none()
                && !input.fresh
                && !agents.iter().any(|a| a.identity.eq_ignore_ascii_case(name))
        });
        items.extend(strangers.map(|name| Row::Stranger { name: name.clone(), state: State::Unregistered }));
        Ok(ListOutput { project_id, items, next: None })
    }
}
