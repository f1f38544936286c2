//! What an agent needs of what is beside its task.

use baton_model::task::Task;
use baton_model::task::bounded::Surroundings;
use baton_model::task::closing::IncrementStage;
use baton_store::task::comment;
use baton_store::{Failure, Tx, task};

use super::follow_up::increment_of;
use super::write::reload;

/// What is to be built, for a task of an increment that says nothing itself, and the comments of the task.
pub(super) fn surroundings(tx: &mut Tx<'_>, task: &Task) -> Result<Surroundings, Failure> {
    let stage = IncrementStage::of(task.agent_role.as_deref());
    let follows = stage.is_some_and(|stage| stage != IncrementStage::Implementation);
    let built =
        if follows && task.description.is_empty() { increment_of(tx, task)?.implementation } else { None };
    Ok(Surroundings {
        what_to_build: built.map(|built| built.description).filter(|text| !text.is_empty()),
        comments: comment::of(tx, &task.project_id, &task.task_id)?,
    })
}

/// A task that was claimed, as it stands now, with what is beside it. Both come in one round trip.
pub(super) fn reload_with_surroundings(
    tx: &mut Tx<'_>,
    claimed: Task,
) -> Result<(Task, Surroundings), Failure> {
    tx.prefetch(|tx| {
        let _ = task::get(tx, &claimed.project_id, &claimed.task_id);
        let _ = comment::of(tx, &claimed.project_id, &claimed.task_id);
    });
    let task = reload(tx, claimed)?;
    let around = surroundings(tx, &task)?;
    Ok((task, around))
}
