//! A session of Cline's command line: `<id>.messages.json`, and beside it the manifest `<id>.json`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::api::ApiMessageReader;
use crate::event::{Event, TranscriptInfo};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::json_file;
use crate::shared::time;
use crate::shared::words::unclean_line;

const END: &str = ".messages.json";

/// Whether a file is a session by its name, or by what it holds.
pub(super) fn is_session(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(END));
    let head = || crate::shared::chunk::open(path).and_then(|file| crate::shared::chunk::head(file, 64)).ok();
    named || head().is_some_and(|head| head.trim_ascii_start().starts_with(b"{"))
}

/// Reads a session.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = emitter.document(path);
    let doc = Json::parse(&text).unwrap_or(Json::Null);
    let manifest = manifest(path);
    let about = Json::parse(&manifest).unwrap_or(Json::Null);
    let field = |value: Option<&str>| value.map(|text| Cow::Owned(text.to_owned()));
    let git = about.at_path(&["metadata", "git"]);
    emitter.at_ms = about.first(&["started_at", "created_at"]).and_then(time::parse);
    emitter.session(TranscriptInfo {
        id: field(about.get("session_id").str().or(doc.get("sessionId").str())),
        cwd: field(about.first(&["cwd", "workspace_root"])),
        branch: field(git.get("branch").str()),
        commit: field(git.first(&["commit", "head"])),
        model: field(about.get("model").str()),
        version: None,
    });
    let mut messages = ApiMessageReader::default();
    for message in doc.get("messages").items() {
        emitter.record(0, message.get("ts").int().map(time::millis));
        messages.message(&mut emitter, message);
    }
    emitter.finish()
}

/// The title in the manifest.
pub(super) fn title(path: &Path) -> Option<String> {
    let text = manifest(path);
    let json = Json::parse(&text).ok()?;
    json.at_path(&["metadata", "title"]).str().map(|title| unclean_line(title, 120))
}

fn manifest(path: &Path) -> String {
    let beside = |path: &Path| -> Option<PathBuf> {
        let name = path.file_name()?.to_str()?.strip_suffix(END)?;
        Some(path.with_file_name(format!("{name}.json")))
    };
    beside(path).and_then(|path| json_file::text(&path).ok()).unwrap_or_default()
}
