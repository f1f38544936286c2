//! What was done with a file.

use serde::{Deserialize, Serialize};

use super::shape::words;

/// A file that was changed or read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileChange {
    /// Path, relative to the project where it lies in it.
    #[serde(alias = "file")]
    pub path: String,
    /// `created`, `modified`, `deleted`, `renamed`, or the sender's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// `+12 -3`, or a line range.
    #[serde(default, deserialize_with = "words", skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// The last edit as a unified diff or its essence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// How much it seems to matter, among the files of one packet.
    #[serde(rename = "weight", default, skip_serializing_if = "is_zero")]
    pub importance: i64,
    /// Whether all that was done to it is in a commit; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<bool>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl FileChange {
    /// Whether the file belongs to what is built and tested.
    pub fn is_source(&self) -> bool {
        is_source(&self.path)
    }
}

/// Whether a path names a file of the project that is built and tested: no document, no plan, no note, nothing of an agent's own,
/// nothing outside.
pub fn is_source(path: &str) -> bool {
    const PROSE: &[&str] = &[
        "md", "mdx", "markdown", "txt", "rst", "adoc", "asciidoc", "org", "tex", "pdf", "log", "jsonl",
        "png", "jpg", "svg",
    ];
    const OF_AGENTS: &[&str] = &[
        ".claude",
        ".codex",
        ".cursor",
        ".gemini",
        ".pi",
        ".agents",
        ".opencode",
        ".entire",
        ".aider",
        ".vscode",
        ".idea",
        ".git",
    ];
    let path = path.strip_prefix("./").unwrap_or(path);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let is_prose = match name.rsplit_once('.') {
        Some((_, ending)) => PROSE.contains(&ending.to_ascii_lowercase().as_str()),
        None => matches!(name, "LICENSE" | "README" | "CHANGELOG" | "TODO" | "NOTES" | "AUTHORS"),
    };
    let first = path.split(['/', '\\']).next().unwrap_or_default();
    // Another working copy may lie in such a folder.
    let is_of_agent = OF_AGENTS.contains(&first) && !path.contains("worktrees/");
    !path.is_empty() && !path.starts_with(['/', '~']) && !path.starts_with("..") && !is_prose && !is_of_agent
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}
