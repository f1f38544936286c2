//! The old Kimi CLI, in Python: `~/.kimi/sessions/<hash of the directory>/<session id>/context.jsonl`, the messages as
//! the model sees them. Times and tokens stand in `wire.jsonl` beside it, title and plan in `state.json`. A `wire.jsonl`
//! that is named by itself is read by its messages, or alone where they are gone.

mod read;
mod wire;

use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::json::Json;
use crate::shared::{heading, sidecar};

/// The format.
#[derive(Debug)]
pub struct KimiCli;

const ID: &str = "kimi_cli";

impl TranscriptReader for KimiCli {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.dir_or_home("KIMI_SHARE_DIR", ".kimi");
        for project in entries(&root.join("sessions")) {
            let files = entries(&project.path()).into_iter().map(|entry| entry.path().join("context.jsonl"));
            files.filter_map(|path| TranscriptFile::from_path(ID, &path)).for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            matches!(json.get("role").str(), Some("_system_prompt" | "_checkpoint" | "_usage"))
                || wire::is_record(&json)
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        if let Some(context) =
            wire::context_beside(&found.path).and_then(|path| TranscriptFile::from_path(ID, &path))
        {
            return self.header(&context);
        }
        let mut header = heading::of_lines(found, read_header_line);
        let state = sidecar::text(&found.path.with_file_name("state.json"));
        header.id = session_id(&found.path).unwrap_or(header.id);
        header.title = sidecar::json(&state).get("custom_title").str().map(str::to_owned).or(header.title);
        header.cwd = work_dir(&found.path);
        let times = read::TimeLog::of(&found.path);
        header.created_at_ms = times.first_ms;
        header.updated_at_ms = times.last_ms.or(header.updated_at_ms);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        match wire::context_beside(path) {
            Some(context) => read::read(&context, sink),
            None if path.file_name().is_some_and(|name| name == read::WIRE) => wire::read(path, sink),
            None => read::read(path, sink),
        }
    }
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    if wire::is_record(json) {
        let input = json.at_path(&["message", "payload", "user_input"]);
        heading::time(header, json.get("timestamp"));
        header.empty &= json.at_path(&["message", "type"]).str() != Some("ContentPart");
        if !input.is_null() {
            heading::prompt(header, &input.text());
        }
        return;
    }
    match json.get("role").str() {
        Some("user") => heading::prompt(header, &read::prompt(json)),
        Some("assistant") => header.empty = false,
        _ => {}
    }
}

/// A session goes by the name of its directory.
fn session_id(path: &Path) -> Option<String> {
    path.file_name().filter(|name| *name == "context.jsonl")?;
    path.parent()?.file_name()?.to_str().map(str::to_owned)
}

/// The working directory, where the list of directories names the session as the last one in it. The folder is a hash.
fn work_dir(path: &Path) -> Option<String> {
    let (id, list) = (session_id(path)?, sidecar::text(&path.ancestors().nth(4)?.join("kimi.json")));
    let list = sidecar::json(&list);
    let dirs = list.get("work_dirs").items();
    let named = dirs.iter().find(|dir| dir.get("last_session_id").str() == Some(&id));
    // A single directory leaves no doubt.
    let only = if dirs.len() == 1 { dirs.first() } else { None };
    named.or(only)?.get("path").str().map(str::to_owned)
}
