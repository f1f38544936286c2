//! `bd ready --explain`: why issues can be worked on, and what the others wait for.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::task::gate::Gate;
use baton_model::task::record::{kind_of, metadata_of, target_of};
use baton_model::task::view::View;
use baton_ops::task as tasks;
use serde::Serialize;

use super::annotate::show_task;
use super::blocked::blocked_issues;
use super::list::{self, ReadyFilters, Selection, lines};
use super::{Out, shape};
use crate::error::AppError;

#[derive(Serialize)]
struct ReadinessReport {
    ready: Vec<ReadyReason>,
    blocked: Vec<BlockedReason>,
    cycles: Vec<Vec<String>>,
    summary: ReadinessCounts,
}

/// An issue that can be worked on.
#[derive(Serialize)]
struct ReadyReason {
    #[serde(flatten)]
    issue: tasks::Row,
    reason: String,
    /// What held it back.
    resolved_blockers: Vec<String>,
}

/// An issue that waits.
#[derive(Serialize)]
struct BlockedReason {
    #[serde(flatten)]
    issue: View,
    blocked_by: Vec<Blocker>,
    blocked_by_count: usize,
}

/// What an issue waits for.
#[derive(Clone, Serialize)]
struct Blocker {
    id: String,
    /// Missing for what is in no ledger that can be read here.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i64>,
}

#[derive(Serialize)]
struct ReadinessCounts {
    total_ready: usize,
    total_blocked: usize,
    cycle_count: usize,
}

/// Why an issue can be worked on. Only a dependency that holds back counts: not a relation, and not the whole that it is a part of.
fn reason(row: tasks::Row) -> ReadyReason {
    let holds_back = |edge: &&serde_json::Map<String, serde_json::Value>| {
        Gate::of(kind_of(edge), metadata_of(edge)).is_some()
    };
    let resolved: Vec<String> =
        row.dependencies.iter().filter(holds_back).map(|edge| target_of(edge).to_owned()).collect();
    let reason = match resolved.len() {
        0 => "it waits for nothing".to_owned(),
        1 => "what it depends on is closed".to_owned(),
        count => format!("all {count} that it depends on are closed"),
    };
    let issue = tasks::Row { task: shape::issue(row.task), ..row };
    ReadyReason { issue, reason, resolved_blockers: resolved }
}

fn blocked(
    row: tasks::BlockedRow,
    known: &mut BTreeMap<String, Blocker>,
    out: &mut Out<'_>,
) -> Result<BlockedReason, AppError> {
    let mut blocked_by = Vec::with_capacity(row.blocked_by.len());
    for id in &row.blocked_by {
        if let Some(blocker) = known.get(id) {
            blocked_by.push(blocker.clone());
            continue;
        }
        let blocker = match show_task(id, out) {
            Ok(found) => {
                let View { title, status, priority, .. } = found.task;
                Blocker { id: id.clone(), title: Some(title), status: Some(status), priority: Some(priority) }
            }
            Err(AppError::Refused(_)) => {
                Blocker { id: id.clone(), title: None, status: None, priority: None }
            }
            Err(error) => return Err(error),
        };
        known.insert(id.clone(), blocker.clone());
        blocked_by.push(blocker);
    }
    let blocked_by_count = blocked_by.len();
    Ok(BlockedReason { issue: shape::issue(row.task), blocked_by, blocked_by_count })
}

pub(super) fn explained(
    mut selection: Selection,
    filters: ReadyFilters,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    selection.ledger.edges = true;
    let (items, _) = list::ready_issues(&selection, filters, out)?;
    let ready: Vec<ReadyReason> = items.into_iter().map(reason).collect();
    let mut known = BTreeMap::new();
    let mut waiting = Vec::new();
    for row in blocked_issues(selection.ledger.parent.clone(), 0, out)?.0 {
        waiting.push(blocked(row, &mut known, out)?);
    }
    let cycles = out.app.run::<tasks::Cycles>(&tasks::CyclesInput { project: out.project() })?.items;
    let (total_ready, total_blocked) = (ready.len(), waiting.len());
    let summary = ReadinessCounts { total_ready, total_blocked, cycle_count: cycles.len() };
    out.print(&ReadinessReport { ready, blocked: waiting, cycles, summary }, |all| {
        let ready =
            all.ready.iter().map(|row| format!("{}    {}\n", shape::line(&row.issue.task), row.reason));
        let waits = |row: &BlockedReason| {
            let ids: Vec<&str> = row.blocked_by.iter().map(|blocker| blocker.id.as_str()).collect();
            format!("{}    waits for {}\n", shape::line(&row.issue), visible(&ids.join(", ")))
        };
        lines(ready.chain(all.blocked.iter().map(waits)))
    })
}
