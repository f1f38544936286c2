//! Shapes a context for its message type and truncates it to the budget, most important fields first; names what it left out.

use serde_json::{Map, Value};

use super::Kind;
use super::build::required;
use crate::byte_budget::{Part, Rank, fill, part};

/// Field with the build instructions.
pub(super) const WHAT_TO_BUILD: &str = "what_to_build";
/// Field with the previous agent.
pub(super) const PREVIOUS_AGENT: &str = "previous_agent";

/// Expected value type of a field.
#[derive(Clone, Copy, PartialEq)]
enum FieldRule {
    Text,
    Texts,
    TextOrTexts,
    Files,
    Any,
}

/// The fields of a type that come from what the task says, the most important first.
pub(super) fn fields(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::TaskAssignment => &["notes", "estimated_duration"],
        Kind::TaskHandoff => &[
            "test_command",
            "files_modified",
            "known_issues",
            "previous_failures",
            "implementation_notes",
            "reproduction_steps",
            "potential_issues",
            "estimated_test_duration",
            "estimated_duration",
        ],
        Kind::TestFailureReport => &[
            "reproduction_steps",
            "test_command",
            "error_logs",
            "files_modified",
            "previous_failures",
            "estimated_duration",
        ],
        Kind::FixComplete => &[
            "retest_instructions",
            "test_command",
            "files_modified",
            "previous_failures",
            "estimated_duration",
        ],
        Kind::VerificationRequest => {
            &["test_results", "previous_failures", "files_modified", "test_command", "estimated_duration"]
        }
    }
}

fn shape(field: &str) -> FieldRule {
    match field {
        "work_completed" | "failure_details" | "summary" | "description" | "test_command" | "role"
        | WHAT_TO_BUILD | PREVIOUS_AGENT => FieldRule::Text,
        "known_issues" | "potential_issues" | "required_skills" => FieldRule::Texts,
        "implementation_notes"
        | "reproduction_steps"
        | "error_logs"
        | "retest_instructions"
        | "notes"
        | "acceptance_criteria" => FieldRule::TextOrTexts,
        "files_modified" => FieldRule::Files,
        _ => FieldRule::Any,
    }
}

/// The fields of a message, each once, in the order of insertion.
#[derive(Default)]
pub(super) struct MessageFields(Vec<(String, Value)>);

impl MessageFields {
    /// Adds a field in the shape that its type wants, unless it is there already or says nothing.
    pub(super) fn put(&mut self, kind: Kind, field: &str, value: Value) {
        let is_required = field == required(kind);
        if self.0.iter().any(|(known, _)| known == field) || (says_nothing(&value) && !is_required) {
            return;
        }
        let own = is_required
            || ["role", "required_skills", "acceptance_criteria"].contains(&field)
            || field == WHAT_TO_BUILD
            || field == PREVIOUS_AGENT;
        // A verification has what failed before where there is room for it.
        let own = own || (kind == Kind::VerificationRequest && field == "previous_failures");
        // A field of another type's context is only what the sender called it: it stays as it is.
        let value =
            if own || fields(kind).contains(&field) { shaped(shape(field), field, value) } else { value };
        self.0.push((field.to_owned(), value));
    }

    pub(super) fn into_fields(self) -> Vec<(String, Value)> {
        self.0
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The value in this shape; nothing of it is lost.
fn shaped(shape: FieldRule, field: &str, value: Value) -> Value {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let list = |value: Value| match value {
        Value::Array(items) => items,
        other => vec![other],
    };
    match shape {
        FieldRule::Any if field == "previous_failures" => Value::Array(list(value)),
        FieldRule::Any => value,
        FieldRule::Text => Value::String(text(value)),
        FieldRule::Texts => list(value).into_iter().map(text).map(Value::String).collect(),
        FieldRule::TextOrTexts if value.is_string() => value,
        FieldRule::TextOrTexts => list(value).into_iter().map(text).map(Value::String).collect(),
        FieldRule::Files => list(value).into_iter().map(file).collect(),
    }
}

fn file(value: Value) -> Value {
    let is_text = |key: &str| value.get(key).is_none_or(|v| v.is_string() || v.is_null());
    let has_path = value.get("path").is_some_and(Value::is_string);
    match value {
        Value::String(_) => value,
        Value::Object(_) if has_path && is_text("change") && is_text("lines") && is_text("by") => value,
        other => Value::String(other.to_string()),
    }
}

/// As much as fits into so many bytes of JSON: what the receiver needs shares the room, a list loses its last entries, and what is
/// missing is named. The required field is always there: cut, if it has to be.
pub(super) fn truncate(kind: Kind, fields: &[(String, Value)], budget: usize) -> Map<String, Value> {
    let must = required(kind);
    let parts: Vec<Part<'_>> = fields
        .iter()
        .map(|(field, value)| {
            let is_first = field == must || is_first(kind, field);
            let rank = match needed(kind).any(|needed| needed == field) {
                _ if is_count(field, value) => Rank::Head,
                _ if field == WHAT_TO_BUILD => Rank::Last,
                true if is_first => Rank::First,
                true => Rank::Needed,
                false => Rank::Other,
            };
            part(None, field, value, rank)
        })
        .collect();
    let mut message = fill(&parts, budget);
    if !message.contains_key(must) {
        let text = fields.iter().find(|(field, _)| field == must).and_then(|(_, value)| value.as_str());
        let short = cut(text.unwrap_or_default(), budget.saturating_sub(must.len() + 7));
        message.insert(must.to_owned(), Value::String(short));
    }
    message
}

/// The fields that the receiver of such a message cannot do without, the most important first.
fn needed(kind: Kind) -> impl Iterator<Item = &'static str> {
    let of_all = [required(kind), "role", "acceptance_criteria", PREVIOUS_AGENT];
    of_all.into_iter().chain(fields(kind).iter().copied())
}

/// Whether a field of a context is kept before the others that its receiver needs: when the task counts as done, the last results,
/// and the files.
pub(crate) fn is_first(kind: Kind, field: &str) -> bool {
    let is_result = match kind {
        Kind::VerificationRequest => matches!(field, "test_results" | "previous_failures"),
        Kind::TestFailureReport => matches!(field, "failure_details" | "failure"),
        _ => field == required(kind),
    };
    is_result || matches!(field, "acceptance_criteria" | "files_modified")
}

/// Whether a field is the attempt counter. A missing counter would be read as zero.
pub(crate) fn is_count(field: &str, value: &Value) -> bool {
    field == "test_attempts" && value.is_number()
}

/// The beginning of a text whose JSON takes at most so many bytes, marked as cut.
fn cut(text: &str, most: usize) -> String {
    const MARK: &str = "…";
    let mut short = String::new();
    let mut taken = MARK.len();
    for c in text.chars() {
        taken += Value::String(c.to_string()).to_string().len() - 2;
        if taken > most {
            break;
        }
        short.push(c);
    }
    short.push_str(MARK);
    short
}
