//! Lists of tasks, page by page.

use baton_model::task::Task;
use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

// One whose whole was closed, deleted or never came is a part of no other in its list, and so is what an import made a part of itself.
crate::sql! {
    OPEN_AFTER = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status <> 'closed' AND status <> 'tombstone'
        AND (priority, created_at, task_id) > ($2, $3, $4) ORDER BY priority, created_at, task_id LIMIT $5");
    OPEN_WHOLES_AFTER = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status <> 'closed' AND status <> 'tombstone'
        AND (priority, created_at, task_id) > ($2, $3, $4) AND NOT EXISTS (SELECT 1 FROM task whole
            WHERE whole.project_id = task.project_id AND whole.task_id = task.parent_id AND whole.task_id <> task.task_id
            AND whole.status <> 'closed' AND whole.status <> 'tombstone')
        ORDER BY priority, created_at, task_id LIMIT $5");
    ALL_AFTER = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND (priority, created_at, task_id) > ($2, $3, $4)
        AND status <> 'tombstone' ORDER BY priority, created_at, task_id LIMIT $5");
    WHOLES_AFTER = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND (priority, created_at, task_id) > ($2, $3, $4)
        AND status <> 'tombstone' AND NOT EXISTS (SELECT 1 FROM task whole
            WHERE whole.project_id = task.project_id AND whole.task_id = task.parent_id AND whole.task_id <> task.task_id
            AND whole.status <> 'tombstone')
        ORDER BY priority, created_at, task_id LIMIT $5");
    READY_AFTER = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND ready = 1
        AND (priority, created_at, task_id) > ($2, $3, $4) AND wait_until <= $5 ORDER BY priority, created_at, task_id LIMIT $6");
    BLOCKED_AFTER = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND blocked = 1
        AND (priority, created_at, task_id) > ($2, $3, $4) AND status <> 'closed' AND status <> 'tombstone'
        ORDER BY priority, created_at, task_id LIMIT $5");
}

/// Which tasks are gone through, by priority, then oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskList {
    /// Not closed.
    Open,
    /// Not closed, and a part of no other that is not closed.
    OpenWholes,
    /// All but what was deleted.
    All,
    /// All but what was deleted, and a part of no other of these.
    Wholes,
    /// Can be worked on at this instant.
    Ready(Millis),
    /// Held back by others.
    Blocked,
}

/// The next tasks of a list after one of them; from the beginning without one.
pub fn page(
    tx: &mut Tx<'_>,
    project_id: &str,
    shelf: TaskList,
    after: Option<&Task>,
    limit: i64,
) -> Result<Vec<Task>, Fault> {
    let (priority, created_at, id) =
        after.map_or((i64::MIN, 0, ""), |task| (task.priority, task.created_at, task.task_id.as_str()));
    let params = params![project_id, priority, created_at, id, limit];
    let rows = match shelf {
        TaskList::Open => tx.query(OPEN_AFTER, params)?,
        TaskList::All => tx.query(ALL_AFTER, params)?,
        TaskList::OpenWholes => tx.query(OPEN_WHOLES_AFTER, params)?,
        TaskList::Wholes => tx.query(WHOLES_AFTER, params)?,
        TaskList::Blocked => tx.query(BLOCKED_AFTER, params)?,
        TaskList::Ready(now) => {
            tx.query(READY_AFTER, params![project_id, priority, created_at, id, now, limit])?
        }
    };
    super::read_all(rows)
}
