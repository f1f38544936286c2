//! What a listing shows of a session.

use super::read;
use super::store::{Store, is_session};
use crate::header::{Header, TranscriptFile};
use crate::report::kind;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::sqlite::{self, Cell, Fault};

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    if found.key.is_some() {
        return sqlite::header(found, |_, header| {
            let store = Store::Db(sqlite::open(&found.path)?);
            fill(&store, found.key.as_deref().unwrap_or_default(), header)
        });
    }
    let id = found.path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_session(&found.path));
    let (Some(id), Some(store)) = (id, Store::above(&found.path)) else {
        return heading::of_whole(found, |sink| read::read(&found.path, None, sink));
    };
    let mut header = Header { id: id.to_owned(), empty: true, ..found.header() };
    match fill(&store, id, &mut header) {
        Err(fault) => header.fault(fault.kind()),
        Ok(()) if header.empty => header.fault(kind::EMPTY),
        Ok(()) => header,
    }
}

fn fill(store: &Store, id: &str, header: &mut Header) -> Result<(), Fault> {
    let Some(session) = store.session(id)? else { return Ok(()) };
    header.cwd = session.directory;
    header.branch = session.branch;
    header.title = session.title.filter(|title| !is_made_up(title));
    header.subagent = session.parent.is_some();
    header.created_at_ms = session.created_ms;
    header.updated_at_ms = session.updated_ms.or(header.updated_at_ms);
    let model = session.model.unwrap_or_default();
    header.model =
        Json::parse(&model).ok().and_then(|json| json.first(&["id", "modelID"]).map(str::to_owned));
    let mut prompt = Ok(None);
    store.messages(id, &mut |message| {
        let kind = message.row.as_ref().map(|row| row.kind.as_str());
        header.empty &=
            !kind.is_none_or(|kind| matches!(kind, "user" | "assistant" | "shell" | "compaction"));
        let Cell::Text(text) = message.data else { return true };
        let Ok(info) = Json::parse(&text) else { return true };
        if let Some(kind) = kind {
            let prompt_text = info.get("text").str().filter(|text| kind == "user" && !text.trim().is_empty());
            let model = info.at_path(&["model", "id"]).str().filter(|_| kind == "assistant");
            header.model = header.model.take().or_else(|| model.map(str::to_owned));
            prompt = Ok(prompt_text.map(str::to_owned));
            return prompt_text.is_none();
        }
        let model = info.get("modelID").str().or(info.at_path(&["model", "modelID"]).str());
        header.model = header.model.take().or_else(|| model.map(str::to_owned));
        if info.get("role").str() == Some("user") {
            prompt = first_text(store, &message.id);
        }
        !matches!(prompt, Ok(Some(_)))
    })?;
    prompt?.into_iter().for_each(|text| header.set_first_prompt(&text));
    Ok(())
}

fn first_text(store: &Store, message: &str) -> Result<Option<String>, Fault> {
    let mut found = None;
    store.parts(message, &mut |part| {
        let Cell::Text(text) = part.data else { return true };
        let Ok(json) = Json::parse(&text) else { return true };
        found = read::own_text(&json).map(str::to_owned);
        found.is_none()
    })?;
    Ok(found)
}

/// The title that a session has before it gets one.
fn is_made_up(title: &str) -> bool {
    title.starts_with("New session - ") || title.starts_with("Child session - ")
}
