//! A conversation: its header, and the full read.

use std::borrow::Cow;
use std::path::Path;

use super::events::{self, EventReader};
use super::{STATE, conversation, event_files};
use crate::event::{Event, TranscriptInfo, Usage};
use crate::header::{Header, TranscriptFile};
use crate::report::{Report, kind};
use crate::shared::emit::EventEmitter;
use crate::shared::heading;
use crate::shared::json::Json;
use crate::shared::{json_file, time};

/// So many events are looked at for the first prompt, and so many for the last time.
const FIRST: usize = 20;
const LAST: usize = 3;

/// Reads a header: of the events only the first and the last are opened.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = found.header();
    let folder = conversation(&found.path);
    let (text, _) = json_file::mended(json_file::text(&folder.join(STATE)).unwrap_or_default());
    let state = Json::parse(&text).unwrap_or(Json::Null);
    let own = |value: Option<&str>| value.map(str::to_owned);
    let name = || folder.file_name()?.to_str().map(str::to_owned);
    header.id = own(state.get("id").str()).or_else(name).unwrap_or_default();
    header.cwd = own(cwd(&state));
    header.model = own(model(&state));
    header.empty = true;
    let files = event_files(&folder);
    for path in files.iter().take(FIRST) {
        look(path, &mut header, |json, header| {
            header.created_at_ms = header.created_at_ms.or(at(json));
            header.empty &= !matches!(json.get("kind").str(), Some("MessageEvent" | "ActionEvent"));
            events::prompt(json).iter().for_each(|text| heading::prompt(header, text));
            take_cwd(json, header);
        });
        if header.first_prompt.is_some() {
            break;
        }
    }
    for path in files.iter().rev().take(LAST) {
        look(path, &mut header, |json, header| {
            header.updated_at_ms = at(json).max(header.created_at_ms).or(header.updated_at_ms);
            take_cwd(json, header);
        });
        if header.cwd.is_some() {
            break;
        }
    }
    header.title = header.first_prompt.clone();
    if header.empty { header.fault(kind::EMPTY) } else { header }
}

fn look(path: &Path, header: &mut Header, take: impl FnOnce(&Json<'_>, &mut Header)) {
    let text = json_file::text(path).unwrap_or_default();
    if let Ok(json) = Json::parse(&text) {
        take(&json, header);
    }
}

fn take_cwd(json: &Json<'_>, header: &mut Header) {
    heading::keep(&mut header.cwd, json.at_path(&["observation", "metadata", "working_dir"]).str());
}

/// Events have no zone in their times.
fn at(json: &Json<'_>) -> Option<i64> {
    json.get("timestamp").str().and_then(time::lenient)
}

/// Reads a conversation.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let folder = conversation(path);
    let files = event_files(&folder);
    let state_file = folder.join(STATE);
    let text = match state_file.is_file() || files.is_empty() {
        true => emitter.document(&state_file),
        false => String::new(),
    };
    let state = Json::parse(&text).unwrap_or(Json::Null);
    let fact = |value: Option<&str>| value.map(|text| Cow::Owned(text.to_owned()));
    emitter.session(TranscriptInfo {
        id: fact(state.get("id").str()).or_else(|| fact(folder.file_name()?.to_str())),
        cwd: fact(cwd(&state)),
        model: fact(model(&state)),
        ..TranscriptInfo::default()
    });
    let reader = EventReader { has_cwd: cwd(&state).is_some() };
    files.iter().for_each(|file| event(&mut emitter, &reader, file));
    tasks(&mut emitter, &folder.join("TASKS.json"));
    emitter.spend(usage(&state));
    emitter.finish()
}

fn event(emitter: &mut EventEmitter<'_>, reader: &EventReader, file: &Path) {
    let text = match json_file::text(file) {
        Ok(text) => text,
        Err(fault) => {
            emitter.record(0, None);
            return emitter.complain(fault);
        }
    };
    emitter.record(text.len(), None);
    if let Some(json) = emitter.json(&text) {
        emitter.at_ms = at(&json);
        reader.event(emitter, &json);
    }
}

/// The list of tasks as it stands, which may be newer than the last event.
fn tasks(emitter: &mut EventEmitter<'_>, path: &Path) {
    let text = json_file::text(path).unwrap_or_default();
    let list = Json::parse(&text).unwrap_or(Json::Null);
    emitter.plan(crate::shared::plan::of(&list));
}

fn cwd<'a>(state: &'a Json<'a>) -> Option<&'a str> {
    state.get("workspace").first(&["working_dir", "cwd"])
}

fn model<'a>(state: &'a Json<'a>) -> Option<&'a str> {
    state.at_path(&["agent", "llm", "model"]).str()
}

/// What all models used; tokens out of the cache are counted among those of the prompt.
fn usage(state: &Json<'_>) -> Usage {
    let metrics = state.at_path(&["stats", "usage_to_metrics"]).fields().iter();
    metrics.fold(Usage::default(), |sum, (_, one)| {
        let used = one.get("accumulated_token_usage");
        let (read, write) = (used.get("cache_read_tokens").count(), used.get("cache_write_tokens").count());
        sum.plus(Usage {
            input: used.get("prompt_tokens").count().saturating_sub(read).saturating_sub(write),
            cache_read: read,
            cache_write: write,
            output: used.get("completion_tokens").count(),
        })
    })
}
