//! Lines of the interchange file: of each task as the file had it last, and those that are no tasks.

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    PUT = "INSERT INTO task_line (project_id, task_id, line, stale) VALUES ($1, $2, $3, $4)
        ON CONFLICT (project_id, task_id) DO UPDATE SET line = excluded.line, stale = excluded.stale";
    STALE = "UPDATE task_line SET stale = 1 WHERE project_id = $1 AND task_id = $2";
    GET = "SELECT line FROM task_line WHERE project_id = $1 AND task_id = $2";
    STATE = "SELECT line, stale FROM task_line WHERE project_id = $1 AND task_id = $2";
    OTHER = "SELECT line FROM task_other_line WHERE project_id = $1 ORDER BY place";
    OTHER_CLEAR = "DELETE FROM task_other_line WHERE project_id = $1";
    OTHER_PUT = "INSERT INTO task_other_line (project_id, place, line) VALUES ($1, $2, $3)";
}

/// Keeps the line of a task; `stale` when the task differs from it.
pub fn put(tx: &mut Tx<'_>, project_id: &str, task_id: &str, line: &str, stale: bool) -> Result<(), Fault> {
    tx.send(PUT, params![project_id, task_id, line, stale])?;
    Ok(())
}

/// Notes that a task has changed since its line was read or written.
pub fn outdate(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<(), Fault> {
    tx.send(STALE, params![project_id, task_id])?;
    Ok(())
}

/// The line of a task as the file had it last.
pub fn get(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Option<String>, Fault> {
    tx.query_opt(GET, params![project_id, task_id])?.map(|row| row.reader().text()).transpose()
}

/// The line of a task as the file had it last, and whether it is stale.
pub fn state(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Option<(String, bool)>, Fault> {
    let row = tx.query_opt(STATE, params![project_id, task_id])?;
    row.map(|row| {
        let mut r = row.reader();
        Ok((r.text()?, r.bool()?))
    })
    .transpose()
}

/// The lines that are no tasks.
pub fn others(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(OTHER, params![project_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Keeps these as the lines that are no tasks.
pub fn put_others(tx: &mut Tx<'_>, project_id: &str, lines: &[String]) -> Result<(), Fault> {
    tx.send(OTHER_CLEAR, params![project_id])?;
    for (place, line) in (0i64..).zip(lines) {
        tx.send(OTHER_PUT, params![project_id, place, line])?;
    }
    Ok(())
}
