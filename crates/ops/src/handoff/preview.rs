//! What a hand-off would write, for one who asks before it is made.

use baton_model::handoff::Handoff;
use baton_model::tracker::Warning;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::details::HandoffDetails;
use super::linked_documents::{LinkedDocumentSummary, summaries};
use super::seeding::seed_state;
use super::steps::{note_tags, note_text};

/// What a hand-off would write into the three systems.
#[derive(Serialize, Deserialize)]
pub struct Preview {
    /// Nothing was written.
    pub dry_run: bool,
    /// The sender's project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// `github`, `local`, or `undisclosed` where the caller does not reach the receiver's project.
    pub tracker: String,
    /// `owner/repo` of the issue.
    pub resolved_issues_github_repo: Option<String>,
    /// The task.
    pub would_create_task: PreviewedTask,
    /// The note.
    pub would_store_memory: PreviewedMemory,
    /// The session.
    pub would_seed_session: PreviewedSession,
    /// The documents that it links, and how much of each would go along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_send_documents: Vec<LinkedDocumentSummary>,
    /// What its sender should know of the tracker, and of what does not arrive.
    pub warnings: Vec<Warning>,
}

/// A task as it would be created.
#[derive(Serialize, Deserialize)]
pub struct PreviewedTask {
    /// The receiver's project.
    pub project_id: String,
    /// One line.
    pub subject: String,
    /// The work to do.
    pub description: String,
    /// Labels.
    pub tags: Vec<String>,
    /// `critical`, `high`, `normal`, `low` or `some-day`.
    pub priority: Option<String>,
    /// `owner/repo` of the issue.
    pub issues_github_repo: Option<String>,
}

/// A note as it would be stored.
#[derive(Serialize, Deserialize)]
pub struct PreviewedMemory {
    /// The receiver's project.
    pub project_id: String,
    /// `note`.
    pub kind: String,
    /// Tags.
    pub tags: Vec<String>,
    /// 0 to 1.
    pub importance: f64,
    /// What it would say.
    pub text: String,
}

/// A session as it would be seeded.
#[derive(Serialize, Deserialize)]
pub struct PreviewedSession {
    /// The receiver's project.
    pub project_id: String,
    /// Whose session: an identity or a role.
    pub agent_id: Option<String>,
    /// The task part of its key.
    pub task_id: String,
    /// The state that it would begin with.
    pub initial_state: Value,
}

/// What would be sent to the three systems.
pub(super) fn preview(handoff: &Handoff, identity: String, warnings: Vec<Warning>) -> Preview {
    const PRIORITIES: [&str; 5] = ["critical", "high", "normal", "low", "some-day"];
    let details = HandoffDetails::of(handoff);
    let word = usize::try_from(details.priority).ok().and_then(|p| PRIORITIES.get(p));
    let project_id = handoff.to_project_id.clone();
    Preview {
        dry_run: true,
        project_id: handoff.from_project_id.clone(),
        identity,
        tracker: handoff.tracker.clone(),
        resolved_issues_github_repo: handoff.issues_repo.clone(),
        would_store_memory: PreviewedMemory {
            project_id: project_id.clone(),
            kind: "note".to_owned(),
            tags: note_tags(&details),
            importance: 0.4,
            text: note_text(handoff),
        },
        would_seed_session: PreviewedSession {
            project_id: project_id.clone(),
            agent_id: handoff.agent_id.clone(),
            task_id: handoff.seed_task_id.clone().unwrap_or_else(|| "handoff-<id>".to_owned()),
            initial_state: seed_state(&Handoff { handoff_id: "<id>".into(), ..handoff.clone() }, None),
        },
        would_send_documents: summaries(&details),
        would_create_task: PreviewedTask {
            project_id,
            subject: handoff.subject.clone(),
            description: details.description,
            tags: details.tags,
            priority: word.map(|word| (*word).to_owned()),
            issues_github_repo: handoff.issues_repo.clone(),
        },
        warnings,
    }
}
