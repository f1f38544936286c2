//! Conversations in the database.

use std::borrow::Cow;
use std::path::Path;

use super::lines::result;
use crate::event::{Event, EventKind, TranscriptInfo};
use crate::header::{Header, TranscriptFile};
use crate::report::{Report, kind};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::time;
use crate::sqlite::kiro::{self as table, Conversation};
use crate::sqlite::{self, Cell, Fault};

/// The row of a conversation.
pub(super) fn row(found: &TranscriptFile) -> Result<Option<Conversation>, Fault> {
    let db = sqlite::open(&found.path)?;
    found.key.as_deref().map_or(Ok(None), |key| table::conversation(&db, key))
}

/// What the row knows of a conversation.
pub(super) fn fill(header: &mut Header, row: Option<Conversation>) {
    let Some(row) = row else { return };
    header.cwd = row.directory.or(header.cwd.take());
    header.created_at_ms = row.created_ms.or(header.created_at_ms);
    header.updated_at_ms = row.updated_ms.or(header.updated_at_ms);
}

/// Reads a conversation: of this key, or the newest.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let read = sqlite::open(path).and_then(|db| {
        let newest = || table::newest(&db);
        let key = key.map(|key| Ok(Some(key.to_owned()))).unwrap_or_else(newest)?;
        let row = key.as_deref().map_or(Ok(None), |key| table::conversation(&db, key))?;
        Ok(row.map(|row| conversation(&mut emitter, &row, key.as_deref().unwrap_or_default())))
    });
    if let Err(fault) = read {
        emitter.complain(fault.kind());
    }
    emitter.finish()
}

fn conversation(emitter: &mut EventEmitter<'_>, row: &Conversation, key: &str) {
    emitter.at_ms = row.created_ms;
    let text = match &row.value {
        Cell::Text(text) => text.as_str(),
        Cell::Oversized => return emitter.complain(kind::OVERSIZED),
        Cell::Null => return emitter.complain(kind::BAD_RECORD),
    };
    let (text, fault) = crate::shared::json_file::mended(text.to_owned());
    fault.into_iter().for_each(|fault| emitter.complain(fault));
    let json = Json::parse(&text).unwrap_or(Json::Null);
    let model = json.at_path(&["model_info", "model_id"]).str().or(json.get("model").str());
    emitter.session(TranscriptInfo {
        id: Some(Cow::Borrowed(json.get("conversation_id").str().unwrap_or(key))),
        cwd: row.directory.as_deref().map(Cow::Borrowed),
        model: model.map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    let summary = json.get("latest_summary");
    if let Some(text) = summary.str().or_else(|| summary.items().first()?.str()) {
        emitter.send(EventKind::Compaction(Cow::Borrowed(text)));
    }
    for (at, turn) in json.get("history").items().iter().enumerate() {
        // Older versions wrote a turn as a pair.
        let (user, agent) = match turn.items() {
            [user, agent, ..] => (user, agent),
            _ => (turn.get("user"), turn.get("assistant")),
        };
        let at_ms = user.get("timestamp").str().and_then(time::lenient);
        emitter.record(if at == 0 { text.len() } else { 0 }, at_ms.or(emitter.at_ms));
        user_message(emitter, user);
        answered(emitter, agent);
    }
}

fn user_message(emitter: &mut EventEmitter<'_>, user: &Json<'_>) {
    let content = user.get("content");
    for (kind, value) in content.fields() {
        let results = value.get("tool_use_results").items();
        results.iter().for_each(|one| result(emitter, one));
        if kind == "CancelledToolUses" {
            emitter.send(EventKind::Interrupted);
        }
        emitter.user(value.get("prompt").str().unwrap_or_default());
    }
}

fn answered(emitter: &mut EventEmitter<'_>, agent: &Json<'_>) {
    for (_, value) in agent.fields() {
        emitter.assistant(value.get("content").str().unwrap_or_default());
        for one in value.get("tool_uses").items() {
            let id = one.get("id").str().unwrap_or_default();
            let name = one.first(&["name", "orig_name"]).unwrap_or_default();
            let input = one.get("args");
            emitter.call_with(call::call(id, name, input), input);
        }
    }
}
