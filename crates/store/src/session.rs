//! Sessions and the state they save.

use baton_model::id::identity_key;
use baton_model::repository::WorkingCopy;
use baton_model::session::{Limits, ProcessLocation, Release, ReleaseReason, Session};
use baton_model::time::Millis;

use crate::engine::{CommitEvent, Fault, Row, Tx, Value};
use crate::params;
pub use crate::session_heartbeat::{beat, keep_alive, mark_stale, persisted_heartbeat};

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, session_id, identity, surface, machine_id, process, started_at, heartbeat_at, \
         last_verb, released_at, release_reason, released_by, successor_session_id, thread_id, \
         inherited_from, picked_up_session_id, baton_id, opened_by, stale_after, \
         copy_root, copy_branch, copy_commit, copy_is_worktree, copy_host"
    };
}
pub(crate) use columns;

crate::sql! {
    INSERT = "INSERT INTO session (project_id, session_id, identity, identity_key, surface, machine_id, process, started_at,
        heartbeat_at, last_verb, thread_id, inherited_from, picked_up_session_id, baton_id, opened_by, stale_after,
        copy_root, copy_branch, copy_commit, copy_is_worktree, copy_host)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";
    UPDATE = "UPDATE session SET heartbeat_at = $1, last_verb = $2, released_at = $3, release_reason = $4, released_by = $5,
        successor_session_id = $6, thread_id = $7, inherited_from = $8, picked_up_session_id = $9, baton_id = $10,
        stale_at = CASE WHEN heartbeat_at < $1 THEN NULL ELSE stale_at END WHERE project_id = $11 AND session_id = $12";
    GET = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND session_id = $2");
    OPEN = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND released_at IS NULL ORDER BY started_at, session_id");
    LEFT_UNSPENT = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND session_id IN
        (SELECT session_id FROM baton WHERE project_id = $1 AND spent_by IS NULL ORDER BY seq DESC LIMIT $2)");
    EVERYWHERE_OPEN = concat!("SELECT ", columns!(), " FROM session WHERE released_at IS NULL ORDER BY project_id, started_at, session_id");
    OPEN_PAGE = concat!("SELECT * FROM (SELECT ", columns!(), ", CAST(CASE WHEN heartbeat_at < $1
        AND heartbeat_at + COALESCE(stale_after, 600000) < $2 THEN 0 ELSE 1 END AS BIGINT) AS is_fresh,
        COALESCE((SELECT d.created_at FROM delta d WHERE d.project_id = session.project_id AND d.session_id = session.session_id
        AND d.kind = 'checkpoint' ORDER BY d.seq DESC LIMIT 1), started_at) AS saved_at
        FROM session WHERE released_at IS NULL AND ($3 = '' OR project_id = $3)) o
        WHERE (o.is_fresh, o.saved_at, o.session_id) > ($4, $5, $6) ORDER BY o.is_fresh, o.saved_at, o.session_id LIMIT $7");
    OLDER = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND (started_at, session_id) < ($2, $3)
        ORDER BY started_at DESC, session_id DESC LIMIT $4");
    NEWEST_OF = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 ORDER BY started_at DESC, session_id DESC LIMIT $2");
    ENDED_UNWRAPPED = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND baton_id IS NULL
        AND release_reason IN ('ended', 'operator') AND released_at >= $2 AND EXISTS (SELECT 1 FROM delta d WHERE d.project_id = session.project_id
            AND d.session_id = session.session_id AND d.kind IN ('checkpoint', 'note', 'decision', 'research', 'methodology', 'remember'))
        AND NOT EXISTS (SELECT 1 FROM session w WHERE w.project_id = session.project_id AND w.identity_key = session.identity_key
            AND w.release_reason = 'wrapped' AND w.released_at >= session.released_at) ORDER BY started_at DESC, session_id DESC LIMIT $3");
    WRAPPED_SINCE = "SELECT 1 FROM session WHERE project_id = $1 AND identity_key = $2 AND release_reason = 'wrapped' AND released_at >= $3 LIMIT 1";
    LAST_AT = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND identity_key = $2 AND machine_id = $3
        AND process = $4 ORDER BY started_at DESC, session_id DESC LIMIT 1");
    OF_PROCESS = concat!("SELECT ", columns!(), " FROM session WHERE machine_id = $1 AND process = $2 AND process <> '' ORDER BY started_at DESC, session_id DESC LIMIT 20");
    LAST_OF = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND identity_key = $2
        ORDER BY started_at DESC, session_id DESC LIMIT 1");
    FIRST_NAME = "SELECT identity FROM session WHERE project_id = $1 AND identity_key = $2 ORDER BY started_at, session_id LIMIT 1";
    RELOCATE = "UPDATE session SET machine_id = $1, process = $2 WHERE project_id = $3 AND session_id = $4";
    SET_COPY = "UPDATE session SET copy_root = $1, copy_branch = $2, copy_commit = $3, copy_is_worktree = $4,
        copy_host = $5 WHERE project_id = $6 AND session_id = $7";
    UNMARKED = concat!("SELECT ", columns!(), " FROM session WHERE released_at IS NULL AND stale_at IS NULL AND heartbeat_at < $1 ORDER BY project_id, session_id LIMIT $2");
    OUTCOMES = "SELECT release_reason, COUNT(*) FROM session WHERE project_id = $1 AND started_at >= $2
        AND release_reason IS NOT NULL GROUP BY release_reason ORDER BY release_reason";
    BEGUN = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND (started_at >= $2 OR released_at IS NULL) ORDER BY started_at, session_id");
    OF_THREAD = concat!("SELECT ", columns!(), " FROM session WHERE project_id = $1 AND thread_id = $2
        AND (started_at, session_id) < ($3, $4) ORDER BY started_at DESC, session_id DESC LIMIT $5");
    NAMES = "SELECT MIN(identity) FROM session WHERE project_id = $1 GROUP BY identity_key ORDER BY identity_key";
    CHAIN = concat!("WITH RECURSIVE chain (depth, link, before) AS (
        SELECT CAST(1 AS BIGINT), session_id, inherited_from FROM session WHERE project_id = $1 AND session_id = $2
        UNION ALL SELECT c.depth + 1, s.session_id, s.inherited_from
        FROM chain c JOIN session s ON s.project_id = $1 AND s.session_id = c.before
        WHERE c.depth < $3 AND c.before <> c.link)
        SELECT ", columns!(), " FROM chain JOIN session ON project_id = $1 AND session_id = link ORDER BY depth");
    BY_PREFIX = "SELECT project_id, session_id FROM session WHERE session_id >= $1 AND session_id < $2
        ORDER BY session_id LIMIT 5";
}

fn read(row: Row) -> Result<Session, Fault> {
    let mut r = row.reader();
    let mut session = Session {
        project_id: r.text()?,
        session_id: r.text()?,
        identity: r.text()?,
        surface: r.text()?,
        location: ProcessLocation { machine: r.text()?, process: r.text()? },
        started_at: r.int()?,
        heartbeat_at: r.int()?,
        last_verb: r.text()?,
        release: None,
        thread_id: String::new(),
        inherited_from: None,
        picked_up_session_id: None,
        baton_id: None,
        opened_by: None,
        stale_after: 0,
        working_copy: None,
    };
    session.release = match (r.opt_int()?, r.opt_text()?, r.opt_text()?, r.opt_text()?) {
        (Some(at), reason, by, successor) => Some(Release {
            at,
            reason: reason.as_deref().and_then(ReleaseReason::from_word).unwrap_or(ReleaseReason::Operator),
            by: by.unwrap_or_default(),
            successor,
        }),
        (None, ..) => None,
    };
    session.thread_id = r.text()?;
    session.inherited_from = r.opt_text()?;
    session.picked_up_session_id = r.opt_text()?;
    session.baton_id = r.opt_text()?;
    session.opened_by = r.opt_text()?;
    session.stale_after = r.opt_int()?.unwrap_or(Limits::default().stale_after);
    let copy = (r.opt_text()?, r.opt_text()?, r.opt_text()?, r.opt_int()?, r.opt_text()?);
    let (root, branch, commit, is_worktree, host) = copy;
    session.working_copy =
        root.map(|root| WorkingCopy { root, branch, commit, is_worktree: is_worktree == Some(1), host });
    Ok(session)
}

/// Reads a row, with the latest heartbeat from the cache beside the ledger.
fn read_session(tx: &Tx<'_>, row: Row) -> Result<Session, Fault> {
    let mut session = read(row)?;
    session.heartbeat_at = tx.heard_at(&session.session_id, session.heartbeat_at);
    Ok(session)
}

fn query_session(tx: &mut Tx<'_>, sql: &'static str, params: &[Value]) -> Result<Option<Session>, Fault> {
    tx.query_opt(sql, params)?.map(|row| read_session(tx, row)).transpose()
}

pub(crate) fn query_sessions(
    tx: &mut Tx<'_>,
    sql: &'static str,
    params: &[Value],
) -> Result<Vec<Session>, Fault> {
    tx.query(sql, params)?.into_iter().map(|row| read_session(tx, row)).collect()
}

/// One session.
pub fn get(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<Option<Session>, Fault> {
    query_session(tx, GET, params![project_id, session_id])
}

/// Writes where a session runs: its agent came back in another process.
pub fn relocate(tx: &mut Tx<'_>, session: &Session) -> Result<(), Fault> {
    let ProcessLocation { machine, process } = &session.location;
    tx.execute_deferred(RELOCATE, params![machine, process, &session.project_id, &session.session_id])?;
    Ok(())
}

/// Writes in which working copy a session works, and what is checked out there.
pub fn set_copy(tx: &mut Tx<'_>, session: &Session) -> Result<(), Fault> {
    let Some(copy) = &session.working_copy else { return Ok(()) };
    let WorkingCopy { root, branch, commit, is_worktree, host } = copy;
    let place = (&session.project_id, &session.session_id);
    tx.execute_deferred(
        SET_COPY,
        params![root, branch.clone(), commit.clone(), *is_worktree, host.clone(), place.0, place.1],
    )?;
    Ok(())
}

/// The sessions that were not released, oldest first.
pub fn open(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, OPEN, params![project_id])
}

/// The sessions that left the newest unspent batons of a project.
pub fn left_unspent(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, LEFT_UNSPENT, params![project_id, limit])
}

/// The sessions of all projects that were not released, oldest first within their project.
pub fn open_everywhere(tx: &mut Tx<'_>) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, EVERYWHERE_OPEN, params![])
}

/// Where an open session stands in their list: silent ones first, then who saved longest ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPosition {
    /// Whether its persisted heartbeat is within the caller's limit or its own.
    pub is_fresh: bool,
    /// When it made its last checkpoint, else when it began.
    pub saved_at: Millis,
    /// Its id.
    pub session_id: String,
}

/// Open sessions of a project, or of all where it is empty, after a position. Heartbeats before `silent_before` are too old.
pub fn open_page(
    tx: &mut Tx<'_>,
    project_id: &str,
    after: &OpenPosition,
    (now, silent_before): (Millis, Millis),
    limit: i64,
) -> Result<Vec<(Session, OpenPosition)>, Fault> {
    let (is_fresh, saved_at) = (after.is_fresh, after.saved_at);
    let params = params![silent_before, now, project_id, is_fresh, saved_at, &after.session_id, limit];
    let rows = tx.query(OPEN_PAGE, params)?;
    let split = |mut row: Row| {
        let place = Row(row.0.split_off(row.0.len().saturating_sub(2)));
        let (mut r, session) = (place.reader(), read_session(tx, row)?);
        let session_id = session.session_id.clone();
        Ok((session, OpenPosition { is_fresh: r.int()? == 1, saved_at: r.int()?, session_id }))
    };
    rows.into_iter().map(split).collect()
}

/// The sessions that began before an instant, or at it with a smaller id, newest first.
pub fn older(
    tx: &mut Tx<'_>,
    project_id: &str,
    before: (Millis, &str),
    limit: i64,
) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, OLDER, params![project_id, before.0, before.1, limit])
}

/// The identity's sessions that were not released, oldest first.
pub fn open_of(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Vec<Session>, Fault> {
    let key = identity_key(identity);
    let mut open = open(tx, project_id)?;
    // Few are open at a time, while the index by identity would lead to all that ever were.
    open.retain(|session| identity_key(&session.identity) == key);
    Ok(open)
}

/// The newest sessions, released or not, newest first.
pub fn newest(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, NEWEST_OF, params![project_id, limit])
}

/// The newest sessions without a baton that were ended since an instant, after they had saved something, and whose agent has not wrapped
/// since, newest first.
pub fn ended_unwrapped(
    tx: &mut Tx<'_>,
    project_id: &str,
    since: Millis,
    limit: i64,
) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, ENDED_UNWRAPPED, params![project_id, since, limit])
}

/// Whether the identity of a session has wrapped at this time or since.
pub fn has_wrapped_since(tx: &mut Tx<'_>, of: &Session, since: Millis) -> Result<bool, Fault> {
    Ok(tx.query_opt(WRAPPED_SINCE, params![&of.project_id, identity_key(&of.identity), since])?.is_some())
}

/// The newest session that the identity had in this process, released or not.
pub fn last_at(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
    place: &ProcessLocation,
) -> Result<Option<Session>, Fault> {
    let params = params![project_id, identity_key(identity), &place.machine, &place.process];
    query_session(tx, LAST_AT, params)
}

/// The newest sessions that began in this process, in whichever project, released or not, newest first.
pub fn of_process(tx: &mut Tx<'_>, place: &ProcessLocation) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, OF_PROCESS, params![&place.machine, &place.process])
}

/// The newest session of the identity, released or not.
pub fn last_of(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Option<Session>, Fault> {
    query_session(tx, LAST_OF, params![project_id, identity_key(identity)])
}

/// The identity as it was first given in this project.
pub fn first_name(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Option<String>, Fault> {
    let row = tx.query_opt(FIRST_NAME, params![project_id, identity_key(identity)])?;
    row.map(|row| row.reader().text()).transpose()
}

/// A session and those that it inherited from, nearest first, at most `limit`.
pub fn predecessors(
    tx: &mut Tx<'_>,
    project_id: &str,
    from: &str,
    limit: i64,
) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, CHAIN, params![project_id, from, limit])
}

/// Open sessions of all projects with their last heartbeat before an instant, not marked as stale yet.
pub fn unmarked(tx: &mut Tx<'_>, heard_before: Millis, limit: i64) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, UNMARKED, params![heard_before, limit])
}

/// How many of the sessions that began since an instant were released for which reason.
pub fn outcomes(
    tx: &mut Tx<'_>,
    project_id: &str,
    since: Millis,
) -> Result<Vec<(ReleaseReason, usize)>, Fault> {
    let rows = tx.query(OUTCOMES, params![project_id, since])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            let reason = ReleaseReason::from_word(&r.text()?).unwrap_or(ReleaseReason::Operator);
            Ok((reason, usize::try_from(r.int()?).unwrap_or_default()))
        })
        .collect()
}

/// The sessions that began since an instant, and those before it that are still open, oldest first.
pub fn started_since(tx: &mut Tx<'_>, project_id: &str, since: Millis) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, BEGUN, params![project_id, since])
}

/// The newest sessions of a thread before a place in time, the newest first.
pub fn of_thread(
    tx: &mut Tx<'_>,
    (project_id, thread_id): (&str, &str),
    (at, id): (Millis, &str),
    limit: i64,
) -> Result<Vec<Session>, Fault> {
    query_sessions(tx, OF_THREAD, params![project_id, thread_id, at, id, limit])
}

/// Every identity that had a session in the project.
pub fn names(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(NAMES, params![project_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Project and id of up to five sessions whose id begins so, in any project.
pub fn by_prefix(tx: &mut Tx<'_>, prefix: &str) -> Result<Vec<(String, String)>, Fault> {
    let rows = tx.query(BY_PREFIX, params![prefix, crate::prefix_end(prefix)])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.text()?, r.text()?))
        })
        .collect()
}

/// Registers a session.
pub fn insert(tx: &mut Tx<'_>, session: &Session) -> Result<(), Fault> {
    let copy = session.working_copy.as_ref();
    tx.execute_deferred(
        INSERT,
        params![
            &session.project_id,
            &session.session_id,
            &session.identity,
            identity_key(&session.identity),
            &session.surface,
            &session.location.machine,
            &session.location.process,
            session.started_at,
            session.heartbeat_at,
            &session.last_verb,
            &session.thread_id,
            session.inherited_from.clone(),
            session.picked_up_session_id.clone(),
            session.baton_id.clone(),
            session.opened_by.clone(),
            session.stale_after,
            copy.map(|copy| copy.root.clone()),
            copy.and_then(|copy| copy.branch.clone()),
            copy.and_then(|copy| copy.commit.clone()),
            copy.map(|copy| i64::from(copy.is_worktree)),
            copy.and_then(|copy| copy.host.clone()),
        ],
    )?;
    Ok(())
}

/// Writes what may change of a session.
pub fn put(tx: &mut Tx<'_>, session: &Session) -> Result<(), Fault> {
    let release = session.release.as_ref();
    if release.is_some() {
        tx.note(|| CommitEvent::Released { session_id: session.session_id.clone() });
    }
    tx.execute_deferred(
        UPDATE,
        params![
            session.heartbeat_at,
            &session.last_verb,
            release.map(|r| r.at),
            release.map(|r| r.reason.as_str()),
            release.map(|r| r.by.clone()),
            release.and_then(|r| r.successor.clone()),
            &session.thread_id,
            session.inherited_from.clone(),
            session.picked_up_session_id.clone(),
            session.baton_id.clone(),
            &session.project_id,
            &session.session_id,
        ],
    )?;
    Ok(())
}
