//! A record taken apart into what is merged by itself: fields, keys of objects, and the members of sets.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::record::{OWN, Record, canonical, kind_of, target_of};
use super::sealed;

/// The lists that are sets, and what begins the names of their members.
const SETS: [(&str, &str); 3] =
    [("labels", "labels:"), ("dependencies", "dependencies:"), ("comments", "comments:")];

/// Objects of our own that are merged key by key.
const NESTED: [&str; 2] = ["agent_context", "handoff_instructions"];

/// What begins the name of a field that looks like one of something else.
const PLAIN: &str = "field:";

/// The entries of a record, each under its name. Id and time of change are not among them.
pub fn entries(record: &Record) -> Map<String, Value> {
    of_row(&canonical(record))
}

/// Whether a list or a field means the same in two rows, whatever the order of its members.
pub(super) fn is_same(key: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    let alone = |value: Option<&Value>| {
        let mut row = Map::new();
        row.extend(value.map(|value| (key.to_owned(), value.clone())));
        of_row(&row)
    };
    let is_alike = || match key {
        // Their ids and the parts of a second are left as the line has them.
        "comments" => alone(left).keys().collect::<BTreeSet<_>>() == alone(right).keys().collect(),
        _ => alone(left) == alone(right),
    };
    left == right || (SETS.iter().any(|(list, _)| *list == key) && is_alike())
}

fn of_row(row: &Map<String, Value>) -> Map<String, Value> {
    let mut found = Map::new();
    for (key, value) in row {
        match (key.as_str(), value) {
            ("id" | "updated_at", _) => {}
            ("labels" | "dependencies", Value::Array(members)) => {
                found.extend(members.iter().map(|member| (member_name(key, member), member.clone())));
            }
            ("comments", Value::Array(members)) => {
                for member in members {
                    let name = nth(&found, member_name(key, member));
                    found.insert(name, member.clone());
                }
            }
            ("metadata", Value::Object(fields)) => metadata(fields, &mut found),
            (key, value) if key.contains([':', '/']) => {
                _ = found.insert(format!("{PLAIN}{key}"), value.clone());
            }
            _ => _ = found.insert(key.clone(), value.clone()),
        }
    }
    found
}

fn metadata(fields: &Map<String, Value>, found: &mut Map<String, Value>) {
    for (key, value) in fields {
        let Value::Object(own) = value else {
            found.insert(format!("metadata/{key}"), value.clone());
            continue;
        };
        if key != OWN {
            found.insert(format!("metadata/{key}"), value.clone());
            continue;
        }
        for (key, value) in own {
            match value {
                // What is encrypted is one thing with its readers.
                Value::Object(inner) if NESTED.contains(&key.as_str()) && sealed::text(inner).is_none() => {
                    found.extend(
                        inner
                            .iter()
                            .map(|(inner, value)| (format!("metadata/{OWN}/{key}/{inner}"), value.clone())),
                    )
                }
                _ => _ = found.insert(format!("metadata/{OWN}/{key}"), value.clone()),
            }
        }
    }
}

/// The name of the next of several members that are alike: a comment may be made twice within a second.
fn nth(known: &Map<String, Value>, name: String) -> String {
    let numbered = (2..).map(|number: usize| format!("{name} {number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !known.contains_key(name)).unwrap_or(name)
}

/// The name of a member of a set. A comment is known by its author, its text and the second in which it was made: trackers number
/// comments anew and some of them write whole seconds.
fn member_name(list: &str, member: &Value) -> String {
    let text = |key: &str| member.get(key).and_then(Value::as_str).unwrap_or_default();
    match (list, member) {
        ("labels", Value::String(label)) => format!("labels:{label}"),
        ("dependencies", Value::Object(fields)) => dependency(kind_of(fields), target_of(fields)),
        ("comments", Value::Object(_)) => {
            let at = crate::time::parse_rfc3339(text("created_at"));
            let when = at.map_or_else(|| text("created_at").to_owned(), |at| at.div_euclid(1000).to_string());
            format!("comments:{when} {} {:016x}", text("author"), digest(text("text")))
        }
        _ => format!("{list}:{member}"),
    }
}

/// The name of the entry of a dependency.
pub fn dependency(kind: &str, on: &str) -> String {
    format!("dependencies:{kind} {on}")
}

/// FNV-1a: tells texts apart, no more.
pub(super) fn digest(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Whether the entry is a member of a set that trackers only add to.
pub fn is_comment(entry: &str) -> bool {
    entry.starts_with("comments:")
}

/// The field at the top of a line that an entry stands for, where it is one.
pub(super) fn field(entry: &str) -> &str {
    entry.strip_prefix(PLAIN).unwrap_or(entry)
}

/// The entry of a field of the agent's context.
pub fn of_context(field: &str) -> String {
    format!("metadata/{OWN}/agent_context/{field}")
}

/// Whether the entry is a member of a set.
pub(super) fn is_member(entry: &str) -> bool {
    SETS.iter().any(|(_, begin)| entry.starts_with(begin))
}

/// Puts a record's row together again. Comments stand in the order in which they were made.
pub(super) fn row(id: &str, updated_at: &str, entries: Map<String, Value>) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("id".into(), id.into());
    row.insert("updated_at".into(), updated_at.into());
    let own = format!("metadata/{OWN}/");
    for (entry, value) in entries {
        let set = SETS.iter().find(|(_, begin)| entry.starts_with(begin));
        if let Some((list, _)) = set {
            if let Value::Array(members) = row.entry(*list).or_insert_with(|| Value::Array(Vec::new())) {
                members.push(value);
            }
        } else if let Some(path) = entry.strip_prefix(&own) {
            match path.split_once('/').filter(|(outer, _)| NESTED.contains(outer)) {
                Some((outer, inner)) => put(&mut row, &["metadata", OWN, outer, inner], value),
                None => put(&mut row, &["metadata", OWN, path], value),
            }
        } else if let Some(key) = entry.strip_prefix("metadata/") {
            put(&mut row, &["metadata", key], value);
        } else {
            put(&mut row, &[field(&entry)], value);
        }
    }
    if let Some(Value::Array(comments)) = row.get_mut("comments") {
        comments.sort_by_key(|comment| {
            comment.get("created_at").and_then(Value::as_str).and_then(crate::time::parse_rfc3339)
        });
    }
    row
}

/// Sets a value under a path. What stands where an object has to be goes into it as its `value`; an object joins one that is there.
fn put(row: &mut Map<String, Value>, path: &[&str], value: Value) {
    let [key, rest @ ..] = path else { return };
    let Some((_, slot)) = row.iter_mut().find(|(name, _)| name == key) else {
        let value = rest
            .iter()
            .rev()
            .fold(value, |inner, key| Value::Object([((*key).to_owned(), inner)].into_iter().collect()));
        row.insert((*key).to_owned(), value);
        return;
    };
    match (slot, value) {
        (Value::Object(fields), value) if !rest.is_empty() => put(fields, rest, value),
        (Value::Object(fields), Value::Object(more)) => fields.extend(more),
        (Value::Object(fields), value) => _ = fields.insert("value".into(), value),
        (slot, value) if rest.is_empty() => *slot = value,
        (slot, value) => {
            let mut fields = Map::new();
            fields.insert("value".into(), slot.take());
            put(&mut fields, rest, value);
            *slot = Value::Object(fields);
        }
    }
}
