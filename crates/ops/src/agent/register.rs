//! `agent_register`: an agent says what it is and what it can do.

use baton_model::agent::{Agent, Profile};
use baton_model::delta::Kind;
use baton_model::id::is_shared_name;
use baton_model::refusal::Refusal;
use baton_model::role::Roles;
use baton_store::{Failure, Tx, agent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::project::require_active;
use crate::{resolve, roles};

/// Registers an agent.
pub struct Register;

/// Input of `agent_register`. What is left out stays as it was registered before; an empty list removes.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The agent's name: the identity that it works under.
    #[serde(default)]
    pub identity: Option<String>,
    /// The program that it is: `claude`, `codex`, …
    #[serde(default)]
    pub program: Option<String>,
    /// The model that it runs on.
    #[serde(default)]
    pub model: Option<String>,
    /// Its roles: those of `agent_roles`, `testing` or `testing-specialist`.
    #[serde(default)]
    pub roles: Option<Vec<String>>,
    /// What it is good at beyond what its roles say.
    #[serde(default)]
    pub skills: Option<Vec<String>>,
    /// How many tasks it takes at once; else 1. 0: none until it registers again. Otherwise a limit in `AGENT_ROLES.yaml` wins.
    #[serde(default)]
    pub max_tasks: Option<i64>,
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// The roles file sets another limit than the one that was asked for.
    LimitOverruled,
}

/// What the caller should know of a registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The same in a sentence.
    pub message: String,
}

/// Answer of `agent_register`: the agent.
#[derive(Serialize, Deserialize)]
pub struct RegisterOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The agent.
    #[serde(flatten)]
    pub agent: Profile,
    /// What the caller should know; nothing was refused because of it.
    pub warnings: Vec<Warning>,
}

impl Operation for Register {
    const META: Meta = Meta::write(
        "agent_register",
        "Register an agent: its program, model, roles, skills and how much it takes at once",
    );
    type Input = RegisterInput;
    type Output = RegisterOutput;

    fn run(input: RegisterInput, cx: &mut Cx<'_>) -> Result<RegisterOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        if is_shared_name(&identity) {
            let what = "an agent registers under a name of its own; anybody may be Bot";
            let hint = "say which: baton agent register --as NAME, or set BATON_IDENTITY";
            return Err(Refusal::invalid("agent_invalid", what, hint).into());
        }
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        let Cx { store, env } = cx;
        let agent = store.write(&[&project_id], |tx| {
            require_active(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            register(tx, env, &input, &project_id, &identity, &roles)
        })?;
        let warnings = overruled(&agent, &roles);
        let shown = agent.profile(&roles, cx.env.now, cx.env.limits);
        Ok(RegisterOutput { project_id, identity: agent.identity, agent: shown, warnings })
    }
}

fn register(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &RegisterInput,
    project_id: &str,
    identity: &str,
    roles: &Roles,
) -> Result<Agent, Failure> {
    let before = agent::get(tx, project_id, identity)?;
    let mut now = match &before {
        Some(known) => known.clone(),
        None => Agent {
            project_id: project_id.to_owned(),
            identity: super::first_name(tx, project_id, identity)?.unwrap_or_else(|| identity.to_owned()),
            registered_at: env.now,
            ..Agent::default()
        },
    };
    let take = |own: &mut Option<String>, given: &Option<String>| {
        if let Some(text) = given {
            *own = Some(text.clone()).filter(|text| !text.is_empty());
        }
    };
    take(&mut now.program, &input.program);
    take(&mut now.model, &input.model);
    now.roles = input.roles.clone().unwrap_or(now.roles);
    now.skills = input.skills.clone().unwrap_or(now.skills);
    now.max_tasks = input.max_tasks.or(now.max_tasks);
    now.check(roles)?;
    let changed = before.is_none_or(|before| before != now);
    now.updated_at = env.now;
    agent::put(tx, &now)?;
    if changed {
        let body = json!({
            "summary": format!("{} registered as {}", now.identity, roles_text(&now)),
            "agent": {
                "name": now.identity, "program": now.program, "model": now.model, "roles": now.roles,
                "skills": now.skills, "max_tasks": now.max_tasks,
            },
        });
        append_json(
            tx,
            env,
            &Author { project_id, identity: &now.identity, session: None },
            Kind::Other,
            &body,
        )?;
    }
    Ok(now)
}

fn roles_text(agent: &Agent) -> String {
    if agent.roles.is_empty() { "a generalist".to_owned() } else { agent.roles.join(", ") }
}

/// Warns when the roles file allows fewer tasks than were requested.
fn overruled(agent: &Agent, roles: &Roles) -> Vec<Warning> {
    let can = agent.capability(roles);
    match agent.max_tasks {
        Some(requested) if requested != can.max_tasks => {
            let message = format!(
                "it asked for {requested} tasks at once, but {} says {}, and the file wins",
                can.max_tasks_from, can.max_tasks
            );
            vec![Warning { kind: WarningKind::LimitOverruled, message }]
        }
        _ => Vec::new(),
    }
}
