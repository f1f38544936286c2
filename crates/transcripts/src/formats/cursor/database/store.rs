//! A chat of the command line: blobs named by their hashes, messages among them, in the order of a tree.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::tools;
use crate::event::{Event, TranscriptInfo};
use crate::header::{Header, TranscriptFile};
use crate::report::{Report, kind};
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::time;
use crate::shared::words::unclean_line;
use crate::sqlite::{self, Db, Fault, cursor as table};

/// A tree is not deeper than this, and has not more nodes.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 200_000;
/// Fields of a node that name another blob by its hash.
const CHILD: [u8; 2] = [0x0a, 0x12];
const HASH: u8 = 32;

/// Whether a file is the database of one chat.
pub(super) fn is_store(path: &Path) -> bool {
    sqlite::open(path).is_ok_and(|db| db.has("blobs") && db.has("meta"))
}

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = heading::of_whole(found, |sink| read(&found.path, sink));
    let about =
        sqlite::open(&found.path).and_then(|db| chat_metadata(&db)).ok().flatten().unwrap_or_default();
    let json = Json::parse(&about).unwrap_or(Json::Null);
    let folder = found.path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    header.id = folder.map_or(std::mem::take(&mut header.id), str::to_owned);
    let name = json.get("name").str().filter(|name| *name != "New Agent");
    header.title = name.map(|name| unclean_line(name, 120)).or(header.title);
    header.updated_at_ms = Some(found.stamp.mtime_ms());
    header
}

/// Reads a chat.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    if let Err(fault) = sqlite::open(path).and_then(|db| chat(&mut emitter, &db)) {
        emitter.complain(fault.kind());
    }
    emitter.finish()
}

fn chat(emitter: &mut EventEmitter<'_>, db: &Db) -> Result<(), Fault> {
    let Some(text) = chat_metadata(db)? else { return Ok(()) };
    let Some(about) = emitter.json(&text) else { return Ok(()) };
    emitter.at_ms = about.get("createdAt").int().map(time::millis);
    emitter.session(TranscriptInfo {
        id: about.get("agentId").str().map(Cow::Borrowed),
        model: about.get("lastUsedModel").str().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    let Some(root) = about.get("latestRootBlobId").str() else { return Ok(()) };
    let mut seen = HashSet::new();
    walk(emitter, db, root, 0, &mut seen)
}

/// Goes through a node's children in their order; a blob that is no node is a message.
fn walk(
    emitter: &mut EventEmitter<'_>,
    db: &Db,
    id: &str,
    depth: usize,
    seen: &mut HashSet<String>,
) -> Result<(), Fault> {
    if depth > MAX_DEPTH || seen.len() > MAX_NODES || !seen.insert(id.to_owned()) {
        return Ok(());
    }
    let Some(data) = table::blob(db, id)? else {
        emitter.complain(kind::BAD_RECORD);
        return Ok(());
    };
    if data.trim_ascii_start().starts_with(b"{") {
        message(emitter, &String::from_utf8_lossy(&data));
        return Ok(());
    }
    children(&data).iter().try_for_each(|child| walk(emitter, db, child, depth + 1, seen))
}

fn message(emitter: &mut EventEmitter<'_>, text: &str) {
    emitter.record(text.len(), emitter.at_ms);
    let Some(json) = emitter.json(text) else { return };
    let user = json.get("role").str() == Some("user");
    if json.get("role").str() == Some("system") {
        return;
    }
    if let Some(text) = json.get("content").str() {
        return if user {
            emitter.user(&tools::strip_injected_context(text))
        } else {
            emitter.assistant(text)
        };
    }
    json.get("content").items().iter().for_each(|block| tools::block(emitter, block, user));
}

/// The hashes that a node names, in order, in hexadecimal digits.
fn children(data: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = data;
    while let [tag, length, tail @ ..] = rest {
        let length = usize::from(*length);
        let Some(value) = tail.get(..length).filter(|_| tag & 7 == 2 && length < 0x80) else { break };
        if CHILD.contains(tag) && length == usize::from(HASH) {
            found.push(value.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        rest = &tail[length..];
    }
    found
}

/// What the database says of its chat, out of its hexadecimal digits.
fn chat_metadata(db: &Db) -> Result<Option<String>, Fault> {
    let Some(bytes) = table::meta(db)? else { return Ok(None) };
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = bytes.chunks_exact(2).map_while(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?));
    Ok(Some(String::from_utf8_lossy(&pairs.collect::<Vec<u8>>()).into_owned()))
}
