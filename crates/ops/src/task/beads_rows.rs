//! The rows of a task as a line of a Beads file has it.

use baton_model::task::Task;
use baton_model::task::entry::entries;
use baton_model::task::record::Record;
use baton_store::{Failure, Tx, task};
use task::{comment, dependency};

use super::claim_elsewhere::stays;
use super::create::raise_counter;
use crate::project::refuse_merged;

/// Writes a task that was not there.
pub(super) fn insert(tx: &mut Tx<'_>, project: &str, record: &Record) -> Result<(), Failure> {
    refuse_merged(tx, project)?;
    let task = Task { project_id: project.to_owned(), ..record.task.clone() };
    task::insert(tx, &task)?;
    hang(tx, &task, record)?;
    task::count::next(tx, project, "")?;
    raise_counter(tx, project, &task.task_id)
}

fn hang(tx: &mut Tx<'_>, task: &Task, record: &Record) -> Result<(), Failure> {
    for (place, body) in (0i64..).zip(&record.dependencies) {
        dependency::insert(tx, task, place, body)?;
    }
    for (place, body) in (0i64..).zip(&record.comments) {
        comment::insert(tx, task, place, body)?;
    }
    Ok(())
}

/// Writes what came of a merge; returns the task if anything did.
pub(super) fn update(
    tx: &mut Tx<'_>,
    known: &Task,
    ours: &Record,
    merged: Record,
) -> Result<Option<Task>, Failure> {
    let task = Task {
        project_id: known.project_id.clone(),
        claim: known.claim.clone().filter(|claim| stays(claim, known, &merged.task)),
        claim_token: known.claim_token,
        readiness: known.readiness,
        ..merged.task.clone()
    };
    if entries(&merged) == entries(ours) && merged.task.labels == ours.task.labels {
        // At most it is known better when its fields changed.
        if task.clocks != known.clocks || task.updated_at != known.updated_at {
            let (clocks, updated_at) = (task.clocks, task.updated_at);
            task::put(tx, &Task { clocks, updated_at, ..known.clone() })?;
        }
        return Ok(None);
    }
    task::put(tx, &task)?;
    if merged.dependencies != ours.dependencies {
        dependency::clear(tx, &task)?;
        for (place, body) in (0i64..).zip(&merged.dependencies) {
            dependency::insert(tx, &task, place, body)?;
        }
    }
    if merged.comments != ours.comments {
        comment::clear(tx, &task)?;
        for (place, body) in (0i64..).zip(&merged.comments) {
            comment::insert(tx, &task, place, body)?;
        }
    }
    Ok(Some(task))
}
