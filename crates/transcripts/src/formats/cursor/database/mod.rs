//! Cursor's databases: `state.vscdb` of the editor, `store.db` of its command line.
//!
//! The editor keeps all conversations in one database, the command line one in each.

mod ide;
mod store;
#[cfg(test)]
mod tests;
mod tools;

use std::path::{Path, PathBuf};

use super::ID;
use crate::event::Event;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::sqlite;

/// Gives out the conversations in the databases of the editor and of the command line.
pub(super) fn find(env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
    for user in cursor_dirs(env) {
        let database = user.join("globalStorage/state.vscdb");
        sqlite::find(ID, &database, ide::conversations, found);
    }
    let chats = env.dir_or_home("CURSOR_CONFIG_DIR", ".cursor").join("chats");
    for folder in entries(&chats) {
        for chat in entries(&folder.path()) {
            let database = chat.path().join("store.db");
            if database.is_file() {
                let stamp = sqlite::stamp(&database);
                found(TranscriptFile { agent: ID, path: database, key: None, stamp });
            }
        }
    }
}

/// Whether a file that begins like this is one of these databases; see [`crate::sqlite::schema`].
pub(super) fn sniff(head: &[u8]) -> bool {
    let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    sqlite::is_database(head) && (has("cursorDiskKV") || (has("blobs") && has("meta")))
}

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    match found.key.is_some() || !store::is_store(&found.path) {
        true => ide::header(found),
        false => store::header(found),
    }
}

/// Reads a conversation: of this key in the database of the editor or the newest, or that of a `store.db`.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    match key.is_some() || !store::is_store(path) {
        true => ide::read(path, key, sink),
        false => store::read(path, sink),
    }
}

fn cursor_dirs(env: &TranscriptEnv) -> [PathBuf; 2] {
    [env.config_dir().join("Cursor/User"), env.home.join(".cursor-server/data/User")]
}
