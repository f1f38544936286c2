//! `transcript_find`: which transcript is meant: its header, and in which manner it ran. Nothing is read beyond that.

use std::path::Path;

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::find;
use super::row::Row;
use crate::op::{Cx, Meta, Operation, Reach};
use crate::session::{RecordedFolder, SessionFolder, session_folder};

/// Finds a transcript.
pub struct Find;

/// Input of `transcript_find`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindInput {
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Answer of `transcript_find`: the header, and what the tool was allowed to do without asking, if it says.
#[derive(Serialize, Deserialize)]
pub struct FindOutput {
    /// What its tool wrote at its head.
    #[serde(flatten)]
    pub header: Row,
    /// What its tool was allowed to do without asking.
    pub mode: Option<baton_transcripts::PermissionMode>,
    /// Whether it is a copy of a session of another machine: the tool does not have it here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_copy: bool,
    /// Its folder as it is now, where it is one of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SessionFolder>,
}

impl Operation for Find {
    const META: Meta =
        Meta::write("transcript_find", "Find the one session that an id, a prefix, `latest` or a path means")
            .reach(Reach::Everything)
            .on_callers_disk()
            .slow("looking through the sessions of this machine");
    type Input = FindInput;
    type Output = FindOutput;

    fn run(input: FindInput, cx: &mut Cx<'_>) -> Result<FindOutput, Failure> {
        let transcript = find(cx, &input.id, input.agent.as_deref(), None, "baton continue")?;
        let mode = match &transcript.copy {
            Some(copy) => copy.mode,
            None => baton_transcripts::permission_mode(transcript.format, &transcript.path),
        };
        let mut header = Row::from(&transcript.header);
        // A relative path would mean another file in another folder.
        if let Ok(path) = std::path::absolute(&transcript.path) {
            header.path = path.display().to_string();
        }
        let is_copy = transcript.copy.is_some();
        let place = match header.cwd.as_deref().filter(|cwd| !is_copy && Path::new(cwd).is_absolute()) {
            Some(cwd) => {
                let at = header.updated_at.map_or(cx.env.now, |at| at.0);
                Some(session_folder(cx, &RecordedFolder { cwd, branch: header.branch.as_deref(), at })?)
            }
            None => None,
        };
        Ok(FindOutput { header, mode, is_copy, place })
    }
}
