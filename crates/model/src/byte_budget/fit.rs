//! A value within so many bytes of JSON.

use serde_json::{Value, json};

/// The fewest bytes that a value is shown with when it does not fit; below, it is left out.
pub(super) const LEAST: usize = 28;

/// The fewest bytes of a text that are shown: beside quotation marks and the mark of its end.
const LEAST_TEXT: usize = LEAST - 8;

/// Whether a part of the value says something: a text may lose its end, a list its last entries.
pub(super) fn can_be_cut(value: &Value) -> bool {
    value.is_string() || value.as_array().is_some_and(|entries| !entries.is_empty())
}

/// The path of a file of which a list says more.
fn path_of(entry: &Value) -> Option<&str> {
    entry.get("path").and_then(Value::as_str)
}

/// Bytes round a path that is all that is said of a file: `{"path":…}`.
const ROUND_PATH: usize = 9;

/// The beginning of an entry that cannot be shown whole: of a text its beginning, of a file its path.
fn fit_entry(entry: &Value, room: usize) -> Option<Value> {
    truncate(entry, room).or_else(|| {
        let path = truncate(&json!(path_of(entry)?), room.saturating_sub(ROUND_PATH))?;
        Some(json!({ "path": path }))
    })
}

/// The fewest bytes of an entry.
fn least_of_entry(entry: &Value) -> usize {
    let shown = match path_of(entry) {
        Some(path) => ROUND_PATH + LEAST.min(json!(path).to_string().len()),
        None if can_be_cut(entry) => least(entry),
        None => usize::MAX,
    };
    shown.min(entry.to_string().len())
}

/// The fewest bytes with which the value is shown: a list has its first entry, of a file its path.
pub(super) fn least(value: &Value) -> usize {
    match value.as_array().map(Vec::as_slice) {
        Some([first, rest @ ..]) => {
            let mark = if rest.is_empty() { 0 } else { more(rest.len() + 1).to_string().len() + 1 };
            2 + mark + least_of_entry(first) + 1
        }
        _ => LEAST,
    }
}

/// The mark in place of so many entries.
fn more(entries: usize) -> Value {
    json!(format!("… {entries} more"))
}

/// The value, or the beginning of it, which is marked.
pub(super) fn truncate(value: &Value, room: usize) -> Option<Value> {
    if value.to_string().len() <= room {
        return Some(value.clone());
    }
    match value {
        Value::String(text) => fit_text(text, room),
        Value::Array(entries) => fit_list(entries, room),
        _ => None,
    }
}

fn fit_text(text: &str, room: usize) -> Option<Value> {
    let mut end = text.len().min(room);
    while end >= LEAST_TEXT {
        end = (0..=end).rev().find(|at| text.is_char_boundary(*at))?;
        let cut = Value::String(format!("{}…", &text[..end]));
        let over = cut.to_string().len().saturating_sub(room);
        if over == 0 {
            return Some(cut);
        }
        end = end.saturating_sub(over);
    }
    None
}

/// The first entries, and how many more there are. The beginning of the first one if that alone is too long.
fn fit_list(entries: &[Value], room: usize) -> Option<Value> {
    let brackets = 2;
    let mark = more(entries.len()).to_string().len() + 1;
    let mut used = brackets + mark;
    let mut shown = Vec::new();
    for entry in entries {
        let size = entry.to_string().len() + 1;
        if used + size > room {
            break;
        }
        used += size;
        shown.push(entry.clone());
    }
    if shown.is_empty() {
        let mark = if entries.len() > 1 { mark } else { 0 };
        shown.push(fit_entry(entries.first()?, room.saturating_sub(brackets + mark))?);
    }
    if shown.len() < entries.len() {
        shown.push(more(entries.len() - shown.len()));
    }
    Some(Value::Array(shown))
}
