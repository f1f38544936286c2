//! States that sessions save, and those that are seeded for sessions to come.

use baton_model::id::identity_key;
use baton_model::time::Millis;

use crate::engine::{CommitEvent, Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "identity_key, task_key, session_id, version, body, updated_at, identity, handoff_id, claimed_at"
    };
}

crate::sql! {
    GET = concat!("SELECT ", columns!(), " FROM session_state WHERE project_id = $1 AND identity_key = $2 AND task_key = $3");
    OF_PROJECT = concat!("SELECT ", columns!(), " FROM session_state WHERE project_id = $1 ORDER BY updated_at DESC, identity_key, task_key LIMIT $2");
    SEEDED = concat!("SELECT ", columns!(), " FROM session_state WHERE project_id = $1 AND task_key = $2 AND handoff_id IS NOT NULL AND claimed_at IS NOT NULL ORDER BY updated_at DESC, identity_key");
    OF_HANDOFF = concat!("SELECT ", columns!(), " FROM session_state WHERE project_id = $1 AND handoff_id = $2 ORDER BY updated_at DESC LIMIT 1");
    OF_SESSION = concat!("SELECT ", columns!(), " FROM session_state WHERE project_id = $1 AND session_id = $2 ORDER BY updated_at DESC, identity_key, task_key");
    PLACES = "SELECT DISTINCT project_id FROM session_state WHERE session_id = $1 ORDER BY project_id";
    PUT = "INSERT INTO session_state (project_id, identity_key, task_key, session_id, version, body, updated_at, identity,
        handoff_id, claimed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (project_id, identity_key, task_key) DO UPDATE SET
        session_id = excluded.session_id, version = excluded.version, body = excluded.body, updated_at = excluded.updated_at,
        identity = excluded.identity, handoff_id = excluded.handoff_id, claimed_at = excluded.claimed_at";
    REMOVE = "DELETE FROM session_state WHERE project_id = $1 AND identity_key = $2 AND task_key = $3 AND version = $4";
}

/// A saved or seeded state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SavedState {
    /// Whose it is, as first given; empty in rows of earlier versions, which have only the key.
    pub identity: String,
    /// The task part of its key: empty for an identity's own state.
    pub task_key: String,
    /// The session that saved it last; for a seeded one, the session that is to be.
    pub session_id: String,
    /// Rises with every save; 0 before the first.
    pub version: i64,
    /// JSON text.
    pub body: String,
    /// When it was saved.
    pub updated_at: Millis,
    /// The hand-off that seeded it.
    pub handoff_id: Option<String>,
    /// When a session took it on; nothing for one that waits.
    pub claimed_at: Option<Millis>,
}

fn read(row: Row) -> Result<SavedState, Fault> {
    let mut r = row.reader();
    let key = r.text()?;
    let mut state = SavedState {
        task_key: r.text()?,
        session_id: r.text()?,
        version: r.int()?,
        body: r.text()?,
        updated_at: r.int()?,
        ..SavedState::default()
    };
    state.identity = r.opt_text()?.unwrap_or(key);
    state.handoff_id = r.opt_text()?;
    state.claimed_at = r.opt_int()?;
    Ok(state)
}

/// The state saved under this key, if any.
pub fn get(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
    task_key: &str,
) -> Result<Option<SavedState>, Fault> {
    tx.query_opt(GET, params![project_id, identity_key(identity), task_key])?.map(read).transpose()
}

/// The project's states, the last saved first.
pub fn of_project(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<SavedState>, Fault> {
    tx.query(OF_PROJECT, params![project_id, limit])?.into_iter().map(read).collect()
}

/// The states of a task that hand-offs seeded and sessions took on, the last saved first.
pub fn seeded(tx: &mut Tx<'_>, project_id: &str, task_key: &str) -> Result<Vec<SavedState>, Fault> {
    tx.query(SEEDED, params![project_id, task_key])?.into_iter().map(read).collect()
}

/// The state that a hand-off seeded.
pub fn of_handoff(tx: &mut Tx<'_>, project_id: &str, handoff_id: &str) -> Result<Option<SavedState>, Fault> {
    tx.query_opt(OF_HANDOFF, params![project_id, handoff_id])?.map(read).transpose()
}

/// The states that a session saved, and those that are seeded for it; the last saved first.
pub fn of_session(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<Vec<SavedState>, Fault> {
    tx.query(OF_SESSION, params![project_id, session_id])?.into_iter().map(read).collect()
}

/// The projects that have a state of this session.
pub fn projects_of_session(tx: &mut Tx<'_>, session_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(PLACES, params![session_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Replaces the state saved under its key. The caller has checked the version in the same transaction.
pub fn put(tx: &mut Tx<'_>, project_id: &str, state: &SavedState) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            project_id,
            identity_key(&state.identity),
            &state.task_key,
            &state.session_id,
            state.version,
            &state.body,
            state.updated_at,
            &state.identity,
            state.handoff_id.clone(),
            state.claimed_at,
        ],
    )?;
    tx.note(|| CommitEvent::Saved { project_id: project_id.to_owned(), state: state.clone() });
    Ok(())
}

/// Removes a state whose work is over; its session may go on. Says whether it was still at the version that was read.
pub fn end(tx: &mut Tx<'_>, project_id: &str, state: &SavedState) -> Result<bool, Fault> {
    let params = params![project_id, identity_key(&state.identity), &state.task_key, state.version];
    let is_gone = tx.execute(REMOVE, params)? == 1;
    let left = of_session(tx, project_id, &state.session_id)?.into_iter().next();
    tx.note(|| match left {
        Some(state) => CommitEvent::Saved { project_id: project_id.to_owned(), state },
        None => CommitEvent::Forgotten { session_id: state.session_id.clone() },
    });
    Ok(is_gone)
}

/// Removes a state that is still at the version that was read; says whether it was.
pub fn remove(tx: &mut Tx<'_>, project_id: &str, state: &SavedState) -> Result<bool, Fault> {
    let params = params![project_id, identity_key(&state.identity), &state.task_key, state.version];
    tx.note(|| CommitEvent::Released { session_id: state.session_id.clone() });
    Ok(tx.execute(REMOVE, params)? == 1)
}
