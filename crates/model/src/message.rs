//! Messages between identities: signals and mail are one store.

use serde_json::{Value, json};

use crate::id::identity_key;
use crate::refusal::Refusal;
use crate::time::{Millis, rfc3339};

/// The types of a signal.
pub const SIGNAL_TYPES: [&str; 7] = [
    "TaskAssigned",
    "Acknowledgment",
    "StatusUpdate",
    "ReviewRequested",
    "ReviewCompleted",
    "Question",
    "Blocker",
];

/// A message to an identity (or a role) of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The project it lies in.
    pub project_id: String,
    /// Its id: stable, so that a receiver can drop what it has seen.
    pub message_id: String,
    /// Its number in the project's ledger.
    pub seq: i64,
    /// `StatusUpdate`, `Question`, …
    pub kind: String,
    /// Who sent it.
    pub from_identity: String,
    /// Who is to get it.
    pub to_identity: String,
    /// One line.
    pub subject: String,
    /// The text.
    pub body: String,
    /// When it was sent.
    pub created_at: Millis,
    /// After which it is worth nothing.
    pub expires_at: Option<Millis>,
    /// When it was written out to its receiver.
    pub delivered_at: Option<Millis>,
    /// When its sender took it back.
    pub recalled_at: Option<Millis>,
}

impl Message {
    /// Whether it waits for this identity.
    pub fn is_pending_for(&self, identity: &str, now: Millis) -> bool {
        identity_key(&self.to_identity) == identity_key(identity)
            && self.delivered_at.is_none()
            && self.recalled_at.is_none()
            && self.expires_at.is_none_or(|end| now <= end)
    }

    /// As answers show it.
    pub fn to_json(&self) -> Value {
        json!({
            "message_id": self.message_id,
            "type": self.kind,
            "from": self.from_identity,
            "to": self.to_identity,
            "subject": self.subject,
            "body": self.body,
            "created_at": rfc3339(self.created_at),
            "expires_at": self.expires_at.map(rfc3339),
            "delivered_at": self.delivered_at.map(rfc3339),
        })
    }
}

/// The type as the store keeps it, whatever its case; refused when unknown.
pub fn signal_type(word: &str) -> Result<&'static str, Refusal> {
    let folded: String = word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    SIGNAL_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(&folded)).ok_or_else(|| {
        Refusal::invalid(
            "signal_type_unknown",
            format!("`{}` is not a type of signal", crate::id::visible(word)),
            format!("use one of {}", SIGNAL_TYPES.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_in_any_case_and_spelling() {
        assert_eq!(signal_type("status_update"), Ok("StatusUpdate"));
        assert_eq!(signal_type("BLOCKER"), Ok("Blocker"));
        assert_eq!(signal_type("gossip").expect_err("unknown").code, "signal_type_unknown");
    }

    #[test]
    fn a_message_waits_until_it_is_delivered_recalled_or_expired() {
        let message = Message {
            project_id: "p".into(),
            message_id: "m".into(),
            seq: 1,
            kind: "Question".into(),
            from_identity: "A".into(),
            to_identity: "Donna".into(),
            subject: "s".into(),
            body: String::new(),
            created_at: 0,
            expires_at: Some(10),
            delivered_at: None,
            recalled_at: None,
        };
        assert!(message.is_pending_for("donna", 10));
        assert!(!message.is_pending_for("donna", 11));
        assert!(!message.is_pending_for("Lola", 0));
        assert!(!Message { delivered_at: Some(1), ..message.clone() }.is_pending_for("Donna", 0));
        assert!(!Message { recalled_at: Some(1), ..message }.is_pending_for("Donna", 0));
    }
}
