//! The status card: who works on what, which hand-offs wait, what was wrapped last.

use baton_model::accounting::{self, Outcomes, Remark, ReminderFacts, WINDOW};
use baton_model::handoff;
use baton_model::project::{LastWrap, Project};
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, handoff as handoffs, message, project, session, task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::op::Env;
use crate::resolve;

/// The most open tasks and batons of a card.
const SHOWN: i64 = 50;

/// What a person or an agent sees first.
#[derive(Serialize, Deserialize)]
pub struct Card {
    /// The project.
    pub project: Value,
    /// Sessions that were not released.
    pub sessions: Vec<Value>,
    /// Batons that are not spent, and hand-offs from other projects, by sender and age: no word of their content.
    pub handoffs: Vec<Value>,
    /// Open tasks.
    pub tasks: Vec<Value>,
    /// Summary of the last wrap.
    pub last_wrap: Option<Value>,
    /// What a careful colleague would remind of.
    pub reminders: Vec<Remark>,
}

/// Reads the card of a project.
pub(crate) fn read(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Card, Failure> {
    tx.prefetch(|tx| {
        drop(project::get(tx, project_id));
        drop(session::open(tx, project_id));
        drop(task::open(tx, project_id, SHOWN));
        drop(baton::unspent(tx, project_id, SHOWN));
        drop(handoffs::of_project(tx, project_id));
        foresee_reminders(tx, env, project_id);
    });
    let project = project::get(tx, project_id)?.ok_or_else(|| resolve::unknown_project(project_id))?;
    let open = session::open(tx, project_id)?;
    let mut tasks = task::open(tx, project_id, SHOWN)?;
    crate::handoff::without_words(tx, project_id, &mut tasks)?;
    let mut waiting = Vec::new();
    for baton in baton::unspent(tx, project_id, SHOWN)? {
        let holder = match &baton.holder_session_id {
            Some(id) => session::get(tx, project_id, id)?,
            None => None,
        };
        let state = baton.state(holder.as_ref(), env.now, env.limits);
        waiting.push(json!({
            "id": baton.baton_id,
            "kind": "baton",
            "state": state.as_str(),
            "from": baton.identity,
            "to": baton.to_identity.clone().or(baton.to_role.clone().map(|role| format!("role:{role}"))),
            "holder": holder.filter(Session::is_open).map(|s| s.identity),
            "created_at": baton_model::time::rfc3339(baton.created_at),
        }));
    }
    for handoff in handoffs::of_project(tx, project_id)? {
        if handoff.to_project_id == project_id
            && matches!(handoff.state, handoff::State::Offered | handoff::State::Accepted)
        {
            waiting.push(json!({
                "id": handoff.handoff_id,
                "kind": "handoff",
                "state": handoff.state.as_str(),
                "from": format!("{}/{}", handoff.from_project_id, handoff.from_identity),
                "to": handoff.to_identity.clone().or(handoff.to_role.clone().map(|role| format!("role:{role}"))),
                "created_at": baton_model::time::rfc3339(handoff.created_at),
            }));
        }
    }
    let reminders = reminders(tx, env, &project, &open)?;
    Ok(Card {
        last_wrap: project.last_wrap.as_ref().map(LastWrap::to_json),
        project: project.to_json(),
        sessions: open.iter().map(|s| s.to_json(env.now, env.limits)).collect(),
        handoffs: waiting,
        tasks: tasks.iter().map(baton_model::task::Task::to_json).collect(),
        reminders,
    })
}

/// The questions of [`reminders`].
pub(crate) fn foresee_reminders(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) {
    drop(session::outcomes(tx, project_id, env.now - WINDOW));
    drop(task::count_open(tx, project_id));
    drop(message::overdue(tx, project_id, env.now));
}

/// What a careful colleague would remind of.
pub(crate) fn reminders(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project: &Project,
    open: &[Session],
) -> Result<Vec<Remark>, Failure> {
    let since = env.now - WINDOW;
    let released = session::outcomes(tx, &project.project_id, since)?;
    Ok(accounting::reminders(&ReminderFacts {
        now: env.now,
        open_tasks: task::count_open(tx, &project.project_id)?,
        last_wrap: project.last_wrap.as_ref().map(|last| (last.at, last.by.clone())),
        outcomes: Outcomes::count(&released, open, since, env.now, env.limits),
        overdue: message::overdue(tx, &project.project_id, env.now)?.len(),
    }))
}
