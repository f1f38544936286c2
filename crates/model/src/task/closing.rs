//! What closing a task sets off: one table.

mod carried;
mod cleared;
mod files;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use carried::IN_OTHER_TASKS;
pub use carried::{IncrementTasks, refresh};
pub use cleared::clear_failures;

use super::Task;
use crate::role::role_key;
use crate::route;
use crate::time::Millis;

/// The stage of an increment that a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncrementStage {
    /// Builds.
    Implementation,
    /// Tests what was built.
    Testing,
    /// Mends what failed; sleeps until something does.
    Fixing,
    /// Approves or rejects.
    Verification,
}

impl IncrementStage {
    /// The role that works on it.
    pub fn role(self) -> &'static str {
        match self {
            Self::Implementation => "implementation",
            Self::Testing => "testing",
            Self::Fixing => "fixing",
            Self::Verification => "verification",
        }
    }

    /// The stage of a role; none for a role of the project's own.
    pub fn of(role: Option<&str>) -> Option<Self> {
        [Self::Implementation, Self::Testing, Self::Fixing, Self::Verification]
            .into_iter()
            .find(|stage| role.map(role_key).as_deref() == Some(stage.role()))
    }
}

/// How it was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It went well, or was approved.
    Pass,
    /// It failed, or was rejected.
    Fail,
}

impl Outcome {
    /// The stored word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        }
    }
}

/// What happens to another task of the increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowerAction {
    /// It is next.
    Hand,
    /// It wakes, whatever it waits for; one more attempt.
    Wake,
    /// It is opened again for another run; one more attempt.
    Rerun,
    /// It is closed as not needed.
    Unneeded,
}

/// One consequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The task that it happens to.
    pub stage: IncrementStage,
    /// What happens.
    pub act: FollowerAction,
    /// The type of message that goes out with its next assignment.
    pub message: Option<&'static str>,
}

/// The reason with which a fix is closed that nothing has needed.
const UNNEEDED: &str = "not needed: the test passed";

const fn step(stage: IncrementStage, act: FollowerAction, message: &'static str) -> Step {
    Step { stage, act, message: Some(message) }
}

const BUILT: &[Step] = &[step(IncrementStage::Testing, FollowerAction::Hand, "task_handoff")];
const BROKEN: &[Step] = &[step(IncrementStage::Fixing, FollowerAction::Wake, "test_failure_report")];
const FIXED: &[Step] = &[step(IncrementStage::Testing, FollowerAction::Rerun, "fix_complete")];
const PASSED: &[Step] = &[
    Step { stage: IncrementStage::Fixing, act: FollowerAction::Unneeded, message: None },
    step(IncrementStage::Verification, FollowerAction::Hand, "verification_request"),
];

/// The table. The implementation is never among what is opened again.
pub fn follows(closed: IncrementStage, outcome: Outcome) -> &'static [Step] {
    match (closed, outcome) {
        (IncrementStage::Implementation, _) => BUILT,
        (IncrementStage::Testing | IncrementStage::Verification, Outcome::Fail) => BROKEN,
        (IncrementStage::Fixing, _) => FIXED,
        (IncrementStage::Testing, Outcome::Pass) => PASSED,
        // The next increment waits for it by a dependency of its own.
        (IncrementStage::Verification, Outcome::Pass) => &[],
    }
}

/// Does to a task what its step says. What the increment knows goes along with the turn.
pub fn apply(
    step: &Step,
    target: &mut Task,
    closed: &Task,
    tasks: &IncrementTasks,
    (by, now): (&str, Millis),
) {
    if step.act == FollowerAction::Unneeded {
        if target.is_open() {
            target.set_status("closed", now);
            target.close_reason = Some(UNNEEDED.into());
            target.result = Some(Outcome::Pass.word().into());
        }
        (target.woken, target.pending_type, target.claim) = (false, None, None);
        return;
    }
    if !target.is_open() || target.status == "deferred" {
        target.set_status("open", now);
        target.assignee = None;
    }
    target.woken = step.act == FollowerAction::Wake;
    if step.act != FollowerAction::Hand {
        target.attempts += 1;
        route::share_allowance(target, closed);
    }
    target.pending_type = step.message.map(str::to_owned);
    target.previous_agent = Some(by.to_owned());
    let context = tasks.context(step, closed);
    if !context.is_empty() {
        target.agent_context = context;
    }
    let instructions = instructions_for(step.stage, closed);
    if !instructions.is_empty() {
        target.handoff_instructions = instructions;
    }
    if step.act == FollowerAction::Wake
        && IncrementStage::of(closed.agent_role.as_deref()) == Some(IncrementStage::Testing)
    {
        target.extra.insert(TEST_FAILURES.to_owned(), json!(test_failures(target) + 1));
    }
}

/// The field of a fix that counts how often the test has failed. The attempts of the test count other turns as well.
const TEST_FAILURES: &str = "test_failures";

/// How often the test of an increment has failed, by its fix.
fn test_failures(fix: &Task) -> i64 {
    fix.extra.get(TEST_FAILURES).and_then(Value::as_i64).unwrap_or(0)
}

/// The instructions of a closed task for the next one, without a `next_role` that is another stage's: its author meant the
/// task after its own.
pub fn instructions_for(stage: IncrementStage, closed: &Task) -> Map<String, Value> {
    let mut instructions = closed.handoff_instructions.clone();
    let next = instructions.get("next_role").and_then(Value::as_str);
    if next.and_then(|role| IncrementStage::of(Some(role))).is_some_and(|next| next != stage) {
        instructions.shift_remove("next_role");
    }
    instructions
}

#[cfg(test)]
mod tests;
