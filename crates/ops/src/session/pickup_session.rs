//! The session that a pickup goes into: the caller's own, or a new one. Writes nothing.

use baton_model::id::is_shared_name;
use baton_model::refusal::Refusal;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, session};

use super::pickup::PickupInput;
use super::{RegistrationOutcome, SessionRegistration, admit_session};
use crate::op::Env;
use crate::{resolve, token_rights};

/// The session of a pickup. A dry run that would be refused, because its name is at work in another process, looks as the session that
/// takes its place, and says so.
pub(super) fn registration(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &PickupInput,
    (project_id, named): (&str, &str),
) -> Result<(RegistrationOutcome, Option<Refusal>), Failure> {
    match own_session(tx, env, input, project_id, named) {
        Err(Failure::Refused(refusal)) if input.dry_run && refusal.code == "identity_conflict" => {
            let force = Some(ReleaseReason::PreemptedByPickup);
            let request = SessionRegistration { force, ..input.registration(project_id, named) };
            Ok((admit_session(tx, env, &request)?, Some(refusal)))
        }
        other => Ok((other?, None)),
    }
}

/// The caller's own open session, if it has one that may become the picker.
pub(super) fn own_session(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &PickupInput,
    project_id: &str,
    identity: &str,
) -> Result<RegistrationOutcome, Failure> {
    let named = input.session.as_deref().or(env.caller.session.as_deref());
    if let Some(id) = named {
        let own = resolve::acting_open(tx, env, project_id, Some(id), input.identity.as_deref())?;
        return Ok(RegistrationOutcome::Existing(own));
    }
    if is_shared_name(identity)
        && let Some(own) = idle_bot(tx, env, project_id, identity)?
    {
        return Ok(RegistrationOutcome::Existing(own));
    }
    admit_session(tx, env, &input.registration(project_id, identity))
}

/// `Bot` may be many sessions of one process, so none of them is taken for the caller's own when it holds a baton: two
/// pickers of that name would both get it. The one that holds none is what this process has started.
fn idle_bot(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    identity: &str,
) -> Result<Option<Session>, Failure> {
    let place = &env.caller.location;
    if place.process.is_empty() {
        return Ok(None);
    }
    let mut idle = session::open_of(tx, project_id, identity)?;
    idle.retain(|s| {
        token_rights::may_act_in(env, s)
            && s.location == *place
            && s.baton_id.is_none()
            && s.is_fresh(env.now, env.limits)
    });
    Ok(if idle.len() == 1 { idle.pop() } else { None })
}
