//! `bd human`: issues that wait for a person, by their label.

use baton_model::id::visible;
use baton_ops::task::{self as tasks, CommentInput};
use serde::Serialize;

use super::annotate::show_task;
use super::args::HumanVerb;
use super::list::Selection;
use super::{Out, close};
use crate::error::AppError;

/// The label of what waits for a person.
const LABEL: &str = "human";
/// How the reason begins of an issue that was closed without an answer.
const DISMISSED: &str = "Dismissed";

/// How many issues wait for a person, and what became of the others.
#[derive(Serialize)]
struct Figures {
    total: usize,
    pending: usize,
    responded: usize,
    dismissed: usize,
}

pub(super) fn run(verb: HumanVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        HumanVerb::List { status } => labelled(out).with_status_or_open(status).print(out),
        HumanVerb::Respond { id, text, response } => {
            let text = response.unwrap_or_else(|| text.join(" "));
            if text.trim().is_empty() {
                let hint = "bd human respond ID \"TEXT\"";
                return Err(
                    baton_model::refusal::Refusal::invalid("usage", "an answer is needed", hint).into()
                );
            }
            let id = check_is_waiting(&id, out)?;
            let text = format!("Response: {text}");
            let (project, identity) = (out.project(), out.identity());
            out.app.run::<tasks::Comment>(&CommentInput { project, identity, id: id.clone(), text })?;
            close::close_with(&[id], "Responded", out)
        }
        HumanVerb::Dismiss { id, words, reason } => {
            let reason = reason.unwrap_or_else(|| words.join(" "));
            let id = check_is_waiting(&id, out)?;
            let reason = match reason.trim() {
                "" => DISMISSED.to_owned(),
                reason => format!("{DISMISSED}: {reason}"),
            };
            close::close_with(&[id], &reason, out)
        }
        HumanVerb::Stats => {
            let (issues, _) = labelled(out).find(out)?;
            let closed: Vec<_> = issues.iter().filter(|row| row.task.status == "closed").collect();
            let is_dismissed = |row: &&&tasks::Row| {
                row.task.close_reason.as_deref().is_some_and(|reason| reason.starts_with(DISMISSED))
            };
            let dismissed = closed.iter().filter(is_dismissed).count();
            let (total, responded) = (issues.len(), closed.len() - dismissed);
            let figures = Figures { total, pending: total - closed.len(), responded, dismissed };
            out.print(&figures, |it| {
                let [total, pending] = [it.total, it.pending];
                format!(
                    "{total} issues, {pending} pending, {} answered, {} dismissed\n",
                    it.responded, it.dismissed
                )
            })
        }
    }
}

/// Every issue with the label.
fn labelled(out: &Out<'_>) -> Selection {
    let mut selection = Selection::all(out);
    selection.ledger.labels = vec![LABEL.to_owned()];
    selection
}

/// The id of an issue that is to be answered; a remark where it has not the label.
fn check_is_waiting(id: &str, out: &mut Out<'_>) -> Result<String, AppError> {
    let task = show_task(id, out)?.task;
    if !task.labels.iter().any(|label| label == LABEL) {
        out.remark(&format!("{} does not have the label `{LABEL}`", visible(&task.id)));
    }
    Ok(task.id)
}
