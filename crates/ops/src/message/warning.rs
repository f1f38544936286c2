//! Warnings for the sender of a message.

use serde::{Deserialize, Serialize};

/// What a [`Warning`] is about: a stable word for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// No identity of that name is known here: the signal waits.
    RecipientUnknown,
    /// No identity of that name is known here, and the sender wants the message to wait.
    RecipientWaitedFor,
    /// A retry of an encrypted message: whether it says the same cannot be seen.
    TextNotCompared,
    /// The sender has no key and cannot read the message again.
    SenderWithoutKey,
}

/// What the sender of a message should know; nothing was refused because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// One sentence.
    pub message: String,
    /// Names that may have been meant; left out where that was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Vec<String>>,
}
