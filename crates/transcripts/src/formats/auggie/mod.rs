//! Augment's Auggie: `~/.augment/sessions/<id>.json`, a document for every session. The results of calls stand in the request that
//! follows them.

mod nodes;
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
pub struct Auggie;

const ID: &str = "auggie";

impl TranscriptReader for Auggie {
    fn id(&self) -> &'static str {
        ID
    }

    /// Another folder can only be named on the command line of the tool.
    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for entry in entries(&env.home.join(".augment/sessions")) {
            if entry.path().extension().is_some_and(|end| end == "json") {
                TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        head.trim_ascii_start().starts_with(b"{")
            && ["\"sessionId\"", "\"chatHistory\"", "\"created\""].iter().all(|name| has(name))
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.components().any(|part| part.as_os_str() == ".augment")
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut title = None;
        let mut header = heading::of_whole(found, |sink| read::read(&found.path, &mut title, sink));
        if header.id.is_empty() {
            header.id = heading::stem(found);
        }
        header.title = title.or(header.title);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, &mut None, sink)
    }
}
