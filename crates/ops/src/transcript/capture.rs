//! `transcript_capture`: keep what a running agent has done, out of its transcript, without its doing.

use baton_model::conversation::Conversation;
use baton_model::delta::Kind;
use baton_model::id::BOT;
use baton_model::packet::ValidatedPacket;
use baton_model::session::Session;
use baton_model::time::{Millis, rfc3339};
use baton_store::{Failure, Tx, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::capture_end::{end_elsewhere, end_of_caller, registered_here};
use super::capture_target::CaptureTarget;
use super::conversation_home::{ConversationHome, load_conversation, noted_projects};
use super::found_transcript::FoundTranscript;
use super::idle::{hands_nothing_over, refuse_idle};
use super::import::extent;
use super::read::{DocumentRequest, read};
use crate::idempotency::request::Request;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Reach};
use crate::resolve;
use crate::session::conversation::{self, ConversationBaton};
use crate::token_rights;

/// For how long after a checkpoint a compaction makes no other.
const CHECKPOINT_INTERVAL: Millis = 300_000;

/// Captures a transcript.
pub struct Capture;

/// Input of `transcript_capture`.
#[derive(Default, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// What happened: `session-end`, `failure`, `before-compaction`, ….
    pub event: String,
    /// Leave a baton in place of a checkpoint.
    #[serde(default)]
    pub wrap: bool,
    /// The agent's session is over: it ends, and one that was only registered by a capture, too.
    #[serde(default)]
    pub over: bool,
}

/// Answer of `transcript_capture`.
#[derive(Serialize, Deserialize, Clone)]
pub struct CaptureOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The delta that was written; none when everything was kept already.
    pub delta_id: Option<String>,
    /// The baton.
    pub baton_id: Option<String>,
    /// The transcript.
    pub transcript_id: String,
    /// The agent.
    pub agent: String,
    /// What happened, in a sentence.
    pub summary: String,
    /// The baton that the conversation has already: this capture offers no new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing_baton: Option<ConversationBaton>,
}

impl Operation for Capture {
    const META: Meta =
        Meta::write("transcript_capture", "Keep what a running agent has done, out of its transcript")
            .reach(Reach::Disk);
    type Input = CaptureInput;
    type Output = CaptureOutput;

    fn run(input: CaptureInput, cx: &mut Cx<'_>) -> Result<CaptureOutput, Failure> {
        baton_model::id::check_label("event", &input.event)?;
        let mut project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| resolve::require_project(tx, &project_id))?;
        let request = DocumentRequest {
            project: input.project.clone(),
            ..DocumentRequest::of(&input.id, input.agent.as_deref())
        };
        let found = read(cx, &request);
        let found = found.and_then(|(transcript, packet)| {
            let is_end = input.over || input.wrap;
            let is_left_out = is_end && hands_nothing_over(cx, &project_id, packet.view())?;
            if is_left_out { Err(refuse_idle(&transcript).into()) } else { Ok((transcript, packet)) }
        });
        let (transcript, packet) = match found {
            Err(Failure::Refused(refusal)) if input.over => {
                let Cx { store, env } = cx;
                store.write(&[&project_id], |tx| end_of_caller(tx, env, &project_id, &input.event))?;
                return Err(refusal.into());
            }
            read => read?,
        };
        let mut others = noted_projects(cx, &transcript)?;
        others.push(project_id.clone());
        let home = match ConversationHome::of_running(cx, &project_id, &transcript) {
            Err(refused) => {
                end_elsewhere(cx, &input, &transcript, (&others, None))?;
                return Err(refused);
            }
            found => found?,
        };
        let stood_in = std::mem::replace(&mut project_id, home.project_id().to_owned());
        let is_elsewhere = stood_in != project_id;
        end_elsewhere(cx, &input, &transcript, (&others, Some(&project_id)))?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            home.adopt(tx)?;
            let job = CaptureJob { input: &input, meant: &transcript, packet: &packet, is_elsewhere };
            let output = job.keep(tx, env, &project_id)?;
            job.record_failure(tx, env, output)
        })
    }
}

/// Source and content of a capture.
pub(super) struct CaptureJob<'a> {
    pub(super) input: &'a CaptureInput,
    pub(super) meant: &'a FoundTranscript,
    pub(super) packet: &'a ValidatedPacket,
    /// Captured into another project than the agent's.
    pub(super) is_elsewhere: bool,
}

impl CaptureJob<'_> {
    fn keep(&self, tx: &mut Tx<'_>, env: &mut Env<'_>, project_id: &str) -> Result<CaptureOutput, Failure> {
        let request = Request::of_content(project_id, Capture::NAME, &self.idempotency_key());
        let known: Option<CaptureOutput> = request.earlier_answer(tx)?;
        let mut conversation = load_conversation(tx, env, project_id, self.meant)?;
        let place = match self.target(tx, env, project_id)? {
            CaptureTarget::None => self.named_session(tx, env, &conversation)?,
            found => found,
        };
        let (mut own, late) = match (place, &known) {
            (CaptureTarget::Done(own), _) if self.goes_on_after(tx, env, &mut conversation, &own)? => {
                (self.registered(tx, env, project_id)?, false)
            }
            (CaptureTarget::Done(own), _) => return self.capture_wrapped(tx, env, conversation, &own),
            (CaptureTarget::Taken(own), _) => (own, true),
            (CaptureTarget::Open(own), _) => (own, false),
            (CaptureTarget::None, Some(known)) if !self.input.wrap || conversation.baton_id.is_none() => {
                return Ok(CaptureOutput { delta_id: None, ..known.clone() });
            }
            (CaptureTarget::None, _) => match self.present(tx, env, &conversation)? {
                Some(output) => return Ok(output),
                None => (self.registered(tx, env, project_id)?, false),
            },
        };
        if !late && !registered_here(tx, &own)? {
            conversation::join(tx, &mut conversation, &own)?;
        }
        let again = known.as_ref().is_some_and(|known| known.session_id == own.session_id);
        let output = match (late, self.input.wrap, again) {
            (true, _, true) => self.output(&own, None, None),
            (true, _, false) => self.note(tx, env, &own)?,
            (_, true, _) => self.wrap(tx, env, &mut own, &conversation)?,
            (_, _, true) => self.output(&own, None, None),
            _ if self.too_soon(tx, env, &own)? => return Ok(self.output(&own, None, None)),
            _ => self.checkpoint(tx, env, &mut own, &conversation)?,
        };
        if self.input.over {
            self.end(tx, env, &mut own)?;
        }
        if known.is_none() {
            request.keep(tx, env.now, &output)?;
        }
        Ok(output)
    }

    /// Whether a compaction was announced just now already: some tools do so before every round.
    fn too_soon(&self, tx: &mut Tx<'_>, env: &Env<'_>, own: &Session) -> Result<bool, Failure> {
        if self.input.event != "before-compaction" {
            return Ok(false);
        }
        let deltas = baton_store::delta::of_session(tx, &own.project_id, &own.session_id)?;
        let last = deltas.iter().rev().find(|delta| delta.kind == Kind::Checkpoint);
        Ok(last.is_some_and(|last| env.now.saturating_sub(last.created_at) < CHECKPOINT_INTERVAL))
    }

    /// Records a failure even if another hook kept the work first: the two run concurrently.
    fn record_failure(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        output: CaptureOutput,
    ) -> Result<CaptureOutput, Failure> {
        let told_once =
            Request::of_content(&output.project_id, Capture::NAME, &format!("f{}", self.idempotency_key()));
        if self.input.event != "failure" || told_once.earlier_answer::<CaptureOutput>(tx)?.is_some() {
            return Ok(output);
        }
        let mut failure = output;
        let request = Request::of_content(&failure.project_id, Capture::NAME, &self.idempotency_key());
        if failure.delta_id.is_none() && request.earlier_answer::<CaptureOutput>(tx)?.is_some() {
            let own = resolve::session_by_id(tx, &failure.project_id, &failure.session_id)?;
            let body = json!({
                "text": "the agent stopped at a failure or a limit; what it had done was kept already",
                "event": self.input.event,
                "transcript": { "agent": self.meant.format.id(), "id": self.meant.header.id,
                "key": self.meant.native_id().key() },
            });
            let note = append_json(tx, env, &Author::session(&own), Kind::Note, &body)?;
            failure.delta_id = Some(note.delta_id);
        }
        told_once.keep(tx, env.now, &failure)?;
        Ok(failure)
    }

    /// The same file in the same state is kept once.
    pub(super) fn idempotency_key(&self) -> String {
        let header = &self.meant.header;
        let id: String = header.id.chars().take(36).collect();
        let how = if self.input.wrap { "w" } else { "c" };
        format!("{how}:{id}:{}:{}", header.bytes, header.updated_at_ms.unwrap_or_default() % 1_000_000)
    }

    /// A session for an agent that never began one itself. It claims nothing and replaces no session.
    fn registered(&self, tx: &mut Tx<'_>, env: &mut Env<'_>, project_id: &str) -> Result<Session, Failure> {
        let named = resolve::identity(env.caller, None)?;
        token_rights::require_name_available(tx, env, project_id, &named)?;
        let taken = !session::open_of(tx, project_id, &named)?.is_empty();
        let session_id = env.id();
        let surface = Some(env.caller.surface.clone()).filter(|surface| !surface.is_empty());
        let own = Session {
            project_id: project_id.to_owned(),
            thread_id: session_id.clone(),
            session_id,
            identity: if taken { BOT.to_owned() } else { named },
            surface: surface.unwrap_or_else(|| self.meant.surface().to_owned()),
            location: env.caller.location.clone(),
            started_at: env.now,
            heartbeat_at: env.now,
            last_verb: Capture::NAME.to_owned(),
            release: None,
            inherited_from: None,
            picked_up_session_id: None,
            opened_by: token_rights::token_id(env),
            stale_after: env.limits.stale_after,
            baton_id: None,
            working_copy: self.meant.working_copy(env.host),
        };
        session::insert(tx, &own)?;
        let body = json!({
            "surface": own.surface, "started_at": rfc3339(env.now), "captured": true,
            "transcript_id": self.meant.header.id,
        });
        append_json(tx, env, &Author::session(&own), Kind::Start, &body)?;
        Ok(own)
    }

    fn body(&self) -> Value {
        json!({
            "summary": self.packet.view().summary,
            "event": self.input.event,
            "transcript": { "agent": self.meant.format.id(), "id": self.meant.header.id },
            "packet": self.packet.view(),
        })
    }

    /// The agent wrapped by itself: from here on its baton is the conversation's.
    fn capture_wrapped(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        mut conversation: Conversation,
        own: &Session,
    ) -> Result<CaptureOutput, Failure> {
        conversation::join(tx, &mut conversation, own)?;
        conversation::keep(tx, env, &conversation, None, extent(self.meant))?;
        Ok(self.output(own, None, None))
    }

    pub(super) fn checkpoint(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        own: &mut Session,
        conversation: &Conversation,
    ) -> Result<CaptureOutput, Failure> {
        // Checkpoints are in no baton, so they do not extend its range.
        conversation::keep(tx, env, conversation, None, (conversation.bytes, conversation.last_entry_at))?;
        let delta = append_json(tx, env, &Author::session(own), Kind::Checkpoint, &self.body())?;
        // No heartbeat: a hook that runs after the end proves nothing.
        Capture::NAME.clone_into(&mut own.last_verb);
        session::put(tx, own)?;
        Ok(self.output(own, Some(delta.delta_id), None))
    }

    /// A released session stays released, but what it did is not lost.
    fn note(&self, tx: &mut Tx<'_>, env: &mut Env<'_>, own: &Session) -> Result<CaptureOutput, Failure> {
        let body = json!({ "text": "captured from a released session", "late_checkpoint": self.body() });
        let note = append_json(tx, env, &Author::session(own), Kind::Note, &body)?;
        Ok(self.output(own, Some(note.delta_id), None))
    }

    pub(super) fn output(
        &self,
        own: &Session,
        delta_id: Option<String>,
        baton_id: Option<String>,
    ) -> CaptureOutput {
        CaptureOutput {
            project_id: own.project_id.clone(),
            identity: own.identity.clone(),
            session_id: own.session_id.clone(),
            delta_id,
            baton_id,
            transcript_id: self.meant.header.id.clone(),
            agent: self.meant.format.id().to_owned(),
            summary: baton_model::packet::one_line(&self.packet.view().summary),
            existing_baton: None,
        }
    }
}
