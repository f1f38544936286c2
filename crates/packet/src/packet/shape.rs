//! How the items of a packet are read: a list or one value, an object or a plain string for its main field.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{
    Attempt, Command, Decision, Failure, FileChange, Message, PlanItem, Proposal, Remark, Text, ToolActivity,
};

/// An item that agents also write as a plain string.
pub(super) trait FromText {
    /// The item that the string stands for.
    fn from_text(text: &str) -> Self;
}

impl FromText for String {
    fn from_text(text: &str) -> Self {
        text.to_owned()
    }
}
impl FromText for Text {
    fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), at: None }
    }
}
impl FromText for PlanItem {
    fn from_text(text: &str) -> Self {
        Self { title: text.to_owned(), status: pending(), ..Self::default() }
    }
}
impl FromText for Decision {
    fn from_text(text: &str) -> Self {
        Self { what: text.to_owned(), ..Self::default() }
    }
}
impl FromText for Attempt {
    fn from_text(text: &str) -> Self {
        Self { tried: text.to_owned(), ..Self::default() }
    }
}
impl FromText for FileChange {
    /// `src/a.rs:10-20` names a file and its lines.
    fn from_text(text: &str) -> Self {
        let lines_follow = |tail: &str| {
            tail.starts_with(|c: char| c.is_ascii_digit())
                && tail.chars().all(|c| c.is_ascii_digit() || c == '-' || c == ',')
        };
        match text.rsplit_once(':') {
            Some((path, tail)) if !path.is_empty() && lines_follow(tail) => {
                Self { path: path.to_owned(), lines: Some(tail.to_owned()), ..Self::default() }
            }
            _ => Self { path: text.to_owned(), ..Self::default() },
        }
    }
}
impl FromText for Command {
    fn from_text(text: &str) -> Self {
        Self { command: text.to_owned(), ..Self::default() }
    }
}
impl FromText for Failure {
    fn from_text(text: &str) -> Self {
        Self { command: text.to_owned(), ..Self::default() }
    }
}
impl FromText for ToolActivity {
    fn from_text(text: &str) -> Self {
        Self { category: text.to_owned(), ..Self::default() }
    }
}
impl FromText for Message {
    fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}
impl FromText for Proposal {
    fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}
impl FromText for Remark {
    fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// The status of a plan item that names none.
pub(super) fn pending() -> String {
    "pending".to_owned()
}

/// A list of items, or one item in place of the list.
pub(super) fn items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromText + Deserialize<'de>,
{
    deserializer.deserialize_any(ListVisitor(PhantomData))
}

/// One item or nothing.
pub(super) fn item<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromText + Deserialize<'de>,
{
    Ok(Option::<One<T>>::deserialize(deserializer)?.map(|one| one.0))
}

/// Words, or a number written as words.
pub(super) fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<serde_json::Value>::deserialize(deserializer)? {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(serde_json::Value::String(text)) => Ok(Some(text)),
        Some(serde_json::Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(de::Error::custom("expected a string or a number")),
    }
}

struct One<T>(T);

impl<'de, T: FromText + Deserialize<'de>> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneVisitor(PhantomData)).map(One)
    }
}

struct OneVisitor<T>(PhantomData<T>);

impl<'de, T: FromText + Deserialize<'de>> Visitor<'de> for OneVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an object")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: FromText + Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list, a string or an object")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
        Ok(vec![T::from_text(text)])
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
        Ok(vec![T::deserialize(MapAccessDeserializer::new(map))?])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(One(item)) = sequence.next_element()? {
            list.push(item);
        }
        Ok(list)
    }
}
