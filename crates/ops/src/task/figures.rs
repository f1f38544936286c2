//! How many tasks stand where, as every list shows them.

use baton_model::task::Task;
use baton_store::{Failure, Tx, task};
use task::count::{self, TaskCount};

use super::claim_expiry::expired_pairs;
use crate::op::Env;

/// The figures of a project, and its tasks whose lease has run out: they are counted as free.
pub(super) fn figures(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
) -> Result<(Vec<TaskCount>, Vec<Task>), Failure> {
    let mut figures = count::figures(tx, project_id, env.now)?;
    let mut late = Vec::new();
    if figures.iter().any(|figure| ["deferred", "in_progress"].contains(&figure.status.as_str())) {
        for (known, task) in expired_pairs(tx, env, project_id)? {
            add(&mut figures, &of(&known, env.now), -1);
            add(&mut figures, &of(&task, env.now), 1);
            late.push(task);
        }
    }
    Ok((figures, late))
}

/// Takes the tasks out of the figures that are kept for a short time only.
pub(super) fn leave_out_ephemeral(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    figures: &mut Vec<TaskCount>,
) -> Result<(), Failure> {
    for task in task::marked_ephemeral(tx, project_id)?.into_iter().filter(Task::is_ephemeral) {
        let task = super::with_expiry_applied(tx, env, task)?;
        add(figures, &of(&task, env.now), -1);
    }
    Ok(())
}

/// The figure in which a task is counted.
fn of(task: &Task, now: i64) -> TaskCount {
    TaskCount {
        role: task.agent_role.clone().unwrap_or_default(),
        status: task.status.clone(),
        blocked: task.readiness.blocked,
        ready: task.readiness.ready,
        deferred: task.readiness.wait_until > now,
        count: 0,
    }
}

fn add(figures: &mut Vec<TaskCount>, to: &TaskCount, more: i64) {
    let is_same = |figure: &TaskCount| TaskCount { count: 0, ..figure.clone() } == *to;
    match figures.iter().position(is_same) {
        Some(at) => figures[at].count += more,
        None => figures.push(TaskCount { count: more, ..to.clone() }),
    }
    figures.retain(|figure| figure.count != 0);
}
