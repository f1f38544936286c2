//! `handoff_advance`: accept, complete, decline or cancel a hand-off.

use baton_model::actor::Actor;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::is_shared_name;
use baton_model::refusal::Refusal;
use baton_model::saga::Step;
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff, handoff_step, session, task};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::advance_input::{Action, AdvanceInput};
use super::details::HandoffDetails;
use super::expiry::expire_overdue;
use super::news::News;
use super::steps::close_row;
use super::task_end::end_if_closed;
use super::{Row, acceptor, by_id, claimant, expected_acceptor, isolation, late_words, record_news, sender};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;
use crate::saga::{apply_event, comment_on_issue};
use crate::session::SignalAuthor;
use crate::token_rights;

/// Moves a hand-off on.
pub struct Advance;

/// What the transaction came to: the hand-off, or a refusal beside which the caller's words were kept.
enum Outcome {
    Moved(Box<Handoff>, Vec<Step>),
    Explained(Box<Handoff>, Vec<Step>),
    Unchanged(Box<Handoff>),
    Late(Refusal),
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
    pub handoff: Row,
    /// The same identity had done the same before: nothing changed, and the other side was not told again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_done: bool,
    /// It was declined without a reason before; now it has this one, and its sender was told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reason_added: bool,
}

impl Operation for Advance {
    const META: Meta = Meta::write("handoff_advance", "Accept, complete, decline or cancel a hand-off")
        .changes_tasks()
        .needs_file_lock()
        .advances_handoff();
    type Input = AdvanceInput;
    type Output = AdvanceOutput;

    fn run(input: AdvanceInput, cx: &mut Cx<'_>) -> Result<AdvanceOutput, Failure> {
        // Without force, a reason alone is what the other side is to read.
        let result = input.result.clone().or_else(|| input.reason().map(str::to_owned));
        let input = AdvanceInput { result, ..input };
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let known = cx.store.read(|tx| by_id(tx, &cx.env.caller.grant, &input.id))?;
        let here = resolve::project_id(cx.store, &cx.env, None).ok();
        let Cx { store, env } = cx;
        expire_overdue(store, env, &known)?;
        let outcome = store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
            let mut before = by_id(tx, &env.caller.grant, &known.handoff_id)?;
            end_if_closed(tx, env, &mut before)?;
            attempt(tx, env, &input, before, (&identity, here.as_deref()))
        })?;
        let reason_added = matches!(outcome, Outcome::Explained(..));
        let (handoff, steps, was_done) = match outcome {
            Outcome::Moved(handoff, steps) | Outcome::Explained(handoff, steps) => (handoff, steps, false),
            Outcome::Unchanged(handoff) => (handoff, Vec::new(), true),
            Outcome::Late(refusal) => return Err(refusal.into()),
        };
        let project_id = acting_project(&handoff, input.action).to_owned();
        // Who stands in neither project acts for the one that the action belongs to.
        let is_end = |id: &String| [&handoff.from_project_id, &handoff.to_project_id].contains(&id);
        let viewer = here.filter(is_end).unwrap_or_else(|| project_id.clone());
        let viewer = isolation::Viewer { project: Some(&viewer), grant: Some(&env.caller.grant) };
        let row = Row::of(&handoff, &steps);
        let row = store.read(|tx| isolation::shown_to(tx, viewer, &handoff, row))?;
        Ok(AdvanceOutput { project_id, identity, handoff: row, was_done, reason_added })
    }
}

/// Moves the hand-off on as a verb of the caller's sessions. What is refused and keeps the caller's words shows that its agent is at
/// work, and is nothing that was done.
fn attempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &AdvanceInput,
    before: Handoff,
    (identity, here): (&str, Option<&str>),
) -> Result<Outcome, Failure> {
    let mut sessions = Vec::new();
    let ends = [before.from_project_id.clone(), before.to_project_id.clone()];
    let admitted: Result<(), Failure> = ends.iter().try_for_each(|project_id| {
        sessions.extend(resolve::beat_session(tx, env, project_id, identity, input.action.verb())?);
        Ok(())
    });
    let outcome = match admitted {
        // Another has ended its session; what it did until then is kept.
        Err(Failure::Refused(no)) if no.code == RELEASED => {
            late(tx, env, (input, &before, identity), (no, here))?
        }
        Err(failure) => return Err(failure),
        Ok(()) => permitted(tx, env, input, before, (identity, here))?,
    };
    if matches!(outcome, Outcome::Late(_)) {
        for own in sessions.iter().rev() {
            session::beat(tx, own, &own.last_verb, env.now)?;
        }
    }
    Ok(outcome)
}

/// Moves the hand-off on, if the caller may.
fn permitted(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &AdvanceInput,
    before: Handoff,
    (identity, here): (&str, Option<&str>),
) -> Result<Outcome, Failure> {
    if let Some(reason) = reason_afterwards(env, input, &before, identity)? {
        return add_reason(tx, env, before, identity, reason);
    }
    if was_done(tx, env, input, &before, identity)? {
        return Ok(Outcome::Unchanged(Box::new(before)));
    }
    let forced = match may(tx, env, input, &before, (identity, here)) {
        Ok(forced) => forced,
        Err(Failure::Refused(no)) => {
            let no = acceptor::without_names(tx, here, &before, (no, event(input.action)))?;
            return late(tx, env, (input, &before, identity), (no, here));
        }
        Err(fault) => return Err(fault),
    };
    advance_state(tx, env, input, before, (identity, here, forced))
}

/// The project for which an action is taken: the sender cancels, the receiver does the rest.
fn acting_project(handoff: &Handoff, action: Action) -> &str {
    match action {
        Action::Cancel => &handoff.from_project_id,
        Action::Accept | Action::Decline | Action::Complete => &handoff.to_project_id,
    }
}

/// The reason that an identity gives which declined without one before.
fn reason_afterwards<'a>(
    env: &Env<'_>,
    input: &'a AdvanceInput,
    before: &Handoff,
    identity: &str,
) -> Result<Option<&'a str>, Failure> {
    super::require_reach(&env.caller.grant, acting_project(before, input.action))?;
    let is_decline = matches!(input.action, Action::Decline) && before.state == State::Declined;
    let ended = HandoffDetails::of(before).ended.filter(|ended| is_decline && ended.why.is_none());
    let is_own = ended.is_some_and(|ended| !is_shared_name(identity) && ended.is_by(identity));
    let reason = input.result.as_deref().filter(|text| !text.trim().is_empty());
    Ok(reason.filter(|_| is_own && before.result.is_none() && !input.force))
}

/// Gives a hand-off that was declined its reason: its sender hears it, and its task and its issue have it.
fn add_reason(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    before: Handoff,
    identity: &str,
    reason: &str,
) -> Result<Outcome, Failure> {
    let reason = reason.to_owned();
    let mut details = HandoffDetails::of(&before);
    if let Some(ended) = &mut details.ended {
        ended.why = Some(reason.clone());
    }
    let handoff =
        Handoff { plan: details.to_text(), result: Some(reason.clone()), updated_at: env.now, ..before };
    handoff::put(tx, &handoff)?;
    record_news(tx, env, &handoff, (identity, None), News::Reason)?;
    comment_on_issue(tx, env, &handoff, &format!("The reason: {reason}"))?;
    let known = match &handoff.task_id {
        Some(id) => task::get(tx, &handoff.to_project_id, id)?,
        None => None,
    };
    let is_without = |task: &Task| task.close_reason.as_deref() == Some(handoff.state.as_str());
    if let Some(task) = known.filter(is_without) {
        let after = Task { close_reason: Some(reason), updated_at: env.now, ..task.clone() };
        crate::task::update_without_delta(tx, &task, &after)?;
    }
    let steps = handoff_step::of(tx, &handoff.handoff_id)?;
    Ok(Outcome::Explained(Box::new(handoff), steps))
}

/// Whether the same identity has done exactly this before. Other words than those that were given then are no repetition, and one
/// name that several agents share is none either.
fn was_done(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &AdvanceInput,
    before: &Handoff,
    identity: &str,
) -> Result<bool, Failure> {
    super::require_reach(&env.caller.grant, acting_project(before, input.action))?;
    let state = match input.action {
        Action::Accept => {
            return Ok(!is_shared_name(identity) && acceptor::is_acceptor(tx, env, before, identity)?);
        }
        Action::Complete => State::Completed,
        Action::Decline => State::Declined,
        Action::Cancel => State::Cancelled,
    };
    let Some(ended) = HandoffDetails::of(before).ended.filter(|_| before.state == state) else {
        return Ok(false);
    };
    let result = input.result.as_deref();
    let is_same_word =
        result.is_none() || result == before.result.as_deref() || result == ended.why.as_deref();
    let is_same_end = !is_shared_name(identity) && ended.is_by(identity);
    Ok(is_same_word && is_same_end && !input.force)
}

/// Whether the caller may do it; where it is done in the acceptor's or the sender's place, why.
fn may(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &AdvanceInput,
    before: &Handoff,
    (identity, here): (&str, Option<&str>),
) -> Result<Option<String>, Failure> {
    let (event, force) = (event(input.action), (input.force, input.why.as_deref()));
    super::require_reach(&env.caller.grant, acting_project(before, input.action))?;
    if let Err(no) = before.state.advance(event) {
        let no = super::with_id(no, &before.handoff_id);
        return Err(expected_acceptor::acceptance_refusal(tx, before, here, (no, event))?.into());
    }
    expected_acceptor::require_expected_acceptor(tx, before, input.holder.as_deref(), here)?;
    let is_free = before.state != State::Accepted && !input.force;
    if is_free && matches!(event, Event::Accept | Event::Decline) {
        claimant::require_unheld(tx, env, before, identity)?;
    }
    match event {
        Event::Cancel => sender::require_sender(tx, env, before, (identity, here), force),
        _ => acceptor::require_acceptor(tx, env, before, (identity, event), force),
    }
}

/// The code of the refusal for a caller whose session was ended by another.
const RELEASED: &str = "session_released";

/// A result or reason that comes when the hand-off is over, or from one who did not accept it, is not lost with the refusal.
fn late(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (input, before, identity): (&AdvanceInput, &Handoff, &str),
    (no, here): (Refusal, Option<&str>),
) -> Result<Outcome, Failure> {
    let is_end = matches!(input.action, Action::Complete | Action::Decline);
    let is_late = matches!(no.code, "handoff_state" | "handoff_not_yours" | RELEASED)
        && !matches!(before.state, State::Planned | State::Pending | State::Offered | State::Failed);
    // The reason of a forced act stands apart from its words.
    let given = input.result.as_deref().or(input.why.as_deref());
    let Some(result) = given.filter(|text| is_end && is_late && !text.trim().is_empty()) else {
        return Err(no.into());
    };
    let kind = late_words::kind_of(before, event(input.action), no.code == "handoff_not_yours");
    let Some(delta_id) = late_words::keep(tx, env, before, Actor::agent(identity), (kind, result))? else {
        return Err(no.into());
    };
    let mut no = no;
    no.message =
        format!("{}; what you gave is kept with it as a {}, note {delta_id}", no.message, kind.label());
    let viewer = isolation::Viewer { project: here, grant: Some(&env.caller.grant) };
    let ended = isolation::shown_to(tx, viewer, before, Row::of(before, &[]))?.handoff.ended;
    Ok(Outcome::Late(no.with("kept_delta_id", delta_id).with("ended", json!(ended))))
}

fn advance_state(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &AdvanceInput,
    before: Handoff,
    (identity, here, forced): (&str, Option<&str>, Option<String>),
) -> Result<Outcome, Failure> {
    let (was, event) = (before.state, event(input.action));
    let state = was.advance(event)?;
    let result = input.result.clone().or(before.result.clone());
    let mut handoff = Handoff { state, result, updated_at: env.now, ..before };
    if state == State::Accepted {
        let (accepted_as, accepted_place) = (Some(identity.to_owned()), Some(env.caller.location.clone()));
        let accepted_bearer = token_rights::token_id(env);
        handoff.plan = HandoffDetails {
            accepted_as,
            accepted_at: Some(rfc3339(env.now)),
            accepted_location: accepted_place,
            accepted_access_token: accepted_bearer,
            ..HandoffDetails::of(&handoff)
        }
        .to_text();
    } else {
        let why = input.reason().or(input.result.as_deref());
        let author = SignalAuthor { actor: Actor::agent(identity), project_id: here };
        acceptor::record_end(tx, env, (was, &mut handoff), author, (why, forced))?;
    }
    record_news(tx, env, &handoff, (identity, here), News::State)?;
    apply_event(tx, env, &mut handoff, event)?;
    match state {
        State::Accepted => begin_task(tx, env, &handoff, identity)?,
        _ => close_row(tx, env, &handoff)?,
    }
    let steps = handoff_step::of(tx, &handoff.handoff_id)?;
    Ok(Outcome::Moved(Box::new(handoff), steps))
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
    let by = if isolation::is_separated(tx, handoff)? { String::new() } else { format!(" by {identity}") };
    comment_on_issue(tx, env, handoff, &format!("This hand-off is accepted{by}."))?;
    let Some(id) = &handoff.task_id else { return Ok(()) };
    let Some(mut task) = task::get(tx, &handoff.to_project_id, id)? else { return Ok(()) };
    if !task.is_open() {
        return Ok(());
    }
    let before = task.clone();
    task.set_status("in_progress", env.now);
    task.assignee.get_or_insert_with(|| identity.to_owned());
    task.updated_at = env.now;
    crate::task::update_without_delta(tx, &before, &task)
}
