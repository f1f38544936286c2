//! A thread of Zed: its header, and the full read with its sub-agents.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use super::messages;
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::header::{Header, TranscriptFile};
use crate::report::{Report, kind};
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::json_file::{self, MAX_DOCUMENT};
use crate::sqlite::zed::{self as table, Thread};
use crate::sqlite::{self, Db, Fault};

/// Sub-agents may have sub-agents, but not without end.
const MAX_DEPTH: usize = 8;
/// A packed thread that asks for more than 32 MiB of window is refused.
const MAX_WINDOW_LOG: u32 = 25;

/// Reads a header: the row tells little, the document the rest.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let key = found.key.as_deref();
    let mut header = heading::of_whole(found, |sink| read(&found.path, key, sink));
    let row = sqlite::open(&found.path).and_then(|db| key.map_or(Ok(None), |id| table::thread(&db, id)));
    if let Ok(Some(row)) = row {
        header.id = row.id;
        header.title = row.title.or(header.title);
        header.subagent = row.parent.is_some();
        header.created_at_ms = row.created_ms.or(header.created_at_ms);
        header.updated_at_ms = row.updated_ms.or(header.updated_at_ms);
    }
    header
}

/// Reads a thread: of this key, or the newest.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    table::THREADS.read(&mut emitter, path, key, |emitter, db, id| thread(emitter, db, id, 0));
    emitter.finish()
}

fn thread(emitter: &mut EventEmitter<'_>, db: &Db, id: &str, depth: usize) -> Result<(), Fault> {
    let Some(row) = table::thread(db, id)? else { return Ok(()) };
    let (text, fault) = match unpacked(&row) {
        Ok(text) => json_file::mended(text),
        Err(fault) => (String::new(), Some(fault)),
    };
    fault.into_iter().for_each(|fault| emitter.complain(fault));
    let json = Json::parse(&text).unwrap_or(Json::Null);
    let cwd = folder(&row, &json);
    let root = cwd.as_deref().and_then(|cwd| cwd.rsplit(['/', '\\']).next()).unwrap_or_default().to_owned();
    if emitter.subagent.is_none() {
        facts(emitter, &row, &json, cwd);
    }
    for (at, message) in json.get("messages").items().iter().enumerate() {
        // Messages are not timed.
        emitter.record(if at == 0 { text.len() } else { 0 }, None);
        messages::message(emitter, message, &root);
    }
    messages::summary(emitter, &json);
    emitter.at_ms = row.updated_ms;
    if emitter.subagent.is_none() {
        // Nothing new but the time.
        emitter.send(EventKind::Session(TranscriptInfo::default()));
    }
    emitter.spend(usage(json.get("cumulative_token_usage")));
    for child in table::THREADS.children(db, id)?.iter().filter(|_| depth < MAX_DEPTH) {
        let outer = emitter.enter(child);
        thread(emitter, db, child, depth + 1)?;
        emitter.leave(outer);
    }
    Ok(())
}

fn facts(emitter: &mut EventEmitter<'_>, row: &Thread, json: &Json<'_>, cwd: Option<String>) {
    let tree = json.at_path(&["initial_project_snapshot", "worktree_snapshots"]).items().first();
    let git = tree.map_or(&Json::Null, |tree| tree.get("git_state"));
    emitter.at_ms = row.created_ms;
    emitter.session(TranscriptInfo {
        id: Some(Cow::Borrowed(&row.id)),
        cwd: cwd.map(Cow::Owned),
        branch: git.get("current_branch").str().map(Cow::Borrowed),
        commit: git.get("head_sha").str().map(Cow::Borrowed),
        model: json.at_path(&["model", "model"]).str().map(Cow::Borrowed),
        version: None,
    });
}

fn folder(row: &Thread, json: &Json<'_>) -> Option<String> {
    let listed = row.folders.as_deref().and_then(|folders| folders.lines().next()).map(str::to_owned);
    let tree = json.at_path(&["initial_project_snapshot", "worktree_snapshots"]).items().first();
    listed.or_else(|| tree?.first(&["worktree_path", "abs_path"]).map(str::to_owned))
}

fn unpacked(row: &Thread) -> Result<String, &'static str> {
    let data = row.data.as_deref().ok_or(kind::BAD_RECORD)?;
    if !row.packed {
        return Ok(String::from_utf8_lossy(data).into_owned());
    }
    let mut bytes = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::new(data).map_err(|_| kind::BAD_RECORD)?;
    decoder.window_log_max(MAX_WINDOW_LOG).map_err(|_| kind::BAD_RECORD)?;
    // What was unpacked before the damage is text as far as it goes.
    let _ = decoder.take(MAX_DOCUMENT + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > MAX_DOCUMENT {
        return Err(kind::OVERSIZED);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn usage(total: &Json<'_>) -> Usage {
    Usage {
        input: total.get("input_tokens").count(),
        cache_read: total.get("cache_read_input_tokens").count(),
        cache_write: total.get("cache_creation_input_tokens").count(),
        output: total.get("output_tokens").count(),
    }
}
