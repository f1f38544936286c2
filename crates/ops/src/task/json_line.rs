//! A line of a Beads file as a JSON object in which every key stands once: of two, a reader would drop one unseen.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Map, Value};

/// Reads a value.
pub(super) fn parse(text: &str) -> Result<Value, Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(Strict)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            let value = from.next_value_seed(Strict)?;
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {} stands twice", Value::from(key))));
            }
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;

    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth_and_all_else_is_read_as_it_is() {
        let text = r#"{"a":null,"b":[true,-1,18446744073709551615,1.5,"é\n"],"c":{"d":{}}}"#;
        assert_eq!(parse(text).ok(), Value::deserialize(&mut serde_json::Deserializer::from_str(text)).ok());
        for (bad, what) in [
            (r#"{"a":1,"a":2}"#, "stands twice"),
            (r#"{"x":[{"a":1,"b":2,"a":1}]}"#, "stands twice"),
            (r#"{"a":1}{"#, "trailing"),
            (&"[".repeat(100_000), "recursion"),
        ] {
            let error = parse(bad).expect_err(what).to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
