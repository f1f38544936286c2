//! Warnings for the caller of a session's verb.

use baton_model::accounting::{Remark, RemarkKind};
use serde::{Deserialize, Serialize};

use super::conversation::ConversationBaton;

/// What the caller should know; nothing was refused because of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// One sentence.
    pub message: String,
    /// The baton of the conversation, which another has taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing_baton: Option<ConversationBaton>,
}

/// What a [`Warning`] is about: a stable word for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WarningKind {
    /// What is odd about the baton.
    Baton(BatonWarning),
    /// What the packet lacks.
    Accounting(RemarkKind),
    /// The code of the refusal that looking the role up ended with.
    Role(String),
}

/// What is odd about the baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatonWarning {
    /// One was made of the conversation before, and taken: the packet is kept for its holder.
    BatonTaken,
    /// None waits that the caller could continue from.
    NoBaton,
    /// Of a dry run: the caller's session holds another one, so that a pickup would be refused.
    AlreadyHolding,
    /// Of a dry run: the caller's name is at work in another process, so that a pickup would be refused.
    IdentityConflict,
    /// It is addressed to a name that is not known in the project.
    AddresseeUnknown,
    /// A field of its packet is unknown and has nearly the name of one that is read.
    FieldUnknown,
    /// What is not committed does not go with it.
    ChangesLeftBehind,
}

impl Warning {
    pub(super) fn new(kind: WarningKind, message: String) -> Self {
        Self { kind, message, existing_baton: None }
    }
}

impl From<Remark> for Warning {
    fn from(remark: Remark) -> Self {
        Self::new(WarningKind::Accounting(remark.kind), remark.message)
    }
}
