//! Tool calls in the words of the editor.

use std::borrow::Cow;

use crate::event::{Category, Change, Edit, Outcome};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::shell;

/// A call with what came of it, as a bubble holds both.
pub(super) fn tool_call(emitter: &mut EventEmitter<'_>, data: &Json<'_>, fallback_id: &str) {
    let Some(name) = data.get("name").str() else { return };
    let id = data.first(&["toolCallId", "modelCallId"]).unwrap_or(fallback_id);
    let raw = parsed(data.get("rawArgs"));
    let params = parsed(data.get("params"));
    // The arguments as the model gave them say more; where there are none, those that the editor made of them.
    let input = if raw.fields().is_empty() { &params } else { &raw };
    let mut call = call::call(id, name, input);
    if call.target.is_empty() {
        call.target = call::call(id, name, &params).target.into_owned().into();
    }
    let category = call.category.clone();
    let requested = call.edits.clone();
    emitter.call_with(call, input);
    let result = parsed(data.get("result"));
    let status = data.get("status").str().unwrap_or_default();
    let output = result.first(&["output", "contents", "error", "message"]).unwrap_or_default();
    let output = if output.is_empty() { data.first(&["error"]).unwrap_or_default() } else { output };
    if matches!(status, "loading" | "pending" | "running" | "") && result.is_null() {
        return;
    }
    let reported = result.get("exitCodeV2").int().or(result.get("exitCode").int());
    let exit_code =
        (category == Category::Shell).then(|| reported.or_else(|| shell::told_exit(output))).flatten();
    let refused = matches!(status, "error" | "cancelled" | "rejected") || result.get("rejected").is_true();
    let ok = match (refused, exit_code) {
        (true, _) => Some(false),
        (_, Some(code)) => Some(code == 0),
        (_, None) if category == Category::Shell => None,
        _ => Some(true),
    };
    let edits = if ok == Some(true) { changed(&result, &requested) } else { Vec::new() };
    emitter.outcome(Outcome { id: Cow::Borrowed(id), ok, exit_code, output: Cow::Borrowed(output), edits });
}

/// The change as the editor made it: pieces of a diff.
fn changed(result: &Json<'_>, requested: &[Edit]) -> Vec<Edit> {
    let [edit] = requested else { return Vec::new() };
    let chunks = result.at_path(&["diff", "chunks"]).items().iter();
    let body: Vec<&str> = chunks.filter_map(|chunk| chunk.get("diffString").str()).collect();
    let change = if result.get("isNewFile").is_true() { Change::Created } else { edit.change };
    match body.is_empty() {
        true => Vec::new(),
        false => vec![Edit::with_diff(&edit.path, change, &body.join("\n"))],
    }
}

/// A value, or the value in a text.
fn parsed<'a>(value: &'a Json<'a>) -> Json<'a> {
    match value.str() {
        Some(text) => Json::parse(text).unwrap_or(Json::Null),
        None => value.clone(),
    }
}

/// A block of a message of the command line.
pub(super) fn block(emitter: &mut EventEmitter<'_>, block: &Json<'_>, user: bool) {
    let text = block.get("text").str().unwrap_or_default();
    match block.get("type").str().unwrap_or_default() {
        "text" if user => emitter.user(&strip_injected_context(text)),
        "text" => emitter.assistant(text),
        "reasoning" | "thinking" => emitter.thinking(text),
        "tool-call" | "tool_use" => {
            let id = block.first(&["toolCallId", "id"]).unwrap_or_default();
            let name = block.first(&["toolName", "name"]).unwrap_or_default();
            let input = if block.get("args").is_null() { block.get("input") } else { block.get("args") };
            emitter.call_with(call::call(id, name, input), input);
        }
        "tool-result" | "tool_result" => result(emitter, block),
        _ => {}
    }
}

fn result(emitter: &mut EventEmitter<'_>, block: &Json<'_>) {
    let id = block.first(&["toolCallId", "tool_use_id"]).unwrap_or_default();
    let content = match block.get("result") {
        Json::Null => block.get("content"),
        result => result,
    };
    let output = content.text();
    let exit_code = content.get("exitCode").int().or_else(|| shell::told_exit(&output));
    let failed = block.get("isError").is_true() || block.get("is_error").is_true();
    let shell = tool_is_shell(block.get("toolName").str());
    let exit_code = exit_code.filter(|_| shell);
    let ok = match exit_code {
        _ if failed => Some(false),
        Some(code) => Some(code == 0),
        None if shell => None,
        None => Some(true),
    };
    emitter.outcome(Outcome { id: Cow::Borrowed(id), ok, exit_code, output, edits: Vec::new() });
}

fn tool_is_shell(name: Option<&str>) -> bool {
    name.is_some_and(|name| crate::shared::tool::category(name) == Category::Shell)
}

/// The user's own words among what was added to them.
pub(super) fn strip_injected_context(text: &str) -> String {
    let inside =
        text.split_once("<user_query>").map(|(_, rest)| rest.split("</user_query>").next().unwrap_or(rest));
    let added =
        text.trim_start().starts_with("<user_info>") || text.trim_start().starts_with("<system_reminder>");
    inside.unwrap_or(if added { "" } else { text }).trim().to_owned()
}
