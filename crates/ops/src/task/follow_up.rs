//! What a closed task of an increment sets off at the others, and what they hear when its words come later.

use baton_model::handoff_message::{Kind, Urgency};
use baton_model::id::identity_key;
use baton_model::message::Address;
use baton_model::route;
use baton_model::task::closing::{
    FollowerAction, IncrementStage, IncrementTasks, Outcome, Step, apply, follows, instructions_for, refresh,
};
use baton_model::task::gate::Gate;
use baton_model::task::{Task, sealed};
use baton_store::{Failure, Tx, task};
use serde_json::{Map, Value};
use task::dependency;

use super::assign::message;
use super::claim_elsewhere::holder_elsewhere;
use super::claim_expiry::is_claim_live;
use super::close::FollowUp;
use super::write::{Consequence, update_dependent};
use crate::handoff::acceptor::is_handed_to_another;
use crate::ledger::Author;
use crate::message::post::{Outgoing, post};
use crate::op::Env;
use crate::session::send_signal;

/// Whether something else happens after a failure of the task than after its success.
pub(super) fn depends_on_result(tx: &mut Tx<'_>, known: &Task) -> Result<bool, Failure> {
    let edges = dependency::dependents_of(tx, &known.project_id, &known.task_id)?;
    for edge in edges {
        if matches!(edge.gate, Some(Gate::Passed | Gate::Failed))
            && task::get(tx, &known.project_id, &edge.task_id)?.is_some_and(|task| task.is_open())
        {
            return Ok(true);
        }
    }
    let Some(stage) = IncrementStage::of(known.agent_role.as_deref()) else { return Ok(false) };
    for step in follows(stage, Outcome::Fail) {
        if !follows(stage, Outcome::Pass).contains(step)
            && !companion_tasks(tx, known, stage, step)?.is_empty()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does what the table of closing says to the tasks beside the closed one.
pub(super) fn set_off(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    closed: &Task,
    outcome: Outcome,
) -> Result<Vec<FollowUp>, Failure> {
    let Some(stage) = IncrementStage::of(closed.agent_role.as_deref()) else { return Ok(Vec::new()) };
    let tasks = increment_of(tx, closed)?;
    let mut set_off = Vec::new();
    for step in follows(stage, outcome) {
        for target in companion_tasks(tx, closed, stage, step)? {
            if step.act == FollowerAction::Unneeded && is_held_by_another(tx, env, author, (closed, &target))?
            {
                continue;
            }
            let mut after = target.clone();
            apply(step, &mut after, closed, &tasks, (author.identity, env.now));
            after.check(Some(&target))?;
            if after == target {
                continue;
            }
            after.updated_at = env.now;
            let what = format!("is {} after {} was closed", after.status, closed.task_id);
            update_dependent(tx, env, author, &Consequence { before: &target, after: &after, what: &what })?;
            set_off.push(FollowUp {
                id: after.task_id,
                agent_role: after.agent_role,
                act: step.act,
                message: step.message.map(str::to_owned),
                status: after.status,
                attempts: after.attempts,
            });
        }
    }
    Ok(set_off)
}

/// Whether another agent is at work on a task that is not needed any more: it is theirs to end, and they are told.
fn is_held_by_another(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (closed, target): (&Task, &Task),
) -> Result<bool, Failure> {
    let holder = match &target.claim {
        _ if !target.is_open() => None,
        Some(claim) if is_claim_live(tx, env, target)? => Some(claim.by.clone()),
        _ if is_handed_to_another(tx, env, target, author.identity)? => target.assignee.clone(),
        _ if holder_elsewhere(target).is_some() => target.assignee.clone(),
        _ => return Ok(false),
    };
    let Some(holder) = holder.filter(|holder| identity_key(holder) != identity_key(author.identity)) else {
        return Ok(target.is_open() && is_handed_to_another(tx, env, target, author.identity)?);
    };
    let subject = format!("{} passed: {} is not needed any more", closed.task_id, target.task_id);
    let body = format!(
        "You hold {0}, so it stays yours. Close it if nothing of it is left to do: `baton task close {0} --reason WHY`.",
        target.task_id
    );
    send_signal(tx, env, (author.project_id, author.identity, &holder), (&subject, &body))?;
    Ok(true)
}

/// Brings what a closed task says after its closing to the follower that it has set off. One that has not begun gets it as its
/// context, and its message anew if that went out already; one that has begun is told.
pub(super) fn notify_followers(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (before, after): (&Task, &Task),
) -> Result<(), Failure> {
    let is_same = before.agent_context == after.agent_context
        && before.handoff_instructions == after.handoff_instructions;
    if is_same || after.is_open() || sealed::is_sensitive(after) {
        return Ok(());
    }
    let Some(stage) = IncrementStage::of(after.agent_role.as_deref()) else { return Ok(()) };
    let outcome = if after.result.as_deref() == Some("fail") { Outcome::Fail } else { Outcome::Pass };
    let mut tasks = increment_of(tx, after)?;
    for step in follows(stage, outcome).iter().filter(|step| step.act != FollowerAction::Unneeded) {
        for target in companion_tasks(tx, after, stage, step)? {
            let sent = route::last_sent(&target).map(|(kind, _)| kind.to_owned());
            let is_handed = step.message == target.pending_type.as_deref() || step.message == sent.as_deref();
            if !target.is_open() || !is_handed || sealed::is_sensitive(&target) {
                continue;
            }
            tasks.put(before.clone());
            let handed = tasks.context(step, before);
            tasks.put(after.clone());
            let mut wanted = target.clone();
            refresh(&mut wanted.agent_context, &handed, &tasks.context(step, after));
            let [was, is] = [before, after].map(|closed| instructions_for(step.stage, closed));
            refresh(&mut wanted.handoff_instructions, &was, &is);
            if wanted != target {
                wanted.check(Some(&target))?;
                wanted.updated_at = env.now;
                notify_follower(tx, env, author, after, (&target, &wanted))?;
            }
        }
    }
    Ok(())
}

/// Writes the new context of one follower, and tells the agent that has been given it or has begun it.
fn notify_follower(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    source: &Task,
    (before, after): (&Task, &Task),
) -> Result<(), Failure> {
    let what = format!("hears what was added to {}", source.task_id);
    let mut after = after.clone();
    let kind = route::message_kind(&after);
    let agent = after.assignee.clone().filter(|_| after.status == "in_progress");
    match agent {
        // Its message is out and not taken up: it goes out anew, and the task names the new one.
        Some(to) if route::awaits_start(&after) => {
            let sent = route::last_sent(&after).and_then(|(kind, _)| Kind::from_word(kind)).unwrap_or(kind);
            let body = message(tx, env, author, &after, (sent, &to))?;
            // One that was read meanwhile stays.
            if let Some((_, unread)) = route::last_sent(&after) {
                baton_store::message::retract(tx, author.project_id, unread, env.now)?;
            }
            let id = send(tx, env, author, &after, (sent, &to), &body)?;
            route::record_sent(&mut after, sent, &id);
        }
        Some(to) if identity_key(&to) != identity_key(author.identity) => {
            let subject = format!("{} was added to after you began {}", source.task_id, after.task_id);
            let news = news(&before.agent_context, &after.agent_context);
            let body = format!("Its agent context now says:\n{:#}\n", Value::Object(news));
            send_signal(tx, env, (author.project_id, author.identity, &to), (&subject, &body))?;
        }
        _ => {}
    }
    update_dependent(tx, env, author, &Consequence { before, after: &after, what: &what })
}

fn send(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    task: &Task,
    (kind, to): (Kind, &str),
    body: &Value,
) -> Result<String, Failure> {
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
            subject: body["subject"].as_str().unwrap_or_default(),
            body: &body.to_string(),
            importance: Urgency::of_priority(task.priority),
            expires_at: None,
            ack_by: None,
            reply: None,
            readers: None,
        },
    )?;
    Ok(sent.message_id)
}

/// The fields that are new or changed.
fn news(before: &Map<String, Value>, after: &Map<String, Value>) -> Map<String, Value> {
    let fields = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    fields.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// All tasks of the increment that a task is part of, found by their dependencies and roles.
pub(super) fn increment_of(tx: &mut Tx<'_>, of: &Task) -> Result<IncrementTasks, Failure> {
    let project = &of.project_id;
    let mut tasks = IncrementTasks::default();
    let test = match IncrementStage::of(of.agent_role.as_deref()) {
        Some(IncrementStage::Implementation) => waiting_tasks(tx, project, &of.task_id, "blocks")?,
        Some(IncrementStage::Fixing) => targets(tx, of, "conditional-blocks")?,
        Some(IncrementStage::Verification) => targets(tx, of, "blocks")?,
        Some(IncrementStage::Testing) | None => vec![of.task_id.clone()],
    };
    let Some(test) = of_stage(tx, project, test, IncrementStage::Testing)?.into_iter().next() else {
        tasks.put(of.clone());
        return Ok(tasks);
    };
    let mut beside = targets(tx, &test, "blocks")?;
    beside.extend(waiting_tasks(tx, project, &test.task_id, "conditional-blocks")?);
    beside.extend(waiting_tasks(tx, project, &test.task_id, "blocks")?);
    for id in beside {
        if let Some(task) = task::get(tx, project, &id)? {
            tasks.put(task);
        }
    }
    tasks.put(test);
    tasks.put(of.clone());
    Ok(tasks)
}

/// The tasks of the same increment that a step happens to, found by their dependencies and roles.
fn companion_tasks(
    tx: &mut Tx<'_>,
    closed: &Task,
    stage: IncrementStage,
    step: &Step,
) -> Result<Vec<Task>, Failure> {
    let project = &closed.project_id;
    let ids = match (stage, step.stage) {
        // Backwards along what it waits for: from the fix to the test.
        (IncrementStage::Fixing, _) => targets(tx, closed, "conditional-blocks")?,
        // From the verification to the test, and from there to the fix that waits for it to fail.
        (IncrementStage::Verification, _) => {
            let mut found = Vec::new();
            for test in targets(tx, closed, "blocks")? {
                found.extend(waiting_tasks(tx, project, &test, "conditional-blocks")?);
            }
            found
        }
        (_, IncrementStage::Fixing) => waiting_tasks(tx, project, &closed.task_id, "conditional-blocks")?,
        _ => waiting_tasks(tx, project, &closed.task_id, "blocks")?,
    };
    of_stage(tx, project, ids, step.stage)
}

fn of_stage(
    tx: &mut Tx<'_>,
    project: &str,
    ids: Vec<String>,
    stage: IncrementStage,
) -> Result<Vec<Task>, Failure> {
    let mut found = Vec::new();
    for id in ids {
        if let Some(task) = task::get(tx, project, &id)?
            && IncrementStage::of(task.agent_role.as_deref()) == Some(stage)
        {
            found.push(task);
        }
    }
    Ok(found)
}

fn targets(tx: &mut Tx<'_>, of: &Task, kind: &str) -> Result<Vec<String>, Failure> {
    let edges = dependency::dependencies_of(tx, &of.project_id, &of.task_id)?;
    Ok(edges.into_iter().filter(|edge| edge.kind == kind).map(|edge| edge.depends_on_id).collect())
}

fn waiting_tasks(tx: &mut Tx<'_>, project: &str, on: &str, kind: &str) -> Result<Vec<String>, Failure> {
    let edges = dependency::dependents_of(tx, project, on)?;
    Ok(edges.into_iter().filter(|edge| edge.kind == kind).map(|edge| edge.task_id).collect())
}
