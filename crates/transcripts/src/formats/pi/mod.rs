//! Pi, and those that keep their sessions as it does: `~/.pi/agent/sessions/--<directory>--/*.jsonl`, a tree of lines
//! linked by `parentId`; the first version had no links. OpenClaw and omp have homes of their own; OpenClaw keeps the same entries
//! in a database since 2026.7.2, and omp the sessions of sub-agents in a folder beside that of their parent.

mod database;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chain::Links;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::typed::TypedCommand;
use crate::shared::{call, heading};
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Pi;

const ID: &str = "pi";
/// The line that introduces the session is none of its entries.
const LINKS: Links = Links { by_id: true, of: |name| name != "session" };
/// Entries that tell nothing of use here.
const IGNORED: &[&str] =
    &["thinking_level_change", "label", "custom", "custom_message", "session_info", "leaf", "title"];
/// Sub-agents may have sub-agents, but not without end.
const MAX_DEPTH: usize = 8;

impl TranscriptReader for Pi {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let roots = [env.dir_or_home("PI_CODING_AGENT_DIR", ".pi/agent"), env.home.join(".omp/agent")];
        for root in roots {
            for project in entries(&root.join("sessions")) {
                sessions(&project.path(), found);
            }
        }
        let named = env.dir_or_home("OPENCLAW_STATE_DIR", ".openclaw");
        for root in [named, env.home.join(".clawdbot"), env.home.join(".moltbot")] {
            for agent in entries(&root.join("agents")) {
                openclaw(&agent.path(), found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        if sqlite::is_database(head) {
            return memchr::memmem::find(head, sqlite::openclaw::EVENTS.as_bytes()).is_some();
        }
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            let message = json.get("message");
            let introduces = json.get("type").str() == Some("session") && json.get("id").str().is_some();
            let has = |key: &str| !message.get(key).is_null();
            introduces
                || (json.get("type").str() == Some("message") && (has("stopReason") || has("toolCallId")))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        if database::is_one(&found.path) {
            return database::header(found);
        }
        let mut header = heading::of_lines(found, read_header_line);
        header.subagent = is_nested(&found.path);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        self.read_session(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let mut emitter = EventEmitter::new(sink);
        if database::is_one(path) {
            database::read(&mut emitter, path, key);
            return emitter.finish();
        }
        emitter.each_linked(path, LINKS, &mut record);
        subagents(&mut emitter, path, 0);
        emitter.finish()
    }
}

/// Whether a file of this name is a session; copies that were put aside are none.
fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.contains(".checkpoint.") && !name.contains(".deleted.")
}

/// The sessions in a directory, and those of their sub-agents.
fn sessions(dir: &Path, found: &mut dyn FnMut(TranscriptFile)) {
    let known = &mut HashSet::new();
    files(dir, known, 0, found);
}

fn files(dir: &Path, known: &mut HashSet<String>, depth: usize, found: &mut dyn FnMut(TranscriptFile)) {
    for entry in entries(dir) {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_session(name)) else { continue };
        if let Some(one) = TranscriptFile::entry(ID, &entry).filter(|_| !known.contains(stem(name))) {
            found(one);
        }
        if depth < MAX_DEPTH {
            files(&entry.path().with_extension(""), known, depth + 1, found);
        }
    }
}

fn stem(name: &str) -> &str {
    name.strip_suffix(".jsonl").unwrap_or(name)
}

/// The sessions of an agent of OpenClaw. Files that were taken over into the database stay where they were.
fn openclaw(agent: &Path, found: &mut dyn FnMut(TranscriptFile)) {
    let mut known = HashSet::new();
    let path = agent.join("agent/openclaw-agent.sqlite");
    sqlite::openclaw::find(ID, &path, &mut |one: TranscriptFile| {
        known.extend(one.key.clone());
        found(one);
    });
    files(&agent.join("sessions"), &mut known, 0, found);
}

/// Whether a session is that of a sub-agent: it lies in a folder that has the name of another session.
fn is_nested(path: &Path) -> bool {
    path.parent().is_some_and(|dir| {
        let mut name = dir.as_os_str().to_owned();
        name.push(".jsonl");
        Path::new(&name).is_file()
    })
}

/// Reads the sessions of the sub-agents of a session.
fn subagents(emitter: &mut EventEmitter<'_>, path: &Path, depth: usize) {
    if depth >= MAX_DEPTH || path.extension().is_none_or(|end| end != "jsonl") {
        return;
    }
    for entry in entries(&path.with_extension("")) {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_session(name)) else { continue };
        let outer = emitter.enter(stem(name));
        emitter.each_linked(&entry.path(), LINKS, &mut record);
        subagents(emitter, &entry.path(), depth + 1);
        emitter.leave(outer);
    }
}

/// What the user said, without the time that OpenClaw puts before it: `[Wed 2026-02-18 11:21 GMT+1] `.
fn prompt(text: &str) -> &str {
    const DAYS: &[&str] = &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const WIDEST: usize = 48;
    let Some((stamp, rest)) = text.strip_prefix('[').and_then(|text| text.split_once("] ")) else {
        return text;
    };
    let mut words = stamp.split(' ');
    let is_day = words.next().is_some_and(|day| DAYS.contains(&day));
    let date = words.next().unwrap_or_default();
    let is_date = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_day && is_date && stamp.len() <= WIDEST { rest } else { text }
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    heading::time(header, json.get("timestamp"));
    match json.get("type").str().unwrap_or_default() {
        "session" => {
            if header.id.is_empty() {
                header.id = json.get("id").str().unwrap_or_default().to_owned();
            }
            heading::keep(&mut header.cwd, json.get("cwd").str());
            heading::keep(&mut header.model, json.get("modelId").str());
        }
        "session_info" => heading::keep(&mut header.title, json.get("name").str()),
        "title" => heading::keep(&mut header.title, json.get("title").str()),
        "model_change" => heading::keep(&mut header.model, json.get("modelId").str()),
        "message" => {
            let message = json.get("message");
            heading::keep(&mut header.model, message.get("model").str());
            match message.get("role").str() {
                Some("user") => heading::prompt(header, prompt(&message.get("content").text())),
                Some("assistant") => {
                    header.empty &=
                        message.get("content").text().is_empty() && message.get("content").items().is_empty()
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    match json.get("type").str().unwrap_or_default() {
        "session" => session(emitter, json),
        "model_change" => model(emitter, json.get("modelId")),
        "message" => message(emitter, json.get("message"), json),
        "compaction" => emitter.compaction(json.get("summary").str().unwrap_or_default()),
        // What was learned on a branch that was left.
        "branch_summary" => emitter.thinking(json.get("summary").str().unwrap_or_default()),
        name if IGNORED.contains(&name) => {}
        name => emitter.unknown_type(name),
    }
}

fn session(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let field = |key| json.get(key).str().map(Cow::Borrowed);
    emitter.session(TranscriptInfo {
        id: field("id"),
        cwd: field("cwd"),
        model: field("modelId"),
        ..TranscriptInfo::default()
    });
}

fn model(emitter: &mut EventEmitter<'_>, model: &Json<'_>) {
    emitter.session(TranscriptInfo { model: model.str().map(Cow::Borrowed), ..TranscriptInfo::default() });
}

fn message(emitter: &mut EventEmitter<'_>, message: &Json<'_>, json: &Json<'_>) {
    match message.get("role").str().unwrap_or_default() {
        "user" => emitter.user(prompt(&message.get("content").text())),
        "assistant" => assistant(emitter, message),
        "toolResult" => emitter.end_call(ToolResult {
            id: message.get("toolCallId").str().unwrap_or_default(),
            ok: Some(!message.get("isError").is_true()),
            output: message.get("content").text(),
            ..ToolResult::default()
        }),
        "bashExecution" => typed(emitter, message, json),
        "compactionSummary" => emitter.compaction(message.get("summary").str().unwrap_or_default()),
        "custom" | "hookMessage" | "branchSummary" => {}
        name => emitter.unknown_type(name),
    }
}

fn assistant(emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
    model(emitter, message.get("model"));
    let content = message.get("content");
    emitter.assistant(content.str().unwrap_or_default());
    for part in content.items() {
        match part.get("type").str() {
            Some("text") => emitter.assistant(part.get("text").str().unwrap_or_default()),
            Some("thinking") => emitter.thinking(part.get("thinking").str().unwrap_or_default()),
            Some("toolCall") => {
                let (name, args) = (part.get("name").str().unwrap_or_default(), part.get("arguments"));
                emitter.call(call::call(part.get("id").str().unwrap_or_default(), name, args));
                emitter.plan(call::plan(name, args));
            }
            _ => {}
        }
    }
    let count = |key| message.at_path(&["usage", key]).count();
    emitter.spend(Usage {
        input: count("input"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        output: count("output"),
    });
    match message.get("stopReason").str() {
        Some("aborted") => emitter.send(EventKind::Interrupted),
        Some("error") => emitter.provider_error(message.get("errorMessage").str().unwrap_or("error")),
        _ => {}
    }
}

/// A command that the user typed.
fn typed(emitter: &mut EventEmitter<'_>, message: &Json<'_>, json: &Json<'_>) {
    let id = format!(
        "typed-{}",
        json.get("id").str().map_or_else(|| emitter.position.line.to_string(), str::to_owned)
    );
    let output = message.get("output").text();
    let command = TypedCommand {
        command: message.get("command").str().unwrap_or_default(),
        code: message.get("exitCode").int(),
        output: &output,
    };
    emitter.typed(&id, &command, message.get("cancelled").is_true().then_some(false));
}
