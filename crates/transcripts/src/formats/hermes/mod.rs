//! Hermes Agent: one database for all sessions of a profile, `~/.hermes/state.db`; in older versions a file for each below `sessions`.

mod message;
mod read;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::json::Json;
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Hermes;

const ID: &str = "hermes";

impl TranscriptReader for Hermes {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let home = env.dir_or_home("HERMES_HOME", ".hermes");
        let profiles = entries(&home.join("profiles"));
        let homes = std::iter::once(home).chain(profiles.iter().map(|profile| profile.path()));
        homes.for_each(|home| sessions(&home, found));
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        if sqlite::is_database(head) {
            return ["model_config", "end_reason", "tool_call_id", "finish_reason"]
                .iter()
                .all(|name| has(name));
        }
        let first = chunk::lines(head).next().unwrap_or_default();
        let text = String::from_utf8_lossy(first);
        let lines = Json::parse(&text).is_ok_and(|json| json.get("role").str() == Some("session_meta"));
        lines || (has("\"session_start\"") && has("\"session_id\"") && has("\"messages\""))
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        read::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, key, sink)
    }
}

/// Gives out the sessions of a profile; files that were taken over into the database stay where they were.
fn sessions(home: &Path, found: &mut dyn FnMut(TranscriptFile)) {
    let mut in_database = HashSet::new();
    sqlite::find(ID, &home.join("state.db"), sqlite::hermes::conversations, &mut |one| {
        in_database.extend(one.key.clone());
        found(one);
    });
    for entry in entries(&home.join("sessions")) {
        let known = file_id(&entry.path()).is_none_or(|id| in_database.contains(&id));
        if !known {
            TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
        }
    }
}

/// The id of a session by the name of its file: `<id>.jsonl` or `session_<id>.json`.
fn file_id(path: &Path) -> Option<String> {
    let path: PathBuf = path.to_owned();
    let stem = path.file_stem()?.to_str()?;
    match path.extension()?.to_str()? {
        "jsonl" => Some(stem.to_owned()),
        "json" => stem.strip_prefix("session_").map(str::to_owned),
        _ => None,
    }
}
