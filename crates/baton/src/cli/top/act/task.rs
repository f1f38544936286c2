//! What is done about a task: it is claimed, taken back, given to another, opened again, closed.

use baton_model::id::visible;
use baton_model::row_action::RowAction;
use baton_ops::task::{
    ClaimTask, ClaimTaskInput, Close, CloseInput, Release, ReleaseInput, Update, UpdateInput,
};

use super::{ASSIGNEE, Request, TEXT, WHY, write};
use crate::app::App;
use crate::error::AppError;

pub(super) fn run(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let (project, identity, id) = (request.project(), request.identity(), request.id());
    match request.offered.action {
        RowAction::Reopen => {
            let (status, append_notes) = (Some("open".to_owned()), request.field_value(TEXT));
            let input = UpdateInput { project, identity, id, status, append_notes, ..UpdateInput::default() };
            app.run::<Update>(&input)?;
            Ok("the task is open again".to_owned())
        }
        RowAction::Release => {
            let to = request.field_value(ASSIGNEE);
            if let Some(name) = &to {
                write::refuse_unknown_agents(app, request, std::slice::from_ref(name))?;
            }
            let (why, force) = (request.field_value(WHY), request.is_forced());
            let assignee = to.clone();
            let holder = request.holder();
            let input = ReleaseInput {
                project,
                identity,
                id,
                why,
                force,
                holder,
                assignee,
                ..ReleaseInput::default()
            };
            app.run::<Release>(&input)?;
            Ok(match to {
                Some(name) => format!("the task is for {}", visible(&name)),
                None => "the task is free again, for anybody or the router".to_owned(),
            })
        }
        RowAction::Assign => {
            if let Some(name) = request.field_value(ASSIGNEE) {
                write::refuse_unknown_agents(app, request, &[name])?;
            }
            assign(app, request)
        }
        RowAction::Close => {
            let reason = request.field_value(WHY);
            app.run::<Close>(&CloseInput { project, identity, id, reason, ..CloseInput::default() })?;
            Ok("the task is closed".to_owned())
        }
        _ => {
            let input = ClaimTaskInput { project, identity, id: Some(id), ..ClaimTaskInput::default() };
            app.run::<ClaimTask>(&input)?;
            Ok("claimed".to_owned())
        }
    }
}

/// Gives it to whom was named; to nobody, it is free for anybody and for the router.
fn assign(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let to = request.field_value(ASSIGNEE).unwrap_or_default();
    let input = UpdateInput {
        project: request.project(),
        identity: request.identity(),
        id: request.id(),
        assignee: Some(to.clone()),
        holder: request.holder(),
        ..UpdateInput::default()
    };
    app.run::<Update>(&input)?;
    Ok(match to.as_str() {
        "" => "the task is free, for anybody or the router".to_owned(),
        name => format!("the task is for {}", visible(name)),
    })
}
