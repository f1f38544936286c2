//! The log of the user interface, `wire.jsonl`: read where the messages as the model sees them are not beside it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::read::WIRE;
use crate::event::{Event, EventKind};
use crate::report::Report;
use crate::shared::call;
use crate::shared::emit::{EventEmitter, Speaker, ToolResult};
use crate::shared::json::Json;

/// The messages beside a log; nothing where the path is no log or none are there.
pub(super) fn context_beside(path: &Path) -> Option<PathBuf> {
    let context = path.with_file_name("context.jsonl");
    (path.file_name()? == WIRE && context.is_file()).then_some(context)
}

/// Whether a record is one of this log.
pub(super) fn is_record(json: &Json<'_>) -> bool {
    let kind = json.at_path(&["message", "type"]).str();
    json.get("timestamp").time().is_some() && kind.is_some_and(|kind| KINDS.contains(&kind))
}

const KINDS: &[&str] = &[
    "TurnBegin",
    "SteerInput",
    "TurnEnd",
    "StepBegin",
    "ContentPart",
    "ToolCall",
    "ToolCallPart",
    "ToolResult",
    "StatusUpdate",
];

/// A call whose arguments come in parts.
#[derive(Debug, Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
}

/// Reads a log.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let mut open: Option<PartialCall> = None;
    emitter.each_line(path, &mut |emitter, json| {
        let message = json.get("message");
        emitter.at_ms = json.get("timestamp").time().or(emitter.at_ms);
        record(emitter, message.get("type").str().unwrap_or_default(), message.get("payload"), &mut open);
    });
    flush(&mut emitter, &mut open);
    emitter.finish()
}

fn record(emitter: &mut EventEmitter<'_>, kind: &str, payload: &Json<'_>, open: &mut Option<PartialCall>) {
    if kind == "ToolCallPart" {
        let part = payload.get("arguments_part").str().unwrap_or_default();
        return open.iter_mut().for_each(|call| call.arguments.push_str(part));
    }
    if !matches!(kind, "StatusUpdate" | "") {
        flush(emitter, open);
    }
    match kind {
        "SteerInput" => {
            emitter.send(EventKind::Steering);
            emitter.user(&payload.get("user_input").text());
        }
        "TurnBegin" => emitter.user(&payload.get("user_input").text()),
        "ContentPart" => match payload.get("type").str() {
            Some("text") => {
                emitter.piece(Speaker::Assistant, "text", payload.get("text").str().unwrap_or_default())
            }
            Some("think") => {
                emitter.piece(Speaker::Thinking, "think", payload.get("think").str().unwrap_or_default())
            }
            _ => {}
        },
        "ToolCall" => {
            let function = payload.get("function");
            let text_of = |json: &Json<'_>| json.str().unwrap_or_default().to_owned();
            *open = Some(PartialCall {
                id: text_of(payload.get("id")),
                name: text_of(function.get("name")),
                arguments: text_of(function.get("arguments")),
            });
        }
        "ToolResult" => result(emitter, payload),
        _ => {}
    }
}

fn flush(emitter: &mut EventEmitter<'_>, open: &mut Option<PartialCall>) {
    let Some(whole) = open.take() else { return };
    let arguments = Json::parse(&whole.arguments).unwrap_or(Json::Null);
    emitter.call_with(call::call(&whole.id, &whole.name, &arguments), &arguments);
}

fn result(emitter: &mut EventEmitter<'_>, payload: &Json<'_>) {
    let value = payload.get("return_value");
    let ok = match value.get("is_error") {
        Json::Bool(failed) => Some(!failed),
        _ => None,
    };
    let message = value.get("message").str().unwrap_or_default();
    let printed = value.get("output").text();
    let output = if printed.trim().is_empty() { Cow::Borrowed(message) } else { printed };
    let code = crate::shared::shell::told_exit(message);
    let id = payload.get("tool_call_id").str().unwrap_or_default();
    emitter.end_call(ToolResult { id, ok, code, output, edits: Vec::new() });
}
