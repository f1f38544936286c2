//! Continue, its command line `cn` and its extension alike: `~/.continue/sessions/<id>.json`, a document for every session, with a list
//! of all in `sessions.json` beside them. Messages have no times.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Category, Change, Edit, Event, TranscriptInfo, Usage};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::words::unclean_line;
use crate::shared::{call, heading, shell, sidecar, time};

/// The format.
#[derive(Debug)]
pub struct Continue;

const ID: &str = "continue";
const LIST: &str = "sessions.json";
/// The title of a session that has none yet.
const UNTITLED: [&str; 2] = ["Untitled Session", "New Session"];

impl TranscriptReader for Continue {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for entry in entries(&env.dir_or_home("CONTINUE_GLOBAL_DIR", ".continue").join("sessions")) {
            if is_session(&entry.path()) {
                TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
            }
        }
    }

    /// Kiro's editor was made from this one and keeps documents that are much alike.
    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        let own = ["\"contextItems\"", "\"chatModelTitle\"", "\"promptTokens\""];
        head.trim_ascii_start().starts_with(b"{")
            && ["\"sessionId\"", "\"workspaceDirectory\"", "\"history\""].iter().all(|name| has(name))
            && own.iter().any(|name| has(name))
    }

    fn lives_at(&self, path: &Path) -> bool {
        is_session(path) && path.parent().and_then(Path::file_name).is_some_and(|name| name == "sessions")
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut title = None;
        let mut header = heading::of_whole(found, |sink| read(&found.path, &mut title, sink));
        if header.id.is_empty() {
            header.id = heading::stem(found);
        }
        header.title = title.or(header.title);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read(path, &mut None, sink)
    }
}

fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json") && path.file_name().is_some_and(|name| name != LIST)
}

/// Reads a session, and gives out its title.
fn read(path: &Path, title: &mut Option<String>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = emitter.document(path);
    let doc = Json::parse(&text).unwrap_or(Json::Null);
    let own = doc.get("title").str().filter(|title| !UNTITLED.contains(title));
    *title = own.map(|title| unclean_line(title, 120));
    emitter.at_ms = created(path, doc.get("sessionId").str());
    emitter.session(TranscriptInfo {
        id: doc.get("sessionId").str().map(Cow::Borrowed),
        cwd: doc.get("workspaceDirectory").str().map(Cow::Borrowed),
        model: doc.get("chatModelTitle").str().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    let mut is_counted = false;
    for item in doc.get("history").items() {
        emitter.record(0, None);
        is_counted |= message(&mut emitter, item);
    }
    if !is_counted {
        emitter.spend(total(doc.get("usage")));
    }
    emitter.finish()
}

/// When the session began, out of the list of all.
fn created(path: &Path, id: Option<&str>) -> Option<i64> {
    let text = sidecar::text(&path.with_file_name(LIST));
    let list = sidecar::json(&text);
    let own = list.items().iter().find(|one| id.is_some() && one.get("sessionId").str() == id)?;
    let created = own.get("dateCreated");
    created.int().or_else(|| created.str()?.parse().ok()).map(time::millis).or_else(|| created.time())
}

/// A message with its calls; whether it says how many tokens it took.
fn message(emitter: &mut EventEmitter<'_>, item: &Json<'_>) -> bool {
    let message = item.get("message");
    let content = message.get("content").text();
    let summary = item.get("conversationSummary").str();
    match message.get("role").str().unwrap_or_default() {
        "user" => emitter.user(&content),
        "assistant" => {
            emitter.thinking(item.at_path(&["reasoning", "text"]).str().unwrap_or_default());
            emitter.model(message.at_path(&["usage", "model"]).str());
            if summary != Some(content.as_ref()) {
                emitter.assistant(&content);
            }
            calls(emitter, item);
        }
        "thinking" => emitter.thinking(&content),
        "tool" => {
            result(emitter, message.first(&["toolCallId", "tool_call_id"]).unwrap_or_default(), content)
        }
        "system" => {}
        name => emitter.unknown_type(name),
    }
    emitter.compaction(summary.unwrap_or_default());
    let used = usage(message.get("usage"));
    emitter.spend(used);
    used != Usage::default()
}

/// The calls of a message, with what has come of each.
fn calls(emitter: &mut EventEmitter<'_>, item: &Json<'_>) {
    let states = item.get("toolCallStates").items();
    if states.is_empty() {
        return call::function_calls(emitter, item.at_path(&["message", "toolCalls"]));
    }
    for state in states {
        let function = state.at_path(&["toolCall", "function"]);
        let parsed = function.get("arguments").str().and_then(|text| Json::parse(text).ok());
        let args = match state.get("parsedArgs") {
            Json::Obj(_) => state.get("parsedArgs"),
            _ => parsed.as_ref().unwrap_or(&Json::Null),
        };
        // The extension puts a word before the names of its own tools.
        let name = function.get("name").str().unwrap_or_default();
        let name = name.strip_prefix("builtin_").unwrap_or(name);
        let id =
            state.get("toolCallId").str().or(state.at_path(&["toolCall", "id"]).str()).unwrap_or_default();
        emitter.call_with(call::call(id, name, args), args);
        let shown = state.get("output").items().iter().filter_map(|one| one.first(&["content", "status"]));
        let output = crate::shared::json::join(shown);
        match state.get("status").str() {
            Some("done") => result(emitter, id, output),
            Some("errored" | "canceled") => end(emitter, id, Some(false), output, Vec::new()),
            _ => {}
        }
    }
}

/// A result of a call that did not fail. Of a command it is known only what it printed: one that fails without a word on its
/// second stream is shown like one that succeeds.
fn result(emitter: &mut EventEmitter<'_>, id: &str, output: Cow<'_, str>) {
    let Some(open) = emitter.open(id).cloned() else { return };
    let is_new = output.starts_with("Successfully created file");
    let path = open.path.as_deref().filter(|_| is_new && open.category == Category::Write);
    let edits = path.map(|path| vec![Edit::bare(path, Change::Created)]).unwrap_or_default();
    end(emitter, id, (open.category != Category::Shell).then_some(true), output, edits);
}

fn end(emitter: &mut EventEmitter<'_>, id: &str, ok: Option<bool>, output: Cow<'_, str>, edits: Vec<Edit>) {
    let is_shell = emitter.open(id).is_some_and(|open| open.category == Category::Shell);
    let (code, output) = match told_code(&output).filter(|_| is_shell) {
        Some((code, rest)) => (Some(code), Cow::Owned(rest.to_owned())),
        None => (None, output),
    };
    let code = code.or_else(|| shell::told_exit(&output).filter(|_| is_shell));
    emitter.end_call(ToolResult { id, ok, code, output, edits });
}

/// The exit code of a command that failed, and what it printed: `Error executing tool Bash: Error (exit code 3): …`.
fn told_code(output: &str) -> Option<(i64, &str)> {
    let (start, rest) = output.split_once("Error (exit code ")?;
    let (code, rest) = rest.split_once("): ")?;
    (!start.contains('\n')).then_some((code.parse().ok()?, rest))
}

/// Tokens of a message; those out of the cache are counted among those of the prompt.
fn usage(usage: &Json<'_>) -> Usage {
    let details = usage.get("prompt_tokens_details");
    split(
        usage.get("prompt_tokens").count(),
        details.get("cached_tokens").count(),
        details.get("cache_creation_tokens").count(),
        usage.get("completion_tokens").count(),
    )
}

/// Tokens of a session, where its messages say nothing.
fn total(usage: &Json<'_>) -> Usage {
    let details = usage.get("promptTokensDetails");
    split(
        usage.get("promptTokens").count(),
        details.get("cachedTokens").count(),
        details.get("cacheWriteTokens").count(),
        usage.get("completionTokens").count(),
    )
}

fn split(prompt: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage { input: prompt.saturating_sub(cache_read), cache_read, cache_write, output }
}

#[cfg(test)]
mod tests {
    use super::told_code;

    #[test]
    fn the_exit_code_of_a_command_is_read_from_its_error() {
        assert_eq!(told_code("Error executing tool Bash: Error (exit code 3): no"), Some((3, "no")));
        for text in ["ok", "a\nError (exit code 3): no", "Error (exit code x): no"] {
            assert_eq!(told_code(text), None, "{text}");
        }
    }
}
