//! What changes about a task after it was handed over: brought to its issue, and from its issue to the task.

use baton_model::actor::Actor;
use baton_model::delta::Kind as Delta;
use baton_model::handoff::{Handoff, State};
use baton_model::issue::{Edit, labels};
use baton_model::packet::one_line;
use baton_model::saga::{Kind, Step};
use baton_model::task::Task;
use baton_store::{Failure, Tx, handoff, handoff_step, task};
use serde_json::json;

use super::claimant;
use super::create::check_issue;
use super::steps::close_as;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::saga::send_to_issue;
use crate::task::update_without_delta;

/// After the receiver has changed the task through Baton: queues the update of its issue as a step.
pub(crate) fn task_changed(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    before: &Task,
    after: &Task,
) -> Result<(), Failure> {
    // Only the task of a hand-off may have an issue, or be on its way to one.
    if !after.extra.contains_key("handoff_id") {
        return Ok(());
    }
    let Some(known) = handoff::by_task(tx, &after.project_id, &after.task_id)? else { return Ok(()) };
    let edit = edit(&known, before, after);
    if edit.is_empty() {
        return Ok(());
    }
    check_issue(edit.title.as_deref().unwrap_or_default(), &edit.add)?;
    send_to_issue(tx, env, &known, Kind::Edit, &json!(edit).to_string())
}

/// The difference as the issue shows it.
fn edit(known: &Handoff, before: &Task, after: &Task) -> Edit {
    let was_open = before.is_open();
    // While the hand-off is on its way, its own end closes the issue, with the result.
    let open = (was_open != after.is_open() && (!was_open || is_ended(known.state))).then_some(!was_open);
    let (old, new) = (labels(&before.labels, before.priority), labels(&after.labels, after.priority));
    let without = |all: &[String], other: &[String]| -> Vec<String> {
        all.iter().filter(|label| !other.contains(label)).cloned().collect()
    };
    Edit {
        open,
        title: (before.title != after.title).then(|| after.title.clone()),
        add: without(&new, &old),
        remove: without(&old, &new),
    }
}

/// Whether nothing moves the hand-off any more but a person who tries it again.
fn is_ended(state: State) -> bool {
    !matches!(state, State::Planned | State::Pending | State::Offered | State::Accepted)
}

/// What a task says whose issue was closed without a word.
const CLOSED_SILENTLY: &str = "the issue was closed";
/// The same of an issue that was closed as not planned.
const NOT_PLANNED_SILENTLY: &str = "the issue was closed as not planned";

/// What was done to an issue whose hand-off had ended.
#[derive(Clone, Copy)]
pub(super) enum IssueChange<'a> {
    /// It was opened again.
    Reopened,
    /// It was closed, with these words if there were any, and as one that was carried out or not.
    Closed { words: Option<&'a str>, is_completed: bool },
}

/// Reopens or closes the task after its issue was changed once the hand-off had ended. Returns whether the task changed.
pub(super) fn issue_changed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Handoff,
    change: IssueChange<'_>,
    by: Actor<'_>,
) -> Result<bool, Failure> {
    let Some(id) = &known.task_id else { return Ok(false) };
    let is_open = matches!(change, IssueChange::Reopened);
    if !is_ended(known.state) {
        return Ok(false);
    }
    let Some(row) = task::get(tx, &known.to_project_id, id)?.filter(|row| row.is_open() != is_open) else {
        return Ok(false);
    };
    let word = match change {
        IssueChange::Reopened => {
            let mut again = Task { updated_at: env.now, ..row.clone() };
            again.set_status("open", env.now);
            update_without_delta(tx, &row, &again)?;
            "is open again"
        }
        IssueChange::Closed { words, is_completed } => {
            claimant::announce_closed_issue(tx, env, known, by, (words, is_completed))?;
            let silent = if is_completed { CLOSED_SILENTLY } else { NOT_PLANNED_SILENTLY };
            close_as(tx, env, &row, (words.unwrap_or(silent), is_completed))?;
            "is closed"
        }
    };
    let mut summary = format!("task {id} {word}: so is its issue");
    if let IssueChange::Closed { words: Some(words), .. } = change {
        summary = format!("{summary}: {}", one_line(words));
    }
    let author = Author { project_id: &known.to_project_id, identity: by.name, session: None };
    append_json(tx, env, &author, Delta::Other, &json!({ "summary": summary, "task_id": id }))?;
    // It is looked at for a while longer.
    handoff::put(tx, &Handoff { updated_at: env.now, ..known.clone() })?;
    Ok(true)
}

/// Whether the task of a hand-off that has ended would follow its issue, were nothing on its way there.
pub(super) fn is_held_back(tx: &mut Tx<'_>, known: &Handoff, is_open: bool) -> Result<bool, Failure> {
    let Some(id) = known.task_id.as_ref().filter(|_| is_ended(known.state)) else { return Ok(false) };
    let task = task::get(tx, &known.to_project_id, id)?;
    Ok(task.is_some_and(|task| task.is_open() != is_open) && !is_settled(tx, known)?)
}

/// Whether nothing is on its way to the issue of a hand-off: while it is, the state of the issue is outdated.
pub(super) fn is_settled(tx: &mut Tx<'_>, known: &Handoff) -> Result<bool, Failure> {
    let steps = handoff_step::of(tx, &known.handoff_id)?;
    Ok(steps.iter().all(|step| step.kind == Kind::DuplicateCheck || Step::is_over(step)))
}
