//! The full read of a session: the main agent, then its sub-agents.

use std::borrow::Cow;
use std::path::Path;

use super::{Sidecar, subagents};
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::report::Report;
use crate::shared::emit::{EventEmitter, Speaker, ToolResult};
use crate::shared::json::Json;
use crate::shared::{call, plan};

/// Types of records that distinguish this format from its predecessor.
const USED: &[&str] = &[
    "config.update",
    "context.append_message",
    "context.append_loop_event",
    "context.apply_compaction",
    "context.clear",
    "tools.update_store",
    "turn.prompt",
    "usage.record",
];
/// Families of records that tell nothing of use here, or what another record tells too.
const KNOWN: &[&str] = &[
    "agent.",
    "config.",
    "context.",
    "file_history.",
    "forked",
    "full_compaction.",
    "goal.",
    "hook.",
    "llm.",
    "mcp.",
    "metadata",
    "permission.",
    "plan_mode.",
    "profile.",
    "session.",
    "skill.",
    "step.",
    "subagent.",
    "swarm_mode.",
    "tool.",
    "tools.",
    "turn.",
    "usage.",
];

/// Whether a record of this type identifies the format.
pub(super) fn is_own(name: &str) -> bool {
    USED.contains(&name)
}

/// Whether a message was written by the user.
pub(super) fn is_prompt(message: &Json<'_>) -> bool {
    let origin = message.at_path(&["origin", "kind"]).str().unwrap_or("user");
    let text = message.get("content").text();
    origin == "user"
        && !text.trim_start().starts_with("<system-reminder>")
        && !text.trim_start().starts_with("<system>")
}

/// Reads a session with its sub-agents.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let about = Sidecar::of(path);
    let mut news = Some(TranscriptInfo {
        id: about.id.map(Cow::Owned),
        cwd: about.cwd.map(Cow::Owned),
        ..TranscriptInfo::default()
    });
    emitter.each_line(path, &mut |emitter, json| {
        news.take().into_iter().for_each(|news| emitter.session(news));
        record(emitter, json);
    });
    for (agent, path) in subagents(path) {
        emitter.switch(agent);
        emitter.each_line(&path, &mut |emitter, json| record(emitter, json));
    }
    emitter.finish()
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let name = json.get("type").str().unwrap_or_default();
    if json.get("kind").str() == Some("event") {
        return;
    }
    match name {
        "config.update" | "profile.bind" => config(emitter, json),
        "context.append_message" => message(emitter, json.get("message")),
        "context.append_loop_event" => step(emitter, json.get("event")),
        "context.apply_compaction" => {
            emitter.compaction(json.first(&["summary", "content"]).unwrap_or_default())
        }
        "tools.update_store" if json.get("key").str() == Some("todo") => {
            emitter.plan(plan::of(json.get("value")))
        }
        "usage.record" => usage(emitter, json),
        "turn.ended" if matches!(json.get("reason").str(), Some("cancelled" | "aborted" | "interrupted")) => {
            emitter.send(EventKind::Interrupted);
        }
        "turn.cancel" => emitter.send(EventKind::Interrupted),
        name if KNOWN.iter().any(|known| name.starts_with(known)) => {}
        name => emitter.unknown_type(name),
    }
}

fn config(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let field = |key| json.get(key).str().map(Cow::Borrowed);
    emitter.session(TranscriptInfo {
        cwd: field("cwd"),
        model: field("modelId").or(field("model")),
        ..TranscriptInfo::default()
    });
}

fn message(emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
    let content = message.get("content");
    match message.get("role").str() {
        Some("user") if is_prompt(message) => emitter.user(&content.text()),
        Some("assistant") => {
            content.items().iter().for_each(|one| part(emitter, one));
            emitter.assistant(content.str().unwrap_or_default());
            for one in message.get("toolCalls").items() {
                tool(emitter, one, one.get("arguments"));
            }
        }
        Some("tool") => emitter.end_call(ToolResult {
            id: message.get("toolCallId").str().unwrap_or_default(),
            ok: Some(!message.get("isError").is_true()),
            output: content.text(),
            ..ToolResult::default()
        }),
        _ => {}
    }
}

fn step(emitter: &mut EventEmitter<'_>, event: &Json<'_>) {
    match event.get("type").str() {
        Some("content.part") => {
            // A long answer is written down in pieces.
            let (part, key) = (event.get("part"), event.first(&["stepUuid", "turnId"]).unwrap_or_default());
            match part.get("type").str() {
                Some("text") => {
                    emitter.piece(Speaker::Assistant, key, part.get("text").str().unwrap_or_default())
                }
                Some("think") => {
                    emitter.piece(Speaker::Thinking, key, part.first(&["think", "text"]).unwrap_or_default());
                }
                _ => {}
            }
        }
        Some("tool.call") => tool(emitter, event, event.get("args")),
        Some("tool.result") => {
            let result = event.get("result");
            let output = match result.get("output") {
                Json::Null => result.text(),
                output => output.text(),
            };
            let ok = Some(!result.get("isError").is_true());
            emitter.end_call(ToolResult {
                id: event.get("toolCallId").str().unwrap_or_default(),
                ok,
                output,
                ..ToolResult::default()
            });
        }
        _ => {}
    }
}

fn part(emitter: &mut EventEmitter<'_>, part: &Json<'_>) {
    match part.get("type").str() {
        Some("text") => emitter.assistant(part.get("text").str().unwrap_or_default()),
        Some("think") => emitter.thinking(part.first(&["think", "text"]).unwrap_or_default()),
        _ => {}
    }
}

fn tool(emitter: &mut EventEmitter<'_>, one: &Json<'_>, raw: &Json<'_>) {
    let parsed = raw.str().and_then(|text| Json::parse(text).ok());
    let args = parsed.as_ref().unwrap_or(raw);
    let (id, name) =
        (one.first(&["toolCallId", "id"]).unwrap_or_default(), one.get("name").str().unwrap_or_default());
    emitter.call(call::call(id, name, args));
    emitter.plan(call::plan(name, args));
}

fn usage(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    emitter.session(TranscriptInfo {
        model: json.get("model").str().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    let count = |key| json.at_path(&["usage", key]).count();
    emitter.spend(Usage {
        input: count("inputOther"),
        cache_read: count("inputCacheRead"),
        cache_write: count("inputCacheCreation"),
        output: count("output"),
    });
}
