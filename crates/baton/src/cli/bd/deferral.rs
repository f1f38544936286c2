//! Issues are put off until later, and taken up again.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::view::View;
use baton_ops::task as tasks;

use super::annotate::show_task;
use super::change::{deadline, print_updated, unchanged};
use super::{EachIssue, Out, shape};
use crate::error::AppError;

pub(super) fn defer(
    ids: &[String],
    until: Option<&str>,
    reason: Option<&str>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    if let Some(until) = until {
        deadline(until)?;
    }
    let note = reason.map(|reason| format!("deferred: {reason}"));
    let set = |task: &View, input: &mut tasks::UpdateInput| {
        // It would be open again, and the reason of its closing would be gone.
        if task.status == "closed" {
            return Err(not_in_state_refusal(task, "open"));
        }
        input.status = Some("deferred".to_owned());
        input.defer = until.map(str::to_owned);
        input.append_notes.clone_from(&note);
        Ok(())
    };
    change_in_state(ids, set, out)
}

pub(super) fn undefer(ids: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    let set = |task: &View, input: &mut tasks::UpdateInput| {
        match task.status.as_str() {
            "deferred" => input.status = Some("open".to_owned()),
            "open" if task.defer_until.is_some() => {}
            _ => return Err(not_in_state_refusal(task, "deferred")),
        }
        input.defer = Some(String::new());
        Ok(())
    };
    change_in_state(ids, set, out)
}

/// Changes issues alike, each if it is in the state for that, and prints them.
fn change_in_state(
    ids: &[String],
    set: impl Fn(&View, &mut tasks::UpdateInput) -> Result<(), Refusal>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let updated = EachIssue::try_all(ids, out, |id, out| {
        let task = show_task(id, out)?.task;
        let mut input = unchanged(&task.id, out);
        set(&task, &mut input)?;
        Ok(shape::changed(out.app.run::<tasks::Update>(&input)?.task))
    })?;
    updated.print(out, |updated| print_updated(updated, out))
}

fn not_in_state_refusal(task: &View, state: &str) -> Refusal {
    let [id, status] = [&task.id, &task.status].map(|text| visible(text));
    let what = format!("{id} is not {state} (status: {status})");
    match task.status.as_str() {
        "closed" => {
            let hint = format!("`bd reopen {id}` opens it again");
            Refusal::new(Kind::Refused, "task_closed", what, hint)
        }
        _ => {
            let hint = "`bd list --status deferred` lists those that are";
            Refusal::new(Kind::Refused, "not_deferred", what, hint)
        }
    }
}
