//! Tasks of a project that is merged: they stay in its ledger, and the Beads file of its folders takes them into the other project. A
//! claim that stayed live there would make two holders of one task.

use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_model::route;
use baton_model::task::Task;
use baton_model::task::record::Record;
use baton_model::time::rfc3339;
use baton_store::task::line;
use baton_store::{Failure, Tx, task};
use serde_json::json;

use super::claim_expiry::{liveness, release, release_expired_claims};
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::project::merged_from;
use crate::project_name::title;

/// The most tasks that the refusal describes; it counts the others.
const MAX_NAMED: usize = 5;

/// Refuses to merge a project in which somebody has taken a task up under a claim that still holds.
pub(crate) fn require_unclaimed(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<(), Failure> {
    let (mut ids, mut named) = (Vec::new(), Vec::new());
    for held in task::claimed(tx, project_id)?.into_iter().filter(|task| !route::is_waiting(task)) {
        let session_liveness = liveness(tx, env, &held)?;
        let live = held.claim.as_ref().filter(|claim| claim.expires_at(session_liveness) > env.now);
        let Some(claim) = live else { continue };
        let until = rfc3339(claim.expires_at(session_liveness));
        named.push(format!("{} by {} until {until}", held.task_id, claim.holder().describe()));
        ids.push(held.task_id);
    }
    let Some(first) = ids.first().map(|id| visible(id)) else { return Ok(()) };
    let more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let project = title(tx, project_id)?;
    let what = format!("tasks of project {project} are claimed: {}{more}", named.join(", "));
    let hint = format!(
        "merge when they are closed or given back; `baton --project {project_id} task release {first} --force --why REASON` \
         takes one back, and its holder is told"
    );
    Err(Refusal::new(refusal::Kind::Conflict, "tasks_claimed", what, hint).with("tasks", ids).into())
}

/// Frees what nobody works on: tasks whose lease has run out, and tasks that the router has given to agents that have not begun.
/// Their messages are taken back, so that none goes along to the other project.
pub(crate) fn free_unbegun(tx: &mut Tx<'_>, env: &mut Env<'_>, author: &Author<'_>) -> Result<(), Failure> {
    release_expired_claims(tx, env, author)?;
    for given in task::claimed(tx, author.project_id)?.into_iter().filter(route::is_waiting) {
        release(tx, &given, None, env.now)?;
        let id = &given.task_id;
        let body = json!({
            "summary": format!("task {id} is free again: the project was merged before its agent began"),
            "task_id": id,
        });
        append_json(tx, env, author, Kind::Other, &body)?;
    }
    Ok(())
}

/// The projects that were merged into the one that takes lines in; asked for once.
#[derive(Default)]
pub(super) struct MergedProjects(Option<Vec<String>>);

impl MergedProjects {
    /// Opens a new task that a line has in progress where a merged project wrote that line and has freed the task since: the merge took
    /// the file along before it was written anew. Says whether it did.
    pub(super) fn open_freed(
        &mut self,
        tx: &mut Tx<'_>,
        project_id: &str,
        (text, record): (&str, &mut Record),
    ) -> Result<bool, Failure> {
        if record.task.status != "in_progress" {
            return Ok(false);
        }
        if self.0.is_none() {
            self.0 = Some(merged_from(tx, project_id)?);
        }
        for from in self.0.iter().flatten() {
            let id = &record.task.task_id;
            let freed = task::get(tx, from, id)?.filter(is_free);
            if freed.is_some() && line::known_lines(tx, from, id)?.last.as_deref() == Some(text) {
                "open".clone_into(&mut record.task.status);
                record.task.assignee = None;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_free(task: &Task) -> bool {
    task.status == "open" && task.claim.is_none() && task.assignee.is_none()
}
