//! What a running server does by itself: it marks silent sessions as stale.

use baton_model::session::{Limits, Session};
use baton_model::time::Millis;
use baton_store::{Failure, Store, session};

/// Sessions looked at in one sweep; the next one takes the rest.
const BATCH_SIZE: i64 = 500;

/// Marks the sessions without a heartbeat for longer than the cut-off, and returns them. Nothing else is written: no
/// delta, no number of the ledger, no release. Every answer is the same with and without it.
///
/// Each session is marked in a transaction of its own, so that a sweep never holds two rows at once.
pub fn mark_silent_sessions(store: &mut Store, now: Millis, limits: Limits) -> Result<Vec<Session>, Failure> {
    let before = limits.silent_before(now);
    let silent = store.read(|tx| Ok(session::unmarked(tx, before, BATCH_SIZE)?))?;
    let mut marked = Vec::with_capacity(silent.len());
    // A session that is silent in the ledger may have a cached heartbeat.
    let is_silent = |session: &Session| session.heartbeat_at < before && !session.is_fresh(now, limits);
    for session in silent.into_iter().filter(is_silent) {
        if store.write_relaxed(|tx| Ok(session::mark_stale(tx, &session, before, now)?))? {
            marked.push(session);
        }
    }
    Ok(marked)
}
