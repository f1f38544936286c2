//! What was shown to the user: entries that say or ask something.

use std::borrow::Cow;

use super::verdicts::{CallOutcome, Verdicts};
use crate::event::{Call, Category, Change, Edit, EventKind, Outcome, Usage};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::{self, Json};
use crate::shared::plan;
use crate::shared::replaced;
use crate::shared::shell;

/// Reads entries one after the other.
pub(super) struct MessageReader {
    verdicts: Verdicts,
    asked: bool,
    calls: u64,
    /// The open call, and its output so far.
    open: Option<Open>,
    /// An answer while it was being written: it may come again, and whole.
    partial: Option<String>,
}

struct Open {
    id: String,
    shell: bool,
    verdict: Option<CallOutcome>,
    output: Vec<String>,
    failed: bool,
}

impl MessageReader {
    /// Nothing shown yet.
    pub(super) fn new(verdicts: Verdicts) -> Self {
        Self { verdicts, asked: false, calls: 0, open: None, partial: None }
    }

    /// An entry.
    pub(super) fn message(&mut self, emitter: &mut EventEmitter<'_>, entry: &Json<'_>) {
        let text = entry.get("text").str().unwrap_or_default();
        let kind = entry.first(&["say", "ask"]).unwrap_or_default();
        if kind != "text" {
            self.flush(emitter);
        }
        match kind {
            "command_output" => self.output(text),
            "error" | "diff_error" | "command_permission_denied" if self.open.is_some() => {
                self.open.iter_mut().for_each(|open| open.failed = true);
                self.output(text);
            }
            "checkpoint_created" | "checkpoint_saved" => {}
            _ => {
                self.close(emitter);
                emitter.model(entry.at_path(&["modelInfo", "modelId"]).str());
                self.entry(emitter, kind, text, entry);
            }
        }
    }

    /// The last entry was read.
    pub(super) fn end(mut self, emitter: &mut EventEmitter<'_>) {
        self.flush(emitter);
        // A command that still runs has not ended.
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.verdict.is_some() || !open.output.is_empty() || !open.shell)
        {
            self.close(emitter);
        }
    }

    fn entry(&mut self, emitter: &mut EventEmitter<'_>, kind: &str, text: &str, entry: &Json<'_>) {
        match kind {
            "task" | "user_feedback" => self.user(emitter, text),
            "text" if !self.asked => self.user(emitter, text),
            "text" if entry.get("partial").is_true() => self.partial(emitter, text),
            "text" => self.answer(emitter, text),
            "completion_result" | "subtask_result" => self.answer(emitter, text),
            "reasoning" => emitter.thinking(text),
            "followup" | "plan_mode_respond" => {
                let json = json::Json::parse(text).unwrap_or(Json::Null);
                let message = json.first(&["question", "response"]).unwrap_or(text);
                self.answer(emitter, message);
            }
            "command" => self.command(emitter, text),
            "tool" => self.tool(emitter, text),
            "use_mcp_server" => self.mcp(emitter, text),
            "api_req_started" => request(emitter, text),
            "api_req_failed" => emitter.provider_error(text),
            "task_progress" => emitter.plan(plan::checklist(text)),
            "condense_context" | "summarize_task" => {
                let summary = entry.at_path(&["contextCondense", "summary"]).str().unwrap_or(text);
                emitter.send(EventKind::Compaction(Cow::Borrowed(summary)));
            }
            _ => {}
        }
    }

    fn user(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        self.asked = true;
        emitter.user(text);
    }

    fn answer(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        // The whole answer takes the place of its beginning.
        if self.partial.take_if(|begun| text.starts_with(begun.as_str())).is_none() {
            self.flush(emitter);
        }
        emitter.assistant(text);
    }

    fn partial(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        if self.partial.as_ref().is_some_and(|begun| !text.starts_with(begun.as_str())) {
            self.flush(emitter);
        }
        self.partial = Some(text.to_owned());
    }

    fn flush(&mut self, emitter: &mut EventEmitter<'_>) {
        if let Some(text) = self.partial.take() {
            emitter.assistant(&text);
        }
    }

    fn command(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        // The question whether output may be shown repeats the command.
        let input = Json::Obj(vec![(Cow::Borrowed("command"), Json::Str(Cow::Borrowed(text)))]);
        self.begin(emitter, "execute_command", &input);
    }

    fn tool(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        let Some(json) = emitter.json(text) else { return };
        match json.get("tool").str().unwrap_or_default() {
            "updateTodoList" => emitter.plan(plan::items(json.get("todos"))),
            "summarizeTask" => emitter
                .send(EventKind::Compaction(Cow::Borrowed(json.get("content").str().unwrap_or_default()))),
            "finishTask" => {}
            tool => self.begin(emitter, name_of(tool), &json),
        }
    }

    fn mcp(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        let Some(json) = emitter.json(text) else { return };
        let server = json.get("serverName").str().unwrap_or_default();
        let name = format!("mcp__{server}__{}", json.get("toolName").str().unwrap_or_default());
        self.begin(emitter, &name, json.get("arguments"));
    }

    fn begin(&mut self, emitter: &mut EventEmitter<'_>, name: &str, input: &Json<'_>) {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let call = call_of(&id, name, input);
        let shell = call.category == Category::Shell;
        let verdict = self.verdicts.take(shell, &call.target);
        emitter.call_with(call, input);
        self.open = Some(Open { id, shell, verdict, output: Vec::new(), failed: false });
    }

    fn output(&mut self, text: &str) {
        self.open.iter_mut().for_each(|open| open.output.push(text.to_owned()));
    }

    fn close(&mut self, emitter: &mut EventEmitter<'_>) {
        let Some(open) = self.open.take() else { return };
        let shown = open.output.join("\n");
        let (status, output) = match open.verdict {
            Some(verdict) if shown.is_empty() => ((verdict.ok, verdict.exit_code), verdict.output),
            Some(verdict) => ((verdict.ok, verdict.exit_code), shown),
            None => ((None, open.shell.then(|| shell::told_exit(&shown)).flatten()), shown),
        };
        let ok = match status {
            _ if open.failed => Some(false),
            (_, Some(code)) => Some(code == 0),
            (None, None) if !open.shell => Some(true),
            (ok, None) => ok,
        };
        let (id, output) = (Cow::Borrowed(open.id.as_str()), Cow::Owned(output));
        emitter.outcome(Outcome { id, ok, exit_code: status.1, output, edits: Vec::new() });
    }
}

/// The name by which the model calls what is shown under another.
fn name_of(tool: &str) -> &str {
    match tool {
        "editedExistingFile" => "replace_in_file",
        "appliedDiff" => "apply_diff",
        "newFileCreated" => "write_to_file",
        "insertContent" => "insert_content",
        "searchAndReplace" => "search_and_replace",
        "readFile" => "read_file",
        "listFilesTopLevel" | "listFilesRecursive" => "list_files",
        "listCodeDefinitionNames" => "list_code_definition_names",
        "searchFiles" => "search_files",
        "codebaseSearch" => "codebase_search",
        "webFetch" => "web_fetch",
        "newTask" => "new_task",
        other => other,
    }
}

fn call_of<'a>(id: &'a str, name: &'a str, input: &'a Json<'a>) -> Call<'a> {
    let mut call = call::call(id, name, input);
    // What is shown of a change is its content or its diff, under either name.
    let path = input.get("path").str().unwrap_or_default();
    let shown = input.first(&["diff", "content"]).unwrap_or_default();
    match call.category {
        Category::Write => call.edits = vec![written(path, shown)],
        Category::Edit if input.get("batchDiffs").items().is_empty() && !path.is_empty() => {
            call.edits = vec![replaced::from_diff(path, shown)];
        }
        _ => {}
    }
    call
}

/// A new file is shown by its content, or as a diff against nothing.
fn written(path: &str, shown: &str) -> Edit {
    match shown.contains("\n@@") || shown.starts_with("@@") {
        true => Edit::with_diff(path, Change::Created, replaced::hunks(shown)),
        false => Edit::new_text(path, Change::Created, shown),
    }
}

/// A request to the model: its tokens, and whether the user broke it off.
fn request(emitter: &mut EventEmitter<'_>, text: &str) {
    let json = Json::parse(text).unwrap_or(Json::Null);
    emitter.spend(Usage {
        input: json.get("tokensIn").count(),
        cache_read: json.get("cacheReads").count(),
        cache_write: json.get("cacheWrites").count(),
        output: json.get("tokensOut").count(),
    });
    if json.get("cancelReason").str() == Some("user_cancelled") {
        emitter.send(EventKind::Interrupted);
    }
}
