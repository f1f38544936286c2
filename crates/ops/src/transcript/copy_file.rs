//! A session as it is pushed to the ledger of a project: its events and its packet, with secrets taken out. As a file it is taken
//! wherever a path to a transcript is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use baton_model::id::visible;
use baton_model::lossless_json;
use baton_model::refusal::{Kind, Refusal};
use baton_transcripts::{Header, PermissionMode, by_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::found_transcript::FoundTranscript;

/// How a file says what it is.
pub(super) const FORMAT: &str = "baton-transcript";
/// The version of the format.
pub(super) const VERSION: u32 = 1;
/// The most bytes of a file that is read.
pub const MAX_FILE_BYTES: u64 = 96 * 1024 * 1024;

/// A session without secrets, to be continued on another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TranscriptCopy {
    /// Always `baton-transcript`; the first field, by which the file is known.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// What the tool wrote at the head of the session.
    pub header: Header,
    /// What the tool was allowed to do without asking, if it says.
    #[serde(default)]
    pub mode: Option<PermissionMode>,
    /// Sessions of the ledger that it began or wrapped.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// The hand-off packet, as text.
    pub packet: String,
    /// What was said and done, in order; the first event is the session itself.
    pub events: Vec<Value>,
    /// Whether it was pushed encrypted: the ledger takes down nothing of its words. The client says so that fetched it, by its manifest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_encrypted: bool,
}

impl TranscriptCopy {
    /// Reads the text of a copy. Its folder is one of another machine, so it names none here.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Refusal> {
        let shown = visible(&path.display().to_string());
        let damaged = |what: String| {
            let hint = "have it pushed anew: `baton transcripts push`";
            Refusal::invalid("transcript_copy_invalid", format!("{shown}: {what}"), hint)
        };
        let copy: Self = lossless_json::read(text.as_bytes()).map_err(|error| damaged(error.to_string()))?;
        if copy.format != FORMAT || copy.version != VERSION {
            let what = format!("it is of version {}, and this program reads version {VERSION}", copy.version);
            return Err(damaged(what));
        }
        Ok(copy)
    }

    /// The copy as a transcript that was found.
    pub(super) fn into_transcript(mut self, path: &Path) -> Result<FoundTranscript, Refusal> {
        let format = by_id(&self.header.tool_id).ok_or_else(|| {
            let what = format!("there is no tool `{}`", visible(&self.header.tool_id));
            Refusal::invalid("agent_unknown", what, "use the version of Baton that pushed it")
        })?;
        let sessions = std::mem::take(&mut self.sessions);
        let header = Header { path: path.to_owned(), key: None, cwd: None, ..self.header.clone() };
        Ok(FoundTranscript {
            path: path.to_owned(),
            key: None,
            format,
            header,
            sessions,
            wrapped_line: None,
            last_work_at: None,
            folders: Vec::new(),
            noted: Vec::new(),
            written_in: self.header.cwd.clone(),
            copy: Some(Box::new(self)),
        })
    }
}

/// The copy in a file, if it is one.
pub(super) fn read(path: &Path) -> Option<Result<TranscriptCopy, Refusal>> {
    let mut file = File::open(path).ok()?;
    let mark = format!("{{\"format\":\"{FORMAT}\"");
    let mut begin = vec![0; mark.len()];
    file.read_exact(&mut begin).ok()?;
    if begin != mark.as_bytes() {
        return None;
    }
    let mut text = mark;
    let read = file.take(MAX_FILE_BYTES).read_to_string(&mut text);
    let shown = visible(&path.display().to_string());
    Some(match read {
        Ok(_) => TranscriptCopy::parse(&text, path),
        Err(error) => {
            let what = format!("{shown} cannot be read: {error}");
            Err(Refusal::new(Kind::NotFound, "file_unreadable", what, "check its path"))
        }
    })
}

#[cfg(test)]
mod tests {
    use baton_model::conversation::conversation_key;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_copy_is_of_the_conversation_that_its_own_machine_knows() {
        let header = Header {
            id: "20261129_1".to_owned(),
            tool_id: "goose".to_owned(),
            cwd: Some("/home/you/shop".to_owned()),
            created_at_ms: Some(1_796_000_000_000),
            ..Header::default()
        };
        let copy =
            json!({ "format": FORMAT, "version": VERSION, "header": header, "packet": "", "events": [] });
        let copy = TranscriptCopy::parse(&copy.to_string(), Path::new("copy.json")).expect("a copy");
        let found = copy.into_transcript(Path::new("copy.json")).expect("a transcript");
        assert_eq!(found.header.cwd, None, "its folder is none of this machine");
        let key = conversation_key(&header.id, header.created_at_ms, header.cwd.as_deref());
        assert_eq!(found.native_id().key(), key);
    }
}
