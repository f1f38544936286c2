//! Antigravity: `brain/<id>/.system_generated/logs/transcript_full.jsonl` (else `transcript.jsonl`, which is shortened)
//! in `~/.gemini/antigravity-cli` and its siblings. The result of a call is the step that follows it; the plan stands in
//! `task.md`. Where there is no such transcript, `conversations/<id>.db`, see [`database`]. Known from readers of others only.

mod database;
mod wire;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use crate::event::{Event, EventKind, SourcePosition, TranscriptInfo};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::{call, heading, plan, sidecar};
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Antigravity;

const ID: &str = "antigravity";
/// The tool on the command line, on the desktop, in the editor and behind one.
const HOMES: &[&str] =
    &[".gemini/antigravity-cli", ".gemini/antigravity", ".gemini/antigravity-ide", ".gemini/antigravity-acp"];

impl TranscriptReader for Antigravity {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for home in HOMES.iter().map(|home| env.home.join(home)) {
            let mut known = HashSet::new();
            for session in entries(&home.join("brain")) {
                let logs = session.path().join(".system_generated").join("logs");
                let full = TranscriptFile::from_path(ID, &logs.join("transcript_full.jsonl"));
                let one = full.or_else(|| TranscriptFile::from_path(ID, &logs.join("transcript.jsonl")));
                if let Some(one) = one {
                    known.insert(session.file_name());
                    found(one);
                }
            }
            for entry in entries(&home.join("conversations")) {
                let path = entry.path();
                let id = path.file_stem().filter(|id| !known.contains(*id)).and_then(|id| id.to_str());
                let key = id.filter(|_| database::is_one(&path) && path.is_file()).map(str::to_owned);
                if key.is_some() {
                    found(TranscriptFile { agent: ID, stamp: sqlite::stamp(&path), path, key });
                }
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        if sqlite::is_database(head) {
            return memchr::memmem::find(head, b"step_payload").is_some();
        }
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            let source = json.get("source").str().unwrap_or_default();
            let step = !json.get("created_at").is_null() || !json.get("step_index").is_null();
            step && (source == "MODEL" || source.starts_with("USER_") || source.starts_with("SYSTEM"))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        if database::is_one(&found.path) {
            return database::header(found);
        }
        let mut header = heading::of_lines(found, read_header_line);
        header.id = brain(&found.path).and_then(dir_name).unwrap_or(header.id);
        header.cwd = workspace(&found.path).or(header.cwd);
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
        let mut known = Some(TranscriptInfo {
            id: brain(path).and_then(dir_name).map(Cow::Owned),
            cwd: workspace(path).map(Cow::Owned),
            ..TranscriptInfo::default()
        });
        let mut placed = known.as_ref().is_some_and(|known| known.cwd.is_some());
        emitter.each_line(path, &mut |emitter, json| {
            known.take().into_iter().for_each(|known| emitter.session(known));
            step(emitter, json, &mut placed);
        });
        brain(path).into_iter().for_each(|brain| tasks(&mut emitter, brain));
        emitter.finish()
    }
}

/// Emits the plan in the directory of a session.
fn tasks(emitter: &mut EventEmitter<'_>, brain: &Path) {
    let plan = plan::checklist(&sidecar::text(&brain.join("task.md")));
    if !plan.is_empty() {
        (emitter.position, emitter.at_ms) = (SourcePosition::default(), None);
        emitter.plan(Some(plan));
    }
}

/// The directory of a session in which this transcript lies.
fn brain(path: &Path) -> Option<&Path> {
    let inner = path.ancestors().nth(2)?;
    inner.file_name().filter(|name| *name == ".system_generated")?;
    inner.parent()
}

fn dir_name(dir: &Path) -> Option<String> {
    dir.file_name()?.to_str().map(str::to_owned)
}

/// The working directory of a session, as the history of all prompts has it.
fn workspace(path: &Path) -> Option<String> {
    let brain = brain(path)?;
    workspace_in(brain.parent()?.parent()?, &dir_name(brain)?)
}

/// The same, by the home of the tool and the id of the session.
fn workspace_in(home: &Path, id: &str) -> Option<String> {
    let text = sidecar::text(&home.join("history.jsonl"));
    let line = text.lines().rev().find(|line| line.contains(id))?;
    let json = sidecar::json(line);
    let workspace = json.get("workspace").str()?;
    Some(workspace.strip_prefix("file://").unwrap_or(workspace).to_owned())
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    let time = json.get("created_at");
    heading::time(header, if time.is_null() { json.get("timestamp") } else { time });
    match role(json) {
        Role::User => heading::prompt(header, &prompt(json.get("content").str().unwrap_or_default())),
        Role::Agent => header.empty = false,
        _ => {}
    }
    let cwd = json.get("tool_calls").items().iter().find_map(|one| one.at_path(&["args", "Cwd"]).str());
    heading::keep(&mut header.cwd, cwd.map(|cwd| cwd.trim_matches('"')));
}

/// Who speaks in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Agent,
    /// The result of a call.
    Result,
    Compaction,
    Silent,
    Unknown,
}

fn role(json: &Json<'_>) -> Role {
    let (source, name) =
        (json.get("source").str().unwrap_or_default(), json.get("type").str().unwrap_or_default());
    match (source, name) {
        (_, "CHECKPOINT") => Role::Compaction,
        (_, "USER_INPUT") | ("", "user") => Role::User,
        (_, "PLANNER_RESPONSE") | ("", "assistant") | ("MODEL", "") => Role::Agent,
        (_, "SYSTEM_MESSAGE" | "EPHEMERAL_MESSAGE" | "CONVERSATION_HISTORY" | "KNOWLEDGE_ARTIFACTS") => {
            Role::Silent
        }
        (source, "") if source.starts_with("USER") => Role::User,
        ("MODEL", _) | (_, "TOOL_RESPONSE") => Role::Result,
        (source, _) if source.starts_with("SYSTEM") || source.starts_with("USER") => Role::Silent,
        _ => Role::Unknown,
    }
}

/// What the user said, out of the tags in which it stands.
fn prompt(text: &str) -> Cow<'_, str> {
    let inner = text.split_once("<USER_REQUEST>").map_or(text, |(_, rest)| rest);
    let ends = ["</USER_REQUEST>", "<ADDITIONAL_METADATA>", "<USER_SETTINGS_CHANGE>"];
    let end = ends.iter().filter_map(|end| inner.find(end)).min().unwrap_or(inner.len());
    Cow::Borrowed(inner[..end].trim())
}

fn step(emitter: &mut EventEmitter<'_>, json: &Json<'_>, placed: &mut bool) {
    let content = json.get("content").str().unwrap_or_default();
    match role(json) {
        Role::User => emitter.user(&prompt(content)),
        Role::Agent => {
            emitter.thinking(json.get("thinking").str().unwrap_or_default());
            emitter.assistant(content);
            for (at, one) in json.get("tool_calls").items().iter().enumerate() {
                tool(emitter, one, at, placed);
            }
        }
        Role::Result => result(emitter, json, content),
        Role::Compaction => emitter.compaction(content),
        Role::Silent => {}
        Role::Unknown => emitter.unknown_type(json.first(&["type", "source"]).unwrap_or_default()),
    }
    if json.get("status").str() == Some("CANCELED") {
        emitter.send(EventKind::Interrupted);
    }
}

fn tool(emitter: &mut EventEmitter<'_>, one: &Json<'_>, at: usize, placed: &mut bool) {
    let (raw, id) = (one.get("args"), format!("step {}/{at}", emitter.position.line));
    begin(emitter, &id, one.get("name").str().unwrap_or_default(), &unpacked(raw), placed);
}

/// Emits a call, and the directory that it names where none is known yet.
fn begin(emitter: &mut EventEmitter<'_>, id: &str, name: &str, args: &Json<'_>, placed: &mut bool) {
    if let Some(cwd) = args.get("Cwd").str().filter(|_| !*placed) {
        *placed = true;
        emitter.session(TranscriptInfo { cwd: Some(Cow::Borrowed(cwd)), ..TranscriptInfo::default() });
    }
    emitter.call(call::call(id, name.strip_prefix("default_api:").unwrap_or(name), args));
}

/// The arguments, whose values the shortened transcript packs as JSON into strings.
fn unpacked<'b>(args: &'b Json<'b>) -> Json<'b> {
    let value = |value: &'b Json<'b>| match value.str().filter(|text| text.starts_with(['"', '[', '{'])) {
        Some(text) => Json::parse(text).unwrap_or_else(|_| value.clone()),
        None => value.clone(),
    };
    Json::Obj(args.fields().iter().map(|(key, field)| (key.clone(), value(field))).collect())
}

/// The result of the oldest call that has none yet.
fn result(emitter: &mut EventEmitter<'_>, json: &Json<'_>, content: &str) {
    let Some(id) = emitter.waiting().map(|open| open.id.clone()) else { return };
    let failed = matches!(json.get("status").str(), Some("ERROR" | "FAILED" | "CANCELED"));
    let is_error = content.starts_with("Error") || content.contains("Encountered error in step execution");
    let ok = Some(!failed && !is_error);
    emitter.end_call(ToolResult { id: &id, ok, output: Cow::Borrowed(content), ..ToolResult::default() });
}
