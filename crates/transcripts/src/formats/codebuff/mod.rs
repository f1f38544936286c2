//! Codebuff and Freebuff: `~/.config/manicode/projects/<project>/chats/<time>/chat-messages.json`, a list of messages, with the state of
//! the last run in `run-state.json`.

mod blocks;
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
pub struct Codebuff;

const ID: &str = "codebuff";
const MESSAGES: &str = "chat-messages.json";

impl TranscriptReader for Codebuff {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for project in entries(&env.home.join(".config/manicode/projects")) {
            for chat in entries(&project.path().join("chats")) {
                let file = TranscriptFile::from_path(ID, &chat.path().join(MESSAGES));
                file.into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        head.trim_ascii_start().starts_with(b"[")
            && has("\"variant\"")
            && ["\"blocks\"", "\"user\"", "\"ai\""].iter().any(|name| has(name))
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == MESSAGES)
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        heading::of_whole(found, |sink| self.read(&found.path, sink))
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}
