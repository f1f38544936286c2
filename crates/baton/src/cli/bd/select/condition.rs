//! A condition on the fields of an issue.

use baton_model::id::assignee_key;
use baton_model::task::view::View;
use baton_model::time::{Millis, parse_rfc3339};
use serde_json::Value;

/// A field of an issue, as the query language names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::bd) enum Field {
    Id,
    Title,
    Description,
    Notes,
    Status,
    Type,
    Assignee,
    Owner,
    Parent,
    External,
    Spec,
    MolType,
    WispType,
    Label,
    Priority,
    Created,
    Updated,
    Started,
    Closed,
    Due,
    Deferred,
    Pinned,
    Ephemeral,
    Template,
}

/// How a number or an instant compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::bd) enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl Relation {
    fn holds(self, found: i64, bound: i64) -> bool {
        match self {
            Self::Less => found < bound,
            Self::AtMost => found <= bound,
            Self::Equal => found == bound,
            Self::AtLeast => found >= bound,
            Self::More => found > bound,
        }
    }
}

/// What a field is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli::bd) enum Test {
    /// The field has no value.
    Empty,
    /// The whole text.
    Is(String),
    /// A part of the text, whatever its case.
    Contains(String),
    /// A pattern in which `*` stands for any text.
    Glob(String),
    /// A number.
    Number(Relation, i64),
    /// An instant.
    Time(Relation, Millis),
    /// A flag.
    Flag(bool),
}

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli::bd) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Field(Field, Test),
    /// A key of the metadata, with this value if one is given.
    Metadata(String, Option<String>),
}

impl Condition {
    /// Whether it holds for an issue.
    pub(in crate::cli::bd) fn holds(&self, issue: &View) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(issue)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(issue)),
            Self::Not(part) => !part.holds(issue),
            Self::Field(field, test) => field.passes(test, issue),
            Self::Metadata(key, value) => {
                let found = issue.metadata().and_then(|metadata| metadata.get(key));
                match (found, value) {
                    (found, None) => found.is_some_and(|found| !found.is_null()),
                    (Some(Value::String(found)), Some(value)) => found == value,
                    (Some(found), Some(value)) => {
                        serde_json::from_str::<Value>(value).is_ok_and(|value| value == *found)
                    }
                    (None, Some(value)) => key == "agent_role" && issue.agent_role.as_ref() == Some(value),
                }
            }
        }
    }

    /// Whether any part of it looks at the status, so that closed issues take part.
    pub(in crate::cli::bd) fn names_status(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::names_status),
            Self::Not(part) => part.names_status(),
            Self::Field(field, _) => matches!(field, Field::Status | Field::Closed),
            Self::Metadata(..) => false,
        }
    }
}

impl Field {
    fn passes(self, test: &Test, issue: &View) -> bool {
        match (self, test) {
            (Self::Label, Test::Empty) => issue.labels.is_empty(),
            (Self::Label, test) => issue.labels.iter().any(|label| text_passes(test, label)),
            (_, Test::Number(relation, bound)) => relation.holds(issue.priority, *bound),
            (_, Test::Time(relation, bound)) => self.time(issue).is_some_and(|at| relation.holds(at, *bound)),
            (_, Test::Flag(wanted)) => self.flag(issue) == *wanted,
            (
                Self::Created | Self::Updated | Self::Started | Self::Closed | Self::Due | Self::Deferred,
                _,
            ) => matches!(test, Test::Empty) && self.time(issue).is_none(),
            (Self::Priority, _) => text_passes(test, &issue.priority.to_string()),
            (Self::Id, Test::Is(wanted)) => issue.id == *wanted,
            (Self::Assignee, Test::Is(wanted)) => {
                let found = issue.assignee.as_deref();
                found.is_some_and(|name| assignee_key(name) == assignee_key(wanted))
            }
            _ => text_passes(test, &self.text(issue)),
        }
    }

    fn text(self, issue: &View) -> String {
        let other = |key: &str| issue.other_text(key).unwrap_or_default();
        match self {
            Self::Id => issue.id.clone(),
            Self::Title => issue.title.clone(),
            Self::Description => issue.description.clone(),
            Self::Status => issue.status.clone(),
            Self::Type => issue.issue_type.clone(),
            Self::Assignee => issue.assignee.clone().unwrap_or_default(),
            Self::Parent => issue.parent.clone().unwrap_or_default(),
            Self::Notes => other("notes"),
            Self::Owner => other("owner"),
            Self::External => other("external_ref"),
            Self::Spec => other("spec_id"),
            Self::MolType => other("mol_type"),
            Self::WispType => other("wisp_type"),
            _ => String::new(),
        }
    }

    fn time(self, issue: &View) -> Option<Millis> {
        let other = |key: &str| issue.other_text(key).and_then(|text| parse_rfc3339(&text));
        match self {
            Self::Created => Some(issue.created_at.0),
            Self::Updated => Some(issue.updated_at.0),
            Self::Closed => issue.closed_at.map(|at| at.0),
            Self::Deferred => issue.defer_until.map(|at| at.0),
            Self::Started => other("started_at"),
            Self::Due => other("due_at"),
            _ => None,
        }
    }

    fn flag(self, issue: &View) -> bool {
        let is = |key: &str| issue.rest.get(key).is_some_and(|value| value == true || value == 1);
        match self {
            Self::Pinned => is("pinned") || issue.status == "pinned",
            Self::Ephemeral => is("ephemeral") || is("wisp"),
            Self::Template => is("is_template"),
            _ => false,
        }
    }
}

fn text_passes(test: &Test, found: &str) -> bool {
    match test {
        Test::Empty => found.trim().is_empty(),
        Test::Is(wanted) => found == wanted,
        Test::Contains(part) => found.to_lowercase().contains(&part.to_lowercase()),
        Test::Glob(pattern) => fits(pattern, found),
        Test::Number(..) | Test::Time(..) | Test::Flag(_) => false,
    }
}

/// Whether a text fits a pattern in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in
            [("tech-*", "tech-debt"), ("*", ""), ("a*b*c", "a-b-b-c"), ("a", "a"), ("*a", "aba")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("tech-*", "high-tech"), ("a", "ab"), ("a*a", "a"), ("a*b", "ba")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
