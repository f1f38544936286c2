//! Leaving a baton: the wrap delta, the baton of its id, and the project's summary of the last wrap, always together.

use baton_model::accounting::is_finished;
use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::packet::{ValidatedPacket, one_line};
use baton_model::project::LastWrap;
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, project};

use super::update_baton;
use crate::changes;
use crate::ledger::{Author, append};
use crate::op::Env;

/// The addressee of a baton; none by default.
#[derive(Default)]
pub(crate) struct Address<'a> {
    pub(crate) identity: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
}

/// What was left.
pub(crate) struct LeaveResult {
    pub(crate) delta_id: String,
    pub(crate) summary: String,
}

/// Leaves a baton for a session that is being wrapped.
pub(crate) fn leave(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    own: &Session,
    packet: &ValidatedPacket,
    to: &Address<'_>,
) -> Result<LeaveResult, Failure> {
    let wrap = append(tx, env, &Author::session(own), Kind::Wrap, packet.text().to_owned())?;
    let summary = one_line(&packet.view().summary);
    let left = Baton {
        project_id: own.project_id.clone(),
        baton_id: wrap.delta_id.clone(),
        seq: wrap.seq,
        session_id: own.session_id.clone(),
        identity: own.identity.clone(),
        thread_id: own.thread_id.clone(),
        created_at: env.now,
        summary: summary.clone(),
        to_identity: to.identity.map(str::to_owned),
        to_role: to.role.map(str::to_owned),
        holder_session_id: None,
        held_at: None,
        spent_by: None,
        version: 1,
        has_changes: false,
    };
    baton::insert(tx, &left)?;
    let last = LastWrap {
        at: env.now,
        by: own.identity.clone(),
        session_id: own.session_id.clone(),
        delta_id: wrap.delta_id.clone(),
        summary: summary.clone(),
    };
    project::record_wrap(tx, &own.project_id, &last)?;
    Ok(LeaveResult { delta_id: wrap.delta_id, summary })
}

/// Marks a baton as finished that says that nothing is left to do, unless it is addressed to an identity or a role.
pub(super) fn finish(
    tx: &mut Tx<'_>,
    (project_id, baton_id): (&str, &str),
    packet: &ValidatedPacket,
) -> Result<bool, Failure> {
    if !is_finished(packet.view()) {
        return Ok(false);
    }
    let waiting = baton::get(tx, project_id, baton_id)?;
    let Some(waiting) = waiting.filter(|one| one.to_identity.is_none() && one.to_role.is_none()) else {
        return Ok(false);
    };
    update_baton(tx, &Baton { spent_by: Some(baton_id.to_owned()), ..waiting })?;
    Ok(true)
}

/// The baton that the session held is spent: the thread goes on with the new one, and with the changes that the session did not apply.
pub(crate) fn spend(tx: &mut Tx<'_>, own: &Session, next: &str) -> Result<(), Failure> {
    spend_held(tx, own, next, true)
}

/// Spends the baton that a session held. Without changes in its lineage nothing is looked for that might go on.
pub(super) fn spend_held(
    tx: &mut Tx<'_>,
    own: &Session,
    next: &str,
    has_changes: bool,
) -> Result<(), Failure> {
    let Some(baton_id) = &own.baton_id else { return Ok(()) };
    match baton::get(tx, &own.project_id, baton_id)? {
        Some(mut held) if held.holder_session_id.as_ref() == Some(&own.session_id) => {
            held.spent_by = Some(next.to_owned());
            update_baton(tx, &held)?;
            if has_changes { changes::pass_on(tx, own, baton_id, next) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}
