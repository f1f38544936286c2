//! Which messages a session consists of, after all edits: a later record with a known id replaces the earlier one
//! where it stands, `$set.messages` replaces all, `$rewindTo` takes back a message and all after it. A session that is resumed has its
//! id set, sometimes after another head; the list that is set then lacks what the user asked after a hook had spoken, so nothing is taken back by it.
//!
//! Only the place of a message is kept, so that memory does not grow with what messages hold.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use crate::event::SourcePosition;
use crate::report::{Complaints, kind};
use crate::shared::document;
use crate::shared::json::Json;
use crate::shared::lines::{self, Line, Lines};

/// A document is held in memory while it is taken apart; a larger one is not read.
pub(super) const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its line and offset.
    pub position: SourcePosition,
    /// Its length in bytes.
    pub len: usize,
    /// Whether the user said it.
    pub by_user: bool,
}

/// Facts that stand beside the messages.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionInfo {
    /// Id of the session.
    pub id: Option<String>,
    /// Working directory.
    pub cwd: Option<String>,
    /// What it was about, in the tool's words.
    pub title: Option<String>,
    /// Whether it belongs to a sub-agent.
    pub subagent: bool,
    /// When it began.
    pub started_ms: Option<i64>,
}

/// The messages of a session in their order.
#[derive(Debug, Default)]
pub(super) struct OrderedMessages {
    slots: Vec<Option<Slot>>,
    index: HashMap<String, usize>,
    /// The session was resumed, and nothing was said since.
    is_resumed: bool,
    /// Facts that stand beside them.
    pub about: SessionInfo,
    /// Lines and bytes read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl SessionInfo {
    /// Takes what a record says about the session.
    pub(super) fn take(&mut self, json: &Json<'_>) {
        let keep =
            |slot: &mut Option<String>, text: Option<&str>| *slot = text.map(str::to_owned).or(slot.take());
        keep(&mut self.id, json.get("sessionId").str());
        keep(&mut self.cwd, json.get("directories").items().first().and_then(Json::str));
        keep(&mut self.title, json.get("summary").str());
        self.subagent |= json.get("kind").str() == Some("subagent");
        self.started_ms = self.started_ms.or_else(|| json.get("startTime").time());
    }
}

impl OrderedMessages {
    /// The messages that stand, in their order.
    pub(super) fn messages(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slots.iter().flatten().copied()
    }

    /// Takes in a message that was said.
    fn add(&mut self, id: Option<&str>, slot: Slot) {
        self.is_resumed = false;
        self.put(id, slot);
    }

    fn put(&mut self, id: Option<&str>, slot: Slot) {
        if let Some(at) = id.and_then(|id| self.index.get(id)) {
            self.slots[*at] = Some(slot);
            return;
        }
        if let Some(id) = id {
            self.index.insert(id.to_owned(), self.slots.len());
        }
        self.slots.push(Some(slot));
    }

    /// An unknown id takes everything back.
    fn rewind(&mut self, id: &str) {
        let keep = self.index.get(id).copied().unwrap_or(0);
        self.slots.truncate(keep);
        self.index.retain(|_, at| *at < keep);
    }

    /// Puts the messages of a list that stands at `from` in this text, in place of those before; after a compaction
    /// those before are still what happened.
    fn reset(&mut self, text: &str, from: usize, whole: SourcePosition) {
        let bytes = text.as_bytes();
        let list = document::elements(bytes, from);
        let compacted = list.iter().any(|range| text[range.clone()].contains("<state_snapshot>"));
        let unanswered = self.unanswered(text, &list);
        if !compacted && !self.is_resumed {
            (self.slots, self.index) = (Vec::new(), HashMap::new());
        }
        let (mut line, mut counted) = (whole.line, 0);
        for range in list {
            line += memchr::memchr_iter(b'\n', &bytes[counted..range.start]).count() as u64;
            counted = range.start;
            let Ok(message) = Json::parse(&text[range.clone()]) else { continue };
            let place = SourcePosition { line, offset: whole.offset + range.start as u64 };
            if self.is_resumed && message.get("id").str().is_some_and(|id| self.index.contains_key(id)) {
                continue;
            }
            self.put(
                message.get("id").str(),
                Slot { position: place, len: range.len(), by_user: is_users(&message) },
            );
        }
        unanswered.into_iter().for_each(|(id, slot)| self.put(Some(&id), slot));
    }

    /// The requests at the end that a list lacks which has nothing new: the provider refused them, and Gemini CLI takes what it did not
    /// send out of what its model is told. They were asked all the same.
    fn unanswered(&self, text: &str, list: &[Range<usize>]) -> Vec<(String, Slot)> {
        let id_of = |range: &Range<usize>| {
            let message = Json::parse(&text[range.clone()]).ok()?;
            self.index.get(message.get("id").str()?).copied()
        };
        let known: Option<Vec<usize>> = list.iter().map(id_of).collect();
        let Some(last) = known.and_then(|known| known.into_iter().max()) else { return Vec::new() };
        let is_request = |slot: &Option<Slot>| slot.is_none_or(|slot| slot.by_user);
        if !self.slots[last + 1..].iter().all(is_request) {
            return Vec::new();
        }
        let mut tail: Vec<(&String, usize)> =
            self.index.iter().filter(|(_, at)| **at > last).map(|(id, at)| (id, *at)).collect();
        tail.sort_by_key(|(_, at)| *at);
        tail.into_iter().filter_map(|(id, at)| Some((id.clone(), self.slots[at]?))).collect()
    }
}

fn is_users(message: &Json<'_>) -> bool {
    message.get("type").str() == Some("user")
}

/// Folds a file.
pub(super) fn fold(path: &Path, complaints: &mut Complaints) -> io::Result<OrderedMessages> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut folded = OrderedMessages::default();
    let mut lines = Lines::new(file.take(size));
    let mut first = true;
    while let Some(line) = lines.next_line() {
        let blank = line.bytes.is_some_and(<[u8]>::is_empty);
        if std::mem::take(&mut first) && is_open(&line) {
            return read_file(path, size, complaints);
        }
        first |= blank;
        folded.lines += 1;
        record(&line, &mut folded, complaints);
    }
    folded.bytes = lines.position();
    if lines.failed() { Err(io::ErrorKind::Other.into()) } else { Ok(folded) }
}

/// Whether a line begins a document that goes on after it.
fn is_open(line: &Line<'_>) -> bool {
    line.bytes.is_none_or(|bytes| bytes.first() == Some(&b'{') && document::value_end(bytes, 0).is_none())
}

fn record(line: &Line<'_>, folded: &mut OrderedMessages, complaints: &mut Complaints) {
    let Some(text) = lines::text(line, complaints) else { return };
    let Some(json) = lines::value(&text, line, complaints) else { return };
    let len = line.bytes.map_or(0, <[u8]>::len);
    let slot = Slot { position: line.position, len, by_user: is_users(&json) };
    if let Some(id) = json.get("$rewindTo").str() {
        folded.rewind(id);
    } else if !json.get("$set").is_null() {
        // Gemini CLI sets the id when it resumes a session, before it sets the list.
        if !json.get("$set").get("sessionId").is_null() {
            folded.is_resumed = folded.slots.iter().any(Option::is_some);
        }
        folded.about.take(json.get("$set"));
        let list = document::field(text.as_bytes(), 0, "$set");
        if let Some(from) = list.and_then(|set| document::field(text.as_bytes(), set, "messages")) {
            folded.reset(&text, from, line.position);
        }
    } else if json.get("id").str().is_some() || !json.get("type").is_null() {
        folded.add(json.get("id").str(), slot);
    } else if !json.get("sessionId").is_null() {
        folded.is_resumed = folded.slots.iter().any(Option::is_some);
        folded.about.take(&json);
        let list = document::field(text.as_bytes(), 0, "messages")
            .filter(|_| !json.get("messages").items().is_empty());
        list.into_iter().for_each(|from| folded.reset(&text, from, line.position));
    } else {
        // A record of no type is an instruction, which its first field names.
        let name = json.fields().iter().map(|(name, _)| name.as_ref()).find(|name| name.starts_with('$'));
        complaints.add_unknown_type(name.unwrap_or_default(), line.position.line);
    }
}

/// Folds a file that is one document, or the beginning of one.
fn read_file(path: &Path, size: u64, complaints: &mut Complaints) -> io::Result<OrderedMessages> {
    let mut folded = OrderedMessages { bytes: size, ..OrderedMessages::default() };
    if size > MAX_DOCUMENT {
        complaints.add(kind::TOO_LARGE, 0);
        return Ok(folded);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(size).read_to_end(&mut bytes)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) => {
            complaints.add(kind::INVALID_UTF8, 0);
            // As many bytes as before: places stay right.
            fault
                .into_bytes()
                .into_iter()
                .map(|byte| if byte.is_ascii() { char::from(byte) } else { '?' })
                .collect()
        }
    };
    let bytes = text.as_bytes();
    folded.lines = memchr::memchr_iter(b'\n', bytes).count() as u64 + 1;
    if document::value_end(bytes, bytes.len() - text.trim_start().len()).is_none() {
        complaints.add(kind::TRUNCATED, folded.lines);
    }
    let fact = |key: &str| {
        let from = document::field(bytes, 0, key)?;
        Some(&text[from..document::value_end(bytes, from)?])
    };
    for key in ["sessionId", "directories", "summary", "kind", "startTime"] {
        let Some(value) = fact(key) else { continue };
        let object = format!("{{\"{key}\":{value}}}");
        Json::parse(&object).into_iter().for_each(|json| folded.about.take(&json));
    }
    if let Some(from) = document::field(bytes, 0, "messages") {
        folded.reset(&text, from, SourcePosition { line: 1, offset: 0 });
    }
    Ok(folded)
}
