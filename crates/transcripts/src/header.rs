//! What a listing shows of a transcript, and what tells whether it has changed.

use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use baton_redact::Redactor;
use serde::{Deserialize, Serialize};

use crate::report::Complaint;

/// A transcript as a listing shows it. It can be kept as JSON and used as long as its [`Stamp`] is unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The tool's own id of the session.
    pub id: String,
    /// Id of the format: `claude`, `codex`, ….
    pub agent: String,
    /// The file.
    pub path: PathBuf,
    /// Working directory of the session.
    pub cwd: Option<String>,
    /// Address of the git repository, where the tool records it.
    pub repo: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The title given by user or tool, else the beginning of the first prompt.
    pub title: Option<String>,
    /// The first thing the user asked for, on one line.
    pub first_prompt: Option<String>,
    /// Time of the first entry, in epoch milliseconds.
    pub created_at_ms: Option<i64>,
    /// Time of the last entry, else of the last change of the file.
    pub updated_at_ms: Option<i64>,
    /// Size of the file.
    pub bytes: u64,
    /// Whether the file holds no conversation.
    pub empty: bool,
    /// Whether this is the transcript of a sub-agent.
    pub subagent: bool,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
}

impl Header {
    /// The header without secrets: what a user typed first, and an address with a password in it, are shown and kept.
    pub(crate) fn redacted(mut self) -> Self {
        static REDACTOR: OnceLock<Redactor> = OnceLock::new();
        let redactor = REDACTOR.get_or_init(Redactor::new);
        for text in
            [&mut self.title, &mut self.first_prompt, &mut self.repo, &mut self.branch].into_iter().flatten()
        {
            *text = redactor.redact(text).text.into_owned();
        }
        self
    }
}

/// What tells whether a file has changed.
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
pub struct Found {
    /// Id of the format.
    pub agent: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What tells whether it has changed.
    pub stamp: Stamp,
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(meta: &Metadata) -> Self {
        let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Self { size: meta.len(), mtime_ns, inode: inode(meta) }
    }

    /// Time of the last change, in epoch milliseconds.
    pub fn mtime_ms(&self) -> i64 {
        self.mtime_ns / 1_000_000
    }
}

impl Found {
    /// A file of a format, unless it cannot be looked at.
    pub fn at(agent: &'static str, path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self { agent, path: path.to_owned(), stamp: Stamp::of(&meta) })
    }

    /// An entry of a directory, unless it is no file. Cheaper than [`Found::at`]: its path is not resolved again.
    pub fn entry(agent: &'static str, entry: &DirEntry) -> Option<Self> {
        if entry.file_type().ok()?.is_symlink() {
            return Self::at(agent, &entry.path());
        }
        let meta = entry.metadata().ok().filter(Metadata::is_file)?;
        Some(Self { agent, path: entry.path(), stamp: Stamp::of(&meta) })
    }

    /// A header that so far says only what the file system knows.
    pub fn header(&self) -> Header {
        Header {
            agent: self.agent.to_owned(),
            path: self.path.clone(),
            bytes: self.stamp.size,
            updated_at_ms: Some(self.stamp.mtime_ms()),
            ..Header::default()
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
