//! What belongs to a batch of parallel calls although the chain of parents does not lead over it.
//!
//! A message with several calls is written as one entry per block, and each result hangs under the entry of its own
//! call. A leaf has one line of parents, so the chain meets one entry and one result of the fork. The others are found
//! by what they name: a result by its call, an entry by its message. Only hashes are kept, until the whole file is seen.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::shared::reverse::BitSet;

/// Entries on and beside the chain, by the messages, calls and results that they name.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    messages: HashSet<u64>,
    calls: HashSet<u64>,
    answered: HashSet<u64>,
    siblings: HashMap<u64, Vec<Sibling>>,
    /// Of several results of one call beside the chain the last in the file: what came before it was replaced.
    results: HashMap<u64, usize>,
}

/// An entry beside the chain, and the calls in it.
#[derive(Debug)]
struct Sibling {
    index: usize,
    calls: Vec<u64>,
}

impl Batches {
    /// Notes an entry of the chain.
    pub(crate) fn on_chain(&mut self, message: Message) {
        self.messages.extend(message.id);
        self.calls.extend(message.calls);
        self.answered.extend(message.results);
    }

    /// Notes an entry beside the chain. A pass that goes over the same line again may repeat it.
    pub(crate) fn attach(&mut self, message: Message, index: usize) {
        for result in message.results {
            self.results.entry(result).or_insert(index);
        }
        if let Some(id) = message.id {
            self.siblings.entry(id).or_default().push(Sibling { index, calls: message.calls });
        }
    }

    /// Marks the entries beside the chain that belong to it. A copy of a message, as an abandoned branch may hold,
    /// has no call that the chain does not have.
    pub(crate) fn mark(mut self, marked: &mut BitSet) {
        for message in &self.messages {
            let siblings = self.siblings.remove(message).unwrap_or_default();
            let missing = |one: &Sibling| one.calls.iter().any(|call| !self.calls.contains(call));
            if !siblings.iter().any(missing) {
                continue;
            }
            let wanted: Vec<Sibling> =
                siblings.into_iter().filter(|one| one.calls.is_empty() || missing(one)).collect();
            for one in wanted {
                marked.insert(one.index);
                self.calls.extend(one.calls);
            }
        }
        for (call, index) in &self.results {
            if self.calls.contains(call) && !self.answered.contains(call) {
                marked.insert(*index);
            }
        }
    }
}

/// The ids in a message, as hashes: its own, those of its calls, and those of the calls that it has results of.
#[derive(Debug, Default)]
pub(crate) struct Message {
    id: Option<u64>,
    calls: Vec<u64>,
    results: Vec<u64>,
    /// Whether it is the type of a call: `Message` is also the type of what a message is made of.
    call: bool,
}

/// No id is longer.
const MAX_ID: usize = 256;

impl Message {
    fn word(text: &str) -> Self {
        let id = (1..=MAX_ID).contains(&text.len()).then(|| {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish()
        });
        Self { id, call: matches!(text, "tool_use" | "toolCall"), ..Self::default() }
    }

    fn merge(&mut self, part: Self) {
        self.calls.extend(part.calls);
        self.results.extend(part.results);
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Level::Message)
    }
}

/// How deep a value stands. What is of another type than expected holds no ids: no line is lost for an odd field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Message,
    Block,
    Field,
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Message;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Message, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_unit<E>(self) -> Result<Message, E> {
        Ok(Message::default())
    }
    fn visit_bool<E>(self, _: bool) -> Result<Message, E> {
        Ok(Message::default())
    }
    fn visit_i64<E>(self, _: i64) -> Result<Message, E> {
        Ok(Message::default())
    }
    fn visit_u64<E>(self, _: u64) -> Result<Message, E> {
        Ok(Message::default())
    }
    fn visit_f64<E>(self, _: f64) -> Result<Message, E> {
        Ok(Message::default())
    }
    fn visit_str<E>(self, text: &str) -> Result<Message, E> {
        Ok(Message::word(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Message, A::Error> {
        let mut message = Message::default();
        while let Some(part) = items.next_element_seed(self)? {
            message.merge(part);
        }
        Ok(message)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut message = Message::default();
        while let Some(key) = map.next_key::<Key>()? {
            match (self, key) {
                (Self::Message, Key::Blocks) => message.merge(map.next_value_seed(Self::Block)?),
                (_, Key::Id) => message.id = map.next_value_seed(Self::Field)?.id,
                (_, Key::ResultOf) => message.results.extend(map.next_value_seed(Self::Field)?.id),
                (Self::Block, Key::Type) => message.call = map.next_value_seed(Self::Field)?.call,
                (Self::Block, Key::Call) => message.calls.extend(map.next_value_seed(Self::Field)?.id),
                (Self::Block, Key::Result) => message.results.extend(map.next_value_seed(Self::Field)?.id),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if self == Self::Block && message.call {
            message.calls.extend(message.id);
        }
        Ok(message)
    }
}

/// The fields that name something, in the words of the formats whose lines are linked.
#[derive(Debug, Deserialize)]
#[serde(field_identifier)]
enum Key {
    #[serde(rename = "id")]
    Id,
    #[serde(rename = "type")]
    Type,
    #[serde(rename = "content", alias = "parts")]
    Blocks,
    #[serde(rename = "tool_use_id", alias = "toolCallId")]
    ResultOf,
    #[serde(rename = "functionCall")]
    Call,
    #[serde(rename = "functionResponse")]
    Result,
    #[serde(other)]
    Other,
}
