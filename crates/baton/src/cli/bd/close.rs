//! Issues are closed and opened again.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::task as tasks;
use serde::Serialize;

use super::annotate::show_task;
use super::args::Close;
use super::change::{claim, unchanged};
use super::shape::{self, ClosedIssue};
use super::{EachIssue, Out, gate};
use crate::cli::{read_input, task};
use crate::error::AppError;

/// What a close answers: the closed issues alone, or with what was asked for beside them.
#[derive(Serialize)]
#[serde(untagged)]
enum CloseOutput {
    Alone(Vec<ClosedIssue>),
    Next {
        closed: Vec<ClosedIssue>,
        claimed: Option<tasks::ClaimedTask>,
    },
    Continued {
        closed: Vec<ClosedIssue>,
        #[serde(rename = "continue")]
        next: Option<tasks::ClaimedTask>,
    },
    Suggested {
        closed: Vec<ClosedIssue>,
        unblocked: Vec<tasks::ShowOutput>,
    },
}

impl CloseOutput {
    fn text(&self) -> String {
        let (closed, ready, next) = match self {
            Self::Alone(closed) => (closed, &[][..], None),
            Self::Next { closed, claimed } => (closed, &[][..], claimed.as_ref()),
            Self::Continued { closed, next } => (closed, &[][..], next.as_ref()),
            Self::Suggested { closed, unblocked } => (closed, unblocked.as_slice(), None),
        };
        let closed = closed.iter().map(|closed| {
            let reason = closed.issue.close_reason.as_deref().filter(|reason| !reason.trim().is_empty());
            let reason = reason.map(|reason| format!(": {}", visible(reason))).unwrap_or_default();
            format!("✓ Closed {}{reason}\n{}", visible(&closed.issue.id), closed.effects())
        });
        let ready = ready.iter().map(|found| format!("  ready now: {}", shape::line(&found.task)));
        let next = next.map(|next| format!("  next: {}", shape::claimed_line(next)));
        closed.chain(ready).chain(next).collect()
    }
}

/// Takes the reason from the end of the ids, where Beads has it as well: `bd close ID "Fixed"`. A text with a space is no id; a
/// single word is taken for the reason where it has neither digit nor hyphen, as every id has, and names no issue.
fn split_reason(args: &mut Close, out: &mut Out<'_>) {
    let Some(last) = args.ids.last().filter(|_| args.ids.len() > 1) else { return };
    if !args.reason.is_empty() || args.reason_file.is_some() {
        return;
    }
    let is_text = last.contains(char::is_whitespace);
    let is_word = !last.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '_'));
    if is_text || (is_word && show_task(last, out).is_err()) {
        args.reason.extend(args.ids.pop());
    }
}

pub(super) fn close(mut args: Close, out: &mut Out<'_>) -> Result<(), AppError> {
    super::view::check_named(&args.ids, "close", out)?;
    split_reason(&mut args, out);
    let context = task::object("--context", args.context.as_deref())?.unwrap_or_default();
    let reasons = reasons(&args)?;
    let (mut closed, mut unblocked, mut failed) = (Vec::new(), Vec::new(), None);
    for (id, reason) in args.ids.iter().zip(reasons) {
        if !args.force
            && let Err(refusal) = refuse_kept(id, out)
        {
            if args.ids.len() < 2 {
                return Err(refusal);
            }
            super::print_error(&refusal, Some(id))?;
            failed = Some(refusal);
            continue;
        }
        let input = tasks::CloseInput {
            project: out.project(),
            identity: out.identity(),
            id: id.clone(),
            token: None,
            result: args.result.as_deref().and_then(tasks::CloseResult::from_word),
            reason,
            context: context.clone(),
            force: args.force,
        };
        match out.app.run::<tasks::Close>(&input) {
            Ok(mut answer) => {
                unblocked.append(&mut answer.unblocked);
                closed.push(ClosedIssue::from(answer));
            }
            // One that cannot be closed does not keep the others from it.
            Err(error @ AppError::Refused(_)) if args.ids.len() > 1 => {
                super::print_error(&error, Some(id))?;
                failed = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let (Some(error), true) = (failed, closed.is_empty()) {
        return Err(error);
    }
    if let Some(session) = &args.session {
        for issue in &closed {
            let mut input = unchanged(&issue.issue.id, out);
            input.extra.insert("closed_by_session".to_owned(), session.as_str().into());
            out.app.run::<tasks::Update>(&input)?;
        }
    }
    let payload = answer_with(&args, closed, unblocked, out)?;
    out.print(&payload, CloseOutput::text)
}

/// Refuses a pinned issue, and a gate whose condition is not met.
fn refuse_kept(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let Ok(tasks::ShowOutput { task, .. }) = show_task(id, out) else { return Ok(()) };
    let name = visible(&task.id);
    if task.status == "pinned" {
        let hint = format!(
            "`bd update {name} --status open` unpins it; `bd close {name} --force` closes it as it is"
        );
        return Err(Refusal::new(Kind::Refused, "task_pinned", format!("{name} is pinned"), hint).into());
    }
    if task.issue_type != gate::GATE || task.status == "closed" {
        return Ok(());
    }
    let Some(awaited) = gate::unmet(&task, out)? else { return Ok(()) };
    let what = format!("{name} is a gate that waits for {}", visible(&awaited));
    let hint = format!(
        "`bd gate resolve {name}` opens it when that is done; `bd close {name} --force` closes it all the same"
    );
    Err(Refusal::new(Kind::Refused, "gate_unmet", what, hint).into())
}

/// Closes issues for one reason.
pub(super) fn close_with(ids: &[String], reason: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    close(Close { ids: ids.to_vec(), reason: vec![reason.to_owned()], ..Close::default() }, out)
}

/// A reason for each issue: the one that is given, or the one at its place.
fn reasons(args: &Close) -> Result<Vec<Option<String>>, AppError> {
    let given = match &args.reason_file {
        Some(path) => vec![read_input(path)?.trim_end().to_owned()],
        None => args.reason.clone(),
    };
    match given.as_slice() {
        [] => Ok(vec![None; args.ids.len()]),
        [one] => Ok(vec![Some(one.clone()); args.ids.len()]),
        several if several.len() == args.ids.len() => Ok(several.iter().cloned().map(Some).collect()),
        several => Err(Refusal::invalid(
            "usage",
            format!("{} reasons are given for {} issues", several.len(), args.ids.len()),
            "give --reason once for all of them, or once for each",
        )
        .into()),
    }
}

/// The closed issues with what was asked for beside them.
fn answer_with(
    args: &Close,
    closed: Vec<ClosedIssue>,
    unblocked: Vec<String>,
    out: &mut Out<'_>,
) -> Result<CloseOutput, AppError> {
    if args.claim_next {
        let next = out.app.run::<tasks::ClaimTask>(&claim(None, out))?;
        return Ok(CloseOutput::Next { closed, claimed: next.task.map(shape::claimed) });
    }
    if args.next_part {
        let parent = closed.iter().find_map(|closed| closed.issue.parent.clone());
        let next = parent.map(|parent| next_part(&parent, args.no_auto, out)).transpose()?.flatten();
        return Ok(CloseOutput::Continued { closed, next });
    }
    if args.suggest_next && !unblocked.is_empty() {
        let mut next = Vec::new();
        for id in &unblocked {
            let found = show_task(id, out)?;
            next.push(tasks::ShowOutput { task: shape::issue(found.task), ..found });
        }
        return Ok(CloseOutput::Suggested { closed, unblocked: next });
    }
    Ok(CloseOutput::Alone(closed))
}

/// The next part of an issue that can be worked on, claimed unless it is only to be named.
fn next_part(
    parent: &str,
    only_named: bool,
    out: &mut Out<'_>,
) -> Result<Option<tasks::ClaimedTask>, AppError> {
    let input = tasks::ReadyInput {
        project: out.project(),
        parent: Some(parent.to_owned()),
        limit: Some(1),
        assigned_first: Some(String::new()),
        ..tasks::ReadyInput::default()
    };
    let Some(row) = out.app.run::<tasks::Ready>(&input)?.items.into_iter().next() else { return Ok(None) };
    if only_named {
        return Ok(Some(shape::unclaimed(row.task)));
    }
    let claimed = out.app.run::<tasks::ClaimTask>(&claim(Some(row.task.id), out))?;
    Ok(claimed.task.map(shape::claimed))
}

pub(super) fn reopen(ids: Vec<String>, reason: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let why = reason.as_deref().map(|reason| format!(": {}", visible(reason))).unwrap_or_default();
    let mut open_already = Vec::new();
    let reopened = EachIssue::try_all(&ids, out, |id, out| {
        let (project, identity) = (out.project(), out.identity());
        let status = show_task(id, out)?.task.status;
        if !matches!(status.as_str(), "closed" | "deferred") {
            let what = match status.as_str() {
                "open" => "open already".to_owned(),
                other => format!("not closed (status: {})", visible(other)),
            };
            out.remark(&format!("{} is {what}", visible(id)));
            open_already.push(id.clone());
        }
        let input = tasks::ReopenInput { project, identity, id: id.clone(), reason: reason.clone() };
        Ok(shape::issue(out.app.run::<tasks::Reopen>(&input)?.task.view))
    })?;
    reopened.print(out, |reopened| {
        let changed = reopened.iter().filter(|issue| !open_already.contains(&issue.id));
        out.print(reopened, |_| {
            changed.map(|issue| format!("↻ Reopened {}{why}\n", visible(&issue.id))).collect()
        })
    })
}

/// Small tasks that are done.
#[derive(Serialize)]
struct ClosedTodos {
    closed: Vec<String>,
    reason: String,
}

/// `bd todo done`.
pub(super) fn close_todos(ids: &[String], reason: String, out: &mut Out<'_>) -> Result<(), AppError> {
    let closed = EachIssue::try_all(ids, out, |id, out| {
        let (project, identity) = (out.project(), out.identity());
        let reason = Some(reason.clone());
        let input =
            tasks::CloseInput { project, identity, id: id.clone(), reason, ..tasks::CloseInput::default() };
        Ok(out.app.run::<tasks::Close>(&input)?.task.view.id)
    })?;
    closed.print(out, |closed| {
        let answer = ClosedTodos { closed: closed.to_vec(), reason: reason.clone() };
        out.print(&answer, |answer| {
            answer.closed.iter().map(|id| format!("✓ Closed {}\n", visible(id))).collect()
        })
    })
}
