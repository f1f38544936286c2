//! The full read of a chat: message by message, since each answer carries the state of its whole run.

use std::borrow::Cow;
use std::path::Path;

use super::blocks;
use crate::event::{Event, TranscriptInfo};
use crate::report::{Report, kind};
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::{document, json_file, time};

/// Reads a chat.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = json_file::text(path).unwrap_or_else(|fault| {
        emitter.complain(fault);
        String::new()
    });
    emitter.count(0, text.len() as u64);
    let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let began = name.and_then(began_at);
    emitter.at_ms = began;
    emitter.session(TranscriptInfo {
        id: name.filter(|_| began.is_some()).map(Cow::Borrowed),
        cwd: folder(path).map(Cow::Owned),
        ..TranscriptInfo::default()
    });
    let mut end = 0;
    for range in document::elements(text.as_bytes(), 0) {
        end = range.end;
        // A range begins and ends at a mark or a quote, never within a character.
        let Some(one) = text.get(range) else { continue };
        emitter.record(0, None);
        if let Some(json) = emitter.json(one) {
            emitter.at_ms = json.get("timestamp").time();
            message(&mut emitter, &json);
        }
    }
    let rest = text.get(end..).unwrap_or_default().trim();
    if !matches!(rest, "]" | "[]") && !text.is_empty() {
        emitter.complain(if rest.ends_with(']') { kind::DAMAGED } else { kind::CUT });
    }
    emitter.finish()
}

/// When a chat began, by the name of its folder: `2026-07-16T00-09-00.236Z`.
fn began_at(name: &str) -> Option<i64> {
    let (day, clock) = name.split_once('T')?;
    time::lenient(&format!("{day}T{}", clock.replacen('-', ":", 2)))
}

/// The folder that the last run worked in. The state holds much else, which is not built.
fn folder(path: &Path) -> Option<String> {
    let text = json_file::text(&path.with_file_name("run-state.json")).ok()?;
    let bytes = text.as_bytes();
    let path = ["sessionState", "fileContext", "cwd"];
    let at = path.iter().try_fold(0, |at, key| document::field(bytes, at, key))?;
    let end = document::value_end(bytes, at)?;
    Json::parse(text.get(at..end)?).ok()?.str().map(str::to_owned)
}

fn message(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let content = json.get("content").str().unwrap_or_default();
    match json.get("variant").str().unwrap_or_default() {
        "user" => emitter.user(content),
        "ai" => {
            let parts = json.get("blocks").items();
            if parts.is_empty() {
                emitter.assistant(content);
            }
            blocks::blocks(emitter, parts, 0);
        }
        // What older versions wrote for a sub-agent stands among the messages.
        "agent" => {
            let id = json.first(&["parentId", "id"]).unwrap_or_default();
            let outer = emitter.subagent.replace(id.to_owned());
            emitter.assistant(content);
            blocks::blocks(emitter, json.get("blocks").items(), 0);
            emitter.subagent = outer;
        }
        "error" => emitter.provider_error(content),
        name => emitter.unknown_type(name),
    }
    emitter.provider_error(json.get("userError").str().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::began_at;

    #[test]
    fn the_time_of_a_chat_is_the_name_of_its_folder() {
        assert_eq!(began_at("2026-07-16T00-09-00.236Z"), Some(1_784_160_540_236));
        for odd in ["x", "2026-07-16", "T", "aTb"] {
            assert_eq!(began_at(odd), None, "{odd}");
        }
    }
}
