//! A pickup by the session that holds the baton already.

use baton_model::delta::Kind;
use baton_model::session::Session;
use baton_store::{Failure, Tx, delta, session};

use super::pickup::PickupResult;
use super::pickup_decide::Decision;

/// The holder asks again: the same answer, found by its pickup delta.
pub(super) fn repeat_answer(
    tx: &mut Tx<'_>,
    own: &Session,
    decision: &Decision,
) -> Result<PickupResult, Failure> {
    let held = decision.baton.as_ref();
    let from = own.inherited_from.clone();
    Ok(PickupResult {
        session_id: Some(own.session_id.clone()),
        identity: own.identity.clone(),
        recovered_session_id: from.clone().filter(|id| held.is_some_and(|b| b.session_id != *id)),
        predecessor_session_id: from,
        pickup_delta_id: own_pickup(tx, own)?,
        baton_id: own.baton_id.clone(),
        waiting_for_others: decision.waiting_for_others,
        ..PickupResult::default()
    })
}

/// The pickup of the baton that this session holds: its own, or that of a session that it reconnected from.
fn own_pickup(tx: &mut Tx<'_>, own: &Session) -> Result<Option<String>, Failure> {
    let mut next = Some(own.clone());
    while let Some(session) = next.filter(|s| s.baton_id == own.baton_id) {
        let deltas = delta::of_session(tx, &session.project_id, &session.session_id)?;
        if let Some(pickup) = deltas.into_iter().rev().find(|d| d.kind == Kind::Pickup) {
            return Ok(Some(pickup.delta_id));
        }
        next = match session.inherited_from {
            Some(id) => session::get(tx, &session.project_id, &id)?,
            None => None,
        };
    }
    Ok(None)
}
