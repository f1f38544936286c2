//! How many issues there are.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_ops::task as tasks;
use serde::Serialize;

use super::Out;
use super::list::Selection;
use super::shape::{Group, Groups};
use crate::error::AppError;

/// By what issues are grouped.
#[derive(Clone, Copy)]
pub(super) enum Grouping {
    Status,
    Type,
    Priority,
    Assignee,
    Label,
}

impl Grouping {
    /// The groups that an issue is in.
    fn groups(self, issue: &View) -> Vec<String> {
        let groups = match self {
            Self::Status => vec![issue.status.clone()],
            Self::Type => vec![issue.issue_type.clone()],
            Self::Priority => vec![issue.priority.to_string()],
            Self::Assignee => issue.assignee.iter().cloned().collect(),
            Self::Label => issue.labels.clone(),
        };
        if groups.is_empty() { vec!["(none)".to_owned()] } else { groups }
    }
}

/// How many issues there are.
#[derive(Serialize)]
struct Total {
    count: usize,
}

pub(super) fn count(selection: Selection, by: Option<Grouping>, out: &mut Out<'_>) -> Result<(), AppError> {
    let (found, _) = selection.find(out)?;
    let Some(by) = by else {
        return out.print(&Total { count: found.len() }, |total| format!("{}\n", total.count));
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for group in found.iter().flat_map(|row| by.groups(&row.task)) {
        *counts.entry(group).or_default() += 1;
    }
    out.print(&Groups::new(counts, found.len()), |counted| {
        let line = |g: &Group| format!("{}: {}\n", visible(&g.group), g.count);
        format!("total: {}\n", counted.total) + &counted.groups.iter().map(line).collect::<String>()
    })
}

/// Figures under the name that Beads has for them.
#[derive(Serialize)]
struct Figures {
    summary: tasks::TaskFigures,
}

pub(super) fn stats(out: &mut Out<'_>) -> Result<(), AppError> {
    let stats = out.app.run::<tasks::Stats>(&tasks::StatsInput { project: out.project(), durable: true })?;
    out.print(&Figures { summary: stats.summary }, |stats| {
        let it = &stats.summary;
        let counts = [
            ("Total Issues", it.total_issues),
            ("Open", it.open_issues),
            ("In Progress", it.in_progress_issues),
            ("Blocked", it.blocked_issues),
            ("Deferred", it.deferred_issues),
            ("Closed", it.closed_issues),
            ("Ready to Work", it.ready_issues),
            ("Pinned", it.pinned_issues),
            ("Epics Ready to Close", it.epics_eligible_for_closure),
        ];
        let lines = counts.into_iter().map(|(name, count)| format!("{name}: {count}\n"));
        let lead = format!("Avg Lead Time: {} hours\n", it.average_lead_time_hours);
        lines.chain([lead]).collect()
    })
}
