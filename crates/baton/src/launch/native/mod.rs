//! Writing a session in another tool's own format, so that the tool itself can take it up. Of the conversation goes along
//! what was said; tool calls go along as text, because no tool has another's tools.

mod turns;
mod write;

use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use baton_ops::transcript::{ConversationExtent, Row};
use baton_tools::native::{Native, NativeSession, SessionId, SessionPlaces};

pub(crate) use turns::Turns;

use crate::clock;

/// A session that was written and read back.
pub(crate) struct WrittenSession {
    /// Its id in the tool.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// How many messages it has.
    pub messages: usize,
    /// The conversation that it is, as its tool lists it.
    pub extent: ConversationExtent,
    files: Vec<PathBuf>,
}

impl WrittenSession {
    /// Removes the files that were written, before they are announced.
    pub(crate) fn undo(self) {
        write::remove(&self.files);
    }
}

/// Writes the conversation as a session of this tool, and reads it back.
pub(crate) fn write_session(
    native: &Native,
    agent: &str,
    conversation: Turns,
    header: &Row,
    cwd: &Path,
    places: &SessionPlaces<'_>,
) -> Result<WrittenSession, Refusal> {
    let now = clock::now();
    let session = NativeSession {
        id: session_id(native.id, now),
        // The tools name a folder by its real path.
        cwd: cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()),
        branch: header.branch.clone(),
        title: header.title.as_deref().unwrap_or("continued session").chars().take(120).collect(),
        turns: conversation.turns,
        now,
        make_id: new_id,
    };
    let written = (native.target)(&session, places)?;
    let lines: String = (native.records)(&session).iter().map(|record| format!("{record}\n")).collect();
    let mut files = Vec::new();
    for (path, content) in written.extra_files.iter().map(|(p, c)| (p, c)).chain([(&written.main, &lines)]) {
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
    match write::verify(agent, &written.main, &session) {
        Ok(extent) => {
            let messages = session.turns.len();
            Ok(WrittenSession { id: session.id, path: written.main, messages, extent, files })
        }
        Err(why) => {
            write::remove(&files);
            let what =
                format!("the written session was not read back as it was meant: {why}; it was removed");
            Err(Refusal::invalid("native_unverified", what, "leave --native out"))
        }
    }
}

/// A new id for a session, in the form that its tool takes.
fn session_id(form: SessionId, now: i64) -> String {
    match form {
        SessionId::AnyUuid => new_id(now),
        SessionId::OlderUuid => {
            let mut bytes = [0; 16];
            clock::random(&mut bytes);
            baton_model::id::random_id(&bytes)
        }
    }
}

fn new_id(now: i64) -> String {
    let mut bytes = [0; baton_model::id::ID_RANDOM];
    clock::random(&mut bytes);
    baton_model::id::new_id(now, &bytes)
}
