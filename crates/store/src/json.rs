//! Small JSON columns: lists and objects that are stored and never queried.

use serde_json::Value;

use crate::engine::Fault;

/// Reads a column that we wrote ourselves.
pub(crate) fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Fault> {
    serde_json::from_str(text)
        .map_err(|error| Fault::other(format!("a JSON column does not hold what it should: {error}")))
}

/// Writes a list or an object.
pub(crate) fn write<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).unwrap_or(Value::Null).to_string()
}
