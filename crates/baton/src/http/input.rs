//! With what an operation is called, as a request says it.

use baton_model::refusal::Refusal;
use baton_model::unique_keys::require_unique_keys;
use serde_json::{Map, Value};

/// The operation's input: a JSON object, or nothing at all.
pub(super) fn input(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(body).and_then(|input| require_unique_keys(body).map(|()| input)).map_err(
        |error| {
            let what = format!("the body is not a JSON object: {error}");
            Refusal::invalid("body_invalid", what, "send the operation's input as a JSON object")
        },
    )
}
