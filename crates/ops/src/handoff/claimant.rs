//! The claimant of the task of a hand-off that is not accepted: a live claim of the task counts as it does for the task itself, in this
//! ledger and in another one on the same Beads file.

use baton_model::actor::Actor;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::{check_identity, short};
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::Task;
use baton_model::task::filter::is_assigned_to;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff, task};

use super::acceptor;
use crate::ledger::Author;
use crate::op::Env;
use crate::resolve;
use crate::session::{SignalAuthor, send_signal_from};
use crate::task::{begun_in_file, holder_elsewhere};

/// Refuses to accept or decline a hand-off while another agent holds its task.
pub(crate) fn require_unheld(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    identity: &str,
) -> Result<(), Failure> {
    let Some(held) = held_task(tx, env, known)? else { return Ok(()) };
    if let Some(name) = holder_elsewhere(&held).filter(|_| !is_assigned_to(&held, identity)) {
        let what = format!("task {} is in progress with {name}", held.task_id);
        let hint = format!(
            "wait until {name} has closed it or given it back; `baton task claim {} --force --why REASON` takes it over",
            held.task_id
        );
        let refusal = Refusal::new(Kind::Conflict, "task_claimed", what, hint)
            .with("task_id", held.task_id.as_str())
            .with("holder", name.to_owned());
        return Err(super::with_id(refusal, &known.handoff_id).into());
    }
    let project_id = known.to_project_id.as_str();
    let session = resolve::default_session(tx, env, project_id, identity)?;
    let author = Author { project_id, identity, session: session.as_ref() };
    crate::task::require_unheld(tx, env, &author, &held)
}

/// The hand-off as it stands now: one past its deadline has expired, unless an agent holds its task.
pub(crate) fn as_of_now(tx: &mut Tx<'_>, env: &Env<'_>, known: Handoff) -> Result<Handoff, Failure> {
    let shown = known.clone().as_of(env.now);
    let is_expiring = shown.state != known.state;
    Ok(if is_expiring && held_task(tx, env, &known)?.is_some() { known } else { shown })
}

/// The same of each.
pub(crate) fn each_as_of_now(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: Vec<Handoff>,
) -> Result<Vec<Handoff>, Failure> {
    known.into_iter().map(|one| as_of_now(tx, env, one)).collect()
}

/// The task of a hand-off that is not accepted, if an agent holds it under a live claim, or another ledger has it in progress.
pub(crate) fn held_task(tx: &mut Tx<'_>, env: &Env<'_>, known: &Handoff) -> Result<Option<Task>, Failure> {
    let Some(id) = known.task_id.as_ref().filter(|_| known.state != State::Accepted) else { return Ok(None) };
    match task::get(tx, &known.to_project_id, id)? {
        Some(found) if holder_elsewhere(&found).is_some() => Ok(Some(found)),
        Some(found) if found.is_open() && crate::task::is_claim_live(tx, env, &found)? => Ok(Some(found)),
        Some(found) => begun_in_file(tx, env, &found),
        None => Ok(None),
    }
}

/// Refuses to begin or to end the task of a hand-off that no agent took before its deadline: it has expired at this moment, whether or not
/// the ledger says so already.
pub(crate) fn require_unexpired(tx: &mut Tx<'_>, env: &Env<'_>, task: &Task) -> Result<(), Failure> {
    let Some(expired) = expired_with(tx, env, task)? else { return Ok(()) };
    let (id, deadline) = (&expired.handoff_id, expired.expires_at.unwrap_or(env.now));
    let what = format!(
        "hand-off {} of task {} expired at {}, before anybody took it",
        short(id),
        task.task_id,
        rfc3339(deadline)
    );
    let no = expired.state.advance(Event::Accept).err().map(|no| no.hint).unwrap_or_default();
    let refusal = Refusal::new(Kind::Conflict, "handoff_state", what, no)
        .with("handoff_id", id.as_str())
        .with("task_id", task.task_id.as_str())
        .with("state", State::Expired.as_str());
    Err(super::with_id(refusal, id).into())
}

/// Whether a task belongs to a hand-off that has expired at this moment.
pub(crate) fn is_overdue(tx: &mut Tx<'_>, env: &Env<'_>, task: &Task) -> Result<bool, Failure> {
    Ok(expired_with(tx, env, task)?.is_some())
}

/// The hand-off of an open task, where the ledger has it as offered and its deadline has passed.
fn expired_with(tx: &mut Tx<'_>, env: &Env<'_>, task: &Task) -> Result<Option<Handoff>, Failure> {
    if !task.is_open() || !task.extra.contains_key("handoff_id") {
        return Ok(None);
    }
    let Some(known) = handoff::by_task(tx, &task.project_id, &task.task_id)? else { return Ok(None) };
    let was = known.state;
    let now = as_of_now(tx, env, known)?;
    Ok(Some(now).filter(|now| now.state == State::Expired && was != State::Expired))
}

/// Tells the agent that holds the task of a hand-off, which had ended before, that its issue was closed.
pub(super) fn announce_closed_issue(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Handoff,
    by: Actor<'_>,
    (words, is_completed): (Option<&str>, bool),
) -> Result<(), Failure> {
    let Some(held) = held_task(tx, env, known)? else { return Ok(()) };
    let Some(holder) = holder_of(&held).filter(|holder| !by.is(holder)) else { return Ok(()) };
    let how = if is_completed { "" } else { " as not planned" };
    let words = words.map(|words| format!("{words}\n\n")).unwrap_or_default();
    let subject =
        format!("{} closed the issue of task {}{how}, which you had claimed", by.label(), held.task_id);
    let text = format!(
        "{words}The task is closed, and your claim has ended. To say what you have done: baton task comment {0} TEXT; to go on: baton task reopen {0}",
        held.task_id
    );
    send_signal_from(tx, env, (&known.to_project_id, by.into(), &holder), (&subject, &text))
}

/// The agent that holds a task, here or by the Beads file.
fn holder_of(held: &Task) -> Option<String> {
    let holder = holder_elsewhere(held).or_else(|| held.claim.as_ref().map(|claim| claim.by.as_str()));
    holder.filter(|name| check_identity(name).is_ok()).map(str::to_owned)
}

/// Tells the agent that holds the task of a hand-off, which was not accepted, that another ended it.
pub(super) fn announce_end(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    ended: &Handoff,
    by: SignalAuthor<'_>,
    why: Option<&str>,
) -> Result<(), Failure> {
    let Some(held) = held_task(tx, env, ended)? else { return Ok(()) };
    let Some(holder) = holder_of(&held).filter(|holder| !by.actor.is(holder)) else { return Ok(()) };
    let relation = format!("whose task {} you had claimed", held.task_id);
    acceptor::announce_end(tx, env, ended, (&holder, &relation), (by, why))
}
