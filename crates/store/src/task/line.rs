//! Lines of the interchange file: of each task as the file had it last, and those that are no tasks.

use baton_model::task::line::retained_lines;

use crate::engine::{Fault, Tx};
use crate::{json, params};

crate::sql! {
    PUT = "INSERT INTO task_line (project_id, task_id, line, stale, earlier) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (project_id, task_id) DO UPDATE SET line = excluded.line, stale = excluded.stale, earlier = excluded.earlier";
    STALE = "UPDATE task_line SET stale = 1 WHERE project_id = $1 AND task_id = $2";
    KNOWN = "SELECT line, earlier FROM task_line WHERE project_id = $1 AND task_id = $2";
    STATE = "SELECT line, stale FROM task_line WHERE project_id = $1 AND task_id = $2";
    OTHER = "SELECT line FROM task_other_line WHERE project_id = $1 ORDER BY place";
    OTHER_CLEAR = "DELETE FROM task_other_line WHERE project_id = $1";
    OTHER_PUT = "INSERT INTO task_other_line (project_id, place, line) VALUES ($1, $2, $3)";
}

/// The lines of a task that the file had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLines {
    /// The last one.
    pub last: Option<String>,
    /// Some of those before, oldest first.
    pub earlier: Vec<String>,
}

impl KnownLines {
    /// The lines once the file has this one.
    pub fn followed_by(self, line: &str) -> Self {
        let earlier = match self.last {
            Some(last) => retained_lines(self.earlier, &last, line),
            None => Vec::new(),
        };
        Self { last: Some(line.to_owned()), earlier }
    }
}

/// Keeps the lines of a task; `stale` when the task differs from the last one.
pub fn put(
    tx: &mut Tx<'_>,
    project_id: &str,
    task_id: &str,
    known: &KnownLines,
    stale: bool,
) -> Result<(), Fault> {
    let last = known.last.as_deref().unwrap_or_default();
    tx.execute_deferred(PUT, params![project_id, task_id, last, stale, json::write(&known.earlier)])?;
    Ok(())
}

/// Notes that a task has changed since its line was read or written.
pub fn outdate(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<(), Fault> {
    tx.execute_deferred(STALE, params![project_id, task_id])?;
    Ok(())
}

/// The lines of a task that the file had.
pub fn known_lines(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<KnownLines, Fault> {
    let Some(row) = tx.query_opt(KNOWN, params![project_id, task_id])? else {
        return Ok(KnownLines::default());
    };
    let mut r = row.reader();
    Ok(KnownLines { last: Some(r.text()?), earlier: json::read(&r.text()?)? })
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
    tx.execute_deferred(OTHER_CLEAR, params![project_id])?;
    for (place, line) in (0i64..).zip(lines) {
        tx.execute_deferred(OTHER_PUT, params![project_id, place, line])?;
    }
    Ok(())
}
