//! A message as answers show it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Message;
use crate::actor::{Actor, ActorType};
use crate::handoff_message::Urgency;
use crate::time::Timestamp;

/// A message as answers show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its id.
    pub message_id: String,
    /// `message`, `StatusUpdate`, `task_handoff`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Who sent it.
    pub from: String,
    /// What kind of actor that is; absent where it is an agent.
    #[serde(default, skip_serializing_if = "ActorType::is_agent")]
    pub from_type: ActorType,
    /// Who is to get it: a name, or the address of a role.
    pub to: String,
    /// One line.
    pub subject: String,
    /// How pressing it is.
    pub importance: Urgency,
    /// The message that its thread began with.
    pub thread_id: String,
    /// When it was sent.
    pub created_at: Timestamp,
    /// After which it is worth nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was written out to its receiver.
    pub delivered_at: Option<Timestamp>,
    /// By when it is to be acknowledged.
    pub ack_by: Option<Timestamp>,
    /// When its receiver acknowledged it.
    pub acked_at: Option<Timestamp>,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The role that it was sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The project that it was sent from, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_project_id: Option<String>,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_project_name: Option<String>,
    /// The project that it was sent to, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_project_id: Option<String>,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_project_name: Option<String>,
    /// What a hand-off message says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// The text of any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Who can read its body, when that is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Vec<String>>,
}

impl View {
    /// What people call the other project that it was sent from.
    pub fn sender_project(&self) -> Option<&str> {
        self.from_project_name.as_deref().or(self.from_project_id.as_deref())
    }

    /// What people call the other project that it was sent to.
    pub fn receiver_project(&self) -> Option<&str> {
        self.to_project_name.as_deref().or(self.to_project_id.as_deref())
    }

    /// A message with its body. One that is encrypted is not in it, and one that is a hand-off message is `content`.
    pub fn of(message: &Message) -> Self {
        let head = Self::head(message);
        if message.readers.is_some() {
            return head;
        }
        match message.is_handoff().then(|| serde_json::from_str(&message.body)) {
            Some(Ok(content)) => Self { content: Some(content), ..head },
            _ => Self { body: Some(message.body.clone()), ..head },
        }
    }

    /// Its sender as it is called in its own place.
    pub fn author(&self) -> Actor<'_> {
        Actor { name: &self.from, kind: self.from_type }
    }

    /// Everything but the body.
    pub fn head(message: &Message) -> Self {
        Self {
            message_id: message.message_id.clone(),
            kind: message.kind.clone(),
            from: message.from_identity.clone(),
            from_type: message.from_type,
            to: message.to_identity.clone(),
            subject: message.subject.clone(),
            importance: message.importance,
            thread_id: message.thread().to_owned(),
            created_at: Timestamp(message.created_at),
            expires_at: message.expires_at.map(Timestamp),
            delivered_at: message.delivered_at.map(Timestamp),
            ack_by: message.ack_by.map(Timestamp),
            acked_at: message.acked_at.map(Timestamp),
            reply_to: message.reply_to.clone(),
            role: message.to_role.clone(),
            from_project_id: message.from_project_id.clone(),
            from_project_name: None,
            to_project_name: None,
            to_project_id: message.to_project_id.clone(),
            content: None,
            body: None,
            readers: message.readers.clone(),
        }
    }
}
