//! The chat of Visual Studio Code (GitHub Copilot Chat): `<User>/workspaceStorage/<hash>/chatSessions/<id>.json`, one document, and in
//! newer versions `<id>.jsonl`, a log of the document's changes, which is replayed. `workspace.json` beside the folder names the project.

mod calls;
mod log;
mod parts;
mod read;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::shared::heading;

/// The format.
#[derive(Debug)]
pub struct VsCodeCopilot;

const ID: &str = "vscode_copilot";
const SESSIONS: &str = "chatSessions";
/// Folders of sessions that belong to no project, or move to another window.
const WITHOUT_PROJECT: [&str; 2] = ["emptyWindowChatSessions", "transferredChatSessions"];

impl TranscriptReader for VsCodeCopilot {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for editor in env.editor_dirs() {
            for workspace in entries(&editor.join("workspaceStorage")) {
                sessions(&workspace.path().join(SESSIONS), found);
            }
            for name in WITHOUT_PROJECT {
                sessions(&editor.join("globalStorage").join(name), found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let own = ["\"responderUsername\"", "\"initialLocation\"", "\"creationDate\""];
        head.starts_with(b"{") && has("\"requests\"") && own.iter().any(|name| has(name))
    }

    fn lives_at(&self, path: &Path) -> bool {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        folder.is_some_and(|name| name == SESSIONS || WITHOUT_PROJECT.contains(&name))
    }

    /// Any line of a log may change any part of the session, so the header is that of the whole.
    fn header(&self, found: &TranscriptFile) -> Header {
        let mut title = None;
        let mut header = heading::of_whole(found, |sink| read::read(&found.path, &mut title, sink));
        if header.id.is_empty() {
            header.id = heading::stem(found);
        }
        header.title = title.or(header.title);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, &mut None, sink)
    }
}

/// Gives out the sessions of a folder. One that is there as a document and as a log is the newer of both.
fn sessions(dir: &Path, found: &mut dyn FnMut(TranscriptFile)) {
    let mut newest: BTreeMap<PathBuf, TranscriptFile> = BTreeMap::new();
    for entry in entries(dir) {
        let path = entry.path();
        if !path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
            continue;
        }
        let Some(file) = TranscriptFile::entry(ID, &entry) else { continue };
        let stem = path.with_extension("");
        if newest.get(&stem).is_none_or(|other| other.stamp.mtime_ns <= file.stamp.mtime_ns) {
            newest.insert(stem, file);
        }
    }
    newest.into_values().for_each(found);
}
