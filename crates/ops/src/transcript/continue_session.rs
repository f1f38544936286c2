//! `transcript_continue`: record that a session goes on in another tool: its baton, and who holds it from now on.

use std::path::Path;

use baton_model::baton::Baton;
use baton_model::confinement::Confinement;
use baton_model::conversation::Conversation;
use baton_model::id::identity_key;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConversationExtent;
use super::found_transcript::FoundTranscript;
use super::import::{ImportJob, ImportOutput};
use super::isolation::View;
use super::read::{DocumentRequest, read};
use super::work_holder::WorkHolder;
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
    /// Who left the baton, where that is neither the caller nor the tool that wrote the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_by: Option<String>,
    /// From whom it was taken: they had picked it up and are gone, or force took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<String>,
    /// The session's own agent, where that is at work under another name than the caller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<WorkHolder>,
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
            let (left, before) = import(tx, env, (&mut importing, &input), &identity)?;
            let taken_from = before.filter(|_| input.hold);
            let left_by = left_by(tx, (&project_id, &left.baton_id), [&identity, transcript.format.id()])?;
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
                left_by,
                taken_from,
                holder: left.holder,
            })
        })
    }
}

/// The baton of the session, and who held it before. A holder that is gone is released; force makes a second line of work that went on.
fn import(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (importing, input): (&mut ImportJob<'_>, &ContinueInput),
    identity: &str,
) -> Result<(ImportOutput, Option<String>), Failure> {
    let left = match importing.import(tx, env) {
        Err(Failure::Refused(refusal)) if refusal.code == "work_taken_over" && input.force => {
            importing.again = true;
            importing.import(tx, env)?
        }
        left => left?,
    };
    let project_id = importing.project_id;
    let before = holder_before(tx, (project_id, &left.baton_id), identity)?;
    let Some(known) = baton::get(tx, project_id, &left.baton_id)? else { return Ok((left, before)) };
    if known.spent_by.is_some() && input.force {
        // What was carried on and wrapped stays as it is; this is a second line from the same session.
        importing.again = true;
        return Ok((importing.import(tx, env)?, before));
    }
    release_the_gone(tx, env, &known, identity)?;
    Ok((left, before))
}

/// Who left a baton, unless it is one of these.
fn left_by(
    tx: &mut Tx<'_>,
    (project_id, baton_id): (&str, &str),
    known: [&str; 2],
) -> Result<Option<String>, Failure> {
    let baton = baton::get(tx, project_id, baton_id)?;
    let is_other = |name: &String| known.iter().all(|one| identity_key(one) != identity_key(name));
    Ok(baton.map(|baton| baton.identity).filter(is_other))
}

/// Who holds a baton before the caller takes it, where that is somebody else.
fn holder_before(
    tx: &mut Tx<'_>,
    (project_id, baton_id): (&str, &str),
    caller: &str,
) -> Result<Option<String>, Failure> {
    let Some(known) = baton::get(tx, project_id, baton_id)?.filter(|known| known.spent_by.is_none()) else {
        return Ok(None);
    };
    let holder = match &known.holder_session_id {
        Some(id) => session::get(tx, project_id, id)?,
        None => None,
    };
    let is_other = |holder: &Session| identity_key(&holder.identity) != identity_key(caller);
    Ok(holder.filter(is_other).map(|holder| holder.identity))
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
