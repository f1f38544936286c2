//! Results of calls: the same data as text and as structure, the next step first.

use baton_model::printable;
use baton_model::refusal::ErrorObject;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::tool_words::in_tool_words;
use crate::{next_step, notices};

/// The answer of an operation in its frame.
pub(crate) fn framed(operation: &str, mut answer: Value) -> Value {
    notices::in_tool_words(&mut answer);
    let next_step = next_step::next_step(operation, &answer);
    put_first("next_step", json!(next_step), answer)
}

/// A refusal in its frame: code, sentence, hint, and where it happened as far as that is known.
pub(crate) fn refused(mut error: ErrorObject) -> Value {
    error.hint = match next_step::hint(&error.code) {
        Some(hint) => with_suggestion(&error, hint),
        None => in_tool_words(&error.hint),
    };
    error.message = in_tool_words(&error.message);
    let mut frame = Map::new();
    let next_step = format!("Refused ({}): {}", error.code, printable::sentence(&error.hint));
    frame.insert("next_step".into(), json!(next_step));
    for key in ["project_id", "identity", "session_id"] {
        if let Some(known) = error.details.get(key).filter(|value| value.is_string()) {
            frame.insert(key.into(), known.clone());
        }
    }
    frame.insert("error".into(), json!(error));
    Value::Object(frame)
}

/// The hint of this face, after the names that are near to what was given.
fn with_suggestion(error: &ErrorObject, hint: &str) -> String {
    let near: Vec<&str> = texts(error, "near").collect();
    if near.is_empty() { hint.to_owned() } else { format!("did you mean {}? {hint}", near.join(" or ")) }
}

/// The texts of a list among the details of a refusal.
pub(crate) fn texts<'a>(error: &'a ErrorObject, detail: &str) -> impl Iterator<Item = &'a str> {
    error.details.get(detail).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// An object with one more field, before all others.
pub(crate) fn put_first(key: &str, value: Value, object: Value) -> Value {
    let mut ordered = Map::new();
    ordered.insert(key.to_owned(), value);
    match object {
        Value::Object(fields) => ordered.extend(fields.into_iter().filter(|(name, _)| name != key)),
        other => _ = ordered.insert("answer".into(), other),
    }
    Value::Object(ordered)
}

/// The result in the protocol's form, as text and as structured content, so that a client that shows only one of them
/// shows everything. Both mean the same, and the text escapes invisible characters: a model reads tag characters that a
/// user does not see.
pub(crate) fn result(value: Value, is_error: bool) -> CallToolResult {
    let text = printable::json(&value.to_string()).into_owned();
    let mut result =
        if is_error { CallToolResult::structured_error(value) } else { CallToolResult::structured(value) };
    result.content = vec![ContentBlock::text(text)];
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_next_step_ends_once() {
        for hint in ["did you mean `summary`?", "give `id`"] {
            let frame = refused(ErrorObject::new("input_invalid", "no", hint));
            let next = frame["next_step"].as_str().unwrap_or_default();
            assert!(next.contains(hint) && !next.contains("?.") && next.ends_with(['?', '.']), "{next}");
        }
    }
}
