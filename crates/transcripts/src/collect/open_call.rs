//! A call that has not ended.

use super::SourceRef;
use super::importance::Importance;
use super::run::Run;
use crate::event::{Category, Edit, TYPED_COMMAND};
use crate::shared::words::one_line;

const MAX_SAMPLE: usize = 100;

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct Open {
    /// Its id within the agent's transcript.
    pub key: String,
    /// Name of the tool.
    pub name: String,
    /// What kind of work it is.
    pub category: Category,
    /// What it works on, cleaned.
    pub target: String,
    /// The folder in which it began, where the transcript tells it.
    pub cwd: Option<String>,
    /// The changes that it makes.
    pub edits: Vec<Edit>,
    /// The lines that it reads of its file.
    pub lines: Option<String>,
    /// Its place.
    pub at: SourceRef,
    /// Its time.
    pub at_ms: Option<i64>,
    /// How much it matters.
    pub importance: Importance,
    /// Whether it returned something without saying how it ended.
    pub answered: bool,
}

impl Open {
    /// The command as one that ended so.
    pub(super) fn run(&self, exit_code: Option<i64>, ok: Option<bool>, note: Option<String>) -> Run {
        Run {
            command: self.target.clone(),
            exit_code,
            ok,
            note,
            at: self.at.clone(),
            importance: self.importance,
            mended: false,
            found_another_way: false,
            has_committed: false,
        }
    }

    /// Whether the user ran it.
    pub(super) fn is_typed(&self) -> bool {
        self.name == TYPED_COMMAND
    }

    /// The call on one line.
    pub(super) fn label(&self) -> String {
        // A todo list is rendered as the plan.
        let is_list = self.category == Category::Task && self.target.starts_with("- [");
        match (&self.category, self.target.is_empty() || is_list) {
            (_, true) => self.name.clone(),
            (Category::Mcp(_) | Category::Other | Category::Task, _) => {
                one_line(&format!("{} {}", self.name, self.target), MAX_SAMPLE)
            }
            _ => one_line(&self.target, MAX_SAMPLE),
        }
    }
}
