//! The nodes of requests and answers, which go by numbers.

use std::borrow::Cow;

use crate::event::{Category, Change, Edit, Usage};
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::typed;

const TEXT: i64 = 0;
const TOOL_RESULT: i64 = 1;
const IDE_STATE: i64 = 4;
const SUMMARY: i64 = 10;
/// A call while it is being written; the whole one follows it.
const TOOL_USE_START: i64 = 7;
const THINKING: i64 = 8;
const TOKEN_USAGE: i64 = 10;

fn kind(node: &Json<'_>) -> i64 {
    node.get("type").int().unwrap_or(TEXT)
}

/// The highest number of a node that the published 0.36.0 writes.
const HIGHEST: i64 = 10;

/// Counts the nodes of numbers that are not known.
pub(super) fn count_unknown(emitter: &mut EventEmitter<'_>, nodes: &Json<'_>) {
    for node in nodes.items().iter().filter(|node| !(0..=HIGHEST).contains(&kind(node))) {
        emitter.unknown_part("node", &kind(node).to_string());
    }
}

/// The texts that the user sent.
pub(super) fn texts<'a>(nodes: &'a Json<'a>) -> Cow<'a, str> {
    let own = nodes.items().iter().filter(|node| kind(node) == TEXT);
    crate::shared::json::join(own.filter_map(|node| node.at_path(&["text_node", "content"]).str()))
}

/// The folder that the tool worked in.
pub(super) fn folder<'a>(nodes: &'a Json<'a>) -> Option<&'a str> {
    let states = nodes.items().iter().filter(|node| kind(node) == IDE_STATE);
    states.map(|node| node.get("ide_state_node")).find_map(|state| {
        let terminal = state.at_path(&["current_terminal", "current_working_directory"]).str();
        let first = state.get("workspace_folders").items().first();
        terminal.or_else(|| first?.first(&["folder_root", "repository_root"]))
    })
}

/// The summary of what was compacted.
pub(super) fn summary<'a>(nodes: &'a Json<'a>) -> Option<&'a str> {
    let all = nodes.items().iter().filter(|node| kind(node) == SUMMARY);
    all.map(|node| node.get("history_summary_node")).find_map(|one| one.first(&["summary_text", "summary"]))
}

/// Results of calls, in the order of the nodes.
pub(super) fn results(emitter: &mut EventEmitter<'_>, nodes: &Json<'_>) {
    for node in nodes.items().iter().filter(|node| kind(node) == TOOL_RESULT) {
        let result = node.get("tool_result_node");
        let id = result.get("tool_use_id").str().unwrap_or_default();
        let text = match result.get("content").str() {
            Some(text) => Cow::Borrowed(text),
            None => crate::shared::json::join(
                result.get("content_nodes").items().iter().filter_map(|one| one.get("text_content").str()),
            ),
        };
        let code = typed::element(&text, "return-code").and_then(|code| code.parse().ok());
        let shell = emitter.open(id).is_some_and(|open| open.category == Category::Shell);
        let failed = result.get("is_error").is_true();
        let ok = if failed { Some(false) } else { (!shell).then_some(true) };
        let printed = typed::element(&text, "output").filter(|_| code.is_some()).map(str::to_owned);
        let output = printed.map_or(text, Cow::Owned);
        emitter.end_call(ToolResult { id, ok, code, output, edits: Vec::new() });
    }
}

/// What an answer thought and used, and its calls.
pub(super) fn thoughts(emitter: &mut EventEmitter<'_>, nodes: &Json<'_>) {
    for node in nodes.items().iter().filter(|node| kind(node) == THINKING) {
        let thought = node.get("thinking");
        emitter.thinking(thought.first(&["content", "summary"]).or(thought.str()).unwrap_or_default());
    }
}

/// The calls of an answer.
pub(super) fn calls(emitter: &mut EventEmitter<'_>, nodes: &Json<'_>) {
    for node in nodes.items().iter().filter(|node| kind(node) != TOOL_USE_START) {
        let tool = node.get("tool_use");
        let Some(name) = tool.first(&["tool_name", "name"]) else { continue };
        let text = tool.first(&["input_json", "input"]).unwrap_or_default();
        let args = Json::parse(text).unwrap_or(Json::Null);
        let id = tool.first(&["tool_use_id", "id"]).unwrap_or_default();
        let mut call = call::call(id, name, &args);
        if name.starts_with("sub-agent") {
            call.category = Category::Task;
        }
        let own = edits(name, &args);
        if !own.is_empty() {
            let paths: Vec<&str> = own.iter().map(|edit| edit.path.as_str()).collect();
            call.target = Cow::Owned(paths.join(", "));
            call.edits = own;
        }
        // The list of tasks is kept elsewhere; a call names only what it adds.
        emitter.call(call);
    }
}

/// The changes that a call asks for, in arguments with numbers: `old_str_1`, `new_str_1`, ….
fn edits(name: &str, args: &Json<'_>) -> Vec<Edit> {
    /// More replacements are not made by one call.
    const MOST: usize = 200;
    let Some(path) = args.get("path").str() else {
        let removed = args.get("file_paths").items().iter().filter_map(Json::str);
        let is_removal = name == "remove-files";
        return removed.filter(|_| is_removal).map(|path| Edit::bare(path, Change::Deleted)).collect();
    };
    if name == "save-file" {
        let text = args.first(&["file_content", "content"]).unwrap_or_default();
        return vec![Edit::new_text(path, Change::Created, text)];
    }
    let part = |number: usize| {
        let text = |key: &str| args.get(&format!("{key}_{number}")).str();
        let (old, new) = (text("old_str"), text("new_str"));
        let is_there = old.is_some() || new.is_some();
        is_there.then(|| Edit::replaced(path, old.unwrap_or_default(), new.unwrap_or_default()).diff)
    };
    let bodies: Vec<String> = (1..=MOST).map_while(part).flatten().collect();
    match bodies.is_empty() {
        true => Vec::new(),
        false => vec![Edit::with_diff(path, Change::Modified, &bodies.join("\n"))],
    }
}

/// Tokens of an answer.
pub(super) fn usage(nodes: &Json<'_>) -> Usage {
    let all =
        nodes.items().iter().filter(|node| kind(node) == TOKEN_USAGE).map(|node| node.get("token_usage"));
    all.fold(Usage::default(), |sum, one| {
        sum.plus(Usage {
            input: one.get("input_tokens").count(),
            cache_read: one.get("cache_read_input_tokens").count(),
            cache_write: one.get("cache_creation_input_tokens").count(),
            output: one.get("output_tokens").count(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_are_read_by_their_numbers() {
        let args =
            Json::parse(r#"{"path":"a","old_str_1":"x","new_str_1":"y","new_str_2":"z","new_str_9":"no"}"#)
                .expect("valid");
        let all = edits("str-replace-editor", &args);
        assert_eq!(all[0].diff.as_deref(), Some("-x\n+y\n+z"));
        assert!(edits("view", &Json::parse(r#"{"path":"a"}"#).expect("valid")).is_empty());
    }
}
