//! What an agent needs of what is beside its task.

use baton_model::task::Task;
use baton_model::task::bounded::Surroundings;
use baton_model::task::closing::IncrementStage;
use baton_store::task::comment;
use baton_store::{Failure, Tx, task};

use super::follow_up::increment_of;
use super::write::reload;

/// What is to be built and when it counts as done, for a task of an increment that says nothing itself, and the comments of the task.
pub(super) fn surroundings(tx: &mut Tx<'_>, task: &Task) -> Result<Surroundings, Failure> {
    Ok(Surroundings {
        comments: comment::of(tx, &task.project_id, &task.task_id)?,
        ..of_increment(tx, task)?
    })
}

/// The same without comments.
pub(super) fn of_increment(tx: &mut Tx<'_>, task: &Task) -> Result<Surroundings, Failure> {
    let stage = IncrementStage::of(task.agent_role.as_deref());
    let follows = stage.is_some_and(|stage| stage != IncrementStage::Implementation);
    let (has_text, has_criteria) = (!task.description.is_empty(), criteria(task).is_some());
    if !follows || (has_text && has_criteria) {
        return Ok(Surroundings::default());
    }
    let Some(built) = increment_of(tx, task)?.implementation else { return Ok(Surroundings::default()) };
    let acceptance_criteria = criteria(&built).filter(|_| !has_criteria).map(str::to_owned);
    let what_to_build = Some(built.description).filter(|text| !has_text && !text.is_empty());
    Ok(Surroundings { what_to_build, acceptance_criteria, comments: Vec::new() })
}

/// When a task counts as done, where it says so.
fn criteria(task: &Task) -> Option<&str> {
    task.text("acceptance_criteria").filter(|text| !text.trim().is_empty())
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
