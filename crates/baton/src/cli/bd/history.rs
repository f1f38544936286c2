//! `bd history`: what changed in an issue, newest first.

use baton_model::delta::{Kind, Row};
use baton_model::id::visible;
use baton_model::task::view::View;
use baton_model::time::Timestamp;
use baton_ops::ledger::{LedgerList, LedgerListInput};
use serde::Serialize;

use super::annotate::{RENAMES, show_present_task, show_task};
use super::{Out, shape};
use crate::error::AppError;

/// A change of an issue, under the names that Beads has for it and under those of the ledger.
#[derive(Serialize)]
struct Change {
    #[serde(rename = "CommitHash")]
    commit_hash: String,
    #[serde(rename = "Committer")]
    committer: String,
    #[serde(rename = "CommitDate")]
    commit_date: Timestamp,
    #[serde(rename = "Issue")]
    issue: IssueState,
    seq: i64,
    at: Timestamp,
    by: String,
    summary: String,
}

/// An issue after a change.
#[derive(Serialize)]
#[serde(untagged)]
enum IssueState {
    /// After the last one: all of it.
    Present(Box<View>),
    /// After an earlier one: what the ledger still knows of it.
    Former { id: String, title: String, created_at: Timestamp },
}

pub(super) fn history(id: &str, limit: Option<u32>, out: &mut Out<'_>) -> Result<(), AppError> {
    let issue = show_present_task(id, out)?.task;
    let ids = all_ids(&issue, out)?;
    let mut changes = changes_of(&ids, issue, out)?;
    let most = limit.filter(|limit| *limit > 0).map_or(usize::MAX, |limit| limit as usize);
    changes.truncate(most);
    let nothing = format!(
        "No history of {}: the ledger has it as it came; `git log -p .beads/issues.jsonl` shows what the file had\n",
        visible(&ids[0])
    );
    out.print(&changes, |all| {
        let line = |change: &Change| {
            let at = serde_json::to_value(change.at).ok().and_then(|at| at.as_str().map(str::to_owned));
            format!("{} {}: {}\n", at.unwrap_or_default(), visible(&change.by), visible(&change.summary))
        };
        let text: String = all.iter().map(line).collect();
        if text.is_empty() { nothing } else { text }
    })
}

/// The id of an issue, and those that it had before.
fn all_ids(issue: &View, out: &mut Out<'_>) -> Result<Vec<String>, AppError> {
    let mut ids = vec![issue.id.clone()];
    let mut former = issue.other_text("renamed_from");
    while let Some(id) = former.filter(|id| !ids.contains(id) && ids.len() < RENAMES) {
        ids.push(id.clone());
        former = match show_task(&id, out) {
            Ok(found) => found.task.other_text("renamed_from"),
            Err(AppError::Refused(_)) => None,
            Err(error) => return Err(error),
        };
    }
    Ok(ids)
}

/// What the ledger says of an issue, newest first.
fn changes_of(ids: &[String], issue: View, out: &mut Out<'_>) -> Result<Vec<Change>, AppError> {
    let mut input = LedgerListInput {
        project: out.project(),
        kind: Some(Kind::Other.as_str().to_owned()),
        limit: Some(500),
        ..LedgerListInput::default()
    };
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let page = out.app.run::<LedgerList>(&input)?;
        let is_of = |row: &Row| row.fields().task_id.is_some_and(|id| ids.contains(&id));
        rows.extend(page.items.into_iter().filter(is_of));
        match page.next {
            Some(next) => input.after = next,
            None => break,
        }
    }
    let mut title = issue.title.clone();
    let mut present = Some(Box::new(shape::issue(issue.clone())));
    let change = |row: Row| {
        let body = row.fields();
        let id = body.task_id.unwrap_or_default();
        let former = || IssueState::Former { id, title: title.clone(), created_at: issue.created_at };
        let state = present.take().map_or_else(former, IssueState::Present);
        // Before this change it was called so.
        title = body.replaced.title.unwrap_or_else(|| title.clone());
        Change {
            commit_hash: row.delta_id,
            committer: row.identity.clone(),
            commit_date: row.created_at,
            issue: state,
            seq: row.seq,
            at: row.created_at,
            by: row.identity,
            summary: body.summary.unwrap_or_else(|| "changed".to_owned()),
        }
    };
    Ok(rows.into_iter().rev().map(change).collect())
}
