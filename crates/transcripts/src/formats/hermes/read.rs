//! A conversation: its header and the full read, from the database, a file of lines or a document.

use std::borrow::Cow;
use std::path::Path;

use super::file_id;
use super::message::{Message, Messages, summary, text_of};
use crate::event::{Event, TranscriptInfo};
use crate::header::{Header, TranscriptFile};
use crate::report::{Report, kind};
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::time;
use crate::sqlite::hermes::{self as table, Origin, Session};
use crate::sqlite::{self, Cell, Db, Fault};

/// Sub-agents may have sub-agents, but not without end.
const MAX_DEPTH: usize = 8;

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let Some(id) = found.key.as_deref() else {
        let mut header = heading::of_whole(found, |sink| read(&found.path, None, sink));
        if header.id.is_empty() {
            header.id = file_id(&found.path).unwrap_or_default();
        }
        return header;
    };
    sqlite::header(found, |db, header| {
        let lineage = table::lineage(db, id)?;
        let (Some(first), Some(last)) = (lineage.first(), lineage.last()) else { return Ok(()) };
        header.model = last.model.clone();
        header.cwd = last.cwd.clone().or_else(|| first.cwd.clone());
        header.branch = last.branch.clone().or_else(|| first.branch.clone());
        header.title = last.title.clone();
        header.subagent = last.origin == Origin::Subagent;
        header.created_at_ms = first.started_ms;
        header.updated_at_ms = table::last_ms(db, id)?.or(last.ended_ms).or(header.updated_at_ms);
        for session in &lineage {
            table::messages(db, &session.id, &mut |one| {
                header.empty = false;
                if let (true, Cell::Text(text)) = (one.role == "user", &one.content) {
                    let text = text_of(text);
                    let is_own = summary(&text, one.is_summary).is_none();
                    is_own.then(|| header.set_first_prompt(&text));
                }
                header.first_prompt.is_none()
            })?;
        }
        Ok(())
    })
}

/// Reads a conversation: of this key in the database or the newest, or a file of an older version.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    match path.extension().and_then(|end| end.to_str()) {
        Some("jsonl") if key.is_none() => lines(&mut emitter, path),
        Some("json") if key.is_none() => document(&mut emitter, path),
        _ => {
            let done = sqlite::open(path).and_then(|db| {
                let id = key.map_or_else(|| table::newest(&db), |key| Ok(Some(key.to_owned())))?;
                id.map_or(Ok(()), |id| conversation(&mut emitter, &db, &id, 0))
            });
            if let Err(fault) = done {
                emitter.complain(fault.kind());
            }
        }
    }
    emitter.finish()
}

fn conversation(emitter: &mut EventEmitter<'_>, db: &Db, id: &str, depth: usize) -> Result<(), Fault> {
    let lineage = table::lineage(db, id)?;
    let Some(last) = lineage.last() else { return Ok(()) };
    emitter.at_ms = lineage.first().and_then(|first| first.started_ms);
    emitter.session(facts(last));
    let mut messages = Messages::default();
    for session in &lineage {
        messages.next_session();
        table::messages(db, &session.id, &mut |one| {
            stored(emitter, &mut messages, &one);
            true
        })?;
        emitter.spend(session.usage);
    }
    for session in lineage.iter().filter(|_| depth < MAX_DEPTH) {
        for child in table::subagents(db, &session.id)? {
            let outer = emitter.enter(&child);
            conversation(emitter, db, &child, depth + 1)?;
            emitter.leave(outer);
        }
    }
    Ok(())
}

fn facts(session: &Session) -> TranscriptInfo<'_> {
    TranscriptInfo {
        id: Some(Cow::Borrowed(&session.id)),
        cwd: session.cwd.as_deref().map(Cow::Borrowed),
        branch: session.branch.as_deref().map(Cow::Borrowed),
        model: session.model.as_deref().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    }
}

fn stored(emitter: &mut EventEmitter<'_>, messages: &mut Messages, one: &table::Message) {
    emitter.record(one.content.len(), one.at_ms);
    let text = match &one.content {
        Cell::Text(text) => text_of(text),
        Cell::Oversized => return emitter.complain(kind::OVERSIZED),
        Cell::Null => Cow::Borrowed(""),
    };
    let calls = one.calls.as_deref().map(|text| emitter.json(text).unwrap_or(Json::Null));
    let message = Message {
        role: &one.role,
        text,
        calls: calls.as_ref().unwrap_or(&Json::Null),
        call_id: one.call_id.as_deref().unwrap_or_default(),
        reasoning: one.reasoning.as_deref().unwrap_or_default(),
        is_summary: one.is_summary,
    };
    messages.message(emitter, &message, one.is_compacted);
}

fn lines(emitter: &mut EventEmitter<'_>, path: &Path) {
    let mut messages = Messages::default();
    let id = file_id(path);
    let mut is_first = true;
    emitter.each_line(path, &mut |emitter, json| {
        emitter.at_ms = json.get("timestamp").str().and_then(time::lenient).or(emitter.at_ms);
        if std::mem::take(&mut is_first) {
            let id = id.as_deref().map(Cow::Borrowed);
            let model = json.get("model").str().map(Cow::Borrowed);
            emitter.session(TranscriptInfo { id, model, ..TranscriptInfo::default() });
        }
        messages.message(emitter, &of_json(json), false);
    });
}

fn document(emitter: &mut EventEmitter<'_>, path: &Path) {
    let text = emitter.document(path);
    let doc = Json::parse(&text).unwrap_or(Json::Null);
    emitter.at_ms = doc.get("session_start").str().and_then(time::lenient);
    let id = doc.get("session_id").str().map(Cow::Borrowed);
    let model = doc.get("model").str().map(Cow::Borrowed);
    emitter.session(TranscriptInfo { id, model, ..TranscriptInfo::default() });
    let mut messages = Messages::default();
    for one in doc.get("messages").items() {
        emitter.record(0, one.get("timestamp").str().and_then(time::lenient));
        messages.message(emitter, &of_json(one), false);
    }
}

fn of_json<'a>(json: &'a Json<'a>) -> Message<'a> {
    Message {
        role: json.get("role").str().unwrap_or_default(),
        text: json.get("content").text(),
        calls: json.get("tool_calls"),
        call_id: json.get("tool_call_id").str().unwrap_or_default(),
        reasoning: json.first(&["reasoning", "reasoning_content"]).unwrap_or_default(),
        is_summary: json.get("_compressed_summary").is_true(),
    }
}
