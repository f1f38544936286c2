//! Tasks of a project that is merged: they stay in its ledger, and the Beads file of its folders takes them into the other project. A
//! claim that stayed live there would make two holders of one task.

use std::collections::BTreeMap;

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

use super::claim_elsewhere::{file_claims, holder_elsewhere};
use super::claim_expiry::{liveness, release, release_expired_claims};
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::project::merged_from;
use crate::project_name::title;

/// The most tasks that the refusal describes; it counts the others.
const MAX_NAMED: usize = 5;

/// Refuses to merge a project in which an agent has taken a task up under a claim that still holds.
pub(crate) fn require_unclaimed(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<(), Failure> {
    let held = live_claims(tx, env, project_id)?;
    refuse_claimed(tx, project_id, (&held, "merge"))
}

/// Refuses to give a folder of a project away while an agent holds a task that is in its Beads file: the file goes along, and the
/// other project takes the task from it.
pub(crate) fn require_unclaimed_in_file(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
) -> Result<(), Failure> {
    let mut held = Vec::new();
    for claimed in live_claims(tx, env, project_id)? {
        if line::state(tx, project_id, &claimed.task_id)?.is_some() {
            held.push(claimed);
        }
    }
    held.extend(claims_elsewhere(tx, env, project_id)?);
    refuse_claimed(tx, project_id, (&held, "give the folder away"))
}

/// A task under a claim that still holds.
struct ClaimedTask {
    task_id: String,
    /// The task, its holder and the end of the claim.
    description: String,
}

fn live_claims(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Vec<ClaimedTask>, Failure> {
    let mut live = Vec::new();
    for held in task::claimed(tx, project_id)?.into_iter().filter(|task| !route::awaits_start(task)) {
        let session_liveness = liveness(tx, env, &held)?;
        let claim = held.claim.as_ref().filter(|claim| claim.expires_at(session_liveness) > env.now);
        let Some(claim) = claim else { continue };
        let until = rfc3339(claim.expires_at(session_liveness));
        let description = format!("{} by {} until {until}", held.task_id, claim.holder().describe());
        live.push(ClaimedTask { task_id: held.task_id, description });
    }
    Ok(live)
}

/// Tasks that another ledger on a Beads file of the project has in progress: as this ledger imported it, or as the file is now.
fn claims_elsewhere(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Vec<ClaimedTask>, Failure> {
    let mut begun: BTreeMap<String, String> = BTreeMap::new();
    for held in task::in_progress(tx, project_id)? {
        if let Some(holder) = holder_elsewhere(&held) {
            begun.insert(held.task_id.clone(), holder.to_owned());
        }
    }
    for claim in file_claims(tx, env, project_id)? {
        let known = task::get(tx, project_id, &claim.task_id)?;
        if known.is_none_or(|known| claim.is_newer(&known)) {
            begun.insert(claim.task_id, claim.assignee);
        }
    }
    let describe = |(task_id, holder): (String, String)| {
        let description = format!("{} by {} in the Beads file", visible(&task_id), visible(&holder));
        ClaimedTask { task_id, description }
    };
    Ok(begun.into_iter().map(describe).collect())
}

/// Refuses what would make two holders of these tasks; the verb says what that is.
fn refuse_claimed(
    tx: &mut Tx<'_>,
    project_id: &str,
    (held, verb): (&[ClaimedTask], &str),
) -> Result<(), Failure> {
    let Some(first) = held.first().map(|task| visible(&task.task_id)) else { return Ok(()) };
    let named: Vec<&str> = held.iter().take(MAX_NAMED).map(|task| task.description.as_str()).collect();
    let more = held.len() - named.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let project = title(tx, project_id)?;
    let what = format!("tasks of project {project} are claimed: {}{more}", named.join(", "));
    let hint = format!(
        "{verb} when they are closed or given back; `baton --project {project_id} task release {first} --force --why REASON` \
         takes one back, and its holder is told"
    );
    let ids: Vec<&str> = held.iter().map(|task| task.task_id.as_str()).collect();
    Err(Refusal::new(refusal::Kind::Conflict, "tasks_claimed", what, hint).with("tasks", ids).into())
}

/// Frees the tasks that no agent works on: those whose lease has run out, and those that the router gave to agents that have not begun.
/// Their messages are taken back, so that none goes along to the other project.
pub(crate) fn free_unbegun(tx: &mut Tx<'_>, env: &mut Env<'_>, author: &Author<'_>) -> Result<(), Failure> {
    release_expired_claims(tx, env, author)?;
    for freed in task::claimed(tx, author.project_id)?.into_iter().filter(route::awaits_start) {
        release(tx, &freed, None, env.now)?;
        let id = &freed.task_id;
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
