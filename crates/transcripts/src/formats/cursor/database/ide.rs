//! Conversations of the editor: a key for each, and one for every bubble in it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::tools;
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::header::{Header, TranscriptFile};
use crate::report::{Report, kind};
use crate::shared::chunk::entries;
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::json_file;
use crate::shared::plan;
use crate::shared::time;
use crate::shared::words::unclean_line;
use crate::sqlite::{self, Cell, Db, Fault, cursor as table};

/// Every conversation with the time of its last change.
pub(super) fn conversations(db: &Db, each: &mut dyn FnMut(String, Option<i64>)) -> Result<(), Fault> {
    let mut ids = Vec::new();
    table::conversation_ids(db, &mut |id| ids.push(id))?;
    for id in ids {
        let updated_ms =
            composer(db, &id)?.and_then(|text| Json::parse(&text).ok().and_then(|json| updated(&json)));
        each(id, updated_ms);
    }
    Ok(())
}

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = heading::of_whole(found, |sink| read(&found.path, found.key.as_deref(), sink));
    header.id = found.key.clone().unwrap_or(header.id);
    let key = header.id.as_str();
    let text = sqlite::open(&found.path).and_then(|db| composer(&db, key)).ok().flatten().unwrap_or_default();
    let json = Json::parse(&text).unwrap_or(Json::Null);
    header.title = json.get("name").str().map(|name| unclean_line(name, 120)).or(header.title);
    header.created_at_ms = json.get("createdAt").int().map(time::millis).or(header.created_at_ms);
    header.updated_at_ms = updated(&json).or(header.updated_at_ms);
    header.cwd = header.cwd.take().or_else(|| folder(&found.path, &header.id));
    header
}

/// Reads a conversation: of this key, or the newest.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let read = sqlite::open(path).and_then(|db| {
        let id = key.map(|key| Ok(Some(key.to_owned()))).unwrap_or_else(|| newest(&db))?;
        id.map_or(Ok(()), |id| conversation(&mut emitter, &db, path, &id))
    });
    if let Err(fault) = read {
        emitter.complain(fault.kind());
    }
    emitter.finish()
}

/// The conversation that changed last.
fn newest(db: &Db) -> Result<Option<String>, Fault> {
    let mut last: Option<(Option<i64>, String)> = None;
    conversations(db, &mut |id, at| last = last.take().max(Some((at, id))))?;
    Ok(last.map(|(_, id)| id))
}

fn conversation(emitter: &mut EventEmitter<'_>, db: &Db, path: &Path, id: &str) -> Result<(), Fault> {
    let Some(text) = composer(db, id)? else { return Ok(()) };
    let Some(json) = emitter.json(&text) else { return Ok(()) };
    emitter.at_ms = json.get("createdAt").int().map(time::millis);
    let cwd = folder(path, id).map(Cow::Owned);
    let model = json.at_path(&["modelConfig", "modelName"]).str().filter(|model| *model != "default");
    let branch = json.get("createdOnBranch").str().or(json.at_path(&["activeBranch", "branchName"]).str());
    emitter.session(TranscriptInfo {
        id: Some(Cow::Borrowed(id)),
        cwd,
        branch: branch.map(Cow::Borrowed),
        model: model.map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    for bubble in json.get("conversation").items() {
        emitter.record(0, emitter.at_ms);
        self::bubble(emitter, bubble);
    }
    for header in json.get("fullConversationHeadersOnly").items() {
        let Some(name) = header.get("bubbleId").str() else { continue };
        let cell = table::entry(db, &format!("bubbleId:{id}:{name}"))?;
        let text = match &cell {
            Cell::Text(text) => text.as_str(),
            Cell::Oversized | Cell::Null => "",
        };
        emitter.record(text.len(), emitter.at_ms);
        match cell {
            Cell::Oversized => emitter.complain(kind::OVERSIZED),
            Cell::Null => emitter.complain(kind::BAD_RECORD),
            Cell::Text(_) => emitter.json(text).into_iter().for_each(|json| bubble(emitter, &json)),
        }
    }
    emitter.plan(plan::items(json.get("todos")));
    let summary = json.at_path(&["latestConversationSummary", "summary", "summary"]).str();
    summary.into_iter().for_each(|text| emitter.send(EventKind::Compaction(Cow::Borrowed(text))));
    if json.get("status").str() == Some("aborted") {
        emitter.send(EventKind::Interrupted);
    }
    Ok(())
}

fn bubble(emitter: &mut EventEmitter<'_>, bubble: &Json<'_>) {
    let at = bubble.get("createdAt");
    let start = bubble.at_path(&["timingInfo", "clientStartTime"]).int();
    let at_ms = at.int().map(time::millis).or(at.str().and_then(time::parse)).or(start.map(time::millis));
    emitter.at_ms = at_ms.or(emitter.at_ms);
    if let Some(folder) = bubble.get("workspaceProjectDir").str() {
        emitter.session(TranscriptInfo { cwd: Some(Cow::Borrowed(folder)), ..TranscriptInfo::default() });
    }
    let text = bubble.first(&["text", "rawText"]).unwrap_or_default();
    match bubble.get("type").int() {
        Some(1) => emitter.user(&tools::strip_injected_context(text)),
        _ => {
            emitter
                .model(bubble.at_path(&["modelInfo", "modelName"]).str().filter(|model| *model != "default"));
            emitter.thinking(bubble.at_path(&["thinking", "text"]).str().unwrap_or_default());
            emitter.assistant(text);
            tools::tool_call(
                emitter,
                bubble.get("toolFormerData"),
                bubble.get("bubbleId").str().unwrap_or("tool"),
            );
            emitter.plan(plan::items(bubble.get("todos")));
            let count = bubble.get("tokenCount");
            let (input, output) = (count.get("inputTokens").count(), count.get("outputTokens").count());
            emitter.spend(Usage { input, output, ..Usage::default() });
        }
    }
}

fn composer(db: &Db, id: &str) -> Result<Option<String>, Fault> {
    match table::entry(db, &format!("composerData:{id}"))? {
        Cell::Text(text) => Ok(Some(text)),
        Cell::Oversized | Cell::Null => Ok(None),
    }
}

fn updated(json: &Json<'_>) -> Option<i64> {
    json.get("lastUpdatedAt").int().or(json.get("createdAt").int()).map(time::millis)
}

/// The folder of the workspace whose list of conversations has this one.
fn folder(path: &Path, id: &str) -> Option<String> {
    let workspaces = path.ancestors().nth(2)?.join("workspaceStorage");
    entries(&workspaces).iter().find_map(|workspace| {
        let folder = workspace_folder(&workspace.path())?;
        let db = sqlite::open(&workspace.path().join("state.vscdb")).ok()?;
        let Ok(Cell::Text(list)) = table::item(&db, "composer.composerData") else { return None };
        list.contains(id).then_some(folder)
    })
}

fn workspace_folder(dir: &Path) -> Option<String> {
    let text = json_file::text(&dir.join("workspace.json")).ok()?;
    let json = Json::parse(&text).ok()?;
    let path: PathBuf = crate::shared::uri::path(json.get("folder").str()?).into();
    Some(path.to_string_lossy().into_owned())
}
