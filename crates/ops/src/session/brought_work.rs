//! Work that a session brought from another one without a baton, and whether it goes on with that session or is left again.

use std::collections::BTreeSet;

use baton_model::delta::{Delta, Kind};
use baton_model::handoff::State;
use baton_model::id::identity_key;
use baton_model::packet_from_ledger::is_left_unwrapped;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, baton, conversation, delta, handoff, session, task};
use serde_json::Value;

use super::left_work::NAMED_FOR;
use crate::op::Env;
use crate::ownership::is_at_work;

/// How many of the newest pickups are looked at.
const PICKUPS: i64 = 500;
/// How many sessions of one name are followed that came in each other's place.
const SUCCESSORS: usize = 8;

/// The field of a pickup that names the sessions whose work it brought although no baton waited.
const RECOVERED: &str = "recovered_sessions";

/// The body of a pickup with the sessions whose work it brings without a baton.
pub(super) fn name_recovered(mut body: Value, sessions: &[Session]) -> Value {
    if !sessions.is_empty() {
        body[RECOVERED] = sessions.iter().map(|session| session.session_id.as_str()).collect();
    }
    body
}

/// The sessions whose work the pickups among these entries brought without a baton.
pub(super) fn recovered_by(deltas: &[Delta]) -> Vec<String> {
    let pickups = deltas.iter().filter(|delta| delta.kind == Kind::Pickup);
    let bodies = pickups.filter_map(|pickup| serde_json::from_str::<Value>(&pickup.body).ok());
    let named = bodies.flat_map(|mut body| match body[RECOVERED].take() {
        Value::Array(ids) => ids,
        _ => Vec::new(),
    });
    named.filter_map(|id| id.as_str().map(str::to_owned)).collect()
}

/// The sessions whose work others brought without a baton.
#[derive(Default)]
pub(super) struct BroughtWork {
    /// It goes on with one of those who brought it.
    carried: BTreeSet<String>,
    /// Whoever brought it is gone, and left nothing that holds it.
    dropped: BTreeSet<String>,
}

impl BroughtWork {
    /// The question of it that depends on no other answer.
    pub(super) fn prefetch(tx: &mut Tx<'_>, project_id: &str) {
        drop(delta::recoveries(tx, project_id, PICKUPS));
    }

    /// Reads it. The pickups of `own` count for nothing: a session is given again what it was given before.
    pub(super) fn read(
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        project_id: &str,
        own: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut found = Self::default();
        for pickup in delta::recoveries(tx, project_id, PICKUPS)? {
            let brought = recovered_by(std::slice::from_ref(&pickup));
            if brought.is_empty() || (own.is_some() && pickup.session_id.as_deref() == own) {
                continue;
            }
            // What is old is named to none any more, whatever became of it.
            if pickup.created_at < env.now.saturating_sub(NAMED_FOR) {
                found.carried.extend(brought);
                continue;
            }
            if brought.iter().all(|id| found.carried.contains(id)) {
                continue;
            }
            let is_carried = is_completed(tx, &pickup)? || goes_on(tx, env, &pickup, own)?;
            let group = if is_carried { &mut found.carried } else { &mut found.dropped };
            group.extend(brought);
        }
        found.dropped.retain(|id| !found.carried.contains(id));
        Ok(found)
    }

    /// Whether the work of a session goes on with another one.
    pub(super) fn is_carried(&self, session_id: &str) -> bool {
        self.carried.contains(session_id)
    }

    /// The sessions whose work is left again.
    pub(super) fn dropped(&self) -> impl Iterator<Item = &String> {
        self.dropped.iter()
    }
}

/// Whether a pickup took over what the acceptor of a hand-off had saved, and that is completed.
fn is_completed(tx: &mut Tx<'_>, pickup: &Delta) -> Result<bool, Failure> {
    let body: Value = serde_json::from_str(&pickup.body).unwrap_or_default();
    let Some(id) = body.get("handoff_id").and_then(Value::as_str) else { return Ok(false) };
    Ok(handoff::get(tx, id)?.is_some_and(|of| of.state == State::Completed))
}

/// Whether what a pickup brought goes on: its session, or one of that name in its place, is at work, or has left it in a baton or a result.
fn goes_on(tx: &mut Tx<'_>, env: &Env<'_>, pickup: &Delta, own: Option<&str>) -> Result<bool, Failure> {
    let mut next = pickup.session_id.clone();
    for _ in 0..SUCCESSORS {
        let Some(id) = next.take() else { break };
        let Some(by) = session::get(tx, &pickup.project_id, &id)? else { break };
        let is_live = own != Some(id.as_str()) && by.is_open() && is_at_work(env, &by);
        if is_live || by.has_wrapped() || has_left_baton(tx, &by, pickup.seq)? {
            return Ok(true);
        }
        let mut since = left_by(tx, &by)?;
        since.retain(|delta| delta.seq > pickup.seq);
        if has_ended_itself(&by) && has_closed_with_success(tx, &by, &since)? {
            return Ok(true);
        }
        // A tool that is started anew goes on under the same name.
        let successor = by.release.as_ref().filter(|end| identity_key(&end.by) == identity_key(&by.identity));
        next = successor.and_then(|end| end.successor.clone());
    }
    Ok(false)
}

/// Whether a session, or its conversation, left a baton after this place in the ledger.
fn has_left_baton(tx: &mut Tx<'_>, by: &Session, since: i64) -> Result<bool, Failure> {
    let (project_id, id) = (by.project_id.as_str(), by.session_id.as_str());
    let of_conversation = match conversation::of_session(tx, project_id, id)?.and_then(|of| of.baton_id) {
        Some(left) => baton::get(tx, project_id, &left)?,
        None => None,
    };
    let left = baton::of_session(tx, project_id, id)?.into_iter().chain(of_conversation);
    Ok(left.into_iter().any(|left| left.seq > since))
}

/// Whether a session that its agent ended saved nothing after it was done with a task that is closed with success: what it saved before
/// went into that result.
pub(super) fn is_in_results(tx: &mut Tx<'_>, session: &Session) -> Result<bool, Failure> {
    if !has_ended_itself(session) {
        return Ok(false);
    }
    let deltas = left_by(tx, session)?;
    let last_saved = deltas.iter().rposition(|delta| is_left_unwrapped(std::slice::from_ref(delta)));
    let since = last_saved.and_then(|at| deltas.get(at..)).unwrap_or_default();
    has_closed_with_success(tx, session, since)
}

/// Whether a session was ended by its own agent.
fn has_ended_itself(session: &Session) -> bool {
    session.release.as_ref().is_some_and(|end| {
        end.reason == ReleaseReason::Ended && identity_key(&end.by) == identity_key(&session.identity)
    })
}

/// Whether these entries of a session name a task that is closed with success.
fn has_closed_with_success(tx: &mut Tx<'_>, of: &Session, entries: &[Delta]) -> Result<bool, Failure> {
    for entry in entries.iter().filter(|entry| entry.kind == Kind::Other) {
        let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
        let Some(id) = body.get("task_id").and_then(Value::as_str) else { continue };
        let found = task::get(tx, &of.project_id, id)?;
        if found.is_some_and(|found| found.status == "closed" && found.result.as_deref() == Some("pass")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a session wrote, but for its release. A session that wraps is over, so a holder has handed nothing of it on before.
pub(super) fn left_by(tx: &mut Tx<'_>, holder: &Session) -> Result<Vec<Delta>, Failure> {
    let mut deltas = delta::of_session(tx, &holder.project_id, &holder.session_id)?;
    deltas.retain(|delta| delta.kind != Kind::Release);
    Ok(deltas)
}
