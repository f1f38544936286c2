//! The life of a session: start, checkpoint, wrap, pickup, end.

mod checkpoint;
mod end;
mod handoff;
mod heartbeat;
mod history;
mod leave;
mod pickup;
mod pickup_bundle;
mod pickup_decide;
mod pickup_handoff;
mod reassign;
mod resolve_state;
mod start;
mod status;
mod wrap;
mod wrap_accounting;

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::session::{Admission, Applicant, Release, ReleaseReason, Session, admit};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, baton, session};
use serde_json::json;

use crate::ledger::{Author, append_json};
use crate::op::Env;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use end::End;
pub(crate) use handoff::Handoff;
pub(crate) use heartbeat::Heartbeat;
pub(crate) use history::History;
pub(crate) use leave::{Address, leave};
pub(crate) use pickup::{Claiming, Pickup, claim};
pub(crate) use reassign::Reassign;
pub(crate) use resolve_state::Resolve;
pub(crate) use start::Start;
pub(crate) use status::Status;
pub(crate) use wrap::{Wrap, close, spend};

/// Who releases a session, and why they say they do.
pub(crate) struct Releaser<'a> {
    pub identity: &'a str,
    pub reason: ReleaseReason,
    pub why: Option<&'a str>,
    pub successor: Option<&'a str>,
}

/// Releases a session and says so in the ledger. A wrap is its own entry and does not come through here.
pub(crate) fn release(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    released: &mut Session,
    by: &Releaser<'_>,
) -> Result<(), Failure> {
    released.release = Some(Release {
        at: env.now,
        reason: by.reason,
        by: by.identity.to_owned(),
        successor: by.successor.map(str::to_owned),
    });
    session::put(tx, released)?;
    let body = json!({
        "reason": by.reason.as_str(),
        "released_by": by.identity,
        "why": by.why,
        "forced": matches!(by.reason, ReleaseReason::PreemptedByPickup | ReleaseReason::Operator),
        "successor_session_id": by.successor,
    });
    append_json(tx, env, &Author::session(released), Kind::Release, &body)?;
    crate::task::let_go(tx, env, released, by.reason, by.successor)
}

/// What registering came to.
pub(crate) enum Registered {
    /// The caller's own open session.
    Same(Session),
    /// A session that is still to be inserted, and the sessions it replaces.
    New(Session, Vec<(Session, ReleaseReason)>),
}

impl Registered {
    /// The identity of the session, as it was first given.
    pub(crate) fn identity(&self) -> String {
        let (Self::Same(session) | Self::New(session, _)) = self;
        session.identity.clone()
    }

    /// The baton that the caller holds already: in its own session, or in one whose process is gone, which it stays with.
    pub(crate) fn held(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let replaced = match self {
            Self::Same(session) => return Ok(session.baton_id.clone()),
            Self::New(_, replaced) => replaced,
        };
        for (old, _) in replaced.iter().filter(|(_, reason)| *reason == ReleaseReason::Reconnect) {
            if let Some(held) = still_held(tx, old)? {
                return Ok(Some(held.baton_id));
            }
        }
        Ok(None)
    }

    /// Another session as it will stand once this one is registered: released, if this one replaces it.
    pub(crate) fn given_way(&self, mut other: Session, now: Millis) -> Session {
        if let Self::New(new, replaced) = self
            && let Some((_, reason)) = replaced.iter().find(|(old, _)| old.session_id == other.session_id)
        {
            let successor = Some(new.session_id.clone());
            other.release = Some(Release { at: now, reason: *reason, by: new.identity.clone(), successor });
        }
        other
    }
}

/// How a caller wants to register.
pub(crate) struct Registration<'a> {
    pub project_id: &'a str,
    pub identity: &'a str,
    pub surface: Option<&'a str>,
    pub verb: &'a str,
    pub force: Option<ReleaseReason>,
}

/// Applies the same-identity rule. Nothing is written yet: the caller first checks everything else that may refuse.
pub(crate) fn register(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    wish: &Registration<'_>,
) -> Result<Registered, Failure> {
    let open = session::open_of(tx, wish.project_id, wish.identity)?;
    let applicant = Applicant {
        identity: wish.identity,
        place: &env.caller.place,
        now: env.now,
        limits: env.limits,
        force: wish.force,
    };
    let host = env.host;
    match admit(&open, &applicant, |session| host.process_gone(&session.place))? {
        Admission::Same(session) => Ok(Registered::Same(*session)),
        Admission::New(replaced) => {
            let session_id = env.id();
            let known = session::first_name(tx, wish.project_id, wish.identity)?;
            let session = Session {
                project_id: wish.project_id.to_owned(),
                thread_id: session_id.clone(),
                session_id,
                identity: known.unwrap_or_else(|| wish.identity.to_owned()),
                surface: surface(wish.surface, &env.caller.surface)?,
                place: env.caller.place.clone(),
                started_at: env.now,
                heartbeat_at: env.now,
                last_verb: wish.verb.to_owned(),
                release: None,
                inherited_from: None,
                picked_up_session_id: None,
                baton_id: None,
            };
            Ok(Registered::New(session, replaced))
        }
    }
}

fn surface(named: Option<&str>, from_caller: &str) -> Result<String, Refusal> {
    let name = named.unwrap_or(from_caller);
    let name = if name.is_empty() { "other" } else { name };
    baton_model::id::check_label("surface", name)?;
    Ok(name.to_owned())
}

/// Releases the sessions that a new one replaces. A baton held by one whose process was gone stays with its identity.
pub(crate) fn replace(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    new: &mut Session,
    replaced: Vec<(Session, ReleaseReason)>,
    why: Option<&str>,
) -> Result<(), Failure> {
    for (mut old, reason) in replaced {
        let by = Releaser { identity: &new.identity, reason, why, successor: Some(&new.session_id) };
        release(tx, env, &mut old, &by)?;
        if reason == ReleaseReason::Reconnect && new.baton_id.is_none() {
            inherit_baton(tx, env, &old, new)?;
        }
    }
    Ok(())
}

/// The baton of a session, unless it has moved on since.
fn still_held(tx: &mut Tx<'_>, holder: &Session) -> Result<Option<Baton>, Failure> {
    let Some(baton_id) = &holder.baton_id else { return Ok(None) };
    let held = baton::get(tx, &holder.project_id, baton_id)?;
    Ok(held.filter(|b| b.spent_by.is_none() && b.holder_session_id.as_ref() == Some(&holder.session_id)))
}

fn inherit_baton(tx: &mut Tx<'_>, env: &Env<'_>, old: &Session, new: &mut Session) -> Result<(), Failure> {
    let Some(mut held) = still_held(tx, old)? else { return Ok(()) };
    held.holder_session_id = Some(new.session_id.clone());
    held.held_at = Some(env.now);
    move_baton(tx, &held)?;
    new.baton_id = Some(held.baton_id);
    new.thread_id.clone_from(&old.thread_id);
    new.inherited_from = Some(old.session_id.clone());
    new.picked_up_session_id.clone_from(&old.picked_up_session_id);
    Ok(())
}

/// Writes who holds a baton; the version that was read must still stand.
pub(crate) fn move_baton(tx: &mut Tx<'_>, baton: &Baton) -> Result<(), Failure> {
    if baton::put(tx, baton)? {
        return Ok(());
    }
    let moved = "the baton moved while it was being claimed";
    Err(Refusal::new(baton_model::refusal::Kind::Conflict, "baton_moved", moved, "try again").into())
}

/// The answer kept for a request id, when this verb was answered before.
pub(crate) fn replay(
    tx: &mut Tx<'_>,
    project_id: &str,
    request_id: Option<&str>,
    verb: &str,
) -> Result<Option<serde_json::Value>, Failure> {
    let Some(id) = request_id else { return Ok(None) };
    baton_model::id::check_label("request id", id)?;
    match baton_store::request::get(tx, project_id, id)? {
        None => Ok(None),
        Some((known, answer)) if known == verb => Ok(serde_json::from_str(&answer).ok()),
        Some((known, _)) => Err(Refusal::new(
            baton_model::refusal::Kind::Conflict,
            "request_reused",
            format!("request id `{id}` was used for {known}"),
            "give every new request an id of its own",
        )
        .into()),
    }
}

/// Keeps an answer for its request id.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    request_id: Option<&str>,
    verb: &str,
    answer: &serde_json::Value,
) -> Result<(), Failure> {
    if let Some(id) = request_id {
        baton_store::request::put(tx, project_id, id, verb, &answer.to_string(), env.now)?;
    }
    Ok(())
}
