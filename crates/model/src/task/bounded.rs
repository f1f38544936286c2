//! What an agent receives for one task: the context that matters, within a budget, and a word on what was left out.

mod unfitted;

use serde_json::{Map, Value, json};

use super::closing::IncrementStage;
use super::{Task, is_empty, sealed};
use crate::byte_budget::{Part, Rank, fill, part};
use crate::handoff_message::Kind;
use crate::handoff_message::build::field_order;
use crate::handoff_message::fit::{is_count, is_first};
use crate::route::{self, last_sent, message_kind};
pub use unfitted::Unfitted;

/// The budget of a role in bytes: 2 KiB to build or to mend, 1 KiB to test, half of one to approve.
pub fn budget_of(role: Option<&str>) -> usize {
    match IncrementStage::of(role) {
        Some(IncrementStage::Testing) => 1024,
        Some(IncrementStage::Verification) => 512,
        _ => 2048,
    }
}

/// How many of the last failed attempts are told.
const FAILURES: usize = 3;

/// What an agent needs of what is beside its task.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The description of the increment's implementation, for a task that says nothing itself.
    pub what_to_build: Option<String>,
    /// When the increment counts as done, for a task that does not say it itself.
    pub acceptance_criteria: Option<String>,
    /// What was said about the task, oldest first, each as the interchange file has it.
    pub comments: Vec<Map<String, Value>>,
}

/// The task as its next agent gets it, the most useful first: id, title, role, when it counts as done, what is to be done, what
/// failed, instructions and context, as far as the budget in bytes of JSON goes. What did not fit is named under `left_out`;
/// `task_show` with `full` has all of it.
pub fn packet(task: &Task, beside: &Surroundings, budget: usize) -> Value {
    Values::of(task, beside).packet(budget)
}

/// Fields that are shown before the two objects.
const BEFORE: [(&str, Rank); 10] = [
    ("id", Rank::Head),
    ("title", Rank::Needed),
    ("agent_role", Rank::Head),
    ("type", Rank::Head),
    ("previous_agent", Rank::Head),
    ("attempts", Rank::Head),
    ("acceptance_criteria", Rank::First),
    ("description", Rank::Needed),
    ("what_to_build", Rank::Last),
    ("failed_attempts", Rank::Needed),
];
/// Fields that are shown behind them.
const BEHIND: [(&str, Rank); 3] =
    [("design", Rank::Other), ("notes", Rank::Other), ("comments", Rank::Other)];

/// All that can be said.
struct Values {
    /// What is beside the two objects.
    fields: Map<String, Value>,
    instructions: Map<String, Value>,
    context: Map<String, Value>,
    /// The kind of message, which says what every receiver needs of both objects.
    kind: Kind,
}

impl Values {
    fn of(task: &Task, beside: &Surroundings) -> Self {
        let word = task.pending_type.as_deref().or(last_sent(task).map(|(kind, _)| kind));
        let kind = word.and_then(Kind::from_word).unwrap_or_else(|| message_kind(task));
        let extra = |key: &str| task.extra.get(key).cloned().unwrap_or_default();
        let criteria = match extra("acceptance_criteria") {
            own if is_empty(&own) => json!(beside.acceptance_criteria),
            own => own,
        };
        let to_build = beside.what_to_build.as_ref().filter(|_| task.description.is_empty());
        let comments = beside.comments.iter().rev().map(comment).collect();
        let fields = [
            ("id", json!(task.task_id)),
            ("title", json!(task.title)),
            ("agent_role", json!(task.agent_role)),
            ("type", json!(word)),
            ("previous_agent", json!(task.previous_agent)),
            ("attempts", attempts(task)),
            ("acceptance_criteria", criteria),
            ("description", json!(task.description)),
            ("what_to_build", json!(to_build)),
            ("failed_attempts", json!(failures(task))),
            ("design", extra("design")),
            ("notes", extra("notes")),
            ("comments", Value::Array(comments)),
        ];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let instructions = sealed::redacted_view(&task.handoff_instructions);
        Self::new(fields, instructions, sealed::redacted_view(&task.agent_context), kind)
    }

    fn new(
        fields: Map<String, Value>,
        instructions: Map<String, Value>,
        mut context: Map<String, Value>,
        kind: Kind,
    ) -> Self {
        if fields.get("previous_agent").is_some_and(|name| !name.is_null()) {
            // Said above.
            context.shift_remove("previous_agent");
        }
        Self { fields, instructions, context, kind }
    }

    /// As much of it as goes into a budget.
    fn packet(&self, budget: usize) -> Value {
        Value::Object(fill(&self.parts(), budget))
    }

    /// The parts in the order in which they are shown.
    fn parts(&self) -> Vec<Part<'_>> {
        // Fields of both objects that every receiver of this kind of message needs.
        let order: Vec<&str> = field_order(self.kind).collect();
        let single = |(name, rank): &(&'static str, Rank)| {
            let value = self.fields.get(*name).filter(|value| !is_empty(value))?;
            Some(part(None, name, value, *rank))
        };
        let mut parts: Vec<Part<'_>> = BEFORE.iter().filter_map(single).collect();
        for (object, fields) in
            [("handoff_instructions", &self.instructions), ("agent_context", &self.context)]
        {
            let place = |name: &str| order.iter().position(|known| *known == name);
            let mut fields: Vec<_> = fields.iter().filter(|(_, value)| !is_empty(value)).collect();
            fields.sort_by_key(|(name, value)| (place(name).unwrap_or(usize::MAX), value.to_string().len()));
            parts.extend(fields.into_iter().map(|(name, value)| {
                let rank = match place(name) {
                    _ if is_count(name, value) => Rank::Head,
                    Some(_) if is_first(self.kind, name) => Rank::First,
                    Some(_) => Rank::Needed,
                    None => Rank::Other,
                };
                part(Some(object), name, value, rank)
            }));
        }
        parts.extend(BEHIND.iter().filter_map(single));
        parts
    }
}

/// How often the task was tried. Null for a verification that was not tried yet: a number would be read as that of failed tests.
fn attempts(task: &Task) -> Value {
    let is_verification =
        IncrementStage::of(task.agent_role.as_deref()) == Some(IncrementStage::Verification);
    if is_verification && task.attempts == 0 { Value::Null } else { json!(task.attempts) }
}

/// Why the last attempts failed, the last one first.
fn failures(task: &Task) -> Vec<Value> {
    let last = route::attempts(task).iter().rev().take(FAILURES);
    last.map(|attempt| json!({ "by": attempt["by"], "why": attempt["why"] })).collect()
}

fn comment(entry: &Map<String, Value>) -> Value {
    let field = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    // One that is encrypted is for its readers, who get it by `task_show`.
    let text = field("text");
    let text = if sealed::is_encrypted(text) { "(encrypted)" } else { text };
    json!(format!("{}: {text}", field("author")))
}

#[cfg(test)]
mod tests;
