//! A newer packet on top of the one that its session had taken over.

use serde_json::{Map, Value, json};

use super::number::{NumberGuard, quote_oversized_numbers};
use super::{MAX_BYTES, Packet, ROOM, ValidatedPacket, refusal};
use crate::refusal::Refusal;

/// Fields that name who was to take the older packet over, which has happened.
const ADDRESS: [&str; 3] = ["target", "next_agent", "next_role"];

/// Where the title of a plan's item may stand.
const TITLE: [&str; 6] = ["title", "content", "step", "text", "description", "subject"];

impl ValidatedPacket {
    /// Refuses a packet of more than [`MAX_BYTES`].
    pub fn check_size(&self) -> Result<(), Refusal> {
        check_size(&self.text)
    }

    /// Refuses a packet that Baton put together of accepted ones where it has more than [`MAX_BYTES`] and [`ROOM`].
    pub fn check_stored_size(&self) -> Result<(), Refusal> {
        check_limit(&self.text, MAX_BYTES + ROOM)
    }

    /// The packet as a tree of values. A number beyond a double is a string in it.
    pub fn value(&self) -> Result<Value, Refusal> {
        serde_json::from_str(&quote_oversized_numbers(&self.text)).map_err(|error| {
            refusal(&format!("the packet cannot be read as JSON: {error}"), "report this with the packet")
        })
    }

    /// Whether its text is not what its tree of values is written as.
    pub fn is_text_exact_only(&self) -> Result<bool, Refusal> {
        let written = self.value()?.to_string();
        Ok(written != self.text)
    }
}

pub(super) fn check_size(text: &str) -> Result<(), Refusal> {
    check_limit(text, MAX_BYTES)
}

pub(super) fn check_limit(text: &str, limit: usize) -> Result<(), Refusal> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(Refusal::invalid(
        "packet_too_large",
        format!("the packet has {} bytes; the limit is {limit}", text.len()),
        "leave out tool output and old turns, or name files in `refs` instead of quoting them",
    )
    .with("bytes", text.len())
    .with("limit", limit))
}

impl Packet {
    /// This packet on top of an older one, of any size. Lists grow; an item of the plan and a single value give way to the
    /// newer one. Everything else of the older packet stays, in its own words, also what this version does not know.
    pub fn on_top_of(&self, older: Option<&ValidatedPacket>) -> Result<ValidatedPacket, Refusal> {
        let unwritable = |error: serde_json::Error| {
            refusal(&format!("the packet cannot be written as JSON: {error}"), "report this with the packet")
        };
        let newer = serde_json::to_value(self).map_err(unwritable)?;
        let guard = match older {
            Some(older) => NumberGuard::of(&[&older.value()?, &newer]),
            None => NumberGuard::of(&[&newer]),
        };
        let mut fields: Map<String, Value> = match older {
            Some(older) => serde_json::from_str(&guard.protect(&older.text)).map_err(unwritable)?,
            None => Map::new(),
        };
        fields.retain(|name, _| !ADDRESS.contains(&name.as_str()));
        let Value::Object(newer) = newer else {
            return ValidatedPacket::from_view(self.clone());
        };
        for (name, value) in newer {
            let old = fields.get_mut(&name).map(Value::take).unwrap_or_default();
            let value = match name.as_str() {
                "pending_tasks" => grown(without_replaced(items(old), &value), value),
                "requests" => requests(old, value, &mut fields),
                "metadata" => united(old, value),
                _ if value.is_array() => grown(items(old), value),
                _ => value,
            };
            fields.insert(name, value);
        }
        ValidatedPacket::read(guard.restore(&Value::Object(fields).to_string()))
    }
}

/// A list as it may be written: one value stands for a list of one.
fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        one => vec![one],
    }
}

/// The older items, then those of the newer that are not among them.
fn grown(mut older: Vec<Value>, newer: Value) -> Value {
    for item in items(newer) {
        if !older.contains(&item) {
            older.push(item);
        }
    }
    Value::Array(older)
}

/// The items of the older plan that the newer one does not have.
fn without_replaced(mut older: Vec<Value>, newer: &Value) -> Vec<Value> {
    let named: Vec<&str> = newer.as_array().into_iter().flatten().filter_map(title).collect();
    older.retain(|item| !title(item).is_some_and(|title| named.contains(&title)));
    older
}

fn title(item: &Value) -> Option<&str> {
    let text = item.as_str().or_else(|| TITLE.into_iter().find_map(|name| item.get(name)?.as_str()))?;
    Some(text.trim())
}

/// Metadata that says how one session ended, and nothing of a later one.
const OF_ONE_SESSION: &str = "provider_stop";

fn united(older: Value, newer: Value) -> Value {
    match (older, newer) {
        (Value::Object(mut older), Value::Object(newer)) => {
            older.remove(OF_ONE_SESSION);
            older.extend(newer);
            Value::Object(older)
        }
        (_, newer) => newer,
    }
}

/// The first request is that of the older packet, the last that of the newer. Those in between are the user's words, too, and go
/// on as remarks.
fn requests(older: Value, newer: Value, fields: &mut Map<String, Value>) -> Value {
    let (Value::Object(mut older), Value::Object(mut newer)) = (older, newer.clone()) else { return newer };
    let first = older.remove("first").filter(|first| !first.is_null());
    let between = match &first {
        Some(_) => newer.remove("first"),
        None => None,
    };
    if let Some(first) = first {
        newer.insert("first".to_owned(), first);
    }
    if newer.get("last").is_none_or(Value::is_null) {
        newer.extend(older.remove("last").map(|last| ("last".to_owned(), last)));
    }
    let passed = [older.remove("last"), between].into_iter().flatten();
    let remarks: Vec<Value> = passed.filter(|text| !text.is_null()).map(remark).collect();
    if !remarks.is_empty() {
        let known = fields.get_mut("remarks").map(Value::take).unwrap_or_default();
        fields.insert("remarks".to_owned(), grown(items(known), Value::Array(remarks)));
    }
    older.extend(newer);
    Value::Object(older)
}

fn remark(text: Value) -> Value {
    let mut remark = match text {
        Value::Object(fields) => fields,
        text => Map::from_iter([("text".to_owned(), text)]),
    };
    remark.insert("role".to_owned(), json!("user"));
    Value::Object(remark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(value: &Value) -> ValidatedPacket {
        ValidatedPacket::parse(value.to_string()).expect("a packet")
    }

    fn over(older: &Value, newer: &Value) -> Value {
        let newer = sealed(newer).view().clone();
        let both = newer.on_top_of(Some(&sealed(older))).expect("a packet");
        serde_json::from_str(both.text()).expect("an object")
    }

    #[test]
    fn nothing_of_the_older_packet_is_dropped() {
        let older = json!({ "summary": "old", "next_steps": "one", "open_loops": ["loop"], "test_status": "fail",
            "decisions": [{ "decision": "use jiff", "votes": 3 }], "pending_tasks": [{ "content": "a", "owner": "X" }, "b"],
            "metadata": { "k": 1, "state": 1, "provider_stop": { "text": "429" } }, "zzz": { "deep": [1] }, "target": { "id": "B" }, "next_agent": "B" });
        let newer = json!({ "summary": "new", "next_steps": ["two"], "decisions": [{ "what": "no recursion" }],
            "pending_tasks": [{ "title": "b", "status": "completed" }], "metadata": { "state": 2 } });
        let both = over(&older, &newer);
        assert_eq!(both["summary"], "new");
        assert_eq!(both["next_steps"], json!(["one", { "text": "two" }]));
        assert_eq!(
            both["decisions"],
            json!([{ "decision": "use jiff", "votes": 3 }, { "what": "no recursion" }])
        );
        assert_eq!(
            both["pending_tasks"],
            json!([{ "content": "a", "owner": "X" }, { "title": "b", "status": "completed" }])
        );
        assert_eq!(both["metadata"], json!({ "k": 1, "state": 2 }));
        for name in ["open_loops", "test_status", "zzz"] {
            assert_eq!(both[name], older[name], "{name}");
        }
        assert_eq!(
            (both.get("target"), both.get("next_agent")),
            (None, None),
            "who was meant has taken it over"
        );
        assert_eq!(over(&both, &newer)["decisions"], both["decisions"], "the same twice adds nothing");
    }

    #[test]
    fn no_number_of_the_older_packet_changes() {
        let older = r#"{"summary":"s","big":12345678901234567890123,"metadata":{"pi":3.14159265358979323846264,"far":1e400}}"#;
        let older = ValidatedPacket::parse(older.to_owned()).expect("a packet");
        let newer = Packet {
            summary: "t".into(),
            metadata: Map::from_iter([("k".into(), json!(1))]),
            ..Packet::default()
        };
        let both = newer.on_top_of(Some(&older)).expect("a packet");
        let again = newer.on_top_of(Some(&both)).expect("a packet");
        for number in ["12345678901234567890123,", "3.14159265358979323846264,", "1e400,"] {
            assert!(again.text().contains(number), "{number} is gone: {}", again.text());
        }
    }

    #[test]
    fn the_users_words_all_go_on() {
        let older = json!({ "summary": "s", "requests": { "first": "build it", "last": { "text": "faster", "at": "x#1" } } });
        let newer = json!({ "summary": "s", "requests": { "first": "go on", "last": "stop" } });
        let both = over(&older, &newer);
        assert_eq!(both["requests"], json!({ "last": { "text": "stop" }, "first": "build it" }));
        assert_eq!(
            both["remarks"],
            json!([{ "text": "faster", "at": "x#1", "role": "user" }, { "text": "go on", "role": "user" }])
        );
        assert_eq!(over(&older, &json!({ "summary": "s" }))["requests"], older["requests"]);
        let none = over(&json!({ "summary": "s" }), &newer);
        assert_eq!(none["requests"], json!({ "first": { "text": "go on" }, "last": { "text": "stop" } }));
    }

    #[test]
    fn what_two_packets_amount_to_may_exceed_the_limit_and_is_refused_only_where_it_is_stored() {
        let large = json!({ "summary": "s", "metadata": { "a": "x".repeat(MAX_BYTES - 100) } });
        let newer = Packet { summary: "y".repeat(1_000), ..Packet::default() };
        let both = newer.on_top_of(Some(&sealed(&large))).expect("a packet of any size");
        assert_eq!(both.check_size().expect_err("too large").code, "packet_too_large");
    }
}
