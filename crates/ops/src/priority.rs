//! Priorities as words and as numbers.

use serde_json::Value;

/// The words that every input takes.
pub(crate) const HINT: &str = "use critical, high, normal, low, or 0 to 4";

/// The number of a priority, which may be a word; nothing for what is none.
pub(crate) fn number(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(word) => match word.to_ascii_lowercase().as_str() {
            "critical" | "urgent" | "p0" | "0" => Some(0),
            "high" | "p1" | "1" => Some(1),
            "normal" | "medium" | "p2" | "2" => Some(2),
            "low" | "p3" | "3" => Some(3),
            "p4" | "4" => Some(4),
            _ => None,
        },
        _ => None,
    };
    number.filter(|number| (0..=4).contains(number))
}
