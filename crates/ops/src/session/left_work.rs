//! Remarks about work that sessions left without a baton: who left it, and the command that brings it.

use std::collections::BTreeSet;

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::id::{caller_name, identity_key, short, visible};
use baton_model::packet_from_ledger::is_left_unwrapped;
use baton_model::session::{Release, ReleaseReason, Session};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, baton, session};

use super::brought_work::{BroughtWork, is_in_results, left_by, recovered_by};
use super::pickup::PickupResult;
use super::recovery::{BRIEF, Recovered, holders, recoverable_among, saved_by};
use crate::card::Card;
use crate::op::Env;
use crate::ownership::is_at_work;

/// What a pickup that names nothing finds.
enum FoundBaton {
    /// No baton: it brings the work that was left without one.
    None,
    /// Only batons that others hold: it is refused, and brings no work.
    Held,
    /// A baton.
    Open,
}

impl FoundBaton {
    fn of(card: &Card) -> Self {
        match (card.has_open_baton(), card.has_held_baton()) {
            (true, _) => Self::Open,
            (false, true) => Self::Held,
            (false, false) => Self::None,
        }
    }
}

/// What a card says of work without a baton.
pub(super) fn left_remarks(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    card: &Card,
) -> Result<Vec<Remark>, Failure> {
    // One question for all of them.
    let newest = session::newest(tx, project_id, BRIEF.looked_at)?;
    let found = FoundBaton::of(card);
    if let FoundBaton::Open = found {
        return Ok(left_among(tx, env, (project_id, &newest), &[])?.into_iter().collect());
    }
    let (sessions, _) = recoverable_among(tx, env, &newest, (None, &BRIEF))?;
    let brought: Vec<&str> = sessions.iter().map(|session| session.session_id.as_str()).collect();
    if let FoundBaton::Held = found {
        let mut left = abandoned_among(tx, env, (project_id, &newest), &brought)?;
        let rest: Vec<Session> = sessions.into_iter().rev().filter(|one| !is_among(&left, one)).collect();
        left.extend(rest);
        return Ok(from_session_remark(&left).into_iter().collect());
    }
    let mut remarks = Vec::new();
    remarks.extend(recoverable_remark(&sessions));
    remarks.extend(left_among(tx, env, (project_id, &newest), &brought)?);
    Ok(remarks)
}

/// Names the agents whose work the next pickup brings although no baton waits.
fn recoverable_remark(sessions: &[Session]) -> Option<Remark> {
    let names: BTreeSet<String> = sessions.iter().map(|session| visible(&session.identity)).collect();
    let names: Vec<String> = names.into_iter().collect();
    let message = format!(
        "{} left work without a baton: `baton pickup` (over MCP: `hd_exec`) brings it as `recovered`",
        names.join(", ")
    );
    (!names.is_empty()).then_some(Remark { kind: RemarkKind::RecoverableWork, message })
}

/// Says to a session which came by a baton with its name that earlier holders saved something since.
pub(super) fn inherited_remark(tx: &mut Tx<'_>, own: &Session) -> Result<Option<Remark>, Failure> {
    let (Some(baton_id), Some(before)) = (&own.baton_id, &own.inherited_from) else { return Ok(None) };
    let left = baton::get(tx, &own.project_id, baton_id)?.map(|baton| baton.session_id);
    let mut has_saved = false;
    for holder in holders(tx, (&own.project_id, baton_id), before)? {
        let is_holder = left.as_ref() != Some(&holder.session_id);
        has_saved |= is_holder && is_left_unwrapped(&left_by(tx, &holder)?);
    }
    let message = format!(
        "you hold baton {}, and your session {} of before saved something since: `baton pickup` (over MCP: `hd_exec`) brings both, \
         the latter as `recovered`",
        short(baton_id),
        short(before)
    );
    Ok(has_saved.then_some(Remark { kind: RemarkKind::RecoverableWork, message }))
}

/// The question of these remarks that depends on no other answer.
pub(super) fn prefetch_left(tx: &mut Tx<'_>, project_id: &str, now: Millis) {
    drop(session::newest(tx, project_id, BRIEF.looked_at));
    BroughtWork::prefetch(tx, project_id);
    drop(ended_unwrapped(tx, project_id, now));
}

/// How long it is said that an ended session left something.
pub(super) const NAMED_FOR: Millis = 30 * 86_400_000;

fn ended_unwrapped(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<Session>, Failure> {
    Ok(session::ended_unwrapped(tx, project_id, now.saturating_sub(NAMED_FOR), BRIEF.looked_at)?)
}

/// How many sessions a remark names.
const MAX_NAMED_SESSIONS: usize = 3;

/// Names the sessions whose work no bare pickup brings: others wrapped since, or a baton waits.
pub(super) fn left_beside(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    but: &[&str],
) -> Result<Option<Remark>, Failure> {
    let newest = session::newest(tx, project_id, BRIEF.looked_at)?;
    left_among(tx, env, (project_id, &newest), but)
}

fn left_among(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    newest: (&str, &[Session]),
    but: &[&str],
) -> Result<Option<Remark>, Failure> {
    Ok(from_session_remark(&abandoned_among(tx, env, newest, but)?))
}

/// The sessions that were abandoned, or ended, with work that goes on with nobody, the newest first: no pickup has brought it, or whoever
/// did left nothing. What others wrapped since, and what waits from others, has nothing to do with it.
fn abandoned_among(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, newest): (&str, &[Session]),
    but: &[&str],
) -> Result<Vec<Session>, Failure> {
    let ended = ended_unwrapped(tx, project_id, env.now)?;
    let brought = BroughtWork::read(tx, env, project_id, None)?;
    let abandoned =
        newest.iter().enumerate().filter(|(at, session)| is_abandoned(env, session, &newest[..*at]));
    let mut found: Vec<Session> = abandoned.map(|(_, session)| session.clone()).chain(ended).collect();
    found.retain(|session| !brought.is_carried(&session.session_id));
    for id in brought.dropped() {
        if !found.iter().any(|known| known.session_id == *id) {
            found.extend(dropped(tx, env, project_id, id)?);
        }
    }
    found.retain(|session| !but.contains(&session.session_id.as_str()));
    let mut left = Vec::new();
    for session in found {
        if !is_in_results(tx, &session)? {
            left.extend(saved_by(tx, &session)?);
        }
    }
    left.sort_by(|a, b| (b.started_at, &b.session_id).cmp(&(a.started_at, &a.session_id)));
    Ok(left)
}

/// A session whose work was brought and left again, unless that is long ago or its own agent has wrapped since.
fn dropped(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, id: &str) -> Result<Option<Session>, Failure> {
    let Some(session) = session::get(tx, project_id, id)? else { return Ok(None) };
    let end = session.release.as_ref().map_or(session.heartbeat_at, |release| release.at);
    let is_over = end < env.now.saturating_sub(NAMED_FOR)
        || session.baton_id.is_some()
        || session::has_wrapped_since(tx, &session, end)?;
    Ok(Some(session).filter(|_| !is_over))
}

fn is_among(sessions: &[Session], one: &Session) -> bool {
    sessions.iter().any(|known| known.session_id == one.session_id)
}

/// Says to whom ends a session what that one saved and no baton carries, and what it had brought of others and leaves again.
pub(super) fn ended_remark(tx: &mut Tx<'_>, env: &Env<'_>, own: &Session) -> Result<Option<Remark>, Failure> {
    let mut left = Vec::new();
    if own.baton_id.is_none() && !is_in_results(tx, own)? {
        left.extend(saved_by(tx, own)?);
    }
    let before = recovered_by(&left_by(tx, own)?);
    if !before.is_empty() {
        let brought = BroughtWork::read(tx, env, &own.project_id, None)?;
        for id in brought.dropped().filter(|id| before.contains(id)) {
            if let Some(session) = dropped(tx, env, &own.project_id, id)? {
                left.extend(saved_by(tx, &session)?);
            }
        }
    }
    Ok(from_session_remark(&left))
}

/// Names these sessions, each with the command that brings its work alone.
fn from_session_remark(left: &[Session]) -> Option<Remark> {
    let named = |session: &Session| {
        let (name, id) = (visible(&session.identity), short(&session.session_id));
        format!("{name} left work without a baton: `baton pickup --from-session {id}` brings it")
    };
    let mut named: Vec<String> = left.iter().take(MAX_NAMED_SESSIONS).map(named).collect();
    if left.len() > MAX_NAMED_SESSIONS {
        named.push(format!("and {} more", left.len() - MAX_NAMED_SESSIONS));
    }
    let message = format!("{} (over MCP: `hd_exec` with `from_session`)", named.join("; "));
    (!left.is_empty()).then_some(Remark { kind: RemarkKind::RecoverableWork, message })
}

/// Whether a session ended without its agent's will and holds no baton: it is open and silent, or its name came back from another
/// process and has not wrapped since.
fn is_abandoned(env: &Env<'_>, session: &Session, newer: &[Session]) -> bool {
    let key = identity_key(&session.identity);
    let is_own = |name: &str| identity_key(name) == key;
    let is_replaced = |end: &Release| {
        matches!(end.reason, ReleaseReason::Reconnect | ReleaseReason::Stale)
            && is_own(&end.by)
            && !newer.iter().any(|other| other.has_wrapped() && is_own(&other.identity))
    };
    session.baton_id.is_none()
        && match &session.release {
            None => !is_at_work(env, session),
            Some(end) => is_replaced(end),
        }
}

/// What a pickup says that brings no baton.
pub(super) fn no_baton_text(picked: &PickupResult, recovered: Option<&Recovered>) -> String {
    match (&picked.recovered_session_id, recovered, picked.waiting_for_others) {
        (Some(id), Some(_), _) => {
            format!("session {} left no baton, and `recovered` holds what it saved and said", short(id))
        }
        (Some(id), None, _) => format!("session {} left no baton, and saved nothing that waits", short(id)),
        (None, Some(_), 0) => {
            "no baton waits, and `recovered` holds what was saved and said without one".to_owned()
        }
        (None, None, 0) => {
            "no baton waits in this project: nobody has wrapped, or what was wrapped is done, continued or exported"
                .to_owned()
        }
        (None, _, n) => format!(
            "no open baton is meant for {}; {n} {} for others and can be taken by id",
            caller_name(&picked.identity),
            if n == 1 { "waits" } else { "wait" }
        ),
    }
}
