//! What a reader could not use. Nothing is skipped without being counted here.

use serde::{Deserialize, Serialize};

/// A kind of fault, how often it occurred and where first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// A stable word for the fault, see [`kind`].
    pub kind: String,
    /// How often it occurred.
    pub count: u64,
    /// Line of the first occurrence; 0 when it concerns the file as a whole.
    pub first_line: u64,
}

/// The words for faults.
pub mod kind {
    /// The file cannot be opened or read further.
    pub const UNREADABLE: &str = "unreadable";
    /// A line is no JSON.
    pub const BAD_LINE: &str = "bad_line";
    /// The last line ends in the middle: the file was cut off or is being written.
    pub const TRUNCATED: &str = "truncated_last_line";
    /// A line is longer than we keep in memory and was skipped.
    pub const OVERSIZED: &str = "oversized_line";
    /// The file is one document that is larger than we keep in memory.
    pub const TOO_LARGE: &str = "file_too_large";
    /// Bytes that are no UTF-8 were replaced.
    pub const INVALID_UTF8: &str = "invalid_utf8";
    /// NUL bytes were dropped.
    pub const NUL_BYTES: &str = "nul_bytes";
    /// A line of a type that this version does not know was ignored.
    pub const UNKNOWN_TYPE: &str = "unknown_type";
    /// A message names a predecessor that is not in the file; the one before it was taken instead.
    pub const BROKEN_CHAIN: &str = "broken_chain";
    /// A record of a database or document is not what it should be, and was skipped.
    pub const BAD_RECORD: &str = "bad_record";
    /// A document ends in the middle; what stands before is used.
    pub const CUT: &str = "truncated_document";
    /// A document or database is damaged; what could be read before the damage is used.
    pub const DAMAGED: &str = "damaged";
    /// Another program holds the database so that it cannot be read now.
    pub const LOCKED: &str = "locked";
    /// The file holds no conversation.
    pub const EMPTY: &str = "no_conversation";
}

/// Complaints while they are gathered.
#[derive(Debug, Clone, Default)]
pub struct Complaints(Vec<Complaint>);

impl Complaints {
    /// Counts one more of a kind.
    pub fn add(&mut self, kind: &str, line: u64) {
        match self.0.iter_mut().find(|one| one.kind == kind) {
            Some(one) => one.count += 1,
            None => self.0.push(Complaint { kind: kind.to_owned(), count: 1, first_line: line }),
        }
    }

    /// Adds those of another file.
    pub fn merge(&mut self, other: Vec<Complaint>) {
        for theirs in other {
            match self.0.iter_mut().find(|one| one.kind == theirs.kind) {
                Some(one) => one.count += theirs.count,
                None => self.0.push(theirs),
            }
        }
    }

    /// All of them, in the order of their first occurrence.
    pub fn into_vec(self) -> Vec<Complaint> {
        self.0
    }
}

/// What a full read came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines (or records) seen.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Events of the conversation that were given out.
    pub events: u64,
    /// What was skipped or mended.
    pub complaints: Vec<Complaint>,
}

impl Report {
    /// Whether the file had no conversation at all; then there is a complaint about that.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }
}
