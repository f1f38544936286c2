//! How many: numbers that are given out, and figures over a project.

use std::collections::HashMap;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    NEXT = "INSERT INTO task_counter (project_id, parent_id, last) VALUES ($1, $2, 1)
        ON CONFLICT (project_id, parent_id) DO UPDATE SET last = task_counter.last + 1 RETURNING last";
    RAISE = "INSERT INTO task_counter (project_id, parent_id, last) VALUES ($1, $2, $3)
        ON CONFLICT (project_id, parent_id) DO UPDATE SET last = excluded.last WHERE task_counter.last < excluded.last";
    FIGURES = "SELECT COALESCE(agent_role, ''), status, blocked, ready, CASE WHEN wait_until > $1 THEN 1 ELSE 0 END, COUNT(*)
        FROM task WHERE project_id = $2 AND status <> 'tombstone' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5";
    LEAD = "SELECT CAST(COALESCE(SUM(closed_at - created_at), 0) AS BIGINT), COUNT(*) FROM task WHERE project_id = $1 AND closed_at >= created_at";
    PARTS_OF_MANY = concat!("SELECT parent_id, COUNT(*) FROM task WHERE project_id = $1 AND parent_id IN ", super::many!(), "
        AND status <> 'tombstone' GROUP BY parent_id");
    OPEN_PARTS_OF_MANY = concat!("SELECT parent_id, COUNT(*) FROM task WHERE project_id = $1 AND parent_id IN ", super::many!(), "
        AND status <> 'closed' AND status <> 'tombstone' GROUP BY parent_id");
    EPICS_DONE = "SELECT COUNT(*) FROM task e WHERE e.project_id = $1 AND e.issue_type = 'epic' AND e.status <> 'closed'
        AND e.status <> 'tombstone'
        AND EXISTS (SELECT 1 FROM task c WHERE c.project_id = e.project_id AND c.parent_id = e.task_id)
        AND NOT EXISTS (SELECT 1 FROM task c WHERE c.project_id = e.project_id AND c.parent_id = e.task_id AND c.status <> 'closed')";
}

/// The next number of a parent's children, or of the project's tasks under ''.
pub fn next(tx: &mut Tx<'_>, project_id: &str, parent_id: &str) -> Result<i64, Fault> {
    // The number is counted up, and a PostgreSQL read may not write: this is a statement of a write.
    let row = tx.query_one(NEXT, params![project_id, parent_id])?;
    row.reader().int()
}

/// Makes sure that no number up to this one is given out.
pub fn raise(tx: &mut Tx<'_>, project_id: &str, parent_id: &str, to: i64) -> Result<(), Fault> {
    tx.execute_deferred(RAISE, params![project_id, parent_id, to])?;
    Ok(())
}

/// How many tasks stand alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskCount {
    /// The role; empty for none.
    pub role: String,
    /// The status.
    pub status: String,
    /// Held back by others.
    pub blocked: bool,
    /// Open, and not held back.
    pub ready: bool,
    /// Deferred to a later time.
    pub deferred: bool,
    /// How many.
    pub count: i64,
}

/// The tasks of a project by role and state.
pub fn figures(tx: &mut Tx<'_>, project_id: &str, now: i64) -> Result<Vec<TaskCount>, Fault> {
    let rows = tx.query(FIGURES, params![now, project_id])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok(TaskCount {
                role: r.text()?,
                status: r.text()?,
                blocked: r.bool()?,
                ready: r.bool()?,
                deferred: r.bool()?,
                count: r.int()?,
            })
        })
        .collect()
}

/// The milliseconds from creation to closing of all closed tasks together, and how many they are. What does not say when it was
/// closed, or was closed before it was created, says nothing of how long it took.
pub fn lead(tx: &mut Tx<'_>, project_id: &str) -> Result<(i64, i64), Fault> {
    let mut r = tx.query_one(LEAD, params![project_id])?.reader();
    Ok((r.int()?, r.int()?))
}

/// How many parts each of these tasks has, closed ones too or open ones alone; those without any are left out.
pub fn parts_of_many(
    tx: &mut Tx<'_>,
    project_id: &str,
    task_ids: &[&str],
    counts_closed: bool,
) -> Result<HashMap<String, i64>, Fault> {
    let sql = if counts_closed { PARTS_OF_MANY } else { OPEN_PARTS_OF_MANY };
    super::counts(tx.query(sql, &super::many_params(project_id, task_ids))?)
}

/// Open epics whose parts are all closed.
pub fn epics_done(tx: &mut Tx<'_>, project_id: &str) -> Result<i64, Fault> {
    tx.query_one(EPICS_DONE, params![project_id])?.reader().int()
}
