//! Giving a task to an agent: the assignment with its lease, the message and the delta, in the transaction of the caller.

use baton_model::handoff_message::build::{PreviousTask, TaskFacts, build, lacks_headline};
use baton_model::handoff_message::{Envelope, Kind, Urgency};
use baton_model::message::Address;
use baton_model::route;
use baton_model::task::claim::Claim;
use baton_model::task::{Task, bounded, sealed};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, agent, task};
use serde_json::{Map, Value, json};
use task::dependency;

use super::surroundings::of_increment;
use super::write::change;
use crate::ledger::Author;
use crate::message::post::{Outgoing, post};
use crate::op::Env;

/// Assigns the task: `in_progress`, under a lease that lasts until the agent begins or falls silent, with its message.
pub(super) fn assign(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    found: &Task,
    to: &str,
) -> Result<Task, Failure> {
    let kind = route::message_kind(found);
    let body = message(tx, env, author, found, (kind, to))?;
    let subject = body["subject"].as_str().unwrap_or_default().to_owned();
    let sent = post(
        tx,
        env,
        &Outgoing {
            from_project: author.project_id,
            to_project: author.project_id,
            to_former_project: None,
            from: author.identity,
            to: &Address::Identity(to.to_owned()),
            kind: kind.as_str(),
            subject: &subject,
            body: &body.to_string(),
            importance: Urgency::of_priority(found.priority),
            expires_at: None,
            ack_by: None,
            reply: None,
            readers: None,
        },
    )?;
    let lease_span = env.limits.stale_after;
    let mut wanted = found.clone();
    wanted.claim_token = tx.next_number(author.project_id, found.claim_token)?;
    wanted.claim = Some(Claim {
        by: to.to_owned(),
        session_id: None,
        location: None,
        token: wanted.claim_token,
        lease_span,
        base_expiry: env.now.saturating_add(lease_span),
        access_token_id: None,
    });
    wanted.set_status("in_progress", env.now);
    wanted.assignee = Some(to.to_owned());
    wanted.pending_type = None;
    route::record_sent(&mut wanted, kind, &sent.message_id);
    change(tx, env, author, found, wanted, &format!("is given to {to} ({})", kind.as_str()))
}

/// What the message says. It refuses a context that no message of this type can hold.
pub(super) fn message(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    found: &Task,
    (kind, to): (Kind, &str),
) -> Result<Value, Failure> {
    let previous = match &found.previous_agent {
        Some(name) => agent::roles(tx, author.project_id, name)?.into_iter().next(),
        None => None,
    };
    let beside = of_increment(tx, found)?;
    let to_build = beside.what_to_build.unwrap_or_default();
    let criteria = found.text("acceptance_criteria").filter(|text| !text.trim().is_empty());
    let context = message_context(found, &found.agent_context);
    let previous_task = if lacks_headline(kind, &context) { previous_task(tx, found)? } else { None };
    let work = TaskFacts {
        task_id: &found.task_id,
        title: &found.title,
        description: if found.description.is_empty() { &to_build } else { &found.description },
        acceptance_criteria: criteria.or(beside.acceptance_criteria.as_deref()).unwrap_or_default(),
        role: found.agent_role.as_deref(),
        previous_role: previous.as_deref(),
        previous_task,
        agent_context: context,
        handoff_instructions: if sealed::is_sensitive(found) {
            Map::new()
        } else {
            found.handoff_instructions.clone()
        },
        specialist_tags: &found.specialist_tags,
        estimated_duration: found.estimated_minutes,
        previous_agent: found.previous_agent.as_deref(),
        attempts: u32::try_from(found.attempts).unwrap_or(u32::MAX),
        priority: found.priority,
    };
    let at = rfc3339(env.now);
    let envelope = Envelope { from: author.identity, to, at: &at };
    Ok(build(kind, &work, &envelope, bounded::budget_of(found.agent_role.as_deref()))?)
}

/// The task that was closed last of those that this one waited for or that waited for it.
fn previous_task(tx: &mut Tx<'_>, found: &Task) -> Result<Option<PreviousTask>, Failure> {
    let (project, id) = (&found.project_id, &found.task_id);
    let before = dependency::dependencies_of(tx, project, id)?.into_iter().map(|edge| edge.depends_on_id);
    let beside = dependency::dependents_of(tx, project, id)?.into_iter().map(|edge| edge.task_id);
    let mut last: Option<Task> = None;
    for id in before.chain(beside).collect::<Vec<_>>() {
        let closed = task::get(tx, project, &id)?.filter(|task| task.closed_at.is_some());
        if closed
            .as_ref()
            .is_some_and(|task| last.as_ref().is_none_or(|last| task.closed_at > last.closed_at))
        {
            last = closed;
        }
    }
    Ok(last.map(|task| PreviousTask {
        closed_by: task.assignee.clone().filter(|name| !name.is_empty()).or(found.previous_agent.clone()),
        closed_at: task.closed_at.map(rfc3339),
        task_id: task.task_id,
        title: task.title,
    }))
}

/// The part of a context that goes into a message. The router has no key: for a sensitive task it says only that there
/// is something to read.
fn message_context(found: &Task, context: &Map<String, Value>) -> Map<String, Value> {
    if !sealed::is_sensitive(found) {
        return context.clone();
    }
    let word = format!("sensitive: `baton task claim {}` shows it to who can read it", found.task_id);
    let wanted = ["work_completed", "failure_details", "summary"];
    wanted.into_iter().map(|key| (key.to_owned(), json!(word))).collect()
}
