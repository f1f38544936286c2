//! The blocks of an answer.

use std::borrow::Cow;

use crate::event::{Call, Category, Edit};
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;

/// Sub-agents may have sub-agents, but not without end.
const MAX_DEPTH: usize = 8;

/// Emits blocks in order; those of a sub-agent stand within its own.
pub(super) fn blocks(emitter: &mut EventEmitter<'_>, blocks: &[Json<'_>], depth: usize) {
    for block in blocks {
        let content = block.get("content").str().unwrap_or_default();
        match block.get("type").str().unwrap_or_default() {
            "text" if block.get("textType").str() == Some("reasoning") => emitter.thinking(content),
            "text" | "plan" => emitter.assistant(content),
            "tool" => tool(emitter, block),
            "agent" => agent(emitter, block, depth),
            "ask-user" => question(emitter, block),
            "mode-divider" | "image" | "html" | "agent-list" | "sponsored-proposal" => {}
            name => emitter.unknown_type(name),
        }
    }
}

fn tool(emitter: &mut EventEmitter<'_>, block: &Json<'_>) {
    let (id, name) = (block.get("toolCallId").str().unwrap_or_default(), block.get("toolName").str());
    let input = block.get("input");
    emitter.call_with(call::call(id, name.unwrap_or_default(), input), input);
    let output = block.get("output");
    if output.is_null() {
        return;
    }
    // A result is a value, a list of one, or such a value as text.
    let parsed = output.str().and_then(|text| Json::parse(text).ok());
    let whole = parsed.as_ref().unwrap_or(output);
    let value = match whole.items().first() {
        Some(first) => first.get("value"),
        None => whole,
    };
    let shell = emitter.open(id).is_some_and(|open| open.category == Category::Shell);
    let code = value.get("exitCode").int();
    let error = value.first(&["errorMessage", "error"]);
    let ok = match error {
        Some(_) => Some(false),
        None => (!shell).then_some(true),
    };
    let printed = ["stdout", "stderr"].iter().filter_map(|key| value.get(key).str()).map(str::trim_end);
    let printed: Vec<&str> = printed.chain(error).collect();
    let output = match printed.is_empty() {
        true => Cow::Borrowed(value.first(&["message", "content"]).or(output.str()).unwrap_or_default()),
        false => Cow::Owned(printed.join("\n")),
    };
    emitter.end_call(ToolResult { id, ok, code, output, edits: Vec::<Edit>::new() });
}

/// A sub-agent: the call that began it, what it did, and what it said in the end.
fn agent(emitter: &mut EventEmitter<'_>, block: &Json<'_>, depth: usize) {
    let id = block.first(&["agentId", "agentType"]).unwrap_or_default();
    let name = block.first(&["agentType", "agentName"]).unwrap_or_default();
    let prompt = block.first(&["initialPrompt", "agentName"]).unwrap_or_default();
    emitter.call(Call {
        id: Cow::Borrowed(id),
        name: Cow::Borrowed(name),
        category: Category::Task,
        target: Cow::Borrowed(prompt),
        ..Call::default()
    });
    if depth < MAX_DEPTH {
        let outer = emitter.subagent.replace(id.to_owned());
        blocks(emitter, block.get("blocks").items(), depth + 1);
        emitter.subagent = outer;
    }
    let ok = match block.get("status").str() {
        Some("complete") => Some(true),
        Some("failed" | "cancelled") => Some(false),
        _ => return,
    };
    let output = Cow::Borrowed(block.get("content").str().unwrap_or_default());
    emitter.end_call(ToolResult { id, ok, code: None, output, edits: Vec::new() });
}

/// A question to the user with the answer.
fn question(emitter: &mut EventEmitter<'_>, block: &Json<'_>) {
    let questions = block.get("questions").items().iter().filter_map(|one| one.get("question").str());
    let questions: Vec<&str> = questions.collect();
    let id = block.get("toolCallId").str().unwrap_or("ask-user");
    emitter.call(Call {
        id: Cow::Borrowed(id),
        name: Cow::Borrowed("ask_user"),
        category: Category::Ask,
        target: Cow::Owned(questions.join("\n")),
        ..Call::default()
    });
    let answers = block.get("answers").items().iter();
    let replies: Vec<&str> = answers.filter_map(|one| one.first(&["selectedOption", "otherText"])).collect();
    if !replies.is_empty() || block.get("skipped").is_true() {
        let output = Cow::Owned(replies.join("\n"));
        emitter.end_call(ToolResult { id, ok: Some(true), code: None, output, edits: Vec::new() });
    }
}
