//! The full read of a session: the main agent, then its sub-agents.

use std::borrow::Cow;
use std::path::Path;

use super::{Sidecar, subagents};
use crate::event::{Event, EventKind, Session, Usage};
use crate::report::{Report, kind};
use crate::shared::emit::{CallEnd, EventEmitter, Speaker};
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
    let origin = message.at(&["origin", "kind"]).str().unwrap_or("user");
    let text = message.get("content").text();
    origin == "user"
        && !text.trim_start().starts_with("<system-reminder>")
        && !text.trim_start().starts_with("<system>")
}

/// Reads a session with its sub-agents.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut tell = EventEmitter::new(sink);
    let about = Sidecar::of(path);
    let mut news =
        Some(Session { id: about.id.map(Cow::Owned), cwd: about.cwd.map(Cow::Owned), ..Session::default() });
    tell.each_line(path, &mut |tell, json| {
        news.take().into_iter().for_each(|news| tell.session(news));
        record(tell, json);
    });
    for (agent, path) in subagents(path) {
        tell.switch(agent);
        tell.each_line(&path, &mut |tell, json| record(tell, json));
    }
    tell.finish()
}

fn record(tell: &mut EventEmitter<'_>, json: &Json<'_>) {
    let name = json.get("type").str().unwrap_or_default();
    if json.get("kind").str() == Some("event") {
        return;
    }
    match name {
        "config.update" | "profile.bind" => config(tell, json),
        "context.append_message" => message(tell, json.get("message")),
        "context.append_loop_event" => step(tell, json.get("event")),
        "context.apply_compaction" => {
            tell.compaction(json.first(&["summary", "content"]).unwrap_or_default())
        }
        "tools.update_store" if json.get("key").str() == Some("todo") => {
            tell.plan(plan::of(json.get("value")))
        }
        "usage.record" => usage(tell, json),
        "turn.ended" if matches!(json.get("reason").str(), Some("cancelled" | "aborted" | "interrupted")) => {
            tell.send(EventKind::Interrupted);
        }
        "turn.cancel" => tell.send(EventKind::Interrupted),
        name if KNOWN.iter().any(|known| name.starts_with(known)) => {}
        _ => tell.complain(kind::UNKNOWN_TYPE),
    }
}

fn config(tell: &mut EventEmitter<'_>, json: &Json<'_>) {
    let said = |key| json.get(key).str().map(Cow::Borrowed);
    tell.session(Session {
        cwd: said("cwd"),
        model: said("modelId").or(said("model")),
        ..Session::default()
    });
}

fn message(tell: &mut EventEmitter<'_>, message: &Json<'_>) {
    let content = message.get("content");
    match message.get("role").str() {
        Some("user") if is_prompt(message) => tell.user(&content.text()),
        Some("assistant") => {
            content.items().iter().for_each(|one| part(tell, one));
            tell.assistant(content.str().unwrap_or_default());
            for one in message.get("toolCalls").items() {
                tool(tell, one, one.get("arguments"));
            }
        }
        Some("tool") => tell.end_call(CallEnd {
            id: message.get("toolCallId").str().unwrap_or_default(),
            ok: Some(!message.get("isError").is_true()),
            output: content.text(),
            ..CallEnd::default()
        }),
        _ => {}
    }
}

fn step(tell: &mut EventEmitter<'_>, event: &Json<'_>) {
    match event.get("type").str() {
        Some("content.part") => {
            // A long answer is written down in pieces.
            let (part, key) = (event.get("part"), event.first(&["stepUuid", "turnId"]).unwrap_or_default());
            match part.get("type").str() {
                Some("text") => {
                    tell.piece(Speaker::Assistant, key, part.get("text").str().unwrap_or_default())
                }
                Some("think") => {
                    tell.piece(Speaker::Thinking, key, part.first(&["think", "text"]).unwrap_or_default());
                }
                _ => {}
            }
        }
        Some("tool.call") => tool(tell, event, event.get("args")),
        Some("tool.result") => {
            let result = event.get("result");
            let output = match result.get("output") {
                Json::Null => result.text(),
                output => output.text(),
            };
            let ok = Some(!result.get("isError").is_true());
            tell.end_call(CallEnd {
                id: event.get("toolCallId").str().unwrap_or_default(),
                ok,
                output,
                ..CallEnd::default()
            });
        }
        _ => {}
    }
}

fn part(tell: &mut EventEmitter<'_>, part: &Json<'_>) {
    match part.get("type").str() {
        Some("text") => tell.assistant(part.get("text").str().unwrap_or_default()),
        Some("think") => tell.thinking(part.first(&["think", "text"]).unwrap_or_default()),
        _ => {}
    }
}

fn tool(tell: &mut EventEmitter<'_>, one: &Json<'_>, raw: &Json<'_>) {
    let parsed = raw.str().and_then(|text| Json::parse(text).ok());
    let args = parsed.as_ref().unwrap_or(raw);
    let (id, name) =
        (one.first(&["toolCallId", "id"]).unwrap_or_default(), one.get("name").str().unwrap_or_default());
    tell.call(call::call(id, name, args));
    tell.plan(call::plan(name, args));
}

fn usage(tell: &mut EventEmitter<'_>, json: &Json<'_>) {
    tell.session(Session { model: json.get("model").str().map(Cow::Borrowed), ..Session::default() });
    let count = |key| json.at(&["usage", key]).count();
    tell.spend(Usage {
        input: count("inputOther"),
        cache_read: count("inputCacheRead"),
        cache_write: count("inputCacheCreation"),
        output: count("output"),
    });
}
