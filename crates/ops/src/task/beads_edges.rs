//! Dependencies that lines of a Beads file have taken away under a former id of their target.

use baton_model::task::Task;
use baton_model::task::record::Record;
use baton_model::task::renamed::{RemovedEdge, is_same_task, removed_edges, renamed_to};
use baton_store::{Failure, Tx, task};
use task::dependency;

use super::beads_renames::{RENAMES, successor};
use super::depend::unlink;
use crate::ledger::Author;
use crate::op::Env;

/// Dependencies that a version of a task has taken away, with the task that had them.
#[derive(Default)]
pub(super) struct RemovedEdges(Vec<(String, RemovedEdge)>);

impl RemovedEdges {
    /// Notes which dependencies the versions of a task say were taken away.
    pub(super) fn note(&mut self, task: &Task, [ours, theirs]: [&Record; 2]) {
        let edges = removed_edges(ours, &[theirs]).into_iter().chain(removed_edges(theirs, &[ours]));
        self.0.extend(edges.map(|edge| (task.task_id.clone(), edge)));
    }

    /// Takes dependencies away that came back under a new id of their target.
    pub(super) fn unlink_all(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        author: &Author<'_>,
    ) -> Result<(), Failure> {
        for (id, removed) in &self.0 {
            let ids = later_ids(tx, author.project_id, &removed.on)?;
            if ids.is_empty() {
                continue;
            }
            let Some(from) = task::get(tx, author.project_id, id)? else { continue };
            let from = successor(tx, &from)?.unwrap_or(from);
            for edge in dependency::of(tx, author.project_id, &from.task_id)? {
                if removed.is_under(&edge.body, &ids) {
                    unlink(tx, env, author, &from, &edge.depends_on_id, &edge.kind)?;
                }
            }
        }
        Ok(())
    }
}

/// The ids that a task was given since it had this one, the present one last.
fn later_ids(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    let mut at = task::get(tx, project_id, id)?;
    while let Some(old) = at.filter(|_| ids.len() < RENAMES) {
        let Some(to) = renamed_to(&old) else { break };
        at = task::get(tx, project_id, to)?.filter(|found| is_same_task(&old, found));
        ids.extend(at.as_ref().map(|found| found.task_id.clone()));
    }
    Ok(ids)
}
