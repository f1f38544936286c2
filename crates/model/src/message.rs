//! Messages between identities: signals and mail are one store.

mod view;

use serde_json::{Value, json};

pub use view::View;

use crate::actor::{Actor, ActorType};
use crate::handoff_message::{Kind as HandoffKind, Urgency};
use crate::id::{check_identity, identity_key};
use crate::refusal::{Kind, Refusal};
use crate::role::role_key;
use crate::suggest::suggestions;
use crate::time::Millis;

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

/// The type of a message that is nothing but a letter.
pub const LETTER: &str = "message";

/// What the address of a role begins with.
pub const ROLE: &str = "role:";

const DAY: Millis = 86_400_000;
/// Within how long an acknowledgement is expected when no time was named.
pub const USUAL_ACK: Millis = DAY;

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
    /// What kind of actor that is: only an agent reads what is answered.
    pub from_type: ActorType,
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
    /// How pressing it is.
    pub importance: Urgency,
    /// The message that its thread began with; none when that is itself.
    pub thread_id: Option<String>,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// The role that it was sent to. Until an identity takes it, `to_identity` is the role's address.
    pub to_role: Option<String>,
    /// The project that it was sent from, when that is another one.
    pub from_project_id: Option<String>,
    /// The project that it was sent to, when that is another one: then this is the sender's copy.
    pub to_project_id: Option<String>,
    /// Who can read its body, when that is encrypted.
    pub readers: Option<Vec<String>>,
}

/// The addressee of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An identity.
    Identity(String),
    /// A role, in its normalised form: the first identity of it to read the message takes it.
    Role(String),
}

impl Address {
    /// Reads `NAME` or `role:R`. Whether there is such a role is for the caller to say.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        match text.split_at_checked(ROLE.len()) {
            Some((prefix, role)) if prefix.eq_ignore_ascii_case(ROLE) => {
                crate::id::check_label("role", role)?;
                Ok(Self::Role(role_key(role)))
            }
            _ => check_identity(text).map(|()| Self::Identity(text.to_owned())),
        }
    }

    /// The sender or the receiver of a message that is there, to be written to: also a token without an identity (`token:NAME`),
    /// which no other message can name as its receiver.
    pub fn of_participant(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self::Identity(text.to_owned()))
    }

    /// As it is kept and shown.
    pub fn display_name(&self) -> String {
        match self {
            Self::Identity(name) => name.clone(),
            Self::Role(role) => format!("{ROLE}{role}"),
        }
    }
}

/// The part of an identity in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Participation {
    /// It is for them.
    Receiver,
    /// It is for one of the identity's roles, and not taken yet.
    Role,
    /// They sent it.
    Sender,
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

    /// Whether it hands work over: those come first in an inbox.
    pub fn is_handoff(&self) -> bool {
        HandoffKind::from_word(&self.kind).is_some()
    }

    /// The message that its thread began with.
    pub fn thread(&self) -> &str {
        self.thread_id.as_deref().unwrap_or(&self.message_id)
    }

    /// Whether it is still in the mailbox of its role, not taken by an identity.
    pub fn waits_for_role(&self) -> bool {
        self.to_role.is_some() && self.to_project_id.is_none() && self.to_identity.starts_with(ROLE)
    }

    /// What this identity, with these roles, is to the message; nothing when it is none of its business.
    pub fn part_of(&self, identity: &str, roles: &[String]) -> Option<Participation> {
        let key = identity_key(identity);
        let here = self.to_project_id.is_none();
        if here && identity_key(&self.to_identity) == key {
            return Some(Participation::Receiver);
        }
        let mine = |role: &String| roles.iter().any(|own| role_key(own) == role_key(role));
        if self.waits_for_role() && self.to_role.as_ref().is_some_and(mine) {
            return Some(Participation::Role);
        }
        let sent_here = self.from_project_id.is_none();
        (sent_here && self.is_from(identity)).then_some(Participation::Sender)
    }

    /// Whether an agent of this name sent it.
    pub fn is_from(&self, identity: &str) -> bool {
        self.author().is(identity)
    }

    /// Its sender.
    pub fn author(&self) -> Actor<'_> {
        Actor { name: &self.from_identity, kind: self.from_type }
    }

    /// Whether its receiver still has to do something about it: read it, or acknowledge it.
    pub fn is_waiting(&self, now: Millis) -> bool {
        let open = self.recalled_at.is_none() && self.expires_at.is_none_or(|end| now <= end);
        open && (self.delivered_at.is_none() || (self.ack_by.is_some() && self.acked_at.is_none()))
    }

    /// Refuses an acknowledgement that makes no sense.
    pub fn check_ack(&self) -> Result<(), Refusal> {
        if self.ack_by.is_none() {
            check_to_be_acknowledged(&self.kind)?;
        }
        match self.recalled_at {
            None => Ok(()),
            Some(_) => Err(Refusal::new(
                Kind::Conflict,
                "message_recalled",
                "its sender took the signal back",
                "`baton signal pending` lists what waits",
            )),
        }
    }

    /// As answers show it.
    pub fn to_json(&self) -> Value {
        json!(View::of(self))
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

/// The type of a piece of mail as the store keeps it: a letter, a signal or a hand-off message; refused when unknown.
pub fn mail_type(word: &str) -> Result<&'static str, Refusal> {
    if word.eq_ignore_ascii_case(LETTER) {
        return Ok(LETTER);
    }
    if let Some(kind) = HandoffKind::from_word(word) {
        return Ok(kind.as_str());
    }
    signal_type(word).map_err(|_| {
        let handoffs = HandoffKind::ALL.map(HandoffKind::as_str);
        let all: Vec<&str> = [LETTER].into_iter().chain(handoffs).chain(SIGNAL_TYPES).collect();
        let similar = suggestions(word, all.iter().copied());
        let hint = match similar.first() {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => format!("use one of {}", all.join(", ")),
        };
        let what = format!("`{}` is not a type of message", crate::id::visible(word));
        Refusal::invalid("message_type_unknown", what, hint).with("near", json!(similar))
    })
}

/// The order of an inbox: hand-offs, then what is more important, then what is older.
pub fn in_order(messages: &mut [Message]) {
    messages.sort_by_key(|m| (!m.is_handoff(), std::cmp::Reverse(m.importance), m.seq));
}

/// Whether every word of a search occurs in a message: in its subject, its parties, its type or its readable body.
pub fn matches(message: &Message, words: &[String]) -> bool {
    let body = if message.readers.is_some() { "" } else { &message.body };
    let fields = [
        &message.subject,
        &message.from_identity,
        &message.to_identity,
        &message.kind,
        &message.message_id,
        body,
    ];
    let folded = fields.map(|field| field.to_lowercase());
    words.iter().all(|word| folded.iter().any(|field| field.contains(word)))
}

/// The line of a text that holds one of these words, at most 160 characters; the first line when none does.
pub fn excerpt(text: &str, words: &[String]) -> String {
    let holds = |line: &&str| {
        let folded = line.to_lowercase();
        words.iter().any(|word| folded.contains(word))
    };
    let line = text.lines().find(holds).or_else(|| text.lines().find(|l| !l.trim().is_empty()));
    line.unwrap_or_default().trim().chars().take(160).collect()
}

/// Refuses an acknowledgement of a type that asks for none.
pub fn check_to_be_acknowledged(kind: &str) -> Result<(), Refusal> {
    if TO_BE_ACKNOWLEDGED.contains(&kind) || kind == LETTER || HandoffKind::from_word(kind).is_some() {
        return Ok(());
    }
    Err(Refusal::invalid(
        "ack_not_expected",
        format!("a {kind} asks for no acknowledgement"),
        format!("only {}, letters and hand-off messages do", TO_BE_ACKNOWLEDGED.join(", ")),
    ))
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
