//! `handoff_retry`: try again what failed, or drive on what waits.

use baton_model::handoff::{Event, Handoff, State};
use baton_model::saga::{self, NOT_YET, Step, StepStage};
use baton_store::{Failure, handoff, handoff_step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Progress, Row, by_id, isolation, record};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;
use crate::saga::{advance, apply_event};

/// Drives a hand-off on.
pub struct Retry;

/// Input of `handoff_retry`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryInput {
    /// Hand-off id or a unique prefix of one.
    pub id: String,
    /// Identity that wants it.
    #[serde(default)]
    pub identity: Option<String>,
}

impl Operation for Retry {
    const META: Meta = Meta::write("handoff_retry", "Try a failed hand-off again, or drive a pending one on")
        .changes_tasks()
        .begins_transfer();
    type Input = RetryInput;
    type Output = Progress;

    fn run(input: RetryInput, cx: &mut Cx<'_>) -> Result<Progress, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let known = cx.store.read(|tx| by_id(tx, &cx.env.caller.grant, &input.id))?;
        let here = resolve::project_id(cx.store, &cx.env, None).ok();
        let Cx { store, env } = cx;
        store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
            let mut after = by_id(tx, &env.caller.grant, &known.handoff_id)?;
            resolve::beat(tx, env, &known.from_project_id, &identity, Self::NAME)?;
            if after.state == State::Failed {
                after = Handoff { state: after.state.advance(Event::Retry)?, updated_at: env.now, ..after };
                record(tx, env, &after, &identity)?;
                apply_event(tx, env, &mut after, Event::Retry)?;
            } else {
                let before = handoff_step::of(tx, &after.handoff_id)?;
                let mut steps = before.clone();
                saga::rebuild(&mut steps, &after, env.now);
                if steps.iter().all(|step| matches!(step.stage, StepStage::Done | StepStage::Skipped)) {
                    // Nothing waits: its state says why.
                    after.state.advance(Event::Retry)?;
                }
                steps.iter_mut().for_each(|step| at_once(step, env.now));
                advance(tx, env, &mut after, &mut steps)?;
                handoff_step::put(tx, &after.handoff_id, &before, &steps)?;
                handoff::put(tx, &after)?;
            }
            let row = Row::of(&after, &handoff_step::of(tx, &after.handoff_id)?);
            let row = isolation::shown_to(tx, here.as_deref(), &after, row)?;
            let identity = identity.clone();
            Ok(Progress { row, project_id: after.from_project_id, identity, warnings: None })
        })
    }
}

/// A step that waits for its next try, or was given up on the way back, is due now.
fn at_once(step: &mut Step, now: i64) {
    if step.stage == StepStage::Failed {
        step.stage = StepStage::Pending;
    }
    if step.stage == StepStage::Pending && step.due_at != NOT_YET {
        step.due_at = now;
    }
}
