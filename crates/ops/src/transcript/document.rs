//! `handoff_document`: a session of any tool as a document that another can start from.

use std::path::Path;

use baton_model::budget::Budget;
use baton_model::markdown::{CurrentCheckout, Options as Rendering, Preset, render};
use baton_model::packet::{Packet, Party, ValidatedPacket};
use baton_model::refusal::Refusal;
use baton_model::shell::shell_word;
use baton_store::Failure;
use baton_transcripts::{Options, summarize_session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::{find, refuse_empty};
use super::found_transcript::FoundTranscript;
use super::provider_stop::add_reset;
use crate::op::{Cx, Env, Meta, Operation, Reach};
use crate::path_kind::PathKind;

/// Makes a document from a transcript.
pub struct Document;

/// Input of `handoff_document`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentInput {
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// The tool that is to continue.
    #[serde(default)]
    pub to: Option<String>,
    /// Size of the document: tokens (`2000`) or bytes (`2KiB`).
    #[serde(default)]
    pub budget: Option<String>,
    /// `minimal`, `standard`, `verbose` or `full`.
    #[serde(default)]
    pub preset: Option<String>,
    /// A summary in place of the one made from the facts.
    #[serde(default)]
    pub summary: Option<String>,
}

/// Answer of `handoff_document`.
#[derive(Serialize, Deserialize)]
pub struct DocumentOutput {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// Its path.
    pub path: String,
    /// The document.
    pub document: String,
    /// Estimated size, in tokens.
    pub tokens: usize,
    /// What was left out, by name.
    pub left_out: Vec<LeftOut>,
    /// The hand-off packet.
    pub packet: Value,
}

/// What a document leaves out of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The section.
    pub section: String,
    /// How many of its entries.
    pub count: usize,
}

impl Operation for Document {
    const META: Meta =
        Meta::write("handoff_document", "Make a hand-off document from a session of any coding agent")
            .reach(Reach::Everything)
            .on_callers_disk()
            .slow("reading the session");
    type Input = DocumentInput;
    type Output = DocumentOutput;

    fn run(input: DocumentInput, cx: &mut Cx<'_>) -> Result<DocumentOutput, Failure> {
        let budget = input.budget.as_deref().map(Budget::parse).transpose()?;
        let preset = input.preset.as_deref().map(Preset::parse).transpose()?;
        let transcript = find(cx, &input.id, input.agent.as_deref(), None, "baton handoff from-transcript")?;
        let packet = packet(&cx.env, &transcript, input.to.as_deref(), input.summary.as_deref())?;
        // A file that was named by its path need not lie where the sessions are looked for.
        // Its whole path is one from every folder.
        let is_file = !cx.env.host.is_served() && Path::new(&input.id).is_file();
        let named = match (is_file, input.id.contains(['/', '\\'])) {
            (true, _) => shell_word(&transcript.path.display().to_string()),
            (false, true) => shell_word(&input.id),
            (false, false) => enough_of(&transcript.header.id).to_owned(),
        };
        let hint = format!("baton handoff from-transcript {named} --preset full");
        let source = format!("baton transcripts show {named}");
        let document = render(
            packet.view(),
            &Rendering {
                budget,
                preset: preset.unwrap_or(Preset::Standard),
                to: input.to.as_deref(),
                now_ms: Some(cx.env.now),
                drift: drift(&cx.env, &transcript, packet.view()),
                more_hint: Some(&hint),
                source_hint: Some(&source),
            },
        );
        let left_out = document.left_out.iter();
        let left_out = left_out.map(|part| LeftOut { section: part.section.to_string(), count: part.count });
        Ok(DocumentOutput {
            left_out: left_out.collect(),
            id: transcript.header.id,
            agent: transcript.header.tool_id,
            path: transcript.path.display().to_string(),
            document: document.text,
            tokens: document.tokens_estimated,
            packet: json!(packet.view()),
        })
    }
}

/// As much of a session's id as names it: of a UUID the first two groups, which hold its time in milliseconds or 48 random
/// bits. All of it would take the place of a file or two in a small document.
fn enough_of(id: &str) -> &str {
    const GROUPS: usize = 13;
    let is_uuid = id.len() == 36 && id.bytes().filter(|byte| *byte == b'-').count() == 4;
    if is_uuid { id.get(..GROUPS).unwrap_or(id) } else { id }
}

/// The packet of a transcript. It fits the limit: the collector bounds what it keeps and says what it left out.
///
/// A summary that is given takes the place of the one made from the facts; the facts stay as they are.
pub(super) fn packet(
    env: &Env<'_>,
    transcript: &FoundTranscript,
    to: Option<&str>,
    written: Option<&str>,
) -> Result<ValidatedPacket, Refusal> {
    let mut packet = match &transcript.copy {
        Some(copy) => ValidatedPacket::parse(copy.packet.clone())?.view().clone(),
        None => summarize(env, transcript)?,
    };
    if let Some(to) = to {
        packet.target = Some(Party { agent: Some(to.to_owned()), ..Party::default() });
    }
    if let Some(written) = written {
        written.clone_into(&mut packet.summary);
        packet.metadata.insert("summary_by".into(), json!("command"));
    }
    ValidatedPacket::from_view(packet)
}

/// What a transcript tells, as a packet; refused where it tells nothing.
fn summarize(env: &Env<'_>, transcript: &FoundTranscript) -> Result<Packet, Refusal> {
    let home = env.host.transcript_env().home.to_string_lossy().into_owned();
    let options = Options { home: Some(home), ..Options::default() };
    let mut packet =
        summarize_session(&transcript.path, transcript.key.as_deref(), transcript.format, &options);
    add_reset(&mut packet);
    let is_asked = packet.requests.as_ref().is_some_and(|requests| requests.first.is_some());
    if !is_asked && packet.recent_messages.is_empty() && packet.commands.is_empty() {
        return Err(refuse_empty(transcript, &packet.metadata));
    }
    Ok(packet)
}

/// The most named files that are looked for.
const MAX_LOOKED_FOR: usize = 100;

/// The working copy as it stands now, if it is still there.
fn drift(env: &Env<'_>, transcript: &FoundTranscript, packet: &Packet) -> Option<CurrentCheckout> {
    let folder = transcript.header.cwd.as_deref()?;
    let now = env.host.git(folder)?;
    // A path is relative to where the agent stood, or to the top of its working copy.
    let root = env.host.repository(folder).map(|(root, _)| root);
    let is_missing = |path: &&String| {
        let is_nothing = |place: &str| env.host.path_kind(place, path) == Some(PathKind::Nothing);
        is_nothing(folder) && root.as_deref().is_none_or(is_nothing)
    };
    let is_gone = |change: &str| matches!(change, "deleted" | "renamed");
    let left = packet.files_modified.iter().filter(|file| !file.change.as_deref().is_some_and(is_gone));
    let named = left.map(|file| &file.path).take(MAX_LOOKED_FOR);
    let missing = named.filter(is_missing).cloned().collect();
    Some(CurrentCheckout { branch: now.branch, commit: now.commit, dirty: now.dirty, missing })
}
