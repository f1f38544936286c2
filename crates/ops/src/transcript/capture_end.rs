//! How a capture at the end of an agent ends the session that the agent had.

use baton_model::delta::Kind;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, project, session, session_open};
use serde_json::{Value, json};

use super::capture::{Capture, CaptureInput, CaptureJob};
use super::found_transcript::FoundTranscript;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Operation};
use crate::project::are_separated;
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
        None => only_session_here(tx, env, project_id)?,
    };
    own.map_or(Ok(()), |mut own| end(tx, env, &mut own, event))
}

/// Ends the sessions that the agent has in projects which do not keep the conversation: where its hooks spoke, and where it stands. A
/// note says there that its words are in another project, and none of them. With nothing to keep them in, `keeper` is none.
pub(super) fn end_elsewhere(
    cx: &mut Cx<'_>,
    input: &CaptureInput,
    transcript: &FoundTranscript,
    (projects, keeper): (&[String], Option<&str>),
) -> Result<(), Failure> {
    if !input.over && !input.wrap {
        return Ok(());
    }
    // What an agent has in a project from which its words are not kept apart goes on until the agent is over.
    let ends = |text: &Option<String>| input.over || text.is_some();
    let Cx { store, env } = cx;
    for (at, project_id) in projects.iter().enumerate() {
        if Some(project_id.as_str()) == keeper || projects[..at].contains(project_id) {
            continue;
        }
        store.write(&[project_id], |tx| {
            resolve::require(tx, project_id)?;
            let own = match &env.caller.session {
                Some(id) => session::get(tx, project_id, id)?
                    .filter(|own| own.is_open() && token_rights::may_act_in(env, own)),
                None => only_session_here(tx, env, project_id)?,
            };
            let text = whereabouts(tx, project_id, keeper)?;
            let Some(mut own) = own.filter(|_| ends(&text)) else { return Ok(()) };
            if let Some(text) = text {
                let body = json!({
                    "text": text, "event": input.event,
                    "transcript": { "agent": transcript.format.id(), "id": transcript.header.id },
                });
                append_json(tx, env, &Author::session(&own), Kind::Note, &body)?;
            }
            end(tx, env, &mut own, &input.event)
        })?;
    }
    Ok(())
}

/// What a project is told of a conversation that another one keeps, from which it is kept apart. An isolated project is not named: a reader of
/// this ledger need not reach it.
fn whereabouts(tx: &mut Tx<'_>, project_id: &str, keeper: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(keeper) = keeper else {
        let text = "the conversation was held in several isolated projects, so no project keeps it; its transcript stays where its tool \
                    wrote it";
        return Ok(Some(text.to_owned()));
    };
    if !are_separated(tx, project_id, keeper)? {
        return Ok(None);
    }
    let is_isolated = project::get(tx, keeper)?.is_some_and(|keeper| keeper.is_isolated);
    let place = if is_isolated { "an isolated project".to_owned() } else { format!("project {keeper}") };
    Ok(Some(format!(
        "the conversation is kept in {place}, where it was held; none of its words are here. `baton transcripts show ID` says which \
         project that is"
    )))
}

/// The caller's open session, if it has exactly one.
fn only_session_here(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Option<Session>, Failure> {
    let mut here = sessions_here(tx, env, project_id)?;
    Ok(here.pop().filter(|_| here.is_empty()))
}

/// The caller's open sessions; none where its process is unknown.
fn sessions_here(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Vec<Session>, Failure> {
    let mut open = session_open::at(tx, project_id, &env.caller.location)?;
    open.retain(|open| token_rights::may_act_in(env, open));
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
