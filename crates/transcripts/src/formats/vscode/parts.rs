//! The answer to a request: texts, thoughts, calls as the editor shows them, and the changes that it applied to files.

use std::borrow::Cow;

use super::calls::{self, ModelCall};
use super::read::address;
use crate::event::{Category, Change, Edit, Outcome};
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::plan;

/// How the user may have confirmed a call: not at all, or by skipping it.
const REFUSALS: [i64; 2] = [0, 5];

/// An answer while it is read.
pub(super) struct Answer<'a> {
    parts: &'a [Json<'a>],
    metadata: &'a Json<'a>,
    calls: Vec<ModelCall<'a>>,
    /// Calls that were emitted, in order.
    emitted: usize,
    /// Text that goes on in the next part.
    text: String,
    /// Paths of changes that calls told.
    edited: Vec<String>,
    /// Changes that the editor applied.
    applied: Vec<Edit>,
}

impl<'a> Answer<'a> {
    /// The answer to a request.
    pub(super) fn new(request: &'a Json<'a>) -> Self {
        let metadata = request.at_path(&["result", "metadata"]);
        Self {
            parts: request.get("response").items(),
            metadata,
            calls: calls::of_model(metadata),
            emitted: 0,
            text: String::new(),
            edited: Vec::new(),
            applied: Vec::new(),
        }
    }

    /// Emits all of it.
    pub(super) fn emit(mut self, emitter: &mut EventEmitter<'_>) {
        let last_call = self.parts.iter().rposition(is_call);
        if last_call.is_none() {
            self.rest_of_calls(emitter);
        }
        for (at, part) in self.parts.iter().enumerate() {
            self.part(emitter, part);
            if Some(at) == last_call {
                self.rest_of_calls(emitter);
            }
        }
        self.flush(emitter);
        self.changes(emitter);
    }

    fn part(&mut self, emitter: &mut EventEmitter<'_>, part: &'a Json<'a>) {
        match part.get("kind").str().unwrap_or_default() {
            "" => self.text.push_str(part.get("value").str().or(part.str()).unwrap_or_default()),
            "markdownContent" | "markdownVuln" | "warning" => {
                let content = part.get("content");
                self.text.push_str(content.get("value").str().or(content.str()).unwrap_or_default());
            }
            "inlineReference" => self.text.push_str(&reference(part)),
            "thinking" => {
                self.flush(emitter);
                emitter.thinking(&part.get("value").text());
            }
            _ if is_call(part) => {
                self.flush(emitter);
                self.call(emitter, part);
            }
            "textEditGroup" | "notebookEditGroup" => self.applied.extend(applied(part)),
            "workspaceEdit" => self.applied.extend(part.get("edits").items().iter().filter_map(moved)),
            "prepareToolInvocation"
            | "undoStop"
            | "codeblockUri"
            | "progressMessage"
            | "progressTask"
            | "progressTaskSerialized"
            | "progressTaskResult"
            | "mcpServersStarting"
            | "command"
            | "confirmation"
            | "elicitation"
            | "elicitation2"
            | "elicitationSerialized"
            | "extensions"
            | "hook"
            | "pullRequest"
            | "multiDiffData"
            | "treeData"
            | "questionCarousel"
            | "clearToPreviousToolInvocation"
            | "disabledClaudeHooks"
            | "autoModeResolution"
            | "references"
            | "codeCitation" => {}
            name => emitter.unknown_type(name),
        }
    }

    /// Emits the text so far. Around changes that were applied the editor leaves the fences of the blocks that they stood in.
    fn flush(&mut self, emitter: &mut EventEmitter<'_>) {
        let text = std::mem::take(&mut self.text).replace("\n```\n\n```\n", "\n");
        if !text.chars().all(|c| c.is_whitespace() || c == '`') {
            emitter.assistant(text.trim_end());
        }
    }

    /// Emits a call that a part shows, after those of the model before it that none shows.
    fn call(&mut self, emitter: &mut EventEmitter<'_>, part: &'a Json<'a>) {
        let own = part.get("toolCallId").str().unwrap_or_default();
        // Calls of a sub-agent stand among those of the session.
        if let Some(agent) = part.get("subAgentInvocationId").str().filter(|id| *id != own) {
            let outer = emitter.subagent.replace(agent.to_owned());
            self.shown(emitter, part, None);
            emitter.subagent = outer;
            return;
        }
        let shown = calls::shown_by(part, &self.calls);
        if let Some(at) = shown {
            self.calls[at].is_shown = true;
            self.unshown(emitter, at);
        }
        self.shown(emitter, part, shown);
    }

    fn rest_of_calls(&mut self, emitter: &mut EventEmitter<'_>) {
        self.unshown(emitter, self.calls.len());
        let summaries = self.metadata.get("summaries").items().iter();
        let summaries = summaries.chain([self.metadata.get("summary")]);
        summaries.for_each(|summary| emitter.compaction(summary.get("text").str().unwrap_or_default()));
    }

    /// Emits calls of the model up to this one that no part shows.
    fn unshown(&mut self, emitter: &mut EventEmitter<'_>, end: usize) {
        for at in self.emitted..end {
            let model = &self.calls[at];
            if model.is_shown {
                continue;
            }
            let args = Json::parse(model.arguments).unwrap_or(Json::Null);
            let call = call::call(model.id, model.name, &args);
            let paths: Vec<String> = call.edits.iter().map(|edit| edit.path.clone()).collect();
            let shell = call.category == Category::Shell;
            emitter.call_with(call, &args);
            if let Some(output) = &model.result {
                let ok = if model.failed() { Some(false) } else { (!shell).then_some(true) };
                self.edited.extend(paths.into_iter().filter(|_| ok == Some(true)));
                let output = Cow::Borrowed(output.as_ref());
                emitter.end_call(ToolResult { id: model.id, ok, output, ..ToolResult::default() });
            }
        }
        self.emitted = self.emitted.max(end);
    }

    fn shown(&mut self, emitter: &mut EventEmitter<'_>, part: &'a Json<'a>, at: Option<usize>) {
        let model = at.map(|at| &self.calls[at]);
        let details = part.get("resultDetails");
        let data = part.get("toolSpecificData");
        let text = model.map(|model| model.arguments).or(details.get("input").str()).unwrap_or_default();
        let parsed = Json::parse(text).ok().filter(|args| matches!(args, Json::Obj(_)));
        let args = parsed.unwrap_or_else(|| arguments(part, data));
        let tool = part.get("toolId").str().unwrap_or_default();
        let name = model.map_or_else(|| calls::model_name(tool), |model| Cow::Borrowed(model.name));
        let id = part.get("toolCallId").str().or(model.map(|model| model.id)).unwrap_or_default();
        let call = call::call(id, &name, &args);
        let paths: Vec<String> = call.edits.iter().map(|edit| edit.path.clone()).collect();
        let shell = call.category == Category::Shell;
        match data.get("kind").str() {
            // The list as it stands after the call.
            Some("todoList") => {
                emitter.call(call);
                emitter.plan(plan::of(data.get("todoList")));
            }
            _ => emitter.call_with(call, &args),
        }
        if matches!(part.get("isComplete"), Json::Bool(false)) && model.is_none_or(|one| one.result.is_none())
        {
            return;
        }
        let failed =
            details.get("isError").is_true() || is_refused(part) || model.is_some_and(ModelCall::failed);
        let code = data.at_path(&["terminalCommandState", "exitCode"]).int();
        let ok = if failed { Some(false) } else { (!shell).then_some(true) };
        let output = output(data, details).or_else(|| model?.result.as_deref()).unwrap_or_default();
        emitter.end_call(ToolResult { id, ok, code, output: Cow::Borrowed(output), edits: Vec::new() });
        self.edited.extend(paths.into_iter().filter(|_| ok == Some(true)));
    }

    /// Emits the changes that the editor applied and no call told.
    fn changes(&mut self, emitter: &mut EventEmitter<'_>) {
        let mut edits: Vec<Edit> = Vec::new();
        for edit in std::mem::take(&mut self.applied) {
            let is_told = self.edited.iter().any(|path| edit.path.ends_with(path.as_str()))
                || edits.iter().any(|other| other.path == edit.path);
            if !is_told {
                edits.push(edit);
            }
        }
        if !edits.is_empty() {
            let id = Cow::Borrowed("working copy");
            emitter.outcome(Outcome { id, ok: Some(true), edits, ..Outcome::default() });
        }
    }
}

fn is_call(part: &Json<'_>) -> bool {
    matches!(part.get("kind").str(), Some("toolInvocationSerialized" | "toolInvocation"))
}

/// Whether the user refused a call or skipped it.
fn is_refused(part: &Json<'_>) -> bool {
    match part.get("isConfirmed") {
        Json::Bool(confirmed) => !confirmed,
        confirmed => confirmed.get("type").int().is_some_and(|how| REFUSALS.contains(&how)),
    }
}

/// The arguments of a call whose own are not kept (yet), out of what the editor shows of it.
fn arguments<'a>(part: &'a Json<'a>, data: &'a Json<'a>) -> Json<'a> {
    let field =
        |name: &'static str, value: Cow<'a, str>| Json::Obj(vec![(Cow::Borrowed(name), Json::Str(value))]);
    let line = data.get("commandLine");
    let command =
        line.first(&["userEdited", "toolEdited", "original"]).or(line.str()).or(data.get("command").str());
    if let Some(command) = command {
        return field("command", Cow::Borrowed(command));
    }
    match data.get("kind").str() {
        Some("input") => return data.get("rawInput").clone(),
        Some("subagent") => {
            return field(
                "prompt",
                Cow::Borrowed(data.first(&["prompt", "description"]).unwrap_or_default()),
            );
        }
        _ => {}
    }
    let message = part.get("invocationMessage");
    let shown = message.get("uris").fields().first().map(|(uri, _)| address(uri));
    if let Some(path) = shown {
        return field("path", Cow::Owned(path));
    }
    field("message", Cow::Borrowed(message.get("value").str().or(message.str()).unwrap_or_default()))
}

/// What a call returned, as far as the editor shows it.
fn output<'a>(data: &'a Json<'a>, details: &'a Json<'a>) -> Option<&'a str> {
    let list = details.get("output").items();
    let shown =
        list.iter().find_map(|one| one.get("value").str().filter(|_| !one.get("base64Data").is_true()));
    data.at_path(&["terminalCommandOutput", "text"]).str().or(data.get("result").str()).or(shown)
}

/// A file that the editor changed; what was there before is not kept.
fn applied(part: &Json<'_>) -> Option<Edit> {
    let is_changed =
        part.get("edits").items().iter().any(|group| !group.items().is_empty() || !group.fields().is_empty());
    is_changed.then(|| Some(Edit::bare(&path(part.get("uri"))?, Change::Modified)))?
}

/// A file that the editor made, moved or deleted.
fn moved(edit: &Json<'_>) -> Option<Edit> {
    match (path(edit.get("oldResource")), path(edit.get("newResource"))) {
        (None, Some(new)) => Some(Edit::bare(&new, Change::Created)),
        (Some(old), None) => Some(Edit::bare(&old, Change::Deleted)),
        (Some(old), Some(new)) => Some(Edit { from: Some(old), ..Edit::bare(&new, Change::Renamed) }),
        (None, None) => None,
    }
}

/// The path of an address, which is a text or an object.
fn path(uri: &Json<'_>) -> Option<String> {
    uri.first(&["path", "fsPath"]).map(str::to_owned).or_else(|| uri.str().map(address))
}

/// What stands in a text for a file or a symbol.
fn reference(part: &Json<'_>) -> String {
    let one = part.get("inlineReference");
    let named = part.get("name").str().or(one.get("name").str()).map(str::to_owned);
    let place =
        || path(one).or_else(|| path(one.get("uri"))).or_else(|| path(one.at_path(&["location", "uri"])));
    let file = named.or_else(|| place()?.rsplit('/').next().map(str::to_owned)).unwrap_or_default();
    if file.is_empty() { file } else { format!("`{file}`") }
}
