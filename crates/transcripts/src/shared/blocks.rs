//! Messages made of text, tool calls and tool results, as several agents keep them in the words of one API.

use std::borrow::Cow;

use crate::event::Edit;
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;

/// Emits the blocks of an agent's message; a plain string is a block of text.
pub(crate) fn assistant(emitter: &mut EventEmitter<'_>, content: &Json<'_>) {
    emitter.assistant(content.str().unwrap_or_default());
    for (at, block) in content.items().iter().enumerate() {
        match block.get("type").str() {
            Some("text" | "output_text") => emitter.assistant(block.get("text").str().unwrap_or_default()),
            Some("thinking") => emitter.thinking(block.get("thinking").str().unwrap_or_default()),
            Some("tool_use") => {
                // Some transcripts give calls no ids.
                let nameless = format!("line {}/{at}", emitter.position.line);
                let (name, args) = (block.get("name").str().unwrap_or_default(), block.get("input"));
                emitter.call(call::call(block.get("id").str().unwrap_or(&nameless), name, args));
                emitter.plan(call::plan(name, args));
            }
            _ => {}
        }
    }
}

/// Emits the results in a message; one without an id belongs to the oldest open call.
pub(crate) fn results(emitter: &mut EventEmitter<'_>, content: &Json<'_>) {
    for block in content.items().iter().filter(|block| block.get("type").str() == Some("tool_result")) {
        let oldest = || emitter.waiting().map(|open| open.id.clone());
        let id = block.get("tool_use_id").str().map(str::to_owned).or_else(oldest).unwrap_or_default();
        let output = block.get("content").text();
        let failed = block.get("is_error").is_true() || output.trim_start().starts_with("<tool_use_error>");
        emitter.end_call(ToolResult {
            id: &id,
            ok: Some(!failed),
            code: None,
            output,
            edits: Vec::<Edit>::new(),
        });
    }
}

/// The text of a message without blocks that the harness put there.
pub(crate) fn message_text<'a>(content: &'a Json<'a>, injected: &[&str]) -> Cow<'a, str> {
    let own = |text: &&str| !injected.iter().any(|start| text.trim_start().starts_with(start));
    let parts =
        content.items().iter().filter(|block| block.get("type").str().is_none_or(|name| name == "text"));
    let parts = parts.filter_map(|block| block.get("text").str().or(block.str())).filter(own);
    match content.str() {
        Some(text) => Cow::Borrowed(Some(text).filter(|text| own(text)).unwrap_or_default()),
        None => crate::shared::json::join(parts),
    }
}
