//! Blocked issues, and what they wait for.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_ops::task::{self as tasks, Row};

use super::list::lines;
use super::{Out, shape};
use crate::error::AppError;

/// What blocked issues wait for, by their ids.
#[derive(Default)]
pub(super) struct Blockers(BTreeMap<String, Vec<String>>);

impl Blockers {
    /// Those of the issues of a list; the ledger is asked where one of them is blocked.
    pub(super) fn of(items: &[Row], out: &mut Out<'_>) -> Result<Self, AppError> {
        if !items.iter().any(|row| row.task.blocked == Some(true)) {
            return Ok(Self::default());
        }
        let blocked = blocked_issues(None, out)?;
        Ok(Self(blocked.into_iter().map(|row| (row.task.id, row.blocked_by)).collect()))
    }

    /// An issue in a line for people, with what it waits for.
    pub(super) fn line(&self, issue: &View) -> String {
        let line = shape::line(issue);
        match self.0.get(&issue.id) {
            Some(blockers) if !blockers.is_empty() => {
                format!("{} (blocked by: {})\n", line.trim_end(), visible(&blockers.join(", ")))
            }
            _ => line,
        }
    }
}

pub(super) fn blocked_issues(
    parent: Option<String>,
    out: &mut Out<'_>,
) -> Result<Vec<tasks::BlockedRow>, AppError> {
    let input =
        tasks::BlockedInput { project: out.project(), limit: Some(0), ..tasks::BlockedInput::default() };
    let mut found = out.app.run::<tasks::Blocked>(&input)?.items;
    if let Some(parent) = parent {
        let parent = super::annotate::show_task(&parent, out)?.task.id;
        let below = format!("{parent}.");
        let is_part = |task: &View| task.parent.as_ref() == Some(&parent) || task.id.starts_with(&below);
        found.retain(|row| is_part(&row.task));
    }
    Ok(found)
}

pub(super) fn blocked(limit: Option<u32>, parent: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut found = blocked_issues(parent, out)?;
    let most = match limit.unwrap_or(100) {
        0 => usize::MAX,
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let more = found.len() > most;
    found.truncate(most);
    let issue = |row: tasks::BlockedRow| tasks::BlockedRow { task: shape::issue(row.task), ..row };
    let issues: Vec<tasks::BlockedRow> = found.into_iter().map(issue).collect();
    out.print(&issues, |issues| lines(issues.iter().map(|row| shape::line(&row.task))))?;
    if more {
        out.remark(&format!("{} are shown and there are more: -n 0 shows all", issues.len()));
    }
    Ok(())
}
