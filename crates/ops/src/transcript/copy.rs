//! `transcript_copy`: a session of this project without secrets, as it is pushed to the ledger.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_model::repository::canonical_address;
use baton_store::Failure;
use baton_transcripts::Header;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::copy_file::{FORMAT, TranscriptCopy, VERSION};
use super::document::packet;
use super::events::events;
use super::find::{LatestScope, find_within};
use super::found_transcript::FoundTranscript;
use super::isolation::View;
use super::own_sessions::own_sessions;
use crate::op::{Cx, Meta, Operation, Reach};
use crate::resolve;

/// Copies a transcript.
pub struct Copy;

/// Input of `transcript_copy`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Session id, a unique prefix of one, a path, or `latest`: the newest of the caller's working copy.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// The remote of the project, as its ledger says: a session of the caller's working copy is of the project where that has it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// Answer of `transcript_copy`.
#[derive(Serialize, Deserialize)]
pub struct CopyOutput {
    /// The project of its folder.
    pub project_id: String,
    /// The session without secrets.
    pub copy: TranscriptCopy,
}

impl Operation for Copy {
    const META: Meta = Meta::write("transcript_copy", "Copy a session of this project without secrets")
        .reach(Reach::Everything)
        .on_callers_disk()
        .slow("reading the session");
    type Input = CopyInput;
    type Output = CopyOutput;

    fn run(input: CopyInput, cx: &mut Cx<'_>) -> Result<CopyOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| resolve::require_project(tx, &project_id))?;
        let command = "baton transcripts push";
        let found = (command, LatestScope::WorkingCopy);
        let transcript = find_within(cx, &input.id, input.agent.as_deref(), Some(&project_id), found)?;
        let transcript = transcript.with_folders();
        require_own(cx, &transcript, (&project_id, input.remote.as_deref()))?;
        let packet = packet(&cx.env, &transcript, None, None)?;
        let copy = TranscriptCopy {
            format: FORMAT.to_owned(),
            version: VERSION,
            mode: baton_transcripts::permission_mode(transcript.format, &transcript.path),
            sessions: own_sessions(&transcript).ids,
            packet: packet_without_folder(packet.text()),
            events: events_without_folder(events(cx, &transcript)?.items),
            header: without_folder(transcript.header),
            is_encrypted: false,
        };
        Ok(CopyOutput { project_id, copy })
    }
}

/// A header whose file is a name alone: its folder says nothing elsewhere, and names the user's home.
fn without_folder(header: Header) -> Header {
    let path = header.path.file_name().map(PathBuf::from).unwrap_or_default();
    Header { path, ..header }
}

/// A packet whose source is the name of a file alone.
fn packet_without_folder(text: &str) -> String {
    let Ok(mut fields) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if let Some(path) = fields.pointer_mut("/source/path") {
        *path = name_of(path);
    }
    fields.to_string()
}

/// The first event is the header, which names the file of the tool.
fn events_without_folder(mut events: Vec<Value>) -> Vec<Value> {
    if let Some(path) = events.first_mut().and_then(|first| first.get_mut("path")) {
        *path = name_of(path);
    }
    events
}

fn name_of(path: &Value) -> Value {
    path.as_str()
        .and_then(|path| Path::new(path).file_name())
        .map_or(Value::Null, |name| name.to_string_lossy().into())
}

/// Refuses a session of another project's folder, which this project may not read, and one that was pushed before.
fn require_own(
    cx: &mut Cx<'_>,
    transcript: &FoundTranscript,
    (project_id, remote): (&str, Option<&str>),
) -> Result<(), Failure> {
    if transcript.copy.is_some() {
        let what = "the file is a copy that was pushed before";
        let hint = "push the session where it was written";
        return Err(Refusal::invalid("transcript_copy_invalid", what, hint).into());
    }
    let cwd = transcript.header.cwd.as_deref();
    let view = View::of(cx, Some(project_id))?;
    if !view.confinement(transcript).may_be_kept_in(project_id) {
        return Err(view.refusal(&transcript.header.id, transcript).into());
    }
    if view.is_registered(cwd, Some(project_id)) {
        return Ok(());
    }
    let is_callers = !view.is_registered(cwd, None) && cwd.is_some_and(|cwd| is_callers_copy(cx, cwd));
    let own = cx.env.caller.repository.as_ref().and_then(|own| own.remote.as_deref());
    let address = remote.and_then(canonical_address);
    if is_callers && address.is_some() && own.and_then(canonical_address) == address {
        return Ok(());
    }
    let folder = cwd.map_or_else(|| "an unknown folder".to_owned(), visible);
    let what = format!(
        "the session worked in {folder}, which is no folder of project {project_id}; nothing was pushed"
    );
    let hint = match is_callers {
        true => format!(
            "make the folder a place of the project: `baton init --join {project_id}`; or give the working copy the project's remote as \
             origin"
        ),
        false => {
            "push it from its own project; `baton transcripts list` shows this project's first".to_owned()
        }
    };
    Err(Refusal::new(refusal::Kind::Refused, "transcript_elsewhere", what, hint).into())
}

/// Whether a folder lies in a working copy of the repository in which the caller stands.
fn is_callers_copy(cx: &Cx<'_>, folder: &str) -> bool {
    let around = cx.env.host.repository(folder);
    let own = cx.env.caller.repository.as_ref().map(|own| &own.common_dir);
    around.is_some_and(|(_, repository)| own == Some(&repository.common_dir))
}
