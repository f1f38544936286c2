//! Sessions of the command line as files of lines: `<uuid>.jsonl` with `<uuid>.json` beside it, later a folder with
//! `messages.jsonl` and `session.json`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::event::{Event, EventKind, Outcome, TranscriptInfo};
use crate::report::Report;
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::json_file;
use crate::shared::shell;
use crate::shared::time;
use crate::shared::words::unclean_line;

/// The file of the later layout.
pub(super) const NAME: &str = "messages.jsonl";

/// Whether a line is of either layout.
pub(super) fn is_ours(line: &str) -> bool {
    let json = Json::parse(line).unwrap_or(Json::Null);
    let classic = matches!(json.get("kind").str(), Some("Prompt" | "AssistantMessage" | "ToolResults"));
    let later =
        matches!(json.at_path(&["payload", "type"]).str(), Some("user" | "assistant" | "usage_summary"));
    (classic && matches!(json.get("data"), Json::Obj(_))) || (later && json.get("type").is_null())
}

/// The title beside a session.
pub(super) fn title(path: &Path) -> Option<String> {
    let text = sidecar_text(path);
    Json::parse(&text).ok()?.get("title").str().map(|title| unclean_line(title, 120))
}

/// Reads a session.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = sidecar_text(path);
    let about = Json::parse(&text).unwrap_or(Json::Null);
    let folder = about.get("cwd").str().or_else(|| about.get("workspacePaths").items().first()?.str());
    let state = about.get("session_state");
    let model =
        state.at_path(&["rts_model_state", "model_info", "model_id"]).str().or(about.get("model").str());
    emitter.at_ms = about.first(&["created_at", "createdAt"]).and_then(time::lenient);
    emitter.session(TranscriptInfo {
        id: about.first(&["session_id", "id"]).map(Cow::Borrowed),
        cwd: folder.map(Cow::Borrowed),
        model: model.map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    let created = emitter.at_ms;
    emitter.each_line(path, &mut |emitter, json| {
        emitter.at_ms = created;
        match json.get("payload") {
            Json::Obj(_) => later(emitter, json, json.get("payload")),
            _ => classic(emitter, json),
        }
    });
    emitter.finish()
}

fn sidecar_text(path: &Path) -> String {
    let beside: PathBuf = match path.file_name().is_some_and(|name| name == NAME) {
        true => path.with_file_name("session.json"),
        false => path.with_extension("json"),
    };
    json_file::text(&beside).unwrap_or_default()
}

fn classic(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let data = json.get("data");
    let at = data.at_path(&["meta", "timestamp"]);
    emitter.at_ms = at.int().map(time::millis).or(at.str().and_then(time::lenient)).or(emitter.at_ms);
    let parts = data.get("content").items();
    match json.get("kind").str().unwrap_or_default() {
        "Prompt" => {
            let texts = parts.iter().filter(|part| part.get("kind").str() == Some("text"));
            emitter.user(&crate::shared::json::join(texts.filter_map(|part| part.get("data").str())));
        }
        "AssistantMessage" => parts.iter().for_each(|part| match part.get("kind").str() {
            Some("text") => emitter.assistant(part.get("data").str().unwrap_or_default()),
            Some("toolUse") => tool(emitter, part.get("data")),
            _ => {}
        }),
        "ToolResults" => parts.iter().for_each(|part| result(emitter, part.get("data"))),
        "Compaction" | "Summary" => {
            let text =
                data.first(&["summary", "content"]).map_or_else(|| texts(data.get("content")), str::to_owned);
            emitter.send(EventKind::Compaction(Cow::Owned(text)));
        }
        name => emitter.unknown_type(name),
    }
}

/// Little is known of the later layout but the words of both sides; tools are taken as they come.
fn later(emitter: &mut EventEmitter<'_>, json: &Json<'_>, payload: &Json<'_>) {
    let at = json.first(&["timestamp", "createdAt"]).or(payload.get("timestamp").str());
    emitter.at_ms = at.and_then(time::lenient).or(emitter.at_ms);
    match payload.get("type").str().unwrap_or_default() {
        "user" => emitter.user(&payload.get("content").text()),
        "assistant" => {
            emitter.assistant(&payload.get("content").text());
            payload.get("tool_uses").items().iter().for_each(|one| tool(emitter, one));
        }
        "tool_use" | "tool_call" | "toolUse" | "toolCall" => tool(emitter, payload),
        "tool_result" | "toolResult" => result(emitter, payload),
        "summary" | "compaction" => emitter.send(EventKind::Compaction(payload.get("content").text())),
        "usage_summary" | "thinking" => {}
        name => emitter.unknown_type(name),
    }
}

fn tool(emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
    let id = data.first(&["toolUseId", "toolCallId", "tool_use_id", "id"]).unwrap_or_default();
    let name = data.first(&["name", "toolName", "tool_name"]).unwrap_or_default();
    let keys = ["input", "args", "arguments", "params"];
    let input = keys.iter().map(|key| data.get(key)).find(|input| !input.is_null()).unwrap_or(&Json::Null);
    emitter.call_with(call::call(id, name, input), input);
}

/// A result in the words of any layout: texts, or objects of what a command printed.
pub(super) fn result(emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
    let id = data.first(&["tool_use_id", "toolUseId", "toolCallId", "id"]).unwrap_or_default();
    let status = data.get("status").str().unwrap_or_default().to_ascii_lowercase();
    let failed = matches!(status.as_str(), "error" | "failed" | "failure") || data.get("isError").is_true();
    let keys = ["content", "output", "result"];
    let content = keys.iter().map(|key| data.get(key)).find(|value| !value.is_null()).unwrap_or(&Json::Null);
    let report = content.items().iter().map(object).find(|json| !json.is_null()).unwrap_or(&Json::Null);
    let code = report.get("exit_status").int().or_else(|| {
        let text = report.first(&["exit_status", "exit_code"])?;
        text.parse().ok().or_else(|| shell::told_exit(text)).or_else(|| text.rsplit(' ').next()?.parse().ok())
    });
    let printed: Vec<&str> = ["stdout", "stderr"].iter().filter_map(|key| report.get(key).str()).collect();
    let output = if printed.is_empty() { texts(content) } else { printed.join("\n") };
    let exit_code = code.or_else(|| shell::told_exit(&output).filter(|_| failed));
    let ok = Some(exit_code.map_or(!failed, |code| code == 0 && !failed));
    let (id, output) = (Cow::Borrowed(id), Cow::Owned(output));
    emitter.outcome(Outcome { id, ok, exit_code, output, edits: Vec::new() });
}

/// The object in a part of a result.
fn object<'a, 'j>(part: &'a Json<'j>) -> &'a Json<'j> {
    match (part.get("Json"), part.get("data")) {
        (json @ Json::Obj(_), _) | (_, json @ Json::Obj(_)) => json,
        _ => part.get("json"),
    }
}

fn texts(content: &Json<'_>) -> String {
    let parts = content.items().iter().filter_map(|part| part.first(&["Text", "text", "data"]));
    match content.str() {
        Some(text) => text.to_owned(),
        None => crate::shared::json::join(parts).into_owned(),
    }
}
