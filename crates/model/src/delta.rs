//! The project's append-only ledger: one delta per thing that happened.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::time::{Millis, rfc3339};

/// What a delta records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began fresh work.
    Start,
    /// A session picked a baton up.
    Pickup,
    /// A session saved its state.
    Checkpoint,
    /// A session ended and left a baton.
    Wrap,
    /// A hand-off between projects or roles changed its state.
    Handoff,
    /// A session was released by anything but its own wrap.
    Release,
    /// A remark.
    Note,
    /// A fact to be recalled.
    Remember,
    /// A decision (an ADR).
    Decision,
    /// Findings.
    Research,
    /// A way of working.
    Methodology,
    /// Anything else: registry changes, tasks.
    Other,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Start,
        Self::Pickup,
        Self::Checkpoint,
        Self::Wrap,
        Self::Handoff,
        Self::Release,
        Self::Note,
        Self::Remember,
        Self::Decision,
        Self::Research,
        Self::Methodology,
        Self::Other,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Pickup => "pickup",
            Self::Checkpoint => "checkpoint",
            Self::Wrap => "wrap",
            Self::Handoff => "handoff",
            Self::Release => "release",
            Self::Note => "note",
            Self::Remember => "remember",
            Self::Decision => "decision",
            Self::Research => "research",
            Self::Methodology => "methodology",
            Self::Other => "other",
        }
    }

    /// Reads the word; a word of a later version reads as [`Kind::Other`].
    pub fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or(Self::Other)
    }
}

/// One row of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    /// The project it belongs to.
    pub project_id: String,
    /// Its number in the project: rising, never reused.
    pub seq: i64,
    /// Its id.
    pub delta_id: String,
    /// What it records.
    pub kind: Kind,
    /// The session it belongs to, if any.
    pub session_id: Option<String>,
    /// The identity that caused it.
    pub identity: String,
    /// When.
    pub created_at: Millis,
    /// The session whose accounting this one inherits.
    pub inherited_from: Option<String>,
    /// The thread of sessions it belongs to.
    pub thread_id: Option<String>,
    /// JSON text. Of a wrap: the hand-off packet, byte for byte as it came.
    pub body: String,
}

impl Delta {
    /// The body as JSON. A wrap's body stays a string, because only a string keeps its bytes.
    pub fn body_json(&self) -> Value {
        match self.kind {
            Kind::Wrap => Value::String(self.body.clone()),
            _ => serde_json::from_str(&self.body).unwrap_or_else(|_| Value::String(self.body.clone())),
        }
    }

    /// The row without its body, as lists show it.
    pub fn head_json(&self) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("seq".into(), json!(self.seq));
        row.insert("delta_id".into(), json!(self.delta_id));
        row.insert("kind".into(), json!(self.kind.as_str()));
        row.insert("project_id".into(), json!(self.project_id));
        row.insert("session_id".into(), json!(self.session_id));
        row.insert("identity".into(), json!(self.identity));
        row.insert("created_at".into(), json!(rfc3339(self.created_at)));
        if let Some(session) = &self.inherited_from {
            row.insert("inherited_from".into(), json!(session));
        }
        if let Some(thread) = &self.thread_id {
            row.insert("thread_id".into(), json!(thread));
        }
        row
    }

    /// The row as one JSON object.
    pub fn to_json(&self) -> Value {
        let mut row = self.head_json();
        row.insert("body".into(), self.body_json());
        Value::Object(row)
    }

    /// One line that says what happened, at most 200 characters.
    pub fn headline(&self) -> String {
        let told: Told = serde_json::from_str(&self.body).or_else(|_| self.told_twice()).unwrap_or_default();
        let fields =
            [&told.summary, &told.text, &told.what, &told.reason, &told.picker_identity, &told.subject];
        let text = fields.into_iter().find_map(Value::as_str);
        text.map(crate::packet::one_line).unwrap_or_default()
    }

    /// The same of a body that gives a field twice: the last one counts.
    fn told_twice(&self) -> serde_json::Result<Told> {
        serde_json::from_str(&self.body).and_then(serde_json::from_value::<Told>)
    }
}

/// The fields that may say in a line what happened. The others are passed over: a body may be a whole packet.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    summary: Value,
    text: Value,
    what: Value,
    reason: Value,
    picker_identity: Value,
    subject: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_being_written() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.as_str()), kind);
            assert_eq!(json!(kind), json!(kind.as_str()));
        }
        assert_eq!(Kind::from_word("from_the_future"), Kind::Other);
    }

    #[test]
    fn a_wrap_body_keeps_its_bytes_in_json() {
        let mut delta = Delta {
            project_id: "p".into(),
            seq: 1,
            delta_id: "d".into(),
            kind: Kind::Wrap,
            session_id: None,
            identity: "A".into(),
            created_at: 0,
            inherited_from: None,
            thread_id: None,
            body: "{ \"summary\" : \"x\\ny\" }".into(),
        };
        assert_eq!(delta.to_json()["body"], json!("{ \"summary\" : \"x\\ny\" }"));
        assert_eq!(delta.headline(), "x");
        delta.body = "{ \"summary\" : 1, \"text\": \"a\", \"text\": \"b\" }".into();
        assert_eq!(delta.headline(), "b");
        delta.body = "{ \"summary\" : \"x\\ny\" }".into();
        delta.kind = Kind::Note;
        assert_eq!(delta.to_json()["body"]["summary"], json!("x\ny"));
    }
}
