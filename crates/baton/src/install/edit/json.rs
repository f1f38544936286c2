//! Entries put into JSON and taken out again. What is taken out in the opposite order leaves the bytes that were there.

use serde_json::{Value, json};

use super::scan::{Item, Node, document};
use super::{EditError, line_end};

/// What an edit came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditResult {
    /// The new text.
    pub text: String,
    /// Keys from the root to every object or list that had to be made; an empty one is the root itself.
    pub made: Vec<Vec<String>>,
}

/// Sets a member: `key` in the object at `path`. A value that stands there already is replaced, if it is another one.
pub(crate) fn set(text: &str, path: &[&str], key: &str, value: &Value) -> Result<EditResult, EditError> {
    let edited = set_text(text, path, key, value)?;
    verify(text, &edited.text, path, |holder| match holder {
        Value::Object(members) => _ = members.insert(key.to_owned(), value.clone()),
        other => *other = json!({ key: value }),
    })?;
    Ok(edited)
}

fn set_text(text: &str, path: &[&str], key: &str, value: &Value) -> Result<EditResult, EditError> {
    let root = document(text)?;
    let known = root.as_ref().and_then(|root| root.node_at(path)?.node_at(&[key]));
    if let Some(known) = known {
        let mut new = text.to_owned();
        if known.value(text) != *value {
            let look = FileStyle::of(text, root.as_ref());
            new.replace_range(
                known.span.clone(),
                &look.write(value, &look.indent_at(text, known.span.start)),
            );
        }
        return Ok(EditResult { text: new, made: Vec::new() });
    }
    put(text, root.as_ref(), path, Some(key), value)
}

/// Adds a value to the end of the list at `path`, unless an equal one is in it.
pub(crate) fn push(text: &str, path: &[&str], value: &Value) -> Result<EditResult, EditError> {
    let root = document(text)?;
    let list = root.as_ref().and_then(|root| root.node_at(path));
    if list.is_some_and(|list| list.items().iter().any(|item| item.value.value(text) == *value)) {
        return Ok(EditResult { text: text.to_owned(), made: Vec::new() });
    }
    let edited = put(text, root.as_ref(), path, None, value)?;
    verify(text, &edited.text, path, |holder| match holder {
        Value::Array(values) => values.push(value.clone()),
        other => *other = json!([value]),
    })?;
    Ok(edited)
}

/// The value at the end of a path, if there is one.
pub(crate) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, EditError> {
    Ok(document(text)?.and_then(|root| root.node_at(path).map(|node| node.value(text))))
}

/// Removes a member, and the objects around it that `made` names and that are empty then.
pub(crate) fn unset(
    text: &str,
    path: &[&str],
    key: &str,
    made: &CreatedParents<'_>,
) -> Result<String, EditError> {
    let Some(root) = document(text)? else { return Ok(text.to_owned()) };
    let Some(holder) = root.node_at(path) else { return Ok(text.to_owned()) };
    let Some(at) = holder.position(key) else { return Ok(text.to_owned()) };
    let less = without(text, holder, at);
    verify(text, &less, path, |holder| _ = holder.as_object_mut().and_then(|o| o.shift_remove(key)))?;
    prune(less, path, made)
}

/// Removes the values of a list that `is_ours` names, and the holders around it that `made` names and that are empty then.
pub(crate) fn pull(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Value) -> bool,
    made: &CreatedParents<'_>,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    loop {
        let Some(root) = document(&text)? else { return Ok(text) };
        let Some(list) = root.node_at(path).filter(|list| list.is_list(&text)) else { return Ok(text) };
        let Some(at) = list.items().iter().rposition(|item| is_ours(&item.value.value(&text))) else {
            return Ok(text);
        };
        let less = without(&text, list, at);
        let shorter = |list: &mut Value| _ = list.as_array_mut().map(|values| values.remove(at));
        verify(&text, &less, path, shorter)?;
        text = prune(less, path, made)?;
    }
}

/// Which holders were made for an entry, by the keys that lead to them.
pub(crate) type CreatedParents<'a> = dyn Fn(&[&str]) -> bool + 'a;

/// Whether the new text says what the old one said, but for the holder at `path`.
fn verify(old: &str, new: &str, path: &[&str], change: impl FnOnce(&mut Value)) -> Result<(), EditError> {
    let read = |text: &str| Ok(document(text)?.map_or(Value::Null, |root| root.value(text)));
    let mut expected = read(old)?;
    let mut holder = &mut expected;
    for key in path {
        holder = match (holder.is_array(), key.parse::<usize>()) {
            (true, Ok(at)) => &mut holder[at],
            _ => {
                if !holder.is_object() {
                    *holder = json!({});
                }
                &mut holder[*key]
            }
        };
    }
    change(holder);
    if read(new)? == expected {
        return Ok(());
    }
    Err(EditError::of_whole_file("an entry cannot be put into it without changing something else"))
}

fn put(
    text: &str,
    root: Option<&Node>,
    path: &[&str],
    key: Option<&str>,
    value: &Value,
) -> Result<EditResult, EditError> {
    let depth =
        (0..=path.len()).rev().find(|depth| root.is_some_and(|root| root.node_at(&path[..*depth]).is_some()));
    let look = FileStyle::of(text, root);
    let wrap = |missing: &[&str]| {
        let inner = key.map_or_else(|| json!([value]), |key| json!({ key: value }));
        missing.iter().rev().fold(inner, |inner, key| json!({ *key: inner }))
    };
    let made = |from: usize| (from..=path.len()).map(|n| path[..n].iter().map(|k| (*k).to_owned()).collect());
    let (Some(root), Some(depth)) = (root, depth) else {
        // Nothing stands there yet.
        let end = line_end(text);
        let (mark, blank) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
        let new = format!("{mark}{}{end}{blank}", look.write(&wrap(path), ""));
        return Ok(EditResult { text: new, made: made(0).collect() });
    };
    let Some(holder) = root.node_at(&path[..depth]) else {
        return Err(EditError::of_whole_file("a holder is missing"));
    };
    let item = match path.get(depth) {
        Some(name) => (Some(*name), wrap(&path[depth + 1..])),
        None => (key, value.clone()),
    };
    let fits = if item.0.is_some() { holder.is_object(text) } else { holder.is_list(text) };
    if !fits {
        let wanted = if item.0.is_some() { "an object" } else { "a list" };
        let name = path[..depth].join(".");
        return Err(EditError::at(text, holder.span.start, &format!("`{name}` is not {wanted}")));
    }
    Ok(EditResult { text: look.add(text, holder, item.0, &item.1), made: made(depth + 1).collect() })
}

/// How a file is written: what a new entry should look like.
struct FileStyle {
    unit: String,
    end: &'static str,
    flat: bool,
}

impl FileStyle {
    fn of(text: &str, root: Option<&Node>) -> Self {
        let first = root.and_then(|root| root.items().first());
        let unit = first.map(|item| indent_before(text, item.start)).filter(|unit| !unit.is_empty());
        let flat = first.is_some() && !text.trim_end().contains('\n');
        Self { unit: unit.unwrap_or("  ").to_owned(), end: line_end(text), flat }
    }

    fn indent_at(&self, text: &str, at: usize) -> String {
        let line = &text[text[..at].rfind('\n').map_or(0, |n| n + 1)..];
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    }

    /// A value as text whose further lines are indented.
    fn write(&self, value: &Value, indent: &str) -> String {
        if self.flat {
            return value.to_string();
        }
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut out, formatter);
        if serde::Serialize::serialize(value, &mut writer).is_err() {
            return value.to_string();
        }
        let text = String::from_utf8_lossy(&out).into_owned();
        text.replace('\n', &format!("{}{indent}", self.end))
    }

    fn entry(&self, key: Option<&str>, value: &Value, indent: &str) -> String {
        match key {
            Some(key) => format!("{}: {}", Value::from(key), self.write(value, indent)),
            None => self.write(value, indent),
        }
    }

    fn add(&self, text: &str, holder: &Node, key: Option<&str>, value: &Value) -> String {
        let (open, close) = (holder.span.start + 1, holder.span.end - 1);
        let around = self.indent_at(text, holder.span.start);
        let mut new = text.to_owned();
        let Some(last) = holder.items().last() else {
            let indent = format!("{around}{}", self.unit);
            let entry = self.entry(key, value, &indent);
            if self.flat {
                new.insert_str(open, &entry);
                return new;
            }
            new.insert_str(open, &format!("{0}{indent}{entry}{0}{around}", self.end));
            return new;
        };
        let first = holder.items().first().map_or(open, |item| item.start);
        let place = text[..close].trim_end_matches([' ', '\t', '\r', '\n']).len();
        let behind = &text[last.value.span.end..place];
        let lines = text[open..first].contains('\n') || behind.contains("//");
        let indent = match indent_before(text, last.start) {
            "" if !text[open..first].contains('\n') => format!("{around}{}", self.unit),
            own => own.to_owned(),
        };
        let lead = if lines { format!("{}{indent}", self.end) } else { " ".to_owned() };
        let flat = Self { unit: self.unit.clone(), end: self.end, flat: self.flat || !lines };
        let entry = flat.entry(key, value, &indent);
        match last.comma {
            Some(_) => new.insert_str(place, &format!("{lead}{entry},")),
            None => {
                new.insert_str(place, &format!("{lead}{entry}"));
                new.insert(last.value.span.end, ',');
            }
        }
        new
    }
}

/// The white space between the beginning of a line and a place in it; empty when something else stands before.
fn indent_before(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(at, |n| n + 1);
    let before = &text[start..at];
    if before.trim_matches([' ', '\t']).is_empty() { before } else { "" }
}

/// The text without one entry of a holder.
fn without(text: &str, holder: &Node, at: usize) -> String {
    let items = holder.items();
    let item = &items[at];
    let start = text[..item.start].trim_end_matches([' ', '\t', '\r', '\n']).len();
    let behind = item.comma.map_or(item.value.span.end, |comma| comma + 1);
    let mut new = text.to_owned();
    if items.len() == 1 {
        return without_only(text, holder, item, behind);
    }
    new.replace_range(start..behind, "");
    // The comma before belonged to what is gone, unless the file ends its lists with one.
    if at + 1 == items.len()
        && item.comma.is_none()
        && let Some(comma) = items[at - 1].comma
    {
        new.remove(comma);
    }
    new
}

fn without_only(text: &str, holder: &Node, item: &Item, behind: usize) -> String {
    let open = holder.span.start + 1;
    let before = &text[open..item.start];
    let blank = before.chars().all(char::is_whitespace);
    let start = if blank { open } else { open + before.trim_end().len() };
    let indent: String = {
        let line = &text[text[..holder.span.start].rfind('\n').map_or(0, |n| n + 1)..];
        line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    };
    let rest = &text[behind..];
    let closing = format!("{}{indent}", line_end(text));
    let rest = if blank { rest.strip_prefix(&closing).unwrap_or(rest) } else { rest };
    format!("{}{rest}", &text[..start])
}

/// Removes the holders at the end of a path that were made for what is gone, as far as they are empty.
fn prune(mut text: String, path: &[&str], made: &CreatedParents<'_>) -> Result<String, EditError> {
    for depth in (0..=path.len()).rev() {
        let Some(root) = document(&text)? else { break };
        let here = &path[..depth];
        let Some(holder) = root.node_at(here) else { break };
        let inner = &text[holder.span.start + 1..holder.span.end - 1];
        if !holder.items().is_empty() || !inner.trim().is_empty() || !made(here) {
            break;
        }
        let Some((key, around)) = here.split_last() else {
            let rest = &text[root.span.end..];
            let rest = rest.strip_prefix(line_end(&text)).unwrap_or(rest);
            text = format!("{}{rest}", &text[..root.span.start]);
            break;
        };
        let Some(parent) = root.node_at(around) else { break };
        let Some(at) = parent.position(key) else { break };
        text = without(&text, parent, at);
    }
    Ok(text)
}
