//! A session as it happened, before it is written down in the format of a tool.

use crate::fact::Fact;

/// A made-up session.
pub struct Story {
    /// Number it was made from.
    pub seed: u64,
    /// The folder's name, below the home directory.
    pub project: String,
    /// The branch at the end.
    pub branch: String,
    /// What happened.
    pub steps: Vec<Step>,
    /// What was planted.
    pub facts: Vec<Fact>,
}

impl Story {
    /// Where the project is.
    pub fn cwd(&self) -> String {
        format!("/home/you/{}", self.project)
    }

    /// An absolute path in the project.
    pub fn path(&self, path: &str) -> String {
        format!("{}/{path}", self.cwd())
    }
}

/// State of an item of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Done.
    Done,
    /// In progress.
    Doing,
    /// Not begun.
    Open,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Step {
    /// The user says something.
    User(String),
    /// The agent says something.
    Agent(String),
    /// A command is run.
    Shell {
        /// The command line.
        command: String,
        /// Its exit code.
        exit: i64,
        /// What it printed.
        output: String,
    },
    /// A file is edited, or the edit is refused.
    Edit {
        /// Path in the project.
        path: String,
        /// The old text.
        old: String,
        /// The new text.
        new: String,
        /// Why it was refused.
        refused: Option<&'static str>,
    },
    /// A file is created.
    Create {
        /// Path in the project.
        path: String,
        /// Its content.
        content: String,
    },
    /// A file is deleted.
    Delete(String),
    /// A file gets another name.
    Rename(String, String),
    /// A file is read.
    Read(String, String),
    /// Something is searched for.
    Search(String, String),
    /// The plan as it is now.
    Plan(Vec<(String, State)>),
    /// The conversation is compacted to this summary.
    Compact(String),
    /// What the user undid.
    Undone(Vec<Step>),
}
