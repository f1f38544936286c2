//! Messages of a thread, in the shape of every version.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, EventKind, Outcome};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::replaced;
use crate::shared::shell;

/// A message; `root` is the name of the project's folder, with which Zed begins its paths.
pub(super) fn message(emitter: &mut EventEmitter<'_>, message: &Json<'_>, root: &str) {
    if let Json::Obj(_) = message.get("User") {
        let texts =
            message.at_path(&["User", "content"]).items().iter().filter_map(|part| part.get("Text").str());
        let text = crate::shared::json::join(texts);
        return emitter.user(&text);
    }
    if let Json::Obj(_) = message.get("Agent") {
        return agent(emitter, message.get("Agent"), root);
    }
    match message.get("role").str() {
        Some("user") => emitter.user(&text_of(message)),
        Some("assistant") => older(emitter, message, root),
        Some("system") => {}
        // That the user let the agent go on has no text.
        _ if message.str() == Some("Resume") => {}
        role => {
            let variant = message.fields().first().map(|(name, _)| name.as_ref());
            emitter.unknown_type(role.or(message.str()).or(variant).unwrap_or_default());
        }
    }
}

fn agent(emitter: &mut EventEmitter<'_>, agent: &Json<'_>, root: &str) {
    let results = agent.get("tool_results");
    for part in agent.get("content").items() {
        let [(kind, value)] = part.fields() else { continue };
        match kind.as_ref() {
            "Text" => emitter.assistant(value.str().unwrap_or_default()),
            "Thinking" => emitter.thinking(value.first(&["text"]).or(value.str()).unwrap_or_default()),
            "ToolUse" => {
                let id = value.get("id").str().unwrap_or_default();
                tool(emitter, value, Some(results.get(id)).filter(|result| !result.is_null()), root);
            }
            _ => {}
        }
    }
}

/// A message of the versions that kept results beside calls, in the message that follows or in the same.
fn older(emitter: &mut EventEmitter<'_>, message: &Json<'_>, root: &str) {
    let segments = message.get("segments").items();
    let thought = |segment: &&Json<'_>| segment.get("type").str() == Some("thinking");
    segments.iter().filter(thought).for_each(|segment| emitter.thinking(&segment.text()));
    emitter.assistant(&text_of(message));
    let results = message.get("tool_results").items();
    for call in message.get("tool_uses").items() {
        let id = call.get("id").str();
        let result = results.iter().find(|result| id.is_some() && result.get("tool_use_id").str() == id);
        tool(emitter, call, result, root);
    }
}

fn text_of(message: &Json<'_>) -> String {
    let segments = message.get("segments").items().iter();
    let texts = segments.filter(|segment| segment.get("type").str() != Some("thinking"));
    let texts: Vec<&str> = texts.filter_map(|segment| segment.get("text").str()).collect();
    match texts.is_empty() {
        true => message.get("text").str().unwrap_or_default().to_owned(),
        false => texts.join("\n"),
    }
}

fn tool(emitter: &mut EventEmitter<'_>, value: &Json<'_>, result: Option<&Json<'_>>, root: &str) {
    let (id, name) = (value.get("id").str().unwrap_or_default(), value.get("name").str().unwrap_or_default());
    let input = value.get("input");
    let mut call = call::call(id, name, input);
    edits(&mut call, name, input);
    let inside =
        |path: &str| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
    for edit in call.edits.iter_mut().filter(|_| !root.is_empty()) {
        edit.path = inside(&edit.path).unwrap_or_else(|| std::mem::take(&mut edit.path));
    }
    if let Some(own) = inside(&call.target).filter(|_| !root.is_empty()) {
        call.target = Cow::Owned(own);
    }
    let (category, edits) = (call.category.clone(), call.edits.clone());
    emitter.call_with(call, input);
    if let Some(result) = result {
        emitter.outcome(outcome(id, &category, &edits, result));
    }
}

/// What the tools of Zed change without saying how in their input.
fn edits(call: &mut Call<'_>, name: &str, input: &Json<'_>) {
    let path = input.first(&["path", "source_path"]).unwrap_or_default().to_owned();
    match name {
        "edit_file" if input.get("mode").str() == Some("create") => {
            call.category = Category::Write;
            call.edits = vec![Edit::bare(&path, Change::Created)];
        }
        "delete_path" => call.edits = vec![Edit::bare(&path, Change::Deleted)],
        "move_path" => {
            let target = input.get("destination_path").str().unwrap_or_default();
            call.edits = vec![Edit { from: Some(path), ..Edit::bare(target, Change::Renamed) }];
        }
        _ => return,
    }
    if call.category == Category::Other {
        call.category = Category::Edit;
    }
}

fn outcome<'a>(id: &'a str, category: &Category, requested: &[Edit], result: &'a Json<'a>) -> Outcome<'a> {
    let content = result.get("content");
    let text = match content.get("Text") {
        Json::Null => content.text(),
        text => text.text(),
    };
    let failed = result.get("is_error").is_true();
    let shell = *category == Category::Shell;
    // A command that went well is shown without a code.
    let exit_code = if shell { shell::told_exit(&text).or((!failed).then_some(0)) } else { None };
    let ok = Some(exit_code.map_or(!failed, |code| code == 0));
    let diff = result.at_path(&["output", "diff"]).str();
    let text = if shell { unfenced(text) } else { text };
    let edits = match (requested, diff) {
        ([edit], Some(diff)) if !failed => {
            vec![Edit::with_diff(&edit.path, edit.change, replaced::hunks(diff))]
        }
        _ => Vec::new(),
    };
    Outcome { id: Cow::Borrowed(id), ok, exit_code, output: text, edits }
}

/// What a command printed, which Zed puts into a code block under a sentence about it.
fn unfenced(text: Cow<'_, str>) -> Cow<'_, str> {
    let inside = text.split_once("```\n").and_then(|(_, rest)| rest.rsplit_once("\n```"));
    match inside {
        Some((output, _)) => Cow::Owned(output.to_owned()),
        None => text,
    }
}

/// The summary that was made of a thread to be quoted elsewhere.
pub(super) fn summary(emitter: &mut EventEmitter<'_>, thread: &Json<'_>) {
    for message in thread.get("messages").items() {
        if let Some(text) = message.at_path(&["Compaction", "summary"]).str() {
            emitter.send(EventKind::Compaction(Cow::Borrowed(text)));
        }
    }
}
