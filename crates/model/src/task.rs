//! A task: work with its context kept in it. The names are those of a Beads issue.

use serde_json::{Map, Value, json};

use crate::refusal::Refusal;
use crate::time::{Millis, rfc3339};

/// Statuses that a task may be given.
pub const STATUSES: [&str; 5] = ["open", "in_progress", "blocked", "deferred", "closed"];

/// A task of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    /// The project.
    pub project_id: String,
    /// `<prefix>-<hash>`.
    pub task_id: String,
    /// One line.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// One of [`STATUSES`].
    pub status: String,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
    /// `task`, `bug`, `feature`, …
    pub issue_type: String,
    /// Who works on it.
    pub assignee: Option<String>,
    /// Which role it wants.
    pub agent_role: Option<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// Who wrote it down.
    pub created_by: String,
    /// When.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it was closed.
    pub closed_at: Option<Millis>,
    /// Why it was closed.
    pub close_reason: Option<String>,
    /// Every other field, as given.
    pub extra: Map<String, Value>,
}

impl Task {
    /// Refuses a task that could not be shown or stored.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse = |what: String, hint: &str| Err(Refusal::invalid("task_invalid", what, hint));
        if self.title.trim().is_empty() || self.title.len() > 500 || self.title.chars().any(char::is_control)
        {
            return refuse(
                "the title is not one line of 1 to 500 bytes".into(),
                "shorten it; the rest goes into the description",
            );
        }
        if !(0..=4).contains(&self.priority) {
            return refuse(
                format!("priority {} is not 0 to 4", self.priority),
                "0 is now, 2 is usual, 4 is some day",
            );
        }
        if !STATUSES.contains(&self.status.as_str()) {
            return refuse(
                format!("`{}` is not a status", crate::id::visible(&self.status)),
                "use open, in_progress, blocked, deferred or closed",
            );
        }
        if (self.status == "closed") != self.closed_at.is_some() {
            return refuse(
                "a task is closed if and only if it says when".into(),
                "close it with `baton task close`",
            );
        }
        Ok(())
    }

    /// Whether there is still something to do.
    pub fn is_open(&self) -> bool {
        self.status != "closed"
    }

    /// As answers show it.
    pub fn to_json(&self) -> Value {
        let mut row = Map::new();
        let mut put = |key: &str, value: Value| {
            if !matches!(&value, Value::Null) && value != json!("") && value != json!([]) {
                row.insert(key.to_owned(), value);
            }
        };
        put("id", json!(self.task_id));
        put("project_id", json!(self.project_id));
        put("title", json!(self.title));
        put("description", json!(self.description));
        put("status", json!(self.status));
        put("priority", json!(self.priority));
        put("issue_type", json!(self.issue_type));
        put("assignee", json!(self.assignee));
        put("agent_role", json!(self.agent_role));
        put("labels", json!(self.labels));
        put("created_by", json!(self.created_by));
        put("created_at", json!(rfc3339(self.created_at)));
        put("updated_at", json!(rfc3339(self.updated_at)));
        put("closed_at", json!(self.closed_at.map(rfc3339)));
        put("close_reason", json!(self.close_reason));
        for (key, value) in &self.extra {
            row.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut Task)) -> bool {
        let mut task = Task { title: "t".into(), status: "open".into(), priority: 2, ..Task::default() };
        change(&mut task);
        task.check().is_ok()
    }

    #[test]
    fn a_task_is_refused_before_it_is_written() {
        assert!(check(|_| {}));
        assert!(!check(|t| t.title = " ".into()));
        assert!(!check(|t| t.title = "a\nb".into()));
        assert!(!check(|t| t.priority = 5));
        assert!(!check(|t| t.status = "shut".into()));
        assert!(!check(|t| t.status = "closed".into()));
        assert!(!check(|t| t.closed_at = Some(1)));
    }

    #[test]
    fn unknown_fields_are_shown_but_never_over_known_ones() {
        let mut task = Task { title: "t".into(), ..Task::default() };
        task.extra = serde_json::from_str(r#"{"title":"no","spec_id":"yes"}"#).expect("json");
        assert_eq!(
            (task.to_json()["title"].as_str(), task.to_json()["spec_id"].as_str()),
            (Some("t"), Some("yes"))
        );
    }
}
