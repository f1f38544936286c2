//! What becomes of a hand-off when its task has ended, or has another id: by a command of the receiver, or because the Beads file says
//! so, which another home writes, too.

use baton_model::actor::{Actor, ActorType};
use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::{BOT, check_identity};
use baton_model::saga::{self, Kind, Step};
use baton_model::task::Task;
use baton_store::{Failure, Tx, handoff, handoff_step, task};

use super::details::HandoffDetails;
use super::steps::LocalStepOutcome;
use super::{acceptor, record};
use crate::op::Env;
use crate::saga::apply_event;
use crate::task::successor;

/// After the receiver has closed the task through Baton: queues a step that completes the hand-off in both projects, in the name of
/// who closed it.
pub(crate) fn task_closed(tx: &mut Tx<'_>, env: &Env<'_>, closed: &Task, by: &str) -> Result<(), Failure> {
    let Some(mut known) = handoff::by_task(tx, &closed.project_id, &closed.task_id)? else { return Ok(()) };
    if matches!(known.state, State::Offered | State::Accepted) {
        let details = HandoffDetails {
            closed_by: Some(by.to_owned()),
            closed_in_file: false,
            ..HandoffDetails::of(&known)
        };
        known.plan = details.to_text();
        handoff::put(tx, &known)?;
    }
    queue(tx, env, &known)
}

/// Queues the step that ends a hand-off as its task has ended. That is a transaction of its own: it writes in the sender's project.
fn queue(tx: &mut Tx<'_>, env: &Env<'_>, known: &Handoff) -> Result<(), Failure> {
    if !matches!(known.state, State::Offered | State::Accepted) {
        return Ok(());
    }
    let before = handoff_step::of(tx, &known.handoff_id)?;
    let mut steps = before.clone();
    saga::push(&mut steps, &[Kind::Closed], env.now);
    Ok(handoff_step::put(tx, &known.handoff_id, &before, &steps)?)
}

/// Ends a hand-off whose task was closed before its step has run: what is asked for in between does not overtake the close that was
/// acknowledged.
pub(crate) fn end_if_closed(tx: &mut Tx<'_>, env: &mut Env<'_>, known: &mut Handoff) -> Result<(), Failure> {
    let is_queued = |step: &Step| step.kind == Kind::Closed && !Step::is_over(step);
    if !matches!(known.state, State::Offered | State::Accepted)
        || !handoff_step::of(tx, &known.handoff_id)?.iter().any(is_queued)
    {
        return Ok(());
    }
    let was = known.state;
    end(tx, env, known)?;
    match known.state {
        state if state == was => Ok(()),
        State::Declined => apply_event(tx, env, known, Event::Decline),
        _ => apply_event(tx, env, known, Event::Complete),
    }
}

/// After lines of a file were taken in: every hand-off that has not ended names its task as it is called now, and one whose task has
/// ended ends with it. `closed_by`: the identity of an access token whose lines they are, which has closed what they close; of the
/// file of a working copy it is not known who did.
pub(crate) fn follow_file(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    closed_by: Option<&str>,
) -> Result<(), Failure> {
    for mut known in handoff::open_with_task(tx, project_id)? {
        let Some(id) = known.task_id.as_deref() else { continue };
        let Some(mut row) = task::get(tx, project_id, id)? else { continue };
        if let Some(now) = successor(tx, &row)? {
            handoff::rename_task(tx, project_id, (id, &now.task_id))?;
            known.task_id = Some(now.task_id.clone());
            row = now;
        }
        let is_queued = handoff_step::of(tx, &known.handoff_id)?
            .iter()
            .any(|step| step.kind == Kind::Closed && !Step::is_over(step));
        if !row.is_open() && !is_queued {
            if row.status != "tombstone" {
                let closed_by = closed_by.map(str::to_owned);
                let details = HandoffDetails {
                    closed_in_file: closed_by.is_none(),
                    closed_by,
                    ..HandoffDetails::of(&known)
                };
                known.plan = details.to_text();
                handoff::put(tx, &known)?;
            }
            queue(tx, env, &known)?;
        }
    }
    Ok(())
}

/// The task has ended. A closed one completes the hand-off; one that was deleted declines it, because there is nothing that could be
/// done any more.
pub(super) fn end(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
) -> Result<LocalStepOutcome, Failure> {
    let row = match &handoff.task_id {
        Some(id) => task::get(tx, &handoff.to_project_id, id)?.filter(|row| !row.is_open()),
        None => None,
    };
    let Some(row) = row else { return Ok(LocalStepOutcome::Done(None)) };
    let is_deleted = row.status == "tombstone";
    let (state, event) = match (handoff.state, is_deleted) {
        (state, true) => (state, Event::Decline),
        (State::Offered, false) => (State::Accepted, Event::Complete),
        (state, false) => (state, Event::Complete),
    };
    let Ok(state) = state.advance(event) else { return Ok(LocalStepOutcome::Done(None)) };
    let was = std::mem::replace(&mut handoff.state, state);
    handoff.updated_at = env.now;
    let HandoffDetails { closed_in_file, closed_by, .. } = HandoffDetails::of(handoff);
    let in_file = !is_deleted && closed_in_file;
    let by = match (is_deleted, in_file) {
        (true, _) => row.text("deleted_by").map(str::to_owned),
        (false, true) => None,
        // A close that an earlier version acknowledged names no identity: then its assignee has closed it.
        (false, false) => closed_by.or_else(|| row.assignee.clone()),
    };
    let by = by.filter(|name| check_identity(name).is_ok()).unwrap_or_else(|| BOT.to_owned());
    if is_deleted {
        let reason = row.text("delete_reason").filter(|reason| !reason.trim().is_empty());
        let why = reason.map_or_else(
            || "its task was deleted".to_owned(),
            |reason| format!("its task was deleted: {reason}"),
        );
        handoff.result = Some(why.clone());
        acceptor::record_end(tx, env, (was, handoff), Actor::agent(&by).into(), (Some(&why), None))?;
    } else {
        handoff.result = row.close_reason.or(handoff.result.take());
        match in_file {
            true => {
                let reason = handoff.result.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let why = format!("its task was closed in the Beads file{reason}");
                // Who closed it in another home, the file does not say.
                let project_id = handoff.to_project_id.clone();
                let actor = Actor { name: &project_id, kind: ActorType::Project };
                acceptor::record_end(tx, env, (was, handoff), actor.into(), (Some(&why), None))?;
            }
            // The agent that worked on the task has heard of the close itself.
            false => acceptor::record_close(tx, env, (was, handoff), &by)?,
        }
    }
    record(tx, env, handoff, &by)?;
    Ok(LocalStepOutcome::Done(None))
}
