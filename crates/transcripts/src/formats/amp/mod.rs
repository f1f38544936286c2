//! Amp: `~/.local/share/amp/threads/T-*.json`, a document for every thread; also what `amp threads export` writes.

mod read;

use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::shared::heading;

/// The format.
#[derive(Debug)]
pub struct Amp;

const ID: &str = "amp";

impl TranscriptReader for Amp {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for entry in entries(&env.xdg_data_dir().join("amp/threads")) {
            if entry.path().extension().is_some_and(|end| end == "json") {
                TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        head.trim_ascii_start().starts_with(b"{")
            && (has("\"messageId\"") || has("\"T-"))
            && has("\"messages\"")
            && has("\"created\"")
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut title = None;
        let mut header = heading::of_whole(found, |sink| read::read(&found.path, &mut title, sink));
        header.title = title.or(header.title);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, &mut None, sink)
    }
}
