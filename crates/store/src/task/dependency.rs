//! What tasks depend on.

use std::collections::HashMap;

use baton_model::task::Task;
use baton_model::task::gate::Gate;
use baton_model::task::record::{kind_of, target_of};
use serde_json::{Map, Value};

use crate::engine::{Fault, Row, Tx};
use crate::{json, params};

crate::sql! {
    INSERT = "INSERT INTO task_dependency (project_id, task_id, depends_on_id, kind, gate, place, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (project_id, task_id, depends_on_id, kind) DO NOTHING";
    DELETE = "DELETE FROM task_dependency WHERE project_id = $1 AND task_id = $2 AND depends_on_id = $3 AND kind = $4";
    CLEAR = "DELETE FROM task_dependency WHERE project_id = $1 AND task_id = $2";
    OF = "SELECT task_id, depends_on_id, kind, gate, place, body FROM task_dependency WHERE project_id = $1 AND task_id = $2
        ORDER BY place, depends_on_id";
    ON = "SELECT task_id, depends_on_id, kind, gate, place, body FROM task_dependency WHERE project_id = $1 AND depends_on_id = $2
        ORDER BY task_id, kind";
    HELD_BY = "SELECT task_id FROM task_dependency WHERE project_id = $1 AND depends_on_id = $2 AND gate <> '' ORDER BY task_id";
    CHILDREN_AWAITED = "SELECT task_id FROM task_dependency WHERE project_id = $1 AND depends_on_id = $2
        AND gate IN ('children', 'any-child') ORDER BY task_id";
    GATES = "SELECT task_id, depends_on_id FROM task_dependency WHERE project_id = $1 AND gate IN ('closed', 'passed', 'failed')
        ORDER BY task_id, depends_on_id";
    PARTS = "SELECT task_id, parent_id FROM task WHERE project_id = $1 AND parent_id IS NOT NULL AND parent_id <> '' ORDER BY task_id";
    CLOSED_REPLACEMENTS = "SELECT d.task_id, d.depends_on_id FROM task_dependency d
        JOIN task one ON one.project_id = d.project_id AND one.task_id = d.task_id
        JOIN task other ON other.project_id = d.project_id AND other.task_id = d.depends_on_id
        WHERE d.project_id = $1 AND d.kind IN ('duplicates', 'supersedes') AND one.status = 'closed' AND other.status = 'closed'
        ORDER BY d.task_id, d.depends_on_id";
    OF_MANY = concat!("SELECT task_id, depends_on_id, kind, gate, place, body FROM task_dependency
        WHERE project_id = $1 AND task_id IN ", super::many!(), " ORDER BY task_id, place, depends_on_id");
    COUNT_ON_MANY = concat!("SELECT depends_on_id, COUNT(*) FROM task_dependency
        WHERE project_id = $1 AND depends_on_id IN ", super::many!(), " GROUP BY depends_on_id");
}

/// One task depends on another.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// The one that depends.
    pub task_id: String,
    /// What it depends on.
    pub depends_on_id: String,
    /// `blocks`, `parent-child`, …
    pub kind: String,
    /// What it holds back, if anything.
    pub gate: Option<Gate>,
    /// Its place among the dependencies of its task.
    pub place: i64,
    /// As the interchange file has it.
    pub body: Map<String, Value>,
}

fn read(row: Row) -> Result<Dependency, Fault> {
    let mut r = row.reader();
    Ok(Dependency {
        task_id: r.text()?,
        depends_on_id: r.text()?,
        kind: r.text()?,
        gate: Gate::from_word(&r.text()?),
        place: r.int()?,
        body: json::read(&r.text()?)?,
    })
}

/// What a task depends on, in its order.
pub fn dependencies_of(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Vec<Dependency>, Fault> {
    tx.query(OF, params![project_id, task_id])?.into_iter().map(read).collect()
}

/// What depends on a task.
pub fn dependents_of(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Vec<Dependency>, Fault> {
    tx.query(ON, params![project_id, task_id])?.into_iter().map(read).collect()
}

/// What each of up to [`MANY`](super::BATCH_SIZE) tasks depends on, by their ids, in its order.
pub fn dependencies_of_many(
    tx: &mut Tx<'_>,
    project_id: &str,
    task_ids: &[&str],
) -> Result<HashMap<String, Vec<Dependency>>, Fault> {
    let mut found: HashMap<String, Vec<Dependency>> = HashMap::new();
    for row in tx.query(OF_MANY, &super::many_params(project_id, task_ids))? {
        let edge = read(row)?;
        found.entry(edge.task_id.clone()).or_default().push(edge);
    }
    Ok(found)
}

/// How many dependencies there are on each of up to [`MANY`](super::BATCH_SIZE) tasks; none is left out.
pub fn count_on_many(
    tx: &mut Tx<'_>,
    project_id: &str,
    task_ids: &[&str],
) -> Result<HashMap<String, i64>, Fault> {
    super::counts(tx.query(COUNT_ON_MANY, &super::many_params(project_id, task_ids))?)
}

/// Ids of the tasks that this one may hold back.
pub fn blocked_by_task(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(HELD_BY, params![project_id, task_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Ids of the tasks that wait for children of this one.
pub fn children_awaited(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(CHILDREN_AWAITED, params![project_id, task_id])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// Every pair of a task and another that it waits to be closed.
pub fn gates(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<(String, String)>, Fault> {
    tx.query(GATES, params![project_id])?.into_iter().map(pair).collect()
}

/// Every pair of a part and its whole.
pub fn part_pairs(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<(String, String)>, Fault> {
    tx.query(PARTS, params![project_id])?.into_iter().map(pair).collect()
}

/// Every pair of a closed task and another to which it gave way, which is closed too.
pub fn closed_replacements(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<(String, String)>, Fault> {
    tx.query(CLOSED_REPLACEMENTS, params![project_id])?.into_iter().map(pair).collect()
}

fn pair(row: Row) -> Result<(String, String), Fault> {
    let mut r = row.reader();
    Ok((r.text()?, r.text()?))
}

/// Writes a dependency as the file has it; says whether it was new.
pub fn insert(tx: &mut Tx<'_>, task: &Task, place: i64, body: &Map<String, Value>) -> Result<bool, Fault> {
    let (kind, target) = (kind_of(body), target_of(body));
    let gate = Gate::word(Gate::of(kind, body.get("metadata")));
    let params = params![&task.project_id, &task.task_id, target, kind, gate, place, json::write(body)];
    Ok(tx.execute(INSERT, params)? == 1)
}

/// Takes a dependency away; says whether it was there.
pub fn delete(tx: &mut Tx<'_>, task: &Task, depends_on_id: &str, kind: &str) -> Result<bool, Fault> {
    Ok(tx.execute(DELETE, params![&task.project_id, &task.task_id, depends_on_id, kind])? > 0)
}

/// Takes every dependency of a task away.
pub fn clear(tx: &mut Tx<'_>, task: &Task) -> Result<(), Fault> {
    tx.execute_deferred(CLEAR, params![&task.project_id, &task.task_id])?;
    Ok(())
}
