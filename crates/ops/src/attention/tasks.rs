//! Tasks that need a look because they fail again and again.

use baton_model::attention::{AttentionItem, RETRIES, Reason, SuggestedCommand};
use baton_model::route;
use baton_model::task::Task;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, attention as rows, task};

use crate::project::VisibleProjects;

/// The tasks of the visible projects that were tried again and again since they were last opened. A task that was opened again
/// begins anew.
pub(super) fn repeatedly_retried_tasks(
    tx: &mut Tx<'_>,
    visible: &VisibleProjects,
) -> Result<Vec<AttentionItem>, Failure> {
    let mut found = Vec::new();
    let projects = rows::retry_projects(tx)?;
    for project_id in projects.into_iter().filter(|project_id| visible.contains(project_id)) {
        for task_id in rows::retried(tx, &project_id)? {
            let known = task::get(tx, &project_id, &task_id)?;
            found
                .extend(known.filter(|task| route::recent_attempts(task) >= RETRIES).map(|task| item(&task)));
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
        actions: Vec::new(),
    }
}
