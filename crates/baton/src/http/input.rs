//! With what an operation is called, as a request says it.

use axum::http::HeaderMap;
use baton_model::lossless_json::require_lossless;
use baton_model::refusal::Refusal;
use serde_json::{Map, Value};

/// The operation's input: a JSON object, or nothing at all.
pub(super) fn input(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(body).and_then(|input| require_lossless(body).map(|()| input)).map_err(|error| {
        let what = format!("the body is not a JSON object: {error}");
        Refusal::invalid("body_invalid", what, "send the operation's input as a JSON object")
    })
}

/// The key of a repeated request.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut keys = headers.get_all("idempotency-key").iter();
    let Some(first) = keys.next() else { return Ok(None) };
    if keys.any(|other| other != first) {
        let what = "two `Idempotency-Key` headers say different things";
        return Err(Refusal::invalid("input_contradictory", what, "send one"));
    }
    let key = first.to_str().map_err(|_| {
        let what = "the `Idempotency-Key` holds more than visible ASCII";
        Refusal::invalid("label_invalid", what, "send letters, digits and marks of ASCII")
    })?;
    Ok(Some(key))
}
