//! Batons: who may pick up what, and who holds it.

use baton_model::baton::Baton;

use crate::engine::{Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, baton_id, seq, session_id, identity, thread_id, created_at, summary, to_identity, \
         to_role, holder_session_id, held_at, spent_by, version, \
         (SELECT COUNT(*) FROM changes c WHERE c.project_id = baton.project_id AND c.baton_id = baton.baton_id)"
    };
}

crate::sql! {
    INSERT = "INSERT INTO baton (project_id, baton_id, seq, session_id, identity, thread_id, created_at, summary, to_identity,
        to_role, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1)";
    MOVE = "UPDATE baton SET holder_session_id = $1, held_at = $2, spent_by = $3, version = version + 1
        WHERE project_id = $4 AND baton_id = $5 AND version = $6";
    GET = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND baton_id = $2");
    UNSPENT = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND spent_by IS NULL ORDER BY seq DESC LIMIT $2");
    UNSPENT_COUNT = "SELECT COUNT(*) FROM baton WHERE project_id = $1 AND spent_by IS NULL";
    OF_THREAD = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND thread_id = $2 ORDER BY seq");
    OF_SESSION = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND session_id = $2 ORDER BY seq DESC LIMIT 1");
    KEPT = "SELECT b.baton_id FROM baton b JOIN session s ON s.project_id = b.project_id AND s.session_id = b.session_id
        WHERE b.project_id = $1 AND b.spent_by IS NULL AND s.last_verb = 'transcript_capture'";
    FREE_PAGE = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND spent_by IS NULL
        AND (created_at, baton_id) > ($2, $3) AND ($4 = '' OR LOWER(to_identity) = $4 OR 'role:' || LOWER(to_role) = $4)
        AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project_id = baton.project_id AND s.session_id = baton.holder_session_id
            AND s.released_at IS NULL) ORDER BY created_at, baton_id LIMIT $5");
    SPENT_PAGE = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND spent_by IS NOT NULL
        AND (created_at, baton_id) > ($2, $3) AND ($4 = '' OR LOWER(to_identity) = $4 OR 'role:' || LOWER(to_role) = $4)
        ORDER BY created_at, baton_id LIMIT $5");
    FREE_PAGE_BACK = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND spent_by IS NULL
        AND (created_at, baton_id) < ($2, $3) AND ($4 = '' OR LOWER(to_identity) = $4 OR 'role:' || LOWER(to_role) = $4)
        AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project_id = baton.project_id AND s.session_id = baton.holder_session_id
            AND s.released_at IS NULL) ORDER BY created_at DESC, baton_id DESC LIMIT $5");
    SPENT_PAGE_BACK = concat!("SELECT ", columns!(), " FROM baton WHERE project_id = $1 AND spent_by IS NOT NULL
        AND (created_at, baton_id) < ($2, $3) AND ($4 = '' OR LOWER(to_identity) = $4 OR 'role:' || LOWER(to_role) = $4)
        ORDER BY created_at DESC, baton_id DESC LIMIT $5");
    FREE_COUNT = "SELECT COUNT(*) FROM baton WHERE project_id = $1 AND spent_by IS NULL
        AND ($2 = '' OR LOWER(to_identity) = $2 OR 'role:' || LOWER(to_role) = $2)
        AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project_id = baton.project_id AND s.session_id = baton.holder_session_id
            AND s.released_at IS NULL)";
    SPENT_COUNT = "SELECT COUNT(*) FROM baton WHERE project_id = $1 AND spent_by IS NOT NULL
        AND ($2 = '' OR LOWER(to_identity) = $2 OR 'role:' || LOWER(to_role) = $2)";
    EVERYWHERE_BY_PREFIX = "SELECT project_id, baton_id FROM baton WHERE baton_id >= $1 AND baton_id < $2 ORDER BY baton_id LIMIT 5";
    BY_PREFIX = "SELECT baton_id FROM baton WHERE project_id = $1 AND baton_id >= $2 AND baton_id < $3
        ORDER BY baton_id LIMIT 5";
    TWICE_HELD = "SELECT baton_id FROM session WHERE project_id = $1 AND released_at IS NULL AND baton_id IS NOT NULL
        GROUP BY baton_id HAVING COUNT(*) > 1";
    WITHOUT_WRAP = "SELECT b.baton_id FROM baton b LEFT JOIN delta d ON d.project_id = b.project_id AND d.delta_id = b.baton_id
        WHERE b.project_id = $1 AND d.delta_id IS NULL";
    WRAP_WITHOUT = "SELECT d.delta_id FROM delta d LEFT JOIN baton b ON b.project_id = d.project_id AND b.baton_id = d.delta_id
        WHERE d.project_id = $1 AND d.kind = 'wrap' AND b.baton_id IS NULL";
    HOLDER_WITHOUT = "SELECT b.baton_id FROM baton b LEFT JOIN session s ON s.project_id = b.project_id
        AND s.session_id = b.holder_session_id WHERE b.project_id = $1 AND b.holder_session_id IS NOT NULL
        AND (s.session_id IS NULL OR (s.released_at IS NULL AND (s.baton_id IS NULL OR s.baton_id <> b.baton_id)))";
    HELD_WITHOUT = "SELECT s.baton_id FROM session s LEFT JOIN baton b ON b.project_id = s.project_id AND b.baton_id = s.baton_id
        WHERE s.project_id = $1 AND s.released_at IS NULL AND s.baton_id IS NOT NULL
        AND (b.baton_id IS NULL OR b.holder_session_id IS NULL OR b.holder_session_id <> s.session_id)";
    LAST_WRAP = "SELECT COALESCE(p.last_wrapped_delta_id, 'none') FROM project p WHERE p.project_id = $1
        AND COALESCE(p.last_wrapped_delta_id, '') <> COALESCE((SELECT d.delta_id FROM delta d
        WHERE d.project_id = p.project_id AND d.kind = 'wrap' ORDER BY d.seq DESC LIMIT 1), '')";
    UNLIKE_WRAP = "SELECT b.baton_id FROM baton b JOIN delta d ON d.project_id = b.project_id AND d.delta_id = b.baton_id
        WHERE b.project_id = $1 AND (d.kind <> 'wrap' OR b.seq <> d.seq OR b.session_id <> COALESCE(d.session_id, '')
        OR b.identity <> d.identity OR b.thread_id <> COALESCE(d.thread_id, '') OR b.created_at <> d.created_at)";
    UNLIKE_LAST = "SELECT b.baton_id FROM project p JOIN baton b ON b.project_id = p.project_id AND b.baton_id = p.last_wrapped_delta_id
        WHERE p.project_id = $1 AND (p.last_wrapped_at <> b.created_at OR p.last_wrapped_by <> b.identity
        OR p.last_wrapped_session_id <> b.session_id OR p.last_wrapped_summary <> b.summary)";
    BEHIND = "SELECT p.project_id FROM project p WHERE p.project_id = $1
        AND p.seq < (SELECT COALESCE(MAX(d.seq), 0) FROM delta d WHERE d.project_id = p.project_id)";
}

fn read(row: Row) -> Result<Baton, Fault> {
    let mut r = row.reader();
    Ok(Baton {
        project_id: r.text()?,
        baton_id: r.text()?,
        seq: r.int()?,
        session_id: r.text()?,
        identity: r.text()?,
        thread_id: r.text()?,
        created_at: r.int()?,
        summary: r.text()?,
        to_identity: r.opt_text()?,
        to_role: r.opt_text()?,
        holder_session_id: r.opt_text()?,
        held_at: r.opt_int()?,
        spent_by: r.opt_text()?,
        version: r.int()?,
        has_changes: r.bool()?,
    })
}

/// One baton.
pub fn get(tx: &mut Tx<'_>, project_id: &str, baton_id: &str) -> Result<Option<Baton>, Fault> {
    tx.query_opt(GET, params![project_id, baton_id])?.map(read).transpose()
}

/// The batons from which no session has wrapped on, newest first.
pub fn unspent(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<Baton>, Fault> {
    tx.query(UNSPENT, params![project_id, limit])?.into_iter().map(read).collect()
}

/// How many of them there are.
pub fn unspent_count(tx: &mut Tx<'_>, project_id: &str) -> Result<usize, Fault> {
    let count = tx.query_one(UNSPENT_COUNT, params![project_id])?.reader().int()?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Ids of the unspent batons that hooks kept, without their agent's doing.
pub fn kept_automatically(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(KEPT, params![project_id])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The batons of a line of work, the oldest first.
pub fn of_thread(tx: &mut Tx<'_>, project_id: &str, thread_id: &str) -> Result<Vec<Baton>, Fault> {
    tx.query(OF_THREAD, params![project_id, thread_id])?.into_iter().map(read).collect()
}

/// The newest baton that a session left.
pub fn of_session(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<Option<Baton>, Fault> {
    tx.query_opt(OF_SESSION, params![project_id, session_id])?.map(read).transpose()
}

/// Ids of up to five batons that begin so.
pub fn by_prefix(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// Project and id of up to five batons that begin so, in any project.
pub fn by_prefix_everywhere(tx: &mut Tx<'_>, prefix: &str) -> Result<Vec<(String, String)>, Fault> {
    let rows = tx.query(EVERYWHERE_BY_PREFIX, params![prefix, crate::prefix_end(prefix)])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.text()?, r.text()?))
        })
        .collect()
}

/// Which of a project's batons are read.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// Those that are spent; else those that no open session holds.
    pub is_spent: bool,
    /// The newest first; else the oldest.
    pub is_newest_first: bool,
    /// Only after this instant and id, in that order.
    pub after: (i64, &'a str),
    /// Only those for this key of an identity or address of a role; empty for all.
    pub to: &'a str,
    /// At most so many.
    pub limit: i64,
}

/// The batons of a project that are free or spent.
pub fn page(tx: &mut Tx<'_>, project_id: &str, request: &PageRequest<'_>) -> Result<Vec<Baton>, Fault> {
    let sql = match (request.is_spent, request.is_newest_first) {
        (true, true) => SPENT_PAGE_BACK,
        (true, false) => SPENT_PAGE,
        (false, true) => FREE_PAGE_BACK,
        (false, false) => FREE_PAGE,
    };
    let params = params![project_id, request.after.0, request.after.1, request.to, request.limit];
    tx.query(sql, params)?.into_iter().map(read).collect()
}

/// How many of them there are.
pub fn count(tx: &mut Tx<'_>, project_id: &str, is_spent: bool, to: &str) -> Result<usize, Fault> {
    let sql = if is_spent { SPENT_COUNT } else { FREE_COUNT };
    let count = tx.query_one(sql, params![project_id, to])?.reader().int()?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Inserts a baton.
pub fn insert(tx: &mut Tx<'_>, baton: &Baton) -> Result<(), Fault> {
    tx.execute_deferred(
        INSERT,
        params![
            &baton.project_id,
            &baton.baton_id,
            baton.seq,
            &baton.session_id,
            &baton.identity,
            &baton.thread_id,
            baton.created_at,
            &baton.summary,
            baton.to_identity.clone(),
            baton.to_role.clone(),
        ],
    )?;
    Ok(())
}

/// Writes holder and successor, if the version is still the one that was read; says whether it was.
pub fn put(tx: &mut Tx<'_>, baton: &Baton) -> Result<bool, Fault> {
    let changed = tx.execute(
        MOVE,
        params![
            baton.holder_session_id.clone(),
            baton.held_at,
            baton.spent_by.clone(),
            &baton.project_id,
            &baton.baton_id,
            baton.version
        ],
    )?;
    Ok(changed == 1)
}

/// What must never be: batons held twice, without their wrap, or with a holder that does not know of it; a session that
/// holds what it does not have; a summary that is not of the newest wrap; a counter that would give a number twice.
pub fn faults(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    for (sql, what) in [
        (TWICE_HELD, "is held by two open sessions"),
        (WITHOUT_WRAP, "has no wrap delta"),
        (WRAP_WITHOUT, "is a wrap without a baton"),
        (HOLDER_WITHOUT, "names a holder that does not hold it"),
        (HELD_WITHOUT, "is not held by the session that says so"),
        (LAST_WRAP, "is given as the last wrap, but is not the newest"),
        (UNLIKE_WRAP, "says otherwise than its wrap"),
        (UNLIKE_LAST, "says otherwise than the project's last wrap"),
        (BEHIND, "counts behind its ledger"),
    ] {
        for row in tx.query(sql, params![project_id])? {
            found.push(format!("{project_id}: {} {what}", row.reader().text()?));
        }
    }
    Ok(found)
}
