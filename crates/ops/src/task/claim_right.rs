//! With what right a task is claimed: because it is ready and free, or by force.

use baton_model::delta;
use baton_model::id::check_identity;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::Task;
use baton_model::task::claim::Claim;
use baton_model::task::filter::is_assigned_to;
use baton_store::{Failure, Tx};
use serde_json::json;

use super::readiness;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::session::send_signal;

/// Writes down that a live claim is taken over, and tells its holder why.
pub(super) fn preempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    found: &Task,
    claim: &Claim,
    why: &str,
) -> Result<(), Failure> {
    announce_loss(tx, env, author, (found, claim), ("over", why))
}

/// Records that a task is taken from its claimant, and sends the reason to that agent. The word says where it goes: over, or back.
pub(super) fn announce_loss(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (found, claim): (&Task, &Claim),
    (where_to, why): (&str, &str),
) -> Result<(), Failure> {
    let (id, by, holder) = (&found.task_id, author.identity, claim.holder().describe());
    let body = json!({
        "text": format!("{by} took task {id} {where_to} from {holder}"), "task_id": id,
        "forced": true, "why": why, "released_by": by, "released_from": claim.by,
    });
    append_json(tx, env, author, delta::Kind::Note, &body)?;
    if check_identity(&claim.by).is_err() {
        return Ok(());
    }
    let subject = format!("{by} took task {id} {where_to}, which you had claimed");
    send_signal(tx, env, (author.project_id, by, &claim.by), (&subject, why))
}

/// Refuses a task that is closed: a claim would drop its reason, and set nothing off again.
pub(super) fn refuse_closed(found: &Task) -> Result<(), Refusal> {
    let id = &found.task_id;
    if found.is_open() {
        return Ok(());
    }
    let what = format!("task {id} is {}", found.status);
    let hint = format!("`baton task reopen {id}` opens it again");
    Err(Refusal::new(Kind::Conflict, "task_closed", what, hint).with("task_id", id.clone()))
}

/// Refuses a task that waits for another, or is in progress with another agent.
pub(super) fn refuse_unready(tx: &mut Tx<'_>, found: &Task, author: &Author<'_>) -> Result<(), Failure> {
    let refusal = |code: &'static str, what: String, hint: String| {
        Err(Refusal::new(Kind::Conflict, code, what, hint).with("task_id", found.task_id.clone()).into())
    };
    let id = &found.task_id;
    if found.readiness.blocked {
        let by: Vec<String> =
            readiness::holding(tx, found)?.into_iter().map(|edge| edge.depends_on_id).collect();
        let by =
            if by.is_empty() { "what the task it belongs to waits for".to_owned() } else { by.join(", ") };
        return refusal(
            "task_blocked",
            format!("task {id} waits for {by}"),
            "take a ready one: `baton task ready --claim`".into(),
        );
    }
    let other = found.assignee.as_deref().filter(|_| !is_assigned_to(found, author.identity));
    if let (Some(name), "in_progress") = (other, found.status.as_str()) {
        let hint = format!("`baton task claim {id} --force --why REASON` takes it over");
        return refusal("task_claimed", format!("task {id} is in progress with {name}"), hint);
    }
    Ok(())
}
