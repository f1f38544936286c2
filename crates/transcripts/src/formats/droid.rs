//! Droid of Factory: `~/.factory/sessions/<slug>/<uuid>.jsonl`, with model and use of tokens in `<uuid>.settings.json`.
//! Known from readers of others only: whatever may be missing may be missing.

use std::borrow::Cow;
use std::fs::DirEntry;
use std::path::Path;

use crate::event::{Event, TranscriptInfo, Usage};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::blocks;
use crate::shared::chain::Links;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::{heading, plan, sidecar};

/// The format.
#[derive(Debug)]
pub struct Droid;

const ID: &str = "droid";
/// Only messages are linked; other lines have ids too.
const LINKS: Links = Links { by_id: true, of: |name| name == "message" };
/// Text that the harness puts into messages of the user.
const INJECTED: &[&str] = &["<system-reminder>", "<system-notification>", "<hook"];
/// Lines that tell nothing of use here.
const IGNORED: &[&str] = &["session_settings", "agent_turn_outcome", "session_end", "session_title"];

impl TranscriptReader for Droid {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let is_session = |entry: &&DirEntry| entry.path().extension().is_some_and(|end| end == "jsonl");
        let top = entries(&env.home.join(".factory/sessions"));
        // Early versions had no directory for a project.
        let inner = top.iter().flat_map(|entry| entries(&entry.path()));
        let inner: Vec<DirEntry> = inner.collect();
        let sessions = top.iter().chain(&inner).filter(is_session);
        sessions.filter_map(|entry| TranscriptFile::entry(ID, entry)).for_each(&mut *found);
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            matches!(json.get("type").str(), Some("session_start" | "todo_state" | "compaction_state"))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = heading::of_lines(found, read_header_line);
        header.model =
            sidecar::json(&settings(&found.path)).get("model").str().map(str::to_owned).or(header.model);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let mut emitter = EventEmitter::new(sink);
        emitter.each_linked(path, LINKS, &mut record);
        let text = settings(path);
        let settings = sidecar::json(&text);
        emitter.session(TranscriptInfo {
            model: settings.get("model").str().map(Cow::Borrowed),
            ..TranscriptInfo::default()
        });
        let count = |key| settings.at_path(&["tokenUsage", key]).count();
        emitter.spend(Usage {
            input: count("inputTokens"),
            cache_read: count("cacheReadTokens"),
            cache_write: count("cacheCreationTokens"),
            output: count("outputTokens"),
        });
        emitter.finish()
    }
}

fn settings(path: &Path) -> String {
    sidecar::text(&path.with_extension("settings.json"))
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    heading::time(header, json.get("timestamp"));
    let message = json.get("message");
    match (json.get("type").str(), message.get("role").str()) {
        (Some("session_start"), _) => {
            if header.id.is_empty() {
                header.id = json.get("id").str().unwrap_or_default().to_owned();
            }
            heading::keep(&mut header.cwd, json.get("cwd").str());
            heading::keep(&mut header.title, json.first(&["sessionTitle", "title"]));
        }
        (Some("message"), Some("user")) => {
            heading::prompt(header, &blocks::message_text(message.get("content"), INJECTED))
        }
        (Some("message"), Some("assistant")) => header.empty = false,
        _ => {}
    }
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    match json.get("type").str().unwrap_or_default() {
        "session_start" => {
            let field = |key| json.get(key).str().map(Cow::Borrowed);
            emitter.session(TranscriptInfo {
                id: field("id"),
                cwd: field("cwd"),
                model: field("model"),
                ..TranscriptInfo::default()
            });
        }
        "message" => message(emitter, json.get("message")),
        "todo_state" => {
            let todos = json.get("todos");
            emitter.plan(plan::of(todos).or_else(|| plan::of(todos.get("todos"))));
        }
        "compaction_state" => emitter.compaction(json.first(&["summaryText", "summary"]).unwrap_or_default()),
        name if IGNORED.contains(&name) => {}
        name => emitter.unknown_type(name),
    }
}

fn message(emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
    let content = message.get("content");
    match message.get("role").str() {
        Some("assistant") => {
            emitter.session(TranscriptInfo {
                model: message.get("model").str().map(Cow::Borrowed),
                ..TranscriptInfo::default()
            });
            blocks::assistant(emitter, content);
        }
        _ => {
            blocks::results(emitter, content);
            emitter.user(&blocks::message_text(content, INJECTED));
        }
    }
}
