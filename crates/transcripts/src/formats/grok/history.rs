//! What the model saw: a row for each message, call or result. No row has a time, and none says whether a call failed.

use std::borrow::Cow;

use crate::event::{Call, Category};
use crate::header::Header;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::{call, harness, heading, tool, typed};

/// Whether a line is one of these rows. Those of the first version have the shape that other tools write, and are known by what
/// their prompt begins with.
pub(super) fn is_row(json: &Json<'_>) -> bool {
    let has = |key| !json.get(key).is_null();
    match json.get("type").str() {
        Some("user") => has("content") && (has("prompt_index") || has("synthetic_reason")),
        Some("assistant") => has("model_id") && !has("message"),
        Some("tool_result") => has("tool_call_id") && has("content"),
        Some("backend_tool_call") => json.at_path(&["kind", "tool_type"]).str().is_some(),
        Some(_) => false,
        None => {
            json.get("role").str() == Some("system") && json.get("content").text().starts_with("You are Grok")
        }
    }
}

/// What a row is.
fn kind<'j>(json: &'j Json<'j>) -> &'j str {
    match json.first(&["type", "role"]) {
        Some("tool") => "tool_result",
        kind => kind.unwrap_or_default(),
    }
}

/// What the user wrote, out of what the tool puts around it.
fn prompt(json: &Json<'_>) -> Option<String> {
    let reason = json.get("synthetic_reason").str();
    if reason.is_some_and(|reason| reason != "interjection") {
        return None;
    }
    let text = json.get("content").text();
    let own = typed::element(&text, "user_query").unwrap_or_else(|| harness::own_words(&text));
    Some(own.to_owned()).filter(|own| !own.trim().is_empty())
}

/// Takes what a row says into a header.
pub(super) fn look(json: &Json<'_>, header: &mut Header) {
    match kind(json) {
        "user" => prompt(json).into_iter().for_each(|prompt| heading::prompt(header, &prompt)),
        "assistant" => {
            header.empty = false;
            heading::keep(&mut header.model, json.get("model_id").str());
        }
        _ => {}
    }
}

/// Reads a row.
pub(super) fn row(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    match kind(json) {
        "system" => {}
        "user" => prompt(json).into_iter().for_each(|prompt| emitter.user(&prompt)),
        "reasoning" => {
            emitter.thinking(&json.get("summary").text());
            emitter.thinking(&json.get("content").text());
        }
        "assistant" => assistant(emitter, json),
        "tool_result" => result(emitter, json),
        "backend_tool_call" => backend(emitter, json.get("kind")),
        name => emitter.unknown_type(name),
    }
}

fn assistant(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    emitter.model(json.get("model_id").str());
    emitter.thinking(json.get("reasoning_content").str().unwrap_or_default());
    emitter.assistant(&json.get("content").text());
    for one in json.get("tool_calls").items() {
        let function = if one.get("function").is_null() { one } else { one.get("function") };
        let raw = function.get("arguments");
        let parsed = raw.str().and_then(|text| Json::parse(text).ok());
        let args = parsed.as_ref().unwrap_or(raw);
        let name = function.get("name").str().unwrap_or_default();
        emitter.call_with(call::call(one.get("id").str().unwrap_or_default(), name, args), args);
    }
}

/// The end of a call. Whether it failed shows in its first words only; a command's in its exit code.
fn result(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    const FAILURES: &[&str] = &["error", "failed", "no match"];
    let id = json.get("tool_call_id").str().unwrap_or_default();
    let output = json.get("content").text();
    let is_shell = emitter.open(id).is_none_or(|open| open.category == Category::Shell);
    let start: String = output.trim_start().chars().take(16).collect::<String>().to_lowercase();
    let failed = FAILURES.iter().any(|word| start.starts_with(word));
    let ok = if is_shell { None } else { Some(!failed) };
    emitter.end_call(ToolResult { id, ok, output, ..ToolResult::default() });
}

/// A call that the provider made, with its end.
fn backend(emitter: &mut EventEmitter<'_>, call: &Json<'_>) {
    let (id, name) =
        (call.get("id").str().unwrap_or_default(), call.get("tool_type").str().unwrap_or_default());
    let target = call.get("action").first(&["query", "url", "pattern"]).or(call.first(&["input", "code"]));
    emitter.call(Call {
        id: Cow::Borrowed(id),
        name: Cow::Borrowed(name),
        category: tool::category(name),
        target: Cow::Borrowed(target.unwrap_or_default()),
        ..Call::default()
    });
    let ok = match call.get("status").str() {
        Some("completed") => Some(true),
        Some("failed") => Some(false),
        _ => None,
    };
    emitter.end_call(ToolResult { id, ok, ..ToolResult::default() });
}
