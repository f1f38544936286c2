//! Commits that were made while a session was open.

use baton_model::repository::MadeCommit;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    PUT = "INSERT INTO session_commit (project_id, commit_id, session_id, made_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (project_id, commit_id, session_id) DO NOTHING";
    SESSIONS = "SELECT session_id FROM session_commit WHERE project_id = $1 AND commit_id = $2 ORDER BY session_id";
    NEWEST_OF = "SELECT commit_id FROM session_commit WHERE project_id = $1 AND session_id = $2 ORDER BY made_at DESC, commit_id LIMIT $3";
    OF_OTHERS = "SELECT DISTINCT commit_id FROM session_commit WHERE project_id = $1 AND session_id <> $2 AND made_at >= $3
        ORDER BY commit_id LIMIT $4";
    OF = "SELECT commit_id, made_at FROM session_commit WHERE project_id = $1 AND session_id = $2 ORDER BY made_at DESC, commit_id DESC LIMIT $3";
}

/// Notes that a commit was made while a session was open.
pub fn put(tx: &mut Tx<'_>, project_id: &str, session_id: &str, commit: &MadeCommit) -> Result<(), Fault> {
    tx.execute_deferred(PUT, params![project_id, &commit.id, session_id, commit.at])?;
    Ok(())
}

/// The sessions that were open in the working copy in which a commit was made, the oldest first.
pub fn sessions(tx: &mut Tx<'_>, project_id: &str, commit_id: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(SESSIONS, params![project_id, commit_id])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The newest commits that were made while a session was open, with their times, the oldest of them first.
pub fn of(tx: &mut Tx<'_>, project_id: &str, session_id: &str, limit: i64) -> Result<Vec<MadeCommit>, Fault> {
    let rows = tx.query(OF, params![project_id, session_id, limit])?;
    let read = rows.into_iter().rev().map(|row| {
        let mut r = row.reader();
        Ok(MadeCommit { id: r.text()?, at: r.int()? })
    });
    read.collect()
}

/// The commits since an instant that were made while other sessions were open.
pub fn of_others(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
    (since, limit): (i64, i64),
) -> Result<Vec<String>, Fault> {
    let rows = tx.query(OF_OTHERS, params![project_id, session_id, since, limit])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The newest commits that were made while a session was open, the oldest of them first.
pub fn newest_of(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
    limit: i64,
) -> Result<Vec<String>, Fault> {
    let rows = tx.query(NEWEST_OF, params![project_id, session_id, limit])?;
    let mut found: Vec<String> = rows.into_iter().map(|row| row.reader().text()).collect::<Result<_, _>>()?;
    found.reverse();
    Ok(found)
}
