//! The form of an agent's own sessions, for writing one that it takes up.

use std::path::PathBuf;

use baton_model::refusal::Refusal;
use baton_model::time::{Millis, rfc3339};
use baton_transcripts::TranscriptEnv;
use serde_json::Value;

/// How an agent's sessions are written.
pub struct Native {
    /// What was tried with the real program: a version of it, or `yes`; empty if nothing was.
    pub tried: &'static str,
    /// The ids that it takes for those of its sessions.
    pub id: SessionId,
    /// Its records.
    pub records: fn(&NativeSession) -> Vec<Value>,
    /// Where they go, below the agent's own folder, and what goes beside them.
    pub target: fn(&NativeSession, &SessionPlaces) -> Result<NativeTarget, Refusal>,
    /// How the written session is taken up, where that differs from one that the agent wrote.
    pub resume: Option<NativeResume>,
}

/// The form of the ids that an agent takes for those of its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionId {
    /// UUIDs of any version: one that sorts by time.
    AnyUuid,
    /// UUIDs of versions 1 to 5: a random one.
    OlderUuid,
}

/// The command lines that take a written session up; `{id}` is its file.
pub struct NativeResume {
    /// On a terminal.
    pub words: &'static [&'static str],
    /// Without one.
    pub headless: &'static [&'static str],
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Whether the user speaks.
    pub user: bool,
    /// The text.
    pub text: String,
}

/// A session that is to be written.
pub struct NativeSession {
    /// Its id.
    pub id: String,
    /// The folder in which it works, by its real path.
    pub cwd: PathBuf,
    /// The branch on which it was.
    pub branch: Option<String>,
    /// Its title.
    pub title: String,
    /// The conversation, by turns of user and assistant.
    pub turns: Vec<Turn>,
    /// When it is written.
    pub now: Millis,
    /// Makes the id of a record.
    pub make_id: fn(Millis) -> String,
}

/// Where agents keep their files, and where Baton keeps its own.
pub struct SessionPlaces<'a> {
    /// Where agents keep theirs.
    pub tools: &'a TranscriptEnv,
    /// For what belongs to no agent yet.
    pub own: PathBuf,
}

/// The files to write.
pub struct NativeTarget {
    /// The file of the records.
    pub main: PathBuf,
    /// Files beside it with their content; written first.
    pub extra_files: Vec<(PathBuf, String)>,
}

impl NativeSession {
    /// A new id, for a record.
    pub(crate) fn new_id(&self) -> String {
        (self.make_id)(self.now)
    }

    /// The folder as text.
    pub fn cwd(&self) -> String {
        self.cwd.display().to_string()
    }

    /// A time for each record, in order.
    pub(crate) fn at(&self, index: usize) -> String {
        rfc3339(self.now.saturating_add(i64::try_from(index).unwrap_or_default()))
    }

    /// The turns, each with an id of its own and of the one before.
    pub(crate) fn chain(&self) -> Vec<(String, Option<String>, &Turn)> {
        let mut before = None;
        let link = |turn| {
            let id = self.new_id();
            (id.clone(), before.replace(id), turn)
        };
        self.turns.iter().map(link).collect()
    }

    /// The folder's name as Claude Code and Qwen Code write it.
    pub(crate) fn slug(&self) -> String {
        self.cwd().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    }
}
