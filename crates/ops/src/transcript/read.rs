//! Reading the transcript that is meant for an operation that writes it into the ledger: on this machine, or, when the
//! operation runs on a server, where its caller is.

use baton_model::id::visible;
use baton_model::packet::{Packet, Party, ValidatedPacket};
use baton_model::refusal::Refusal;
use baton_model::time::{Millis, rfc3339};
use baton_store::{Failure, conversation_project};
use baton_transcripts::{Header, by_id};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::packet;
use super::find::find;
use super::found_transcript::FoundTranscript;
use super::own_sessions::own_sessions;
use crate::op::{Cx, Env};

/// Which transcript to read, and the form of the packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentRequest {
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    pub agent: Option<String>,
    /// The tool that is to continue.
    pub to: Option<String>,
    /// A summary in place of the one made from the facts.
    pub summary: Option<String>,
    /// The project from which it is looked for, where the call names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl DocumentRequest {
    /// A transcript as it is.
    pub(super) fn of(id: &str, agent: Option<&str>) -> Self {
        Self { id: id.to_owned(), agent: agent.map(str::to_owned), to: None, summary: None, project: None }
    }
}

/// What was read elsewhere.
#[derive(Serialize, Deserialize)]
pub(super) struct Read {
    /// What its tool wrote at its head.
    pub header: Header,
    /// The hand-off packet.
    pub packet: String,
    /// Its sessions.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// The line on which its agent wrapped last.
    #[serde(default)]
    pub wrapped_line: Option<u64>,
    /// When something was asked for or done in it last.
    #[serde(default)]
    pub last_work_at: Option<Millis>,
    /// Every folder that its entries name.
    #[serde(default)]
    pub folders: Vec<String>,
    /// The projects in which its hooks spoke, the first one first.
    #[serde(default)]
    pub noted: Vec<String>,
    /// The folder in which a copy was written, on another machine.
    #[serde(default)]
    pub written_in: Option<String>,
}

/// The transcript that is meant, and the packet made of it.
pub(super) fn read(
    cx: &mut Cx<'_>,
    request: &DocumentRequest,
) -> Result<(FoundTranscript, ValidatedPacket), Failure> {
    match cx.env.host.transcript(request) {
        Some(read) => Ok(parse_remote_read(read?)?),
        None => read_here(cx, request),
    }
}

fn read_here(
    cx: &mut Cx<'_>,
    request: &DocumentRequest,
) -> Result<(FoundTranscript, ValidatedPacket), Failure> {
    let command = if request.to.is_some() { "baton continue" } else { "baton import-transcript" };
    let mut transcript =
        find(cx, &request.id, request.agent.as_deref(), request.project.as_deref(), command)?;
    if transcript.copy.as_ref().is_some_and(|copy| copy.is_encrypted) {
        transcript.header.title = None;
        let packet = wordless_packet(&cx.env, &transcript, request.to.as_deref())?;
        return Ok((transcript, packet));
    }
    let packet = packet(&cx.env, &transcript, request.to.as_deref(), request.summary.as_deref())?;
    if transcript.copy.is_none() {
        let own = own_sessions(&transcript);
        (transcript.sessions, transcript.wrapped_line) = (own.ids, own.wrapped_line);
        transcript.last_work_at = own.last_work_at;
    }
    Ok((transcript.with_folders(), packet))
}

/// The packet of a session that was pushed encrypted: which one goes on, and nothing that was said in it. A reader of the
/// ledger need not be one of those for whom it was encrypted.
fn wordless_packet(
    env: &Env<'_>,
    transcript: &FoundTranscript,
    to: Option<&str>,
) -> Result<ValidatedPacket, Refusal> {
    let (tool, id) = (transcript.format.id(), visible(&transcript.header.id));
    let party = |agent: &str| Some(Party { agent: Some(agent.to_owned()), ..Party::default() });
    ValidatedPacket::from_view(Packet {
        summary: format!(
            "{tool} session {id} goes on. It was pushed encrypted, so its words are not recorded here: whoever has a key reads them with \
             `baton transcripts show {id}`."
        ),
        source: party(tool),
        target: to.and_then(party),
        session_id: Some(transcript.header.id.clone()),
        created_at: Some(rfc3339(env.now)),
        ..Packet::default()
    })
}

fn parse_remote_read(read: Value) -> Result<(FoundTranscript, ValidatedPacket), Refusal> {
    let refusal =
        |what: String| Refusal::invalid("transcript_unreadable", what, "use the same version on both sides");
    let read: Read = serde_json::from_value(read)
        .map_err(|error| refusal(format!("what was read of the transcript is malformed: {error}")))?;
    let Some(format) = by_id(&read.header.tool_id) else {
        return Err(refusal(format!(
            "there is no tool `{}`",
            baton_model::id::visible(&read.header.tool_id)
        )));
    };
    let header = read.header;
    let (path, key) = (header.path.clone(), header.key.clone());
    let transcript = FoundTranscript {
        path,
        key,
        format,
        header,
        sessions: read.sessions,
        wrapped_line: read.wrapped_line,
        last_work_at: read.last_work_at,
        copy: None,
        written_in: read.written_in,
        folders: read.folders,
        noted: read.noted,
    };
    Ok((transcript, ValidatedPacket::parse(read.packet)?))
}

/// Reads a transcript of this machine for an operation that runs on a server: its header and its packet.
pub fn read_for_remote(cx: &mut Cx<'_>, request: &DocumentRequest) -> Result<Value, Failure> {
    let (transcript, packet) = read_here(cx, request)?;
    let noted = cx
        .store
        .read(|tx| Ok(conversation_project::of(tx, transcript.format.id(), &transcript.header.id)?))?;
    Ok(json!({
        "header": transcript.header, "packet": packet.text(), "sessions": transcript.sessions,
        "wrapped_line": transcript.wrapped_line, "folders": transcript.folders, "noted": noted,
        "written_in": transcript.written_in, "last_work_at": transcript.last_work_at,
    }))
}
