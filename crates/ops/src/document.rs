//! Documents that a hand-off names: which are given along, and why the others are not.

use serde::{Deserialize, Serialize};

/// The document in which a repository says what it is.
const OWN_DOCUMENT: &str = "docs/PROJECT.md";

/// Which document is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPath<'a> {
    /// The one in which a repository says what it is. Its path is ours, and `baton init` writes it before it is committed: git need not
    /// track it.
    Own,
    /// One that another agent named: git has to track it.
    Named(&'a str),
}

impl<'a> DocumentPath<'a> {
    /// Where it lies.
    pub const fn path(self) -> &'a str {
        match self {
            Self::Own => OWN_DOCUMENT,
            Self::Named(path) => path,
        }
    }
}

/// The longest document that is given along, in bytes; a longer one is named.
pub const MAX_BYTES: usize = 64 * 1024;
/// The most that all documents of a hand-off hold together.
pub const MAX_TOTAL_BYTES: usize = 4 * MAX_BYTES;

/// The longest document whose words go along with a hand-off, in bytes.
pub const MAX_CARRIED_BYTES: usize = 32 * 1024;
/// The most that goes along with a hand-off of all its documents.
pub const MAX_CARRIED_TOTAL_BYTES: usize = 2 * MAX_CARRIED_BYTES;

/// A document without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanDocument {
    /// What it says.
    pub text: String,
    /// How many secrets were taken out of it.
    pub secrets: usize,
}

impl CleanDocument {
    /// Takes the secrets out by the rules of this machine.
    pub fn of(text: &str) -> Self {
        let clean = baton_transcripts::redact::shared().redact(text);
        let secrets = clean.counts.values().sum();
        Self { text: clean.text.into_owned(), secrets }
    }

    /// Such a document of a hand-off that is left: a longer one does not go along.
    pub fn of_linked(text: &str) -> Result<Self, OmissionReason> {
        if text.len() > MAX_CARRIED_BYTES { Err(OmissionReason::TooLargeToSend) } else { Ok(Self::of(text)) }
    }
}

/// Why a document is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OmissionReason {
    /// The pickup came over a socket, and a server reads no files for its callers.
    OnServer,
    /// The path is absolute, climbs, or lies in no folder of the projects on this machine.
    Outside,
    /// It would lie in another folder than the one of the call, which is not shown to a server.
    Elsewhere,
    /// A part of the path begins with a dot.
    Hidden,
    /// There is no such file.
    Missing,
    /// A part of the path is a link.
    Link,
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// Git does not track it, so it may hold what was never meant for others.
    Untracked,
    /// It is longer than [`MAX_BYTES`], or the documents before it have used up [`MAX_TOTAL_BYTES`].
    TooLarge,
    /// It is longer than [`MAX_CARRIED_BYTES`], or the documents before it have used up [`MAX_CARRIED_TOTAL_BYTES`].
    TooLargeToSend,
    /// It is not UTF-8, or cannot be read.
    NotText,
    /// It is there, and its text goes to a server only with what is more than a preview.
    DryRun,
}

impl OmissionReason {
    /// Of two folders the reason that says more: that a document is not there says more than that a folder was not looked into, and
    /// less than what is wrong with one that is there. Of two that say as much the first counts.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Elsewhere => 0,
            Self::Missing => 1,
            _ => 2,
        }
    }

    /// The reason in words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OnServer => "a server reads no documents for its callers",
            Self::Outside => "outside of the repository",
            Self::Elsewhere => "in none of the folders that this call shows; pick up where the repository is",
            Self::Hidden => "hidden",
            Self::Missing => "not there",
            Self::Link => "a link",
            Self::NotAFile => "not a regular file",
            Self::Untracked => "not tracked by git",
            Self::TooLarge => "too large to be given along",
            Self::TooLargeToSend => "too large to go along: 32 KiB, and 64 KiB of all",
            Self::NotText => "not readable as text",
            Self::DryRun => "there, and a preview sends no text to a server",
        }
    }
}
