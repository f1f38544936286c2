//! Issues with parts: epics, swarms, molecules.

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_ops::task::{self as tasks, Row};
use serde::Serialize;

use super::annotate::shown;
use super::args::{Delete, EpicVerb, MolVerb, SwarmVerb, WispVerb};
use super::graph::Layers;
use super::list::{ReadyFilters, Selection, lines, print, ready_issues};
use super::select::{Condition, Field, Test};
use super::shape::ClosedIssue;
use super::{Out, remove, shape};
use crate::error::AppError;

/// An issue with parts, and how many of them are closed.
#[derive(Serialize)]
struct Progress {
    epic: View,
    total_children: usize,
    closed_children: usize,
    eligible_for_close: bool,
}

impl Progress {
    fn line(&self) -> String {
        let ready = if self.eligible_for_close { ", can be closed" } else { "" };
        let (closed, total) = (self.closed_children, self.total_children);
        format!("{}    {closed} of {total} parts are closed{ready}\n", shape::line(&self.epic))
    }
}

/// The open issues that have parts; with `only_epics` those of type epic, also without parts.
fn progress(only_epics: bool, out: &mut Out<'_>) -> Result<Vec<Progress>, AppError> {
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

fn print_progress(found: &[Progress], out: &mut Out<'_>) -> Result<(), AppError> {
    out.print(found, |all| lines(all.iter().map(Progress::line)))
}

/// Progress of one issue.
fn progress_of(id: &str, out: &mut Out<'_>) -> Result<(Progress, Vec<Row>), AppError> {
    let epic = shown(id, out)?.task;
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
        EpicVerb::CloseEligible { dry_run } => {
            let mut found = progress(true, out)?;
            found.retain(|progress| progress.eligible_for_close);
            if dry_run {
                return print_progress(&found, out);
            }
            let ids: Vec<String> = found.into_iter().map(|progress| progress.epic.id).collect();
            close_all(&ids, "all parts are closed", out)
        }
    }
}

/// Closes issues, and prints them.
fn close_all(ids: &[String], reason: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut closed = Vec::new();
    for id in ids {
        let input = tasks::CloseInput {
            project: out.project(),
            identity: out.identity(),
            id: id.clone(),
            reason: Some(reason.to_owned()),
            ..tasks::CloseInput::default()
        };
        closed.push(ClosedIssue::from(out.app.run::<tasks::Close>(&input)?));
    }
    out.print(&closed, |all| {
        let text: String = all.iter().map(|one| format!("✓ Closed {}\n", visible(&one.issue.id))).collect();
        if text.is_empty() { "Nothing can be closed.\n".to_owned() } else { text }
    })
}

/// The parts of an epic by state.
#[derive(Serialize)]
struct SwarmStatus {
    epic_id: String,
    epic_title: String,
    total_issues: usize,
    completed: Vec<Row>,
    active: Vec<Row>,
    ready: Vec<Row>,
    blocked: Vec<Row>,
}

pub(super) fn swarm(verb: SwarmVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        SwarmVerb::List => {
            let found = progress(true, out)?;
            print_progress(&found, out)
        }
        SwarmVerb::Status { id } => swarm_status(&id, out),
        SwarmVerb::Validate { id } => {
            let (_, mut parts) = progress_of(&id, out)?;
            parts.retain(|part| part.task.status != "closed");
            out.print(&Layers::of(parts), Layers::text)
        }
    }
}

fn swarm_status(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (progress, parts) = progress_of(id, out)?;
    let mut asked = Selection::all(out);
    asked.ledger.parent = Some(progress.epic.id.clone());
    let ready: Vec<String> =
        ready_issues(&asked, ReadyFilters::default(), out)?.0.into_iter().map(|row| row.task.id).collect();
    let mut status = SwarmStatus {
        epic_id: progress.epic.id,
        epic_title: progress.epic.title,
        total_issues: parts.len(),
        completed: Vec::new(),
        active: Vec::new(),
        ready: Vec::new(),
        blocked: Vec::new(),
    };
    for row in parts {
        let row = Row { task: shape::issue(row.task), ..row };
        let shelf = match row.task.status.as_str() {
            "closed" => &mut status.completed,
            "in_progress" | "hooked" => &mut status.active,
            _ if ready.contains(&row.task.id) => &mut status.ready,
            _ => &mut status.blocked,
        };
        shelf.push(row);
    }
    out.print(&status, |status| {
        let shelves = [
            ("Completed", &status.completed),
            ("Active", &status.active),
            ("Ready", &status.ready),
            ("Blocked", &status.blocked),
        ];
        let shelf = |(name, rows): &(&str, &Vec<Row>)| {
            let issues: String = rows.iter().map(|row| format!("  {}", shape::line(&row.task))).collect();
            format!("{name}: {}\n{issues}", rows.len())
        };
        let head = format!("{}: {}\n", visible(&status.epic_id), visible(&status.epic_title));
        head + &shelves.iter().map(shelf).collect::<String>()
    })
}

pub(super) fn molecule(verb: MolVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        MolVerb::List => {
            let found = progress(false, out)?;
            print_progress(&found, out)
        }
        MolVerb::Stale => {
            let mut found = progress(false, out)?;
            found.retain(|progress| progress.eligible_for_close);
            print_progress(&found, out)
        }
        MolVerb::Progress { id } => {
            let (found, _) = progress_of(&id, out)?;
            out.print(&found, Progress::line)
        }
        MolVerb::Show { id } => {
            let (progress, parts) = progress_of(&id, out)?;
            let whole = Row {
                task: progress.epic,
                dependency_count: None,
                dependencies: Vec::new(),
                dependent_count: None,
                comment_count: None,
            };
            let issues = std::iter::once(whole).chain(parts).collect();
            print(issues, false, &super::args::Arrangement { tree: true, ..Default::default() }, out)
        }
        MolVerb::Current { id } => {
            let (progress, parts) = progress_of(&id, out)?;
            let mut asked = Selection::all(out);
            asked.ledger.parent = Some(progress.epic.id);
            let in_progress = parts.into_iter().filter(|part| part.task.status == "in_progress");
            let mut found: Vec<Row> = in_progress.collect();
            if found.is_empty() {
                found = ready_issues(&asked, ReadyFilters::default(), out)?.0;
                found.truncate(1);
            }
            print(found, false, &super::args::Arrangement::default(), out)
        }
        MolVerb::Wisp { verb } => wisp(verb, out),
        MolVerb::Burn { ids, force, dry_run } => burn(&ids, (force, dry_run), out),
        MolVerb::Close { id, reason } => {
            let (progress, parts) = progress_of(&id, out)?;
            let open = parts.into_iter().filter(|part| part.task.status != "closed").map(|part| part.task.id);
            let ids: Vec<String> = open.chain(std::iter::once(progress.epic.id)).collect();
            close_all(&ids, reason.as_deref().unwrap_or("closed with the whole"), out)
        }
    }
}

/// Deletes issues with their parts. Without force it says what would go. What waits for the whole from outside of it stays, and is
/// named.
fn burn(ids: &[String], (force, dry_run): (bool, bool), out: &mut Out<'_>) -> Result<(), AppError> {
    let mut all = Vec::new();
    for id in ids {
        let (progress, parts) = progress_of(id, out)?;
        all.push(progress.epic.id);
        all.extend(parts.into_iter().map(|part| part.task.id));
    }
    let reason = Some("burned".to_owned());
    let delete = Delete { ids: all, from_file: None, force, dry_run, cascade: false, reason, hard: false };
    remove::delete(&delete, out)
}

/// `bd wisp`: issues that are kept for a short time.
pub(super) fn wisp(verb: Option<WispVerb>, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb.unwrap_or(WispVerb::List { all: false }) {
        WispVerb::List { all } => {
            let mut found = Selection::all(out).and([Condition::Field(Field::Ephemeral, Test::Flag(true))]);
            found.ledger.all = all;
            found.print(out)
        }
        WispVerb::Show { id } => molecule(MolVerb::Show { id }, out),
        WispVerb::Progress { id } => molecule(MolVerb::Progress { id }, out),
        WispVerb::Close { id, reason } => molecule(MolVerb::Close { id, reason }, out),
    }
}
