//! Sessions of OpenClaw in its database.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use super::{LINKS, read_header_line, record};
use crate::event::TranscriptInfo;
use crate::header::{Header, TranscriptFile};
use crate::report::kind;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::words::unclean_line;
use crate::sqlite::openclaw::{self as table, Entry};
use crate::sqlite::{self, Cell, Db, Fault};

/// Whether a file is a database, by its name.
pub(super) fn is_one(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "sqlite" || end == "db")
}

/// The header of a session.
pub(super) fn header(found: &TranscriptFile) -> Header {
    sqlite::header(found, |db, header| {
        let id = found.key.as_deref().unwrap_or_default();
        table::entries(db, id, &mut |entry| {
            let Cell::Text(text) = entry.data else { return true };
            if let Ok(json) = Json::parse(&text) {
                read_header_line(&json, header);
            }
            header.created_at_ms = header.created_at_ms.or(entry.created_ms);
            header.first_prompt.is_none()
        })?;
        let window = table::window(db, id)?.unwrap_or_default();
        header.id = id.to_owned();
        header.subagent = window.is_subagent;
        header.model = header.model.take().or(window.model);
        let first = header.first_prompt.as_deref().map(|text| unclean_line(text, 120));
        header.title = window.title.or(header.title.take()).or(first);
        Ok(())
    })
}

/// Reads the session of this key, or the newest.
pub(super) fn read(emitter: &mut EventEmitter<'_>, path: &Path, key: Option<&str>) {
    let done = sqlite::open(path).and_then(|db| {
        let id = key.map_or_else(|| table::newest(&db), |key| Ok(Some(key.to_owned())))?;
        id.map_or(Ok(()), |id| session(emitter, &db, &id))
    });
    if let Err(fault) = done {
        emitter.complain(fault.kind());
    }
}

fn session(emitter: &mut EventEmitter<'_>, db: &Db, id: &str) -> Result<(), Fault> {
    let mut all: Vec<Entry> = Vec::new();
    let read = table::entries(db, id, &mut |entry| {
        all.push(entry);
        true
    });
    if !all.is_empty() {
        emitter.session(TranscriptInfo { id: Some(Cow::Borrowed(id)), ..TranscriptInfo::default() });
    }
    let (on_branch, is_whole) = branch(&all);
    for (entry, on_branch) in all.iter().zip(on_branch) {
        if !on_branch {
            emitter.record(entry.data.len(), entry.created_ms);
            continue;
        }
        let Some(json) = emitter.stored(&entry.data, entry.created_ms) else { continue };
        emitter.at_ms = json.get("timestamp").time().or(entry.created_ms);
        record(emitter, &json);
    }
    if !is_whole {
        emitter.complain(kind::BROKEN_CHAIN);
    }
    read
}

/// Which entries belong to the branch that the session is on: those from the last one back to the first, and all that are not
/// linked. An entry whose predecessor is missing follows the one before it.
fn branch(all: &[Entry]) -> (Vec<bool>, bool) {
    let links: Vec<Option<(String, Option<String>)>> = all.iter().map(link).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, (id, _)) in links.iter().enumerate().filter_map(|(at, link)| Some((at, link.as_ref()?))) {
        places.entry(id).or_insert(at);
    }
    let mut on_branch: Vec<bool> = links.iter().map(Option::is_none).collect();
    let mut is_whole = true;
    let before = |at: usize| links.iter().take(at).rposition(Option::is_some);
    let mut next = before(links.len());
    while let Some(at) = next {
        on_branch[at] = true;
        let Some((_, Some(parent))) = &links[at] else { break };
        next = places.get(parent.as_str()).copied().filter(|place| *place < at);
        if next.is_none() {
            is_whole = false;
            next = before(at);
        }
    }
    (on_branch, is_whole)
}

/// The id of an entry and of the one that it follows.
fn link(entry: &Entry) -> Option<(String, Option<String>)> {
    let Cell::Text(text) = &entry.data else { return None };
    let json = Json::parse(text).ok()?;
    let is_link = (LINKS.of)(json.get("type").str().unwrap_or_default());
    let id = json.get("id").str().filter(|_| is_link)?;
    Some((id.to_owned(), json.get("parentId").str().map(str::to_owned)))
}
