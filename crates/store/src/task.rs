//! Tasks.

use baton_model::task::Task;

use crate::engine::{Fault, Row, Tx};
use crate::{json, params};

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, task_id, title, description, status, priority, issue_type, assignee, agent_role, \
         labels, created_by, created_at, updated_at, closed_at, close_reason, extra"
    };
}

crate::sql! {
    INSERT = "INSERT INTO task (project_id, task_id, title, description, status, priority, issue_type, assignee, agent_role,
        labels, created_by, created_at, updated_at, closed_at, close_reason, extra)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
    UPDATE = "UPDATE task SET title = $1, description = $2, status = $3, priority = $4, issue_type = $5, assignee = $6,
        agent_role = $7, labels = $8, updated_at = $9, closed_at = $10, close_reason = $11, extra = $12
        WHERE project_id = $13 AND task_id = $14";
    GET = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND task_id = $2");
    OPEN = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status <> 'closed' ORDER BY priority, created_at, task_id LIMIT $2");
    ALL_OF = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 ORDER BY priority, created_at, task_id LIMIT $2");
    COUNT_OPEN = "SELECT COUNT(*) FROM task WHERE project_id = $1 AND status <> 'closed'";
    BY_PREFIX = "SELECT task_id FROM task WHERE project_id = $1 AND task_id >= $2 AND task_id < $3 ORDER BY task_id LIMIT 5";
}

fn read(row: Row) -> Result<Task, Fault> {
    let mut r = row.reader();
    Ok(Task {
        project_id: r.text()?,
        task_id: r.text()?,
        title: r.text()?,
        description: r.text()?,
        status: r.text()?,
        priority: r.int()?,
        issue_type: r.text()?,
        assignee: r.opt_text()?,
        agent_role: r.opt_text()?,
        labels: json::read(&r.text()?)?,
        created_by: r.text()?,
        created_at: r.int()?,
        updated_at: r.int()?,
        closed_at: r.opt_int()?,
        close_reason: r.opt_text()?,
        extra: json::read(&r.text()?)?,
    })
}

/// One task.
pub fn get(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Option<Task>, Fault> {
    tx.query_opt(GET, params![project_id, task_id])?.map(read).transpose()
}

/// Tasks by priority, then oldest first; at most `limit`.
pub fn list(tx: &mut Tx<'_>, project_id: &str, with_closed: bool, limit: i64) -> Result<Vec<Task>, Fault> {
    let sql = if with_closed { ALL_OF } else { OPEN };
    tx.query(sql, params![project_id, limit])?.into_iter().map(read).collect()
}

/// How many tasks are not closed.
pub fn count_open(tx: &mut Tx<'_>, project_id: &str) -> Result<usize, Fault> {
    let count = tx.query_one(COUNT_OPEN, params![project_id])?.reader().int()?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Ids of up to five tasks that begin so.
pub fn by_prefix(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// Writes a new task down.
pub fn insert(tx: &mut Tx<'_>, task: &Task) -> Result<(), Fault> {
    tx.execute(
        INSERT,
        params![
            &task.project_id,
            &task.task_id,
            &task.title,
            &task.description,
            &task.status,
            task.priority,
            &task.issue_type,
            task.assignee.clone(),
            task.agent_role.clone(),
            json::write(&task.labels),
            &task.created_by,
            task.created_at,
            task.updated_at,
            task.closed_at,
            task.close_reason.clone(),
            json::write(&task.extra),
        ],
    )?;
    Ok(())
}

/// Writes what may change of a task.
pub fn put(tx: &mut Tx<'_>, task: &Task) -> Result<(), Fault> {
    tx.execute(
        UPDATE,
        params![
            &task.title,
            &task.description,
            &task.status,
            task.priority,
            &task.issue_type,
            task.assignee.clone(),
            task.agent_role.clone(),
            json::write(&task.labels),
            task.updated_at,
            task.closed_at,
            task.close_reason.clone(),
            json::write(&task.extra),
            &task.project_id,
            &task.task_id,
        ],
    )?;
    Ok(())
}
