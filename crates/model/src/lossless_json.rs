//! JSON text of which nothing is lost when it is read.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Refuses JSON text of which a reader would lose something in silence: an object that gives a key twice (RFC 8259 leaves open
/// which value counts, and parsers drop one), and an integer of more than 64 bits, which becomes the nearest double.
pub fn require_lossless(text: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<UniqueKeys>(text)?;
    match large_integer(text) {
        Some(number) => {
            let shown: String = number.chars().take(40).collect();
            Err(de::Error::custom(format!("the number {shown} has more than 64 bits: give it as a string")))
        }
        None => Ok(()),
    }
}

/// Reads JSON text of which nothing may be lost.
pub fn read<T: de::DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    let value = serde_json::from_slice(text)?;
    require_lossless(text).map(|()| value)
}

/// The first integer of a JSON text that neither `i64` nor `u64` holds.
pub fn large_integer(text: &[u8]) -> Option<&str> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let from = at;
        at += 1;
        match byte {
            b'"' => {
                while let Some(&byte) = text.get(at) {
                    at += if byte == b'\\' { 2 } else { 1 };
                    if byte == b'"' {
                        break;
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let rest = text.get(at..).unwrap_or_default();
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                at += rest.iter().take_while(|byte| is_part(byte)).count();
                let number = std::str::from_utf8(text.get(from..at)?).ok()?;
                let is_integer = !number.contains(['.', 'e', 'E']);
                if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return Some(number);
                }
            }
            _ => {}
        }
    }
    None
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
            let error = require_lossless(text.as_bytes()).expect_err(text).to_string();
            assert!(error.starts_with("the key \"a\" is given twice at line 1"), "{error}");
        }
    }

    #[test]
    fn the_same_key_in_two_objects_is_no_fault() {
        for text in [r#"{"a":{"a":1},"b":[{"a":-1.5},{"a":"x"}],"c":[true,null,18446744073709551615]}"#, "7"]
        {
            require_lossless(text.as_bytes()).expect(text);
        }
    }

    #[test]
    fn an_integer_that_would_be_rounded_is_named_and_one_in_a_string_is_not() {
        let large = "12345678901234567890123";
        for text in [format!("{{\"a\":[1,{large}]}}"), format!("-{large}")] {
            let error = require_lossless(text.as_bytes()).expect_err(&text).to_string();
            assert!(error.contains(&format!("{large} has more than 64 bits")), "{error}");
        }
        for text in [
            format!("{{\"\\\"{large}\":\"{large}\\\\\",\"b\":-9223372036854775808}}"),
            "[18446744073709551615,1e300,0.10000000000000000555,-0]".to_owned(),
        ] {
            require_lossless(text.as_bytes()).expect(&text);
        }
    }
}
