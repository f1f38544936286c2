//! What an agent did with a tool, whatever it is called there, so that another agent's own call can stand for it.

use baton_model::time::Millis;
use serde_json::Value;

/// A piece of work that a tool call did.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// What was done.
    pub act: Act,
    /// Whether it succeeded, where that is known.
    pub ok: Option<bool>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// What it returned, without secrets and shortened.
    pub output: String,
    /// When it was called.
    pub at: Option<Millis>,
}

/// Work that several agents have a tool for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A command line.
    Command(String),
    /// Lines of a file were read; its path is absolute, as those of the others are.
    Read {
        /// The file.
        path: String,
        /// The first line that was read.
        first: u64,
        /// How many lines were read.
        lines: u64,
    },
    /// Lines of a file were replaced.
    Edit {
        /// The file.
        path: String,
        /// What was replaced.
        hunks: Vec<Hunk>,
    },
    /// A file was made.
    Create {
        /// The file.
        path: String,
        /// All that it holds.
        content: String,
    },
    /// A file was removed.
    Delete {
        /// The file.
        path: String,
    },
}

/// Lines in a row that were replaced, each with its sign: a space, `+` or `-`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The lines.
    pub lines: Vec<String>,
}

/// A call as the agent that it is written for makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnCall {
    /// The tool.
    pub name: &'static str,
    /// What it is called with.
    pub input: Value,
    /// What the model was told that it came to.
    pub output: String,
    /// Whether it succeeded, where that is known.
    pub ok: Option<bool>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// When it was called.
    pub at: Option<Millis>,
}

/// What stands for a result that the transcript does not tell.
pub(crate) const UNKNOWN: &str = "(what it came to was not recorded)";

impl Hunk {
    /// The text before, or after.
    fn side(&self, gone: char) -> String {
        let left = self.lines.iter().filter(|line| !line.starts_with(gone));
        left.map(|line| line.get(1..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }

    /// The text that was replaced.
    pub(crate) fn old_text(&self) -> String {
        self.side('+')
    }

    /// The text that replaced it.
    pub(crate) fn new_text(&self) -> String {
        self.side('-')
    }
}

impl Work {
    /// This work as one call.
    pub(crate) fn call(&self, name: &'static str, input: Value, output: String) -> OwnCall {
        OwnCall { name, input, output, ok: self.ok, exit_code: self.exit_code, at: self.at }
    }

    /// A call for each hunk; none where one of them only adds lines, so that nothing says where.
    pub(crate) fn replacements(
        &self,
        hunks: &[Hunk],
        call: impl Fn(String, String) -> OwnCall,
    ) -> Option<Vec<OwnCall>> {
        let pairs = hunks.iter().map(|hunk| (hunk.old_text(), hunk.new_text()));
        let calls = pairs.map(|(old, new)| (!old.is_empty()).then(|| call(old, new)));
        calls.collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty())
    }

    /// What it returned, or that this is not known.
    pub(crate) fn result(&self) -> String {
        match self.output.is_empty() {
            true => UNKNOWN.to_owned(),
            false => self.output.clone(),
        }
    }

    /// What a command printed; `empty` where it printed nothing.
    pub(crate) fn printed(&self, empty: &str) -> String {
        match (self.output.is_empty(), self.ok.or(self.exit_code.map(|code| code == 0))) {
            (true, None) => UNKNOWN.to_owned(),
            (true, Some(_)) => empty.to_owned(),
            (false, _) => self.output.clone(),
        }
    }

    /// The exit code of a command that failed.
    pub(crate) fn failure(&self) -> Option<i64> {
        self.exit_code.filter(|code| *code != 0)
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
