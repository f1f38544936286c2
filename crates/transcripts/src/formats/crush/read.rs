//! A session of Crush: its header, and the full read with its sub-agents.

use std::borrow::Cow;
use std::path::Path;

use super::parts::Parts;
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::header::{Header, TranscriptFile};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::plan;
use crate::sqlite::crush::{self as table, Message};
use crate::sqlite::{self, Cell, Db, Fault};

/// Sub-agents may have sub-agents, but not without end.
const MAX_DEPTH: usize = 8;

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let Some(id) = found.key.as_deref() else {
        return heading::of_whole(found, |sink| read(&found.path, None, sink));
    };
    sqlite::header(found, |db, header| {
        let Some(session) = table::session(db, id)? else { return Ok(()) };
        header.cwd = folder(&found.path);
        header.title = session.title.filter(|title| title != "New Session" && title != "Untitled Session");
        header.subagent = session.parent.is_some();
        header.created_at_ms = session.created_ms;
        header.updated_at_ms = session.updated_ms.or(header.updated_at_ms);
        table::messages(db, id, &mut |message| {
            header.empty = false;
            header.model = header.model.take().or(message.model);
            if let (true, Cell::Text(text)) = (message.role == "user", &message.parts) {
                let parts = Json::parse(text).unwrap_or(Json::Null);
                let first = parts.items().iter().find_map(|part| part.at_path(&["data", "text"]).str());
                first.into_iter().for_each(|text| header.set_first_prompt(text));
            }
            header.first_prompt.is_none() || header.model.is_none()
        })
    })
}

/// Reads a session: of this key, or the newest.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    table::SESSIONS.read(&mut emitter, path, key, |emitter, db, id| session(emitter, db, path, id, 0));
    emitter.finish()
}

fn session(
    emitter: &mut EventEmitter<'_>,
    db: &Db,
    path: &Path,
    id: &str,
    depth: usize,
) -> Result<(), Fault> {
    let Some(row) = table::session(db, id)? else { return Ok(()) };
    if emitter.subagent.is_none() {
        emitter.at_ms = row.created_ms;
        let (id, cwd) = (Some(Cow::Borrowed(row.id.as_str())), folder(path).map(Cow::Owned));
        emitter.session(TranscriptInfo { id, cwd, ..TranscriptInfo::default() });
    }
    let placed = folder(path).is_some() || emitter.subagent.is_some();
    let mut parts = Parts::new(placed);
    table::messages(db, id, &mut |one| {
        message(emitter, &mut parts, &one);
        true
    })?;
    let todos = row.todos.unwrap_or_default();
    if emitter.subagent.is_none() {
        emitter.plan(Json::parse(&todos).map(|list| plan::items(&list)).unwrap_or_default());
        let count = |tokens: Option<i64>| tokens.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
        emitter.spend(Usage { input: count(row.tokens.0), output: count(row.tokens.1), ..Usage::default() });
    }
    for child in table::SESSIONS.children(db, id)?.iter().filter(|_| depth < MAX_DEPTH) {
        let outer = emitter.enter(child);
        session(emitter, db, path, child, depth + 1)?;
        emitter.leave(outer);
    }
    Ok(())
}

fn message(emitter: &mut EventEmitter<'_>, parts: &mut Parts, message: &Message) {
    let Some(json) = emitter.stored(&message.parts, message.created_ms) else { return };
    emitter.model(
        message.model.as_deref().filter(|_| message.role == "assistant" && emitter.subagent.is_none()),
    );
    if message.is_summary {
        let texts = json.items().iter().filter_map(|part| part.at_path(&["data", "text"]).str());
        let summary = texts.collect::<Vec<_>>().join("\n");
        return emitter.send(EventKind::Compaction(Cow::Owned(summary)));
    }
    json.items().iter().for_each(|part| parts.part(emitter, message.role == "user", part));
}

/// The project folder that holds the database. None if the data lies elsewhere: nothing in the database names the
/// project.
fn folder(path: &Path) -> Option<String> {
    let data = path.parent().filter(|data| data.ends_with(".crush"))?;
    data.parent().map(|folder| folder.to_string_lossy().into_owned())
}
