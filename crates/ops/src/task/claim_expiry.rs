//! Claims that expire: with their session, or without heartbeats.

use baton_model::delta::Kind;
use baton_model::route;
use baton_model::session::{ReleaseReason, Session};
use baton_model::task::Task;
use baton_model::task::claim::ClaimLiveness;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, message, session, task};
use serde_json::json;

use super::write::update_without_delta;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::token_rights;

/// Liveness of the session that holds the claim. A claim made by the router and not yet started is live while its agent has any
/// open session.
pub(super) fn liveness(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    task: &Task,
) -> Result<Option<ClaimLiveness>, Failure> {
    let Some(claim) = &task.claim else { return Ok(None) };
    let gone = ClaimLiveness { open: false, heard_at: 0 };
    let heard = |s: &Session| match (s.is_open(), has_process_ended(env, s)) {
        (true, false) => ClaimLiveness { open: true, heard_at: s.heartbeat_at },
        // What was promised until a time holds until then; heartbeats that cannot come any more make it no longer.
        (true, true) => ClaimLiveness { open: true, heard_at: Millis::MIN },
        (false, _) => gone,
    };
    match &claim.session_id {
        Some(id) => Ok(Some(session::get(tx, &task.project_id, id)?.as_ref().map_or(gone, heard))),
        None if route::awaits_start(task) => {
            let open = session::open_of(tx, &task.project_id, &claim.by)?;
            Ok(open
                .iter()
                .map(heard)
                .filter(|session_liveness| session_liveness.open)
                .max_by_key(|session_liveness| session_liveness.heard_at))
        }
        None => Ok(None),
    }
}

/// Whether the claim of a task still holds.
pub(crate) fn is_claim_live(tx: &mut Tx<'_>, env: &Env<'_>, task: &Task) -> Result<bool, Failure> {
    let liveness = liveness(tx, env, task)?;
    Ok(task.claim.as_ref().is_some_and(|claim| claim.expires_at(liveness) > env.now))
}

/// The tasks whose lease has run out. A claim ends before its date only with its session, so that of all other claims nothing
/// has to be read.
pub(super) fn expired_claims(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Vec<Task>, Failure> {
    let mut found = Vec::new();
    let (holders, over) = task::expiring_claims(tx, project_id, env.now)?;
    for id in &over {
        let Some(task) = task::get(tx, project_id, id)? else { continue };
        let session_liveness = liveness(tx, env, &task)?;
        if task.claim.as_ref().is_some_and(|claim| claim.expires_at(session_liveness) <= env.now) {
            found.push(task);
        }
    }
    for holder in &holders {
        let session = session::get(tx, project_id, holder)?;
        if session.is_some_and(|session| session.is_open()) {
            continue;
        }
        let held = task::claimed_in(tx, project_id, holder)?;
        found.extend(
            held.into_iter()
                .filter(|task| task.claim.as_ref().is_some_and(|claim| claim.base_expiry > env.now)),
        );
    }
    found.sort_by(|a, b| a.task_id.cmp(&b.task_id));
    Ok(found)
}

/// The task after its claim has ended: open again, with its holder recorded as `previous_agent`, and with its message
/// queued to be sent again. A `why` counts as a failed attempt.
pub(super) fn released(task: &Task, why: Option<&str>, now: i64) -> Task {
    let mut free = Task { claim: None, updated_at: now, ..task.clone() };
    let assignee = task.assignee.clone().filter(|_| task.status == "in_progress");
    let holder = task.claim.as_ref().map(|claim| claim.by.clone()).or(assignee);
    free.previous_agent = holder.or(free.previous_agent);
    if let Some(why) = why {
        let by = free.previous_agent.clone().unwrap_or_default();
        route::failed(&mut free, &by, why, now);
    }
    if let Some((kind, _)) = route::last_sent(task) {
        free.pending_type = free.pending_type.or_else(|| Some(kind.to_owned()));
        route::forget_sent(&mut free);
    }
    if free.status == "in_progress" {
        "open".clone_into(&mut free.status);
        free.assignee = None;
    }
    free
}

/// Why a task whose lease ran out is free again: the process that renewed it ended, or its time was over.
fn expiry_reason(tx: &mut Tx<'_>, env: &Env<'_>, task: &Task) -> Result<String, Failure> {
    let by = task.claim.as_ref().map_or("", |claim| claim.by.as_str());
    let session = match task.claim.as_ref().and_then(|claim| claim.session_id.as_ref()) {
        Some(id) => session::get(tx, &task.project_id, id)?,
        None => None,
    };
    Ok(match session.is_some_and(|session| session.is_open() && has_process_ended(env, &session)) {
        true => format!("the process of {by} ended"),
        false => format!("the lease of {by} ran out"),
    })
}

/// Whether the process of a session is known to have ended. What the client of a token says of the processes of others counts for nothing.
fn has_process_ended(env: &Env<'_>, session: &Session) -> bool {
    token_rights::may_act_in(env, session) && env.host.has_process_ended(&session.location)
}

/// Whether a lease that ran out ends the work of a session: work that was begun, by a process that is not heard of any more.
fn is_death(task: &Task) -> bool {
    let has_session = task.claim.as_ref().is_some_and(|claim| claim.session_id.is_some());
    has_session && !route::awaits_start(task)
}

/// The task after its lease has run out.
fn after_expiry(task: &Task, why: &str, now: Millis) -> Task {
    let mut after = released(task, Some(why), now);
    if is_death(task) {
        route::mark_death(&mut after);
    }
    after
}

/// A task as the next write leaves it: one whose lease has run out is free again, and one whose deferral has ended is open. Every
/// read shows it so, whether or not the ledger says it already.
pub(crate) fn with_expiry_applied(tx: &mut Tx<'_>, env: &Env<'_>, task: Task) -> Result<Task, Failure> {
    let task = task.after_deferral(env.now).unwrap_or(task);
    if task.claim.is_none() || is_claim_live(tx, env, &task)? {
        return Ok(task);
    }
    let why = expiry_reason(tx, env, &task)?;
    let mut after = Task { updated_at: task.updated_at, ..after_expiry(&task, &why, env.now) };
    after.readiness.ready = after.status == "open" && !after.readiness.blocked && after.is_work();
    Ok(after)
}

/// The tasks whose lease has run out, or whose deferral has ended, each as the ledger has it and as it stands.
pub(super) fn expired_pairs(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
) -> Result<Vec<(Task, Task)>, Failure> {
    let mut found = Vec::new();
    for task in expired_claims(tx, env, project_id)? {
        found.push((task.clone(), with_expiry_applied(tx, env, task)?));
    }
    for task in task::due_deferrals(tx, project_id, env.now)? {
        if found.iter().all(|(known, _)| known.task_id != task.task_id) {
            found.push((task.clone(), with_expiry_applied(tx, env, task)?));
        }
    }
    Ok(found)
}

/// Frees a task. A message about it that its agent has not read yet is taken back: the next agent gets one of its own.
pub(super) fn release(tx: &mut Tx<'_>, task: &Task, why: Option<&str>, now: i64) -> Result<Task, Failure> {
    write_released(tx, task, released(task, why, now))
}

fn write_released(tx: &mut Tx<'_>, task: &Task, after: Task) -> Result<Task, Failure> {
    if let Some((_, message_id)) = route::last_sent(task) {
        message::retract(tx, &task.project_id, message_id, after.updated_at)?;
    }
    update_without_delta(tx, task, &after)?;
    Ok(after)
}

/// Gives back every task whose lease has run out; each counts as an attempt. Returns them.
pub(super) fn release_expired_claims(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
) -> Result<Vec<Task>, Failure> {
    let mut given = Vec::new();
    for task in expired_claims(tx, env, author.project_id)? {
        let why = expiry_reason(tx, env, &task)?;
        given.push(write_released(tx, &task, after_expiry(&task, &why, env.now))?);
        let body = json!({
            "summary": format!("task {} is free again: {why}", task.task_id), "task_id": task.task_id,
        });
        append_json(tx, env, author, Kind::Other, &body)?;
    }
    Ok(given)
}

/// The tasks of a session that ends are free again. A session that goes on under another id keeps them.
pub(crate) fn release_claims(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    ended: &Session,
    reason: ReleaseReason,
    successor: Option<&str>,
) -> Result<(), Failure> {
    for task in task::claimed_in(tx, &ended.project_id, &ended.session_id)? {
        if let (ReleaseReason::Reconnect, Some(heir), Some(claim)) = (reason, successor, &task.claim) {
            let mut updated = task.clone();
            updated.claim =
                Some(baton_model::task::claim::Claim { session_id: Some(heir.to_owned()), ..claim.clone() });
            update_without_delta(tx, &task, &updated)?;
            continue;
        }
        release(tx, &task, None, env.now)?;
        let body = json!({
            "summary": format!("task {} is free again: the session of {} ended", task.task_id, ended.identity),
            "task_id": task.task_id,
        });
        append_json(tx, env, &Author::session(ended), Kind::Other, &body)?;
    }
    Ok(())
}
