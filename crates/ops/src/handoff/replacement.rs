//! A hand-off that is left anew in the place of one that came back: it has all that the other one had and the call does not say anew.

use baton_model::handoff::{Handoff, State, View};
use baton_model::id::{BOT, identity_key, short, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Store, Tx, handoff};
use serde_json::json;

use super::by_id;
use super::claimant::as_of_now;
use super::create_input::{CreateInput, SeedSession};
use super::details::HandoffDetails;
use super::expiry::expire_overdue;
use super::linked_documents::LinkedDocument;
use super::outdated_news::follow_replacement;
use crate::op::Env;
use crate::project::merged_into;

/// A call with what it takes over.
pub(super) struct FilledInput {
    pub(super) input: CreateInput,
    /// The documents that the one before had.
    pub(super) documents: Vec<LinkedDocument>,
}

/// Takes over from the hand-off that is replaced what a call leaves out.
pub(super) fn fill(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    from: &str,
    input: CreateInput,
) -> Result<FilledInput, Failure> {
    let Some(id) = input.replaces.clone() else {
        require("to_project_id", &input.to_project_id, "the receiver's project")?;
        require("subject", &input.subject, "one line: the title of the task")?;
        return Ok(FilledInput { input, documents: Vec::new() });
    };
    let before = returned(tx, env, &id, from)?;
    let details = HandoffDetails::of(&before);
    let seed_session = Some(seed(&before, &details, &input));
    let has_packet = input.packet.is_some() || input.packet_text.is_some();
    let packet_text = input
        .packet_text
        .or_else(|| Some(before.packet.clone()).filter(|packet| !has_packet && !packet.is_empty()));
    let is_addressed = input.to_identity.is_some() || input.to_role.is_some();
    let addressee = |before: &Option<String>| before.clone().filter(|_| !is_addressed);
    let or = |given: String, before: &str| if given.is_empty() { before.to_owned() } else { given };
    let filled = CreateInput {
        to_project_id: or(input.to_project_id, &before.to_project_id),
        subject: or(input.subject, &before.subject),
        description: or(input.description, &details.description),
        tags: if input.tags.is_empty() { details.tags.clone() } else { input.tags },
        priority: input.priority.or_else(|| Some(json!(details.priority))),
        links: if input.links.is_empty() { details.links.clone() } else { input.links },
        // A hand-off that was local stays local unless the caller says otherwise.
        local: input.local || (input.issues_github_repo.is_none() && before.tracker == "local"),
        to_identity: input.to_identity.or_else(|| addressee(&before.to_identity)),
        to_role: input.to_role.or_else(|| addressee(&before.to_role)),
        seed_session,
        packet_text,
        ..input
    };
    Ok(FilledInput { input: filled, documents: details.documents })
}

fn require(field: &str, given: &str, what: &str) -> Result<(), Refusal> {
    if !given.is_empty() {
        return Ok(());
    }
    let hint = format!("give `{field}`: {what}; or `replaces`: a hand-off that came back, which has it");
    Err(Refusal::invalid("input_invalid", format!("`{field}` is missing"), hint).with("field", field))
}

/// The session to be seeded; what is not said of it is as it was.
fn seed(before: &Handoff, details: &HandoffDetails, input: &CreateInput) -> SeedSession {
    let given = input.seed_session.as_ref();
    let of = |field: fn(&SeedSession) -> &Option<String>| given.and_then(|seed| field(seed).clone());
    // These follow from the addressee and from the id, unless they were said.
    let is_addressed = input.to_identity.is_some() || input.to_role.is_some();
    let is_bot = |agent: &String| identity_key(agent) == identity_key(BOT);
    let agent = before.agent_id.clone().filter(|agent| !is_addressed && !is_bot(agent));
    let task = before.seed_task_id.clone().filter(|task| *task != default_key(&before.handoff_id));
    SeedSession {
        agent_id: of(|seed| &seed.agent_id).or(agent),
        task_id: of(|seed| &seed.task_id).or(task),
        current_phase: of(|seed| &seed.current_phase).or_else(|| details.phase.clone()),
        current_stage: of(|seed| &seed.current_stage).or_else(|| details.stage.clone()),
    }
}

/// A hand-off's ids share their first 13 characters when they are made in the same millisecond; the end is random.
pub(super) fn default_key(handoff_id: &str) -> String {
    let start = handoff_id.len().saturating_sub(12);
    format!("handoff-{}", handoff_id.get(start..).unwrap_or(handoff_id))
}

/// The hand-off that a project sent and that came back. One whose deadline is over has come back, whoever looks first.
fn returned(tx: &mut Tx<'_>, env: &Env<'_>, id: &str, from: &str) -> Result<Handoff, Failure> {
    let stored = by_id(tx, &env.caller.grant, id)?;
    let known = as_of_now(tx, env, stored.clone())?;
    // What a project sent that was merged is the sender's still.
    let sender = merged_into(tx, &known.from_project_id)?.unwrap_or_else(|| known.from_project_id.clone());
    if sender != from {
        return Err(not_sent_refusal(&known, id, from).into());
    }
    if !known.state.is_returned() {
        return Err(not_returned_refusal(&known).into());
    }
    Ok(stored)
}

/// Refuses what a dry run would write of a hand-off that was left anew already.
pub(super) fn require_replaceable(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    replaced: Option<&str>,
    from: &str,
) -> Result<(), Failure> {
    let Some(id) = replaced else { return Ok(()) };
    let known = returned(tx, env, id, from)?;
    require_not_replaced(tx, &known)
}

/// Refuses to leave a hand-off anew a second time, unless the one in its place was taken back: the receiver would have the work twice.
fn require_not_replaced(tx: &mut Tx<'_>, known: &Handoff) -> Result<(), Failure> {
    let Some(id) = HandoffDetails::of(known).replaced_by else { return Ok(()) };
    match handoff::get(tx, &id)?.filter(|newer| newer.state != State::Cancelled) {
        Some(newer) => Err(replaced_refusal(known, &newer).into()),
        None => Ok(()),
    }
}

/// It was left anew already: what can be done with the one in its place.
fn replaced_refusal(known: &Handoff, newer: &Handoff) -> Refusal {
    let (id, newer_id) = (short(&known.handoff_id), short(&newer.handoff_id));
    let state = newer.state.as_str();
    let what = format!("hand-off {id} was left anew already, as {newer_id}, which is {state}");
    let hint = match newer.state.is_returned() {
        true => format!("`baton handoff create --replaces {newer_id}` leaves that one anew"),
        false => format!("`baton handoff show {newer_id}` tells how it stands"),
    };
    Refusal::new(Kind::Conflict, "handoff_state", what, hint)
        .with("handoff_id", known.handoff_id.as_str())
        .with("state", known.state.as_str())
        .with("replaced_by", newer.handoff_id.as_str())
}

/// The sender of a hand-off is another project than the one of the call.
fn not_sent_refusal(known: &Handoff, id: &str, from: &str) -> Refusal {
    let what = format!("hand-off {} was not sent by project {from}", visible(id));
    let hint = format!(
        "the project of the call is {from}: repeat it in a folder of the project that sent the hand-off, or name that one with `--from` (`from_project_id`)"
    );
    Refusal::new(Kind::Conflict, "handoff_state", what, hint).with("handoff_id", known.handoff_id.as_str())
}

/// It is under way still, or ended otherwise: what can be done instead.
fn not_returned_refusal(known: &Handoff) -> Refusal {
    let id = short(&known.handoff_id);
    let what = format!(
        "hand-off {id} is {}: only one that was declined or expired is left anew",
        known.state.as_str()
    );
    let hint = match known.state {
        State::Planned | State::Pending | State::Failed => {
            format!("`baton handoff retry {id}` goes on with it, `baton handoff cancel {id}` takes it back")
        }
        State::Offered | State::Accepted => {
            format!("`baton handoff cancel {id}` takes it back; then leave another one, without `replaces`")
        }
        State::Completed | State::Cancelled | State::Declined | State::Expired => {
            "leave another one, without `replaces`".to_owned()
        }
    };
    Refusal::new(Kind::Conflict, "handoff_state", what, hint)
        .with("handoff_id", known.handoff_id.as_str())
        .with("state", known.state.as_str())
}

/// Writes down that the hand-off which a call replaces has expired, where that is not written down yet.
pub(super) fn settle_replaced(
    store: &mut Store,
    env: &mut Env<'_>,
    replaced: Option<&str>,
) -> Result<(), Failure> {
    let Some(id) = replaced else { return Ok(()) };
    let known = store.read(|tx| by_id(tx, &env.caller.grant, id))?;
    if known.state == State::Offered { expire_overdue(store, env, &known) } else { Ok(()) }
}

/// Marks a hand-off that came back as seen once it was left anew, whatever project the new one goes to.
pub(super) fn mark_replaced(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    replaced: Option<&str>,
    new: &View,
) -> Result<(), Failure> {
    let Some(id) = replaced else { return Ok(()) };
    let known = returned(tx, env, id, &new.from_project_id)?;
    require_not_replaced(tx, &known)?;
    handoff::mark_seen(tx, &known.handoff_id, env.now)?;
    follow_replacement(tx, env, &known, &new.handoff_id)?;
    let details = HandoffDetails { replaced_by: Some(new.handoff_id.clone()), ..HandoffDetails::of(&known) };
    Ok(handoff::put(tx, &Handoff { plan: details.to_text(), ..known })?)
}
