//! From what is known about a task to the message that hands it over. Pure: the router and the worker send what comes out.

use serde_json::{Map, Value, json};

use super::{Envelope, Kind, Urgency, check, complete, fit};
use crate::refusal::Refusal;
use crate::role::role_key;

/// The facts of a task that go into an assignment message. Borrowed, so that any kind of task can be presented as one.
#[derive(Debug, Clone, Default)]
pub struct TaskFacts<'a> {
    /// The task.
    pub task_id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The work to do.
    pub description: &'a str,
    /// When it is done.
    pub acceptance_criteria: &'a str,
    /// The role that it wants.
    pub role: Option<&'a str>,
    /// The role of the previous assignee.
    pub previous_role: Option<&'a str>,
    /// What was done: the task's `agent_context`.
    pub agent_context: Map<String, Value>,
    /// What the next one needs: the task's `handoff_instructions`.
    pub handoff_instructions: Map<String, Value>,
    /// Skills that it wants.
    pub specialist_tags: &'a [String],
    /// How long it is likely to take, in minutes.
    pub estimated_duration: Option<i64>,
    /// How often it was tried.
    pub attempts: u32,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
}

/// Builds the message of this type and checks it. Its context takes at most `budget` bytes of JSON, but never less than its
/// one required field; what was left out is named in `left_out`.
pub fn build(
    kind: Kind,
    work: &TaskFacts<'_>,
    envelope: &Envelope<'_>,
    budget: usize,
) -> Result<Value, Refusal> {
    let mut message = Map::new();
    message.insert("task_id".into(), json!(work.task_id));
    message.insert("task_title".into(), json!(line(work.title)));
    message.insert("handoff_type".into(), json!(way(kind, work)));
    message.insert("context".into(), Value::Object(fit::fit(kind, known_fields(kind, work), budget)));
    message.insert("previous_attempts".into(), json!(work.attempts));
    message.insert("urgency".into(), json!(Urgency::of_priority(work.priority)));
    let mut message = complete(kind, message, envelope);
    if let Some(subject) = message.get("subject").and_then(Value::as_str).map(line) {
        message.insert("subject".into(), json!(subject));
    }
    let message = Value::Object(message);
    check(kind, &message, envelope)?;
    Ok(message)
}

/// One line of at most 400 bytes.
fn line(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if shown.len() + c.len_utf8() > 400 {
            break;
        }
        shown.push(c);
    }
    shown
}

/// From which role to which.
fn way(kind: Kind, work: &TaskFacts<'_>) -> String {
    let word = |role: &str| {
        let key: String = role_key(role)
            .chars()
            .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' })
            .collect();
        if key.is_empty() { "any".to_owned() } else { key }
    };
    let to = word(work.role.unwrap_or("any"));
    let from = match kind {
        Kind::TaskAssignment => "new".to_owned(),
        Kind::TaskHandoff => word(work.previous_role.unwrap_or("implementation")),
        Kind::TestFailureReport => word(work.previous_role.unwrap_or("testing")),
        Kind::FixComplete => "fixing".to_owned(),
        Kind::VerificationRequest => "testing".to_owned(),
    };
    format!("{from}_to_{to}")
}

/// Everything that could be said, the most important first.
fn known_fields(kind: Kind, work: &TaskFacts<'_>) -> Vec<(String, Value)> {
    let mut fields = fit::MessageFields::default();
    fields.put(kind, required(kind), json!(headline(kind, work)));
    fields.put(kind, "role", work.role.map_or(Value::Null, |role| json!(role_key(role))));
    if kind == Kind::TaskAssignment || kind == Kind::VerificationRequest {
        let criteria = work.acceptance_criteria;
        fields.put(
            kind,
            "acceptance_criteria",
            if criteria.is_empty() { Value::Null } else { json!(criteria) },
        );
    }
    // What the sender wrote for the next one comes before what it wrote about itself.
    for field in fit::fields(kind) {
        for source in [&work.handoff_instructions, &work.agent_context] {
            if let Some(value) = source.get(*field) {
                fields.put(kind, field, value.clone());
            }
        }
    }
    if !work.specialist_tags.is_empty() {
        fields.put(kind, "required_skills", json!(work.specialist_tags));
    }
    fields.put(kind, "estimated_duration_minutes", json!(work.estimated_duration));
    for (field, value) in work.handoff_instructions.iter().chain(&work.agent_context) {
        // The envelope has its own word for this one.
        if field != "attempts" && field != "left_out" {
            fields.put(kind, field, value.clone());
        }
    }
    fields.into_fields()
}

/// The field that a context cannot be without.
pub(super) fn required(kind: Kind) -> &'static str {
    match kind {
        Kind::TaskAssignment => "description",
        Kind::TaskHandoff | Kind::FixComplete => "work_completed",
        Kind::TestFailureReport => "failure_details",
        Kind::VerificationRequest => "summary",
    }
}

/// The text of the required field: what the context says of it, else what is known without it.
fn headline(kind: Kind, work: &TaskFacts<'_>) -> String {
    if kind == Kind::TaskAssignment {
        return work.description.to_owned();
    }
    let others = headline_fields(kind);
    let text = |field: &&str| match work.agent_context.get(*field) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.clone()),
        Some(Value::Null | Value::String(_)) | None => None,
        Some(other) => Some(other.to_string()),
    };
    others.iter().find_map(text).unwrap_or_else(|| {
        let nothing = match kind {
            Kind::TestFailureReport => "closed as failed; no reason was given",
            _ => "the work before is closed; no summary was given",
        };
        format!("{}: {nothing}", work.title)
    })
}

/// The fields of a context from which the required field is taken, best first.
fn headline_fields(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::TaskAssignment => &[],
        Kind::TestFailureReport => &["failure_details", "failure", "reason", "work_completed"],
        Kind::VerificationRequest => &["summary", "work_completed", "reason"],
        _ => &["work_completed", "summary", "reason"],
    }
}

/// The fields of a task's context in the order of their use to the receiver of such a message.
pub fn field_order(kind: Kind) -> impl Iterator<Item = &'static str> {
    headline_fields(kind).iter().chain(fit::fields(kind)).copied()
}
