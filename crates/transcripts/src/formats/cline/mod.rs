//! Cline, Roo Code and Kilo Code: a folder for every task in the storage of the editor, with what was shown
//! (`ui_messages.json`) and what the model was sent (`api_conversation_history.json`).
//!
//! Cline's command line keeps sessions of its own: a manifest and `<id>.messages.json`.

mod api;
mod classic;
mod messages;
mod sdk;
mod verdicts;
mod xml;

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::shared::heading;

/// The format, under the name of one of the tools that share it.
#[derive(Debug)]
pub struct Cline {
    id: &'static str,
    /// Id of the extension, which names its folder.
    extension: &'static str,
    /// Whether it has a command line with sessions of its own.
    sessions: bool,
}

/// Cline.
pub static CLINE: Cline = Cline { id: "cline", extension: "saoudrizwan.claude-dev", sessions: true };
/// Roo Code.
pub static ROO: Cline = Cline { id: "roo", extension: "rooveterinaryinc.roo-cline", sessions: false };
/// Kilo Code, the extension; its command line is a format of another family.
pub static KILO_CODE: Cline = Cline { id: "kilo_code", extension: "kilocode.kilo-code", sessions: false };

const SHOWN: &str = "ui_messages.json";
const SENT: &str = "api_conversation_history.json";

impl TranscriptReader for Cline {
    fn id(&self) -> &'static str {
        self.id
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for editor in env.editor_dirs() {
            for task in entries(&editor.join("globalStorage").join(self.extension).join("tasks")) {
                let files = [SHOWN, SENT].map(|name| task.path().join(name));
                files
                    .iter()
                    .find_map(|path| TranscriptFile::from_path(self.id, path))
                    .into_iter()
                    .for_each(&mut *found);
            }
        }
        if self.sessions {
            for session in entries(&sessions_dir(env)) {
                let name = session.file_name();
                let path = session.path().join(format!("{}.messages.json", name.to_string_lossy()));
                TranscriptFile::from_path(self.id, &path).into_iter().for_each(&mut *found);
            }
        }
    }

    /// The files do not show which of the tools that share the format wrote them.
    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        let head = head.trim_ascii_start();
        let list = head.starts_with(b"[");
        let shown = list && has("\"ts\"") && (has("\"say\"") || has("\"ask\""));
        let sent = list && has("\"role\"") && has("\"content\"");
        shown
            || sent
            || (head.starts_with(b"{") && has("\"sessionId\"") && has("\"messages\"") && has("\"role\""))
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.components().any(|part| part.as_os_str() == self.extension)
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = heading::of_whole(found, |sink| self.read(&found.path, sink));
        header.title = sdk::title(&found.path).or(header.title);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match name.ends_with(SHOWN) || name.ends_with(SENT) || !sdk::is_session(path) {
            true => classic::read(path, sink),
            false => sdk::read(path, sink),
        }
    }
}

/// Where the command line of Cline keeps its sessions.
fn sessions_dir(env: &TranscriptEnv) -> PathBuf {
    let home = || env.dir_or_home("CLINE_DIR", ".cline").join("data");
    env.dir("CLINE_SESSION_DATA_DIR")
        .unwrap_or_else(|| env.dir("CLINE_DATA_DIR").unwrap_or_else(home).join("sessions"))
}
