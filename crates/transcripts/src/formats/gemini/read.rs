//! The full read of a session: its messages as they stand after all edits, then its sub-agents.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::fold::{OrderedMessages, Slot, fold};
use super::{message, project_root, subagents};
use crate::event::{Event, SourcePosition, TranscriptInfo};
use crate::report::{Complaints, Report, kind};
use crate::shared::document;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;

const BLANKS: u64 = 8;

/// Reads a session with its sub-agents.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let main = file(&mut emitter, path);
    let id = main.as_ref().ok().and_then(|folded| folded.about.id.clone()).unwrap_or_default();
    emitter.check(main.map(drop));
    for (agent, path) in subagents(path, &id) {
        emitter.subagent = Some(agent);
        let done = file(&mut emitter, &path).map(drop);
        emitter.check(done);
    }
    emitter.finish()
}

fn file(emitter: &mut EventEmitter<'_>, path: &Path) -> io::Result<OrderedMessages> {
    let mut complaints = Complaints::default();
    let folded = fold(path, &mut complaints);
    emitter.merge(complaints);
    let folded = folded?;
    emitter.count(folded.lines, folded.bytes);
    emitter.position = SourcePosition { line: 1, offset: 0 };
    emitter.at_ms = folded.about.started_ms;
    let cwd = project_root(path).or_else(|| folded.about.cwd.clone());
    emitter.session(TranscriptInfo {
        id: folded.about.id.clone().map(Cow::Owned),
        cwd: cwd.map(Cow::Owned),
        ..TranscriptInfo::default()
    });
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    for slot in folded.messages() {
        load(&mut file, slot, &mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { text };
        let json = Json::parse(&text).unwrap_or(Json::Null);
        emitter.goto(slot.position, &json);
        if json.is_null() {
            emitter.complain(kind::BAD_LINE);
            continue;
        }
        message::emit(emitter, &json);
    }
    Ok(folded)
}

fn load(file: &mut File, slot: Slot, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    file.seek(SeekFrom::Start(slot.position.offset))?;
    // The place is that of the line, the length that of the message: blanks may stand before it.
    file.take(slot.len as u64 + BLANKS).read_to_end(bytes)?;
    let end = document::value_end(bytes, 0).unwrap_or(slot.len);
    bytes.truncate(end);
    Ok(())
}
