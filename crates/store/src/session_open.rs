//! Some of a project's open sessions, of which it may have thousands.

use baton_model::session::{ProcessLocation, Session};
use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;
use crate::session::{columns, query_sessions};

crate::sql! {
    FIRST = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND released_at IS NULL
        ORDER BY started_at, session_id LIMIT $2");
    AT = concat!("SELECT ", columns!(), " FROM session WHERE machine_id = $1 AND process = $2 AND process <> '' AND project_id = $3
        AND released_at IS NULL ORDER BY started_at, session_id");
    DOUBTFUL = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND released_at IS NULL
        AND (heartbeat_at < $2 OR machine_id IN ($3, $4)) ORDER BY started_at, session_id");
    IN_COPY = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND machine_id = $2 AND copy_root = $3
        AND (released_at IS NULL OR released_at >= $4) ORDER BY started_at, session_id");
}

/// The first of the sessions that were not released, oldest first.
pub fn first(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, FIRST, params![project_id, limit])
}

/// The sessions of a process that were not released, oldest first; none of a process that is not known.
pub fn at(tx: &mut Tx<'_>, project_id: &str, place: &ProcessLocation) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, AT, params![&place.machine, &place.process, project_id])
}

/// The sessions that were not released and may be silent, oldest first: those of which the ledger has heard nothing since an instant, and
/// those on two machines, whose processes may be known to have ended.
pub fn doubtful(
    tx: &mut Tx<'_>,
    project_id: &str,
    silent_before: Millis,
    [one, other]: [&str; 2],
) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, DOUBTFUL, params![project_id, silent_before, one, other])
}

/// The sessions of a working copy that are open, or were still open at an instant, oldest first.
pub fn in_copy(
    tx: &mut Tx<'_>,
    project_id: &str,
    (machine, root): (&str, &str),
    since: Millis,
) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, IN_COPY, params![project_id, machine, root, since])
}
