//! Verbs of `baton task` that delete and rename.

use baton_model::id::visible;
use baton_ops::task as ops;

use super::run_for_each;
use crate::app::App;
use crate::error::AppError;

/// Deletes tasks; `input` says how.
pub(super) fn delete(ids: &[String], input: &ops::DeleteInput, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    let input = |id: &str| ops::DeleteInput {
        project: project.clone(),
        identity: input.identity.clone(),
        id: id.to_owned(),
        reason: input.reason.clone(),
        force: input.force,
    };
    run_for_each::<ops::Delete>(app, ids, deleted, |deleted| &deleted.task.view, input)
}

fn deleted(done: &ops::DeleteOutput) -> String {
    let id = &done.task.view.id;
    let freed = |gone: &&ops::RemovedDependency| gone.depends_on_id == *id;
    let freed = done.removed_dependencies.iter().filter(freed);
    let lines = freed.map(|gone| format!("  {} no longer depends on it\n", visible(&gone.issue_id)));
    format!("deleted {}: {}\n{}", visible(id), visible(&done.task.view.title), lines.collect::<String>())
}

pub(super) fn renamed(done: &ops::RenameOutput) -> String {
    let names = |id: &String| format!("  {} names the new id\n", visible(id));
    let named = done.mentions.iter().filter(|id| !done.dependents.contains(id));
    let dependents: String = done.dependents.iter().chain(named).map(names).collect();
    format!("{} is {} now\n{dependents}", visible(&done.renamed_from), visible(&done.task.view.id))
}
