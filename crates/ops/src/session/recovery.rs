//! What the sessions left that held a baton, one after the other, and did not wrap.

use std::borrow::Cow;

use baton_model::delta::{Delta, Kind, Row};
use baton_model::packet::ValidatedPacket;
use baton_model::packet_from_ledger::is_left_unwrapped;
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, conversation, delta, session};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::brought_work::{BroughtWork, is_in_results, left_by, recovered_by};
use super::entrusted::sessions_of;
use super::holder_questions::{self, HolderQuestion};
use super::late_words::late_packets;
use super::pickup::PickupResult;
use crate::op::Env;
use crate::ownership::is_at_work;

/// How many of the newest sessions are looked at for work that no baton carries, and from how many of them it is recovered.
pub(super) struct UnwrappedLimits {
    pub(super) looked_at: i64,
    sessions: usize,
}

pub(super) const BRIEF: UnwrappedLimits = UnwrappedLimits { looked_at: 20, sessions: 5 };
/// On request.
pub(super) const FULL: UnwrappedLimits = UnwrappedLimits { looked_at: 500, sessions: 200 };

/// What was left by every session that held the baton and did not wrap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recovered {
    /// The session that held it last.
    pub session: String,
    /// Every session that held it, oldest first.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// That it may be incomplete.
    pub note: Cow<'static, str>,
    /// The newest checkpoint of them all.
    pub last_checkpoint: Option<Row>,
    /// Their ledger entries, oldest first: also those from before the baton, which no other agent was given.
    pub deltas: Vec<Row>,
    /// What these sessions had asked other agents, newest first, with the answers that came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<HolderQuestion>,
    /// There are older sessions that left something: the same call with `full` brings them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

impl Recovered {
    /// The newest summary that one of them saved.
    pub fn summary(&self) -> Option<&str> {
        self.checkpoints().find_map(|body| body.get("summary")?.as_str())
    }

    /// The newest summary that each of the sessions saved, the newest first, with its entry.
    pub fn summaries(&self) -> Vec<(&Row, &str)> {
        let mut found: Vec<(&Row, &str)> = Vec::new();
        for row in self.deltas.iter().rev().filter(|row| row.kind == Kind::Checkpoint) {
            let summary = row.body.as_ref().and_then(|body| body.get("summary")?.as_str());
            let is_known = found.iter().any(|(other, _)| other.session_id == row.session_id);
            found.extend(summary.filter(|_| !is_known).map(|summary| (row, summary)));
        }
        found
    }

    /// The newest state that one of them saved.
    pub fn state(&self) -> Option<&Value> {
        self.checkpoints().find_map(|body| body.get("state").filter(|state| !state.is_null()))
    }

    /// Bodies of the checkpoints, newest first.
    fn checkpoints(&self) -> impl Iterator<Item = &Value> {
        let saved = self.deltas.iter().rev().filter(|row| row.kind == Kind::Checkpoint);
        saved.filter_map(|row| row.body.as_ref())
    }
}

/// Everything that the holders of the picked baton left; without a baton, what sessions left that ended without a wrap.
pub(super) fn recovered(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    picked: &PickupResult,
    full: bool,
) -> Result<Option<Recovered>, Failure> {
    let (sessions, has_more) = match (&picked.baton_id, &picked.recovered_session_id) {
        (Some(baton_id), Some(last)) => (holders(tx, (project_id, baton_id), last)?, false),
        (Some(_), None) => return Ok(None),
        (None, Some(named)) => match session::get(tx, project_id, named)? {
            Some(named) => (brought_with(tx, env, &named, picked.session_id.as_deref())?, false),
            None => return Ok(None),
        },
        (None, None) => recoverable(tx, env, project_id, (picked.session_id.as_deref(), full))?,
    };
    let Some(last) = sessions.last().map(|last| last.session_id.clone()) else { return Ok(None) };
    let mut deltas = Vec::new();
    for session in &sessions {
        deltas.extend(left_by(tx, session)?);
    }
    if let Some(baton_id) = &picked.baton_id {
        deltas.extend(late_packets(tx, project_id, baton_id)?);
    }
    deltas.sort_by_key(|delta| delta.seq);
    deltas.dedup_by(|one, other| one.delta_id == other.delta_id);
    let newest = deltas.iter().rev().find(|delta| delta.kind == Kind::Checkpoint);
    let questions = holder_questions::read(tx, project_id, (&sessions, &picked.identity))?;
    Ok(Some(Recovered {
        questions,
        session: last,
        sessions: sessions.into_iter().map(|session| session.session_id).collect(),
        note: "recovered from a session that never wrapped: it may be incomplete".into(),
        last_checkpoint: newest.map(Delta::row),
        deltas: deltas.iter().map(Delta::row).collect(),
        has_more,
    }))
}

/// The sessions whose work a pickup brings that finds no baton, oldest first, and whether there are older ones.
pub(super) fn recoverable(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    (own, full): (Option<&str>, bool),
) -> Result<(Vec<Session>, bool), Failure> {
    let limits = if full { FULL } else { BRIEF };
    let newest = session::newest(tx, project_id, limits.looked_at)?;
    recoverable_among(tx, env, &newest, (own, &limits))
}

pub(super) fn recoverable_among(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    newest: &[Session],
    (own, limits): (Option<&str>, &UnwrappedLimits),
) -> Result<(Vec<Session>, bool), Failure> {
    let mut sessions = unwrapped(tx, env, newest, own, limits)?;
    if let Some(first) = sessions.first() {
        let brought = BroughtWork::read(tx, env, &first.project_id, own)?;
        sessions.retain(|session| !brought.is_carried(&session.session_id));
    }
    let has_more = sessions.len() > limits.sessions;
    if has_more {
        sessions.remove(0);
    }
    Ok((sessions, has_more))
}

/// The sessions whose work a pickup brings that names one of them, oldest first: what that one had brought of others and left nowhere is
/// brought with it.
pub(super) fn brought_with(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    named: &Session,
    own: Option<&str>,
) -> Result<Vec<Session>, Failure> {
    let mut found = Vec::new();
    let before = recovered_by(&left_by(tx, named)?);
    if !before.is_empty() {
        let brought = BroughtWork::read(tx, env, &named.project_id, own)?;
        for id in before.iter().filter(|id| !brought.is_carried(id) && **id != named.session_id) {
            if let Some(before) = session::get(tx, &named.project_id, id)? {
                found.extend(saved_by(tx, &before)?);
            }
        }
    }
    found.extend(saved_by(tx, named)?);
    Ok(found)
}

/// The session that a pickup names, where it saved or said something that no baton carries.
pub(super) fn saved_by(tx: &mut Tx<'_>, named: &Session) -> Result<Vec<Session>, Failure> {
    Ok(if has_left(tx, named)? { vec![named.clone()] } else { Vec::new() })
}

/// Whether a session saved or said what no baton carries. What hooks saved of a conversation goes with the baton that it left later.
fn has_left(tx: &mut Tx<'_>, session: &Session) -> Result<bool, Failure> {
    let deltas = left_by(tx, session)?;
    if !is_left_unwrapped(&deltas) {
        return Ok(false);
    }
    let mut left = Vec::new();
    for delta in deltas {
        if !is_in_later_baton(tx, &delta)? {
            left.push(delta);
        }
    }
    if !is_left_unwrapped(&left) {
        return Ok(false);
    }
    let carried_at = carried_at(tx, session)?;
    left.retain(|delta| carried_at.is_none_or(|seq| delta.seq > seq));
    Ok(is_left_unwrapped(&left))
}

/// The place in the ledger of the baton that was made of the session's conversation and holds what the session saved until then.
fn carried_at(tx: &mut Tx<'_>, session: &Session) -> Result<Option<i64>, Failure> {
    let project_id = &session.project_id;
    let known = conversation::of_session(tx, project_id, &session.session_id)?;
    let Some(left) = known.and_then(|known| known.baton_id) else { return Ok(None) };
    let Some(wrap) = delta::get(tx, project_id, &left)? else { return Ok(None) };
    let packet = ValidatedPacket::parse_stored(wrap.body).ok();
    let is_in = packet.is_some_and(|packet| sessions_of(&packet).contains(&session.session_id));
    Ok(is_in.then_some(wrap.seq))
}

/// Whether a checkpoint was made of a conversation that left a baton since.
fn is_in_later_baton(tx: &mut Tx<'_>, delta: &Delta) -> Result<bool, Failure> {
    if delta.kind != Kind::Checkpoint {
        return Ok(false);
    }
    let body = serde_json::from_str::<Value>(&delta.body).unwrap_or_default();
    let of = |field: &str| body["transcript"][field].as_str();
    let (Some(tool), Some(id)) = (of("agent"), of("id")) else { return Ok(false) };
    let known = match conversation::get(tx, &delta.project_id, tool, of("key").unwrap_or(id))? {
        // Earlier versions knew it by the tool's own id alone.
        None => conversation::get(tx, &delta.project_id, tool, id)?,
        known => known,
    };
    let Some(left) = known.and_then(|known| known.baton_id) else { return Ok(false) };
    Ok(baton::get(tx, &delta.project_id, &left)?.is_some_and(|left| left.seq > delta.seq))
}

/// The sessions of a project which saved or said something and left no baton, oldest first: since the last wrap those that are over or
/// silent, before it those that are silent and open still. Those that hold a
/// baton are not among them: what they saved goes with it.
pub(crate) fn unwrapped_sessions(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
) -> Result<Vec<Session>, Failure> {
    let newest = session::newest(tx, project_id, FULL.looked_at)?;
    let mut found = unwrapped(tx, env, &newest, None, &FULL)?;
    // A later wrap of another agent says nothing of a session that is open still.
    for session in session::open(tx, project_id)? {
        let is_new = !found.iter().any(|known| known.session_id == session.session_id);
        if is_new && !is_at_work(env, &session) && has_left(tx, &session)? {
            found.push(session);
        }
    }
    found.retain(|session| session.baton_id.is_none());
    found.sort_by(|a, b| (a.started_at, &a.session_id).cmp(&(b.started_at, &b.session_id)));
    Ok(found)
}

/// The sessions since the last that wrapped which saved or said something, are over or silent, and left no baton; oldest
/// first.
fn unwrapped(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    newest: &[Session],
    own: Option<&str>,
    limits: &UnwrappedLimits,
) -> Result<Vec<Session>, Failure> {
    let mut found = Vec::new();
    for session in newest {
        if session.has_wrapped() || found.len() > limits.sessions {
            break;
        }
        // What a session saved that held a baton goes with that, wherever it is.
        let is_other = own != Some(session.session_id.as_str()) && session.baton_id.is_none();
        let is_left = is_other && !is_at_work(env, session) && has_left(tx, session)?;
        if is_left && !is_in_results(tx, session)? {
            found.push(session.clone());
        }
    }
    found.reverse();
    Ok(found)
}

/// The sessions through which a baton came to this one, and this one, oldest first. Each holder inherits from the one before it.
pub(super) fn holders(
    tx: &mut Tx<'_>,
    (project_id, baton_id): (&str, &str),
    last: &str,
) -> Result<Vec<Session>, Failure> {
    let mut holders: Vec<Session> = Vec::new();
    let mut next = Some(last.to_owned());
    while let Some(id) = next.take() {
        let Some(holder) = session::get(tx, project_id, &id)? else { break };
        let is_holder = holders.is_empty() || holder.baton_id.as_deref() == Some(baton_id);
        if !is_holder || holders.iter().any(|known| known.session_id == id) {
            break;
        }
        next.clone_from(&holder.inherited_from);
        holders.push(holder);
    }
    holders.reverse();
    Ok(holders)
}
