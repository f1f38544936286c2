//! A task as answers show it: the fields that have a value, then every other field of its record.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Task, claim, is_empty, sealed};
use crate::time::{Millis, Timestamp, parse_rfc3339};

/// A task in an answer. A field without a value is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// Its id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The project.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project_id: String,
    /// One line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The work to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it stands; what was imported may have a status of its own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
    /// `task`, `bug`, `feature`, …
    #[serde(skip_serializing_if = "String::is_empty")]
    pub issue_type: String,
    /// Who works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Which role it wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// Labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// What its agent has to be good at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specialist_tags: Vec<String>,
    /// The task that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How long it may take, in minutes, under the name that Beads has for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_minutes: Option<i64>,
    /// How long it may take, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_duration: Option<i64>,
    /// What was done; of a sensitive task, for whom that is encrypted. Empty where a budget leaves nothing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_context: Option<Map<String, Value>>,
    /// What the next one needs to know; as `agent_context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff_instructions: Option<Map<String, Value>>,
    /// Who did the work before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_agent: Option<String>,
    /// How often it was tried, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<i64>,
    /// The type of message that goes out with its next assignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_message: Option<String>,
    /// Another task holds it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
    /// Who wrote it down.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Not to be offered before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_until: Option<Timestamp>,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// Why it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_reason: Option<String>,
    /// `pass` or `fail`, of a closed task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Who works on it, under a lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<claim::View>,
    /// Every other field of its record, as given.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A failed attempt at a task. What its record does not say is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Who tried.
    pub by: String,
    /// When it failed.
    pub at: Option<Millis>,
    /// Why.
    pub why: String,
}

impl View {
    /// Another field of the record as a text; none where it has no value.
    pub fn other_text(&self, key: &str) -> Option<String> {
        self.rest.get(key).and_then(as_text)
    }

    /// What the tracker keeps beside the record's own fields.
    pub fn metadata(&self) -> Option<&Value> {
        self.rest.get("metadata")
    }

    /// What the router keeps with the task under this name, as a text: `why` it waits, or which `message` it sent.
    pub fn routing_text(&self, key: &str) -> Option<String> {
        self.rest.get("route")?.get(key).and_then(as_text)
    }

    /// The failed attempts, oldest first.
    pub fn failed_attempts(&self) -> Vec<FailedAttempt> {
        let rows = self.rest.get("failed_attempts").and_then(Value::as_array);
        let attempt = |row: &Value| {
            let text = |key: &str| row.get(key).and_then(as_text).unwrap_or_default();
            FailedAttempt { by: text("by"), at: parse_rfc3339(&text("at")), why: text("why") }
        };
        rows.into_iter().flatten().map(attempt).collect()
    }

    /// Whether a named field has a value, so that one of the record with its name is not shown.
    fn has(&self, key: &str) -> bool {
        match key {
            "id" => !self.id.is_empty(),
            "project_id" => !self.project_id.is_empty(),
            "title" => !self.title.is_empty(),
            "description" => !self.description.is_empty(),
            "status" => !self.status.is_empty(),
            "issue_type" => !self.issue_type.is_empty(),
            "created_by" => !self.created_by.is_empty(),
            "priority" | "created_at" | "updated_at" => true,
            "assignee" => self.assignee.is_some(),
            "agent_role" => self.agent_role.is_some(),
            "labels" => !self.labels.is_empty(),
            "specialist_tags" => !self.specialist_tags.is_empty(),
            "parent" => self.parent.is_some(),
            "estimated_minutes" => self.estimated_minutes.is_some(),
            "estimated_duration" => self.estimated_duration.is_some(),
            "agent_context" => self.agent_context.is_some(),
            "handoff_instructions" => self.handoff_instructions.is_some(),
            "previous_agent" => self.previous_agent.is_some(),
            "attempts" => self.attempts.is_some(),
            "pending_message" => self.pending_message.is_some(),
            "blocked" => self.blocked.is_some(),
            "defer_until" => self.defer_until.is_some(),
            "closed_at" => self.closed_at.is_some(),
            "close_reason" => self.close_reason.is_some(),
            "result" => self.result.is_some(),
            "claim" => self.claim.is_some(),
            _ => false,
        }
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

impl From<&Task> for View {
    fn from(task: &Task) -> Self {
        let text = |field: &Option<String>| field.clone().filter(|text| !text.is_empty());
        let context = |field: &Map<String, Value>| {
            Some(sealed::redacted_view(field)).filter(|fields| !fields.is_empty())
        };
        let mut view = Self {
            id: task.task_id.clone(),
            project_id: task.project_id.clone(),
            title: task.title.clone(),
            description: task.description.clone(),
            status: task.status.clone(),
            priority: task.priority,
            issue_type: task.issue_type.clone(),
            assignee: text(&task.assignee),
            agent_role: text(&task.agent_role),
            labels: task.labels.clone(),
            specialist_tags: task.specialist_tags.clone(),
            parent: text(&task.parent_id),
            estimated_minutes: task.estimated_minutes,
            estimated_duration: task.estimated_minutes,
            agent_context: context(&task.agent_context),
            handoff_instructions: context(&task.handoff_instructions),
            previous_agent: text(&task.previous_agent),
            attempts: Some(task.attempts).filter(|attempts| *attempts > 0),
            pending_message: text(&task.pending_type),
            blocked: Some(true).filter(|_| task.readiness.blocked && task.is_open()),
            created_by: task.created_by.clone(),
            created_at: Timestamp(task.created_at),
            updated_at: Timestamp(task.updated_at),
            defer_until: task.defer_until.map(Timestamp),
            closed_at: task.closed_at.map(Timestamp),
            close_reason: text(&task.close_reason),
            result: text(&task.result),
            claim: task.claim.as_ref().map(claim::View::from),
            rest: Map::new(),
        };
        let others = task.extra.iter().filter(|(key, _)| !view.has(key));
        view.rest = others.map(|(key, value)| (key.clone(), value.clone())).collect();
        view
    }
}

impl<'de> Deserialize<'de> for View {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer)?.into_view()
    }
}

/// The fields of an answer about a task, of which the named ones are taken. One whose value is of another type is a field that
/// the task's record has under this name, and stays among the rest.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Takes a field out, if its value is of the type.
    pub fn take<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let found = self.0.get(key).filter(|value| value.is_object() || !is_empty(value))?;
        let value = T::deserialize(found).ok()?;
        self.0.shift_remove(key);
        Some(value)
    }

    /// Takes a field out that every answer has.
    pub fn require<T: DeserializeOwned, E: Error>(&mut self, key: &'static str) -> Result<T, E> {
        self.take(key).ok_or_else(|| E::missing_field(key))
    }

    /// The task that the other fields are.
    pub fn into_view<E: Error>(mut self) -> Result<View, E> {
        Ok(View {
            id: self.require("id")?,
            project_id: self.take("project_id").unwrap_or_default(),
            title: self.take("title").unwrap_or_default(),
            description: self.take("description").unwrap_or_default(),
            status: self.take("status").unwrap_or_default(),
            priority: self.require("priority")?,
            issue_type: self.take("issue_type").unwrap_or_default(),
            assignee: self.take("assignee"),
            agent_role: self.take("agent_role"),
            labels: self.take("labels").unwrap_or_default(),
            specialist_tags: self.take("specialist_tags").unwrap_or_default(),
            parent: self.take("parent"),
            estimated_minutes: self.take("estimated_minutes"),
            estimated_duration: self.take("estimated_duration"),
            agent_context: self.take("agent_context"),
            handoff_instructions: self.take("handoff_instructions"),
            previous_agent: self.take("previous_agent"),
            attempts: self.take("attempts"),
            pending_message: self.take("pending_message"),
            blocked: self.take("blocked"),
            created_by: self.take("created_by").unwrap_or_default(),
            created_at: self.require("created_at")?,
            updated_at: self.require("updated_at")?,
            defer_until: self.take("defer_until"),
            closed_at: self.take("closed_at"),
            close_reason: self.take("close_reason"),
            result: self.take("result"),
            claim: self.take("claim"),
            rest: self.0,
        })
    }
}

/// A comment on a task, as it stands: what was imported may have other fields, in any order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Comment(pub Map<String, Value>);

impl Comment {
    /// The id: a number or a text.
    pub fn id(&self) -> Value {
        self.0.get("id").cloned().unwrap_or_default()
    }

    /// The task.
    pub fn issue_id(&self) -> &str {
        self.text_of("issue_id")
    }

    /// Who made it.
    pub fn author(&self) -> &str {
        self.text_of("author")
    }

    /// What is said.
    pub fn text(&self) -> &str {
        self.text_of("text")
    }

    /// When it was made, as it is written.
    pub fn created_at(&self) -> &str {
        self.text_of("created_at")
    }

    fn text_of(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_of_the_record_that_has_the_name_and_not_the_type_of_ours_is_kept() {
        let mut task = Task { task_id: "a-1".into(), title: "t".into(), ..Task::default() };
        let extra = json!({ "claim": 5, "labels": [], "parent": "a", "title": "no", "blocked": "by hand", "k": null });
        task.extra = extra.as_object().cloned().unwrap_or_default();
        let view = View::from(&task);
        let shown = json!(view);
        let again: View = serde_json::from_value(shown.clone()).expect("a task");
        assert_eq!(json!(again), shown);
        assert_eq!((again.title.as_str(), again.parent.as_deref(), again.claim), ("t", Some("a"), None));
        assert_eq!(json!(again.rest), json!({ "claim": 5, "labels": [], "blocked": "by hand", "k": null }));
    }
}
