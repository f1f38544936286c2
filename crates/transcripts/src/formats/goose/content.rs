//! The content of a message.

use std::borrow::Cow;

use crate::event::{Category, Outcome};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::shell;

/// Calls that are open, with their kinds.
#[derive(Debug, Default)]
pub(super) struct Content {
    open: Vec<(String, Category)>,
}

impl Content {
    /// A part of a message.
    pub(super) fn part(&mut self, emitter: &mut EventEmitter<'_>, user: bool, part: &Json<'_>) {
        let text = part.get("text").str().unwrap_or_default();
        match part.get("type").str().unwrap_or_default() {
            "text" if user && is_added(text) => {}
            "text" if user => emitter.user(text),
            "text" => emitter.assistant(text),
            "thinking" => emitter.thinking(part.first(&["thinking", "text"]).unwrap_or_default()),
            "toolRequest" | "frontendToolRequest" => self.call(emitter, part),
            "toolResponse" => self.result(emitter, part),
            "image"
            | "redactedThinking"
            | "toolConfirmationRequest"
            | "systemNotification"
            | "actionRequired"
            | "contextLengthExceeded"
            | "summarizationRequested" => {}
            name => emitter.unknown_type(name),
        }
    }

    fn call(&mut self, emitter: &mut EventEmitter<'_>, part: &Json<'_>) {
        let id = part.get("id").str().unwrap_or_default();
        let call = match part.at_path(&["toolCall", "value"]) {
            Json::Null => part.get("toolCall"),
            value => value,
        };
        let Some(name) = call.get("name").str() else { return };
        let input = call.get("arguments");
        let call = call::call(id, name, input);
        self.open.push((id.to_owned(), call.category.clone()));
        emitter.call_with(call, input);
    }

    fn result(&mut self, emitter: &mut EventEmitter<'_>, part: &Json<'_>) {
        let id = part.get("id").str().unwrap_or_default();
        let at = self.open.iter().position(|(open, _)| open == id);
        let category = at.map(|at| self.open.swap_remove(at).1).unwrap_or_default();
        let result = part.get("toolResult");
        let value = result.get("value");
        let content = if value.items().is_empty() { value.get("content") } else { value };
        let text = match result.get("error").str() {
            Some(error) => Cow::Borrowed(error),
            None => own_text(content),
        };
        let refused = result.get("status").str() == Some("error") || !result.get("error").is_null();
        let failed = refused || value.get("isError").is_true();
        let shell = category == Category::Shell;
        let reported = value.at_path(&["structuredContent", "exit_code"]).int();
        let exit_code = if shell { reported.or_else(|| shell::told_exit(&text)) } else { None };
        let ok = match exit_code {
            Some(code) => Some(code == 0),
            None => Some(!failed),
        };
        emitter.outcome(Outcome { id: Cow::Borrowed(id), ok, exit_code, output: text, edits: Vec::new() });
    }
}

/// The text of a result, without the copy that is meant for the user.
fn own_text<'a>(content: &'a Json<'a>) -> Cow<'a, str> {
    let for_model = |part: &&Json<'_>| {
        let audience = part.at_path(&["annotations", "audience"]).items();
        audience.is_empty() || audience.iter().any(|who| who.str() == Some("assistant"))
    };
    let parts = content.items().iter().filter(for_model);
    crate::shared::json::join(parts.filter_map(|part| part.get("text").str()))
}

/// Text that the tool puts in front of the user's.
fn is_added(text: &str) -> bool {
    text.trim_start().starts_with("<info-msg>")
}
