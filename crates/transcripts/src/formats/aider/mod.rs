//! Aider: `.aider.chat.history.md` in a project, Markdown to which every start of the tool adds a chat.

mod chats;
mod edits;
mod read;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::heading;

/// The format.
#[derive(Debug)]
pub struct Aider;

const ID: &str = "aider";
const NAME: &str = ".aider.chat.history.md";

impl TranscriptReader for Aider {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for path in files(env) {
            let Some(file) = TranscriptFile::from_path(ID, &path) else { continue };
            match chats::starts(&path) {
                Ok(starts) => starts
                    .into_iter()
                    .map(|start| TranscriptFile { key: Some(start), ..file.clone() })
                    .for_each(&mut *found),
                Err(_) => found(file),
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        memchr::memmem::find(head, chats::HEADING.as_bytes())
            .is_some_and(|at| at == 0 || head[at - 1] == b'\n')
    }

    /// Only the beginning of a chat is timed; the last one goes on to the last change of the file.
    fn header(&self, found: &TranscriptFile) -> Header {
        let key = found.key.as_deref();
        let mut header = heading::of_whole(found, |sink| read::read(&found.path, key, sink));
        let last = chats::starts(&found.path).ok().and_then(|starts| starts.into_iter().next_back());
        if key.is_none() || key == last.as_deref() {
            header.updated_at_ms = Some(found.stamp.mtime_ms());
        }
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, key, sink)
    }
}

/// The files in known projects; a variable may name another file, in every project or anywhere.
fn files(env: &TranscriptEnv) -> BTreeSet<PathBuf> {
    let Some(name) = env.dir("AIDER_CHAT_HISTORY_FILE") else {
        let own = env.folders.iter().map(|folder| (folder, folder.join(NAME)));
        return own
            .filter(|(folder, path)| TranscriptEnv::is_in(folder, path))
            .map(|(_, path)| path)
            .collect();
    };
    let folders = env.folders.iter().map(|folder| folder.join(&name));
    folders.chain(name.is_absolute().then(|| name.clone())).filter(|path| path.is_file()).collect()
}
