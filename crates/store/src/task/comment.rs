//! What was said about tasks.

use std::collections::HashMap;

use baton_model::task::Task;
use serde_json::{Map, Value};

use crate::engine::{Fault, Tx};
use crate::{json, params};

crate::sql! {
    INSERT = "INSERT INTO task_comment (project_id, task_id, place, number, body) VALUES ($1, $2, $3, $4, $5)";
    CLEAR = "DELETE FROM task_comment WHERE project_id = $1 AND task_id = $2";
    OF = "SELECT body FROM task_comment WHERE project_id = $1 AND task_id = $2 ORDER BY place";
    COUNT = "SELECT COUNT(*) FROM task_comment WHERE project_id = $1 AND task_id = $2";
    COUNT_MANY = concat!("SELECT task_id, COUNT(*) FROM task_comment WHERE project_id = $1 AND task_id IN ", super::many!(), " GROUP BY task_id");
    HIGHEST = "SELECT number FROM task_comment WHERE project_id = $1 AND number IS NOT NULL ORDER BY number DESC LIMIT 1";
}

/// The comments of a task, oldest first, each as the interchange file has it.
pub fn of(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Vec<Map<String, Value>>, Fault> {
    tx.query(OF, params![project_id, task_id])?
        .into_iter()
        .map(|row| json::read(&row.reader().text()?))
        .collect()
}

/// How many there are.
pub fn count(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<i64, Fault> {
    tx.query_one(COUNT, params![project_id, task_id])?.reader().int()
}

/// How many each of up to [`MANY`](super::BATCH_SIZE) tasks has; those without any are left out.
pub fn count_many(
    tx: &mut Tx<'_>,
    project_id: &str,
    task_ids: &[&str],
) -> Result<HashMap<String, i64>, Fault> {
    super::counts(tx.query(COUNT_MANY, &super::many_params(project_id, task_ids))?)
}

/// The highest number that a comment of the project has for its id; none where ids are texts.
pub fn highest(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<i64>, Fault> {
    tx.query_opt(HIGHEST, params![project_id])?.map(|row| row.reader().int()).transpose()
}

/// Writes a comment at its place.
pub fn insert(tx: &mut Tx<'_>, task: &Task, place: i64, body: &Map<String, Value>) -> Result<(), Fault> {
    let number = body.get("id").and_then(Value::as_i64);
    tx.execute_deferred(INSERT, params![&task.project_id, &task.task_id, place, number, json::write(body)])?;
    Ok(())
}

/// Takes every comment of a task away, to be written anew.
pub fn clear(tx: &mut Tx<'_>, task: &Task) -> Result<(), Fault> {
    tx.execute_deferred(CLEAR, params![&task.project_id, &task.task_id])?;
    Ok(())
}
