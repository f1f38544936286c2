//! `hd_exec` of a hand-off from another project: accept it, and get everything that goes with it.

use baton_model::access::Grant;
use baton_model::baton::is_addressed_to;
use baton_model::delta::Kind;
use baton_model::handoff::{Event, Handoff, State as HandoffState};
use baton_model::id::{is_shared_name, short, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::session::{ReleaseReason, Session};
use baton_model::time::{parse_rfc3339, rfc3339};
use baton_store::state::SavedState;
use baton_store::{Failure, Store, Tx, baton, handoff, session, state};
use serde_json::json;

use super::accepted_handoffs;
use super::brought_work::name_recovered;
use super::bundle_view::PickupOutput;
use super::pickup::{Pickup, PickupInput, PickupResult, keep, preempt};
use super::pickup_bundle;
use super::pickup_session::own_session;
use super::prior_changes::{UncommittedFiles, UncommittedMarks, note_beginning};
use super::received_handoff::{facts, received_handoff};
use super::recovery::{brought_with, recoverable};
use super::{RegistrationOutcome, replace, working_copy};
use crate::handoff::acceptor::is_acceptor;
use crate::handoff::claimant::{each_as_of_now, require_unheld};
use crate::handoff::details::HandoffDetails;
use crate::handoff::expected_acceptor::require_expected_acceptor;
use crate::handoff::expiry::expire_overdue;
use crate::handoff::isolation::sender_for;
use crate::handoff::{by_id, record, with_id};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Operation};
use crate::ownership::is_at_work;

/// The hand-off that is meant, if the id names one to this project and not a baton.
pub(super) fn find_handoff(
    store: &mut Store,
    input: &PickupInput,
    project_id: &str,
) -> Result<Option<Handoff>, Failure> {
    let Some(id) = &input.target_id else { return Ok(None) };
    store.read(|tx| {
        if baton::get(tx, project_id, id)?.is_some() {
            return Ok(None);
        }
        let one = match handoff::get(tx, id)? {
            Some(one) => one,
            // An id that begins like a baton's stays a baton's.
            None if id.len() < 4 || !id.is_ascii() || !baton::by_prefix(tx, project_id, id)?.is_empty() => {
                return Ok(None);
            }
            None => match handoff::by_prefix(tx, id)?.as_slice() {
                [only] => by_id(tx, &Grant::default(), only)?,
                _ => return Ok(None),
            },
        };
        Ok(Some(one).filter(|h| h.to_project_id == project_id))
    })
}

/// Refuses a pickup that names nothing where only hand-offs wait: it would open a session with nothing in it.
pub(super) fn refuse_unnamed_handoff(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    (identity, roles): (&str, &[String]),
    own: Option<&str>,
) -> Result<(), Failure> {
    let is_for = |one: &Handoff| {
        is_addressed_to((one.to_identity.as_deref(), one.to_role.as_deref()), identity, roles)
    };
    let all = handoff::of_project(tx, project_id)?;
    let mut offered = each_as_of_now(tx, env, all)?;
    offered
        .retain(|one| one.to_project_id == project_id && one.state == HandoffState::Offered && is_for(one));
    let Some(first) = offered.first() else { return Ok(()) };
    let (saved, _) = recoverable(tx, env, project_id, (own, false))?;
    if !saved.is_empty() {
        return Ok(());
    }
    let what = match offered.len() {
        1 => "no baton waits for you here, and 1 hand-off from another project does".to_owned(),
        n => format!("no baton waits for you here, and {n} hand-offs from other projects do"),
    };
    let named: Vec<String> = offered
        .iter()
        .take(3)
        .map(|one| format!("`baton pickup --handoff {}`", short(&one.handoff_id)))
        .collect();
    let ids: Vec<&str> = offered.iter().map(|one| one.handoff_id.as_str()).collect();
    Err(Refusal::new(
        refusal::Kind::Conflict,
        "handoff_unnamed",
        what,
        format!("name the one that you take: {}; `baton status` says what they are about", named.join(", ")),
    )
    .with("handoff_id", first.handoff_id.clone())
    .with("handoff_ids", json!(ids))
    .into())
}

/// Accepts it and gives the bundle. With `dry_run` it only shows.
pub(super) fn accept(
    input: &PickupInput,
    cx: &mut Cx<'_>,
    known: &Handoff,
    identity: &str,
) -> Result<PickupOutput, Failure> {
    let Cx { store, env } = cx;
    let project_id = known.to_project_id.clone();
    let picked = if input.dry_run {
        PickupResult { identity: identity.to_owned(), ..PickupResult::default() }
    } else {
        expire_overdue(store, env, known)?;
        let marks = UncommittedMarks::read(env, &mut UncommittedFiles::default());
        store.write(&[&known.from_project_id, &project_id], |tx| {
            take(tx, env, (input, &marks), &known.handoff_id, identity)
        })?
    };
    let mut bundle =
        store.read(|tx| pickup_bundle::read(tx, env, &project_id, &picked, (input.dry_run, input.full)))?;
    let facts = store.read(|tx| facts(tx, &known.handoff_id, env.caller))?;
    bundle.with_handoff(received_handoff(facts, env.host));
    Ok(bundle)
}

fn take(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (input, marks): (&PickupInput, &UncommittedMarks),
    id: &str,
    named: &str,
) -> Result<PickupResult, Failure> {
    let mut handoff = by_id(tx, &Grant::default(), id)?;
    let project_id = handoff.to_project_id.clone();
    let request = input.request(env, &project_id, named)?;
    if let Some(picked) = input.earlier_answer(tx, env, request.as_ref(), (&project_id, named))? {
        return Ok(picked);
    }
    require_expected_acceptor(tx, &handoff, input.holder.as_deref(), Some(&project_id))?;
    let (mut own, is_new) = open_own_session(tx, env, input, &handoff, named)?;
    let mut details = HandoffDetails::of(&handoff);
    let is_acceptor = is_acceptor(tx, env, &handoff, &own.identity)?;
    let abandoned = if is_acceptor { None } else { abandoned_by(tx, env, &handoff, input.force)? };
    if let Some(before) = &abandoned {
        own.inherited_from = Some(before.session_id.clone());
        own.picked_up_session_id = Some(before.session_id.clone());
    }
    let again =
        handoff.state == HandoffState::Accepted && details.accepted_by.as_ref() == Some(&own.session_id);
    own.heartbeat_at = env.now;
    Pickup::NAME.clone_into(&mut own.last_verb);
    working_copy::save(tx, env, &mut own, is_new)?;
    let mut picked = PickupResult {
        session_id: Some(own.session_id.clone()),
        identity: own.identity.clone(),
        predecessor_session_id: abandoned.as_ref().map(|before| before.session_id.clone()),
        recovered_session_id: abandoned.as_ref().map(|before| before.session_id.clone()),
        started: is_new,
        ..PickupResult::default()
    };
    if !again {
        if let Some(before) = &abandoned {
            take_over(tx, env, (&handoff, before), &own, input)?;
        } else if !is_acceptor {
            require_unheld(tx, env, &handoff, &own.identity)?;
            handoff.state = match handoff.state.advance(Event::Accept) {
                Ok(state) => state,
                Err(refusal) => return Err(accepted_refusal(tx, &handoff, &details, refusal)?.into()),
            };
        }
        accepted_handoffs::set_acceptor(env, &mut details, &own);
        handoff.plan = details.to_text();
        handoff.updated_at = env.now;
        handoff::put(tx, &handoff)?;
        if !is_acceptor && abandoned.is_none() {
            record(tx, env, &handoff, &own.identity)?;
            crate::handoff::begin_task(tx, env, &handoff, &own.identity)?;
        }
        claim(tx, env, &handoff, &own)?;
        let brought = brought_from(tx, env, abandoned.as_ref(), &own)?;
        picked.pickup_delta_id = Some(note_pickup(tx, env, marks, (&handoff, &own, &brought))?);
    }
    keep(tx, env, request.as_ref(), &project_id, &mut picked)?;
    Ok(picked)
}

/// The sessions whose work comes along where the hand-off is taken over.
fn brought_from(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    before: Option<&Session>,
    own: &Session,
) -> Result<Vec<Session>, Failure> {
    before.map_or(Ok(Vec::new()), |before| brought_with(tx, env, before, Some(&own.session_id)))
}

/// The session that the hand-off is picked up with, and whether it is a new one.
fn open_own_session(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &PickupInput,
    handoff: &Handoff,
    named: &str,
) -> Result<(Session, bool), Failure> {
    Ok(match own_session(tx, env, input, &handoff.to_project_id, named)? {
        RegistrationOutcome::Existing(session) => (session, false),
        RegistrationOutcome::New(mut session, replaced) => {
            take_seeded_id(tx, &mut session, handoff)?;
            replace(tx, env, &mut session, replaced, input.why.as_deref())?;
            (session, true)
        }
    })
}

/// The session that accepted a hand-off and left it: it is over, or silent and open still, its agent has begun no other one since, and no baton
/// of it waits, with which the hand-off goes. With force, one that is at work, too.
fn abandoned_by(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    handoff: &Handoff,
    force: bool,
) -> Result<Option<Session>, Failure> {
    let Some(by) = acceptor_session(tx, handoff)? else { return Ok(None) };
    // Who ended it has left what it had accepted, also where another session of that name is at work.
    let has_left = by.release.as_ref().is_some_and(|release| release.reason == ReleaseReason::Ended);
    let last = match has_left {
        true => None,
        false => session::last_of(tx, &handoff.to_project_id, &by.identity)?,
    };
    let is_busy = [Some(&by), last.as_ref()].into_iter().flatten().any(|of| is_at_work(env, of));
    let is_waiting = waiting_baton(tx, &by)?.is_some();
    Ok(Some(by).filter(|_| !is_waiting && (force || !is_busy)))
}

/// The baton that a session left and that waits to be picked up.
fn waiting_baton(tx: &mut Tx<'_>, by: &Session) -> Result<Option<String>, Failure> {
    let left = baton::of_session(tx, &by.project_id, &by.session_id)?.filter(|_| by.has_wrapped());
    Ok(left.filter(|one| one.spent_by.is_none() && one.holder_session_id.is_none()).map(|one| one.baton_id))
}

/// The baton with which an accepted hand-off waits.
pub(crate) fn baton_of(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<Option<String>, Failure> {
    match acceptor_session(tx, handoff)? {
        Some(by) => waiting_baton(tx, &by),
        None => Ok(None),
    }
}

/// The session that accepted a hand-off; of one that was accepted by a name alone, the last of that name, unless it was over by then.
fn acceptor_session(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<Option<Session>, Failure> {
    if handoff.state != HandoffState::Accepted {
        return Ok(None);
    }
    let HandoffDetails { accepted_by, accepted_as, accepted_at, .. } = HandoffDetails::of(handoff);
    if let Some(id) = accepted_by {
        return Ok(session::get(tx, &handoff.to_project_id, &id)?);
    }
    let Some(name) = accepted_as.filter(|name| !is_shared_name(name)) else { return Ok(None) };
    let accepted_at = accepted_at.as_deref().and_then(parse_rfc3339);
    let was_over = |last: &Session| {
        let end = last.release.as_ref().map(|release| release.at);
        end.zip(accepted_at).is_some_and(|(end, accepted)| end < accepted)
    };
    Ok(session::last_of(tx, &handoff.to_project_id, &name)?.filter(|last| !was_over(last)))
}

/// Whether the acceptor of the hand-off has left it, so that another agent may take it over.
pub(crate) fn is_abandoned(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff) -> Result<bool, Failure> {
    Ok(abandoned_by(tx, env, handoff, false)?.is_some())
}

/// The accepted hand-off of a session that is gone, or yields to force, is another's from now on, with its task.
fn take_over(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (handoff, before): (&Handoff, &Session),
    own: &Session,
    input: &PickupInput,
) -> Result<(), Failure> {
    let is_forced = input.force && is_at_work(env, before);
    let reason = if is_forced { ReleaseReason::PreemptedByPickup } else { ReleaseReason::Stale };
    preempt(tx, env, before, own, reason, input.why.as_deref())?;
    accepted_handoffs::reassign_task(tx, env, handoff, &before.identity, own)
}

/// Writes the pickup into the ledger, with the sessions whose work it brings; returns its entry.
fn note_pickup(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    marks: &UncommittedMarks,
    (handoff, own, brought): (&Handoff, &Session, &[Session]),
) -> Result<String, Failure> {
    let body = json!({
        "handoff_id": handoff.handoff_id,
        "from_project_id": sender_for(handoff, None),
        "picker_identity": own.identity,
        "picked_up_at": rfc3339(env.now),
    });
    let mut body = name_recovered(body, brought);
    note_beginning(env, marks, own, &mut body);
    Ok(append_json(tx, env, &Author::session(own), Kind::Pickup, &body)?.delta_id)
}

/// A new session takes the id of the one that was seeded for it, so that the sender's answer names it rightly.
fn take_seeded_id(tx: &mut Tx<'_>, new: &mut Session, handoff: &Handoff) -> Result<(), Failure> {
    let Some(seeded) = state::of_handoff(tx, &handoff.to_project_id, &handoff.handoff_id)? else {
        return Ok(());
    };
    if seeded.claimed_at.is_none() && session::get(tx, &new.project_id, &seeded.session_id)?.is_none() {
        if new.thread_id == new.session_id {
            new.thread_id.clone_from(&seeded.session_id);
        }
        new.session_id = seeded.session_id;
    }
    Ok(())
}

/// The seeded state belongs to this session from now on.
fn claim(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff, own: &Session) -> Result<(), Failure> {
    let seeded = state::of_handoff(tx, &handoff.to_project_id, &handoff.handoff_id)?;
    if let Some(seeded) = seeded.filter(|seeded| seeded.claimed_at.is_none()) {
        let claimed = SavedState { session_id: own.session_id.clone(), claimed_at: Some(env.now), ..seeded };
        state::put(tx, &handoff.to_project_id, &claimed)?;
    }
    Ok(())
}

fn accepted_refusal(
    tx: &mut Tx<'_>,
    handoff: &Handoff,
    details: &HandoffDetails,
    refusal: Refusal,
) -> Result<Refusal, Failure> {
    if handoff.state != HandoffState::Accepted {
        return Ok(with_id(refusal, &handoff.handoff_id));
    }
    let id = short(&handoff.handoff_id);
    let holder = details.accepted_as.as_deref().map_or_else(|| "another agent".to_owned(), visible);
    let hint = match baton_of(tx, handoff)? {
        Some(baton) => format!(
            "it goes with the baton that its acceptor left: `baton pickup --handoff {}`",
            short(&baton)
        ),
        None => format!(
            "once {holder} is silent or has ended its session, whoever picks it up takes it over; now, `baton pickup --handoff {id} --force --why REASON` does. `baton status` lists what else waits"
        ),
    };
    let claimed = Refusal::new(
        refusal::Kind::Conflict,
        "handoff_claimed",
        format!("{holder} has accepted this hand-off"),
        hint,
    );
    let holder = [("holder_session_id", &details.accepted_by), ("holder", &details.accepted_as)];
    Ok(holder.into_iter().fold(claimed, |claimed, (field, value)| match value {
        Some(value) => claimed.with(field, value.clone()),
        None => claimed,
    }))
}
