//! Tasks that need a look because they fail again and again, or are urgent and cannot go on.

use std::collections::BTreeSet;

use baton_model::attention::{AttentionItem, Blocker, RETRIES, Reason, SuggestedCommand};
use baton_model::route;
use baton_model::row_action::TaskState;
use baton_model::task::Task;
use baton_model::time::{Millis, Timestamp, parse_rfc3339};
use baton_store::task::dependency::{self, Dependency};
use baton_store::{Failure, Tx, attention as rows, task};
use serde_json::Value;

use crate::project::VisibleProjects;

/// Tasks that were tried again and again, and tasks of the highest priority that cannot go on.
#[derive(Default)]
pub(super) struct TaskItems {
    pub(super) retried: Vec<AttentionItem>,
    pub(super) blocked: Vec<AttentionItem>,
}

/// The tasks of the visible projects that need a look. A task that was opened again begins its attempts anew. One that was tried again
/// and again and is blocked is one item: where retries are asked for, it is listed once. One that was given to an agent by name since waits
/// for that agent.
pub(super) fn task_items(
    tx: &mut Tx<'_>,
    visible: &VisibleProjects,
    shows_retried: bool,
) -> Result<TaskItems, Failure> {
    let mut found = TaskItems::default();
    let mut known_items = BTreeSet::new();
    let projects = rows::retry_projects(tx)?;
    for project_id in projects.into_iter().filter(|project_id| visible.contains(project_id)) {
        for task_id in rows::retried(tx, &project_id)? {
            let known = task::get(tx, &project_id, &task_id)?;
            let needs_look = |task: &Task| route::recent_attempts(task) >= RETRIES && !is_given(task);
            let Some(task) = known.filter(needs_look) else { continue };
            let since = match task.status.as_str() {
                "blocked" => given_up_at(&task),
                _ => route::last_failure(&task).unwrap_or(task.updated_at),
            };
            let detail = Some(format!("tried {} times", route::recent_attempts(&task)));
            let from = task.previous_agent.clone().filter(|from| !from.is_empty());
            found.retried.push(AttentionItem { from, detail, ..item(&task, Reason::TaskRetried, since) });
            if shows_retried {
                known_items.insert((task.project_id, task.task_id));
            }
        }
    }
    let blocked = rows::blocked(tx)?;
    for (project_id, task_id) in blocked.into_iter().filter(|(project_id, _)| visible.contains(project_id)) {
        let place = (project_id, task_id);
        if !known_items.contains(&place) {
            found.blocked.extend(blocked_item(tx, &place)?);
        }
    }
    Ok(found)
}

/// Whether it was given to an agent by name since it last failed: then it is that agent's, until it fails again. An agent that
/// claims a task is its assignee only from then on.
fn is_given(task: &Task) -> bool {
    let (given, status) = (task.clocks.of("assignee"), task.clocks.of("status"));
    let is_after = route::last_failure(task).is_some_and(|failed| given.is_seen && given.at >= failed);
    let is_waiting = match task.status.as_str() {
        "open" => true,
        "in_progress" => given.at < status.at,
        _ => false,
    };
    is_after && is_waiting && task.assignee.as_deref().is_some_and(|name| !name.is_empty())
}

fn blocked_item(
    tx: &mut Tx<'_>,
    (project_id, task_id): &(String, String),
) -> Result<Option<AttentionItem>, Failure> {
    let Some(task) = task::get(tx, project_id, task_id)? else { return Ok(None) };
    let waits = awaited(tx, &task)?;
    let since = match (task.status.as_str(), waits.first()) {
        ("blocked", _) | (_, None) => given_up_at(&task),
        (_, Some((at, _))) => *at,
    };
    let from = Some(task.created_by.clone()).filter(|from| !from.is_empty());
    let detail = waits.first().map(|(_, other)| waits_for(other, waits.len() - 1));
    let blocker = waits.first().map(|(_, other)| blocker(other));
    Ok(Some(AttentionItem { from, detail, blocker, ..item(&task, Reason::TaskBlocked, since) }))
}

/// The open tasks for which a task waits, each with the instant since when, the earliest first.
fn awaited(tx: &mut Tx<'_>, task: &Task) -> Result<Vec<(Millis, Task)>, Failure> {
    let mut found = Vec::new();
    for edge in dependency::dependencies_of(tx, &task.project_id, &task.task_id)? {
        if edge.kind == "parent-child" || edge.gate.is_none() {
            continue;
        }
        let other = task::get(tx, &task.project_id, &edge.depends_on_id)?;
        found.extend(other.filter(Task::is_open).map(|other| (waits_since(task, &edge), other)));
    }
    found.sort_by(|(at, one), (other_at, other)| (at, &one.task_id).cmp(&(other_at, &other.task_id)));
    Ok(found)
}

/// Since when a dependency is there, which is not before its task.
fn waits_since(task: &Task, edge: &Dependency) -> Millis {
    let made = edge.body.get("created_at").and_then(Value::as_str).and_then(parse_rfc3339);
    made.unwrap_or(task.created_at).max(task.created_at)
}

/// The task for which another one waits.
fn blocker(other: &Task) -> Blocker {
    let state = TaskState::of(other);
    Blocker {
        id: other.task_id.clone(),
        title: other.title.clone(),
        status: other.status.clone(),
        holder: state.holder.map(str::to_owned),
        assignee: state.assignee.map(str::to_owned),
    }
}

/// For what a task waits, in words. What is said of the other one is said so that it cannot be read of the one that waits.
fn waits_for(other: &Task, others: usize) -> String {
    let TaskState { holder, assignee, .. } = TaskState::of(other);
    let state = match (holder, other.status.as_str()) {
        // The router notes no place of an agent: whether that has begun is not known.
        (Some(name), _) if other.claim.as_ref().is_some_and(|claim| claim.location.is_none()) => {
            format!("which was assigned to {name}")
        }
        (Some(name), _) => format!("at which {name} is at work"),
        (None, "blocked") => "which was given up itself".to_owned(),
        (None, _) if other.readiness.blocked => "which waits itself".to_owned(),
        (None, _) => match assignee {
            Some(name) => format!("which was given to {name}, who has not begun"),
            None => "which is open, and nobody is at work on it".to_owned(),
        },
    };
    let more = if others > 0 { format!("; and for {others} more") } else { String::new() };
    format!("waits for {} “{}”, {state}{more}", other.task_id, other.title)
}

/// When a task was given up, as far as that was seen.
fn given_up_at(task: &Task) -> Millis {
    let stamp = task.clocks.of("status");
    if stamp.is_seen { stamp.at } else { task.created_at }
}

fn item(task: &Task, reason: Reason, since: Millis) -> AttentionItem {
    let (project_id, id, subject) = (&task.project_id, &task.task_id, &task.title);
    let to = task.assignee.as_deref().filter(|to| !to.is_empty());
    let help = SuggestedCommand { reason, project_id, id, subject, to }.command();
    AttentionItem {
        reason,
        project_id: project_id.clone(),
        id: id.clone(),
        subject: subject.clone(),
        from: None,
        to: to.map(str::to_owned),
        since: Timestamp(since),
        detail: None,
        help,
        blocked: false,
        agents: Vec::new(),
        blocker: None,
        made_by: Some(task.created_by.clone()).filter(|name| to.is_none() && !name.is_empty()),
        holds_work: false,
        actions: Vec::new(),
    }
}
