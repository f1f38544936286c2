//! The events of a conversation.

use std::borrow::Cow;

use crate::event::{Category, Change, Edit, EventKind, TranscriptInfo};
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;

/// Reads events.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// Whether the state names the working directory.
    pub has_cwd: bool,
}

impl EventReader {
    /// An event.
    pub(super) fn event(&self, emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
        match json.get("kind").str().unwrap_or_default() {
            "MessageEvent" => message(emitter, json),
            "ActionEvent" => action(emitter, json),
            "ObservationEvent" => self.observation(emitter, json),
            "UserRejectObservation" => failure(emitter, json, "rejection_reason"),
            "AgentErrorEvent" => failure(emitter, json, "error"),
            "ConversationErrorEvent" => {
                emitter.provider_error(json.first(&["detail", "code"]).unwrap_or_default());
            }
            "PauseEvent" | "InterruptEvent" => emitter.send(EventKind::Interrupted),
            "Condensation" => emitter.compaction(json.get("summary").str().unwrap_or_default()),
            "SystemPromptEvent"
            | "CondensationRequest"
            | "CondensationSummaryEvent"
            | "ConversationStateUpdateEvent"
            | "LLMCompletionLogEvent"
            | "TokenEvent"
            | "HookExecutionEvent"
            | "StreamingDeltaEvent" => {}
            name => emitter.unknown_type(name),
        }
    }

    fn observation(&self, emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
        /// The code of a command that still runs.
        const RUNNING: i64 = -1;
        let seen = json.get("observation");
        let metadata = seen.get("metadata");
        if !self.has_cwd {
            let cwd = metadata.get("working_dir").str().map(Cow::Borrowed);
            emitter.session(TranscriptInfo { cwd, ..TranscriptInfo::default() });
        }
        let id = json.get("tool_call_id").str().unwrap_or_default();
        let reported = seen.get("exit_code").int().or(metadata.get("exit_code").int());
        let code = reported.filter(|code| *code != RUNNING);
        let shell =
            reported.is_some() || emitter.open(id).is_some_and(|open| open.category == Category::Shell);
        let failed = seen.get("is_error").is_true();
        let ok = if failed { Some(false) } else { (!shell).then_some(true) };
        let mut edits = Vec::new();
        if !failed && seen.get("command").str() == Some("create") {
            // What was there before says whether it is a new file.
            let is_new = matches!(seen.get("prev_exist"), Json::Bool(false));
            let (path, text) = (seen.get("path").str(), seen.get("new_content").str());
            edits.extend(
                path.zip(text)
                    .filter(|_| is_new)
                    .map(|(path, text)| Edit::new_text(path, Change::Created, text)),
            );
        }
        let output = seen.get("content").text();
        let output = if output.is_empty() {
            Cow::Borrowed(seen.first(&["output", "error", "detail"]).unwrap_or_default())
        } else {
            output
        };
        emitter.end_call(ToolResult { id, ok, code, output, edits });
    }
}

/// What the user or the agent said.
fn message(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let message = json.get("llm_message");
    match json.get("source").str().or(message.get("role").str()) {
        Some("user") => emitter.user(&message.get("content").text()),
        Some("environment" | "hook") => {}
        _ => {
            thoughts(emitter, message);
            emitter.assistant(&message.get("content").text());
        }
    }
}

/// The prompt in a message of the user.
pub(super) fn prompt<'a>(json: &'a Json<'a>) -> Option<Cow<'a, str>> {
    let own = json.get("kind").str() == Some("MessageEvent") && json.get("source").str() == Some("user");
    own.then(|| json.at_path(&["llm_message", "content"]).text())
}

fn thoughts(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    emitter.thinking(json.get("reasoning_content").str().unwrap_or_default());
    for block in json.get("thinking_blocks").items() {
        emitter.thinking(block.get("thinking").str().unwrap_or_default());
    }
}

/// What the agent does: a call, or words that it says by one.
fn action(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    thoughts(emitter, json);
    emitter.assistant(&json.get("thought").text());
    let call = json.get("tool_call");
    let raw = call.first(&["arguments"]).or(call.at_path(&["function", "arguments"]).str());
    let parsed = raw.and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
    let args = if json.get("action").is_null() { &parsed } else { json.get("action") };
    let name = json.get("tool_name").str().or(call.get("name").str()).unwrap_or_default();
    match name {
        "finish" => emitter.assistant(args.get("message").str().unwrap_or_default()),
        "think" => emitter.thinking(args.get("thought").str().unwrap_or_default()),
        _ => {
            let id = json.get("tool_call_id").str().or(call.get("id").str()).unwrap_or_default();
            let mut call = call::call(id, name, args);
            // Keys that are sent to a command which runs are no command.
            if args.get("is_input").is_true() {
                call.category = Category::Other;
            }
            emitter.call_with(call, args);
        }
    }
}

fn failure(emitter: &mut EventEmitter<'_>, json: &Json<'_>, reason: &str) {
    let id = json.get("tool_call_id").str().unwrap_or_default();
    let output = Cow::Borrowed(json.get(reason).str().unwrap_or_default());
    emitter.end_call(ToolResult { id, ok: Some(false), code: None, output, edits: Vec::new() });
}
