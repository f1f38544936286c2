//! OpenHands CLI: a folder for every conversation, `~/.openhands/conversations/<id>/`, with its state in `base_state.json` and a file
//! for every event below `events`.

mod events;
mod read;

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, Stamp, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;

/// The format.
#[derive(Debug)]
pub struct OpenHands;

const ID: &str = "openhands";
const STATE: &str = "base_state.json";
const EVENTS: &str = "events";

impl TranscriptReader for OpenHands {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = || env.dir_or_home("OPENHANDS_PERSISTENCE_DIR", ".openhands").join("conversations");
        for conversation in entries(&env.dir("OPENHANDS_CONVERSATIONS_DIR").unwrap_or_else(root)) {
            let state = conversation.path().join(STATE);
            let file = TranscriptFile::from_path(ID, &state);
            file.map(|file| with_events(file, &conversation.path())).into_iter().for_each(&mut *found);
        }
    }

    /// Only the state: an event is a part of a conversation, and the state leads to all of them.
    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        let state = has("\"persistence_dir\"") || has("\"execution_status\"") || has("\"agent_status\"");
        head.trim_ascii_start().starts_with(b"{") && state && has("\"agent\"") && has("\"workspace\"")
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == STATE) && path.with_file_name(EVENTS).is_dir()
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        read::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}

/// A conversation also changes by a new event, which changes the folder of them.
fn with_events(file: TranscriptFile, conversation: &Path) -> TranscriptFile {
    let events = std::fs::metadata(conversation.join(EVENTS)).map(|meta| Stamp::of(&meta));
    let mtime_ns = events.map_or(file.stamp.mtime_ns, |events| events.mtime_ns.max(file.stamp.mtime_ns));
    TranscriptFile { stamp: Stamp { mtime_ns, ..file.stamp }, ..file }
}

/// The folder of the conversation that a file belongs to: its state, or one of its events.
fn conversation(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(path);
    match folder.file_name() {
        Some(name) if name == EVENTS => folder.parent().unwrap_or(folder).to_owned(),
        _ => folder.to_owned(),
    }
}

/// The files of the events, oldest first: `event-00012-<id>.json`. The number may have more digits than its zeros allow for.
fn event_files(conversation: &Path) -> Vec<PathBuf> {
    let number = |name: &str| name.strip_prefix("event-")?.split('-').next()?.parse::<u64>().ok();
    let mut files: Vec<(u64, PathBuf)> = entries(&conversation.join(EVENTS))
        .iter()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
        .filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    files.sort_by_key(|(number, _)| *number);
    files.into_iter().map(|(_, path)| path).collect()
}
