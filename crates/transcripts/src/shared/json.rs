//! JSON that borrows from its line and answers any question: what is not there, or is of another type, is nothing.

use std::borrow::Cow;
use std::fmt;

use crate::shared::time;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    /// `null`, and whatever is missing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string; borrowed where it holds no escapes.
    Str(Cow<'a, str>),
    /// An array.
    Arr(Vec<Json<'a>>),
    /// An object.
    Obj(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Fields that are bulky and never used; they are skipped without being built.
const HEAVY: &[&str] = &[
    "base_instructions",
    "encrypted_content",
    "signature",
    "rendered",
    "replacement_history",
    "image_url",
    "runState",
];

/// A value is not built if it might have more parts than this: memory stays bounded whatever a line holds.
const MAX_PARTS: usize = 500_000;

/// Why a line gave no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is no JSON.
    Bad,
    /// It ends in the middle.
    Cut,
    /// It has too many parts.
    Huge,
}

impl<'a> Json<'a> {
    /// Reads one value.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Fault> {
        if text.len() > MAX_PARTS
            && memchr::memchr3_iter(b',', b'[', b'{', text.as_bytes()).count() > MAX_PARTS
        {
            return Err(Fault::Huge);
        }
        serde_json::from_str(text).map_err(|error| if error.is_eof() { Fault::Cut } else { Fault::Bad })
    }

    /// A field of an object.
    pub(crate) fn get(&self, key: &str) -> &Json<'a> {
        const NOTHING: &Json<'static> = &Json::Null;
        match self {
            Json::Obj(fields) => {
                fields.iter().find(|(name, _)| name == key).map_or(NOTHING, |(_, value)| value)
            }
            _ => NOTHING,
        }
    }

    /// A field of a field.
    pub(crate) fn at_path(&self, path: &[&str]) -> &Json<'a> {
        path.iter().fold(self, |value, key| value.get(key))
    }

    /// The first of these fields that holds a string.
    pub(crate) fn first(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(key).str())
    }

    /// A string that is not empty.
    pub(crate) fn str(&self) -> Option<&str> {
        match self {
            Json::Str(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A whole number.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Json::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// A count; what is no count is 0.
    pub(crate) fn count(&self) -> u64 {
        self.int().and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
    }

    /// A time in epoch milliseconds: RFC 3339, or a number of seconds or milliseconds.
    pub(crate) fn time(&self) -> Option<i64> {
        /// In seconds this is the year 5138; in milliseconds, 1973.
        const SECONDS: i64 = 100_000_000_000;
        match self {
            Json::Str(text) => time::parse(text),
            Json::Int(number) if *number <= 0 => None,
            Json::Int(number) if *number < SECONDS => Some(number * 1000),
            Json::Int(number) => Some(*number),
            Json::Float(number) if *number > 0.0 && *number < SECONDS as f64 => {
                Some((number * 1000.0) as i64)
            }
            Json::Float(number) if *number > 0.0 => Some(*number as i64),
            _ => None,
        }
    }

    /// Whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }

    /// Whether it is missing or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// The items of an array; none for anything else.
    pub(crate) fn items(&self) -> &[Json<'a>] {
        match self {
            Json::Arr(items) => items,
            _ => &[],
        }
    }

    /// The fields of an object; none for anything else.
    pub(crate) fn fields(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        match self {
            Json::Obj(fields) => fields,
            _ => &[],
        }
    }

    /// The text of a message: a string, or the text of its parts, one below the other.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Json::Str(text) => Cow::Borrowed(text),
            Json::Arr(items) => {
                join(items.iter().filter_map(|item| item.str().or_else(|| item.get("text").str())))
            }
            _ => Cow::Borrowed(self.get("text").str().unwrap_or_default()),
        }
    }
}

/// Parts one below the other; a single part is not copied.
pub(crate) fn join<'t>(mut parts: impl Iterator<Item = &'t str>) -> Cow<'t, str> {
    let first = Cow::Borrowed(parts.next().unwrap_or_default());
    parts.fold(first, |all, part| Cow::Owned(format!("{all}\n{part}")))
}

/// A string that borrows where it can, also inside `Option`.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Json::Int(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Json::Float(value as f64), Json::Int))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Json::Float(value))
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Json::Str(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Json::Str(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Json::Str(Cow::Owned(text)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Json::Arr(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if HEAVY.contains(&key.as_ref()) {
                map.next_value::<IgnoredAny>()?;
            } else {
                fields.push((key, map.next_value()?));
            }
        }
        Ok(Json::Obj(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_without_escapes_are_borrowed() {
        let json = Json::parse(r#"{"a":"plain","b":"two\nlines"}"#).expect("valid");
        assert!(matches!(json.get("a"), Json::Str(Cow::Borrowed("plain"))));
        assert!(matches!(json.get("b"), Json::Str(Cow::Owned(_))));
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_nothing() {
        let json = Json::parse(r#"{"a":[1,2.5,null],"signature":{"b":1}}"#).expect("valid");
        assert_eq!(json.at_path(&["a", "b", "c"]), &Json::Null);
        assert_eq!(json.get("a").str(), None);
        assert_eq!(json.get("a").items().len(), 3);
        assert!(json.get("signature").is_null());
    }

    #[test]
    fn faults_are_told_apart() {
        assert_eq!(Json::parse(r#"{"a":"#), Err(Fault::Cut));
        assert_eq!(Json::parse("nonsense"), Err(Fault::Bad));
        assert_eq!(Json::parse(&format!("[{}1]", "1,".repeat(MAX_PARTS + 1))), Err(Fault::Huge));
    }

    #[test]
    fn times_are_told_in_every_unit() {
        for text in [r#""2026-11-21T00:38:32.500Z""#, "1795221512500", "1795221512.5", "1795221512500.0"] {
            assert_eq!(Json::parse(text).expect("valid").time(), Some(1_795_221_512_500), "{text}");
        }
        assert_eq!(Json::Int(0).time(), None);
    }

    #[test]
    fn a_message_is_a_string_or_a_list_of_parts() {
        assert_eq!(Json::parse(r#""a""#).expect("valid").text(), "a");
        assert_eq!(
            Json::parse(r#"[{"type":"text","text":"a"},{"type":"image"},"b"]"#).expect("valid").text(),
            "a\nb"
        );
    }
}
