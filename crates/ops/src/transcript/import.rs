//! `transcript_import`: make a baton of a session whose agent never said goodbye.

use baton_model::conversation::{ArrivalAction, Conversation, Origin, Progress, arrival};
use baton_model::delta::Kind;
use baton_model::id::{check_identity, check_label};
use baton_model::packet::{ValidatedPacket, one_line};
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, session};
use baton_transcripts::Complaint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::conversation_home::{ConversationHome, load_conversation};
use super::foreign_transcript::ForeignTranscript;
use super::found_transcript::FoundTranscript;
use super::isolation::View;
use super::over_session::over_session;
use super::progress::progress;
use super::read::{DocumentRequest, read};
use super::same_conversation::{self, SessionMatch};
use super::work_holder::{WorkHolder, own_agent};
use crate::idempotency::request::Request;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Reach};
use crate::project::require_not_merged;
use crate::resolve;
use crate::session::conversation::{self, ConversationBaton, EarlierBaton};
use crate::session::{Address, leave, on_top_of_sessions, spend};

/// Imports a transcript as a baton.
pub struct Import;

/// Input of `transcript_import`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that the work is put under; else the name of the tool.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// A summary in place of the one made from the facts.
    #[serde(default)]
    pub summary: Option<String>,
    /// Only this identity is offered the baton.
    #[serde(default)]
    pub to: Option<String>,
    /// Only this role is offered the baton.
    #[serde(default)]
    pub role: Option<String>,
    /// Make another baton, although the session has one: two agents may then do the same work.
    #[serde(default)]
    pub again: bool,
}

/// Answer of `transcript_import`.
#[derive(Default, Serialize, Deserialize, Clone)]
pub struct ImportOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The ledger entry that records it.
    pub delta_id: String,
    /// The baton.
    pub baton_id: String,
    /// The transcript.
    pub transcript_id: String,
    /// The agent.
    pub agent: String,
    /// What happened, in a sentence.
    pub summary: String,
    /// Whether it had been imported before.
    pub imported_before: bool,
    /// The baton that this one replaces: it still waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_baton_id: Option<String>,
    /// The baton that the session has already; only `again` makes a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing_baton: Option<ConversationBaton>,
    /// Who is at work on it: the session's own agent, or whoever went on with its work. The work stays theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<WorkHolder>,
    /// Batons that may be of the same conversation: nothing tells for certain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_be_same: Vec<String>,
    /// What could not be read of the transcript, and is in no packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Complaint>,
    /// Sessions that may be of the same conversation and have left no baton.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_be_same_sessions: Vec<String>,
}

impl Operation for Import {
    const META: Meta =
        Meta::write("transcript_import", "Make a baton of a session whose agent never wrapped")
            .reach(Reach::Disk)
            .slow("reading the session for the ledger");
    type Input = ImportInput;
    type Output = ImportOutput;

    fn run(input: ImportInput, cx: &mut Cx<'_>) -> Result<ImportOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| resolve::require_project(tx, &project_id))?;
        let (summary, project) = (input.summary.clone(), input.project.clone());
        let spec =
            DocumentRequest { summary, project, ..DocumentRequest::of(&input.id, input.agent.as_deref()) };
        let (transcript, packet) = read(cx, &spec)?;
        let named = input.identity.as_deref().or(cx.env.caller.identity.as_deref());
        // A token that is bound to identities imports as one of these, whichever tool it was.
        let is_bound = cx.env.caller.grant.bearer.as_ref().is_some_and(|bearer| bearer.identities.is_some());
        let usual = Some(transcript.format.id()).filter(|_| !is_bound);
        let identity = resolve::identity(cx.env.caller, named.or(usual))?;
        input.to.iter().try_for_each(|name| check_identity(name))?;
        input.role.iter().try_for_each(|role| check_label("role", role))?;
        let is_alone = same_conversation::is_alone(cx, &transcript)?;
        cx.store.read(|tx| require_not_merged(tx, &project_id))?;
        let view = View::of(cx, Some(&project_id))?;
        if !view.confinement(&transcript).may_be_kept_in(&project_id) {
            return Err(view.refusal(&transcript.header.id, &transcript).into());
        }
        let home = match input.again {
            true => ConversationHome::Project(project_id),
            false => ConversationHome::of(cx, &project_id, &transcript)?,
        };
        let project_id = home.project_id().to_owned();
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            home.adopt(tx)?;
            let to = Address { identity: input.to.as_deref(), role: input.role.as_deref() };
            let (transcript, packet, again) = (&transcript, &packet, input.again);
            let importing = ImportJob {
                meant: transcript,
                packet,
                project_id: &project_id,
                identity: &identity,
                to,
                again,
                is_alone,
            };
            importing.import(tx, env)
        })
    }
}

/// The key under which versions before kept what they imported, by the file's state: its size and last entry are part of it.
pub(super) fn key(transcript: &FoundTranscript) -> String {
    let id: String = transcript.header.id.chars().take(40).collect();
    format!(
        "t:{id}:{}:{}",
        transcript.header.bytes,
        transcript.header.updated_at_ms.unwrap_or_default() % 1_000_000
    )
}

/// How far a transcript reaches. Of a database that holds many sessions the size says nothing about one.
pub(super) fn extent(transcript: &FoundTranscript) -> (i64, i64) {
    let bytes =
        if transcript.key.is_some() { 0 } else { i64::try_from(transcript.header.bytes).unwrap_or(i64::MAX) };
    (bytes, transcript.header.updated_at_ms.unwrap_or_default())
}

/// A transcript that is to become a baton.
pub(super) struct ImportJob<'a> {
    pub(super) meant: &'a FoundTranscript,
    pub(super) packet: &'a ValidatedPacket,
    pub(super) project_id: &'a str,
    pub(super) identity: &'a str,
    pub(super) to: Address<'a>,
    /// Another baton, although the conversation has one.
    pub(super) again: bool,
    /// No other agent of the tool worked there at the time.
    pub(super) is_alone: bool,
}

impl ImportJob<'_> {
    /// Leaves a baton for the session in a transcript, or gives back the one that it has.
    pub(super) fn import(&self, tx: &mut Tx<'_>, env: &mut Env<'_>) -> Result<ImportOutput, Failure> {
        let mut known = load_conversation(tx, env, self.project_id, self.meant)?;
        let (may_be_same, may_be_same_sessions) = self.join_alike(tx, env, &mut known)?;
        let Some(earlier) = conversation::earlier_baton(tx, env, &known)? else {
            if let Some(taken) = self.taken_over(tx, env, &known)? {
                return Ok(taken);
            }
            let holder = own_agent(tx, env, (&known, env.caller.identity.as_deref()))?;
            let first = self.first(tx, env, &known)?;
            return Ok(ImportOutput { may_be_same, may_be_same_sessions, holder, ..first });
        };
        if self.again && earlier.is_replaceable(env) {
            return self.leave(tx, env, &known, None);
        }
        if self.again {
            // The conversation stays that of who left its baton; this one is the caller's own.
            let native_id = format!("{}@{}", known.native_id, self.identity);
            let own = Conversation { native_id, session_id: None, baton_id: None, ..known };
            return self.leave(tx, env, &own, None);
        }
        if !earlier.is_replaceable(env) {
            let foreign =
                ForeignTranscript { transcript: self.meant, packet: self.packet, by: self.identity };
            return match foreign.keep(tx, env, (&known, &earlier), &key(self.meant))? {
                Some(existing_baton) => Ok(self.present(&earlier, existing_baton)),
                None => self.leave(tx, env, &known, None),
            };
        }
        let news = if self.says_more(&earlier) { Progress::Words } else { Progress::None };
        let progress = progress(tx, env.now, (&known, &earlier), (self.meant, self.packet))?.max(news);
        match arrival(Some(earlier.facts()), Origin::Transcript, progress) {
            ArrivalAction::Leave => self.leave(tx, env, &known, None),
            ArrivalAction::Supersede => self.leave(tx, env, &known, Some(&earlier)),
            ArrivalAction::Present => {
                conversation::keep(tx, env, &known, None, extent(self.meant))?;
                Ok(self.present(&earlier, earlier.existing_baton()))
            }
            ArrivalAction::Late => {
                let key = key(self.meant);
                let existing_baton =
                    conversation::keep_late(tx, env, &earlier, self.packet, (self.identity, &key))?;
                conversation::keep(tx, env, &known, None, extent(self.meant))?;
                Ok(self.present(&earlier, existing_baton))
            }
        }
    }

    /// Joins the session that is the conversation's although neither names the other; where that is not certain, names what may
    /// be it: the batons that were left, and the sessions that left none.
    fn join_alike(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        known: &mut Conversation,
    ) -> Result<(Vec<String>, Vec<String>), Failure> {
        let (mut batons, mut without) = (Vec::new(), Vec::new());
        if known.session_id.is_some() || known.baton_id.is_some() || self.again {
            return Ok((batons, without));
        }
        match same_conversation::likeness(tx, env, (self.project_id, self.meant, self.is_alone))? {
            SessionMatch::Same(own) => {
                conversation::join(tx, known, &own)?;
            }
            SessionMatch::Unclear(sessions) => {
                for own in sessions {
                    match baton_store::baton::of_session(tx, self.project_id, &own.session_id)? {
                        Some(left) => batons.push(left.baton_id),
                        None => without.push(own.session_id),
                    }
                }
            }
        }
        Ok((batons, without))
    }

    /// Whether the caller adds what the earlier baton does not say: a summary of its own, another receiver.
    fn says_more(&self, earlier: &EarlierBaton) -> bool {
        let summary = self.packet.view().has_written_summary()
            && one_line(&self.packet.view().summary) != earlier.baton.summary;
        let other =
            |named: Option<&str>, known: &Option<String>| named.is_some() && named != known.as_deref();
        summary
            || other(self.to.identity, &earlier.baton.to_identity)
            || other(self.to.role, &earlier.baton.to_role)
    }

    fn first(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        known: &Conversation,
    ) -> Result<ImportOutput, Failure> {
        let request = Request::of_content(self.project_id, Import::NAME, &key(self.meant));
        if !self.again
            && let Some(before) = request.earlier_answer::<ImportOutput>(tx)?
        {
            conversation::keep(tx, env, known, Some(&before.baton_id), extent(self.meant))?;
            let of_before = Conversation { baton_id: Some(before.baton_id.clone()), ..known.clone() };
            let existing_baton =
                conversation::earlier_baton(tx, env, &of_before)?.map(|one| one.existing_baton());
            return Ok(ImportOutput { imported_before: true, existing_baton, ..before });
        }
        self.leave(tx, env, known, None)
    }

    fn leave(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        known: &Conversation,
        earlier: Option<&EarlierBaton>,
    ) -> Result<ImportOutput, Failure> {
        let transcript = self.meant;
        let mut own = over_session(env, transcript, self.project_id, self.identity);
        let mut packet = self.packet.clone();
        let mut to = Address { identity: self.to.identity, role: self.to.role };
        if let Some(earlier) = earlier {
            own.thread_id.clone_from(&earlier.baton.thread_id);
            let replacing = conversation::replacing(tx, earlier, known, self.packet)?;
            packet = replacing.ok_or_else(|| size_refusal(&earlier.baton.baton_id))?;
            if to.identity.is_none() && to.role.is_none() {
                to = earlier.address();
            }
        }
        let stopped = self.stopped(tx, env, known)?;
        if let Some(stopped) = &stopped {
            let ids = [stopped.session_id.clone()];
            let whole = on_top_of_sessions(tx, self.project_id, &ids, packet)?;
            packet = whole.ok_or_else(|| size_refusal(stopped.baton_id.as_deref().unwrap_or_default()))?;
            own.thread_id.clone_from(&stopped.thread_id);
        }
        session::insert(tx, &own)?;
        let body = json!({
            "summary": format!("imported from {} session {}", transcript.title(), transcript.header.id),
            "surface": own.surface, "transcript_id": transcript.header.id,
        });
        append_json(tx, env, &Author::session(&own), Kind::Start, &body)?;
        let left = leave(tx, env, &own, &packet, &to)?;
        // Registering writes no release: the session is over from here on.
        session::put(tx, &own)?;
        if let Some(stopped) = &stopped {
            // Its work goes on with this baton, so the one that it held is spent.
            spend(tx, stopped, &left.delta_id)?;
        }
        if let Some(earlier) = earlier {
            conversation::supersede(tx, earlier, &left.delta_id)?;
        }
        conversation::keep(tx, env, known, Some(&left.delta_id), extent(transcript))?;
        Ok(ImportOutput {
            project_id: self.project_id.to_owned(),
            identity: own.identity,
            session_id: own.session_id,
            delta_id: left.delta_id.clone(),
            baton_id: left.delta_id,
            transcript_id: transcript.header.id.clone(),
            agent: transcript.format.id().to_owned(),
            summary: left.summary,
            imported_before: false,
            superseded_baton_id: earlier.map(|earlier| earlier.baton.baton_id.clone()),
            skipped: self.skipped(),
            ..ImportOutput::default()
        })
    }

    /// What its reader could not use.
    fn skipped(&self) -> Vec<Complaint> {
        let complaints = self.packet.view().metadata.get("complaints").cloned();
        complaints.and_then(|found| serde_json::from_value(found).ok()).unwrap_or_default()
    }

    /// The baton that the conversation has, and how it stands.
    pub(super) fn present(&self, earlier: &EarlierBaton, existing_baton: ConversationBaton) -> ImportOutput {
        ImportOutput {
            project_id: self.project_id.to_owned(),
            identity: earlier.baton.identity.clone(),
            session_id: earlier.baton.session_id.clone(),
            delta_id: earlier.baton.baton_id.clone(),
            baton_id: earlier.baton.baton_id.clone(),
            transcript_id: self.meant.header.id.clone(),
            agent: self.meant.format.id().to_owned(),
            summary: earlier.baton.summary.clone(),
            imported_before: true,
            existing_baton: Some(existing_baton),
            skipped: self.skipped(),
            ..ImportOutput::default()
        }
    }
}

/// The refusal where the transcript and what its agent had taken over and saved do not fit into one packet.
fn size_refusal(baton_id: &str) -> Refusal {
    let what = "the transcript and what its agent took over and saved do not fit into one packet";
    let hint = match baton_id {
        "" => "`baton pickup` brings what was saved, without the transcript".to_owned(),
        id => format!(
            "`baton pickup --handoff {id}` brings what was taken over and saved, without the transcript"
        ),
    };
    Refusal::new(refusal::Kind::Refused, "packet_too_large", what, hint)
}
