//! What a change of a task replaces.

use serde_json::{Map, Value};

use crate::task::record::OWN;

/// Fields that hold no text of a user.
const NO_TEXTS: [&str; 5] = ["status", "assignee", "issue_type", "closed_at", "deleted_at"];

/// The texts and objects among the old entries that the new ones do not have any more. Encrypted contexts, and
/// the plain text of one that the change encrypts, are not among them.
pub(super) fn texts(old: Map<String, Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let own = format!("metadata/{OWN}/");
    let is_text = |name: &str, value: &Value| {
        let is_field = match name.strip_prefix(&own).map(|field| field.split_once('/').unwrap_or((field, "")))
        {
            // A name without a key is an encrypted context: a caller that may no longer read it must not find it in the ledger.
            Some((context, key)) => {
                let is_context = ["agent_context", "handoff_instructions"].contains(&context);
                is_context && !key.is_empty() && !new.contains_key(&format!("{own}{context}"))
            }
            None => !NO_TEXTS.contains(&name) && !name.contains(':'),
        };
        let is_said =
            value.is_object() || value.is_array() || value.as_str().is_some_and(|text| !text.is_empty());
        is_field && is_said && new.get(name) != Some(value)
    };
    let replaced = old.into_iter().filter(|(name, value)| is_text(name, value));
    replaced
        .map(|(name, value)| (name.strip_prefix(&own).unwrap_or(&name).replace('/', "."), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::texts;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn words_that_a_change_replaces_are_named_and_encrypted_ones_are_not_told() {
        let old = map(json!({
            "title": "t", "status": "closed", "close_reason": "the lexer", "closed_at": "2026-01-01T00:00:00Z", "priority": 2,
            "labels:x": "x", "notes": "n", "design": "",
            "metadata/handoff.v1/agent_context/failure": "f", "metadata/handoff.v1/attempts": 2,
        }));
        let new = map(json!({ "title": "t", "status": "open", "priority": 1, "notes": "more" }));
        let expected = json!({ "close_reason": "the lexer", "notes": "n", "agent_context.failure": "f" });
        assert_eq!(Value::Object(texts(old.clone(), &new)), expected);
        let mut sealed = new;
        sealed.insert("metadata/handoff.v1/agent_context".into(), json!({ "baton:sealed": "age…" }));
        assert_eq!(texts(old, &sealed).get("agent_context.failure"), None);
    }
}
