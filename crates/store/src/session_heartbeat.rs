//! Heartbeats of sessions, and the mark of those that fell silent.

use baton_model::session::Session;
use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    BEAT = "UPDATE session SET heartbeat_at = $1, last_verb = $2, stale_at = NULL
        WHERE project_id = $3 AND session_id = $4 AND released_at IS NULL";
    KEEP_ALIVE = "UPDATE session SET heartbeat_at = $1, stale_at = NULL
        WHERE project_id = $2 AND session_id = $3 AND released_at IS NULL";
    PERSISTED = "SELECT s.heartbeat_at, (SELECT MIN(t.claim_lease) FROM task t WHERE t.project_id = s.project_id
        AND t.claim_session_id = s.session_id AND t.claim_until > 0) FROM session s WHERE s.project_id = $1 AND s.session_id = $2";
    MARK_STALE = "UPDATE session SET stale_at = $1 WHERE project_id = $2 AND session_id = $3 AND released_at IS NULL
        AND stale_at IS NULL AND heartbeat_at < $4";
}

/// Records a heartbeat of a session, unless it was released.
pub fn beat(tx: &mut Tx<'_>, session: &Session, verb: &str, now: Millis) -> Result<(), Fault> {
    tx.execute_deferred(BEAT, params![now, verb, &session.project_id, &session.session_id])?;
    Ok(())
}

/// Records a heartbeat without a verb. Returns whether the session is still open.
pub fn keep_alive(tx: &mut Tx<'_>, session: &Session, now: Millis) -> Result<bool, Fault> {
    Ok(tx.execute(KEEP_ALIVE, params![now, &session.project_id, &session.session_id])? == 1)
}

/// Time of the persisted heartbeat of a session, and the shortest lease of the tasks that it has claimed.
pub fn persisted_heartbeat(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
) -> Result<(Millis, Option<Millis>), Fault> {
    let row = tx.query_one(PERSISTED, params![project_id, session_id])?;
    let mut r = row.reader();
    Ok((r.int()?, r.opt_int()?))
}

/// Marks a session as stale, if it is still open and had no heartbeat since; its next verb clears the mark. No decision
/// depends on the mark: whether a session is stale is judged by its last heartbeat.
pub fn mark_stale(
    tx: &mut Tx<'_>,
    session: &Session,
    heard_before: Millis,
    now: Millis,
) -> Result<bool, Fault> {
    let params = params![now, &session.project_id, &session.session_id, heard_before];
    Ok(tx.execute(MARK_STALE, params)? == 1)
}
