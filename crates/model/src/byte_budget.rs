//! Fields of JSON within a budget in bytes: what a reader needs shares the room, and what was left out is named.

mod allot;
mod fit;

use serde_json::{Map, Value, json};

use self::allot::allot;
use self::fit::truncate;

/// The fields as far as the budget goes. What did not fit is named under `left_out`.
pub(crate) fn fill(parts: &[Part<'_>], budget: usize) -> Map<String, Value> {
    let mut reserve = 0;
    // Names of what is left out take a part of the budget, and may leave out more.
    for _ in 0..3 {
        let filled = FittedFields::of(parts, budget.saturating_sub(reserve));
        let names = filled.names_len();
        if names <= reserve {
            return filled.close(budget);
        }
        reserve = names.min(budget / 8);
    }
    FittedFields::of(parts, budget.saturating_sub(reserve)).close(budget)
}

/// Whether a reader cannot do without a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// It says what this is.
    Head,
    /// It is what the reader needs before all else.
    First,
    /// It is what the reader needs.
    Needed,
    /// The reader needs it less than all that it needs.
    Last,
    /// It was put there beside.
    Other,
}

/// A field, or one of an object beside it.
pub(crate) struct Part<'a> {
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

/// A field, in an object or on its own.
pub(crate) fn part<'a>(
    object: Option<&'static str>,
    name: &'a str,
    value: &'a Value,
    rank: Rank,
) -> Part<'a> {
    // The name, a colon and a comma.
    Part { object, name, value, rank, overhead: json!(name).to_string().len() + 2 }
}

/// What stands before the name of a field that was cut.
const REST: &str = "rest of ";

/// Fields before what was left out of them is named.
struct FittedFields {
    fields: Map<String, Value>,
    left_out: Vec<String>,
}

impl FittedFields {
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
            values.push(size.and_then(|size| truncate(part.value, size)));
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
                && let Some(more) = truncate(part.value, free)
            {
                values[at] = Some(more);
            }
        }
        for (part, value) in parts.iter().zip(values) {
            filled.put(part, value);
        }
        // That there are files which are not shown is named before all else.
        let is_files =
            |path: &str| path.trim_start_matches(REST).split('.').any(|name| name.starts_with("files_"));
        filled.left_out.sort_by_key(|path| !is_files(path));
        filled
    }

    fn put(&mut self, part: &Part<'_>, value: Option<Value>) {
        match &value {
            Some(value) if value == part.value => {}
            Some(_) => self.left_out.push(format!("{REST}{}", part.path())),
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

    /// The fields with what was left out of them. Where the names of that do not fit, the last of them are counted, and then the last
    /// field gives way.
    fn close(mut self, budget: usize) -> Map<String, Value> {
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
            if json!(whole).to_string().len() <= budget {
                return whole;
            }
            if named > 0 {
                named -= 1;
                continue;
            }
            if self.fields.len() <= 1 {
                return whole;
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
