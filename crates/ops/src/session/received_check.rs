//! Whether what a hand-off names is there, as its receiver is told.

use serde::{Deserialize, Serialize};

/// Whether something that a hand-off names is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// `task`, `document` or `commit`.
    pub kind: CheckKind,
    /// Its id, path or revision.
    pub handle: String,
    /// Whether it is as it should be; `null` where that cannot be said.
    pub ok: Option<bool>,
    /// How it is.
    pub message: String,
}

/// What a [`Check`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The task.
    Task,
    /// A document.
    Document,
    /// A commit.
    Commit,
}

impl CheckKind {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Document => "document",
            Self::Commit => "commit",
        }
    }
}

pub(super) fn check(kind: CheckKind, handle: &str, ok: Option<bool>, message: &str) -> Check {
    Check { kind, handle: handle.to_owned(), ok, message: message.to_owned() }
}
