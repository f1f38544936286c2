//! The project's append-only ledger: one delta per thing that happened.

mod body;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::packet::ValidatedPacket;
use crate::time::{Millis, Timestamp};

pub use body::{BodyFields, ReplacedFields};

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

/// The thing that an entry is about, where its body names one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryObject {
    /// A task of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// A hand-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_id: Option<String>,
    /// A baton of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baton_id: Option<String>,
    /// A memory of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<String>,
}

/// A delta as answers show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number in the project: rising, never reused.
    pub seq: i64,
    /// Its id.
    pub delta_id: String,
    /// What it records.
    pub kind: Kind,
    /// The project it belongs to.
    pub project_id: String,
    /// The session it belongs to, if any.
    pub session_id: Option<String>,
    /// The identity that caused it.
    pub identity: String,
    /// When.
    pub created_at: Timestamp,
    /// The session whose accounting this one inherits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
    /// The thread of sessions it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// One line that says what happened, where the body is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it is about, where the body is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<EntryObject>,
    /// What it says, also where that is `null`. A wrap's body is a string.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The exact text of the body, where JSON would not give it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_text: Option<String>,
    /// Its link in the ledger's chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
}

/// Reads a field that is there: `null` is a value of it.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
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
    pub fn head(&self) -> Row {
        Row {
            seq: self.seq,
            delta_id: self.delta_id.clone(),
            kind: self.kind,
            project_id: self.project_id.clone(),
            session_id: self.session_id.clone(),
            identity: self.identity.clone(),
            created_at: Timestamp(self.created_at),
            inherited_from: self.inherited_from.clone(),
            thread_id: self.thread_id.clone(),
            summary: None,
            about: None,
            body: None,
            body_text: None,
            chain: None,
        }
    }

    /// The row without its body, and with a line that says what happened.
    pub fn brief(&self) -> Row {
        Row { summary: Some(self.headline()), about: self.object(), ..self.head() }
    }

    /// What it is about. A wrap is about its own baton, and its body is its agent's.
    fn object(&self) -> Option<EntryObject> {
        if !matches!(self.kind, Kind::Other | Kind::Handoff | Kind::Remember) {
            return None;
        }
        let fields: ObjectFields = serde_json::from_str(&self.body).ok()?;
        let nested = fields.handoff.and_then(|handoff| handoff.handoff_id);
        let found = EntryObject { handoff_id: fields.object.handoff_id.or(nested), ..fields.object };
        Some(found).filter(|found| *found != EntryObject::default())
    }

    /// The row with its body.
    pub fn row(&self) -> Row {
        Row { body: Some(self.body_json()), ..self.head() }
    }

    /// The row as one JSON object.
    pub fn to_json(&self) -> Value {
        json!(self.row())
    }

    /// One line that says what happened, at most 200 characters.
    pub fn headline(&self) -> String {
        let summary: SummaryFields =
            serde_json::from_str(&self.body).or_else(|_| self.told_twice()).unwrap_or_default();
        let fields = [
            &summary.summary,
            &summary.text,
            &summary.what,
            &summary.reason,
            &summary.picker_identity,
            &summary.subject,
        ];
        let text = fields.into_iter().find_map(Value::as_str);
        // What came too late is what such a note is about.
        let late = text.filter(|_| self.body.contains("\"late_")).and_then(|_| brief_text(&self.body_json()));
        text.map(|text| crate::packet::one_line(late.as_deref().unwrap_or(text))).unwrap_or_default()
    }

    /// The summary of a body that gives a field twice: the last one counts.
    fn told_twice(&self) -> serde_json::Result<SummaryFields> {
        serde_json::from_str(&self.body).and_then(serde_json::from_value::<SummaryFields>)
    }
}

impl Row {
    /// Its words in full, where it has any and the body is here.
    pub fn full_text(&self) -> Option<String> {
        full_text_of(self.body.as_ref()?)
    }
}

/// What a body says in full: its text or what was decided and why, and of a late call everything that it carried.
pub fn full_text_of(body: &Value) -> Option<String> {
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let why = text("why").map(|why| format!(" ({why})")).unwrap_or_default();
    let sentence = text("text").or_else(|| text("what")).map(|sentence| format!("{sentence}{why}"));
    let late = ["late_checkpoint", "late_note", "late_packet", "late_reason"];
    let carried = late.into_iter().find_map(|name| Some((name, body.get(name)?)));
    let carried = carried.map(|(name, late)| match (name, late) {
        ("late_packet", Value::String(packet)) => packet_in_full(packet).unwrap_or_else(|| packet.clone()),
        (_, late) => carried_text(late),
    });
    match (sentence, carried) {
        (Some(sentence), Some(carried)) => Some(format!("{sentence}: {carried}")),
        (sentence, carried) => sentence.or(carried),
    }
}

/// What a body says in brief: of a late packet its summary and its next steps.
pub fn brief_text(body: &Value) -> Option<String> {
    let packet = body.get("late_packet").and_then(Value::as_str).and_then(packet_text);
    match (packet, body.get("text").and_then(Value::as_str)) {
        (Some(packet), Some(text)) => Some(format!("{text}: {packet}")),
        _ => full_text_of(body),
    }
}

/// What a late call carried: a text as it is, a note in its words, and anything more than that as JSON.
fn carried_text(late: &Value) -> String {
    let is_summary =
        |fields: &Map<String, Value>| fields.iter().all(|(key, value)| key == "summary" || value.is_null());
    match late {
        Value::String(text) => text.clone(),
        Value::Object(fields) if is_summary(fields) => {
            late["summary"].as_str().unwrap_or_default().to_owned()
        }
        _ => full_text_of(late).unwrap_or_else(|| late.to_string()),
    }
}

/// All of a packet in words: its summary, its next steps, and whatever else it has as JSON. None where a text is no packet.
fn packet_in_full(text: &str) -> Option<String> {
    let words = packet_text(text)?;
    let Value::Object(mut fields) = serde_json::from_str(text).ok()? else { return None };
    fields.remove("summary");
    let is_words = |steps: &Value| steps.as_array().is_some_and(|steps| steps.iter().all(Value::is_string));
    if fields.get("next_steps").is_some_and(is_words) {
        fields.remove("next_steps");
    }
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        other => other.is_null(),
    };
    fields.retain(|_, value| !is_empty(value));
    Some(match fields.is_empty() {
        true => words,
        false => format!("{words}; besides: {}", Value::Object(fields)),
    })
}

/// The summary of a packet and its next steps, where a text is one.
fn packet_text(text: &str) -> Option<String> {
    let packet = ValidatedPacket::parse_stored(text.to_owned()).ok()?;
    let view = packet.view();
    let next: Vec<&str> = view.next_steps.iter().map(|step| step.text.as_str()).collect();
    let next = if next.is_empty() { String::new() } else { format!("; next: {}", next.join("; ")) };
    (!view.summary.trim().is_empty()).then(|| format!("{}{next}", view.summary))
}

/// The fields that may name what an entry is about.
#[derive(Deserialize)]
struct ObjectFields {
    #[serde(flatten)]
    object: EntryObject,
    #[serde(default)]
    handoff: Option<EntryObject>,
}

/// The fields that may say in a line what happened. The others are passed over: a body may be a whole packet.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SummaryFields {
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
    fn a_brief_row_names_what_it_is_about() {
        let entry = |kind, body: Value| Delta {
            project_id: "p".into(),
            seq: 1,
            delta_id: "d".into(),
            kind,
            session_id: None,
            identity: "A".into(),
            created_at: 0,
            inherited_from: None,
            thread_id: None,
            body: body.to_string(),
        };
        for (kind, body, expected) in [
            (Kind::Other, json!({ "summary": "closed", "task_id": "p-1" }), json!({ "task_id": "p-1" })),
            (
                Kind::Handoff,
                json!({ "handoff": { "handoff_id": "h", "state": "offered" } }),
                json!({ "handoff_id": "h" }),
            ),
            (Kind::Handoff, json!({ "handoff_id": "h", "reason": "gone" }), json!({ "handoff_id": "h" })),
            (Kind::Remember, json!({ "memory_id": "m" }), json!({ "memory_id": "m" })),
            (Kind::Other, json!({ "project": { "name": "shop" } }), Value::Null),
            (Kind::Other, json!({ "task_id": 7 }), Value::Null),
            (Kind::Note, json!({ "text": "t", "task_id": "p-1" }), Value::Null),
            (Kind::Wrap, json!({ "task_id": "p-1" }), Value::Null),
        ] {
            assert_eq!(json!(entry(kind, body.clone()).brief().about), expected, "{body}");
        }
    }

    #[test]
    fn the_words_of_a_late_call_are_all_that_it_carried() {
        for (body, expected) in [
            (json!({ "text": "ask Tom" }), Some("ask Tom")),
            (json!({ "what": "use jiff", "why": "no clock" }), Some("use jiff (no clock)")),
            (
                json!({ "text": "late", "late_checkpoint": { "summary": "half", "state": null } }),
                Some("late: half"),
            ),
            (
                json!({ "text": "late", "late_checkpoint": { "summary": "half", "state": { "at": 1 } } }),
                Some(r#"late: {"summary":"half","state":{"at":1}}"#),
            ),
            (json!({ "text": "late", "late_note": { "what": "use jiff" } }), Some("late: use jiff")),
            (json!({ "text": "late", "late_packet": "{\"summary\":\"s\"}" }), Some("late: s")),
            (
                json!({ "text": "late", "late_packet": r#"{"summary":"s","next_steps":["a","b"],"focus":[],"known_issues":["c"]}"# }),
                Some(r#"late: s; next: a; b; besides: {"known_issues":["c"]}"#),
            ),
            (json!({ "text": "late", "late_packet": "no packet" }), Some("late: no packet")),
            (json!({ "text": "late", "late_reason": "tired" }), Some("late: tired")),
            (json!({ "reason": "stale" }), None),
        ] {
            assert_eq!(full_text_of(&body).as_deref(), expected, "{body}");
        }
        let packet = json!({ "summary": "s", "next_steps": ["a", "b"] }).to_string();
        let late = json!({ "text": "late", "late_packet": packet });
        assert_eq!(brief_text(&late).as_deref(), Some("late: s; next: a; b"));
    }

    #[test]
    fn a_row_that_is_read_and_written_again_is_the_same() {
        let row = json!({ "seq": 1, "delta_id": "d", "kind": "note", "project_id": "p", "session_id": null,
            "identity": "A", "created_at": "2026-11-20T10:00:00.000Z" });
        for body in [None, Some(Value::Null), Some(json!({ "b": 1, "a": null })), Some(json!("text"))] {
            let mut row = row.clone();
            if let Some(body) = body {
                row["body"] = body;
            }
            let read: Row = serde_json::from_value(row.clone()).expect("a row");
            assert_eq!(json!(read).to_string(), row.to_string());
        }
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
