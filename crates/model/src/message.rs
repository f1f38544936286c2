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

/// The types that ask for an answer: such a signal may carry a time by which it is to be acknowledged.
pub const TO_BE_ACKNOWLEDGED: [&str; 4] = ["TaskAssigned", "ReviewRequested", "Question", "Blocker"];

const DAY: Millis = 86_400_000;

/// After how long a signal of this type is worth nothing, unless its sender says otherwise; `None` for never.
///
/// | type | worth nothing after |
/// | --- | --- |
/// | `TaskAssigned`, `Blocker` | never: they hold until they are dealt with |
/// | `Question`, `ReviewRequested`, `ReviewCompleted` | 30 days |
/// | `StatusUpdate`, `Acknowledgment` | 7 days |
pub fn usual_life(kind: &str) -> Option<Millis> {
    match kind {
        "StatusUpdate" | "Acknowledgment" => Some(7 * DAY),
        "Question" | "ReviewRequested" | "ReviewCompleted" => Some(30 * DAY),
        _ => None,
    }
}

/// A message to an identity (or a role) of a project.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// By when it is to be acknowledged.
    pub ack_by: Option<Millis>,
    /// When its receiver acknowledged it.
    pub acked_at: Option<Millis>,
}

impl Message {
    /// Whether it waits for this identity.
    pub fn is_pending_for(&self, identity: &str, now: Millis) -> bool {
        identity_key(&self.to_identity) == identity_key(identity)
            && self.delivered_at.is_none()
            && self.recalled_at.is_none()
            && self.expires_at.is_none_or(|end| now <= end)
    }

    /// Whether its acknowledgement is late. The last instant is in time; what was taken back or has expired is not waited for.
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.ack_by.is_some_and(|by| now > by)
            && self.acked_at.is_none()
            && self.recalled_at.is_none()
            && self.expires_at.is_none_or(|end| now <= end)
    }

    /// Refuses an acknowledgement that makes no sense.
    pub fn check_ack(&self) -> Result<(), Refusal> {
        check_to_be_acknowledged(&self.kind)?;
        match self.recalled_at {
            None => Ok(()),
            Some(_) => Err(Refusal::new(
                crate::refusal::Kind::Conflict,
                "message_recalled",
                "its sender took the signal back",
                "`baton signal pending` lists what waits",
            )),
        }
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
            "ack_by": self.ack_by.map(rfc3339),
            "acked_at": self.acked_at.map(rfc3339),
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

/// Refuses an acknowledgement of a type that asks for none.
pub fn check_to_be_acknowledged(kind: &str) -> Result<(), Refusal> {
    if TO_BE_ACKNOWLEDGED.contains(&kind) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "ack_not_expected",
        format!("a {kind} asks for no acknowledgement"),
        format!("only {} do", TO_BE_ACKNOWLEDGED.join(", ")),
    ))
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
            expires_at: Some(10),
            ..Message::default()
        };
        assert!(message.is_pending_for("donna", 10));
        assert!(!message.is_pending_for("donna", 11));
        assert!(!message.is_pending_for("Lola", 0));
        assert!(!Message { delivered_at: Some(1), ..message.clone() }.is_pending_for("Donna", 0));
        assert!(!Message { recalled_at: Some(1), ..message }.is_pending_for("Donna", 0));
    }

    #[test]
    fn an_acknowledgement_is_late_beyond_its_edge_only() {
        let message = Message { kind: "Question".into(), ack_by: Some(10), ..Message::default() };
        assert!(!message.is_overdue(10));
        assert!(message.is_overdue(11));
        assert!(!Message { ack_by: None, ..message.clone() }.is_overdue(11));
        assert!(!Message { acked_at: Some(11), ..message.clone() }.is_overdue(12));
        assert!(!Message { recalled_at: Some(5), ..message.clone() }.is_overdue(11));
        let expires = Message { expires_at: Some(20), ..message };
        assert!(expires.is_overdue(20) && !expires.is_overdue(21));
    }

    #[test]
    fn only_what_asks_for_an_answer_is_acknowledged() {
        for kind in SIGNAL_TYPES {
            let asks = check_to_be_acknowledged(kind).is_ok();
            assert_eq!(asks, TO_BE_ACKNOWLEDGED.contains(&kind), "{kind}");
        }
        let recalled = Message { kind: "Question".into(), recalled_at: Some(1), ..Message::default() };
        assert_eq!(recalled.check_ack().expect_err("recalled").code, "message_recalled");
    }

    #[test]
    fn every_type_has_its_usual_life() {
        let days = SIGNAL_TYPES.map(|kind| usual_life(kind).map(|life| life / DAY));
        assert_eq!(days, [None, Some(7), Some(7), Some(30), Some(30), Some(30), None]);
    }
}
