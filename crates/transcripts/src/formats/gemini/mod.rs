//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, a log of messages and of edits to messages; older
//! versions wrote one `.json` document.
//!
//! Sub-agents write beside it, in `<session id>/<id>.jsonl`; they are read with their session.

mod fold;
mod header;
pub(crate) mod message;
mod read;

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::json::Json;
use crate::shared::sidecar;

/// The format.
#[derive(Debug)]
pub struct Gemini;

const ID: &str = "gemini";

impl TranscriptReader for Gemini {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        // The variable names the directory in which `.gemini` lies.
        let root = env.dir("GEMINI_CLI_HOME").unwrap_or_else(|| env.home.clone()).join(".gemini");
        for project in entries(&root.join("tmp")) {
            let chats = entries(&project.path().join("chats"));
            chats
                .iter()
                .filter(|entry| is_session(entry))
                .filter_map(|entry| TranscriptFile::entry(ID, entry))
                .for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let document = String::from_utf8_lossy(&head[..head.len().min(64 * 1024)]);
        let has = |key: &str| document.contains(key);
        let is_document = document.trim_start().starts_with('{')
            && has("\"sessionId\"")
            && has("\"messages\"")
            && (has("\"projectHash\"") || has("\"startTime\""))
            && !has("\"payload\"");
        is_document || chunk::lines(head).take(20).any(is_record)
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        header::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}

fn is_record(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let json = Json::parse(&text).unwrap_or(Json::Null);
    let introduces = json.get("sessionId").str().is_some()
        && json.get("type").is_null()
        && (!json.get("projectHash").is_null() || !json.get("startTime").is_null());
    introduces || matches!(json.get("$set"), Json::Obj(_)) || json.get("$rewindTo").str().is_some()
}

fn is_session(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    name.to_str().is_some_and(|name| {
        name.starts_with("session-") && (name.ends_with(".jsonl") || name.ends_with(".json"))
    })
}

/// The working directory of a session: a file beside `chats` names it, else the list of projects.
fn project_root(path: &Path) -> Option<String> {
    let dir = path.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == "chats"))?.parent()?;
    let root = sidecar::text(&dir.join(".project_root"));
    if !root.trim().is_empty() {
        return Some(root.trim().to_owned());
    }
    let (slug, list) =
        (dir.file_name()?.to_str()?, sidecar::text(&dir.parent()?.parent()?.join("projects.json")));
    let list = sidecar::json(&list);
    let named = list.get("projects").fields().iter().find(|(_, name)| name.str() == Some(slug));
    named.map(|(root, _)| root.clone().into_owned())
}

/// The transcripts of the sub-agents of a session, with the id of each.
fn subagents(path: &Path, session: &str) -> Vec<(String, PathBuf)> {
    // The id comes out of the file; a path in it would lead elsewhere.
    let Some(chats) = path.parent().filter(|_| !session.is_empty() && !session.contains(['/', '\\', '.']))
    else {
        return Vec::new();
    };
    let named = |path: PathBuf| Some((path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned(), path));
    entries(&chats.join(session)).iter().map(DirEntry::path).filter_map(named).collect()
}
