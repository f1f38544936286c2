//! What is said beside a task that was written: a type that is nearly a known one, an assignee who gets no signal.

use baton_model::id::{identity_key, visible};
use baton_model::task::view::View;
use baton_model::task::word::similar_type;
use baton_ops::agent::{List, ListInput};

use crate::app::App;
use crate::error::AppError;

/// Says of a type that is none of the known ones and nearly one of them which that is: any word may be a type.
pub(super) fn name_similar_type(task: &View, app: &App) {
    if let Some(known) = similar_type(&task.issue_type) {
        let (id, word) = (visible(&task.id), visible(&task.issue_type));
        app.remark(&format!(
            "warning: `{word}` is a type of your own; did you mean {known}? `baton task update {id} --type {known}`"
        ));
    }
}

/// Says that no signal goes to an assignee whose name is unknown in the project: it may be mistyped, or still to come.
pub(super) fn name_unknown_assignee(
    name: Option<&str>,
    author: Option<&str>,
    app: &mut App,
) -> Result<(), AppError> {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(()) };
    if author.is_some_and(|author| identity_key(author) == identity_key(name)) {
        return Ok(());
    }
    let input = ListInput { project: app.project.clone(), all: true, ..ListInput::default() };
    let listed = app.run::<List>(&input)?;
    if listed.items.iter().all(|row| identity_key(row.name()) != identity_key(name)) {
        let (name, project) = (visible(name), visible(&listed.project_id));
        app.remark(&format!(
            "warning: nobody called {name} has registered or worked in {project}: no signal tells them of the task; `baton agent list --all` names who has"
        ));
    }
    Ok(())
}
