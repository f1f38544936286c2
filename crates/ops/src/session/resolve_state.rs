//! `session_resolve`: which saved or seeded state a caller means: go on with it, choose, or begin anew.

use baton_model::seed::{Asked, Candidate, Choice, choose};
use baton_store::{Failure, state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Finds the state to go on with.
pub(crate) struct Resolve;

/// Input of `session_resolve`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity or role that asks.
    #[serde(default)]
    identity: Option<String>,
    /// The task of an exact tuple.
    #[serde(default)]
    task: Option<String>,
    /// What the user said.
    #[serde(default)]
    said: Option<String>,
    /// Go on, whatever was said.
    #[serde(default)]
    resume: bool,
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
pub(crate) struct Output {
    project_id: String,
    identity: String,
    resolution: Resolution,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Value>,
    candidates: Vec<Value>,
}

impl Operation for Resolve {
    const NAME: &'static str = "session_resolve";
    const DOC: &'static str = "Find the saved or seeded state that a caller means to go on with";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let saved = cx.store.read(|tx| {
            resolve::known(tx, &project_id)?;
            let mut saved = state::of_project(tx, &project_id, 200)?;
            if let Some(task) = &input.task
                && let Some(exact) = state::get(tx, &project_id, &identity, task)?
                && !saved.contains(&exact)
            {
                saved.push(exact);
            }
            Ok(saved)
        })?;
        let asked = Asked {
            identity: &identity,
            task_id: input.task.as_deref(),
            said: input.said.as_deref(),
            resume: input.resume,
        };
        let choice = choose(&asked, saved.into_iter().map(candidate).collect());
        Ok(answer(project_id, identity, choice))
    }
}

fn candidate(saved: state::State) -> Candidate {
    Candidate {
        identity: saved.identity,
        task_id: saved.task_key,
        session_id: saved.session_id,
        version: saved.version,
        state: serde_json::from_str(&saved.body).unwrap_or(json!({})),
        updated_at: saved.updated_at,
    }
}

fn answer(project_id: String, identity: String, choice: Choice) -> Output {
    let mut output = Output {
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
        Choice::New => {}
        Choice::Required(all) => {
            output.resolution = Resolution::ChoiceRequired;
            output.candidates = all.iter().map(Candidate::to_json).collect();
        }
        Choice::Continue(one) => {
            output.resolution = Resolution::Resume;
            output.session_id = Some(one.session_id);
            output.task_id = Some(one.task_id).filter(|task| !task.is_empty());
            output.version = Some(one.version);
            output.state = Some(one.state);
        }
    }
    output
}
