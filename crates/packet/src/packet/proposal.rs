//! A plan in prose.

use serde::{Deserialize, Serialize};

use super::FileChange;
use super::shape::items;

/// A plan in prose, as it was put before the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The plan.
    #[serde(alias = "plan", alias = "content")]
    pub text: String,
    /// Whether the user agreed; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// How many changes of files followed it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changes_since: i64,
    /// Files that it names and that were neither read nor changed.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}
