//! Blocked issues, and what they wait for.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::task::view::View;
use baton_ops::task::{self as tasks, Row};

use super::list::lines;
use super::{Out, shape};
use crate::error::AppError;

/// How many blocked issues are shown when nothing is said.
const USUAL: u32 = 100;

/// What blocked issues wait for, by their ids.
#[derive(Default)]
pub(super) struct Blockers(BTreeMap<String, Vec<String>>);

impl Blockers {
    /// Those of the issues of a list; the ledger is asked where one of them is blocked.
    pub(super) fn of(items: &[Row], out: &mut Out<'_>) -> Result<Self, AppError> {
        let blocked = items.iter().filter(|row| row.task.blocked == Some(true));
        let ids: Vec<String> = blocked.map(|row| row.task.id.clone()).collect();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        // Many are read in the order of the ledger, which is faster than one after another.
        let ids = if ids.len() > MOST_BY_ID { Vec::new() } else { ids };
        let input = tasks::BlockedInput {
            project: out.project(),
            ids,
            limit: Some(0),
            ..tasks::BlockedInput::default()
        };
        let blocked = out.app.run::<tasks::Blocked>(&input)?.items;
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

/// The most issues that are looked up by their ids.
const MOST_BY_ID: usize = 500;

/// Blocked issues, those of a whole alone where one is named; at most so many (0 for all), and whether there are more.
pub(super) fn blocked_issues(
    parent: Option<String>,
    limit: u32,
    out: &mut Out<'_>,
) -> Result<(Vec<tasks::BlockedRow>, bool), AppError> {
    let page = if parent.is_some() { 0 } else { limit };
    let input = tasks::BlockedInput {
        project: out.project(),
        limit: Some(i64::from(page)),
        ..tasks::BlockedInput::default()
    };
    let tasks::BlockedOutput { items: mut found, next, .. } = out.app.run::<tasks::Blocked>(&input)?;
    let Some(parent) = parent else { return Ok((found, next.is_some())) };
    let parent = super::annotate::show_task(&parent, out)?.task.id;
    let below = format!("{parent}.");
    let is_part = |task: &View| task.parent.as_ref() == Some(&parent) || task.id.starts_with(&below);
    found.retain(|row| is_part(&row.task));
    let most = if limit == 0 { usize::MAX } else { usize::try_from(limit).unwrap_or(usize::MAX) };
    let more = found.len() > most;
    found.truncate(most);
    Ok((found, more))
}

pub(super) fn blocked(limit: Option<u32>, parent: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let (found, more) = blocked_issues(parent, limit.unwrap_or(USUAL), out)?;
    let issue = |row: tasks::BlockedRow| tasks::BlockedRow { task: shape::issue(row.task), ..row };
    let issues: Vec<tasks::BlockedRow> = found.into_iter().map(issue).collect();
    out.print(&issues, |issues| lines(issues.iter().map(|row| shape::line(&row.task))))?;
    if more {
        out.remark(&format!("{} are shown and there are more: -n 0 shows all", issues.len()));
    }
    Ok(())
}
