//! OpenCode and its fork Kilo CLI: one database for all sessions, in other tables since version 2, in older versions a tree of
//! JSON files; also the document that `export` writes.

mod header;
mod read;
mod store;
mod tools;

use std::path::{Path, PathBuf};

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
    /// The variable that names another database.
    var: &'static str,
}

/// OpenCode.
pub static OPENCODE: OpenCode = OpenCode { id: "opencode", name: "opencode", var: "OPENCODE_DB" };
/// Kilo CLI.
pub static KILO: OpenCode = OpenCode { id: "kilo", name: "kilo", var: "KILO_DB" };

impl TranscriptReader for OpenCode {
    fn id(&self) -> &'static str {
        self.id
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.xdg_data_dir().join(self.name);
        let mut in_database = std::collections::HashSet::new();
        let databases = match env.dir(self.var) {
            Some(path) => vec![root.join(path)],
            None => self.databases(&root),
        };
        for database in databases {
            sqlite::opencode::find(self.id, &database, &mut in_database, found);
        }
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
            true => {
                (has("message_id") || has("session_message"))
                    && ["parent_id", "directory", "time_created"].iter().all(|name| has(name))
            }
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

impl OpenCode {
    /// Its databases, one for each channel of its releases. The usual one comes first: it takes the sessions of others over.
    fn databases(&self, root: &Path) -> Vec<PathBuf> {
        let usual = root.join(format!("{}.db", self.name));
        let is_channel = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_prefix(self.name).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".db"))
        };
        let others = entries(root).into_iter().map(|entry| entry.path()).filter(is_channel);
        std::iter::once(usual).chain(others).collect()
    }
}
