//! How a capture at the end of an agent ends the session that the agent had.

use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, session};
use serde_json::Value;

use super::capture::{Capture, CaptureJob};
use crate::op::{Env, Operation};
use crate::resolve;
use crate::session::{Releaser, refresh_working_copy, release};
use crate::token_rights;

impl CaptureJob<'_> {
    /// Ends the session in which the end was kept, and those that captures registered in this process: the conversation that
    /// they stood for is over.
    pub(super) fn end(&self, tx: &mut Tx<'_>, env: &mut Env<'_>, own: &mut Session) -> Result<(), Failure> {
        if own.is_open() {
            end(tx, env, own, &self.input.event)?;
        }
        for mut open in sessions_here(tx, env, &own.project_id)? {
            if open.baton_id.is_none() && registered_here(tx, &open)? {
                end(tx, env, &mut open, &self.input.event)?;
            }
        }
        Ok(())
    }
}

/// Ends the session of a caller of whose transcript nothing can be kept, if it has exactly one.
pub(super) fn end_of_caller(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    event: &str,
) -> Result<(), Failure> {
    let own = match &env.caller.session {
        Some(id) => {
            let own = resolve::session_by_id(tx, project_id, id)?;
            token_rights::require_access(env, &own)?;
            Some(own).filter(Session::is_open)
        }
        None => {
            let mut here = sessions_here(tx, env, project_id)?;
            here.pop().filter(|_| here.is_empty())
        }
    };
    own.map_or(Ok(()), |mut own| end(tx, env, &mut own, event))
}

/// The caller's open sessions; none where its process is unknown.
fn sessions_here(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Vec<Session>, Failure> {
    let place = &env.caller.location;
    if place.process.is_empty() {
        return Ok(Vec::new());
    }
    let mut open = session::open(tx, project_id)?;
    open.retain(|open| open.location == *place && token_rights::may_act_in(env, open));
    Ok(open)
}

/// Ends a session without a baton; one that it holds waits again, with what the session saved.
pub(super) fn end(tx: &mut Tx<'_>, env: &mut Env<'_>, own: &mut Session, event: &str) -> Result<(), Failure> {
    Capture::NAME.clone_into(&mut own.last_verb);
    refresh_working_copy(tx, env, own)?;
    let by = Releaser {
        identity: &own.identity.clone(),
        reason: ReleaseReason::Ended,
        why: Some(event),
        successor: None,
    };
    release(tx, env, own, &by)
}

/// Whether a session was registered by a capture, and not by its agent.
pub(super) fn registered_here(tx: &mut Tx<'_>, own: &Session) -> Result<bool, Failure> {
    let first = baton_store::delta::of_session(tx, &own.project_id, &own.session_id)?.into_iter().next();
    let body = first.and_then(|first| serde_json::from_str::<Value>(&first.body).ok());
    Ok(body.is_some_and(|body| body["captured"] == true))
}
