//! A pickup of one baton inside another verb.

use baton_model::session::Session;
use baton_store::{Failure, Tx, session};

use super::pickup::{PickupInput, pick, preview};
use super::prior_changes::UncommittedMarks;
use crate::op::Env;

/// A pickup of exactly one baton, asked for by another verb.
pub(crate) struct PickupRequest {
    pub(crate) baton_id: String,
    pub(crate) force: bool,
    pub(crate) why: Option<String>,
}

/// Picks a baton up inside another verb's transaction. Returns the session that holds it.
pub(crate) fn pick_within(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    identity: &str,
    spec: PickupRequest,
) -> Result<String, Failure> {
    let input = PickupInput {
        target_id: Some(spec.baton_id),
        force: spec.force,
        why: spec.why,
        ..PickupInput::default()
    };
    let marks = UncommittedMarks::default();
    Ok(pick(tx, env, (&input, &marks), project_id, identity)?.session_id.unwrap_or_default())
}

/// Refuses what [`pick_within`] would refuse because another agent holds the baton, or went on with it. Says who has it otherwise: the caller, or whom force would
/// take it from.
pub(crate) fn check_unclaimed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    identity: &str,
    spec: PickupRequest,
) -> Result<Option<String>, Failure> {
    let (handoff_id, force) = (Some(spec.baton_id.clone()), spec.force);
    let input = PickupInput { target_id: handoff_id, force, why: spec.why, ..PickupInput::default() };
    match preview(tx, env, &input, project_id, identity) {
        Err(Failure::Refused(refusal)) if ["baton_claimed", "baton_spent"].contains(&refusal.code) => {
            return Err(refusal.into());
        }
        Err(Failure::Refused(_)) | Ok(_) => {}
        Err(other) => return Err(other),
    }
    let held = baton_store::baton::get(tx, project_id, &spec.baton_id)?.and_then(|one| one.holder_session_id);
    let Some(id) = held else { return Ok(None) };
    let holder = session::get(tx, project_id, &id)?.filter(Session::is_open);
    Ok(holder.map(|holder| holder.identity))
}
