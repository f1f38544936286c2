//! Claims that end by themselves: with their session, or because nobody was heard of.

use baton_model::delta::Kind;
use baton_model::session::{ReleaseReason, Session};
use baton_model::task::Task;
use baton_model::task::claim::Pulse;
use baton_store::{Failure, Tx, session, task};
use serde_json::json;

use super::write::change_quietly;
use crate::ledger::{Author, append_json};
use crate::op::Env;

/// What is known of the session of a task's claim.
pub(super) fn pulse(tx: &mut Tx<'_>, task: &Task) -> Result<Option<Pulse>, Failure> {
    let Some(id) = task.claim.as_ref().and_then(|claim| claim.session_id.as_ref()) else { return Ok(None) };
    let holder = session::get(tx, &task.project_id, id)?;
    let gone = Pulse { open: false, heard_at: 0 };
    Ok(Some(holder.map_or(gone, |s| Pulse { open: s.is_open(), heard_at: s.heartbeat_at })))
}

/// The tasks whose lease has run out.
pub(super) fn run_out(tx: &mut Tx<'_>, project_id: &str, now: i64) -> Result<Vec<Task>, Failure> {
    let mut found = Vec::new();
    for task in task::claimed(tx, project_id)? {
        let pulse = pulse(tx, &task)?;
        if task.claim.as_ref().is_some_and(|claim| claim.ends(pulse) <= now) {
            found.push(task);
        }
    }
    Ok(found)
}

/// The task as it is once its claim is over: open again, with whoever had it on record.
pub(super) fn freed(task: &Task, tried: bool, now: i64) -> Task {
    let mut free = Task { claim: None, updated_at: now, ..task.clone() };
    free.previous_agent = task.claim.as_ref().map(|claim| claim.by.clone()).or(free.previous_agent);
    free.attempts += i64::from(tried);
    if free.status == "in_progress" {
        "open".clone_into(&mut free.status);
        free.assignee = None;
    }
    free
}

/// Gives back every task whose lease has run out; each counts as an attempt.
pub(super) fn give_back(tx: &mut Tx<'_>, env: &mut Env<'_>, author: &Author<'_>) -> Result<(), Failure> {
    for task in run_out(tx, author.project_id, env.now)? {
        change_quietly(tx, &task, &freed(&task, true, env.now))?;
        let by = task.claim.as_ref().map_or("", |claim| claim.by.as_str());
        let body = json!({
            "summary": format!("task {} is free again: the lease of {by} ran out", task.task_id), "task_id": task.task_id,
        });
        append_json(tx, env, author, Kind::Other, &body)?;
    }
    Ok(())
}

/// The tasks of a session that ends are free again. A session that goes on under another id keeps them.
pub(crate) fn let_go(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    ended: &Session,
    reason: ReleaseReason,
    successor: Option<&str>,
) -> Result<(), Failure> {
    for task in task::claimed_in(tx, &ended.project_id, &ended.session_id)? {
        if let (ReleaseReason::Reconnect, Some(heir), Some(claim)) = (reason, successor, &task.claim) {
            let mut kept = task.clone();
            kept.claim =
                Some(baton_model::task::claim::Claim { session_id: Some(heir.to_owned()), ..claim.clone() });
            change_quietly(tx, &task, &kept)?;
            continue;
        }
        change_quietly(tx, &task, &freed(&task, false, env.now))?;
        let body = json!({
            "summary": format!("task {} is free again: the session of {} ended", task.task_id, ended.identity),
            "task_id": task.task_id,
        });
        append_json(tx, env, &Author::session(ended), Kind::Other, &body)?;
    }
    Ok(())
}
