//! Qoder: the lines of Claude Code at another place, `~/.qoder/projects/<slug>/<id>.jsonl` and, from the editor, below its shared cache.
//! `<id>-session.json` beside a session has its title and folder.

use std::borrow::Cow;
use std::fs::DirEntry;
use std::path::Path;

use super::claude;
use crate::event::{Event, EventKind, SourcePosition, TranscriptInfo};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::permission_mode::LineMode;
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::entries;
use crate::shared::sidecar;
use crate::shared::words::unclean_line;

/// The format.
#[derive(Debug)]
pub struct Qoder;

const ID: &str = "qoder";
const CACHE: &str = "SharedClientCache";

impl TranscriptReader for Qoder {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let own = env.dir_or_home("QODER_CONFIG_DIR", ".qoder").join("projects");
        let cache = env.config_dir().join("Qoder").join(CACHE).join("cli/projects");
        for projects in [own, cache] {
            let all = entries(&projects);
            sessions(&all, found);
            all.iter().for_each(|project| sessions(&entries(&project.path()), found));
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        claude::Claude.sniff(head)
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.components().any(|part| part.as_os_str() == ".qoder" || part.as_os_str() == CACHE)
            || sidecar_path(path).is_file()
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = claude::Claude.header(found);
        let text = sidecar::text(&sidecar_path(&found.path));
        let about = sidecar::json(&text);
        header.title = about.get("title").str().map(|title| unclean_line(title, 120)).or(header.title);
        header.cwd = header.cwd.or_else(|| about.get("working_dir").str().map(str::to_owned));
        header
    }

    /// The folder beside the session counts where its lines name none.
    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let text = sidecar::text(&sidecar_path(path));
        if let Some(folder) = sidecar::json(&text).get("working_dir").str() {
            let session = TranscriptInfo { cwd: Some(Cow::Borrowed(folder)), ..TranscriptInfo::default() };
            let position = SourcePosition::default();
            sink(&Event { position, at_ms: None, subagent: None, what: EventKind::Session(session) });
        }
        claude::Claude.read(path, sink)
    }

    fn permission_mode(&self) -> Option<LineMode> {
        claude::Claude.permission_mode()
    }
}

fn sessions(files: &[DirEntry], found: &mut dyn FnMut(TranscriptFile)) {
    let own = files.iter().filter(|entry| claude::is_session(&entry.file_name()));
    own.filter_map(|entry| TranscriptFile::entry(ID, entry)).for_each(found);
}

/// What the tool keeps beside a session.
fn sidecar_path(path: &Path) -> std::path::PathBuf {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.with_file_name(format!("{stem}-session.json"))
}
