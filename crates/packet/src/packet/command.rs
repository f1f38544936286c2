//! A command of a session.

use serde::{Deserialize, Serialize};

/// A command that was run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The command line.
    #[serde(alias = "cmd")]
    pub command: String,
    /// Its exit code, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// A remark: what it showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who ran it, where the session itself did not: `sub-agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether source files were changed after it, where its place does not tell that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<bool>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}
