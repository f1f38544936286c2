//! Tasks that need a look because they fail again and again.

use std::collections::BTreeSet;

use baton_model::attention::{AttentionItem, RETRIES, Reason, SuggestedCommand};
use baton_model::route;
use baton_model::task::Task;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, attention as rows, task};

use crate::project::VisibleProjects;

/// Tasks that were tried again and again.
#[derive(Default)]
pub(super) struct RetriedTasks {
    pub(super) items: Vec<AttentionItem>,
    /// Project and id of those that are of the highest priority and cannot go on, which is one item and not two.
    pub(super) blocked: BTreeSet<(String, String)>,
}

/// The tasks of the visible projects that were tried again and again since they were last opened. A task that was opened again
/// begins anew.
pub(super) fn repeatedly_retried_tasks(
    tx: &mut Tx<'_>,
    visible: &VisibleProjects,
) -> Result<RetriedTasks, Failure> {
    let mut found = RetriedTasks::default();
    let projects = rows::retry_projects(tx)?;
    for project_id in projects.into_iter().filter(|project_id| visible.contains(project_id)) {
        for task_id in rows::retried(tx, &project_id)? {
            let known = task::get(tx, &project_id, &task_id)?;
            let Some(task) = known.filter(|task| route::recent_attempts(task) >= RETRIES) else { continue };
            found.items.push(item(&task));
            if task.priority == 0 && (task.readiness.blocked || task.status == "blocked") {
                found.blocked.insert((task.project_id, task.task_id));
            }
        }
    }
    Ok(found)
}

fn item(task: &Task) -> AttentionItem {
    let reason = Reason::TaskRetried;
    let (project_id, id, subject) = (&task.project_id, &task.task_id, &task.title);
    let to = task.assignee.as_deref().filter(|to| !to.is_empty());
    let help = SuggestedCommand { reason, project_id, id, subject, to }.command();
    AttentionItem {
        reason,
        project_id: project_id.clone(),
        id: id.clone(),
        subject: subject.clone(),
        from: task.previous_agent.clone().filter(|from| !from.is_empty()),
        to: to.map(str::to_owned),
        since: Timestamp(route::last_failure(task).unwrap_or(task.updated_at)),
        detail: Some(format!("tried {} times", route::recent_attempts(task))),
        help,
        blocked: false,
        holds_work: false,
        actions: Vec::new(),
    }
}
