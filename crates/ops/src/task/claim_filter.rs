//! Which tasks may be claimed without an id: by role, tags, and the agent that they are for.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::route::CandidateAgent;
use baton_model::suggest;
use baton_model::task::filter::Filter;
use baton_model::task::word;
use baton_store::{Failure, agent};

use crate::op::Cx;
use crate::{resolve, roles};

/// Which tasks an agent may be given.
pub(super) enum AgentFilter {
    /// It is registered, with its roles and skills.
    Registered(Box<CandidateAgent>),
    /// Its name says a role.
    Named(&'static str),
}

impl AgentFilter {
    /// What the register knows of an agent, else what its name says.
    pub(super) fn find(
        cx: &mut Cx<'_>,
        project: Option<&str>,
        name: Option<&str>,
    ) -> Result<Option<Self>, Failure> {
        let Some(name) = name else { return Ok(None) };
        let project_id = resolve::project_id(cx.store, &cx.env, project)?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let (now, limits) = (cx.env.now, cx.env.limits);
        let known = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(agent::get(tx, &project_id, name)?)
        })?;
        if let Some(agent) = known {
            let able = CandidateAgent::of(&agent, agent.capability(&roles), now, limits);
            return Ok(Some(Self::Registered(Box::new(able))));
        }
        match word::role_of_agent(name) {
            Some(role) => Ok(Some(Self::Named(role))),
            None => {
                let names = cx.store.read(|tx| Ok(agent::list(tx, &project_id)?))?;
                Err(unregistered_refusal(name, names.iter().map(|agent| agent.identity.as_str())).into())
            }
        }
    }
}

fn unregistered_refusal<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Refusal {
    let what = format!("nobody is registered as {}, and the name says no role", visible(name));
    let near = suggest::suggestions(name, known);
    let hint = match near.first() {
        Some(near) => format!("did you mean {near}? `baton agent list` names all"),
        None => format!("`baton agent register --as {} --role ROLE` registers", visible(name)),
    };
    Refusal::new(Kind::NotFound, "agent_unregistered", what, hint)
}

/// What is asked for by role, tags, and the agent that it is for.
pub(super) fn claim_filter(role: Option<&str>, tags: &[String], for_agent: Option<&AgentFilter>) -> Filter {
    let named = match for_agent {
        Some(AgentFilter::Named(role)) => Some(*role),
        _ => None,
    };
    let able = match for_agent {
        Some(AgentFilter::Registered(agent)) => Some((**agent).clone()),
        _ => None,
    };
    Filter { agent_role: role.or(named).map(str::to_owned), tags: tags.to_vec(), able, ..Filter::default() }
}
