//! Claude Code: `~/.claude/projects/<slug>/<uuid>.jsonl`, a tree of lines linked by `parentUuid`.
//!
//! Sub-agents write beside it, in `<uuid>/subagents/agent-*.jsonl`, those of a workflow in folders below; they are read with their
//! session.

mod header;
mod line;
mod queue;
mod read;
mod tools;

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::permission_mode::{LineMode, PermissionMode, field};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::json::Json;

/// The format.
#[derive(Debug)]
pub struct Claude;

const ID: &str = "claude";

impl TranscriptReader for Claude {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let projects = env.dir_or_home("CLAUDE_CONFIG_DIR", ".claude").join("projects");
        for project in unsorted(&projects) {
            let sessions = unsorted(&project.path()).filter(|entry| is_session(&entry.file_name()));
            sessions.filter_map(|entry| TranscriptFile::entry(ID, &entry)).for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(40).any(|line| {
            let json =
                std::str::from_utf8(line).ok().and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
            is_talk(&json) || is_about(&json)
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        header::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }

    fn permission_mode(&self) -> Option<LineMode> {
        Some(line_mode)
    }
}

/// The mode that a line sets.
fn line_mode(line: &[u8]) -> Option<PermissionMode> {
    match field(line, "\"permissionMode\":\"")? {
        "plan" => Some(PermissionMode::Plan),
        "acceptEdits" | "auto" => Some(PermissionMode::Edits),
        "bypassPermissions" => Some(PermissionMode::Full),
        _ => Some(PermissionMode::Ask),
    }
}

/// A turn. Other tools that link their lines alike keep the words of a turn in other fields.
fn is_talk(json: &Json<'_>) -> bool {
    let turn = matches!(json.get("type").str(), Some("user" | "assistant"));
    turn && !json.at_path(&["message", "content"]).is_null() && json.get("payload").is_null()
}

/// A line about a session, of a type that only this tool writes.
fn is_about(json: &Json<'_>) -> bool {
    let own = |name| matches!(line::kind_of(name), line::Kind::Ignored | line::Kind::About);
    let named = ["sessionId", "leafUuid", "messageId"].iter().any(|key| json.get(key).str().is_some());
    named && json.get("type").str().is_some_and(own) && json.get("payload").is_null()
}

/// The entries of a directory as they come: a listing is sorted by time in the end.
fn unsorted(dir: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(dir).into_iter().flatten().flatten()
}

/// Whether a file of this name is a session, and of no sub-agent.
pub(crate) fn is_session(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".jsonl") && !name.starts_with("agent-"))
}

fn is_subagent(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("agent-"))
}

/// How deep the folders of sub-agents lie: those of a workflow in `subagents/workflows/<run>`.
const SUBAGENT_FOLDERS: usize = 3;

/// The transcripts of the sub-agents of a session, with the id of each.
fn subagents(path: &Path) -> Vec<(String, PathBuf)> {
    let named = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned();
        Some((id, path))
    };
    let mut files = Vec::new();
    let mut folders = vec![(path.with_extension("").join("subagents"), 1)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in entries(&folder) {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match is_folder {
                true if depth < SUBAGENT_FOLDERS => folders.push((entry.path(), depth + 1)),
                true => {}
                false => files.extend(named(entry.path())),
            }
        }
    }
    files
}
