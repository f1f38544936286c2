//! The session that a hand-off seeds, and how it is taken back.

use baton_model::handoff::{Handoff, State};
use baton_model::message::Message;
use baton_model::saga::Kind;
use baton_model::saga::Step;
use baton_model::seed::{SeededWork, with_work, without_work};
use baton_store::state::SavedState;
use baton_store::{Failure, Tx, handoff as store_handoff, handoff_step, message, session, state};
use serde_json::{Value, json};

use super::details::HandoffDetails;
use super::isolation;
use super::steps::LocalStepOutcome;
use crate::op::Env;

/// The state that a session of this hand-off begins with.
pub(crate) fn seed_state(handoff: &Handoff, before: Option<Value>) -> Value {
    of_work(handoff, |work| with_work(before, work))
}

fn of_work<T>(handoff: &Handoff, f: impl FnOnce(&SeededWork<'_>) -> T) -> T {
    let details = HandoffDetails::of(handoff);
    let url = handoff.task_url();
    f(&SeededWork {
        handoff_id: &handoff.handoff_id,
        from_project_id: details.sent_as.as_ref().unwrap_or(&handoff.from_project_id),
        subject: &handoff.subject,
        task_id: handoff.task_id.as_deref(),
        task_url: url.as_deref(),
        phase: details.phase.as_deref(),
        stage: details.stage.as_deref(),
    })
}

/// Seeds the session, or gives an existing one its next action under the version that was just read. A live one is left
/// alone: it gets a signal, once, and the hand-off waits.
pub(super) fn seed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    step: &Step,
) -> Result<LocalStepOutcome, Failure> {
    let agent = handoff.agent_id.clone().unwrap_or_default();
    let task_key = handoff.seed_task_id.clone().unwrap_or_default();
    let known = state::get(tx, &handoff.to_project_id, &agent, &task_key)?;
    if let Some(known) = &known
        && let Some(holder) = session::get(tx, &handoff.to_project_id, &known.session_id)?
        && holder.is_live(env.now, env.limits)
    {
        if step.last_error.is_none() {
            signal(tx, env, handoff, &holder.identity)?;
        }
        return Ok(LocalStepOutcome::Wait(format!(
            "{} is at work on {task_key}: its session is not overwritten",
            holder.identity
        )));
    }
    let before = known.as_ref().and_then(|known| serde_json::from_str::<Value>(&known.body).ok());
    let last = known.as_ref().map_or(0, |known| known.version);
    let version = tx.next_number(&handoff.to_project_id, last)?;
    let session_id = match &known {
        Some(known) => known.session_id.clone(),
        None => handoff.session_id.clone().unwrap_or_else(|| env.id()),
    };
    handoff.session_id = Some(session_id.clone());
    let seeded = SavedState {
        identity: known.as_ref().map_or(agent, |known| known.identity.clone()),
        task_key,
        session_id,
        version,
        body: seed_state(handoff, before.clone()).to_string(),
        updated_at: env.now,
        handoff_id: Some(handoff.handoff_id.clone()),
        claimed_at: known.and_then(|known| known.claimed_at),
    };
    state::put(tx, &handoff.to_project_id, &seeded)?;
    Ok(LocalStepOutcome::Done(Some(json!({ "version": version, "before": before }))))
}

fn signal(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &Handoff, to: &str) -> Result<(), Failure> {
    let sender = isolation::sender_for(handoff, None);
    let subject = format!("a hand-off from {sender} waits for this session");
    let notice = Message {
        project_id: handoff.to_project_id.clone(),
        message_id: env.id(),
        seq: tx.next_seq(&handoff.to_project_id)?,
        kind: "TaskAssigned".into(),
        from_identity: handoff.from_identity.clone(),
        from_project_id: (handoff.from_project_id != handoff.to_project_id).then_some(sender),
        to_identity: to.to_owned(),
        subject,
        body: format!("It is offered once this session pauses or ends. Hand-off {}", handoff.handoff_id),
        created_at: env.now,
        ..Message::default()
    };
    Ok(message::insert(tx, &notice)?)
}

/// Takes an untouched seed back: removes the session that was made, or gives the one that was updated its state back.
pub(super) fn unseed(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
    made: Option<String>,
) -> Result<LocalStepOutcome, Failure> {
    let made: Value = made.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    let (agent, task_key) = (handoff.agent_id.as_deref(), handoff.seed_task_id.as_deref());
    let known =
        state::get(tx, &handoff.to_project_id, agent.unwrap_or_default(), task_key.unwrap_or_default())?;
    let Some(known) = known.filter(|s| Some(s.version) == made["version"].as_i64()) else {
        return Ok(LocalStepOutcome::Done(None));
    };
    if !made["before"].is_null() {
        let before = state_before(tx, handoff)?;
        put_back(tx, env, handoff, (known, &before))?;
    } else if known.claimed_at.is_none() {
        state::remove(tx, &handoff.to_project_id, &known)?;
    }
    Ok(LocalStepOutcome::Done(None))
}

/// Ends the state of a hand-off that is completed, so that no session continues it. A state that the hand-off found gives up its work alone, and
/// has its own next action, phase and stage again. What was saved in it stands in the ledger.
pub(crate) fn end_completed_state(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    if handoff.state != State::Completed {
        return Ok(());
    }
    let project_id = handoff.to_project_id.as_str();
    let Some(known) = state::of_handoff(tx, project_id, &handoff.handoff_id)? else { return Ok(()) };
    let before = state_before(tx, handoff)?;
    if before.is_null() {
        state::end(tx, project_id, &known)?;
        return Ok(());
    }
    let body = serde_json::from_str(&known.body).unwrap_or_default();
    let body = of_work(handoff, |work| without_work(body, &before, work));
    put_back(tx, env, handoff, (known, &body))
}

/// Saves a state without the work of a hand-off. It is that of an earlier hand-off again, where it had the work of one.
fn put_back(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
    (known, body): (SavedState, &Value),
) -> Result<(), Failure> {
    let project_id = handoff.to_project_id.as_str();
    let version = tx.next_number(project_id, known.version)?;
    let handoff_id = seeded_by(body).filter(|id| *id != handoff.handoff_id).map(str::to_owned);
    let back = SavedState { version, body: body.to_string(), updated_at: env.now, handoff_id, ..known };
    Ok(state::put(tx, project_id, &back)?)
}

/// The hand-off whose work a state has.
fn seeded_by(state: &Value) -> Option<&str> {
    state.pointer("/metadata/handoff_id")?.as_str()
}

/// How many hand-offs that seeded one state before each other are looked through.
const MAX_EARLIER: usize = 16;

/// The state that the hand-off found; null where there was none. The work of earlier hand-offs in it that have ended since is not in it.
fn state_before(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<Value, Failure> {
    state_found(tx, handoff, MAX_EARLIER)
}

fn state_found(tx: &mut Tx<'_>, handoff: &Handoff, most: usize) -> Result<Value, Failure> {
    let steps = handoff_step::of(tx, &handoff.handoff_id)?;
    let seeded = steps.iter().rev().find(|step| step.kind == Kind::Session);
    let mut seeded: Value =
        seeded.and_then(|step| serde_json::from_str(step.result.as_deref()?).ok()).unwrap_or_default();
    let before = seeded.get_mut("before").map(Value::take).unwrap_or_default();
    let earlier = match seeded_by(&before).filter(|id| most > 0 && *id != handoff.handoff_id) {
        Some(id) => store_handoff::get(tx, id)?.filter(|one| one.to_project_id == handoff.to_project_id),
        None => None,
    };
    let is_over =
        |state| matches!(state, State::Completed | State::Cancelled | State::Declined | State::Expired);
    Ok(match earlier.filter(|earlier| is_over(earlier.state)) {
        Some(earlier) => {
            let first = state_found(tx, &earlier, most - 1)?;
            of_work(&earlier, |work| without_work(before, &first, work))
        }
        None => before,
    })
}
