//! The full read of a session: its requests, each with the parts of its answer.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::log;
use super::parts::Answer;
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::report::{Complaints, Report, kind};
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::json_file::MAX_DOCUMENT;
use crate::shared::words::unclean_line;
use crate::shared::{sidecar, uri};

/// States of an answer: the user stopped it.
const CANCELLED: i64 = 2;

/// Reads a session, and gives out its title.
pub(super) fn read(path: &Path, title: &mut Option<String>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    if is_log(path) {
        let mut complaints = Complaints::default();
        let bytes = file_bytes(path).unwrap_or_else(|fault| {
            complaints.add(fault, 0);
            Vec::new()
        });
        emitter.count(0, bytes.len() as u64);
        let lines = log::lines(&bytes, &mut complaints);
        let state = log::replay(&lines, &mut complaints);
        emitter.merge(complaints);
        session(&mut emitter, path, &state, title);
    } else {
        let text = emitter.document(path);
        session(&mut emitter, path, &Json::parse(&text).unwrap_or(Json::Null), title);
    }
    emitter.finish()
}

/// Whether a file is a log and no document: by its name, else by how its lines begin.
fn is_log(path: &Path) -> bool {
    match path.extension().and_then(|end| end.to_str()) {
        Some("jsonl") => true,
        Some("json") => false,
        _ => {
            let mut start = [0; 9];
            let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
            read.is_ok() && start == *b"{\"kind\":0"
        }
    }
}

fn file_bytes(path: &Path) -> Result<Vec<u8>, &'static str> {
    let file = File::open(path).map_err(|_| kind::UNREADABLE)?;
    if file.metadata().map_err(|_| kind::UNREADABLE)?.len() > MAX_DOCUMENT {
        return Err(kind::TOO_LARGE);
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT).read_to_end(&mut bytes).map_err(|_| kind::UNREADABLE)?;
    Ok(bytes)
}

fn session(emitter: &mut EventEmitter<'_>, path: &Path, state: &Json<'_>, title: &mut Option<String>) {
    *title = state.get("customTitle").str().map(|title| unclean_line(title, 120));
    let repository = state.get("repoData");
    emitter.at_ms = state.get("creationDate").time();
    emitter.session(TranscriptInfo {
        id: state.get("sessionId").str().map(Cow::Borrowed),
        cwd: project(path).map(Cow::Owned),
        branch: repository.get("localBranch").str().map(Cow::Borrowed),
        commit: repository.get("headCommitHash").str().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    for one in state.get("requests").items() {
        // What the user took back stays in the file until the next request is sent.
        if !one.get("shouldBeRemovedOnSend").is_null() || one.get("isHidden").is_true() {
            continue;
        }
        request(emitter, one);
    }
    let last = state.get("lastMessageDate").time();
    if last > emitter.at_ms {
        emitter.at_ms = last;
        // Nothing new but the time.
        emitter.send(EventKind::Session(TranscriptInfo::default()));
    }
}

fn request(emitter: &mut EventEmitter<'_>, request: &Json<'_>) {
    emitter.record(0, request.get("timestamp").time());
    let message = request.get("message");
    emitter.user(&message.get("text").str().map_or_else(|| message.text(), Cow::Borrowed));
    let result = request.get("result");
    let metadata = result.get("metadata");
    let model = metadata.get("resolvedModel").str().or(request.get("modelId").str());
    emitter.model(model.map(|model| model.strip_prefix("copilot/").unwrap_or(model)));
    if let Some(completed) = completed_at(request) {
        emitter.at_ms = Some(completed);
    }
    Answer::new(request).emit(emitter);
    emitter.spend(usage(request));
    let cancelled = request.at_path(&["modelState", "value"]).int() == Some(CANCELLED);
    if cancelled || request.get("isCanceled").is_true() {
        return emitter.send(EventKind::Interrupted);
    }
    emitter.provider_error(result.at_path(&["errorDetails", "message"]).str().unwrap_or_default());
}

/// When the answer was complete.
fn completed_at(request: &Json<'_>) -> Option<i64> {
    let took = request.at_path(&["result", "timings", "totalElapsed"]).int().filter(|ms| *ms > 0);
    let begun = request.get("timestamp").time();
    request.at_path(&["modelState", "completedAt"]).time().or_else(|| begun?.checked_add(took?))
}

/// Tokens of a request: of each model where they are summed up, else those of its last call.
fn usage(request: &Json<'_>) -> Usage {
    let totals = request.get("modelTotals").items();
    if !totals.is_empty() {
        return totals.iter().fold(Usage::default(), |sum, one| {
            sum.plus(Usage {
                input: one.get("inputTokens").count(),
                output: one.get("outputTokens").count(),
                ..Usage::default()
            })
        });
    }
    let metadata = request.at_path(&["result", "metadata"]);
    let count = |keys: [&Json<'_>; 2]| keys[0].int().map_or_else(|| keys[1].count(), |_| keys[0].count());
    Usage {
        input: count([metadata.get("promptTokens"), request.get("promptTokens")]),
        output: count([metadata.get("outputTokens"), request.get("completionTokens")]),
        ..Usage::default()
    }
}

/// The folder that the window had open. Of several it is the one that holds the file which lists them.
fn project(path: &Path) -> Option<String> {
    let text = sidecar::text(&path.parent()?.parent()?.join("workspace.json"));
    let about = sidecar::json(&text);
    if let Some(folder) = about.get("folder").str() {
        return Some(address(folder));
    }
    let list = about.get("workspace").str().or(about.at_path(&["workspace", "configPath"]).str())?;
    let list = address(list);
    Path::new(&list).parent().map(|folder| folder.to_string_lossy().into_owned())
}

/// The path in an address, also in one of another machine: `vscode-remote://ssh-remote%2Bhost/home/you`.
pub(super) fn address(text: &str) -> String {
    let local = text.split_once("://").filter(|(scheme, _)| *scheme != "file");
    let path = local.and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or(text);
    uri::path(path)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn the_path_of_an_address_is_that_on_its_machine() {
        for (text, path) in [
            ("file:///home/you/my%20shop", "/home/you/my shop"),
            ("vscode-remote://ssh-remote%2Bhost/home/you", "/home/you"),
            ("/home/you", "/home/you"),
        ] {
            assert_eq!(address(text), path, "{text}");
        }
    }
}
