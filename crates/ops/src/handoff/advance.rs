//! `handoff_advance`: accept, complete, decline or cancel a hand-off.

use baton_model::handoff::{Event, Handoff, State};
use baton_store::{Failure, Tx, handoff_step, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::steps::close_row;
use super::{answer, by_id, record};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;
use crate::saga::{happened, say};

/// Moves a hand-off on.
pub struct Advance;

/// What a person or an agent may do with a hand-off.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Take it.
    Accept,
    /// Finish it: the sender's project hears the result, the task is closed.
    Complete,
    /// Say no.
    Decline,
    /// Take it back.
    Cancel,
}

/// Input of `handoff_advance`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvanceInput {
    /// Hand-off id or a unique prefix of one.
    pub id: String,
    /// What to do.
    pub action: Action,
    /// Identity that does it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Result or reason, for the other side to read.
    #[serde(default)]
    pub result: Option<String>,
}

/// Answer of `handoff_advance`: the hand-off.
#[derive(Serialize, Deserialize)]
pub struct AdvanceOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The hand-off.
    #[serde(flatten)]
    pub handoff: Value,
}

impl Operation for Advance {
    const META: Meta =
        Meta::write("handoff_advance", "Accept, complete, decline or cancel a hand-off").changes_tasks();
    type Input = AdvanceInput;
    type Output = AdvanceOutput;

    fn run(input: AdvanceInput, cx: &mut Cx<'_>) -> Result<AdvanceOutput, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let known = cx.store.read(|tx| by_id(tx, &cx.env.caller.grant, &input.id))?;
        let Cx { store, env } = cx;
        let handoff = store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
            let before = by_id(tx, &env.caller.grant, &known.handoff_id)?;
            for project_id in [&known.from_project_id, &known.to_project_id] {
                resolve::beat(tx, env, project_id, &identity, Self::NAME)?;
            }
            let state = before.state.advance(event(input.action))?;
            let result = input.result.clone().or(before.result.clone());
            let mut handoff = Handoff { state, result, updated_at: env.now, ..before };
            record(tx, env, &handoff, &identity)?;
            happened(tx, env, &mut handoff, event(input.action))?;
            match state {
                State::Accepted => begin_task(tx, env, &handoff, &identity)?,
                _ => close_row(tx, env, &handoff)?,
            }
            let steps = handoff_step::of(tx, &handoff.handoff_id)?;
            Ok((handoff, steps))
        })?;
        let (handoff, steps) = handoff;
        let project_id = match input.action {
            Action::Cancel => handoff.from_project_id.clone(),
            _ => handoff.to_project_id.clone(),
        };
        Ok(AdvanceOutput { project_id, identity, handoff: answer(&handoff, &steps) })
    }
}

fn event(action: Action) -> Event {
    match action {
        Action::Accept => Event::Accept,
        Action::Complete => Event::Complete,
        Action::Decline => Event::Decline,
        Action::Cancel => Event::Cancel,
    }
}

/// The receiver's task is in progress once the hand-off is accepted, and its issue says who has it.
pub(crate) fn begin_task(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
    identity: &str,
) -> Result<(), Failure> {
    say(tx, env, handoff, &format!("This hand-off is accepted by {identity}."))?;
    let Some(id) = &handoff.task_id else { return Ok(()) };
    let Some(mut task) = task::get(tx, &handoff.to_project_id, id)? else { return Ok(()) };
    if !task.is_open() {
        return Ok(());
    }
    let before = task.clone();
    task.set_status("in_progress", env.now);
    task.assignee.get_or_insert_with(|| identity.to_owned());
    task.updated_at = env.now;
    crate::task::change_quietly(tx, &before, &task)
}
