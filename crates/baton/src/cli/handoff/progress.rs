//! What a command says that has driven a hand-off.

use baton_model::handoff::State;
use baton_model::id::{is_shared_name, visible};
use baton_model::saga::{Kind, StepStage};
use baton_ops::handoff::{LinkedDocumentSummary, Preview, Progress};

use super::ending;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Answers with how a hand-off stands that was driven. What is not done yet is no success: it is tried again.
pub(super) fn show_progress(progress: &Progress, app: &App) -> Result<(), AppError> {
    app.show(progress, summary)?;
    match progress.row.handoff.state {
        State::Failed => Err(AppError::Reported),
        State::Planned | State::Pending => Err(AppError::Unfinished),
        _ if is_lost(progress) => Err(AppError::Unfinished),
        _ if !app.handoff_is_over => Err(AppError::Unfinished),
        _ => Ok(()),
    }
}

/// Whether the issue of a hand-off that waits cannot be followed: its repository is not to be found.
fn is_lost(progress: &Progress) -> bool {
    let handoff = &progress.row.handoff;
    handoff.repository_missing
        && !progress.replayed
        && matches!(handoff.state, State::Offered | State::Accepted)
}

/// What a person reads of it.
pub(crate) fn summary(progress: &Progress) -> String {
    let handoff = &progress.row.handoff;
    let task = handoff.task.as_ref();
    let (to, id) = (visible(handoff.receiver_project()), visible(&handoff.handoff_id));
    let mut text = match handoff.state {
        State::Failed => format!("not handed to {to}: {id} failed"),
        State::Planned | State::Pending => {
            format!("not handed to {to} yet: {id} ({})", handoff.state.as_str())
        }
        state if progress.replayed => {
            format!("handed to {to} already, and not twice: {id} ({})", state.as_str())
        }
        State::Completed | State::Declined | State::Cancelled | State::Expired => {
            format!("hand-off {id} to {to} is {}", handoff.state.as_str())
        }
        state if is_lost(progress) => {
            format!("{id} to {to} ({}) cannot be followed: its issue is not to be found", state.as_str())
        }
        state => format!("handed to {to}: {id} ({})", state.as_str()),
    };
    text.push_str(&task.map(|task| format!(", task {}", visible(&task.id))).unwrap_or_default());
    text.push('\n');
    for line in task.and_then(|task| task.url.as_deref()).into_iter().chain(handoff.last_error.as_deref()) {
        text.push_str(&format!("  {}\n", visible(line)));
    }
    if progress.replayed {
        text.extend(ending::lines(handoff).lines().map(|line| format!("  {line}\n")));
    }
    if is_lost(progress) {
        text.push_str(&format!("  {}\n", super::show::without_repository(&handoff.handoff_id)));
    }
    text.push_str(&unfinished(progress));
    let warnings = progress.warnings.iter().flatten();
    text + &render::warnings(warnings.map(|warning| &warning.message))
}

/// Of a hand-off that is not offered: what was made of it and what was not, and the command that helps.
fn unfinished(progress: &Progress) -> String {
    let (row, id) = (&progress.row, render::short_id(&progress.row.handoff.handoff_id));
    if !matches!(row.handoff.state, State::Failed | State::Planned | State::Pending) {
        return String::new();
    }
    let names = |done: bool| {
        let named = row.steps.iter().filter(|step| (step.state == StepStage::Done) == done);
        let named: Vec<&str> = named.filter_map(|step| name_of(step.step)).collect();
        if named.is_empty() { "nothing".to_owned() } else { named.join(", ") }
    };
    let help = match row.handoff.state {
        State::Failed => format!(
            "mend what is named above, then `baton handoff retry {id}`; or `baton handoff cancel {id}`"
        ),
        _ => format!(
            "a later `baton` command and a running `baton serve` try it again; `baton handoff retry {id}` tries it now; a copy of a store waits for `baton store take-over`"
        ),
    };
    format!("  made: {}; not made: {}\n  {help}\n", names(true), names(false))
}

/// What a step makes, if it makes something.
fn name_of(step: Kind) -> Option<&'static str> {
    match step {
        Kind::Task => Some("task"),
        Kind::Memory => Some("note"),
        Kind::Session => Some("seeded session"),
        Kind::Offer => Some("offer"),
        _ => None,
    }
}

/// What a dry run would send to the three systems.
pub(crate) fn would(preview: &Preview) -> String {
    let place = preview.resolved_issues_github_repo.as_deref().unwrap_or("Baton's own ledger");
    let seed = &preview.would_seed_session;
    let named = seed.agent_id.as_deref().filter(|name| !is_shared_name(name));
    let agent = named.map_or_else(|| "for whoever takes it".to_owned(), visible);
    let mut rows = vec![
        vec!["task".to_owned(), format!("{} in {place}", visible(&preview.would_create_task.subject))],
        vec!["note".to_owned(), format!("in project {}", visible(&preview.would_store_memory.project_id))],
        vec!["session".to_owned(), format!("{agent} / {}", visible(&seed.task_id))],
    ];
    rows.extend(preview.would_send_documents.iter().map(document_row));
    render::table(&rows)
}

/// A document that a hand-off links, with how much of it goes along.
pub(super) fn document_row(document: &LinkedDocumentSummary) -> Vec<String> {
    let how = match (document.bytes, &document.left_out) {
        (Some(bytes), _) if document.secrets > 0 => {
            format!("{bytes} bytes go along, without {} secrets", document.secrets)
        }
        (Some(bytes), _) => format!("{bytes} bytes go along"),
        (None, Some(why)) => format!("does not go along: {}", visible(why)),
        (None, None) => "does not go along".to_owned(),
    };
    vec!["document".to_owned(), format!("{}, {how}", visible(&document.path))]
}
