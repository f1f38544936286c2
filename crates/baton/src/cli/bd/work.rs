//! The verbs that change issues.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::task as tasks;
use serde_json::Value;

use super::annotate::show_task;
use super::args::Work;
use super::change::{check_type, claim, create, increment, print_updated, unchanged, update};
use super::close::{close, reopen};
use super::replace::{self, Replacement};
use super::{EachIssue, Out, batch, deferral, edit, remove, shape, write};
use crate::error::AppError;

pub(super) fn run(verb: Work, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        Work::Create(args) => create(*args, out),
        Work::Q { title, labels, parent, priority, issue_type } => {
            check_type(issue_type.as_deref(), out)?;
            let usual = tasks::CreateInput::default();
            let input = tasks::CreateInput {
                project: out.project(),
                identity: out.identity(),
                title: title.join(" "),
                labels,
                parent,
                priority: priority.unwrap_or(usual.priority),
                issue_type: issue_type.unwrap_or(usual.issue_type),
                ..tasks::CreateInput::default()
            };
            let made = out.app.run::<tasks::Create>(&input)?.task.view;
            if out.json {
                return super::change::print_created(made, out);
            }
            write(&format!("{}\n", visible(&made.id)))
        }
        Work::Increment(args) => increment(*args, out),
        Work::Update(args) => update(*args, out),
        Work::Close(args) => close(args, out),
        Work::Reopen { ids, reason } => reopen(ids, reason, out),
        Work::Unclaim { ids, reason, force } => unclaim(&ids, reason.as_deref(), force, out),
        Work::Heartbeat { ids } => heartbeat(&ids, out),
        Work::Delete(args) => remove::delete(&args, out),
        Work::Rename { id, to } => remove::rename(id, to, out),
        Work::Batch { file, dry_run, .. } => batch::batch(file.as_deref(), dry_run, out),
        other => run_shortcut(other, out),
    }
}

/// The verbs that stand for an update.
fn run_shortcut(verb: Work, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        Work::Assign { id, name } => {
            let assignee = Some(if name.is_empty() { name } else { super::identity(&name) });
            change(&[id], |input| input.assignee.clone_from(&assignee), out)
        }
        Work::Priority { id, priority } => change(&[id], |input| input.priority = Some(priority), out),
        Work::Tag { id, label } => change(&[id], |input| input.add_labels = vec![label.clone()], out),
        Work::Note { id, text } => {
            let text = text.read("note")?;
            change(&[id], |input| input.append_notes = Some(text.clone()), out)
        }
        Work::Defer { ids, until, reason } => deferral::defer(&ids, until.as_deref(), reason.as_deref(), out),
        Work::Undefer { ids } => deferral::undefer(&ids, out),
        Work::Edit { id, title, design, notes, acceptance, .. } => {
            let field = match (title, design, notes, acceptance) {
                (true, ..) => edit::Field::Title,
                (_, true, ..) => edit::Field::Design,
                (_, _, true, _) => edit::Field::Notes,
                (.., true) => edit::Field::Acceptance,
                _ => edit::Field::Description,
            };
            edit::edit(&id, field, out)
        }
        Work::Promote { id, reason } => {
            if let Some(reason) = reason {
                let (project, identity) = (out.project(), out.identity());
                let text = format!("promoted: {reason}");
                let input = tasks::CommentInput { project, identity, id: id.clone(), text };
                out.app.run::<tasks::Comment>(&input)?;
            }
            let promote = |input: &mut tasks::UpdateInput| {
                input.extra.extend(["ephemeral", "wisp_type"].map(|key| (key.to_owned(), Value::Null)));
            };
            change(&[id], promote, out)
        }
        Work::Duplicate { id, of } => replace::replaced(&id, &of, Replacement::Duplicate, out),
        Work::Supersede { id, with } => replace::replaced(&id, &with, Replacement::Superseded, out),
        // The others were taken before.
        _ => Ok(()),
    }
}

/// Changes issues alike, and prints them.
fn change(ids: &[String], set: impl Fn(&mut tasks::UpdateInput), out: &mut Out<'_>) -> Result<(), AppError> {
    let updated = EachIssue::try_all(ids, out, |id, out| {
        let mut input = unchanged(id, out);
        set(&mut input);
        Ok(shape::changed(out.app.run::<tasks::Update>(&input)?.task))
    })?;
    updated.print(out, |updated| print_updated(updated, out))
}

fn unclaim(ids: &[String], reason: Option<&str>, force: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let released = EachIssue::try_all(ids, out, |id, out| {
        let reason = reason.or(force.then_some("given back by force"));
        let input = tasks::ReleaseInput {
            project: out.project(),
            identity: out.identity(),
            id: id.clone(),
            why: reason.map(str::to_owned),
            force,
            ..tasks::ReleaseInput::default()
        };
        out.app.run::<tasks::Release>(&input)?;
        Ok(shape::unclaimed(show_task(id, out)?.task))
    })?;
    let line = |issue: &tasks::ClaimedTask| format!("✓ Unclaimed {}\n", visible(shape::claimed_id(issue)));
    released.print(out, |released| out.print(released, |all| all.iter().map(line).collect()))
}

/// Renews claims that the caller has, and claims what is in progress without one; another's claim is refused.
fn heartbeat(ids: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    let mut renewed = Vec::new();
    for id in ids {
        let task = show_task(id, out)?.task;
        if task.status != "in_progress" {
            let what = format!("{} is {}, not in progress", visible(&task.id), visible(&task.status));
            return Err(
                Refusal::new(Kind::Refused, "not_claimed", what, "bd update ID --claim takes it").into()
            );
        }
        renewed.extend(out.app.run::<tasks::ClaimTask>(&claim(Some(task.id), out))?.task.map(shape::claimed));
    }
    out.print(&renewed, |all| {
        all.iter().map(|issue| format!("✓ Renewed {}\n", visible(shape::claimed_id(issue)))).collect()
    })
}
