//! `bd mol` and `bd wisp`: issues with parts, and those that are kept for a short time.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_model::time::{Timestamp, parse_span};
use baton_ops::task::Row;
use serde::Serialize;

use super::args::{Delete, MolVerb, WispVerb};
use super::blocked::Blockers;
use super::blocked::blocked_issues;
use super::list::{Selection, lines};
use super::part::{Progress, close_all, print_progress, progress, progress_of, ready_parts};
use super::remove::DeletionPlan;
use super::select::{Condition, Field, Test};
use super::swarm::percent;
use super::{Out, remove, shape, view};
use crate::error::AppError;

/// After so long without a change a short-lived issue is old: a day, in milliseconds.
const OLD_AFTER_MS: i64 = 86_400_000;

pub(super) fn molecule(verb: MolVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        MolVerb::List => {
            let found = progress(false, out)?;
            print_progress(&found, out)
        }
        MolVerb::Stale { blocking, unassigned, all } => stale((blocking, unassigned, all), out),
        MolVerb::Progress { id } => {
            let ids = named_or_current(id, None, out)?;
            let found = ids.iter().map(|id| molecule_progress(id, out)).collect::<Result<Vec<_>, _>>()?;
            match found.as_slice() {
                [one] => out.print(one, MoleculeProgress::line),
                all => out.print(all, |all| lines(all.iter().map(MoleculeProgress::line))),
            }
        }
        MolVerb::Show { id } => show(&id, out),
        MolVerb::Current { id, agent, limit } => {
            let ids = named_or_current(id, agent, out)?;
            let mut found = ids.iter().map(|id| position(id, out)).collect::<Result<Vec<_>, _>>()?;
            for position in &mut found {
                position.steps.truncate(limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX));
            }
            out.print(&found, |all| match all.is_empty() {
                true => "No issue with parts is in progress: bd mol current ID\n".to_owned(),
                false => all.iter().map(Position::text).collect(),
            })
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

/// The issue that is named, or those whose parts an agent has in progress.
fn named_or_current(
    id: Option<String>,
    agent: Option<String>,
    out: &mut Out<'_>,
) -> Result<Vec<String>, AppError> {
    if let Some(id) = id {
        return Ok(vec![id]);
    }
    let name = match agent {
        Some(agent) => super::identity(&agent),
        None => out.acting_name()?,
    };
    let mut wholes: Vec<String> =
        view::in_progress_of(name, out)?.into_iter().filter_map(|row| row.task.parent).collect();
    wholes.sort();
    wholes.dedup();
    Ok(wholes)
}

/// How far an issue with parts is.
#[derive(Serialize)]
struct MoleculeProgress {
    molecule_id: String,
    molecule_title: String,
    total: usize,
    completed: usize,
    in_progress: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step_id: Option<String>,
    percent: f64,
    #[serde(skip)]
    line: String,
}

impl MoleculeProgress {
    fn line(&self) -> String {
        self.line.clone()
    }
}

fn molecule_progress(id: &str, out: &mut Out<'_>) -> Result<MoleculeProgress, AppError> {
    let (progress, parts) = progress_of(id, out)?;
    let active: Vec<&Row> = parts.iter().filter(|part| part.task.status == "in_progress").collect();
    Ok(MoleculeProgress {
        line: progress.line(),
        percent: percent(progress.closed_children, progress.total_children),
        total: progress.total_children,
        completed: progress.closed_children,
        in_progress: active.len(),
        current_step_id: active.first().map(|part| part.task.id.clone()),
        molecule_id: progress.epic.id,
        molecule_title: progress.epic.title,
    })
}

/// A part, and how it stands.
#[derive(Serialize)]
struct Step {
    issue: View,
    status: &'static str,
    is_current: bool,
}

/// Where an agent is in an issue with parts.
#[derive(Serialize)]
struct Position {
    molecule_id: String,
    molecule_title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<View>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<View>,
    steps: Vec<Step>,
    completed: usize,
    total: usize,
}

impl Position {
    fn text(&self) -> String {
        let step = |step: &Step| format!("  [{}] {}", step.status, shape::line(&step.issue));
        let head = format!("{}: {}\n", visible(&self.molecule_id), visible(&self.molecule_title));
        let steps: String = self.steps.iter().map(step).collect();
        format!("{head}{steps}{} of {} parts are closed\n", self.completed, self.total)
    }
}

fn position(id: &str, out: &mut Out<'_>) -> Result<Position, AppError> {
    let (progress, parts) = progress_of(id, out)?;
    let ready = ready_parts(&progress.epic.id, out)?;
    let step = |row: Row| {
        let status = match row.task.status.as_str() {
            "closed" => "done",
            "in_progress" => "current",
            "blocked" => "blocked",
            _ if ready.contains(&row.task.id) => "ready",
            _ => "pending",
        };
        Step { issue: shape::issue(row.task), status, is_current: status == "current" }
    };
    let steps: Vec<Step> = parts.into_iter().map(step).collect();
    let first = |status: &str| steps.iter().find(|step| step.status == status).map(|step| step.issue.clone());
    Ok(Position {
        current_step: first("current"),
        next_step: first("ready"),
        completed: progress.closed_children,
        total: progress.total_children,
        molecule_id: progress.epic.id,
        molecule_title: progress.epic.title,
        assignee: progress.epic.assignee,
        steps,
    })
}

/// An issue and its parts.
#[derive(Serialize)]
struct Molecule {
    root: View,
    issues: Vec<Row>,
}

fn show(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (progress, parts) = progress_of(id, out)?;
    let whole = Row { task: progress.epic.clone(), ..Row::default() };
    let issues = std::iter::once(whole).chain(parts);
    let issues = issues.map(|row| Row { task: shape::issue(row.task), ..row }).collect();
    out.print(&Molecule { root: progress.epic, issues }, |it| shape::tree(&it.issues, &Blockers::default()))
}

/// An open issue whose parts are all closed.
#[derive(Serialize)]
struct Stale {
    id: String,
    title: String,
    total_children: usize,
    closed_children: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocking_issues: Vec<String>,
    blocking_count: usize,
    #[serde(skip)]
    line: String,
}

#[derive(Serialize)]
struct StaleMolecules {
    stale_molecules: Vec<Stale>,
    total_count: usize,
    blocking_count: usize,
}

fn stale((blocking, unassigned, all): (bool, bool, bool), out: &mut Out<'_>) -> Result<(), AppError> {
    let mut found = progress(false, out)?;
    if all {
        let known: Vec<String> = found.iter().map(|found| found.epic.id.clone()).collect();
        let epics = progress(true, out)?;
        found.extend(epics.into_iter().filter(|epic| !known.contains(&epic.epic.id)));
    }
    let (waiting, _) = blocked_issues(None, 0, out)?;
    let of = |found: Progress| {
        let waits = waiting.iter().filter(|row| row.blocked_by.contains(&found.epic.id));
        let blocking_issues: Vec<String> = waits.map(|row| row.task.id.clone()).collect();
        Stale {
            line: found.line(),
            total_children: found.total_children,
            closed_children: found.closed_children,
            blocking_count: blocking_issues.len(),
            blocking_issues,
            id: found.epic.id,
            title: found.epic.title,
            assignee: found.epic.assignee,
        }
    };
    let is_complete = |found: &Progress| found.eligible_for_close || (all && found.total_children == 0);
    let mut stale: Vec<Stale> = found.into_iter().filter(is_complete).map(of).collect();
    stale.retain(|one| (!blocking || one.blocking_count > 0) && (!unassigned || one.assignee.is_none()));
    let blocking_count = stale.iter().filter(|one| one.blocking_count > 0).count();
    let answer = StaleMolecules { total_count: stale.len(), blocking_count, stale_molecules: stale };
    out.print(&answer, |all| lines(all.stale_molecules.iter().map(|one| one.line.clone())))
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
    delete(all, "burned", (force, dry_run), out)
}

fn delete(
    ids: Vec<String>,
    reason: &str,
    (force, dry_run): (bool, bool),
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let reason = Some(reason.to_owned());
    let delete = Delete { ids, from_file: None, force, dry_run, cascade: false, reason, hard: false };
    remove::delete(&delete, out)
}

/// A short-lived issue in a list.
#[derive(Serialize)]
struct Wisp {
    id: String,
    title: String,
    status: String,
    priority: i64,
    #[serde(rename = "type")]
    issue_type: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// It was not changed for a day.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    old: bool,
    #[serde(skip)]
    line: String,
}

#[derive(Serialize)]
struct Wisps {
    wisps: Vec<Wisp>,
    count: usize,
    #[serde(skip_serializing_if = "is_none")]
    old_count: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// `bd wisp`: issues that are kept for a short time.
pub(super) fn wisp(verb: Option<WispVerb>, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb.unwrap_or(WispVerb::List { all: false, issue_type: None }) {
        WispVerb::List { all, issue_type } => {
            let now = crate::clock::now();
            let mut found = ephemeral(all, out)?;
            found.retain(|row| issue_type.as_ref().is_none_or(|wanted| *wanted == row.task.issue_type));
            found.sort_by_key(|row| std::cmp::Reverse(row.task.updated_at.0));
            let wisps: Vec<Wisp> = found.into_iter().map(|row| wisp_of(row, now)).collect();
            let old_count = wisps.iter().filter(|wisp| wisp.old).count();
            let answer = Wisps { count: wisps.len(), old_count, wisps };
            out.print(&answer, |all| lines(all.wisps.iter().map(|wisp| wisp.line.clone())))
        }
        WispVerb::Gc { age, all, closed, force, dry_run, exclude_type } => {
            let Some(span) = parse_span(&age) else {
                let what = format!("`{}` is not a span of time", visible(&age));
                return Err(Refusal::invalid("span_invalid", what, "write it as 30m, 24h or 7d").into());
            };
            let before = crate::clock::now().saturating_sub(span);
            let mut found = ephemeral(all || closed, out)?;
            found.retain(|row| match closed {
                true => row.task.status == "closed",
                false => row.task.updated_at.0 < before,
            });
            found.retain(|row| !exclude_type.contains(&row.task.issue_type));
            let mut ids: Vec<String> = found.into_iter().map(|row| row.task.id).collect();
            if !force {
                let DeletionPlan { free, needed } = remove::deletion_plan(&ids, out)?;
                for (id, by) in needed {
                    out.remark(&format!(
                        "{} stays: {} needs it (--force deletes it all the same)",
                        visible(&id),
                        visible(&by)
                    ));
                }
                ids = free;
            }
            if ids.is_empty() {
                return out.print(&Wisps { wisps: Vec::new(), count: 0, old_count: 0 }, |_| {
                    "No short-lived issue is to go\n".to_owned()
                });
            }
            delete(ids, "short-lived", ((force || !closed) && !dry_run, dry_run), out)
        }
        WispVerb::Show { id } => molecule(MolVerb::Show { id }, out),
        WispVerb::Progress { id } => molecule(MolVerb::Progress { id: Some(id) }, out),
        WispVerb::Close { id, reason } => molecule(MolVerb::Close { id, reason }, out),
    }
}

/// The short-lived issues.
fn ephemeral(with_closed: bool, out: &mut Out<'_>) -> Result<Vec<Row>, AppError> {
    let mut found = Selection::all(out).and([Condition::Field(Field::Ephemeral, Test::Flag(true))]);
    found.ledger.all = with_closed;
    Ok(found.find(out)?.0)
}

fn wisp_of(row: Row, now: i64) -> Wisp {
    let task = shape::issue(row.task);
    Wisp {
        line: shape::line(&task),
        old: now.saturating_sub(task.updated_at.0) > OLD_AFTER_MS,
        id: task.id,
        title: task.title,
        status: task.status,
        priority: task.priority,
        issue_type: task.issue_type,
        labels: task.labels,
        created_at: task.created_at,
        updated_at: task.updated_at,
    }
}
