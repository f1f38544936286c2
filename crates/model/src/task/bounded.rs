//! What an agent receives for one task: the context that matters, within a budget, and a word on what was left out.

mod allot;
mod fit;
mod unfitted;

use serde_json::{Map, Value, json};

use self::allot::allot;
use self::fit::fit;
use super::closing::IncrementStage;
use super::{Task, is_empty, sealed};
use crate::handoff_message::Kind;
use crate::handoff_message::build::field_order;
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

fn fill(parts: &[Part<'_>], budget: usize) -> Value {
    let mut reserve = 0;
    // Names of what is left out take a part of the budget, and may leave out more.
    for _ in 0..3 {
        let filled = PacketFields::of(parts, budget.saturating_sub(reserve));
        let names = filled.names_len();
        if names <= reserve {
            return filled.close(budget);
        }
        reserve = names.min(budget / 8);
    }
    PacketFields::of(parts, budget.saturating_sub(reserve)).close(budget)
}

/// Whether an agent cannot do without a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    /// It says which task this is.
    Head,
    /// It is what an agent of the role needs.
    Needed,
    /// It was put there beside.
    Other,
}

/// A field of a packet, or of an object in it.
struct Part<'a> {
    object: Option<&'static str>,
    name: &'a str,
    value: &'a Value,
    rank: Rank,
    /// Bytes of JSON beside the value.
    overhead: usize,
}

impl Part<'_> {
    fn size(&self) -> usize {
        self.value.to_string().len()
    }

    fn cost(&self) -> usize {
        self.size() + self.overhead
    }

    fn path(&self) -> String {
        self.object.map_or_else(|| self.name.to_owned(), |object| format!("{object}.{}", self.name))
    }
}

/// Fields that are shown before the two objects.
const BEFORE: [(&str, Rank); 10] = [
    ("id", Rank::Head),
    ("title", Rank::Needed),
    ("agent_role", Rank::Head),
    ("type", Rank::Head),
    ("previous_agent", Rank::Head),
    ("attempts", Rank::Head),
    ("acceptance_criteria", Rank::Needed),
    ("description", Rank::Needed),
    ("what_to_build", Rank::Needed),
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
            ("attempts", json!(task.attempts)),
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
        fill(&self.parts(), budget)
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
                let rank = if place(name).is_some() { Rank::Needed } else { Rank::Other };
                part(Some(object), name, value, rank)
            }));
        }
        parts.extend(BEHIND.iter().filter_map(single));
        parts
    }
}

fn part<'a>(object: Option<&'static str>, name: &'a str, value: &'a Value, rank: Rank) -> Part<'a> {
    // The name, a colon and a comma.
    Part { object, name, value, rank, overhead: json!(name).to_string().len() + 2 }
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

/// A packet before what was left out of it is named.
struct PacketFields {
    fields: Map<String, Value>,
    left_out: Vec<String>,
}

impl PacketFields {
    fn of(parts: &[Part<'_>], budget: usize) -> Self {
        let mut filled = Self { fields: Map::new(), left_out: Vec::new() };
        let objects = ["handoff_instructions", "agent_context"].into_iter();
        let used = objects.filter(|object| parts.iter().any(|part| part.object == Some(*object)));
        let brackets: usize = 2 + used.map(|object| object.len() + 6).sum::<usize>();
        let head: usize = parts.iter().filter(|part| part.rank == Rank::Head).map(Part::cost).sum();
        let room = budget.saturating_sub(brackets + head);
        let mut allotted = allot(parts, room);
        let mut values: Vec<Option<Value>> = Vec::with_capacity(parts.len());
        for (part, size) in parts.iter().zip(&mut allotted) {
            if part.rank == Rank::Head {
                *size = Some(part.size());
            }
            values.push(size.and_then(|size| fit(part.value, size)));
        }
        let cost = |values: &[Option<Value>]| {
            let sizes = parts
                .iter()
                .zip(values)
                .filter_map(|(part, value)| Some(value.as_ref()?.to_string().len() + part.overhead));
            brackets + sizes.sum::<usize>()
        };
        // Bytes that a cut did not use go to the first that misses some.
        for (at, part) in parts.iter().enumerate() {
            let own = values[at].as_ref().map_or(0, |value| value.to_string().len() + part.overhead);
            let free = (budget.saturating_sub(cost(&values)) + own).saturating_sub(part.overhead);
            if values[at].as_ref() != Some(part.value)
                && let Some(more) = fit(part.value, free)
            {
                values[at] = Some(more);
            }
        }
        for (part, value) in parts.iter().zip(values) {
            filled.put(part, value);
        }
        // That there are files which are not shown is named before all else.
        filled.left_out.sort_by_key(|path| !path.split('.').any(|name| name.starts_with("files_")));
        filled
    }

    fn put(&mut self, part: &Part<'_>, value: Option<Value>) {
        match &value {
            Some(value) if value == part.value => {}
            Some(_) => self.left_out.push(format!("rest of {}", part.path())),
            None => self.left_out.push(part.path()),
        }
        let Some(value) = value else { return };
        match part.object {
            None => _ = self.fields.insert(part.name.to_owned(), value),
            Some(object) => {
                let entry = self.fields.entry(object).or_insert_with(|| json!({}));
                if let Value::Object(fields) = entry {
                    fields.insert(part.name.to_owned(), value);
                }
            }
        }
    }

    /// Bytes that the names of what is left out take.
    fn names_len(&self) -> usize {
        if self.left_out.is_empty() { 0 } else { json!(self.left_out).to_string().len() + 12 }
    }

    /// The packet with what was left out of it. Where the names of that do not fit, the last of them are counted, and then the last
    /// field gives way.
    fn close(mut self, budget: usize) -> Value {
        let all = self.left_out.len();
        let mut named = all;
        loop {
            let mut whole = self.fields.clone();
            if !self.left_out.is_empty() {
                let mut shown: Vec<String> = self.left_out[..named].to_vec();
                if named < self.left_out.len() {
                    shown.push(format!("{} more", self.left_out.len() - named));
                }
                whole.insert("left_out".into(), json!(shown));
            }
            let whole = Value::Object(whole);
            if self.fields.len() <= 1 || whole.to_string().len() <= budget {
                return whole;
            }
            if named > 0 {
                named -= 1;
                continue;
            }
            let Some(key) = self.fields.keys().next_back().cloned() else { return whole };
            self.fields.shift_remove(&key);
            self.left_out
                .retain(|left| !left.ends_with(key.as_str()) && !left.starts_with(&format!("{key}.")));
            self.left_out.insert(0, key);
            named = named.clamp(1, self.left_out.len());
        }
    }
}

#[cfg(test)]
mod tests;
