//! Body of a delta, read by field.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Row;
use crate::handoff::View;
use crate::packet::Git;
use crate::repository::{WorkingCopy, checkout};

/// What the bodies of deltas say beside their sentence, each kind some of it. A body may come from an import or from another
/// version, so that a field of another type counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct BodyFields {
    /// The sentence of most entries, and of a packet.
    #[serde(deserialize_with = "lenient")]
    pub summary: Option<String>,
    /// The text of a note.
    #[serde(deserialize_with = "lenient")]
    pub text: Option<String>,
    /// What was decided.
    #[serde(deserialize_with = "lenient")]
    pub what: Option<String>,
    /// Why it was decided.
    #[serde(deserialize_with = "lenient")]
    pub why: Option<String>,
    /// Why a session ended.
    #[serde(deserialize_with = "lenient")]
    pub reason: Option<String>,
    /// What was rejected for it.
    #[serde(deserialize_with = "texts")]
    pub rejected: Vec<String>,
    /// Tags of a note.
    #[serde(deserialize_with = "texts")]
    pub tags: Vec<String>,
    /// Who picked up.
    #[serde(deserialize_with = "lenient")]
    pub picker_identity: Option<String>,
    /// The tool in which a session began.
    #[serde(deserialize_with = "lenient")]
    pub surface: Option<String>,
    /// Where a session began or picked up.
    #[serde(deserialize_with = "lenient")]
    pub place: Option<WorkingCopy>,
    /// What was checked out where a session wrapped.
    #[serde(deserialize_with = "lenient")]
    pub git: Option<Git>,
    /// The baton that was picked up.
    #[serde(deserialize_with = "lenient")]
    pub inherited_from_wrap_delta_id: Option<String>,
    /// The sessions whose unwrapped work was picked up.
    #[serde(deserialize_with = "texts")]
    pub recovered_sessions: Vec<String>,
    /// The hand-off that was picked up.
    #[serde(deserialize_with = "lenient")]
    pub handoff_id: Option<String>,
    /// The project that it came from.
    #[serde(deserialize_with = "lenient")]
    pub from_project_id: Option<String>,
    /// The hand-off as it stood.
    #[serde(deserialize_with = "lenient")]
    pub handoff: Option<View>,
    /// The task that was changed.
    #[serde(deserialize_with = "lenient")]
    pub task_id: Option<String>,
    /// What the task said before that.
    #[serde(deserialize_with = "lenient_default")]
    pub replaced: ReplacedFields,
    /// Folders that changed their project.
    #[serde(deserialize_with = "texts")]
    pub paths: Vec<String>,
    /// The project that they came from, where a user split them off.
    #[serde(deserialize_with = "lenient")]
    pub split_from: Option<String>,
}

/// The texts that a change of a task has replaced, as far as they are read by field.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ReplacedFields {
    /// Its title.
    #[serde(deserialize_with = "lenient")]
    pub title: Option<String>,
}

impl BodyFields {
    /// Where it was written, in a clause, as far as it says so.
    pub fn describe_place(&self) -> Option<String> {
        let checked_out = |git: &Git| checkout(git.branch.as_deref(), git.commit.as_deref());
        match &self.place {
            Some(place) => Some(format!("in {}", place.describe())),
            None => self.git.as_ref().and_then(checked_out),
        }
    }
}

impl Row {
    /// The fields of the body, as far as it is here and an object. A wrap has its packet as text.
    pub fn fields(&self) -> BodyFields {
        let read = match &self.body {
            Some(Value::String(text)) => {
                // A text that gives a field twice is read as JSON first: the last one counts.
                serde_json::from_str::<Value>(text).and_then(BodyFields::deserialize)
            }
            Some(body) => BodyFields::deserialize(body),
            None => Ok(BodyFields::default()),
        };
        read.unwrap_or_default()
    }
}

fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(Value::deserialize(deserializer)?).ok())
}

fn lenient_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(lenient(deserializer)?.unwrap_or_default())
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let list: Option<Vec<Value>> = lenient(deserializer)?;
    Ok(list.into_iter().flatten().filter_map(|item| String::deserialize(item).ok()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(body: Option<Value>) -> BodyFields {
        let mut row = json!({ "seq": 1, "delta_id": "d", "kind": "note", "project_id": "p", "session_id": null,
            "identity": "A", "created_at": "2026-11-20T10:00:00.000Z" });
        if let Some(body) = body {
            row["body"] = body;
        }
        serde_json::from_value::<Row>(row).expect("a row").fields()
    }

    #[test]
    fn a_field_of_another_type_counts_as_absent() {
        let read =
            fields(Some(json!({ "text": 5, "what": "use jiff", "tags": ["stop", 1], "rejected": "chrono",
            "handoff": { "handoff_id": "h" }, "new": true })));
        let expected =
            BodyFields { what: Some("use jiff".into()), tags: vec!["stop".into()], ..BodyFields::default() };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_packet_is_read_out_of_its_text_and_no_body_says_nothing() {
        let text = r#"{"summary":"first","summary":"last"}"#;
        assert_eq!(fields(Some(json!(text))).summary.as_deref(), Some("last"));
        for body in [None, Some(Value::Null), Some(json!("words")), Some(json!([1]))] {
            assert_eq!(fields(body), BodyFields::default());
        }
    }
}
