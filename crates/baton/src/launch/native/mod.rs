//! Writing a session in another tool's own format, so that the tool itself can take it up. What was said goes along, and tool calls
//! as the tool's own where it has one for the same work, else as text.

mod conversation;
mod import;
mod work;
mod write;

use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use baton_ops::transcript::{ConversationExtent, Row};
use baton_tools::native::{Native, NativeSession, SessionId, SessionPlaces, Step, prefixed_id};

pub(crate) use conversation::Conversation;
pub(crate) use import::Importer;
pub(crate) use work::Folders;

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
    importer: Option<Importer>,
}

impl WrittenSession {
    /// Removes the session that was written, before it is announced.
    pub(crate) fn undo(self) {
        write::remove(&self.files);
        self.importer.into_iter().for_each(|importer| importer.undo(&self.id));
    }
}

/// What a session is written for.
pub(crate) struct SessionTarget<'a> {
    /// The form.
    pub native: &'static Native,
    /// The tool.
    pub agent: &'static str,
    /// The folder in which it goes on.
    pub cwd: &'a Path,
    /// Where files go.
    pub places: SessionPlaces<'a>,
    /// What brings it into the tool's own store, where that is needed.
    pub importer: Option<Importer>,
}

/// Writes the conversation as a session of this tool, and reads it back.
pub(crate) fn write_session(
    target: SessionTarget<'_>,
    conversation: Conversation,
    header: &Row,
) -> Result<WrittenSession, Refusal> {
    let SessionTarget { native, agent, cwd, places, importer } = target;
    let now = clock::now();
    let session = NativeSession {
        id: session_id(native.id, now),
        // The tools name a folder by its real path.
        cwd: cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()),
        branch: header.branch.clone(),
        title: header.title.as_deref().unwrap_or("continued session").chars().take(120).collect(),
        steps: conversation.steps,
        model: importer.as_ref().map(|importer| importer.model(places.tools)).transpose()?,
        now,
        make_id: new_id,
    };
    let written = (native.target)(&session, &places)?;
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
    let messages = session.steps.iter().filter(|step| !matches!(step, Step::Call(_))).count();
    let extent = write::verify(agent, &written.main, &session).map_err(|why| {
        write::remove(&files);
        let what = format!("the written session was not read back as it was meant: {why}; it was removed");
        Refusal::invalid("native_unverified", what, "leave --native out")
    })?;
    let whole = WrittenSession { id: session.id, path: written.main, messages, extent, files, importer };
    imported(whole, agent, &places)
}

/// The session in its tool's store, where it has to be brought there. The file is not needed then.
fn imported(
    session: WrittenSession,
    agent: &str,
    places: &SessionPlaces<'_>,
) -> Result<WrittenSession, Refusal> {
    let Some(importer) = session.importer.as_ref() else { return Ok(session) };
    let brought = importer.import(&session.path, (agent, &session.id), places.tools);
    write::remove(&session.files);
    let (path, extent) = brought?;
    Ok(WrittenSession { path, extent, files: Vec::new(), ..session })
}

/// A new id for a session, in the form that its tool takes.
fn session_id(form: SessionId, now: i64) -> String {
    match form {
        SessionId::AnyUuid => new_id(now),
        SessionId::Prefixed(prefix) => prefixed_id(prefix, now, 0, &new_id(now)),
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
