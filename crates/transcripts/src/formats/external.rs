//! Baton's own events, one in a line: what `baton handoff from-transcript --format jsonl` writes, and what a program
//! `baton-reader-NAME` prints for a tool that Baton does not read. Such sessions lie in Baton's cache folder, one file each.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::event::{Call, Category, Edit, Event, EventKind, SourcePosition, TranscriptInfo};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::event_row::edit;
use crate::shared::json::Json;
use crate::shared::{heading, plan};

/// The format.
#[derive(Debug)]
pub struct External;

const ID: &str = "external";

/// What the first line says of the form of the others. A later version may have events that this one counts as unknown.
pub const EVENTS_FORMAT: &str = "baton-events/1";

impl TranscriptReader for External {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for reader in entries(&external_sessions(env)) {
            for entry in entries(&reader.path()) {
                if entry.path().extension().is_some_and(|end| end == "jsonl") {
                    TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
                }
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let first = chunk::lines(head).next().and_then(|line| std::str::from_utf8(line).ok());
        let json = first.and_then(|line| Json::parse(line).ok()).unwrap_or(Json::Null);
        json.get("event").str() == Some("session") && json.get("id").str().is_some()
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        heading::of_lines(found, read_header_line)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let mut emitter = EventEmitter::new(sink);
        let mut waiting = WaitingCalls::default();
        emitter.each_line(path, &mut |emitter, json| event(emitter, &mut waiting, json));
        waiting.flush(&mut emitter);
        emitter.finish()
    }
}

/// Where the sessions lie that programs `baton-reader-NAME` gave out: a folder for each of them.
pub fn external_sessions(env: &TranscriptEnv) -> PathBuf {
    let cache = env.dir("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    cache.unwrap_or_else(|| env.home.join(".cache")).join("baton/readers")
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    match json.get("event").str() {
        Some("session") => {
            let text = |key: &str| json.get(key).str().map(str::to_owned);
            header.id = text("id").unwrap_or_default();
            header.cwd = text("cwd");
            header.branch = text("branch");
            header.model = text("model");
            header.title = text("title");
            header.created_at_ms = json.get("created_at").time();
            header.updated_at_ms = json.get("updated_at").time().or(header.updated_at_ms);
        }
        Some("message") if json.get("role").str() == Some("user") && json.get("subagent").is_null() => {
            heading::prompt(header, json.get("text").str().unwrap_or_default());
        }
        Some("message" | "tool_call") => header.empty = false,
        _ => {}
    }
    heading::time(header, json.get("at"));
}

fn event(emitter: &mut EventEmitter<'_>, waiting: &mut WaitingCalls, json: &Json<'_>) {
    emitter.at_ms = json.get("at").time();
    let text = json.get("text").str().unwrap_or_default();
    let name = json.get("event").str().unwrap_or_default();
    match name {
        "tool_call" => return waiting.push(emitter, json),
        "edit" => return waiting.edit(json),
        _ => waiting.flush(emitter),
    }
    emitter.subagent = json.get("subagent").str().map(str::to_owned);
    match name {
        "session" => session(emitter, json),
        "message" if json.get("role").str() == Some("user") => emitter.user(text),
        "message" => emitter.assistant(text),
        "thinking" => emitter.thinking(text),
        "compaction" => emitter.compaction(text),
        "provider_error" => emitter.provider_error(text),
        "interrupted" => emitter.send(EventKind::Interrupted),
        "todo" => emitter.plan(plan::of(json.get("items"))),
        _ => emitter.unknown_type(name),
    }
}

fn session(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let fact = |key: &str| json.get(key).str().map(Cow::Borrowed);
    emitter.session(TranscriptInfo {
        id: fact("id"),
        cwd: fact("cwd"),
        branch: fact("branch"),
        commit: fact("commit"),
        model: fact("model"),
        version: fact("version"),
    });
}

/// Calls whose changes of files may follow: those of calls that ran at once stand after all of them.
#[derive(Default)]
struct WaitingCalls {
    calls: Vec<WaitingCall>,
    /// How many calls there were, by which they are told apart.
    count: u64,
}

struct WaitingCall {
    id: String,
    name: String,
    category: Category,
    target: String,
    edits: Vec<Edit>,
    result: WaitingResult,
    position: SourcePosition,
    at_ms: Option<i64>,
    subagent: Option<String>,
}

/// What is told of the end of a call.
struct WaitingResult {
    ok: Option<bool>,
    exit_code: Option<i64>,
    output: Option<String>,
}

impl WaitingCalls {
    fn push(&mut self, emitter: &EventEmitter<'_>, json: &Json<'_>) {
        self.count += 1;
        let text = |key: &str| json.get(key).str().map(str::to_owned);
        let ok = match json.get("ok") {
            Json::Bool(ok) => Some(*ok),
            _ => None,
        };
        let (exit_code, output) = (json.get("exit_code").int(), text("result"));
        self.calls.push(WaitingCall {
            id: format!("call-{}", self.count),
            name: text("tool").unwrap_or_default(),
            category: category(json.get("category").str().unwrap_or_default()),
            target: text("target").unwrap_or_default(),
            edits: Vec::new(),
            result: WaitingResult { ok, exit_code, output },
            position: emitter.position,
            at_ms: emitter.at_ms,
            subagent: text("subagent"),
        });
    }

    /// A change belongs to the call that works on its file, else to the last one.
    fn edit(&mut self, json: &Json<'_>) {
        let Some(edit) = edit(json) else { return };
        let works_on = |call: &WaitingCall| call.target.contains(&edit.path);
        let at = self.calls.iter().position(works_on).or(self.calls.len().checked_sub(1));
        at.into_iter().for_each(|at| self.calls[at].edits.push(edit.clone()));
    }

    fn flush(&mut self, emitter: &mut EventEmitter<'_>) {
        let now = (emitter.position, emitter.at_ms);
        for call in self.calls.drain(..) {
            (emitter.position, emitter.at_ms) = (call.position, call.at_ms);
            emitter.subagent = call.subagent;
            emitter.call(Call {
                id: Cow::Borrowed(&call.id),
                name: Cow::Owned(call.name),
                category: call.category,
                target: Cow::Owned(call.target),
                edits: call.edits,
                ..Call::default()
            });
            let WaitingResult { ok, exit_code, output } = call.result;
            // A call of which nothing is told had not ended.
            if ok.is_some() || exit_code.is_some() || output.is_some() {
                let output = Cow::Owned(output.unwrap_or_default());
                emitter.end_call(ToolResult { id: &call.id, ok, code: exit_code, output, edits: Vec::new() });
            }
        }
        (emitter.position, emitter.at_ms) = now;
    }
}

fn category(name: &str) -> Category {
    match name {
        "shell" => Category::Shell,
        "edit" => Category::Edit,
        "write" => Category::Write,
        "read" => Category::Read,
        "search" => Category::Search,
        "fetch" => Category::Fetch,
        "task" => Category::Task,
        "ask" => Category::Ask,
        _ => match name.strip_prefix("mcp:") {
            Some(server) => Category::Mcp(server.to_owned()),
            None => Category::Other,
        },
    }
}
