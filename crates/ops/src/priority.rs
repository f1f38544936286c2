//! Priorities as words and as numbers.

use baton_model::issue::plain;
use baton_model::refusal::Refusal;
use baton_model::task::word;
use serde_json::Value;

/// The words that every input takes.
pub(crate) const HINT: &str = "use critical, high, normal, low, or 0 to 4";

/// The number of a priority, which may be a word; nothing for what is none.
pub(crate) fn number(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => word::priority(text).ok(),
        _ => None,
    };
    number.filter(|number| (0..=4).contains(number))
}

/// The urgency of a hand-off; normal where none is given.
pub(crate) fn urgency(value: Option<&Value>) -> Result<i64, Refusal> {
    let Some(value) = value else { return Ok(2) };
    number(value).ok_or_else(|| {
        Refusal::invalid("priority_invalid", format!("`{}` is not a priority", plain(value)), HINT)
    })
}
