//! What else belongs to a project that is merged: mail that waits, leases that are held, hand-offs that are open. Nobody looks
//! into its ledger any more, so nothing may be left there that somebody waits for.

use baton_model::delta::Kind;
use baton_model::handoff::State;
use baton_model::id::short;
use baton_model::lease::Lease;
use baton_model::message::Message;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, delta, handoff, lease, message, place};

use super::merge::MergeRecord;
use crate::op::Env;

/// How many of the newest entries tell that a project was merged.
const LOOKED_AT: i64 = 20;

/// Refuses to merge a project to which hand-offs are open: their tasks stay in its ledger.
pub(super) fn require_no_open_handoffs(tx: &mut Tx<'_>, from: &str) -> Result<(), Failure> {
    let is_open = |state| matches!(state, State::Planned | State::Pending | State::Offered | State::Accepted);
    let mut open = handoff::of_project(tx, from)?;
    open.retain(|one| one.to_project_id == from && is_open(one.state));
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = open.iter().map(|one| short(&one.handoff_id).to_owned()).collect();
    let what = format!("hand-offs to project {from} are open: {}", ids.join(", "));
    let hint = "end each first: `baton handoff complete ID`, `decline ID`, or `cancel ID` by its sender";
    Err(Refusal::new(refusal::Kind::Conflict, "handoffs_open", what, hint).with("handoffs", ids).into())
}

/// Puts mail that waits into the mailboxes of the other project. Returns how many.
pub(super) fn move_mail(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (from, into): (&str, &str),
) -> Result<usize, Failure> {
    let waiting = message::waiting(tx, from, env.now)?;
    for mail in &waiting {
        let mut moved = Message { project_id: into.to_owned(), seq: tx.next_seq(into)?, ..mail.clone() };
        // Mail from the other project has left its sender's copy there, under the same id.
        if message::get(tx, into, &mail.message_id)?.is_some() {
            moved.message_id = env.id();
        }
        message::insert(tx, &moved)?;
        message::delivered(tx, from, &mail.message_id, env.now)?;
    }
    Ok(waiting.len())
}

/// Moves the leases that are held. Each holds until its time is up: the session in which it was taken is none of the other project.
pub(super) fn move_leases(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (from, into): (&str, &str),
) -> Result<usize, Failure> {
    let held = lease::held_leases(tx, from, env.now)?;
    for one in &held {
        lease::put(tx, &Lease { project_id: into.to_owned(), session_id: None, ..one.clone() })?;
        lease::put(tx, &Lease { released_at: Some(env.now), ..one.clone() })?;
    }
    Ok(held.len())
}

/// Refuses to send something to a project that was merged: nobody would see it there.
pub(crate) fn require_not_merged(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    if !place::of_project(tx, project_id)?.is_empty() {
        return Ok(());
    }
    let newest = delta::newest_kind(tx, project_id, Kind::Other, LOOKED_AT)?;
    let record = newest.iter().find_map(|delta| serde_json::from_str::<MergeRecord>(&delta.body).ok());
    match record {
        None => Ok(()),
        Some(MergeRecord { merged_into, .. }) => Err(Refusal::new(
            refusal::Kind::Conflict,
            "project_merged",
            format!("project {project_id} was merged into {merged_into}"),
            format!("send it to project {merged_into}"),
        )
        .with("project_id", merged_into)
        .into()),
    }
}
