//! A session of Goose: its header and the full read, from the database or from a file of lines.

use std::borrow::Cow;
use std::path::Path;

use super::content::Content;
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::header::{Header, TranscriptFile};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::time;
use crate::sqlite::goose::{self as table, Message};
use crate::sqlite::{self, Cell, Db, Fault};

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let Some(id) = found.key.as_deref() else {
        return heading::of_whole(found, |sink| read(&found.path, None, sink));
    };
    sqlite::header(found, |db, header| {
        let Some(session) = table::session(db, id)? else { return Ok(()) };
        header.model = model(session.model.as_deref());
        header.cwd = session.directory;
        header.title = session.title.filter(|title| !title.starts_with("New session"));
        header.subagent = session.kind.is_some_and(|kind| kind.replace('_', "") == "subagent");
        header.created_at_ms = session.created_ms;
        header.updated_at_ms = session.updated_ms.or(header.updated_at_ms);
        table::messages(db, id, &mut |message| {
            header.empty = false;
            if let (true, Cell::Text(text)) = (message.role == "user", &message.content) {
                let parts = Json::parse(text).unwrap_or(Json::Null);
                let first = parts.items().iter().find_map(|part| part.get("text").str());
                first.into_iter().for_each(|text| header.set_first_prompt(text));
            }
            header.first_prompt.is_none()
        })
    })
}

/// Reads a session: of this key in the database or the newest, or a file of lines.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let mut content = Content::default();
    if key.is_none() && path.extension().is_some_and(|end| end == "jsonl") {
        emitter.each_line(path, &mut |emitter, json| line(emitter, &mut content, json));
        return emitter.finish();
    }
    table::SESSIONS.read(&mut emitter, path, key, |emitter, db, id| session(emitter, &mut content, db, id));
    emitter.finish()
}

fn session(emitter: &mut EventEmitter<'_>, content: &mut Content, db: &Db, id: &str) -> Result<(), Fault> {
    let Some(row) = table::session(db, id)? else { return Ok(()) };
    emitter.at_ms = row.created_ms;
    emitter.session(TranscriptInfo {
        id: Some(Cow::Borrowed(&row.id)),
        cwd: row.directory.as_deref().map(Cow::Borrowed),
        model: model(row.model.as_deref()).map(Cow::Owned),
        ..TranscriptInfo::default()
    });
    table::messages(db, id, &mut |one| {
        stored(emitter, content, &one);
        true
    })?;
    let count = |tokens: Option<i64>| tokens.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
    emitter.spend(Usage { input: count(row.tokens.0), output: count(row.tokens.1), ..Usage::default() });
    Ok(())
}

fn stored(emitter: &mut EventEmitter<'_>, content: &mut Content, one: &Message) {
    let Some(json) = emitter.stored(&one.content, one.created_ms) else { return };
    let seen = one.metadata.as_deref().and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
    message(emitter, content, &one.role, &json, &seen);
}

/// A line of an older file: the first tells about the session, every other is a message.
fn line(emitter: &mut EventEmitter<'_>, content: &mut Content, json: &Json<'_>) {
    let Some(role) = json.get("role").str() else {
        let field = |key| json.get(key).str().map(Cow::Borrowed);
        emitter.at_ms = json.get("created_at").str().and_then(time::lenient);
        return emitter.session(TranscriptInfo {
            id: field("id"),
            cwd: field("working_dir"),
            ..TranscriptInfo::default()
        });
    };
    emitter.at_ms = json.get("created").int().map(time::millis);
    message(emitter, content, role, json.get("content"), json.get("metadata"));
}

/// A message. What only the model sees stands for what was compacted away.
fn message(
    emitter: &mut EventEmitter<'_>,
    content: &mut Content,
    role: &str,
    parts: &Json<'_>,
    seen: &Json<'_>,
) {
    if matches!(seen.get("userVisible"), Json::Bool(false)) {
        let text = parts.text();
        if !text.trim().is_empty() && !is_order(&text) {
            emitter.send(EventKind::Compaction(text));
        }
        return;
    }
    parts.items().iter().for_each(|part| content.part(emitter, role == "user", part));
}

/// Whether a text is the tool's own instruction after a compaction, which is no summary.
fn is_order(text: &str) -> bool {
    text.starts_with("Your context was compacted")
        || text.starts_with("The previous message contains a summary")
}

fn model(config: Option<&str>) -> Option<String> {
    Json::parse(config?).ok()?.first(&["model_name", "model"]).map(str::to_owned)
}
