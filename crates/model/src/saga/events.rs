//! What an event makes of a saga's steps.

use super::{Kind, NOT_YET, PLAN, Step, StepStage, is_forward_step, make_next_due};
use crate::effect::FIRST_RETRY;
use crate::handoff::Event;
use crate::time::Millis;

/// How long after a retry a request to close the task may still arrive.
const LATE_CLOSE: Millis = 600_000;

/// Applies a hand-off event to the steps: the one table beside the states'.
pub fn on_event(steps: &mut Vec<Step>, event: Event, now: Millis) {
    match event {
        Event::Cancel | Event::Decline | Event::Expire | Event::Fail => turn_back(steps, now),
        Event::Complete => push(steps, &[Kind::Report], now),
        Event::Retry => retry(steps, now),
        Event::Begin | Event::Offer | Event::Accept => {}
    }
}

/// Forward steps that were not begun are left out; those that were done are undone in reverse. A task that may be there is
/// looked for first: its step stays.
fn turn_back(steps: &mut Vec<Step>, now: Millis) {
    let done = |steps: &[Step], kind| {
        let newest = steps.iter().rev().find(|s| s.kind == kind);
        newest.is_some_and(|s| s.stage == StepStage::Done || s.is_unknown)
    };
    let undo: Vec<Kind> =
        [(Kind::Session, Kind::UndoSession), (Kind::Memory, Kind::UndoMemory), (Kind::Task, Kind::UndoTask)]
            .into_iter()
            .filter(|(kind, undo)| {
                done(steps, *kind) && !steps.iter().any(|s| s.kind == *undo && s.stage != StepStage::Skipped)
            })
            .map(|(_, undo)| undo)
            .collect();
    for step in steps.iter_mut().filter(|step| is_forward_step(step.kind)) {
        match step.stage {
            StepStage::Pending if !step.is_unknown => step.stage = StepStage::Skipped,
            StepStage::Pending => step.due_at = now,
            // It failed for good while an earlier try may have worked: that is found out before anything else.
            StepStage::Failed if step.is_unknown => {
                step.stage = StepStage::Pending;
                step.due_at = now.saturating_add(FIRST_RETRY);
            }
            _ => {}
        }
    }
    push(steps, &undo, now);
}

/// Adds steps behind the others.
pub fn push(steps: &mut Vec<Step>, kinds: &[Kind], now: Millis) {
    for kind in kinds {
        let no = steps.last().map_or(1, |step| step.no + 1);
        steps.push(Step::new(no, *kind, NOT_YET, now));
    }
    make_next_due(steps, now);
}

/// Adds a step that brings this text to the task's issue, once, in the order in which it came: a comment, or as JSON what changed.
pub fn append_event(steps: &mut Vec<Step>, kind: Kind, text: &str, now: Millis) {
    push(steps, &[kind], now);
    if let Some(step) = steps.last_mut() {
        step.result = Some(text.to_owned());
    }
}

/// Retry requested by a person: failed, skipped and undone steps run again; pending undo steps are dropped.
fn retry(steps: &mut [Step], now: Millis) {
    for step in steps.iter_mut().filter(|step| step.kind == Kind::UndoTask) {
        // One request to close was answered where the step is done; every other one may still arrive.
        step.is_unknown |= step.attempts > i64::from(step.stage == StepStage::Done);
    }
    let undone: Vec<Kind> = steps
        .iter()
        .filter(|s| s.stage == StepStage::Done || s.kind == Kind::UndoTask && s.is_unknown)
        .filter_map(|s| forward_of(s.kind))
        .collect();
    for step in steps.iter_mut() {
        if forward_of(step.kind).is_some() {
            step.stage = StepStage::Skipped;
        } else if PLAN.contains(&step.kind)
            && (step.stage != StepStage::Done || undone.contains(&step.kind))
            && step.stage != StepStage::Running
        {
            step.stage = StepStage::Pending;
            step.due_at = NOT_YET;
            // An undone effect may still be found on the tracker: it is reused, not made a second time.
            step.is_unknown |= undone.contains(&step.kind);
        }
        step.updated_at = now;
    }
    make_next_due(steps, now);
}

/// Whether the task's issue may have been closed by a request of ours that a retry has overtaken. Answers so once for each
/// retry: who closes it again means it.
pub fn take_late_close(steps: &mut [Step], now: Millis) -> bool {
    let is_late = |step: &&mut Step| {
        step.kind == Kind::UndoTask
            && step.stage == StepStage::Skipped
            && step.is_unknown
            && now < step.updated_at.saturating_add(LATE_CLOSE)
    };
    match steps.iter_mut().find(is_late) {
        Some(step) => {
            step.is_unknown = false;
            true
        }
        None => false,
    }
}

fn forward_of(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::UndoSession => Some(Kind::Session),
        Kind::UndoMemory => Some(Kind::Memory),
        Kind::UndoTask => Some(Kind::Task),
        _ => None,
    }
}
