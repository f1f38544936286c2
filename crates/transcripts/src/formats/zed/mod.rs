//! Zed: a database with a row for every thread of its agent, each a packed document.

mod messages;
mod read;

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::{Os, TranscriptEnv};
use crate::report::Report;
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Zed;

const ID: &str = "zed";

impl TranscriptReader for Zed {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        sqlite::zed::THREADS.find(ID, &data_dir(env).join("threads/threads.db"), found);
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        sqlite::is_database(head) && has("data_type") && has("summary")
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

fn data_dir(env: &TranscriptEnv) -> PathBuf {
    match env.os {
        Os::Linux => env.xdg_data_dir().join("zed"),
        Os::MacOs => env.data_dir().join("Zed"),
        Os::Windows => env.dir_or_home("LOCALAPPDATA", "AppData/Local").join("Zed"),
    }
}
