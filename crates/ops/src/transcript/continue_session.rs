//! `transcript_continue`: record that a session goes on in another tool: its baton, and who holds it from now on.

use std::path::Path;

use baton_model::baton::Baton;
use baton_model::confinement::Confinement;
use baton_model::conversation::Conversation;
use baton_model::session::ReleaseReason;
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConversationExtent;
use super::found_transcript::FoundTranscript;
use super::import::{ImportJob, ImportOutput};
use super::isolation::View;
use super::read::{DocumentRequest, read};
use crate::op::{Cx, Env, Meta, Operation, Reach};
use crate::project::require_active;
use crate::session::conversation;
use crate::session::{Address, PickupRequest, Releaser, check_unclaimed, pick_within, release};
use crate::{caller_project, resolve, token_rights};

/// Records that a session is continued.
pub struct Continue;

/// Input of `transcript_continue`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContinueInput {
    /// Project id; else that of the session's folder, else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that continues.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// The tool that continues.
    pub to: String,
    /// Whether the caller continues now and holds the baton from here on; else the baton waits.
    #[serde(default)]
    pub hold: bool,
    /// Take over from its holder, or begin a second line of work from a session that was carried on already.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
    /// A summary in place of the one made from the facts.
    #[serde(default)]
    pub summary: Option<String>,
    /// The session of the continuing tool that was written from it: a copy, which holds no work that the baton does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<ConversationExtent>,
}

/// Answer of `transcript_continue`.
#[derive(Serialize, Deserialize)]
pub struct ContinueOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session that holds the baton; none where it waits.
    pub session_id: Option<String>,
    /// The baton.
    pub handoff_id: String,
    /// The session that stands for the transcript.
    pub from_session_id: String,
    /// The transcript.
    pub transcript_id: String,
    /// The agent.
    pub agent: String,
    /// What happened, in a sentence.
    pub summary: String,
    /// Whether it had been imported before.
    pub imported_before: bool,
    /// Who holds the baton, where it neither waits nor is held by the caller from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
}

impl Operation for Continue {
    const META: Meta = Meta::write(
        "transcript_continue",
        "Record that a session of any coding agent goes on in another tool",
    )
    .reach(Reach::Disk)
    .slow("reading the session for the ledger");
    type Input = ContinueInput;
    type Output = ContinueOutput;

    fn run(input: ContinueInput, cx: &mut Cx<'_>) -> Result<ContinueOutput, Failure> {
        if let Some(named) = input.project.as_ref().or(cx.env.caller.project.as_ref()) {
            cx.store.read(|tx| resolve::require_project(tx, named))?;
        }
        let request = DocumentRequest {
            to: Some(input.to.clone()),
            summary: input.summary.clone(),
            project: input.project.clone(),
            ..DocumentRequest::of(&input.id, input.agent.as_deref())
        };
        let (transcript, packet) = read(cx, &request)?;
        let project_id = project_of(cx, input.project.as_deref(), &transcript)?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            require_active(tx, &project_id)?;
            let mut importing = ImportJob {
                meant: &transcript,
                packet: &packet,
                project_id: &project_id,
                identity: transcript.format.id(),
                to: Address::default(),
                again: false,
                // Offered without an addressee: whether two conversations are the same is never guessed, so it has to
                // be named.
                is_alone: false,
            };
            let mut left = importing.import(tx, env)?;
            if let Some(known) = baton::get(tx, &project_id, &left.baton_id)? {
                if known.spent_by.is_some() && input.force {
                    // What was carried on and wrapped stays as it is; this is a second line from the same session.
                    importing.again = true;
                    left = importing.import(tx, env)?;
                } else {
                    release_the_gone(tx, env, &known, &identity)?;
                }
            }
            let claiming = claiming(&input, &left.baton_id);
            let (session_id, held_by) = match input.hold {
                false => (None, check_unclaimed(tx, env, &project_id, &identity, claiming)?),
                true => (Some(pick_within(tx, env, &project_id, &identity, claiming)?), None),
            };
            keep_copy(tx, env, (&left, session_id.as_deref()), input.written.as_ref())?;
            let identity = holder_name(tx, (&project_id, session_id.as_deref()), &identity)?;
            Ok(ContinueOutput {
                project_id: project_id.clone(),
                identity,
                session_id,
                handoff_id: left.baton_id,
                from_session_id: left.session_id,
                transcript_id: left.transcript_id,
                agent: left.agent,
                summary: left.summary,
                imported_before: left.imported_before,
                held_by,
            })
        })
    }
}

/// The name under which the baton is held; that of the caller where it waits.
fn holder_name(
    tx: &mut Tx<'_>,
    (project_id, session_id): (&str, Option<&str>),
    caller: &str,
) -> Result<String, Failure> {
    let holder = match session_id {
        Some(id) => session::get(tx, project_id, id)?,
        None => None,
    };
    Ok(holder.map_or_else(|| caller.to_owned(), |holder| holder.identity))
}

/// Makes the baton that of the copy, too: as long as no agent goes on in it, it has left nothing.
fn keep_copy(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (left, session_id): (&ImportOutput, Option<&str>),
    written: Option<&ConversationExtent>,
) -> Result<(), Failure> {
    let Some(written) = written else { return Ok(()) };
    let copy = Conversation {
        project_id: left.project_id.clone(),
        tool_id: written.agent.clone(),
        native_id: written.native_id().key(),
        session_id: session_id.map(str::to_owned),
        ..Conversation::default()
    };
    conversation::keep(tx, env, &copy, Some(&left.baton_id), (written.bytes, written.updated_at_ms))
}

fn claiming(input: &ContinueInput, baton_id: &str) -> PickupRequest {
    PickupRequest { baton_id: baton_id.to_owned(), force: input.force, why: input.why.clone() }
}

/// The project that is named, else the one of the folder in which the session worked, else the caller's. A session of an isolated
/// project goes on in that one only.
fn project_of(cx: &mut Cx<'_>, named: Option<&str>, transcript: &FoundTranscript) -> Result<String, Failure> {
    let caller = cx.env.caller;
    let view = View::of(cx, named)?;
    match view.confinement(transcript) {
        Confinement::Within(owner)
            if named.is_none_or(|named| caller.id_of(named) == owner) && caller.grant.reaches(&owner) =>
        {
            return Ok(owner);
        }
        Confinement::Open => {}
        _ => return Err(view.refusal(&transcript.header.id, transcript).into()),
    }
    if let (None, None, Some(cwd)) = (named, &caller.project, &transcript.header.cwd)
        && let Some(project_id) = caller_project::of_folder(cx.store, &cx.env, Path::new(cwd))?
    {
        return Ok(project_id);
    }
    resolve::project_id(cx.store, &cx.env, named)
}

/// Releases a holder whose process has ended without releasing its session, so that the baton is free before the
/// session goes stale.
fn release_the_gone(tx: &mut Tx<'_>, env: &mut Env<'_>, held: &Baton, by: &str) -> Result<(), Failure> {
    let Some(id) = &held.holder_session_id else { return Ok(()) };
    let Some(mut holder) = session::get(tx, &held.project_id, id)? else { return Ok(()) };
    if holder.is_open()
        && token_rights::may_act_in(env, &holder)
        && env.host.has_process_ended(&holder.location)
    {
        let why = Some("its process has ended");
        let by = Releaser { identity: by, reason: ReleaseReason::Stale, why, successor: None };
        release(tx, env, &mut holder, &by)?;
    }
    Ok(())
}
