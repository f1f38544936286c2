//! Whether tasks are ready or blocked, updated with every change, so that a query for ready tasks reads a column.
//!
//! A task is blocked by a gate of its own that holds, or by one that an ancestor passes on. An ancestor passes on what
//! it waits for outside of its own subtree: its dependencies on its own parts do not block those parts, which would be
//! a deadlock.

use std::collections::{BTreeMap, VecDeque};

use baton_model::task::gate::{Gate, GateFacts};
use baton_model::task::{Readiness, Task};
use baton_store::{Failure, Tx, task};
use task::dependency::{self, Dependency};

/// How deep parts may lie in parts; an import that says more (or goes round in a circle) is followed no further.
pub(super) const DEEP: usize = 64;

/// Works out anew what a change of a task moves: itself, what it holds back, and its parts.
pub(crate) fn update_readiness(tx: &mut Tx<'_>, before: Option<&Task>, after: &Task) -> Result<(), Failure> {
    let project = &after.project_id;
    let mut queue = vec![after.task_id.clone()];
    let effect = |task: &Task| (task.is_settled(), task.is_open(), task.result.clone());
    if before.map(effect) != Some(effect(after)) {
        queue.extend(dependency::blocked_by_task(tx, project, &after.task_id)?);
        if let Some(parent) = &after.parent_id {
            queue.extend(dependency::children_awaited(tx, project, parent)?);
        }
    }
    let old_parent = before.and_then(|task| task.parent_id.clone());
    if old_parent != after.parent_id || before.is_none() {
        for parent in old_parent.iter().chain(&after.parent_id) {
            queue.extend(dependency::children_awaited(tx, project, parent)?);
            queue.extend(line_of(tx, project, parent)?);
        }
    }
    if before.is_none() {
        queue.extend(task::children(tx, project, &after.task_id)?.into_iter().map(|child| child.task_id));
    }
    refresh(tx, project, queue)
}

/// A task and its ancestors, nearest first.
pub(super) fn line_of(tx: &mut Tx<'_>, project: &str, id: &str) -> Result<Vec<String>, Failure> {
    let mut line = vec![id.to_owned()];
    let mut at = task::get(tx, project, id)?;
    while let Some(parent) = at.and_then(|task| task.parent_id)
        && line.len() < DEEP
        && !line.contains(&parent)
    {
        at = task::get(tx, project, &parent)?;
        line.push(parent);
    }
    Ok(line)
}

/// Works these tasks out anew, and the parts of those that changed for their parts.
pub(crate) fn refresh(tx: &mut Tx<'_>, project: &str, ids: Vec<String>) -> Result<(), Failure> {
    let mut queue: VecDeque<String> = VecDeque::new();
    for id in ids {
        if queue.len() > DEEP || !queue.contains(&id) {
            queue.push_back(id);
        }
    }
    let mut rounds: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(id) = queue.pop_front() {
        let Some(found) = task::get(tx, project, &id)? else { continue };
        let readiness = work_out(tx, &found)?;
        if readiness == found.readiness {
            continue;
        }
        task::put_readiness(tx, &found, readiness)?;
        let passed_on = |s: Readiness| (s.passes, s.wait_until);
        let round = rounds.entry(id.clone()).or_default();
        *round += 1;
        if passed_on(readiness) != passed_on(found.readiness) && *round <= DEEP {
            queue.extend(task::children(tx, project, &id)?.into_iter().map(|child| child.task_id));
        }
    }
    Ok(())
}

fn work_out(tx: &mut Tx<'_>, found: &Task) -> Result<Readiness, Failure> {
    let project = &found.project_id;
    let parent = match &found.parent_id {
        Some(id) if *id != found.task_id => {
            task::get(tx, project, id)?.map(|parent| parent.readiness).unwrap_or_default()
        }
        _ => Readiness::default(),
    };
    let holding = holding(tx, found)?;
    // What is put off until a time passes that time on.
    let is_deferred = found.status == "deferred" && found.defer_until.is_none();
    let shelved = found.status == "blocked" || is_deferred;
    let mut passes = parent.passes || shelved;
    for held in holding.iter().filter(|_| found.is_open()) {
        passes = passes || !is_within(tx, project, &held.depends_on_id, &found.task_id)?;
    }
    let blocked = parent.passes || !holding.is_empty();
    Ok(Readiness {
        blocked,
        passes,
        ready: found.status == "open" && !blocked && found.is_work(),
        wait_until: found.defer_until.unwrap_or(0).max(parent.wait_until).max(0),
    })
}

/// The dependencies of a task that hold it back now.
pub(crate) fn holding(tx: &mut Tx<'_>, found: &Task) -> Result<Vec<Dependency>, Failure> {
    let mut holding = Vec::new();
    for edge in dependency::dependencies_of(tx, &found.project_id, &found.task_id)? {
        if let Some(gate) = edge.gate
            && holds(tx, found, gate, &edge.depends_on_id)?
        {
            holding.push(edge);
        }
    }
    Ok(holding)
}

fn holds(tx: &mut Tx<'_>, found: &Task, gate: Gate, on: &str) -> Result<bool, Failure> {
    let project = &found.project_id;
    let Some(other) = task::get(tx, project, on)? else { return Ok(gate.holds(None, found.woken)) };
    let mut seen =
        GateFacts { settled: other.is_settled(), result: other.result.as_deref(), ..GateFacts::default() };
    if gate.is_of_children() {
        for child in task::children(tx, project, on)?.iter().filter(|child| child.task_id != found.task_id) {
            if child.is_open() {
                seen.open_children += 1;
            } else {
                seen.closed_children += 1;
            }
        }
    }
    Ok(gate.holds(Some(seen), found.woken))
}

/// Whether a task is the other one, or a part of it at any depth.
pub(super) fn is_within(tx: &mut Tx<'_>, project: &str, id: &str, whole: &str) -> Result<bool, Failure> {
    Ok(line_of(tx, project, id)?.iter().any(|ancestor| ancestor == whole))
}
