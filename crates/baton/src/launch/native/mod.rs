//! Writing a session in another tool's own format, so that the tool itself can take it up. Of the conversation goes along
//! what was said; tool calls go along as text, because no tool has another's tools.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod pi;
mod qwen;
mod turns;
mod write;

use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use baton_ops::transcript::Row;
use serde_json::Value;

pub use claude::NATIVE as CLAUDE;
pub use codex::NATIVE as CODEX;
pub use copilot::NATIVE as COPILOT;
pub use gemini::NATIVE as GEMINI;
pub use pi::NATIVE as PI;
pub use qwen::NATIVE as QWEN;
pub use turns::{Turn, Turns};

use crate::host;

/// How one tool's sessions are written.
pub struct Native {
    /// Its records.
    records: fn(&Session) -> Vec<Value>,
    /// Where they go, below the tool's own folder, and what goes beside them.
    place: fn(&Session, &Places) -> Result<NativeTarget, Refusal>,
    /// How the written session is taken up, where that differs from one that the tool wrote; `{id}` is its file then.
    pub resume: Option<&'static [&'static str]>,
}

/// A session that is to be written.
pub struct Session {
    id: String,
    cwd: PathBuf,
    branch: Option<String>,
    title: String,
    turns: Vec<Turn>,
    now: i64,
}

/// Where the tools keep their files, and where Baton keeps its own.
pub struct Places<'a> {
    /// Where other tools keep theirs.
    pub tools: &'a baton_transcripts::Env,
    /// For what belongs to no tool yet.
    pub own: PathBuf,
}

/// The files to write.
pub struct NativeTarget {
    /// The file of the records.
    main: PathBuf,
    /// Files beside it with their content; written first.
    beside: Vec<(PathBuf, String)>,
}

/// A session that was written and read back.
pub struct WrittenSession {
    /// Its id in the tool.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// How many messages it has.
    pub messages: usize,
    files: Vec<PathBuf>,
}

impl WrittenSession {
    /// Removes the files that were written, before they are announced.
    pub fn undo(self) {
        write::remove(&self.files);
    }
}

/// Writes the conversation as a session of this tool, and reads it back.
pub fn write_session(
    native: &Native,
    agent: &str,
    talk: Turns,
    header: &Row,
    cwd: &Path,
    places: &Places<'_>,
) -> Result<WrittenSession, Refusal> {
    let now = host::now();
    let session = Session {
        id: new_id(now),
        // The tools name a folder by its real path.
        cwd: cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()),
        branch: header.branch.clone(),
        title: header.title.as_deref().unwrap_or("continued session").chars().take(120).collect(),
        turns: talk.turns,
        now,
    };
    let written = (native.place)(&session, places)?;
    let lines: String = (native.records)(&session).iter().map(|record| format!("{record}\n")).collect();
    let mut files = Vec::new();
    for (path, content) in written.beside.iter().map(|(p, c)| (p, c)).chain([(&written.main, &lines)]) {
        if let Err(error) = write::new_file(path, content) {
            write::remove(&files);
            let what = format!("{} cannot be written: {error}", path.display());
            return Err(Refusal::invalid(
                "native_unwritable",
                what,
                "leave --native out, or make room there",
            ));
        }
        files.push(path.clone());
    }
    let carried =
        WrittenSession { id: session.id.clone(), path: written.main, messages: session.turns.len(), files };
    match write::verify(agent, &carried.path, &session) {
        Ok(()) => Ok(carried),
        Err(why) => {
            carried.undo();
            let what =
                format!("the written session was not read back as it was meant: {why}; it was removed");
            Err(Refusal::invalid("native_unverified", what, "leave --native out"))
        }
    }
}

fn new_id(now: i64) -> String {
    let mut bytes = [0; baton_model::id::ID_RANDOM];
    host::random(&mut bytes);
    baton_model::id::new_id(now, &bytes)
}

impl Session {
    fn cwd(&self) -> String {
        self.cwd.display().to_string()
    }

    /// A time for each record, in order.
    fn at(&self, index: usize) -> String {
        baton_model::time::rfc3339(self.now.saturating_add(i64::try_from(index).unwrap_or_default()))
    }

    /// The turns, each with an id of its own and of the one before.
    fn chain(&self) -> Vec<(String, Option<String>, &Turn)> {
        let mut before = None;
        let link = |turn| {
            let id = new_id(self.now);
            (id.clone(), before.replace(id), turn)
        };
        self.turns.iter().map(link).collect()
    }

    /// The folder's name as Claude Code and Qwen Code write it.
    fn slug(&self) -> String {
        self.cwd().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    }
}
