//! A remark: a passage that belongs to no other section.

use serde::{Deserialize, Serialize};

/// Something that was said and belongs to no other field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    /// `user` or `assistant`; `request` for what the user asked for and the agent has worked on since; `answer` for a question
    /// of the agent with the user's answer.
    #[serde(default)]
    pub role: String,
    /// What was said.
    #[serde(alias = "content")]
    pub text: String,
    /// Its estimated importance among the remarks of one packet; higher ones are rendered first.
    #[serde(rename = "weight", default)]
    pub importance: i64,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}
