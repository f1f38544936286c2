//! Drives hand-offs, one step at a time. The driver (a command, a server) asks here for the request to the external
//! tracker, sends it outside of any transaction, and reports the outcome here.

use baton_model::access::Grant;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::short;
use baton_model::issue::{TrackerCall, TrackerOutcome, TrackerResult};
use baton_model::saga::{self, Kind, Outcome, Step, StepStage};
use baton_model::session::ProcessLocation;
use baton_model::store_place::OutsideCalls;
use baton_model::time::Millis;
use baton_store::{Failure, Store, Tx, handoff, handoff_step};
use serde_json::json;

use crate::handoff::retry::follow_registry;
use crate::handoff::seeding::end_completed_state;
use crate::handoff::steps::{self, LocalStepOutcome};
use crate::handoff::{by_id, expiry, moved, record, register_both_projects, tracker};
use crate::op::{Env, Host};

/// Actor recorded for expirations.
pub(crate) const SYSTEM_IDENTITY: &str = "Baton";

/// A step under a lease, and its request to the outside.
#[derive(Debug, Clone)]
pub struct LeasedStep {
    /// The hand-off.
    pub handoff_id: String,
    /// What is asked.
    pub call: TrackerCall,
    step_no: i64,
    fence: i64,
}

/// What a look at a hand-off came to.
#[derive(Debug)]
pub enum StepStart {
    /// Nothing is left to do.
    Finished,
    /// Only a check for duplicates is left, at its time; callers do not wait for it.
    OnlyDuplicateCheck,
    /// Nothing to do before this time.
    Wait(Millis),
    /// Another process is at it, which may take until this time and mostly takes a moment.
    Leased(Millis),
    /// This is to be asked outside.
    Call(Box<LeasedStep>),
}

/// What telling an outcome came to.
#[derive(Debug, PartialEq, Eq)]
pub enum OutcomeReport {
    /// It was written down.
    Recorded,
    /// The lease had expired and another process took over. A step of its own now looks for what this attempt may have
    /// created outside.
    LeaseLost,
}

/// Ids of hand-offs with steps that may be due. Those past their deadline are expired first.
pub fn due(store: &mut Store, env: &mut Env<'_>, limit: i64) -> Result<Vec<String>, Failure> {
    let now = env.now;
    let expired = store.read(|tx| Ok(handoff::expired(tx, now, limit)?))?;
    for id in expired {
        expiry::expire(store, env, &id)?;
    }
    store.read(|tx| Ok(handoff_step::due(tx, now, limit)?))
}

/// Applies an event to the state: adds the steps that follow, and runs those that need no external service at once.
pub(crate) fn apply_event(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    event: Event,
) -> Result<(), Failure> {
    let before = handoff_step::of(tx, &handoff.handoff_id)?;
    let mut steps = before.clone();
    if !saga::is_planned(&steps)
        && let Some(known) = handoff::get(tx, &handoff.handoff_id)?
    {
        // The row still has the state from before the event.
        saga::rebuild(&mut steps, &known, env.now);
    }
    saga::on_event(&mut steps, event, env.now);
    name_result(&mut steps, handoff);
    advance(tx, env, handoff, &mut steps)?;
    handoff_step::put(tx, &handoff.handoff_id, &before, &steps)?;
    handoff::put(tx, handoff)?;
    end_completed_state(tx, env, handoff)
}

/// A report tells the result that the hand-off has now: while it waits for the tracker, the task may be reopened and closed anew.
fn name_result(steps: &mut [Step], handoff: &Handoff) {
    if let Some(step) = steps.last_mut().filter(|step| step.kind == Kind::Report && !step.is_over()) {
        step.result = step.result.take().or_else(|| handoff.result.clone());
    }
}

/// Runs steps for as long as they need no external service. Returns the next action.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    steps: &mut Vec<Step>,
) -> Result<saga::NextAttempt, Failure> {
    register_both_projects(tx, env, handoff)?;
    loop {
        let host = env.host;
        let next = saga::next_attempt(steps, env.now, |place| has_process_ended(host, place));
        let saga::NextAttempt::Take(at) = next else { return Ok(next) };
        let Some(step) = steps.get_mut(at) else { return Ok(next) };
        if steps::is_outside(handoff, step) {
            return Ok(next);
        }
        step.attempts += 1;
        let step = step.clone();
        let was = handoff.state;
        let outcome = match steps::run_local(tx, env, handoff, &step, steps)? {
            LocalStepOutcome::Done(result) => Outcome::Done(result.map(|value| value.to_string())),
            LocalStepOutcome::Wait(why) => {
                Outcome::Retry { why, after: Some(saga::RECHECK_PAUSE), unknown: false }
            }
        };
        saga::record_outcome(steps, at, outcome, env.now, 0);
        let event = if handoff.state == State::Declined { Event::Decline } else { Event::Complete };
        if step.kind == Kind::Closed && was != handoff.state {
            saga::on_event(steps, event, env.now);
            name_result(steps, handoff);
            end_completed_state(tx, env, handoff)?;
        }
    }
}

/// Whether the process that holds a step's lease is known to have ended. A remote client's word does not count: the step could run twice.
fn has_process_ended(host: &dyn Host, place: &ProcessLocation) -> bool {
    !host.only_caller_answers(place) && host.has_process_ended(place)
}

/// Runs the steps of a hand-off that need no external service, and leases the next one that does to this process, where it may call.
pub fn begin(
    store: &mut Store,
    env: &mut Env<'_>,
    id: &str,
    (own, calls): (&ProcessLocation, OutsideCalls),
) -> Result<StepStart, Failure> {
    let (now, host) = (env.now, env.host);
    let (known, waits) = store.read(|tx| {
        let known = by_id(tx, &Grant::default(), id)?;
        let steps = handoff_step::of(tx, &known.handoff_id)?;
        let next = saga::next_attempt(&steps, now, |place| has_process_ended(host, place));
        let outside = matches!(next, saga::NextAttempt::Take(at) if steps::is_outside(&known, &steps[at]));
        Ok(match next {
            saga::NextAttempt::DueAt(at) => (known, Some(StepStart::Wait(at))),
            saga::NextAttempt::Leased(at) => (known, Some(StepStart::Leased(at))),
            saga::NextAttempt::OnlyDuplicateCheck(_) => (known, Some(StepStart::OnlyDuplicateCheck)),
            // This host has no access to GitHub, or its store waits; another driver will run the step.
            saga::NextAttempt::Take(_)
                if outside && (calls == OutsideCalls::Held || !host.github_access()) =>
            {
                (known, Some(StepStart::Wait(now + saga::RECHECK_PAUSE)))
            }
            _ => (known, None),
        })
    })?;
    if let Some(nothing) = waits {
        return Ok(nothing);
    }
    store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
        let mut handoff = by_id(tx, &Grant::default(), id)?;
        let read = handoff.clone();
        let before = handoff_step::of(tx, id)?;
        let mut steps = before.clone();
        let begun = match advance(tx, env, &mut handoff, &mut steps)? {
            saga::NextAttempt::Finished => StepStart::Finished,
            saga::NextAttempt::OnlyDuplicateCheck(_) => StepStart::OnlyDuplicateCheck,
            saga::NextAttempt::DueAt(at) => StepStart::Wait(at),
            saga::NextAttempt::Leased(at) => StepStart::Leased(at),
            saga::NextAttempt::Take(at) => lease(tx, env, &mut handoff, (&mut steps, at), own)?,
        };
        handoff_step::put(tx, id, &before, &steps)?;
        if handoff != read {
            touch(&mut handoff, env);
            handoff::put(tx, &handoff)?;
        }
        Ok(begun)
    })
}

fn lease(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    (steps, at): (&mut Vec<Step>, usize),
    own: &ProcessLocation,
) -> Result<StepStart, Failure> {
    let Some(step) = steps.get_mut(at) else { return Ok(StepStart::Finished) };
    follow_registry(tx, handoff, step)?;
    let call = steps::call(tx, handoff, step)?;
    let before = step.clone();
    saga::lease_step(step, own, env.now);
    let leased =
        LeasedStep { handoff_id: handoff.handoff_id.clone(), call, step_no: step.no, fence: step.fence };
    if before.kind.creates() && before.is_unknown {
        // An earlier request may arrive after this one. A sender that never reported may not even have sent it yet.
        let sender = (before.stage == StepStage::Running).then_some(&before.holder);
        saga::schedule_duplicate_check(steps, sender, env.now);
    }
    if handoff.state == State::Planned {
        handoff.state = handoff.state.advance(Event::Begin)?;
        record(tx, env, handoff, &handoff.from_identity.clone())?;
    }
    Ok(StepStart::Call(Box::new(leased)))
}

/// Records the outcome of a leased step. What was created outside is recorded before anything else is tried.
pub fn record_outcome(
    store: &mut Store,
    env: &mut Env<'_>,
    leased: &LeasedStep,
    outcome: &TrackerOutcome,
    jitter: i64,
) -> Result<OutcomeReport, Failure> {
    let known = store.read(|tx| by_id(tx, &Grant::default(), &leased.handoff_id))?;
    let outcome = &outcome.with_names(short(&leased.handoff_id), known.issues_repo.as_deref());
    let page = match outcome {
        TrackerOutcome::Completed(TrackerResult::Issue { url, .. }) => Some(url.as_str()),
        _ => None,
    };
    let taken = store.read(|tx| moved::projects(tx, &known, page))?;
    store.write(&taken.iter().map(String::as_str).collect::<Vec<_>>(), |tx| {
        let mut handoff = by_id(tx, &Grant::default(), &leased.handoff_id)?;
        let before = handoff_step::of(tx, &leased.handoff_id)?;
        let mut steps = before.clone();
        let held = |step: &Step| {
            step.no == leased.step_no && step.fence == leased.fence && step.stage == StepStage::Running
        };
        let Some(at) = steps.iter().position(held) else {
            if may_have_made(leased, outcome) {
                saga::check_duplicates_now(&mut steps, env.now);
                handoff_step::put(tx, &leased.handoff_id, &before, &steps)?;
            }
            return Ok(OutcomeReport::LeaseLost);
        };
        apply_outcome(tx, env, &mut handoff, (&mut steps, at), outcome, jitter)?;
        touch(&mut handoff, env);
        handoff_step::put(tx, &leased.handoff_id, &before, &steps)?;
        handoff::put(tx, &handoff)?;
        Ok(OutcomeReport::Recorded)
    })
}

/// Whether a late call may have made an issue.
fn may_have_made(leased: &LeasedStep, outcome: &TrackerOutcome) -> bool {
    let made = match outcome {
        TrackerOutcome::Completed(_) => true,
        TrackerOutcome::Retry { unknown, .. } | TrackerOutcome::Final { unknown, .. } => *unknown,
    };
    made && matches!(leased.call, TrackerCall::Create(_))
}

fn apply_outcome(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    (steps, at): (&mut Vec<Step>, usize),
    outcome: &TrackerOutcome,
    jitter: i64,
) -> Result<(), Failure> {
    let Some(kind) = steps.get(at).map(|step| step.kind) else { return Ok(()) };
    let forward = saga::is_still_planned(handoff.state);
    let is_duplicate_check = kind == Kind::DuplicateCheck;
    let is_lookup = is_duplicate_check || (kind == Kind::Task && !forward);
    if let (TrackerOutcome::Retry { why, .. } | TrackerOutcome::Final { why, .. }, false) =
        (outcome, is_duplicate_check)
    {
        handoff.last_error = Some(why.clone());
    }
    match outcome {
        TrackerOutcome::Completed(response) if is_duplicate_check => {
            return finish_duplicate_check(tx, env, handoff, (steps, at), response);
        }
        TrackerOutcome::Completed(response) => {
            tracker::record_success(tx, env, handoff, kind, response)?;
            if !matches!(kind, Kind::Publish | Kind::Comment | Kind::Edit) {
                handoff.last_error = handoff.last_error.take().filter(|_| handoff.state == State::Failed);
            }
            let result = (!closed_duplicates(response).is_empty())
                .then(|| json!({ "doubles_closed": closed_duplicates(response) }).to_string());
            saga::record_outcome(steps, at, Outcome::Done(result), env.now, jitter);
            if is_lookup && *response == TrackerResult::Nothing {
                steps[at].stage = StepStage::Skipped;
            }
        }
        TrackerOutcome::Retry { why, after, unknown } => {
            let outcome = Outcome::Retry { why: why.clone(), after: *after, unknown: *unknown };
            saga::record_outcome(steps, at, outcome, env.now, jitter);
        }
        // Whether it is there must become known one day: otherwise something would be left behind without a word.
        TrackerOutcome::Final { why, .. } if is_lookup => {
            let after = Some(baton_model::effect::MAX_PAUSE);
            let outcome = Outcome::Retry { why: why.clone(), after, unknown: true };
            saga::record_outcome(steps, at, outcome, env.now, jitter);
        }
        TrackerOutcome::Final { why, unknown } => {
            saga::record_outcome(
                steps,
                at,
                Outcome::Final { why: why.clone(), unknown: *unknown },
                env.now,
                jitter,
            );
            if forward && kind == Kind::Task {
                handoff.state = handoff.state.advance(Event::Fail)?;
                record(tx, env, handoff, &handoff.from_identity.clone())?;
                saga::on_event(steps, Event::Fail, env.now);
            }
        }
    }
    Ok(())
}

/// Handles the result of a duplicate check. A duplicate of a hand-off that ended without an issue is closed like the original.
fn finish_duplicate_check(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    (steps, at): (&mut Vec<Step>, usize),
    result: &TrackerResult,
) -> Result<(), Failure> {
    let knew = handoff.issue_number;
    tracker::record_success(tx, env, handoff, Kind::DuplicateCheck, result)?;
    let host = env.host;
    saga::record_duplicate_check(
        &mut steps[at],
        closed_duplicates(result),
        |place| has_process_ended(host, place),
        env.now,
    );
    let ended = matches!(handoff.state, State::Cancelled | State::Declined | State::Expired | State::Failed);
    if ended && handoff.issue_number != knew {
        saga::push(steps, &[Kind::UndoTask], env.now);
    }
    Ok(())
}

/// Numbers of the duplicate issues that a call closed.
fn closed_duplicates(result: &TrackerResult) -> &[i64] {
    match result {
        TrackerResult::Issue { duplicates, .. } => duplicates,
        _ => &[],
    }
}

/// Says something under the issue of a hand-off, where it has one or is about to have one.
pub(crate) fn comment_on_issue(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
    text: &str,
) -> Result<(), Failure> {
    send_to_issue(tx, env, handoff, Kind::Comment, text)
}

/// Brings something to the issue of a hand-off, where it has one: a comment, or as JSON what changed. While a task is being
/// published, it waits for the issue.
pub(crate) fn send_to_issue(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
    kind: Kind,
    text: &str,
) -> Result<(), Failure> {
    let before = handoff_step::of(tx, &handoff.handoff_id)?;
    if handoff.issue_number.is_none() && !is_being_published(&before) {
        return Ok(());
    }
    let mut steps = before.clone();
    saga::append_event(&mut steps, kind, text, env.now);
    Ok(handoff_step::put(tx, &handoff.handoff_id, &before, &steps)?)
}

fn is_being_published(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.kind == Kind::Publish && !step.is_over())
}

/// An issue carries the marker of a hand-off and is not the known one: it is looked at soon.
pub(crate) fn plan_duplicate_check(tx: &mut Tx<'_>, env: &Env<'_>, handoff_id: &str) -> Result<(), Failure> {
    let before = handoff_step::of(tx, handoff_id)?;
    let mut steps = before.clone();
    saga::check_duplicates_now(&mut steps, env.now);
    Ok(handoff_step::put(tx, handoff_id, &before, &steps)?)
}

/// Writes down that a hand-off changed. One that expired did so at its deadline, whenever its steps are taken back.
fn touch(handoff: &mut Handoff, env: &Env<'_>) {
    if handoff.state != State::Expired {
        handoff.updated_at = env.now;
    }
}
