//! The parts of a message.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, EventKind, Outcome, TranscriptInfo};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::replaced;
use crate::shared::shell;

/// Calls that are open, with what is needed to judge their results.
#[derive(Debug)]
pub(super) struct Parts {
    open: Vec<(String, Category, Vec<Edit>)>,
    /// Whether the working directory is known.
    placed: bool,
}

impl Parts {
    /// No call is open; whether the working directory is known already.
    pub(super) fn new(placed: bool) -> Self {
        Self { open: Vec::new(), placed }
    }

    /// A part of a message.
    pub(super) fn part(&mut self, emitter: &mut EventEmitter<'_>, user: bool, part: &Json<'_>) {
        let data = part.get("data");
        let text = data.get("text").str().unwrap_or_default();
        match part.get("type").str().unwrap_or_default() {
            "text" if user => emitter.user(text),
            "text" => emitter.assistant(text),
            "reasoning" => emitter.thinking(data.get("thinking").str().unwrap_or_default()),
            "tool_call" => self.call(emitter, data),
            "tool_result" => self.result(emitter, data),
            "shell_command" => shell_command(emitter, data),
            "finish" if data.get("reason").str() == Some("canceled") => emitter.send(EventKind::Interrupted),
            "finish" if data.get("reason").str() == Some("error") => {
                emitter.provider_error(&provider_error(data));
            }
            "finish" | "image_url" | "binary" => {}
            name => emitter.unknown_type(name),
        }
    }

    fn call(&mut self, emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
        let (id, name) =
            (data.get("id").str().unwrap_or_default(), data.get("name").str().unwrap_or_default());
        // The input is JSON in a string; while it is being written it is none.
        let parsed = data.get("input").str().and_then(|text| Json::parse(text).ok());
        let input = parsed.as_ref().unwrap_or(data.get("input"));
        let call = call::call(id, name, input);
        self.open.push((id.to_owned(), call.category.clone(), call.edits.clone()));
        emitter.call_with(call, input);
    }

    fn result(&mut self, emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
        let id = data.get("tool_call_id").str().unwrap_or_default();
        let at = self.open.iter().position(|(open, ..)| open == id);
        let (_, category, edits) = at.map(|at| self.open.swap_remove(at)).unwrap_or_default();
        let metadata =
            data.get("metadata").str().and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
        let (output, cwd) = place(data.get("content").str().unwrap_or_default());
        if let Some(cwd) = cwd.filter(|_| !self.placed) {
            self.placed = true;
            emitter.session(TranscriptInfo { cwd: Some(Cow::Borrowed(cwd)), ..TranscriptInfo::default() });
        }
        let failed = data.get("is_error").is_true();
        let shell = category == Category::Shell;
        let exit_code = if shell { exit_code(output, failed) } else { None };
        let ok = match (shell, exit_code) {
            (true, Some(code)) => Some(code == 0),
            (true, None) if !failed => None,
            _ => Some(!failed),
        };
        emitter.outcome(Outcome {
            id: Cow::Borrowed(id),
            ok,
            exit_code,
            output: Cow::Borrowed(without_code(output)),
            edits: if failed { Vec::new() } else { changed(&metadata, &edits) },
        });
    }
}

/// What a provider said when a request failed: in short, and in its own words.
fn provider_error(data: &Json<'_>) -> String {
    let texts = ["message", "details"].iter().filter_map(|key| data.get(key).str());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ")
}

/// An output without the working directory that the shell puts behind it.
fn place(output: &str) -> (&str, Option<&str>) {
    let Some((text, rest)) = output.rsplit_once("<cwd>") else { return (output, None) };
    (text.trim_end(), rest.strip_suffix("</cwd>").filter(|cwd| cwd.starts_with('/')))
}

/// The shell of Crush names the exit code only where it is not 0.
fn exit_code(output: &str, failed: bool) -> Option<i64> {
    let background = output.starts_with("Background shell started");
    let aborted = output.contains("Command was aborted before completion");
    shell::told_exit(output).or((!failed && !background && !aborted).then_some(0))
}

/// An output without the line at its end that names the exit code.
fn without_code(output: &str) -> &str {
    let (text, last) = output.trim_end().rsplit_once('\n').unwrap_or(("", output));
    if last.starts_with("Exit code ") { text.trim_end() } else { output }
}

/// The change as the tool reports it: a file that had no content before is new.
fn changed(metadata: &Json<'_>, edits: &[Edit]) -> Vec<Edit> {
    let [edit] = edits else { return Vec::new() };
    let new = matches!(metadata.get("old_content"), Json::Str(old) if old.is_empty());
    match metadata.get("diff").str() {
        Some(diff) => vec![Edit::with_diff(&edit.path, edit.change, replaced::hunks(diff))],
        None if new => vec![Edit { change: Change::Created, ..edit.clone() }],
        None => Vec::new(),
    }
}

/// A command that the user ran himself.
fn shell_command(emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
    let field = |key| Cow::Borrowed(data.get(key).str().unwrap_or_default());
    let (id, exit_code) = (Cow::Borrowed("shell_command"), data.get("exit_code").int());
    emitter.send(EventKind::Call(Call {
        id: id.clone(),
        name: id.clone(),
        category: Category::Shell,
        target: field("command"),
        ..Call::default()
    }));
    let ok = exit_code.map(|code| code == 0);
    emitter.outcome(Outcome { id, ok, exit_code, output: field("output"), edits: Vec::new() });
}
