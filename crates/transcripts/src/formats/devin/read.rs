//! A session of Devin's database: its header and the full read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use crate::event::{Category, Event, TranscriptInfo};
use crate::header::{Header, TranscriptFile};
use crate::report::Report;
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::sqlite::devin::{self as table, Node};
use crate::sqlite::{self, Cell, Db, Fault};

/// Reads a header.
pub(super) fn header(found: &TranscriptFile, id: &str) -> Header {
    sqlite::header(found, |db, header| {
        let Some(session) = table::session(db, id)? else { return Ok(()) };
        header.model = session.model;
        header.cwd = session.directory;
        header.title = session.title;
        header.created_at_ms = session.created_ms;
        header.updated_at_ms = session.updated_ms.or(header.updated_at_ms);
        let nodes = conversation(table::nodes(db, id)?);
        header.empty = nodes.is_empty();
        let prompt = nodes.iter().find_map(|node| {
            let Cell::Text(text) = &node.message else { return None };
            let message = Json::parse(text).ok().filter(|json| json.get("role").str() == Some("user"))?;
            Some(message.get("content").text().into_owned()).filter(|text| !text.trim().is_empty())
        });
        prompt.into_iter().for_each(|prompt| header.set_first_prompt(&prompt));
        Ok(())
    })
}

/// Reads the session of this key, or the newest.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    table::SESSIONS.read(&mut emitter, path, key, session);
    emitter.finish()
}

fn session(emitter: &mut EventEmitter<'_>, db: &Db, id: &str) -> Result<(), Fault> {
    let Some(row) = table::session(db, id)? else { return Ok(()) };
    emitter.at_ms = row.created_ms;
    emitter.session(TranscriptInfo {
        id: Some(Cow::Borrowed(&row.id)),
        cwd: row.directory.as_deref().map(Cow::Borrowed),
        model: row.model.as_deref().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    for node in conversation(table::nodes(db, id)?) {
        if let Some(json) = emitter.stored(&node.message, node.created_ms) {
            message(emitter, &json);
        }
    }
    Ok(())
}

/// The messages from the first to the newest: those that were taken back hang on another branch of the tree.
/// Where the nodes do not name each other, all of them.
fn conversation(nodes: Vec<Node>) -> Vec<Node> {
    let by_id: HashMap<&str, usize> =
        nodes.iter().enumerate().filter_map(|(at, node)| Some((node.id.as_deref()?, at))).collect();
    let Some(last) = nodes.len().checked_sub(1) else { return nodes };
    let mut is_told = vec![false; nodes.len()];
    let mut next = Some(last);
    while let Some(at) = next.filter(|at| !std::mem::replace(&mut is_told[*at], true)) {
        next = nodes[at].parent.as_deref().and_then(|parent| by_id.get(parent).copied());
    }
    if nodes[last].parent.is_none() {
        return nodes;
    }
    nodes.into_iter().zip(is_told).filter_map(|(node, is_told)| is_told.then_some(node)).collect()
}

fn message(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let text = json.get("content").text();
    match json.get("role").str().unwrap_or_default() {
        "user" => emitter.user(&text),
        "assistant" => {
            emitter.thinking(&json.get("thinking").text());
            emitter.assistant(&text);
            json.get("tool_calls").items().iter().for_each(|one| tool_call(emitter, one));
        }
        "tool" => result(emitter, json, text),
        "system" | "developer" => {}
        name => emitter.unknown_type(name),
    }
}

/// A call in the shape of OpenAI's API, or with name and arguments beside its id.
fn tool_call(emitter: &mut EventEmitter<'_>, one: &Json<'_>) {
    let function = if one.get("function").is_null() { one } else { one.get("function") };
    let raw = function.get("arguments");
    let parsed = raw.str().and_then(|text| Json::parse(text).ok());
    let arguments = parsed.as_ref().unwrap_or(raw);
    let name = function.get("name").str().unwrap_or_default();
    emitter.call_with(call::call(one.get("id").str().unwrap_or_default(), name, arguments), arguments);
}

fn result(emitter: &mut EventEmitter<'_>, json: &Json<'_>, output: Cow<'_, str>) {
    let oldest = || emitter.waiting().map(|open| open.id.clone());
    let id = json.get("tool_call_id").str().map(str::to_owned).or_else(oldest).unwrap_or_default();
    let failed = json.get("is_error").is_true() || output.trim_start().starts_with("Error");
    let is_shell = emitter.open(&id).is_some_and(|open| open.category == Category::Shell);
    let ok = if failed { Some(false) } else { (!is_shell).then_some(true) };
    emitter.end_call(ToolResult { id: &id, ok, code: None, output, edits: Vec::new() });
}
