//! `agent-transcripts/<id>/<id>.jsonl`, or `<id>.jsonl` alone: messages without ids and times, often without the
//! results of tools. Sub-agents write in `<id>/subagents/*.jsonl`; they are read with their session.

use std::borrow::Cow;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use super::ID;
use crate::event::{Event, EventKind, TranscriptInfo};
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::blocks;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::heading;
use crate::shared::json::Json;

/// Text that the harness puts into messages of the user.
const INJECTED: &[&str] = &[
    "<user_info>",
    "<system_reminder>",
    "<system-reminder>",
    "<open_and_recently_viewed_files>",
    "<git_status>",
    "<rules>",
    "<agent_skills>",
    "<agent_transcripts>",
    "<timestamp>",
    "<environment_context>",
];

/// Gives out every transcript.
pub(super) fn find(env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
    let root = env.dir_or_home("CURSOR_CONFIG_DIR", ".cursor");
    for project in entries(&root.join("projects")) {
        for entry in entries(&project.path().join("agent-transcripts")) {
            let name = entry.file_name();
            let flat = Path::new(&name).extension().is_some_and(|end| end == "jsonl");
            let own = entry.path().join(&name).with_extension("jsonl");
            let one =
                if flat { TranscriptFile::entry(ID, &entry) } else { TranscriptFile::from_path(ID, &own) };
            one.into_iter().for_each(&mut *found);
        }
    }
}

/// Whether a file that begins like this is such a transcript.
pub(super) fn sniff(head: &[u8]) -> bool {
    chunk::lines(head).take(20).any(|line| {
        let text = String::from_utf8_lossy(line);
        let json = Json::parse(&text).unwrap_or(Json::Null);
        let speaks = matches!(json.get("role").str(), Some("user" | "assistant"));
        let bare = json.get("type").is_null() && json.get("id").is_null() && json.get("timestamp").is_null();
        speaks && bare && matches!(json.at_path(&["message", "content"]), Json::Arr(_))
    })
}

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = heading::of_lines(found, read_header_line);
    header.subagent = is_subagent(&found.path);
    header
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    let content = json.at_path(&["message", "content"]);
    heading::keep(&mut header.model, json.at_path(&["message", "model"]).str());
    match json.get("role").str() {
        Some("user") => {
            heading::keep(&mut header.cwd, workspace(&content.text()));
            heading::prompt(header, &prompt(content));
        }
        Some("assistant") => header.empty = false,
        _ => {}
    }
}

/// What the user said, out of the tag in which it stands.
fn prompt<'a>(content: &'a Json<'a>) -> Cow<'a, str> {
    let text = blocks::message_text(content, INJECTED);
    let inner = text
        .split_once("<user_query>")
        .map(|(_, rest)| rest.split_once("</user_query>").map_or(rest, |(query, _)| query));
    match inner {
        Some(query) => Cow::Owned(query.trim().to_owned()),
        None => text,
    }
}

/// The directory that the harness names.
fn workspace(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Workspace Path: ")?;
    rest.lines().next().map(str::trim).filter(|path| !path.is_empty())
}

/// Reads a transcript with its sub-agents.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let mut id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    emitter.each_line(path, &mut |emitter, json| {
        if let Some(id) = id.take() {
            emitter.session(TranscriptInfo { id: Some(Cow::Owned(id)), ..TranscriptInfo::default() });
        }
        record(emitter, json);
    });
    close(&mut emitter);
    for (agent, path) in subagents(path) {
        emitter.switch(agent);
        emitter.each_line(&path, &mut record);
        close(&mut emitter);
    }
    emitter.finish()
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let content = json.at_path(&["message", "content"]);
    match (json.get("role").str(), json.get("type").str()) {
        (Some("user" | "tool"), _) => {
            blocks::results(emitter, content);
            let cwd = content.text();
            emitter.session(TranscriptInfo {
                cwd: workspace(&cwd).map(Cow::Borrowed),
                ..TranscriptInfo::default()
            });
            let text = prompt(content);
            if !text.trim().is_empty() {
                close(emitter);
                emitter.user(&text);
            }
        }
        (Some("assistant"), _) => {
            blocks::results(emitter, content);
            close(emitter);
            blocks::assistant(emitter, content);
        }
        (_, Some("turn_ended")) => {
            close(emitter);
            if matches!(json.get("status").str(), Some("aborted" | "cancelled" | "interrupted")) {
                emitter.send(EventKind::Interrupted);
            }
        }
        (role, name) => emitter.unknown_type(name.or(role).unwrap_or_default()),
    }
}

/// Where results are not recorded, the agent's next message implies that its calls have ended.
fn close(emitter: &mut EventEmitter<'_>) {
    while let Some(open) = emitter.waiting() {
        let id = open.id.clone();
        emitter.end_call(ToolResult { id: &id, ..ToolResult::default() });
    }
}

fn is_subagent(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|name| name == "subagents")
}

fn subagents(path: &Path) -> Vec<(String, PathBuf)> {
    let Some(dir) = path.parent() else { return Vec::new() };
    // A transcript that lies flat among others has no directory of its own.
    let own = dir.file_name() == path.file_stem();
    let dir = if own { dir.to_owned() } else { path.with_extension("") };
    let named = |path: PathBuf| Some((path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned(), path));
    entries(&dir.join("subagents")).iter().map(DirEntry::path).filter_map(named).collect()
}
