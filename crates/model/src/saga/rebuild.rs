//! Steps of a hand-off that came without any.

use super::{Kind, PLAN, Step, StepStage, is_still_planned, make_next_due, push};
use crate::handoff::{Handoff, State};
use crate::time::Millis;

/// Whether the way forward is among the steps.
pub fn is_planned(steps: &[Step]) -> bool {
    steps.iter().any(|step| PLAN.contains(&step.kind))
}

/// Adds the way forward where the steps lack it, as exports of older versions do. What the hand-off names as made is done. A
/// task that it does not name may have been made all the same: it is looked for before it is created.
pub fn rebuild(steps: &mut Vec<Step>, handoff: &Handoff, now: Millis) {
    if is_planned(steps) {
        return;
    }
    let first = steps.len();
    push(steps, &PLAN, now);
    for step in steps.iter_mut().skip(first) {
        step.stage = stage(handoff, step.kind);
        step.is_unknown = step.kind == Kind::Task && step.stage != StepStage::Done;
    }
    make_next_due(steps, now);
}

fn stage(handoff: &Handoff, kind: Kind) -> StepStage {
    let is_made = kind == Kind::Task && handoff.task_id.is_some();
    match handoff.state {
        state if is_still_planned(state) && !is_made => StepStage::Pending,
        State::Declined | State::Cancelled | State::Expired | State::Failed => StepStage::Skipped,
        _ => StepStage::Done,
    }
}
