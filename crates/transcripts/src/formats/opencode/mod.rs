//! OpenCode and its fork Kilo CLI: one database for all sessions, in older versions a tree of JSON files; also the
//! document that `export` writes.

mod header;
mod read;
mod store;
mod tools;

use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::sqlite;

/// The format, under the name of one of the tools that share it.
#[derive(Debug)]
pub struct OpenCode {
    id: &'static str,
    /// Name of its folder and, with `.db`, of its database.
    name: &'static str,
}

/// OpenCode.
pub static OPENCODE: OpenCode = OpenCode { id: "opencode", name: "opencode" };
/// Kilo CLI.
pub static KILO: OpenCode = OpenCode { id: "kilo", name: "kilo" };

impl TranscriptReader for OpenCode {
    fn id(&self) -> &'static str {
        self.id
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.xdg_data_dir().join(self.name);
        let mut in_database = std::collections::HashSet::new();
        let database = root.join(format!("{}.db", self.name));
        sqlite::opencode::SESSIONS.find(self.id, &database, &mut |one| {
            in_database.extend(one.key.clone());
            found(one);
        });
        // Files that were taken over into the database stay where they were.
        let moved = |path: &Path| {
            path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| in_database.contains(stem))
        };
        for project in entries(&root.join("storage/session")) {
            let sessions = entries(&project.path());
            let sessions =
                sessions.iter().filter(|entry| store::is_session(&entry.path()) && !moved(&entry.path()));
            sessions.filter_map(|entry| TranscriptFile::entry(self.id, entry)).for_each(&mut *found);
        }
    }

    /// The tables do not show which of the tools that share them wrote them.
    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        match sqlite::is_database(head) {
            true => ["message_id", "parent_id", "directory", "time_created"].iter().all(|name| has(name)),
            false => head.trim_ascii_start().starts_with(b"{") && has("\"projectID\"") && has("\"ses_"),
        }
    }

    fn lives_at(&self, path: &Path) -> bool {
        let is_name = |text: Option<&std::ffi::OsStr>| text.is_some_and(|text| text == self.name);
        is_name(path.file_stem()) || path.components().any(|part| is_name(Some(part.as_os_str())))
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        header::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, key, sink)
    }
}
