//! A baton as a file: all that another ledger needs to offer it, and what is told back of batons that came the same way.

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changes::{CarriedOperation, Manifest};
use crate::lossless_json;
use crate::packet::ValidatedPacket;
use crate::refusal::Refusal;
use crate::repository::WorkingCopy;
use crate::time::Timestamp;

/// The word by which a file is known as one.
pub const FORMAT: &str = "baton";
/// The version that is written; older ones are read.
pub const VERSION: u32 = 1;
/// The longest file that is read, in bytes: changes of the largest size as text, a packet, a transcript.
pub const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// The most receipts that one file carries.
pub const MAX_RECEIPTS: usize = 50;
/// The most operations of git that one file carries.
pub const MAX_UNFINISHED: usize = 50;
/// The most earlier places that one file carries.
pub const MAX_EARLIER: usize = 20;

/// A baton that leaves its ledger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortableBaton {
    /// Its id in the ledger that it leaves: the same file is imported once.
    pub baton_id: String,
    /// The project there.
    pub project_id: String,
    /// Where the project's code is pushed to, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// When it was exported.
    #[schemars(with = "String")]
    pub exported_at: Timestamp,
    /// Who exported it.
    pub exported_by: String,
    /// The identity that wrapped.
    pub identity: String,
    /// The tool that it worked through.
    pub surface: String,
    /// The line of work.
    pub thread_id: String,
    /// When it was wrapped.
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// The identity it is addressed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_identity: Option<String>,
    /// The role it is addressed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_role: Option<String>,
    /// The machine on which it was left, by its stable id.
    #[serde(default)]
    pub machine: String,
    /// The working copy in which it was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<FileLocation>,
    /// The hand-off packet, with what its holders saved since: an object.
    pub packet: Value,
    /// Its exact text, where the object is not all of it: numbers that no machine type holds, spaces, escapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_text: Option<String>,
    /// What was not committed there, without its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Manifest>,
    /// What git was in the middle of along the way of the work, and no commit is known to have finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<CarriedOperation>,
    /// Other working copies along the way of the work in which something was left that the place of the work does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierPlace>,
    /// What became of batons that the receiving ledger had exported before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
}

/// A working copy on the machine that a baton leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLocation {
    /// Its top folder.
    pub root: String,
    /// The branch; none where the head is detached, or there is no git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether it is a linked worktree.
    #[serde(default)]
    pub is_worktree: bool,
    /// Whether files were not committed there when the baton left; files of older versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_dirty: Option<bool>,
}

/// A working copy in which a session on the way of a baton left something before the latest one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierPlace {
    /// Its machine, by its stable id.
    pub machine: String,
    /// The working copy.
    #[serde(flatten)]
    pub location: FileLocation,
    /// Whether it has commits that are not known to be in the latest work.
    #[serde(default)]
    pub lacks_commit: bool,
}

impl EarlierPlace {
    /// The working copy, as a session has it.
    pub fn copy(&self) -> WorkingCopy {
        let FileLocation { root, branch, commit, is_worktree, .. } = self.location.clone();
        WorkingCopy { root, branch, commit, is_worktree, ..WorkingCopy::default() }
    }
}

/// That a baton which was exported has been picked up elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Its id in the ledger that exported it.
    pub baton_id: String,
    /// Who picked it up.
    pub picked_up_by: String,
    /// When.
    #[schemars(with = "String")]
    pub picked_up_at: Timestamp,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatonFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`] of the Baton that wrote it.
    pub version: u32,
    /// The baton.
    pub baton: PortableBaton,
    /// The document of the packet, for readers without Baton.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub document: String,
    /// The content of the changes, in parts, each in base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes_parts: Vec<String>,
    /// The transcript as events, with secrets redacted, if it was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transcript: Vec<Value>,
}

impl PortableBaton {
    /// The packet, by its exact text where the file has it. Refused where that tells something else than the object.
    pub fn sealed_packet(&self) -> Result<ValidatedPacket, Refusal> {
        let Some(text) = &self.packet_text else {
            return ValidatedPacket::parse_stored(self.packet.to_string());
        };
        let packet = ValidatedPacket::parse_stored(text.clone())?;
        if packet.value()? != self.packet {
            return Err(invalid_refusal("holds two packets that differ"));
        }
        Ok(packet)
    }
}

impl BatonFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let value: Value = lossless_json::read(text.as_bytes())
            .map_err(|error| invalid_refusal(&format!("is damaged: {error}")))?;
        if value["format"] != FORMAT {
            return Err(invalid_refusal("is none that Baton wrote"));
        }
        let version = value["version"].as_u64().unwrap_or_default();
        if version == 0 || version > u64::from(VERSION) {
            let what = format!("the file is of version {version}, and this Baton reads up to {VERSION}");
            return Err(Refusal::invalid("baton_file_newer", what, "upgrade Baton on this machine"));
        }
        let file: Self = serde_json::from_value(value)
            .map_err(|error| invalid_refusal(&format!("is damaged: {error}")))?;
        let parts = file.baton.changes.as_ref().map_or(0, Manifest::parts);
        if usize::try_from(parts) != Ok(file.changes_parts.len()) {
            return Err(invalid_refusal("lacks a part of the changes"));
        }
        Ok(file)
    }
}

/// Whether these bytes are a file that an export wrote without encryption.
pub fn is_plain_export(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
        #[serde(rename = "version")]
        _version: u32,
        #[serde(rename = "baton")]
        _baton: HeadBaton,
    }
    #[derive(Deserialize)]
    struct HeadBaton {
        #[serde(rename = "baton_id")]
        _baton_id: String,
        #[serde(rename = "packet")]
        _packet: IgnoredAny,
    }
    let is_one = |head: Head| head.format == FORMAT;
    bytes.first() == Some(&b'{') && serde_json::from_slice::<Head>(bytes).is_ok_and(is_one)
}

/// The refusal of a file that holds no baton.
pub fn invalid_refusal(what: &str) -> Refusal {
    let hint = "ask its sender for the file again: `baton handoff export BATON -o FILE --again`";
    Refusal::invalid("baton_file_invalid", format!("the file {what}"), hint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file() -> Value {
        json!(BatonFile {
            format: FORMAT.into(),
            version: VERSION,
            baton: PortableBaton { packet: json!({ "summary": "half done" }), ..PortableBaton::default() },
            document: String::new(),
            changes_parts: Vec::new(),
            transcript: Vec::new(),
        })
    }

    #[test]
    fn a_file_of_which_something_would_be_lost_is_refused() {
        let text = file().to_string();
        for (more, why) in [("\"n\":123456789012345678901", "64 bits"), ("\"n\":1,\"n\":2", "given twice")] {
            let altered = text.replacen("\"summary\"", &format!("{more},\"summary\""), 1);
            let refusal = BatonFile::parse(&altered).expect_err(more);
            assert!(refusal.message.contains(why), "{}", refusal.message);
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let text = file().to_string();
        assert_eq!(json!(BatonFile::parse(&text).expect("a file")), file());
        for cut in [0, 1, text.len() / 2, text.len() - 1] {
            assert_eq!(BatonFile::parse(&text[..cut]).expect_err("cut").code, "baton_file_invalid", "{cut}");
        }
    }

    #[test]
    fn another_format_a_newer_version_and_a_missing_part_are_refused() {
        let mut other = file();
        assert!(is_plain_export(other.to_string().as_bytes()));
        assert!(!is_plain_export(br#"{"format":"baton","version":1}"#) && !is_plain_export(b"[1]"));
        other["format"] = json!("zip");
        assert!(!is_plain_export(other.to_string().as_bytes()));
        assert_eq!(BatonFile::parse(&other.to_string()).expect_err("other").code, "baton_file_invalid");
        let mut newer = file();
        newer["version"] = json!(VERSION + 1);
        assert_eq!(BatonFile::parse(&newer.to_string()).expect_err("newer").code, "baton_file_newer");
        let mut lacking = file();
        lacking["baton"]["changes"] = json!({ "files": ["a"], "content_hash": "a".repeat(64), "bytes": 1 });
        assert_eq!(BatonFile::parse(&lacking.to_string()).expect_err("lacking").code, "baton_file_invalid");
    }
}
