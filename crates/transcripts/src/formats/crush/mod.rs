//! Crush: a database in every project, `.crush/crush.db`, and a list of the projects.

mod parts;
mod read;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::{Os, TranscriptEnv};
use crate::report::Report;
use crate::shared::json::Json;
use crate::shared::json_file;
use crate::sqlite;

/// The format.
#[derive(Debug)]
pub struct Crush;

const ID: &str = "crush";

impl TranscriptReader for Crush {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for database in databases(env) {
            sqlite::crush::SESSIONS.find(ID, &database, found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
        sqlite::is_database(head) && has("parent_session_id") && has("completion_tokens")
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        read::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, None, sink)
    }

    fn read_session(&self, path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, key, sink)
    }
}

/// The databases of all projects that Crush or the caller knows; Crush itself looks upwards from where it is started.
fn databases(env: &TranscriptEnv) -> BTreeSet<PathBuf> {
    let data = match env.os {
        Os::Windows => env.dir_or_home("LOCALAPPDATA", "AppData/Local"),
        Os::Linux | Os::MacOs => env.xdg_data_dir(),
    };
    let text = json_file::text(&data.join("crush/projects.json")).unwrap_or_default();
    let registry = Json::parse(&text).unwrap_or(Json::Null);
    let listed = registry.get("projects").items().iter().filter_map(|project| {
        let folder = Path::new(project.get("path").str()?);
        Some(folder.join(project.get("data_dir").str().unwrap_or(".crush")).join("crush.db"))
    });
    let above = env.folders.iter().flat_map(|folder| folder.ancestors());
    let above = above.map(|folder| (folder, folder.join(".crush/crush.db")));
    let above = above.filter(|(folder, path)| TranscriptEnv::is_in(folder, path)).map(|(_, path)| path);
    listed.filter(|path| path.is_file()).chain(above).collect()
}
