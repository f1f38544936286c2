//! Issues with parts, and how many of these are closed; epics.

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_ops::task::{self as tasks, Row};
use serde::Serialize;

use super::annotate::show_task;
use super::args::EpicVerb;
use super::list::{ReadyFilters, Selection, lines, ready_issues};
use super::shape::ClosedIssue;
use super::{Out, shape};
use crate::error::AppError;

/// An issue with parts, and how many of them are closed.
#[derive(Serialize)]
pub(super) struct Progress {
    pub epic: View,
    pub total_children: usize,
    pub closed_children: usize,
    pub eligible_for_close: bool,
}

impl Progress {
    pub(super) fn line(&self) -> String {
        let ready = if self.eligible_for_close { ", can be closed" } else { "" };
        let (closed, total) = (self.closed_children, self.total_children);
        format!("{}    {closed} of {total} parts are closed{ready}\n", shape::line(&self.epic))
    }
}

/// The open issues that have parts; with `only_epics` those of type epic, also without parts.
pub(super) fn progress(only_epics: bool, out: &mut Out<'_>) -> Result<Vec<Progress>, AppError> {
    let (issues, _) = Selection::all(out).find(out)?;
    let parts =
        |id: &str| issues.iter().filter(|row| row.task.parent.as_deref() == Some(id)).collect::<Vec<&Row>>();
    let wanted = |row: &&Row| row.task.status != "closed" && (!only_epics || row.task.issue_type == "epic");
    let found = issues.iter().filter(wanted).map(|row| {
        let parts = parts(&row.task.id);
        let closed_children = parts.iter().filter(|part| part.task.status == "closed").count();
        let total_children = parts.len();
        let eligible_for_close = total_children > 0 && closed_children == total_children;
        Progress { epic: shape::issue(row.task.clone()), total_children, closed_children, eligible_for_close }
    });
    Ok(found.filter(|progress| only_epics || progress.total_children > 0).collect())
}

pub(super) fn print_progress(found: &[Progress], out: &mut Out<'_>) -> Result<(), AppError> {
    out.print(found, |all| lines(all.iter().map(Progress::line)))
}

/// The ids of an issue's parts that are ready.
pub(super) fn ready_parts(epic: &str, out: &mut Out<'_>) -> Result<Vec<String>, AppError> {
    let mut selection = Selection::all(out);
    selection.ledger.parent = Some(epic.to_owned());
    let (ready, _) = ready_issues(&selection, ReadyFilters::default(), out)?;
    Ok(ready.into_iter().map(|row| row.task.id).collect())
}

/// Progress of one issue.
pub(super) fn progress_of(id: &str, out: &mut Out<'_>) -> Result<(Progress, Vec<Row>), AppError> {
    let epic = show_task(id, out)?.task;
    let mut parts = Selection::all(out);
    parts.ledger.parent = Some(epic.id.clone());
    let (parts, _) = parts.find(out)?;
    let closed_children = parts.iter().filter(|part| part.task.status == "closed").count();
    let total_children = parts.len();
    let eligible_for_close = total_children > 0 && closed_children == total_children;
    let epic = shape::issue(epic);
    Ok((Progress { epic, total_children, closed_children, eligible_for_close }, parts))
}

pub(super) fn epic(verb: EpicVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        EpicVerb::Status { eligible_only } => {
            let mut found = progress(true, out)?;
            found.retain(|progress| !eligible_only || progress.eligible_for_close);
            print_progress(&found, out)
        }
        EpicVerb::CloseEligible { dry_run, reason } => {
            let mut found = progress(true, out)?;
            found.retain(|progress| progress.eligible_for_close);
            if dry_run {
                return print_progress(&found, out);
            }
            if found.is_empty() {
                return print_progress(&found, out);
            }
            let ids: Vec<String> = found.into_iter().map(|progress| progress.epic.id).collect();
            for id in &ids {
                close_one(id, &reason, out)?;
            }
            let count = ids.len();
            out.print(&EpicsClosed { closed: ids, count, reason }, |it| {
                it.closed.iter().map(|id| format!("✓ Closed {}\n", visible(id))).collect()
            })
        }
    }
}

/// Epics that were closed.
#[derive(Serialize)]
struct EpicsClosed {
    closed: Vec<String>,
    count: usize,
    reason: String,
}

fn close_one(id: &str, reason: &str, out: &mut Out<'_>) -> Result<ClosedIssue, AppError> {
    let input = tasks::CloseInput {
        project: out.project(),
        identity: out.identity(),
        id: id.to_owned(),
        reason: Some(reason.to_owned()),
        ..tasks::CloseInput::default()
    };
    Ok(ClosedIssue::from(out.app.run::<tasks::Close>(&input)?))
}

/// Closes issues, and prints them.
pub(super) fn close_all(ids: &[String], reason: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut closed = Vec::new();
    for id in ids {
        closed.push(close_one(id, reason, out)?);
    }
    out.print(&closed, |all| {
        let text: String = all.iter().map(|one| format!("✓ Closed {}\n", visible(&one.issue.id))).collect();
        if text.is_empty() { "Nothing can be closed.\n".to_owned() } else { text }
    })
}
