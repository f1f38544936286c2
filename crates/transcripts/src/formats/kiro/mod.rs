//! Kiro: four stores. The command line keeps a database, then files of lines in two layouts; the editor keeps documents.

mod database;
mod document;
mod lines;

use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::heading;
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Kiro;

const ID: &str = "kiro";

impl TranscriptReader for Kiro {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for name in ["kiro-cli", "amazon-q"] {
            let database = env.data_dir().join(name).join("data.sqlite3");
            sqlite::find(ID, &database, sqlite::kiro::conversations, found);
        }
        for group in entries(&env.home.join(".kiro/sessions")) {
            for entry in entries(&group.path()) {
                let path = entry.path();
                let file = if path.is_dir() { path.join(lines::NAME) } else { path };
                if file.extension().is_some_and(|end| end == "jsonl") {
                    TranscriptFile::from_path(ID, &file).into_iter().for_each(&mut *found);
                }
            }
        }
        let editor = env.config_dir().join("Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions");
        for workspace in entries(&editor) {
            let files = entries(&workspace.path());
            let sessions = files.iter().filter(|entry| document::is_session(&entry.path()));
            sessions.filter_map(|entry| TranscriptFile::entry(ID, entry)).for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        if sqlite::is_database(head) {
            return ["conversations", "key", "value"].iter().all(|name| has(name));
        }
        let editor = head.trim_ascii_start().starts_with(b"{") && has("\"sessionId\"") && has("\"history\"");
        let first = chunk::lines(head).next().unwrap_or_default();
        editor || lines::is_ours(&String::from_utf8_lossy(first))
    }

    /// Documents of the editor are much like those of the one that it was made from.
    fn lives_at(&self, path: &Path) -> bool {
        path.components().any(|part| part.as_os_str() == "workspace-sessions")
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let key = found.key.as_deref();
        let mut header = heading::of_whole(found, |sink| self.read_session(&found.path, key, sink));
        if key.is_some() {
            let _ = database::row(found).map(|row| database::fill(&mut header, row));
        } else {
            header.title =
                lines::title(&found.path).or_else(|| document::title(&found.path)).or(header.title);
        }
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        self.read_session(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        match path.extension().and_then(|end| end.to_str()) {
            Some("jsonl") if key.is_none() => lines::read(path, sink),
            Some("json") if key.is_none() => document::read(path, sink),
            _ => database::read(path, key, sink),
        }
    }
}
