//! `session_resolve`: which saved or seeded state a caller means: go on with it, choose, or begin anew.

use baton_model::id::{identity_key, is_shared_name};
use baton_model::seed::{SeedCandidate, StateChoice, StateRequest, View, choose};
use baton_store::{Failure, session, state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Finds the state to go on with.
pub struct Resolve;

/// Input of `session_resolve`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity or role that asks.
    #[serde(default)]
    pub identity: Option<String>,
    /// The task of an exact tuple.
    #[serde(default)]
    pub task: Option<String>,
    /// What the user said.
    #[serde(default)]
    pub said: Option<String>,
    /// Go on, whatever was said.
    #[serde(default)]
    pub resume: bool,
}

/// What a caller who means to go on is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Go on with the one state that fits.
    Resume,
    /// Choose between several.
    ChoiceRequired,
    /// Begin anew: nothing fits.
    New,
}

/// Answer of `session_resolve`.
#[derive(Serialize, Deserialize)]
pub struct ResolveOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// What to do.
    pub resolution: Resolution,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The task that the state belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Version of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// States to choose from.
    pub candidates: Vec<View>,
}

impl Operation for Resolve {
    const META: Meta =
        Meta::read("session_resolve", "Find the saved or seeded state that a caller means to go on with");
    type Input = ResolveInput;
    type Output = ResolveOutput;

    fn run(input: ResolveInput, cx: &mut Cx<'_>) -> Result<ResolveOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let saved = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut saved = state::of_project(tx, &project_id, 200)?;
            if let Some(task) = &input.task
                && let Some(exact) = state::get(tx, &project_id, &identity, task)?
                && !saved.contains(&exact)
            {
                saved.push(exact);
            }
            for state in saved.iter_mut().filter(|state| input.task.as_ref() == Some(&state.task_key)) {
                // A state seeded under another name, such as a role's, belongs to the session that took it on.
                let holder = match state.claimed_at {
                    Some(_) if !is_shared_name(&identity) => {
                        session::get(tx, &project_id, &state.session_id)?
                    }
                    _ => None,
                };
                if holder.is_some_and(|holder| identity_key(&holder.identity) == identity_key(&identity)) {
                    state.identity.clone_from(&identity);
                }
            }
            Ok(saved)
        })?;
        let request = StateRequest {
            identity: &identity,
            task_id: input.task.as_deref(),
            said: input.said.as_deref(),
            resume: input.resume,
        };
        let choice = choose(&request, saved.into_iter().map(candidate).collect());
        Ok(answer(project_id, identity, choice))
    }
}

fn candidate(saved: state::SavedState) -> SeedCandidate {
    SeedCandidate {
        identity: saved.identity,
        task_id: saved.task_key,
        session_id: saved.session_id,
        version: saved.version,
        state: serde_json::from_str(&saved.body).unwrap_or(json!({})),
        updated_at: saved.updated_at,
    }
}

fn answer(project_id: String, identity: String, choice: StateChoice) -> ResolveOutput {
    let mut output = ResolveOutput {
        project_id,
        identity,
        resolution: Resolution::New,
        session_id: None,
        task_id: None,
        version: None,
        state: None,
        candidates: Vec::new(),
    };
    match choice {
        StateChoice::New => {}
        StateChoice::Required(all) => {
            output.resolution = Resolution::ChoiceRequired;
            output.candidates = all.iter().map(SeedCandidate::view).collect();
        }
        StateChoice::Continue(one) => {
            output.resolution = Resolution::Resume;
            output.session_id = Some(one.session_id);
            output.task_id = Some(one.task_id).filter(|task| !task.is_empty());
            output.version = Some(one.version);
            output.state = Some(one.state);
        }
    }
    output
}
