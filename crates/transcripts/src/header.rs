//! What a listing shows of a transcript, and the stamp to detect a change.

use std::borrow::Cow;
use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::report::Complaint;
use crate::shared::words::unclean_line;

/// A transcript as a listing shows it. It can be kept as JSON and used as long as its [`Stamp`] is unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The tool's own id of the session.
    pub id: String,
    /// Id of the format: `claude`, `codex`, ….
    #[serde(rename = "agent")]
    pub tool_id: String,
    /// The file.
    pub path: PathBuf,
    /// Which of several conversations in the file, see [`TranscriptFile::key`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Working directory of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Address of the git repository, where the tool records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The title given by user or tool, else the beginning of the first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first thing the user asked for, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// Time of the first entry, in epoch milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at_ms: Option<i64>,
    /// Time of the last entry, else of the last change of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at_ms: Option<i64>,
    /// Size of the file.
    pub bytes: u64,
    /// Whether the file holds no conversation.
    #[serde(skip_serializing_if = "is_no")]
    pub empty: bool,
    /// Whether this is the transcript of a sub-agent.
    #[serde(skip_serializing_if = "is_no")]
    pub subagent: bool,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<Complaint>,
}

impl Header {
    /// The header without secrets: what a user typed first, and an address with a password in it, are shown and kept.
    pub(crate) fn redacted(mut self) -> Self {
        let redactor = baton_redact::shared();
        for text in
            [&mut self.title, &mut self.first_prompt, &mut self.repo, &mut self.branch].into_iter().flatten()
        {
            *text = redactor.redact(text).text.into_owned();
        }
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_no(value: &bool) -> bool {
    !value
}

/// The part of a [`Header`] by which listings sort and choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The tool's own id of the session.
    pub id: String,
    /// Working directory of the session.
    pub cwd: Option<String>,
    /// Time of the last entry, else of the last change of the file.
    pub updated_at_ms: Option<i64>,
    /// Whether the file holds no conversation.
    pub empty: bool,
    /// Whether this is the transcript of a sub-agent.
    pub subagent: bool,
}

impl From<&Header> for Brief {
    fn from(header: &Header) -> Self {
        Self {
            id: header.id.clone(),
            cwd: header.cwd.clone(),
            updated_at_ms: header.updated_at_ms,
            empty: header.empty,
            subagent: header.subagent,
        }
    }
}

/// Identifies a version of a file, to detect a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Inode, or 0 where there are none.
    pub inode: u64,
}

/// A transcript that was found but not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// Id of the format.
    pub agent: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Which of several conversations in the file: the id of a session in a database. None where the file is one.
    pub key: Option<String>,
    /// Identifies its version, to detect a change.
    pub stamp: Stamp,
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(meta: &Metadata) -> Self {
        let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Self { size: meta.len(), mtime_ns, inode: inode(meta) }
    }

    /// The stamp of a session in a database of this stamp: its time is the session's own, and whatever else changes
    /// in the database changes the rest of the stamp.
    pub(crate) fn of_session(self, updated_ms: Option<i64>) -> Self {
        let Some(own) = updated_ms.and_then(|ms| ms.checked_mul(1_000_000)) else { return self };
        let mark = u64::from_ne_bytes(self.mtime_ns.to_ne_bytes()).rotate_left(17);
        Self { mtime_ns: own, inode: self.inode ^ mark, ..self }
    }

    /// Time of the last change, in epoch milliseconds.
    pub fn mtime_ms(&self) -> i64 {
        self.mtime_ns / 1_000_000
    }
}

impl TranscriptFile {
    /// A file of a format, unless it cannot be looked at.
    pub fn from_path(agent: &'static str, path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self { agent, path: path.to_owned(), key: None, stamp: Stamp::of(&meta) })
    }

    /// An entry of a directory, unless it is no file. Cheaper than [`TranscriptFile::from_path`]: its path is not resolved again.
    pub fn entry(agent: &'static str, entry: &DirEntry) -> Option<Self> {
        if entry.file_type().ok()?.is_symlink() {
            return Self::from_path(agent, &entry.path());
        }
        let meta = entry.metadata().ok().filter(Metadata::is_file)?;
        Some(Self { agent, path: entry.path(), key: None, stamp: Stamp::of(&meta) })
    }

    /// The same under the name by which a cache knows it: the path, and for a session in a database `#` and its key.
    pub fn cached(&self) -> Self {
        Self { path: self.cache_path().into_owned(), ..self.clone() }
    }

    /// That name alone.
    pub(crate) fn cache_path(&self) -> Cow<'_, Path> {
        let Some(key) = &self.key else { return Cow::Borrowed(&self.path) };
        let mut name = self.path.clone().into_os_string();
        name.push("#");
        name.push(key);
        Cow::Owned(name.into())
    }

    /// A header that so far says only what the file system knows.
    pub fn header(&self) -> Header {
        Header {
            tool_id: self.agent.to_owned(),
            path: self.path.clone(),
            key: self.key.clone(),
            bytes: self.stamp.size,
            updated_at_ms: Some(self.stamp.mtime_ms()),
            ..Header::default()
        }
    }
}

impl Header {
    /// Says that the file cannot be used.
    pub(crate) fn fault(mut self, kind: &str) -> Self {
        self.empty = true;
        self.complaints.push(Complaint { kind: kind.to_owned(), count: 1, first_line: 0 });
        self
    }

    /// Takes the first prompt, which is the title where the tool gave none.
    pub(crate) fn set_first_prompt(&mut self, prompt: &str) {
        let line = unclean_line(prompt, 300);
        if !line.is_empty() && self.first_prompt.is_none() {
            self.title = self.title.take().or_else(|| Some(unclean_line(prompt, 120)));
            self.first_prompt = Some(line);
        }
    }
}

#[cfg(unix)]
fn inode(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
