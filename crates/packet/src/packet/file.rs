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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: i64,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}
