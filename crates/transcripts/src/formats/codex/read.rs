//! The full read of a rollout.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::Path;

use super::imported::{self, Piece};
use super::items;
use super::line;
use super::scan::{Scan, scan};
use super::script::{Progress, Script, printed};
use crate::event::{
    Call, Category, Event, EventKind, Outcome, SourcePosition, TYPED_COMMAND, TranscriptInfo,
};
use crate::format::Output;
use crate::report::{Report, kind};
use crate::shared::chunk;
use crate::shared::json::Json;
use crate::shared::lines::{self, Line, Lines};
use crate::shared::{call, shell, time, tool, typed};

/// Reads a rollout.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut reader = Reader {
        out: Output::new(sink),
        scan: Scan::default(),
        met: false,
        position: SourcePosition::default(),
        at_ms: None,
        waiting: VecDeque::new(),
        called: HashSet::new(),
        script: None,
    };
    if reader.file(path).is_err() {
        reader.out.complaints.add(kind::UNREADABLE, 0);
    }
    reader.out.finish()
}

struct Reader<'s> {
    out: Output<'s>,
    scan: Scan,
    /// Whether the session has introduced itself. A fork repeats the introduction of its origin; the first counts.
    met: bool,
    position: SourcePosition,
    at_ms: Option<i64>,
    /// Imported calls without a result, oldest first.
    waiting: VecDeque<String>,
    /// The ids of calls that were told. An item of any other id tells of a call that a program made.
    called: HashSet<String>,
    /// The newest program, until something tells what it did.
    script: Option<Script>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path) -> io::Result<()> {
        self.scan = scan(path)?;
        let mut lines = Lines::new(chunk::open(path)?);
        while let Some(line) = lines.next_line() {
            self.line(&line);
            self.out.report.lines += 1;
        }
        self.flush_script();
        if lines.failed() {
            self.out.complaints.add(kind::UNREADABLE, self.out.report.lines);
        }
        self.out.report.bytes = lines.position();
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>) {
        let ignored = line.bytes.and_then(line::leading_type).is_some_and(line::is_ignored);
        if ignored || self.scan.is_dropped(line.position.line) {
            return;
        }
        let Some(text) = lines::text(line, &mut self.out.complaints) else { return };
        let Some(json) = lines::value(&text, line, &mut self.out.complaints) else { return };
        (self.position, self.at_ms) = (line.position, json.get("timestamp").str().and_then(time::parse));
        self.record(&json);
    }

    fn record(&mut self, json: &Json<'_>) {
        let payload = json.get("payload");
        match json.get("type").str().unwrap_or_default() {
            "session_meta" => self.meta(payload),
            "turn_context" => self.turn_context(payload),
            "response_item" => self.item(payload),
            "event_msg" => self.event(payload),
            "compacted" => self.send(EventKind::Compaction(payload.get("message").text())),
            "token_usage_record" => self.usage(payload.get("thread_token_usage")),
            name if line::is_bare(name) => self.item(json),
            name if line::is_ignored(name) || json.get("record_type").str() == Some("state") => {}
            "" if json.get("id").str().is_some() && !json.get("timestamp").is_null() => self.meta(json),
            name => self.out.complaints.add_unknown_type(name, self.position.line),
        }
    }

    fn send(&mut self, what: EventKind<'_>) {
        self.out.send(&Event { position: self.position, at_ms: self.at_ms, subagent: None, what });
    }

    fn meta(&mut self, meta: &Json<'_>) {
        if std::mem::replace(&mut self.met, true) {
            return;
        }
        let field = |value: &'_ Json<'_>| value.str().map(|text| Cow::Owned(text.to_owned()));
        self.send(EventKind::Session(TranscriptInfo {
            id: meta.first(&["id", "session_id"]).map(|id| Cow::Owned(id.to_owned())),
            cwd: field(meta.get("cwd")),
            branch: field(meta.at_path(&["git", "branch"])),
            commit: field(meta.at_path(&["git", "commit_hash"])),
            model: field(meta.get("model")),
            version: field(meta.get("cli_version")),
        }));
    }

    fn turn_context(&mut self, context: &Json<'_>) {
        let field = |key| context.get(key).str().map(Cow::Borrowed);
        self.send(EventKind::Session(TranscriptInfo {
            cwd: field("cwd"),
            model: field("model"),
            ..TranscriptInfo::default()
        }));
    }

    fn item(&mut self, item: &Json<'_>) {
        match item.get("type").str().unwrap_or("message") {
            "message" => self.message(item),
            "reasoning" => self.reasoning(item),
            "function_call" => self.function_call(item),
            "custom_tool_call" => self.custom_call(item),
            "local_shell_call" => self.call(items::local_shell_call(item)),
            "function_call_output" | "custom_tool_call_output" => self.output(item),
            "web_search_call" => self.web_search(item),
            name if line::is_ignored_item(name) => {}
            name => self.out.complaints.add_unknown_type(name, self.position.line),
        }
    }

    fn message(&mut self, item: &Json<'_>) {
        let message = item.get("content").text();
        let role = item.get("role").str();
        if matches!(role, Some("user" | "assistant")) && imported::is_imported(&message) {
            return self.imported(&message, role == Some("user"));
        }
        match role {
            Some("user") => {
                self.typed(item.get("content"));
                if let Some(text) = line::prompt(item.get("content")) {
                    self.send(EventKind::User(Cow::Owned(text)));
                }
            }
            Some("assistant") => {
                let text = item.get("content").text();
                if !text.trim().is_empty() {
                    self.send(EventKind::Assistant(text));
                }
            }
            _ => {}
        }
    }

    /// A message of another agent's session: its calls are told as calls, in the words of the tool that made them.
    fn imported(&mut self, typed: &str, by_user: bool) {
        for (nth, piece) in imported::pieces(typed).into_iter().enumerate() {
            match piece {
                Piece::Words(words) if by_user => {
                    line::own_words(words).into_iter().for_each(|own| self.send(EventKind::User(own.into())));
                }
                Piece::Words(words) => self.send(EventKind::Assistant(words.into())),
                Piece::Call { name, args } => {
                    let Ok(args) = Json::parse(&args) else { continue };
                    let id = format!("imported-{}/{nth}", self.position.line);
                    self.send(EventKind::Call(call::call(&id, name, &args)));
                    self.waiting.push_back(id.clone());
                }
                Piece::Result { failed, text } => {
                    let Some(id) = self.waiting.pop_front() else { continue };
                    let (code, output) = shell::split_exit_code(text);
                    self.send(EventKind::Outcome(Outcome {
                        id: Cow::Owned(id),
                        ok: Some(!failed),
                        exit_code: code.filter(|_| failed),
                        output: output.into(),
                        edits: Vec::new(),
                    }));
                }
            }
        }
    }

    /// A command that the user ran, which stands in a message with what came of it.
    fn typed(&mut self, content: &Json<'_>) {
        let text = content.text();
        let Some(typed) = typed::in_message(&text) else { return };
        let id = format!("typed-{}", self.position.line);
        self.send(EventKind::Call(Call {
            id: Cow::Borrowed(&id),
            name: Cow::Borrowed(TYPED_COMMAND),
            category: Category::Shell,
            target: Cow::Borrowed(typed.command),
            ..Call::default()
        }));
        self.send(EventKind::Outcome(Outcome {
            id: Cow::Borrowed(&id),
            ok: typed.code.map(|code| code == 0),
            exit_code: typed.code,
            output: Cow::Borrowed(typed.output),
            edits: Vec::new(),
        }));
    }

    fn reasoning(&mut self, item: &Json<'_>) {
        let text = item.get("summary").text();
        if !text.is_empty() {
            self.send(EventKind::Thinking(text));
        }
    }

    fn function_call(&mut self, item: &Json<'_>) {
        // Arguments are JSON inside a string; some tools that write rollouts put an object there.
        let raw = item.get("arguments");
        let parsed = raw.str().and_then(|text| Json::parse(text).ok());
        let args = parsed.as_ref().unwrap_or(raw);
        self.call(items::function_call(item, args));
        let plan = items::plan(args);
        if item.get("name").str() == Some("update_plan") && !plan.is_empty() {
            self.send(EventKind::Plan(plan));
        }
    }

    fn call(&mut self, call: Call<'_>) {
        self.called.insert(call.id.clone().into_owned());
        self.send(EventKind::Call(call));
    }

    fn custom_call(&mut self, item: &Json<'_>) {
        let Some(script) = Script::of(item, self.position, self.at_ms) else {
            return self.call(items::custom_call(item));
        };
        self.flush_script();
        self.script = Some(script);
    }

    /// The result of a call. That of a program is told where no item tells what it did, or where it failed.
    fn output(&mut self, item: &Json<'_>) {
        let outcome = items::output(item);
        let Some(mut script) = self.script.take_if(|script| script.id == outcome.id) else {
            return self.send(EventKind::Outcome(outcome));
        };
        let progress = Progress::of(&outcome.output);
        match progress {
            Some(Progress::Running) => self.script = Some(script),
            Some(Progress::Completed) if script.has_items => {}
            _ => {
                script.has_items = false;
                self.script = Some(script);
                self.flush_script();
                let ok = progress.map(|state| state == Progress::Completed).or(outcome.ok);
                let output = Cow::Owned(printed(&outcome.output).to_owned());
                self.send(EventKind::Outcome(Outcome { ok, output, ..outcome }));
            }
        }
    }

    /// Tells of a program of which no item told.
    fn flush_script(&mut self) {
        let Some(script) = self.script.take().filter(|script| !script.has_items) else { return };
        self.called.insert(script.id.clone());
        let (place, at_ms) = (script.position, script.at_ms);
        self.out.send(&Event {
            position: place,
            at_ms,
            subagent: None,
            what: EventKind::Call(script.call()),
        });
    }

    fn web_search(&mut self, item: &Json<'_>) {
        let id = item.first(&["call_id", "id"]).unwrap_or("web_search");
        let query =
            item.at_path(&["action", "query"]).str().or_else(|| item.get("query").str()).unwrap_or_default();
        self.send(EventKind::Call(crate::event::Call {
            id: Cow::Borrowed(id),
            name: Cow::Borrowed("web_search"),
            category: tool::category("web_search"),
            target: Cow::Borrowed(query),
            ..crate::event::Call::default()
        }));
        self.send(EventKind::Outcome(Outcome {
            id: Cow::Borrowed(id),
            ok: Some(true),
            ..Outcome::default()
        }));
    }

    fn event(&mut self, event: &Json<'_>) {
        match event.get("type").str().unwrap_or_default() {
            "user_message" if !self.scan.user_items => {
                let text = event.get("message").str().and_then(line::own_words);
                text.into_iter().for_each(|text| self.send(EventKind::User(Cow::Borrowed(text))));
            }
            "agent_message" if !self.scan.agent_items => {
                event
                    .get("message")
                    .str()
                    .into_iter()
                    .for_each(|text| self.send(EventKind::Assistant(Cow::Borrowed(text))));
            }
            "token_count" => self.usage(event.at_path(&["info", "total_token_usage"])),
            "turn_aborted" => self.send(EventKind::Interrupted),
            "error" | "stream_error" => self.provider_error(event),
            // Where a turn ended with an error, it is said here and, in 0.169, nowhere else.
            "task_complete" if !event.get("error").is_null() => self.provider_error(event),
            "item_completed" => self.completed(event.get("item")),
            "exec_command_end" | "patch_apply_end" => {
                items::outcome(event).into_iter().for_each(|outcome| self.send(EventKind::Outcome(outcome)));
            }
            _ => {}
        }
    }

    fn provider_error(&mut self, event: &Json<'_>) {
        let message = event.get("message").str().or_else(|| event.at_path(&["error", "message"]).str());
        if let Some(text) = message.filter(|text| !text.trim().is_empty()) {
            self.send(EventKind::ProviderError(Cow::Borrowed(text)));
        }
    }

    fn completed(&mut self, item: &Json<'_>) {
        match item.get("type").str() {
            Some("UserMessage") if !self.scan.user_items => {
                if let Some(text) = line::prompt(item.get("content")) {
                    self.send(EventKind::User(Cow::Owned(text)));
                }
            }
            Some("AgentMessage") if !self.scan.agent_items => {
                self.send(EventKind::Assistant(item.get("content").text()))
            }
            _ => self.completed_call(item),
        }
    }

    /// A finished item of a call; where nothing told of the call, a program made it.
    fn completed_call(&mut self, item: &Json<'_>) {
        let id = item.get("id").str().unwrap_or_default();
        if !self.called.contains(id)
            && let Some(call) = items::completed_call(item)
        {
            self.script.iter_mut().for_each(|script| script.has_items = true);
            self.call(call);
        }
        items::completed(item).into_iter().for_each(|outcome| self.send(EventKind::Outcome(outcome)));
    }

    fn usage(&mut self, total: &Json<'_>) {
        if let Some(usage) = items::usage(total) {
            self.send(EventKind::Usage(usage));
        }
    }
}
