//! The steps of the router, each in the transaction of its caller. A task that changed since it was planned is left alone.

use baton_model::handoff_message::Urgency;
use baton_model::id::identity_key;
use baton_model::message::Address;
use baton_model::route::{self, Policy};
use baton_model::task::Task;
use baton_store::{Failure, Tx, task};
use serde_json::Value;

use super::assign::assign;
use super::route_plan::claims;
use super::route_row::StepEffect;
use super::write::{change, update_without_delta};
use crate::handoff::claimant::is_overdue;
use crate::ledger::Author;
use crate::message::post::{Outgoing, post};
use crate::op::Env;
use crate::resolve;

/// The current row of the task, if it can still be assigned as planned.
fn still_assignable(tx: &mut Tx<'_>, env: &Env<'_>, planned: &Task) -> Result<Option<Task>, Failure> {
    let found = task::get(tx, &planned.project_id, &planned.task_id)?;
    let found = found.filter(|task| {
        task.readiness.ready
            && task.status == "open"
            && task.readiness.wait_until <= env.now
            && task.assignee == planned.assignee
    });
    match found {
        Some(task) if is_overdue(tx, env, &task)? => Ok(None),
        found => Ok(found),
    }
}

/// Gives the task to the agent, unless one of them is taken by now. A context that fits no message makes it wait.
pub(super) fn offer_to_agent(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    planned: &Task,
    (to, max_tasks): (&str, i64),
) -> Result<Option<StepEffect>, Failure> {
    let Some(found) = still_assignable(tx, env, planned)? else { return Ok(None) };
    let has = claims(tx, author.project_id)?.get(&identity_key(to)).copied().unwrap_or_default();
    if has >= max_tasks {
        return Ok(None);
    }
    let kind = route::message_kind(&found);
    if let Err(Failure::Refused(refusal)) = super::assign::message(tx, env, author, &found, (kind, to)) {
        let why = format!("its context makes no message: {}", refusal.message);
        let _ = wait(tx, env, author, &found, (&why, None))?;
        return Ok(None);
    }
    let given = assign(tx, env, author, &found, to)?;
    let (_, message_id) = route::last_sent(&given).unwrap_or_default();
    // The token is the agent's, and no other caller's.
    let is_agent =
        resolve::identity(env.caller, None).is_ok_and(|name| identity_key(&name) == identity_key(to));
    Ok(Some(StepEffect {
        message_id: Some(message_id.to_owned()),
        token: is_agent.then_some(given.claim_token),
        ..StepEffect::default()
    }))
}

/// Records that it waits and why, and notifies a human if the policy is given.
pub(super) fn wait(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    planned: &Task,
    (why, tell): (&str, Option<&Policy>),
) -> Result<Option<StepEffect>, Failure> {
    let Some(found) = still_assignable(tx, env, planned)? else { return Ok(None) };
    let mut after = found.clone();
    route::queue(&mut after, why, tell.is_some(), env.now);
    match tell {
        None => update_without_delta(tx, &found, &after)?,
        Some(policy) => {
            let subject = format!("No agent for task {}: {why}", found.task_id);
            escalate(tx, env, author, &after, (&policy.human, &subject))?;
            let what = format!("waits for an agent, and {} was told: {why}", policy.human);
            change(tx, env, author, &found, after, &what)?;
        }
    }
    Ok(Some(StepEffect::default()))
}

/// Blocks a task after too many attempts, and notifies a human with all attempts attached.
pub(super) fn block(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    planned: &Task,
    policy: &Policy,
) -> Result<Option<StepEffect>, Failure> {
    let Some(found) = still_assignable(tx, env, planned)? else { return Ok(None) };
    let why = route::spent_reason(&found);
    let mut after = found.clone();
    route::give_up(&mut after, &why, policy, env.now);
    after.set_status("blocked", env.now);
    let subject = format!("Task {} is blocked: {why}", found.task_id);
    escalate(tx, env, author, &after, (&policy.human, &subject))?;
    change(tx, env, author, &found, after, &format!("is now blocked: {why}"))?;
    Ok(Some(StepEffect { why: Some(why), ..StepEffect::default() }))
}

/// A message to the human about a task, with what was tried.
fn escalate(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    task: &Task,
    (human, subject): (&str, &str),
) -> Result<(), Failure> {
    let mut body = format!("Task {} ({}).\n{subject}.\n", task.task_id, task.title);
    for attempt in route::attempts(task) {
        let word = |key: &str| attempt[key].as_str().unwrap_or_default();
        body.push_str(&format!("- {} {}: {}\n", word("at"), word("by"), word("why")));
    }
    if let Some(failure) = task.agent_context.get("failure").and_then(Value::as_str) {
        body.push_str(&format!("Last failure: {failure}\n"));
    }
    body.push_str(&format!("When it can go on: `baton task update {} --status open`\n", task.task_id));
    let out = Outgoing {
        from_project: author.project_id,
        to_project: author.project_id,
        to_former_project: None,
        from: author.identity,
        to: &Address::Identity(human.to_owned()),
        kind: "Blocker",
        subject,
        body: &body,
        importance: Urgency::High,
        expires_at: None,
        ack_by: None,
        reply: None,
        readers: None,
    };
    post(tx, env, &out)?;
    Ok(())
}
