//! RFC 7396: an object merged into another, key by key; null takes a key away.

use serde_json::{Map, Value};

/// Merges a patch into an object.
pub fn merge(target: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch {
        match value {
            Value::Null => _ = target.shift_remove(key),
            Value::Object(inner) => {
                let slot = target.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
                if !slot.is_object() {
                    *slot = Value::Object(Map::new());
                }
                if let Value::Object(fields) = slot {
                    merge(fields, inner);
                }
            }
            other => _ = target.insert(key.clone(), other.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(target: &str, patch: &str) -> String {
        let mut target = serde_json::from_str(target).expect("object");
        merge(&mut target, &serde_json::from_str(patch).expect("object"));
        Value::Object(target).to_string()
    }

    #[test]
    fn the_examples_of_the_rfc_come_out() {
        for (target, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, r"{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            (r"{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(merged(target, patch), result);
        }
    }
}
