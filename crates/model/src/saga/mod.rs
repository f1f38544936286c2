//! The saga of a hand-off: its steps, whose turn it is, and what an outcome or an event makes of them. The rows are written
//! by others; nothing here does anything.

mod duplicate_check;
mod events;
mod rebuild;

use serde::{Deserialize, Serialize};

pub use duplicate_check::{
    check_duplicates_now, closed_duplicates, record_duplicate_check, schedule_duplicate_check,
};
pub use events::{append_event, on_event, push, take_late_close};
pub use rebuild::{is_planned, rebuild};

use crate::effect::{FIRST_RETRY, LEASE, MAX_PAUSE};
use crate::handoff::State;
use crate::session::ProcessLocation;
use crate::time::{Millis, Timestamp};

/// The time of a step whose turn has not come.
pub const NOT_YET: Millis = i64::MAX;
/// Pause before a step is looked at again that waits for a live session to end or for a host with access to GitHub.
pub const RECHECK_PAUSE: Millis = 15_000;

/// One thing that is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Create the task in the receiver's tracker.
    Task,
    /// Store the memory note.
    Memory,
    /// Save the state that the receiver's session begins with.
    Session,
    /// Mark the hand-off as offered.
    Offer,
    /// Take the seeded session back.
    UndoSession,
    /// Withdraw the note.
    UndoMemory,
    /// Close the task as not planned.
    UndoTask,
    /// Close the task with the result.
    Report,
    /// Bring a local task into a GitHub tracker.
    Publish,
    /// Look for a duplicate that a delayed request may have made, and close it.
    #[serde(rename = "double")]
    DuplicateCheck,
    /// The receiver has closed the task: complete the hand-off.
    Closed,
    /// Say something under the task.
    Comment,
    /// Bring what changed about the task to its issue.
    Edit,
}

/// The way forward, in order.
pub const PLAN: [Kind; 4] = [Kind::Task, Kind::Memory, Kind::Session, Kind::Offer];

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Task,
        Self::Memory,
        Self::Session,
        Self::Offer,
        Self::UndoSession,
        Self::UndoMemory,
        Self::UndoTask,
        Self::Report,
        Self::Publish,
        Self::DuplicateCheck,
        Self::Closed,
        Self::Comment,
        Self::Edit,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Memory => "memory",
            Self::Session => "session",
            Self::Offer => "offer",
            Self::UndoSession => "undo_session",
            Self::UndoMemory => "undo_memory",
            Self::UndoTask => "undo_task",
            Self::Report => "report",
            Self::Publish => "publish",
            Self::DuplicateCheck => "double",
            Self::Closed => "closed",
            Self::Comment => "comment",
            Self::Edit => "edit",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether it makes a task outside.
    pub fn creates(self) -> bool {
        matches!(self, Self::Task | Self::Publish)
    }
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStage {
    /// To be done.
    Pending,
    /// In progress, under a lease.
    Running,
    /// Done.
    Done,
    /// Failed for good.
    Failed,
    /// Not needed any more.
    Skipped,
}

impl StepStage {
    const ALL: [Self; 5] = [Self::Pending, Self::Running, Self::Done, Self::Failed, Self::Skipped];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == word)
    }
}

/// A step of a hand-off.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its place in the order, from 1.
    pub no: i64,
    /// What it does.
    pub kind: Kind,
    /// Where it stands.
    pub stage: StepStage,
    /// How often it was tried.
    pub attempts: i64,
    /// When it may be tried; [`NOT_YET`] before its turn.
    pub due_at: Millis,
    /// When the lease of the attempt ends.
    pub lease_until: Millis,
    /// Counts leases, so that a late answer is known as one.
    pub fence: i64,
    /// Who tries.
    pub holder: ProcessLocation,
    /// Whether an earlier try may have done it without our knowing.
    pub is_unknown: bool,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// What undoing needs, as JSON text; of a comment its text, of an edit the changes, of a check for duplicates its
    /// findings, of a report its result, of a task the duplicates that were closed.
    pub result: Option<String>,
    /// When the row last changed.
    pub updated_at: Millis,
}

impl Step {
    fn new(no: i64, kind: Kind, due_at: Millis, now: Millis) -> Self {
        Self {
            no,
            kind,
            stage: StepStage::Pending,
            attempts: 0,
            due_at,
            lease_until: 0,
            fence: 0,
            holder: ProcessLocation::default(),
            is_unknown: false,
            last_error: None,
            result: None,
            updated_at: now,
        }
    }

    /// Whether there is nothing left to do for it.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, StepStage::Done | StepStage::Failed | StepStage::Skipped)
    }

    /// As answers show it.
    pub fn view(&self) -> View {
        View {
            step: self.kind,
            state: self.stage,
            attempts: self.attempts,
            next_try: (!self.is_over() && self.due_at != NOT_YET).then_some(Timestamp(self.due_at)),
            last_error: self.last_error.clone(),
            doubles_closed: closed_duplicates(self),
            updated_at: Some(Timestamp(self.updated_at)),
        }
    }
}

/// A step as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// What it does.
    pub step: Kind,
    /// Where it stands.
    pub state: StepStage,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried next.
    pub next_try: Option<Timestamp>,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// Numbers of the issues that were made twice and closed again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubles_closed: Vec<i64>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// The steps of a new hand-off.
pub fn plan(now: Millis) -> Vec<Step> {
    let step = |(at, kind): (usize, Kind)| {
        let due = if at == 0 { now } else { NOT_YET };
        Step::new(i64::try_from(at + 1).unwrap_or(i64::MAX), kind, due, now)
    };
    PLAN.into_iter().enumerate().map(step).collect()
}

/// Whether a step belongs to the way to the receiver, which ends with the hand-off.
pub fn is_forward_step(kind: Kind) -> bool {
    PLAN.contains(&kind) || kind == Kind::Publish
}

/// What a driver does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    /// None: every step is over.
    Finished,
    /// The step may be tried then.
    DueAt(Millis),
    /// The step is leased until this time.
    Leased(Millis),
    /// Only a check for duplicates is left, due at this time; callers do not wait for it.
    OnlyDuplicateCheck(Millis),
    /// The step at this index may be tried now.
    Take(usize),
}

/// What to do next. A running step is left alone until its lease ends or its process is gone. A check for duplicates
/// blocks no other step, and waits itself while a task is being created.
pub fn next_attempt(steps: &[Step], now: Millis, is_gone: impl Fn(&ProcessLocation) -> bool) -> NextAttempt {
    let first = |aside: bool| {
        let mut open = steps.iter().enumerate().filter(|(_, step)| !step.is_over());
        let (at, step) = open.find(|(_, step)| (step.kind == Kind::DuplicateCheck) == aside)?;
        let next = match step.stage {
            StepStage::Running if step.lease_until > now && !is_gone(&step.holder) => {
                NextAttempt::Leased(step.lease_until)
            }
            StepStage::Pending if step.due_at > now && step.due_at != NOT_YET => {
                NextAttempt::DueAt(step.due_at)
            }
            // The first open step is the one whose turn it is, also one whose time is still [`NOT_YET`].
            _ => NextAttempt::Take(at),
        };
        Some((next, step.kind))
    };
    match (first(false), first(true)) {
        (Some((next, kind)), _) if kind.creates() || matches!(next, NextAttempt::Take(_)) => next,
        (_, Some((NextAttempt::Take(at), _))) => NextAttempt::Take(at),
        (Some((next, _)), _) => next,
        (None, Some((NextAttempt::DueAt(at) | NextAttempt::Leased(at), _))) => {
            NextAttempt::OnlyDuplicateCheck(at)
        }
        (None, _) => NextAttempt::Finished,
    }
}

/// Takes a step under a lease. Its outcome is unknown until `record_outcome`.
pub fn lease_step(step: &mut Step, holder: &ProcessLocation, now: Millis) {
    step.stage = StepStage::Running;
    step.attempts += 1;
    step.fence += 1;
    step.lease_until = now + LEASE;
    step.holder = holder.clone();
    step.is_unknown = true;
    step.updated_at = now;
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Done; with what undoing needs.
    Done(Option<String>),
    /// Failed for now.
    Retry {
        /// What went wrong.
        why: String,
        /// Pause that the other side asked for.
        after: Option<Millis>,
        /// Whether it may have been done all the same.
        unknown: bool,
    },
    /// Failed for good.
    Final {
        /// What went wrong, and what a person can do.
        why: String,
        /// Whether an earlier try may have done it all the same.
        unknown: bool,
    },
}

/// Records an outcome in the steps. `jitter` is a random number from 0 to 999. No step is given up by
/// count: one with an unknown outcome may have left something outside.
pub fn record_outcome(steps: &mut [Step], at: usize, outcome: Outcome, now: Millis, jitter: i64) {
    let Some(step) = steps.get_mut(at) else { return };
    step.lease_until = 0;
    step.updated_at = now;
    match outcome {
        Outcome::Done(result) => {
            step.stage = StepStage::Done;
            step.is_unknown = false;
            step.last_error = None;
            step.result = result;
            make_next_due(steps, now);
        }
        Outcome::Retry { why, after, unknown } => {
            let pause = pause(step.attempts, jitter);
            step.stage = StepStage::Pending;
            step.due_at = now.saturating_add(after.map_or(pause, |requested| requested.max(pause)));
            step.is_unknown = unknown;
            step.last_error = Some(why);
        }
        Outcome::Final { why, unknown } => {
            step.stage = StepStage::Failed;
            step.is_unknown = unknown;
            step.last_error = Some(why);
            if !PLAN.contains(&step.kind) {
                make_next_due(steps, now);
            }
        }
    }
}

/// Doubling pauses with up to a quarter of jitter.
fn pause(attempts: i64, jitter: i64) -> Millis {
    let doublings = u32::try_from(attempts.clamp(1, 20) - 1).unwrap_or_default();
    let pause = FIRST_RETRY.saturating_mul(1 << doublings).min(MAX_PAUSE);
    pause + pause * jitter.clamp(0, 999) / 4_000
}

/// Makes the first unfinished step due; duplicate checks keep their own due time.
fn make_next_due(steps: &mut [Step], now: Millis) {
    if let Some(next) = steps.iter_mut().find(|step| !step.is_over() && step.kind != Kind::DuplicateCheck)
        && next.due_at == NOT_YET
    {
        next.due_at = now;
    }
}

/// Whether the hand-off is on its way forward: else a task that may be there is only looked for.
pub fn is_still_planned(state: State) -> bool {
    matches!(state, State::Planned | State::Pending)
}

#[cfg(test)]
mod tests;
