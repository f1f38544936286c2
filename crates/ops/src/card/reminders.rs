//! What a card reminds of.

use baton_model::accounting::{self, Outcomes, OverdueAck, Remark, ReminderFacts, SilentSession, WINDOW};
use baton_model::agent::WORKER;
use baton_model::message::Message;
use baton_model::project::Project;
use baton_model::session::Session;
use baton_store::{Failure, Tx, message, session, session_open, task};

use super::subject;
use crate::op::Env;
use crate::ownership;

/// The questions of [`reminders`].
pub(crate) fn prefetch_reminders(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) {
    drop(session::outcomes(tx, project_id, env.now - WINDOW));
    drop(task::count_open(tx, project_id));
    drop(message::overdue(tx, project_id, env.now));
}

fn overdue_ack(env: &Env<'_>, late: &Message) -> OverdueAck {
    OverdueAck {
        message_id: late.message_id.clone(),
        from: late.from_identity.clone(),
        to: late.to_identity.clone(),
        subject: subject(env, &late.subject),
    }
}

/// The open sessions that [`reminders`] may have something to say of: those that may be silent.
pub(crate) fn doubtful_sessions(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
) -> Result<Vec<Session>, Failure> {
    match env.host.machines_with_known_processes().as_deref() {
        // Heartbeats that are kept beside the ledger are later, never earlier.
        Some(machines @ ([_] | [_, _])) => {
            let machines = [&machines[0], machines.last().unwrap_or(&machines[0])];
            let silent_before = env.now.saturating_sub(env.limits.stale_after);
            Ok(session_open::doubtful(tx, project_id, silent_before, machines.map(String::as_str))?)
        }
        _ => Ok(session::open(tx, project_id)?),
    }
}

/// What a careful colleague would remind of.
///
/// `open` are the open sessions; those that are certainly at work may be missing.
pub(crate) fn reminders(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project: &Project,
    open: &[Session],
) -> Result<Vec<Remark>, Failure> {
    // A worker wraps nothing: what it could not do it gives back.
    let open: Vec<Session> = open.iter().filter(|one| one.surface != WORKER).cloned().collect();
    let open = open.as_slice();
    let since = env.now - WINDOW;
    let released = session::outcomes(tx, &project.project_id, since)?;
    // As its row shows it: one whose process has ended is silent at once.
    let is_silent = |one: &&Session| !ownership::is_at_work(env, one);
    let mut silent: Vec<SilentSession> = open
        .iter()
        .filter(is_silent)
        .map(|one| SilentSession {
            identity: one.identity.clone(),
            session_id: one.session_id.clone(),
            since: one.heartbeat_at,
        })
        .collect();
    silent.sort_by_key(|one| one.since);
    Ok(accounting::reminders(&ReminderFacts {
        silent,
        now: env.now,
        open_tasks: task::count_open(tx, &project.project_id)?,
        last_wrap: project.last_wrap.as_ref().map(|last| (last.at, last.by.clone())),
        outcomes: Outcomes::count(&released, open, since, env.now, env.limits),
        overdue: message::overdue(tx, &project.project_id, env.now)?
            .iter()
            .map(|late| overdue_ack(env, late))
            .collect(),
    }))
}
