//! Which tasks a list shows.

use super::Task;
use super::board_state::BoardState;
use crate::id::assignee_key;
use crate::role::role_key;
use crate::route::{CandidateAgent, may_take};
use crate::time::Millis;

/// What a list asks for; what is left out does not matter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// One of these statuses.
    pub status: Vec<String>,
    /// This role.
    pub agent_role: Option<String>,
    /// This assignee.
    pub assignee: Option<String>,
    /// Of any identity but this one.
    pub other_than: Option<String>,
    /// Unassigned.
    pub unassigned: bool,
    /// This type.
    pub issue_type: Option<String>,
    /// All of these labels.
    pub labels: Vec<String>,
    /// At least one of these labels.
    pub any_label: Vec<String>,
    /// At least one of these tags.
    pub tags: Vec<String>,
    /// A part of this task.
    pub parent: Option<String>,
    /// This priority.
    pub priority: Option<i64>,
    /// All of these words, in the id, the title, or a text.
    pub words: Vec<String>,
    /// Created at or after.
    pub created_after: Option<i64>,
    /// This field of the metadata has this value.
    pub metadata: Option<(String, String)>,
    /// Something that this agent may be given.
    pub able: Option<CandidateAgent>,
    /// Not one that is kept for a short time only.
    pub durable: bool,
    /// Of none of these types.
    pub other_types: Vec<String>,
    /// Without a role.
    pub roleless: bool,
    /// Standing so on the board at this time.
    pub board_state: Option<(BoardState, Millis)>,
}

impl Filter {
    /// Whether it lets every task through.
    pub fn is_open(&self) -> bool {
        let Self {
            status,
            agent_role,
            assignee,
            other_than,
            unassigned,
            issue_type,
            labels,
            any_label,
            tags,
            parent,
            ..
        } = self;
        let lists = [status, labels, any_label, tags, &self.words];
        lists.iter().all(|list| list.is_empty())
            && [agent_role, assignee, other_than, issue_type, parent].iter().all(|field| field.is_none())
            && !unassigned
            && !self.durable
            && !self.roleless
            && self.board_state.is_none()
            && self.other_types.is_empty()
            && self.priority.is_none()
            && self.created_after.is_none()
            && self.metadata.is_none()
            && self.able.is_none()
    }

    /// Whether the task is shown.
    pub fn takes(&self, task: &Task) -> bool {
        let is =
            |wanted: &Option<String>, found: Option<&str>| wanted.as_deref().is_none_or(|w| Some(w) == found);
        let any = |wanted: &[String], found: &[String]| {
            wanted.is_empty() || wanted.iter().any(|w| found.contains(w))
        };
        (self.status.is_empty() || self.status.contains(&task.status))
            && is(
                &self.agent_role.as_deref().map(role_key),
                task.agent_role.as_deref().map(role_key).as_deref(),
            )
            && self.assignee.as_deref().is_none_or(|name| is_assigned_to(task, name))
            && !self.other_than.as_deref().is_some_and(|name| is_assigned_to(task, name))
            && !(self.unassigned && task.assignee.is_some())
            && !(self.durable && task.is_ephemeral())
            && !(self.roleless && task.agent_role.as_deref().is_some_and(|role| !role.is_empty()))
            && self.board_state.is_none_or(|(state, now)| BoardState::of_task(task, now) == state)
            && !self.other_types.contains(&task.issue_type)
            && is(&self.issue_type, Some(&task.issue_type))
            && self.labels.iter().all(|label| task.labels.contains(label))
            && any(&self.any_label, &task.labels)
            && any(&self.tags, &task.specialist_tags)
            && is(&self.parent, task.parent_id.as_deref())
            && self.priority.is_none_or(|priority| priority == task.priority)
            && self.created_after.is_none_or(|at| task.created_at >= at)
            && self.metadata.as_ref().is_none_or(|(key, value)| has_metadata(task, key, value))
            && self.able.as_ref().is_none_or(|agent| may_take(task, agent))
            && self.words.iter().all(|word| mentions(task, &word.to_lowercase()))
    }
}

/// Whether a task is assigned to an identity.
pub fn is_assigned_to(task: &Task, identity: &str) -> bool {
    task.assignee.as_deref().is_some_and(|name| assignee_key(name) == assignee_key(identity))
}

fn has_metadata(task: &Task, key: &str, value: &str) -> bool {
    if key == "agent_role" {
        return task.agent_role.as_deref() == Some(value);
    }
    let text = |found: &serde_json::Value| found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    task.extra
        .get("metadata")
        .and_then(|metadata| metadata.get(key))
        .is_some_and(|found| text(found) == value)
}

fn mentions(task: &Task, word: &str) -> bool {
    let extra =
        ["notes", "design", "acceptance_criteria"].iter().filter_map(|key| task.extra.get(*key)?.as_str());
    [task.task_id.as_str(), &task.title, &task.description]
        .into_iter()
        .chain(extra)
        .any(|text| text.to_lowercase().contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wish_must_be_met() {
        let task = Task {
            title: "Fix the Lexer".into(),
            labels: vec!["a".into(), "b".into()],
            specialist_tags: vec!["rust".into()],
            ..Task::default()
        };
        let takes = |change: fn(&mut Filter)| {
            let mut filter = Filter::default();
            assert!(filter.is_open());
            change(&mut filter);
            assert!(!filter.is_open());
            filter.takes(&task)
        };
        assert!(takes(|f| f.labels = vec!["a".into(), "b".into()]));
        assert!(!takes(|f| f.labels = vec!["a".into(), "c".into()]));
        assert!(takes(|f| f.any_label = vec!["c".into(), "b".into()]));
        assert!(takes(|f| f.tags = vec!["go".into(), "rust".into()]));
        assert!(takes(|f| f.words = vec!["LEXER".into(), "fix".into()]));
        assert!(!takes(|f| f.words = vec!["lexer".into(), "parser".into()]));
        assert!(takes(|f| f.unassigned = true));
        assert!(!takes(|f| f.assignee = Some("Ann".into())));
    }

    #[test]
    fn an_assignee_is_found_by_the_name_in_a_file_and_by_the_one_that_is_kept_here() {
        for (assignee, wanted, is_found) in [
            ("Ann Bee", "Ann-Bee", true),
            ("Ann Bee", "Ann Bee", true),
            ("Ann-Bee", "Ann Bee", true),
            ("beads/crew/wolf", "beads-crew-wolf", true),
            ("Ann Bee", "Ann", false),
            ("token:7", "token-7", false),
        ] {
            let task = Task { assignee: Some(assignee.into()), ..Task::default() };
            let filter = Filter { assignee: Some(wanted.into()), ..Filter::default() };
            assert_eq!(filter.takes(&task), is_found, "{assignee} as {wanted}");
        }
    }
}
