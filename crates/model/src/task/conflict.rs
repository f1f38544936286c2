//! A field of a task that two sides changed differently.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::visible;

/// One of the two versions that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What was here.
    Ours,
    /// What came from elsewhere.
    Theirs,
}

/// A field that both sides changed, each in its own way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// The task.
    pub id: String,
    /// The field.
    pub field: String,
    /// What we had; null for nothing.
    pub ours: Value,
    /// What came; null for nothing.
    pub theirs: Value,
    /// Which of the two was kept.
    pub kept: Side,
}

/// The status of an issue that was deleted.
pub(super) const DELETED: &str = "tombstone";

/// Characters of a value in a sentence.
const SHORT: usize = 80;

impl Side {
    /// The word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Ours => Self::Theirs,
            Self::Theirs => Self::Ours,
        }
    }
}

impl Conflict {
    /// The same, seen from the other side.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.ours, &mut self.theirs);
        self.kept = self.kept.opposite();
    }

    /// The value of a side.
    pub fn value(&self, side: Side) -> &Value {
        match side {
            Side::Ours => &self.ours,
            Side::Theirs => &self.theirs,
        }
    }

    /// Whether one side deleted the task.
    pub fn is_deletion(&self) -> bool {
        self.field == "status" && [&self.ours, &self.theirs].into_iter().any(|value| value == DELETED)
    }

    /// One sentence: what was kept, and what was not.
    pub fn summary(&self) -> String {
        let other = self.kept.opposite();
        if self.is_deletion() {
            let id = visible(&self.id);
            return match self.value(self.kept) == DELETED {
                true => format!(
                    "{id} was deleted on one side ({}) and changed on the other: it stays deleted, and `baton task show {id}` has what was changed",
                    self.kept.as_str()
                ),
                false => format!(
                    "{id} was deleted on one side ({}), and is kept: it was changed after that, or another task or agent needs it; `baton task delete {id}` deletes it",
                    other.as_str()
                ),
            };
        }
        format!(
            "{} {} was changed on both sides: {} {} is kept, {} was {}",
            visible(&self.id),
            visible(&self.field),
            self.kept.as_str(),
            short(self.value(self.kept)),
            other.as_str(),
            short(self.value(other))
        )
    }

    /// A clause about a field of an older line that was not taken.
    pub fn describe_ignored(&self) -> String {
        let (id, field) = (visible(&self.id), visible(&self.field));
        format!("{id} ({field}): {} is kept, the line has {}", short(&self.ours), short(&self.theirs))
    }
}

/// The beginning of a value, as it is written in JSON.
fn short(value: &Value) -> String {
    if value.is_null() {
        return "empty".to_owned();
    }
    let whole = visible(&value.to_string());
    match whole.char_indices().nth(SHORT) {
        Some((at, _)) => format!("{}…", whole.get(..at).unwrap_or_default()),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deletion_says_what_becomes_of_the_task() {
        let mut conflict = Conflict {
            id: "a-1".into(),
            field: "status".into(),
            ours: json!("open"),
            theirs: json!(DELETED),
            kept: Side::Ours,
        };
        assert!(
            conflict
                .summary()
                .contains("a-1 was deleted on one side (theirs), and is kept: it was changed after that")
        );
        conflict.kept = Side::Theirs;
        assert!(conflict.summary().contains("(theirs) and changed on the other: it stays deleted"));
    }

    #[test]
    fn a_conflict_names_both_values_shortened() {
        let long = "x".repeat(200);
        let mut conflict = Conflict {
            id: "a-1".into(),
            field: "notes".into(),
            ours: json!(long),
            theirs: Value::Null,
            kept: Side::Ours,
        };
        let shortened = format!("\"{}…", "x".repeat(SHORT - 1));
        let expected =
            format!("a-1 notes was changed on both sides: ours {shortened} is kept, theirs was empty");
        assert_eq!(conflict.summary(), expected);
        conflict.swap();
        assert_eq!((conflict.kept, conflict.value(Side::Theirs)), (Side::Theirs, &json!(long)));
    }
}
