//! What was planted, and what a document has to say for it to have survived.

use serde::{Deserialize, Serialize};

/// The nine kinds, in the order of the specification.
pub const KINDS: [&str; 9] = [
    "requests, constraints",
    "plan",
    "files",
    "commands, failure",
    "decisions",
    "failed attempts",
    "open questions",
    "git",
    "last turns",
];

/// One planted fact.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fact {
    /// 1 to 9.
    pub kind: u8,
    /// A lure: something that looks like a fact and is none. Found under its heading, it counts against.
    #[serde(default)]
    pub lure: bool,
    /// What has to be found.
    pub check: Check,
}

/// What has to be found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Check {
    /// These words, in this order, in one passage.
    Words {
        /// The sentence as it was said.
        said: String,
        /// Its telling parts.
        keys: Vec<String>,
    },
    /// A file and what was done to it.
    File {
        /// Path in the project.
        path: String,
        /// `created`, `modified`, `deleted` or `renamed`.
        how: String,
        /// The former name.
        #[serde(default)]
        from: Option<String>,
    },
    /// A command and how it ended.
    Command {
        /// The command line.
        command: String,
        /// Its exit code.
        exit: i64,
        /// What it printed, where that has to be told.
        #[serde(default)]
        message: Option<String>,
    },
    /// An item of the plan and its state.
    Item {
        /// The item.
        title: String,
        /// `done`, `doing` or `open`.
        state: String,
    },
    /// The branch.
    Branch {
        /// Its name.
        name: String,
    },
    /// The last commit.
    Commit {
        /// Its short id.
        id: String,
    },
    /// Changes that are not committed.
    Dirty,
}

impl Fact {
    /// A fact.
    pub fn new(kind: u8, check: Check) -> Self {
        Self { kind, lure: false, check }
    }

    /// A lure.
    pub fn lure(kind: u8, check: Check) -> Self {
        Self { kind, lure: true, check }
    }
}
