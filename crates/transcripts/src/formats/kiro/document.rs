//! Sessions of the editor: a document each.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Event, TranscriptInfo};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::json_file;
use crate::shared::time;
use crate::shared::words::unclean_line;

/// Whether a file is a session and not the list of them.
pub(super) fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
        && path.file_name().is_some_and(|name| name != "sessions.json")
}

/// The title in a session.
pub(super) fn title(path: &Path) -> Option<String> {
    if !is_session(path) {
        return None;
    }
    let (text, _) = json_file::mended(json_file::text(path).ok()?);
    Json::parse(&text).ok()?.get("title").str().map(|title| unclean_line(title, 120))
}

/// Reads a session.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = emitter.document(path);
    let doc = Json::parse(&text).unwrap_or(Json::Null);
    let field = |keys: &[&str]| doc.first(keys).map(|text| Cow::Owned(text.to_owned()));
    emitter.session(TranscriptInfo {
        id: field(&["sessionId"]),
        cwd: field(&["workspaceDirectory", "workspacePath"]),
        model: field(&["selectedModel"]),
        ..TranscriptInfo::default()
    });
    for entry in doc.get("history").items() {
        let message = entry.get("message");
        let at = [message.get("timestamp"), entry.get("timestamp")];
        emitter.record(
            0,
            at.iter().find_map(|at| at.int().map(time::millis).or(at.str().and_then(time::lenient))),
        );
        match message.get("role").str() {
            Some("user") => emitter.user(&message.get("content").text()),
            Some("assistant") => emitter.assistant(&message.get("content").text()),
            Some("system") => {}
            role => emitter.unknown_type(role.unwrap_or_default()),
        }
    }
    emitter.finish()
}
