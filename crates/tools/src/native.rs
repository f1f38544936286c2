//! The form of an agent's own sessions, for writing one that it takes up.

use std::path::PathBuf;

use baton_model::refusal::Refusal;
use baton_model::time::{Millis, rfc3339};
use baton_transcripts::TranscriptEnv;
use serde_json::Value;

use crate::work::{OwnCall, Work};

/// How an agent's sessions are written.
pub struct Native {
    /// What was tried with the real program: a version of it, or `yes`; empty if nothing was.
    pub tried: &'static str,
    /// The ids that it takes for those of its sessions.
    pub id: SessionId,
    /// Its own calls for a piece of work; none where no call of its own does the same, or for all of them where only text is written.
    pub calls: fn(&Work) -> Option<Vec<OwnCall>>,
    /// Its records.
    pub records: fn(&NativeSession) -> Vec<Value>,
    /// Where they go, below the agent's own folder, and what goes beside them.
    pub target: fn(&NativeSession, &SessionPlaces) -> Result<NativeTarget, Refusal>,
    /// How the written session is taken up, where that differs from one that the agent wrote.
    pub resume: Option<NativeResume>,
    /// The command that imports the file, for an agent that loads no session files from a folder.
    pub import: Option<NativeImport>,
}

/// The command lines that bring a written file into the agent's store.
pub struct NativeImport {
    /// What imports it; `{id}` is its file.
    pub words: &'static [&'static str],
    /// What removes the session again; `{id}` is its id.
    pub undo: &'static [&'static str],
    /// What prints the settings that hold.
    pub settings: &'static [&'static str],
    /// The file in which it keeps which model was used last.
    pub last_model: fn(&TranscriptEnv) -> PathBuf,
    /// The model that it uses by itself, by the settings that it printed, else by that file's text: `provider/model`.
    pub model: fn(&str, &str) -> Option<String>,
}

/// The form of the ids that an agent takes for those of its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionId {
    /// UUIDs of any version: one that sorts by time.
    AnyUuid,
    /// UUIDs of versions 1 to 5: a random one.
    OlderUuid,
    /// This prefix, then what sorts by time, see [`prefixed_id`].
    Prefixed(&'static str),
}

/// The command lines that take a written session up; `{id}` is its file.
pub struct NativeResume {
    /// On a terminal.
    pub words: &'static [&'static str],
    /// Without one.
    pub headless: &'static [&'static str],
}

/// A step of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The user says something.
    User(String),
    /// The agent says something.
    Assistant(String),
    /// The agent calls a tool of its own.
    Call(OwnCall),
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
    /// The conversation; it begins with the user.
    pub steps: Vec<Step>,
    /// The model that the agent uses by itself, where its sessions name one: `provider/model`.
    pub model: Option<String>,
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

/// Records that each name the one before.
#[derive(Default)]
pub(crate) struct Chain {
    /// The id of the last one.
    last: Option<String>,
    length: usize,
}

impl Chain {
    /// A chain that begins behind this record.
    pub(crate) fn after(id: String) -> Self {
        Self { last: Some(id), length: 0 }
    }
}

/// A record of a [`Chain`].
pub(crate) struct Link {
    /// Its id.
    pub id: String,
    /// The id of the one before.
    pub before: Option<String>,
    /// When it was written.
    pub at: String,
}

/// An id in the form of OpenCode: a prefix, twelve digits that rise with the time and the count, fourteen characters of an id at
/// random.
pub fn prefixed_id(prefix: &str, now: Millis, count: usize, random: &str) -> String {
    let rising = u64::try_from(now).unwrap_or_default().wrapping_mul(0x1000).wrapping_add(count as u64);
    let random = random.replace('-', "");
    let random = &random[random.len().saturating_sub(14)..];
    format!("{prefix}{:012x}{random}", rising & 0xffff_ffff_ffff)
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

    /// A record after those of the chain, with an id of its own.
    pub(crate) fn link(&self, chain: &mut Chain) -> Link {
        let id = self.new_id();
        let link = Link { before: chain.last.replace(id.clone()), id, at: self.at(chain.length) };
        chain.length += 1;
        link
    }

    /// An id for a call, of plain letters and digits.
    pub(crate) fn call_id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.new_id().replace('-', ""))
    }

    /// A time for each record, in order.
    pub(crate) fn at(&self, index: usize) -> String {
        rfc3339(self.now.saturating_add(i64::try_from(index).unwrap_or_default()))
    }

    /// The folder's name as Claude Code and Qwen Code write it.
    pub(crate) fn slug(&self) -> String {
        self.cwd().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    }
}
