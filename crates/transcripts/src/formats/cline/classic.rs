//! A task of the editor's extension: what was shown, with the ends of calls from what was sent; or only the latter.

use std::borrow::Cow;
use std::path::Path;

use super::api::ApiMessageReader;
use super::messages::MessageReader;
use super::verdicts::Verdicts;
use super::{SENT, SHOWN, xml};
use crate::event::{Event, TranscriptInfo};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::json_file;
use crate::shared::time;

/// A list of history items is only looked through up to this size.
const MAX_HISTORY: u64 = 4 * 1024 * 1024;

/// Reads a task by either of its files.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let shown = load(&mut emitter, path, SHOWN);
    let sent = load(&mut emitter, path, SENT);
    let (shown, sent) = (parsed(&shown), parsed(&sent));
    facts(&mut emitter, path, &shown, &sent);
    let is_shown = shown.items().iter().any(|one| !one.get("say").is_null() || !one.get("ask").is_null());
    if is_shown {
        let mut says = MessageReader::new(Verdicts::of(&sent));
        for message in shown.items() {
            emitter.record(0, message.get("ts").int().map(time::millis));
            says.message(&mut emitter, message);
        }
        says.end(&mut emitter);
    } else {
        let mut messages = ApiMessageReader::default();
        for message in sent.items() {
            emitter.record(0, message.get("ts").int().map(time::millis));
            messages.message(&mut emitter, message);
        }
    }
    emitter.finish()
}

/// The text of a file of the task: the one that was named, or its sister, which may be missing.
fn load(emitter: &mut EventEmitter<'_>, path: &Path, name: &str) -> String {
    let own = path.file_name().and_then(|own| own.to_str()).unwrap_or_default();
    let known = own.ends_with(SHOWN) || own.ends_with(SENT);
    let path = match own.ends_with(name) || (!known && name == SHOWN) {
        true => path.to_owned(),
        false => path.with_file_name(name),
    };
    // A sister may be missing, and a file of another name has none.
    if !own.ends_with(name) && (name == SENT && !known || known && !path.is_file()) {
        return String::new();
    }
    emitter.document(&path)
}

/// The value of a text that was mended already.
fn parsed(text: &str) -> Json<'_> {
    Json::parse(text).unwrap_or(Json::Null)
}

/// Emits the metadata of the task.
fn facts(emitter: &mut EventEmitter<'_>, path: &Path, shown: &Json<'_>, sent: &Json<'_>) {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let history = history(path, folder);
    let item = parsed(&history);
    let item = item.items().iter().find(|item| item.get("id").str() == Some(folder)).unwrap_or(&item);
    let cwd = item.first(&["workspace", "cwdOnTaskInitialization"]);
    let seen = |message: &Json<'_>| xml::directory(&message.get("content").text()).map(str::to_owned);
    let cwd = cwd.map(str::to_owned).or_else(|| sent.items().iter().take(4).find_map(seen));
    let id = (!folder.is_empty()).then(|| folder.to_owned());
    emitter.at_ms =
        shown.items().iter().chain(sent.items()).find_map(|one| one.get("ts").int()).map(time::millis);
    emitter.session(TranscriptInfo {
        id: id.map(Cow::Owned),
        cwd: cwd.map(Cow::Owned),
        model: item.get("modelId").str().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
}

/// The item of the task, or the list in which it stands.
fn history(path: &Path, folder: &str) -> String {
    let own = path.with_file_name("history_item.json");
    let all = path.ancestors().nth(3).map(|root| root.join("state/taskHistory.json"));
    let small = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.len() <= MAX_HISTORY);
    let text =
        |path: &Path| json_file::text(path).ok().filter(|text| text.contains(folder) && !folder.is_empty());
    let own = Some(own).filter(|path| small(path)).and_then(|path| text(&path));
    own.or_else(|| all.filter(|path| small(path)).and_then(|path| text(&path))).unwrap_or_default()
}
