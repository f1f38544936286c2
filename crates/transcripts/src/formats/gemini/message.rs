//! What a message of Gemini CLI says.

use std::borrow::Cow;

use crate::event::{Category, Change, Edit, EventKind, TranscriptInfo, Usage};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::{Json, join};
use crate::shared::{call, plan, shell};

/// What the tool lets the model say to the summary that it puts in place of what was compacted away.
const TAKEN_UP: &str = "Got it. Thanks for the additional context!";

/// What the user said in a message; nothing if no user wrote it.
pub(crate) fn prompt<'a>(content: &'a Json<'a>) -> Cow<'a, str> {
    const INJECTED: &[&str] = &["<session_context>", "<state_snapshot>", "<environment_context>"];
    let text = match without_hooks(content.text()) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    };
    if INJECTED.iter().any(|start| text.starts_with(start))
        || text.starts_with("This is the Gemini CLI. We are setting up")
    {
        return Cow::Borrowed("");
    }
    text
}

/// The text without what hooks put in front of it.
fn without_hooks(text: Cow<'_, str>) -> Cow<'_, str> {
    const END: &str = "</hook_context>";
    match text
        .trim_start()
        .strip_prefix("<hook_context>")
        .and_then(|rest| Some(&rest[rest.find(END)? + END.len()..]))
    {
        Some(rest) => Cow::Owned(rest.to_owned()),
        None => text,
    }
}

/// The first working directory that the context names, which the tool puts before the first prompt.
pub(crate) fn context_root(text: &str) -> Option<&str> {
    let (_, list) = text
        .split_once("Workspace Directories:**")
        .or_else(|| text.split_once("working in the directory: "))?;
    let line = list.trim_start().lines().next()?;
    Some(line.trim_start_matches("- ").trim()).filter(|path| path.len() > 1)
}

/// Emits a message.
pub(crate) fn emit(emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
    match message.get("type").str() {
        Some("user") => user(emitter, message),
        Some("gemini" | "model" | "assistant") => answer(emitter, message),
        Some("error") => emitter.provider_error(&message.get("content").text()),
        Some("info" | "warning") => {}
        name => emitter.unknown_type(name.unwrap_or_default()),
    }
}

fn user(emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
    let text = message.get("content").text();
    if let Some(cwd) =
        text.trim_start().starts_with("<session_context>").then(|| context_root(&text)).flatten()
    {
        emitter.session(TranscriptInfo { cwd: Some(Cow::Borrowed(cwd)), ..TranscriptInfo::default() });
    }
    if text.trim_start().starts_with("<state_snapshot>") {
        emitter.compaction(&text);
    } else {
        emitter.user(&prompt(message.get("content")));
    }
}

fn answer(emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
    let model = message.get("model").str().map(Cow::Borrowed);
    emitter.session(TranscriptInfo { model, ..TranscriptInfo::default() });
    for thought in message.get("thoughts").items() {
        let (subject, text) = (thought.get("subject").str(), thought.get("description").str());
        let parts: Vec<&str> = [subject, text].into_iter().flatten().collect();
        emitter.thinking(&parts.join(": "));
    }
    let body = message.get("content").text();
    if body.contains("<state_snapshot>") {
        emitter.compaction(&body);
    } else if body.trim() != TAKEN_UP {
        emitter.assistant(&body);
    }
    emitter.spend(usage(message.get("tokens")));
    for (at, one) in message.get("toolCalls").items().iter().enumerate() {
        tool(emitter, one, &format!("{}/{at}", message.get("id").str().unwrap_or_default()));
    }
}

/// A call, which carries its result.
fn tool(emitter: &mut EventEmitter<'_>, one: &Json<'_>, nameless: &str) {
    let (id, name) = (one.get("id").str().unwrap_or(nameless), one.get("name").str().unwrap_or_default());
    let args = one.get("args");
    let at_ms = emitter.at_ms;
    emitter.at_ms = one.get("timestamp").time().or(at_ms);
    emitter.call(call::call(id, name, args));
    emitter.plan(plan::of(one.at_path(&["resultDisplay", "todos"])).or_else(|| call::plan(name, args)));
    let ok = match one.get("status").str() {
        Some("success") => Some(true),
        Some("error" | "cancelled" | "failed") => Some(false),
        _ => None,
    };
    if ok.is_some() || !one.get("result").is_null() {
        let ended = call_end(emitter, id, ok, &response(one.get("result")), one.get("resultDisplay"));
        emitter.end_call(ended);
    }
    if ok == Some(false) && one.get("status").str() == Some("cancelled") {
        emitter.send(EventKind::Interrupted);
    }
    emitter.at_ms = at_ms;
}

/// What a call returned to the model.
fn response<'a>(result: &'a Json<'a>) -> Cow<'a, str> {
    let items = result.items().iter().map(|item| item.at_path(&["functionResponse", "response"]));
    let texts = items.filter_map(|response| response.first(&["output", "error"]));
    let text = join(texts);
    if text.is_empty() { result.text() } else { text }
}

/// How a call ended. A command that exits with another code than 0 is a success to the tool; without a code it was 0.
pub(crate) fn call_end<'a>(
    emitter: &EventEmitter<'_>,
    id: &'a str,
    ok: Option<bool>,
    output: &str,
    display: &Json<'_>,
) -> ToolResult<'a> {
    let open = emitter.open(id);
    let shell = open.is_some_and(|open| open.category == Category::Shell);
    let (code, text) = if shell { shell::unlabel(output) } else { (None, output.to_owned()) };
    let background =
        shell && ["running in background", "moved to background"].iter().any(|mark| text.contains(mark));
    let code = code.or((shell && ok == Some(true)).then_some(0)).filter(|_| !background);
    let path =
        open.and_then(|open| open.path.as_deref()).or_else(|| display.first(&["filePath", "fileName"]));
    let edits = if ok == Some(true) { changed(path, display) } else { Vec::new() };
    let text = if text.is_empty() { display.str().unwrap_or_default().to_owned() } else { text };
    ToolResult { id, ok: ok.filter(|_| !background), code, output: Cow::Owned(text), edits }
}

/// The change that the tool shows. Its file name has no path: that of the call is taken.
fn changed(path: Option<&str>, display: &Json<'_>) -> Vec<Edit> {
    let (Some(path), Some(diff)) = (path, display.get("fileDiff").str()) else { return Vec::new() };
    let created =
        display.get("isNewFile").is_true() || display.get("originalContent") == &Json::Str("".into());
    let change = if created { Change::Created } else { Change::Modified };
    let body: Vec<&str> = diff.lines().skip_while(|line| !line.starts_with("@@")).collect();
    vec![Edit::with_diff(path, change, &body.join("\n"))]
}

/// Token use of one message. Cached input is part of the input there; here it is apart.
fn usage(tokens: &Json<'_>) -> Usage {
    let count = |key| tokens.get(key).count();
    Usage {
        input: (count("input") + count("tool")).saturating_sub(count("cached")),
        cache_read: count("cached"),
        cache_write: 0,
        output: count("output") + count("thoughts"),
    }
}
