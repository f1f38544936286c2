//! A copy of a coding agent's session in the ledger of a project, so that it goes on on another machine. The content is opaque
//! here: it is redacted where it was read, and may be encrypted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::changes::{MAX_BYTES, PART_BYTES, check_content_hash};
use crate::id::{check_identity, check_label};
use crate::refusal::{self, Refusal};
use crate::time::Timestamp;

/// The most characters of an id that a tool gives.
const MAX_ID_LEN: usize = 200;
/// The most characters of a folder, branch or title.
const MAX_TEXT_LEN: usize = 4096;
/// The most sessions of the ledger that one conversation has.
const MAX_SESSIONS: usize = 200;
/// The most identities that can read an encrypted one.
const MAX_READERS: usize = 500;

/// What a copy is, without its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyManifest {
    /// The tool that wrote the session: `claude`, `codex`, …
    pub agent: String,
    /// The tool's own id of the session.
    pub transcript_id: String,
    /// The title given by user or tool, else the beginning of the first prompt. Left out of an encrypted copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The machine on which it was written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// Its folder there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Git branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When its last entry was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub updated_at: Option<Timestamp>,
    /// How many events it has.
    pub events: u64,
    /// Sessions of the ledger that it began or wrapped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// Who can read it, where it is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Vec<String>>,
    /// The SHA-256 of the content, in hex.
    pub content_hash: String,
    /// The length of the content in bytes.
    pub bytes: u64,
}

/// Whether a command that names a session takes this text for something else than an id.
fn means_something_else(id: &str) -> bool {
    let id = id.trim();
    let is_tool = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '_'))
    };
    id.starts_with(['-', '~'])
        || id.contains(['/', '\\'])
        || id.eq_ignore_ascii_case("latest")
        || id.split_once(':').is_some_and(|(name, _)| is_tool(name))
}

impl CopyManifest {
    /// Number of parts of the content.
    pub fn parts(&self) -> i64 {
        i64::try_from(self.bytes.div_ceil(PART_BYTES)).unwrap_or(i64::MAX)
    }

    /// Refuses what no push makes.
    pub fn check(&self) -> Result<(), Refusal> {
        check_label("tool", &self.agent)?;
        if self.transcript_id.is_empty()
            || self.transcript_id.chars().count() > MAX_ID_LEN
            || self.transcript_id.chars().any(char::is_control)
        {
            return Err(invalid_refusal("the id of the session is empty, too long or no single line"));
        }
        if means_something_else(&self.transcript_id) {
            return Err(invalid_refusal(
                "where a session is named, its id would mean something else: an option, `latest`, a path or `TOOL:ID`",
            ));
        }
        check_content_hash(&self.content_hash)
            .map_err(|_| invalid_refusal("its hash is no SHA-256 in hex"))?;
        if self.bytes == 0 || self.bytes > MAX_BYTES {
            return Err(too_large_refusal(self.bytes));
        }
        let texts = [&self.title, &self.cwd, &self.branch].into_iter().flatten().chain([&self.machine]);
        let sessions = self.sessions.iter();
        if texts.chain(sessions).any(|text| text.chars().count() > MAX_TEXT_LEN)
            || self.sessions.len() > MAX_SESSIONS
        {
            return Err(invalid_refusal("its title, folder, branch or list of sessions is too long"));
        }
        let Some(readers) = &self.readers else { return Ok(()) };
        if readers.is_empty() || readers.len() > MAX_READERS {
            return Err(invalid_refusal("it is encrypted for no reader, or for too many"));
        }
        readers.iter().try_for_each(|name| check_identity(name))
    }
}

/// The refusal of a copy that cannot be kept.
pub fn invalid_refusal(what: &str) -> Refusal {
    let what = format!("the copy of the session cannot be kept: {what}");
    Refusal::invalid("transcript_copy_invalid", what, "push it anew: `baton transcripts push`")
}

/// The refusal of a copy that is too large.
pub fn too_large_refusal(bytes: u64) -> Refusal {
    let what = format!("the session has {bytes} bytes, of at most {MAX_BYTES}; nothing was pushed");
    let hint = "hand it on as a document: `baton handoff from-transcript ID -o FILE`";
    Refusal::new(refusal::Kind::Refused, "transcript_too_large", what, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_no_push_makes_is_refused() {
        let copy = || CopyManifest {
            agent: "claude".into(),
            transcript_id: "t1".into(),
            content_hash: "a".repeat(64),
            bytes: 1,
            ..CopyManifest::default()
        };
        assert_eq!(copy().check(), Ok(()));
        let refused = [
            (CopyManifest { agent: String::new(), ..copy() }, "label_invalid"),
            (CopyManifest { transcript_id: "a\nb".into(), ..copy() }, "transcript_copy_invalid"),
            (CopyManifest { transcript_id: "claude:0b1c".into(), ..copy() }, "transcript_copy_invalid"),
            (CopyManifest { transcript_id: "Latest".into(), ..copy() }, "transcript_copy_invalid"),
            (CopyManifest { transcript_id: "-h".into(), ..copy() }, "transcript_copy_invalid"),
            (CopyManifest { transcript_id: "../0b1c".into(), ..copy() }, "transcript_copy_invalid"),
            (CopyManifest { content_hash: "../x".into(), ..copy() }, "transcript_copy_invalid"),
            (CopyManifest { bytes: 0, ..copy() }, "transcript_too_large"),
            (CopyManifest { bytes: MAX_BYTES + 1, ..copy() }, "transcript_too_large"),
            (CopyManifest { title: Some("x".repeat(MAX_TEXT_LEN + 1)), ..copy() }, "transcript_copy_invalid"),
            (
                CopyManifest { sessions: vec![String::new(); MAX_SESSIONS + 1], ..copy() },
                "transcript_copy_invalid",
            ),
            (CopyManifest { readers: Some(Vec::new()), ..copy() }, "transcript_copy_invalid"),
        ];
        for (copy, code) in refused {
            assert_eq!(copy.check().expect_err("refused").code, code, "{copy:?}");
        }
        // Ids of tools, and that of a tool that counts, with the time and folder that make it unique.
        for id in ["ses_5f-1", "T-0b1c", "20261129_1@2026-11-29T10:00:00Z@0a1b2c3d"] {
            assert_eq!(CopyManifest { transcript_id: id.into(), ..copy() }.check(), Ok(()), "{id}");
        }
        assert_eq!(CopyManifest { bytes: PART_BYTES + 1, ..copy() }.parts(), 2);
    }
}
