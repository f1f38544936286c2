//! Tasks: create, list, show, change, close.

mod create;
mod list;
mod show;
mod update;

use baton_model::refusal::{self, Refusal};
use baton_model::task::Task;
use baton_store::{Failure, Tx, task};

use crate::resolve;
pub(crate) use create::{Create, add};
pub(crate) use list::List;
pub(crate) use show::Show;
pub(crate) use update::Update;

/// The task named by an id or a unique prefix of one.
fn by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Task, Failure> {
    if let Some(task) = task::get(tx, project_id, id)? {
        return Ok(task);
    }
    let unknown = || {
        Refusal::new(
            refusal::Kind::NotFound,
            "task_unknown",
            format!("project {project_id} has no task `{}`", baton_model::id::visible(id)),
            "`baton task list` names them",
        )
    };
    let ids = if id.is_ascii() && !id.is_empty() { task::by_prefix(tx, project_id, id)? } else { Vec::new() };
    match ids.as_slice() {
        [one] => task::get(tx, project_id, one)?.ok_or_else(|| unknown().into()),
        [] => Err(unknown().into()),
        many => Err(resolve::ambiguous_id("task", id, many).into()),
    }
}
