//! From what is known about a task to the message that hands it over. Pure: the router and the worker send what comes out.

use serde_json::{Map, Value, json};

use super::{Envelope, Kind, Urgency, check, complete, fit};
use crate::refusal::Refusal;
use crate::role::role_key;

/// A task that was closed before this one.
#[derive(Debug, Clone, Default)]
pub struct PreviousTask {
    /// Its id.
    pub task_id: String,
    /// Its title.
    pub title: String,
    /// Who had it at the end.
    pub closed_by: Option<String>,
    /// When it was closed.
    pub closed_at: Option<String>,
}

/// The facts of a task that go into an assignment message. Borrowed, so that any kind of task can be presented as one.
#[derive(Debug, Clone, Default)]
pub struct TaskFacts<'a> {
    /// The task.
    pub task_id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The work to do, or what the increment is to build.
    pub description: &'a str,
    /// When it is done.
    pub acceptance_criteria: &'a str,
    /// The role that it wants.
    pub role: Option<&'a str>,
    /// The role of the previous assignee.
    pub previous_role: Option<&'a str>,
    /// The task that was closed last before this one.
    pub previous_task: Option<PreviousTask>,
    /// What was done: the task's `agent_context`.
    pub agent_context: Map<String, Value>,
    /// What the next one needs: the task's `handoff_instructions`.
    pub handoff_instructions: Map<String, Value>,
    /// Skills that it wants.
    pub specialist_tags: &'a [String],
    /// How long it is likely to take, in minutes.
    pub estimated_duration: Option<i64>,
    /// Who had it before, or the task before it.
    pub previous_agent: Option<&'a str>,
    /// How often it was tried.
    pub attempts: u32,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
}

/// Builds the message of this type and checks it. Its context takes at most `budget` bytes of JSON, but never less than its
/// one required field; what was cut or left out is named in `left_out`.
pub fn build(
    kind: Kind,
    work: &TaskFacts<'_>,
    envelope: &Envelope<'_>,
    budget: usize,
) -> Result<Value, Refusal> {
    let mut message = Map::new();
    message.insert("task_id".into(), json!(work.task_id));
    message.insert("task_title".into(), json!(title(work)));
    message.insert("handoff_type".into(), json!(way(kind, work)));
    message.insert("context".into(), Value::Object(fit::truncate(kind, &known_fields(kind, work), budget)));
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

/// The title in one line; the id where there is nothing to read in it.
fn title(work: &TaskFacts<'_>) -> String {
    let title = line(work.title);
    if title.trim().is_empty() { work.task_id.to_owned() } else { title }
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
    fields.put(kind, "acceptance_criteria", json!(work.acceptance_criteria));
    fields.put(kind, fit::PREVIOUS_AGENT, json!(work.previous_agent));
    // What the sender wrote for the next one comes before what it wrote about itself.
    for field in fit::fields(kind) {
        for source in [&work.handoff_instructions, &work.agent_context] {
            if let Some(value) = source.get(*field) {
                fields.put(kind, field, value.clone());
            }
        }
    }
    if kind != Kind::TaskAssignment {
        fields.put(kind, fit::WHAT_TO_BUILD, json!(work.description));
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
    others.iter().find_map(text).unwrap_or_else(|| not_stated(kind, work))
}

/// Fields of a context that name what was changed.
const EVIDENCE: [&str; 4] = ["files_modified", "files_changed", "commits", "commit"];

/// What is known where no report says what was done or what went wrong, and what the receiver does about it.
fn not_stated(kind: Kind, work: &TaskFacts<'_>) -> String {
    let previous = work.previous_task.as_ref();
    let what = previous.map_or_else(
        || "the task before this one".to_owned(),
        |previous| format!("{} \"{}\"", previous.task_id, previous.title),
    );
    let by = previous.and_then(|previous| previous.closed_by.as_deref());
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let at = previous.and_then(|previous| previous.closed_at.as_deref());
    let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
    let named: Vec<&str> =
        EVIDENCE.into_iter().filter(|field| work.agent_context.contains_key(*field)).collect();
    let evidence = match named.as_slice() {
        [] => "Nor were files or commits named".to_owned(),
        named => format!("What was changed stands under {}", named.join(" and ")),
    };
    let look =
        previous.map(|previous| format!("`baton task show {}`, ", previous.task_id)).unwrap_or_default();
    match kind {
        Kind::TestFailureReport => format!(
            "NOT STATED: {what} was closed as failed{by}{at}, and nobody said what failed. {evidence}. Run the tests \
             yourself; {look}`git log` and whoever closed it may tell more."
        ),
        _ => format!(
            "NOT STATED: {what} was closed{by}{at}, and nobody said what was done. {evidence}. Look before you rely on it: \
             {look}`git log`, or ask whoever closed it."
        ),
    }
}

/// Whether nothing in a task's context says what the required field of its message has to say.
pub fn lacks_headline(kind: Kind, context: &Map<String, Value>) -> bool {
    kind != Kind::TaskAssignment
        && headline_fields(kind).iter().all(|field| match context.get(*field) {
            Some(Value::String(text)) => text.trim().is_empty(),
            other => other.is_none_or(Value::is_null),
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
