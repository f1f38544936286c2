//! Cursor. Its agent on the command line keeps transcripts in `~/.cursor/projects/<slug>/agent-transcripts` and chats in
//! databases, its editor keeps conversations in a database.

mod database;
mod transcript;

use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk;
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Cursor;

const ID: &str = "cursor";

impl TranscriptReader for Cursor {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        transcript::find(env, found);
        database::find(env, found);
    }

    fn sniff(&self, head: &[u8]) -> bool {
        database::sniff(head) || transcript::sniff(head)
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        match found.key.is_some() || is_database(&found.path) {
            true => database::header(found),
            false => transcript::header(found),
        }
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        self.read_session(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        match key.is_some() || is_database(path) {
            true => database::read(path, key, sink),
            false => transcript::read(path, sink),
        }
    }
}

/// Whether a file is a database, by its first bytes: a copy may have any name. One that is damaged goes by its name.
fn is_database(path: &Path) -> bool {
    let head = chunk::open(path).and_then(|file| chunk::head(file, 64)).unwrap_or_default();
    let named = path.extension().is_some_and(|end| end == "db" || end == "vscdb");
    named || sqlite::is_database(&head)
}
