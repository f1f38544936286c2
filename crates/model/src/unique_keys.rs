//! JSON text in which no object gives a key twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Refuses JSON text in which an object gives a key twice. RFC 8259 leaves open which of the two values counts; parsers take
/// one and drop the other in silence.
pub fn require_unique_keys(text: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<UniqueKeys>(text).map(drop)
}

/// A value of any type, of which only the keys are looked at.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<UniqueKeys, A::Error> {
        while seq.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeys, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<UniqueKeys>()?;
            if let Some(twice) = keys.replace(key) {
                return Err(de::Error::custom(format!("the key {twice:?} is given twice")));
            }
        }
        Ok(UniqueKeys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_given_twice_is_named_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"\u0061":null}}]"#] {
            let error = require_unique_keys(text.as_bytes()).expect_err(text).to_string();
            assert!(error.starts_with("the key \"a\" is given twice at line 1"), "{error}");
        }
    }

    #[test]
    fn the_same_key_in_two_objects_is_no_fault() {
        for text in [r#"{"a":{"a":1},"b":[{"a":-1.5},{"a":"x"}],"c":[true,null,18446744073709551615]}"#, "7"]
        {
            require_unique_keys(text.as_bytes()).expect(text);
        }
    }
}
