//! Tables put at the end of a TOML file and taken out again.

use serde_json::Value;

use super::{EditError, line_end};

/// The file as values.
pub(crate) fn parse(text: &str) -> Result<toml::Table, EditError> {
    text.trim_start_matches('\u{feff}').parse().map_err(|error: toml::de::Error| {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        match error.span() {
            Some(span) => EditError::at(text, span.start + mark, error.message()),
            None => EditError::of_whole_file(error.message()),
        }
    })
}

/// The value at the end of a path, as JSON.
pub(crate) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, EditError> {
    let root = Value::from_iter([("root", serde_json::to_value(parse(text)?).unwrap_or_default())]);
    Ok(path.iter().try_fold(&root["root"], |value, key| value.get(*key)).cloned())
}

/// The lines of a table: `[a.b]` or, for one of many, `[[a]]`.
pub(crate) fn block(path: &[&str], many: bool, value: &Value) -> Vec<String> {
    let name = path.join(".");
    let mut lines = vec![if many { format!("[[{name}]]") } else { format!("[{name}]") }];
    for (key, value) in value.as_object().into_iter().flatten() {
        lines.push(format!("{key} = {}", inline(value)));
    }
    lines
}

/// A value on one line. A JSON text is a TOML text, but for the escapes of rare characters, which `\u` spells.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::String(text) => Value::from(text.as_str()).to_string().replace('\u{7f}', "\\u007f"),
        other => other.to_string(),
    }
}

/// Adds a table at the end. The caller has looked whether it is there already.
pub(crate) fn append(text: &str, path: &[&str], many: bool, value: &Value) -> Result<String, EditError> {
    let old = parse(text)?;
    let end = line_end(text);
    let gap = if text.trim_start_matches('\u{feff}').is_empty() { "" } else { end };
    let new = format!("{text}{gap}{}{end}", block(path, many, value).join(end));
    let fits = parse(&new).is_ok_and(|new| {
        let value = toml::Value::try_from(value).ok();
        let mut expected = old;
        value.is_some_and(|value| insert(&mut expected, path, many, value)) && new == expected
    });
    if fits {
        Ok(new)
    } else {
        Err(EditError::of_whole_file(format!("`{}` is written in another way there", path.join("."))))
    }
}

fn insert(table: &mut toml::Table, path: &[&str], many: bool, value: toml::Value) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    match (rest.is_empty(), many) {
        (true, false) => table.insert((*first).to_owned(), value).is_none(),
        (true, true) => {
            let list = table.entry((*first).to_owned()).or_insert_with(|| toml::Value::Array(Vec::new()));
            list.as_array_mut().map(|list| list.push(value)).is_some()
        }
        _ => {
            let inner =
                table.entry((*first).to_owned()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            inner.as_table_mut().is_some_and(|inner| insert(inner, rest, many, value))
        }
    }
}

/// Removes the tables of this path that `is_ours` names, with the tables below them and the blank line before.
pub(crate) fn remove(
    text: &str,
    path: &[&str],
    many: bool,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<String, EditError> {
    let old = parse(text)?;
    let mut new = text.to_owned();
    for piece in pieces(text).into_iter().rev() {
        let header = text[piece.start..].lines().next().unwrap_or_default().trim();
        let named = header.trim_start_matches('[').split(']').next().unwrap_or_default();
        let words: Vec<String> =
            named.split('.').map(|word| word.trim().trim_matches(['"', '\'']).to_owned()).collect();
        let below = words.len() > path.len() && !many;
        let exact = words.len() == path.len() && header.starts_with("[[") == many;
        let on_path = words.iter().zip(path).all(|(word, key)| word == key);
        let parsed = || parse(&text[piece.start..piece.end]).ok().and_then(|t| serde_json::to_value(t).ok());
        let value = || path.iter().try_fold(parsed()?, |value, key| value.get(*key).cloned());
        let ours = || match value() {
            Some(Value::Array(list)) => list.first().is_some_and(is_ours),
            Some(value) => is_ours(&value),
            None => false,
        };
        if on_path && (below || (exact && ours())) {
            let end = line_end(text);
            let before = new[..piece.start].strip_suffix(end);
            let gap = before.is_some_and(|b| b.ends_with('\n') || piece.end == new.len());
            new.replace_range(piece.start - if gap { end.len() } else { 0 }..piece.end, "");
        }
    }
    let fits = parse(&new).is_ok_and(|new| pruned(&new, path) == pruned_without(&old, path, many, is_ours));
    if fits {
        Ok(new)
    } else {
        Err(EditError::of_whole_file(format!("`{}` is written in another way there", path.join("."))))
    }
}

/// Gives a key of a table that stands there another value.
pub(crate) fn set(text: &str, path: &[&str], key: &str, value: &Value) -> Result<String, EditError> {
    let other_way =
        || EditError::of_whole_file(format!("`{}` is written in another way there", path.join(".")));
    let mut expected = parse(text)?;
    let holder = path.iter().try_fold(&mut expected, |t, key| t.get_mut(*key)?.as_table_mut());
    let value = (inline(value), toml::Value::try_from(value).map_err(|_| other_way())?);
    let is_new = holder.ok_or_else(other_way)?.insert(key.to_owned(), value.1).is_none();
    for piece in pieces(text) {
        let mut at = piece.start;
        for line in text[piece.start..piece.end].split_inclusive('\n') {
            let name = line.split('=').next().unwrap_or_default().trim();
            let content = line.trim_end_matches(['\r', '\n']);
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let (from, words) = match name {
                name if name == key => (at, format!("{key} = {}", value.0)),
                // A key that is not there yet stands behind the program.
                "command" if is_new => (at + content.len(), format!("{end}{key} = {}", value.0)),
                _ => {
                    at += line.len();
                    continue;
                }
            };
            let mut new = text.to_owned();
            new.replace_range(from..at + content.len(), &words);
            if parse(&new).is_ok_and(|new| new == expected) {
                return Ok(new);
            }
            at += line.len();
        }
    }
    Err(other_way())
}

/// A table with its lines, without blank lines and comments behind the last of them.
struct TableLines {
    start: usize,
    end: usize,
}

fn pieces(text: &str) -> Vec<TableLines> {
    let mut found: Vec<TableLines> = Vec::new();
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    for line in text[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim();
        if content.starts_with('[') && is_header(content) {
            found.push(TableLines { start, end: at });
        } else if !content.is_empty() && !content.starts_with('#') {
            found.iter_mut().last().into_iter().for_each(|piece| piece.end = at);
        }
    }
    found
}

/// A line such as `[a.b]`, and not one of a list that goes on over lines.
fn is_header(line: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default().trim_end();
    line.ends_with(']') && !line.contains(',') && !line.trim_matches(['[', ']']).trim().is_empty()
}

fn pruned(table: &toml::Table, path: &[&str]) -> toml::Table {
    let mut table = table.clone();
    prune(&mut table, path);
    table
}

fn prune(table: &mut toml::Table, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    let empty = match table.get_mut(*first) {
        Some(toml::Value::Table(inner)) => {
            prune(inner, rest);
            inner.is_empty()
        }
        Some(toml::Value::Array(list)) => list.is_empty(),
        _ => false,
    };
    if empty {
        table.remove(*first);
    }
}

fn pruned_without(
    table: &toml::Table,
    path: &[&str],
    many: bool,
    is_ours: &dyn Fn(&Value) -> bool,
) -> toml::Table {
    let mut table = table.clone();
    if let Some((last, around)) = path.split_last() {
        let holder = around.iter().try_fold(&mut table, |t, key| t.get_mut(*key)?.as_table_mut());
        let ours = |value: &toml::Value| serde_json::to_value(value).is_ok_and(|value| is_ours(&value));
        if let Some(holder) = holder {
            match holder.get_mut(*last) {
                Some(toml::Value::Array(list)) if many => list.retain(|value| !ours(value)),
                Some(value) if !many && ours(value) => _ = holder.remove(*last),
                _ => {}
            }
        }
    }
    prune(&mut table, path);
    table
}
