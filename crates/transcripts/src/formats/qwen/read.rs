//! The full read of a session.

use std::borrow::Cow;
use std::path::Path;

use super::todos;
use crate::event::{Event, SourcePosition, TranscriptInfo, Usage};
use crate::formats::gemini::message;
use crate::report::Report;
use crate::shared::chain::Links;
use crate::shared::emit::EventEmitter;
use crate::shared::json::{Json, join};
use crate::shared::{call, plan, sidecar};

/// Everything is linked, also what is not conversation.
const LINKS: Links = Links { by_id: false, of: |_| true };

/// Reads a session.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let mut planned = false;
    emitter.each_linked(path, LINKS, &mut |emitter, json| record(emitter, json, &mut planned));
    if !planned && let Some(path) = todos(path) {
        let text = sidecar::text(&path);
        (emitter.position, emitter.at_ms, emitter.subagent) = (SourcePosition::default(), None, None);
        emitter.plan(plan::of(sidecar::json(&text).get("todos")));
    }
    emitter.finish()
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>, planned: &mut bool) {
    let agent = json.get("agentId").str().or(is_side(json).then_some("sidechain"));
    emitter.subagent = agent.map(str::to_owned);
    let field = |key| json.get(key).str().map(Cow::Borrowed);
    emitter.session(TranscriptInfo {
        id: field("sessionId"),
        cwd: field("cwd"),
        branch: field("gitBranch"),
        model: field("model"),
        version: field("version"),
        commit: None,
    });
    match json.get("type").str().unwrap_or_default() {
        "user" => emitter.user(&prompt(json)),
        "assistant" => assistant(emitter, json, planned),
        "tool_result" => results(emitter, json),
        "system" => system(emitter, json),
        name => emitter.unknown_type(name),
    }
}

/// Whether a sub-agent wrote this line.
pub(super) fn is_side(json: &Json<'_>) -> bool {
    json.get("isSidechain").is_true() || !json.get("agentId").is_null()
}

/// What the user said; nothing where the harness speaks in the user's place.
pub(super) fn prompt<'a>(json: &'a Json<'a>) -> Cow<'a, str> {
    if !matches!(json.get("subtype").str(), None | Some("mid_turn_user_message")) {
        return Cow::Borrowed("");
    }
    match json.at_path(&["systemPayload", "displayText"]).str() {
        Some(shown) => Cow::Borrowed(shown),
        None => message::prompt(json.at_path(&["message", "parts"])),
    }
}

fn assistant(emitter: &mut EventEmitter<'_>, json: &Json<'_>, planned: &mut bool) {
    for (at, part) in json.at_path(&["message", "parts"]).items().iter().enumerate() {
        match (part.get("text").str(), part.get("functionCall")) {
            (Some(text), _) if part.get("thought").is_true() => emitter.thinking(text),
            (Some(text), _) => emitter.assistant(text),
            (None, Json::Null) => {}
            (None, one) => {
                let nameless = format!("{}/{at}", json.get("uuid").str().unwrap_or_default());
                let (id, name) =
                    (one.get("id").str().unwrap_or(&nameless), one.get("name").str().unwrap_or_default());
                let plan = call::plan(name, one.get("args"));
                *planned |= plan.is_some();
                emitter.call(call::call(id, name, one.get("args")));
                emitter.plan(plan);
            }
        }
    }
    emitter.spend(usage(json.get("usageMetadata")));
}

fn results(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let result = json.get("toolCallResult");
    let parts = json.at_path(&["message", "parts"]).items().iter().map(|part| part.get("functionResponse"));
    for response in parts.filter(|response| !response.is_null()) {
        let id = response.get("id").str().or(result.get("callId").str()).unwrap_or_default();
        let output = response.get("response").first(&["output", "error"]).unwrap_or_default();
        let ok = match result.get("status").str() {
            Some("success") => Some(true),
            Some(_) => Some(false),
            None => Some(response.at_path(&["response", "error"]).is_null()),
        };
        let ended = message::call_end(emitter, id, ok, output, result.get("resultDisplay"));
        emitter.end_call(ended);
    }
}

fn system(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let event = json.at_path(&["systemPayload", "uiEvent"]);
    if event.get("event.name").str().is_some_and(|name| name.ends_with("api_error")) {
        return emitter.provider_error(event.first(&["error_message", "error"]).unwrap_or_default());
    }
    if json.get("subtype").str() != Some("chat_compression") {
        return;
    }
    let history = json.at_path(&["systemPayload", "compressedHistory"]).items();
    let summary =
        history.iter().map(|one| one.get("parts").text()).find(|text| text.contains("<state_snapshot>"));
    let message =
        || join(history.iter().filter_map(|one| one.get("parts").items().first()?.get("text").str()).take(1));
    let text = summary.unwrap_or_else(message);
    emitter.compaction(if text.is_empty() {
        "The tool keeps no summary of what it compacted."
    } else {
        &text
    });
}

/// Token use of one message. Cached input is part of the input there; here it is apart.
fn usage(usage: &Json<'_>) -> Usage {
    let count = |key| usage.get(key).count();
    Usage {
        input: count("promptTokenCount").saturating_sub(count("cachedContentTokenCount")),
        cache_read: count("cachedContentTokenCount"),
        cache_write: 0,
        output: count("candidatesTokenCount"),
    }
}
