//! Sends once more what came back.

use baton_model::id::{BOT, visible};
use baton_model::refusal::Refusal;
use baton_model::tracker::{Warning, WarningKind};
use baton_ops::handoff::{Create, CreateInput, CreateOutput, HandoffOrBaton, Show, ShowInput};

use super::{NEW_RECEIVER, PROJECT, Request, retried};
use crate::app::App;
use crate::error::AppError;

/// Sends the same words and the same packet, to whom it was for, to another name or to another project. A name and a project that nobody
/// knows are refused before anything is written.
pub(super) fn send(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    // Read for nobody, so that a refusal leaves the row: who sent it and opens it has seen that it came back.
    let identity = Some(BOT.to_owned());
    let input = ShowInput { id: request.target.id.clone(), identity, ..ShowInput::default() };
    let shown = app.run::<Show>(&input)?;
    let HandoffOrBaton::Handoff(row) = shown.handoff else { return Ok("nothing to leave anew".to_owned()) };
    let view = row.handoff;
    let to = request.field_value(NEW_RECEIVER);
    let project = request.field_value(PROJECT).filter(|project| *project != view.to_project_id);
    // A name, a role and a tracker are those of the project that had it.
    let is_same = project.is_none();
    let place = view.task.map(|task| task.metadata).filter(|_| is_same).unwrap_or_default();
    let mut input = CreateInput {
        replaces: Some(view.handoff_id),
        from_project_id: Some(view.from_project_id),
        to_project_id: project.unwrap_or(view.to_project_id),
        identity: request.identity(),
        subject: view.subject,
        description: shown.description.unwrap_or_default(),
        packet_text: shown.packet,
        to_role: view.to_role.filter(|_| is_same && to.is_none()),
        to_identity: to.clone().or(view.to_identity.filter(|_| is_same)),
        issues_github_repo: place.github_repo,
        local: place.tracker.as_deref() == Some("local"),
        dry_run: true,
        ..CreateInput::default()
    };
    if let CreateOutput::Preview(preview) = app.run::<Create>(&input)? {
        refuse_unknown(&preview.warnings, is_same, to.is_some())?;
    }
    input.dry_run = false;
    match app.run::<Create>(&input)? {
        CreateOutput::Made(made) => {
            let is_repeated = |one: &&Warning| one.kind == WarningKind::SameHandoff;
            let repeated = made.warnings.iter().flatten().find(is_repeated);
            let warning = repeated.map(|one| format!(", but {}", visible(&one.message)));
            Ok(format!("{}{}", retried(&made.row), warning.unwrap_or_default()))
        }
        CreateOutput::Preview(_) => Ok("nothing was sent".to_owned()),
    }
}

/// Refuses a project that was typed and is not known, and a name of whom nobody in the project has heard.
fn refuse_unknown(warnings: &[Warning], is_same: bool, is_named: bool) -> Result<(), AppError> {
    let wrong = warnings.iter().find(|one| match one.kind {
        WarningKind::PlaceholderProject => !is_same,
        WarningKind::ReceiverUnknown => is_named,
        _ => false,
    });
    let Some(wrong) = wrong else { return Ok(()) };
    let (code, what) = match wrong.kind {
        WarningKind::PlaceholderProject => {
            ("project_unknown", "nothing was sent: there is no project of this name".to_owned())
        }
        _ => ("recipient_unknown", format!("nothing was sent: {}", wrong.message)),
    };
    let hint = "the first field is a person or an agent, the second a project: 7 lists them";
    Err(Refusal::invalid(code, what, hint).into())
}
