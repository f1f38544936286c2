//! What an agent needs of what is beside its task.

use baton_model::task::Task;
use baton_model::task::bounded::Surroundings;
use baton_model::task::closing::IncrementStage;
use baton_store::task::comment;
use baton_store::{Failure, Tx};

use super::follow_up::increment_of;

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
