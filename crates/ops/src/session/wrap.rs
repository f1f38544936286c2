//! `session_wrap`: end a session and leave a baton.

use baton_model::baton::State;
use baton_model::changes::Manifest;
use baton_model::conversation::Origin;
use baton_model::delta::Kind;
use baton_model::id::{check_identity, check_label};
use baton_model::packet::{ValidatedPacket, one_line};
use baton_model::refusal::Refusal;
use baton_model::session::{Release, ReleaseReason, Session};
use baton_store::{Failure, Tx, conversation, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::conversation::{ConversationBaton, EarlierBaton, earlier_baton, keep, keep_late, supersede};
use super::force::EndRequest;
use super::leave::{finish, spend_held};
use super::warning::Warning;
use super::wrap_packet::{packet, with_beginning};
use super::wrap_text::{baton_taken_warning, keep_late_wrap, whole_packet};
use super::{Address, leave, notify, working_copy, wrap_accounting};
use crate::changes::{AppliedFindings, ChangesPlace, EarlierChanges};
use crate::idempotency::replay::{Replay, mark_replayed};
use crate::idempotency::request::{self, Request, Requester};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::{card, changes, resolve};

/// Ends a session and leaves a baton.
pub struct Wrap;

/// Input of `session_wrap`.
#[derive(Default, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrapInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that wraps.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that wraps; else the identity's one open session.
    #[serde(default)]
    pub session: Option<String>,
    /// The hand-off packet as an object. Clients may rewrite it; `packet_text` is exact.
    #[serde(default)]
    pub packet: Option<Value>,
    /// The exact text of the hand-off packet, which is given back byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_text: Option<String>,
    /// In place of a packet: what happened and where it stands.
    #[serde(default)]
    pub summary: Option<String>,
    /// With a summary: what comes next.
    #[serde(default)]
    pub next: Vec<String>,
    /// With a summary: tags of what the work is about.
    #[serde(default)]
    pub focus: Vec<String>,
    /// With a summary: nothing is left to do; the packet says `done`, and the baton is offered to no agent.
    #[serde(default)]
    pub done: bool,
    /// With a summary: further fields of the packet, such as `decisions`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// Only this identity is offered the baton.
    #[serde(default)]
    pub to: Option<String>,
    /// Only this role is offered the baton.
    #[serde(default)]
    pub role: Option<String>,
    /// Leave a baton, although one was made of this session's transcript and taken: two agents may then do the same work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// What is not committed in the working copy; its content was uploaded with `changes_upload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Manifest>,
    /// Wrap another agent's session.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger with who used it.
    #[serde(default)]
    pub why: Option<String>,
    /// Makes a retry return the same baton.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// Answer of `session_wrap`.
#[derive(Serialize, Deserialize, Clone)]
pub struct WrapOutput {
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
    /// What happened, in a sentence.
    pub summary: String,
    /// For whom it was left: a name, or the address of a role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What the caller should know; nothing was refused because of it.
    pub warnings: Vec<Warning>,
    /// The changes of the working copy that go with the baton.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Manifest>,
    /// What became of changes that came with the session's own baton and those before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_changes: Vec<EarlierChanges>,
    /// Nothing is left to do: the baton waits for no agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finished: bool,
    /// What was not committed in the caller's working copy and stays there, as a face beside it says; none where changes go along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedFiles>,
    /// Who wrapped the session by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_by: Option<String>,
    /// Marks the answer of a repeated request.
    #[serde(flatten)]
    pub replay: Replay,
}

/// Files that are not committed and went with no baton.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedFiles {
    /// How many there are.
    pub count: usize,
    /// The command that gives them to the baton.
    pub command: String,
}

/// What the transaction came to: an answer, or a late call of a released session whose packet was kept as a note.
enum WrapResult {
    Wrapped(Box<WrapOutput>),
    Late(Refusal),
    /// Earlier batons of this lineage brought changes. Git says first what became of them, outside of the transaction.
    Unexamined(Box<Session>),
}

impl Operation for Wrap {
    const META: Meta = Meta::write("session_wrap", "End a session and leave a baton for the next agent")
        .ends_session()
        .changes_tasks()
        .carries_changes();
    type Input = WrapInput;
    type Output = WrapOutput;

    fn replay(mut answer: Value, _cx: &mut Cx<'_>) -> Result<Value, Failure> {
        mark_replayed(&mut answer, None, &[]);
        Ok(answer)
    }

    fn run(input: WrapInput, cx: &mut Cx<'_>) -> Result<WrapOutput, Failure> {
        let packet = packet(&input, &cx.env)?;
        if let Some(name) = &input.to {
            check_identity(name)?;
        }
        if let Some(role) = &input.role {
            check_label("role", role)?;
        }
        if let Some(why) = &input.why {
            check_label("reason", why)?;
        }
        let project_id = resolve::project_of(cx, input.project.as_deref(), input.session.as_deref())?;
        let packet = with_beginning(cx, packet, &input, &project_id)?;
        let warning = wrap_accounting::role_warning(cx, &project_id, input.role.as_deref())?;
        let Cx { store, env } = cx;
        let mut findings = WrapFindings { role_warning: warning, applied: None };
        loop {
            match store
                .write(&[&project_id], |tx| wrap(tx, env, (&input, &packet), &project_id, &findings))?
            {
                WrapResult::Wrapped(output) => return Ok(*output),
                WrapResult::Late(refusal) => return Err(refusal.into()),
                WrapResult::Unexamined(own) => {
                    let captured = input.changes.as_ref();
                    let applied = store.read(|tx| changes::find_applied(tx, env, &own, captured))?;
                    findings.applied = Some(applied);
                }
            }
        }
    }
}

/// What is found before the transaction.
struct WrapFindings {
    role_warning: Option<Warning>,
    /// Of changes along the session's line, once it was looked for.
    applied: Option<AppliedFindings>,
}

fn wrap(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (input, packet): (&WrapInput, &ValidatedPacket),
    project_id: &str,
    findings: &WrapFindings,
) -> Result<WrapResult, Failure> {
    resolve::require(tx, project_id)?;
    let named = input.session.as_deref().or(env.caller.session.as_deref());
    let identity = resolve::identity(env.caller, input.identity.as_deref())?;
    let who = Requester { identity: &identity, session: named };
    // A retry captures anew, when more may have changed.
    let body = WrapInput { changes: None, ..input.clone() };
    let request = Request::of(env, &who, (project_id, Wrap::NAME), input.request_id.as_deref(), &body)?;
    if let Some(answer) = request::earlier_answer_of::<WrapOutput>(tx, request.as_ref())? {
        return Ok(WrapResult::Wrapped(Box::new(WrapOutput { replay: Replay::of(None), ..answer })));
    }
    let end = EndRequest::of_wrap(input);
    let mut own = end.session(tx, env, project_id)?;
    let forced_by = end.forced_by(env, &own)?;
    if !own.is_open() {
        return Ok(WrapResult::Late(keep_late_wrap(tx, env, &own, input, packet)?));
    }
    let has_changes = wrap_accounting::has_earlier_changes(tx, &own)?;
    if has_changes && findings.applied.is_none() {
        return Ok(WrapResult::Unexamined(Box::new(own)));
    }
    let to = Address { identity: input.to.as_deref(), role: input.role.as_deref() };
    let mut warnings =
        wrap_accounting::warnings(tx, env, (&own, packet), (&to, findings.role_warning.as_ref()))?;
    let packet = &whole_packet(tx, &own, packet, forced_by.is_some())?;
    let left = leave_once(tx, env, &own, (packet, to), input.again)?;
    let applied = findings.applied.as_ref().filter(|_| has_changes);
    let (changes, earlier_changes) = replace(tx, env, &own, (&left, applied), input.changes.as_ref())?;
    let finished = finish_left(tx, (project_id, &left), packet, (&changes, &earlier_changes))?;
    match &forced_by {
        Some(by) => close_by_force(tx, env, &mut own, by, input.why.as_deref())?,
        None => close(tx, env, &mut own, Wrap::NAME)?,
    }
    wrap_accounting::name_baton(&mut warnings, &left.baton_id);
    warnings.extend(left.taken_baton.as_ref().map(|taken| baton_taken_warning(taken, &left.delta_id)));
    let output = WrapOutput {
        project_id: project_id.to_owned(),
        identity: own.identity,
        session_id: own.session_id,
        delta_id: left.delta_id,
        baton_id: left.baton_id,
        summary: left.summary,
        to: card::addressee(input.to.clone(), input.role.clone()),
        warnings,
        changes,
        earlier_changes,
        finished,
        uncommitted: None,
        forced_by,
        replay: Replay::default(),
    };
    request::keep(tx, env, request.as_ref(), &output)?;
    Ok(WrapResult::Wrapped(Box::new(output)))
}

/// Marks the baton as finished, so that no agent is offered it, where nothing is left to do and no changes go along.
fn finish_left(
    tx: &mut Tx<'_>,
    (project_id, left): (&str, &LeftPacket),
    packet: &ValidatedPacket,
    (changes, earlier): (&Option<Manifest>, &[EarlierChanges]),
) -> Result<bool, Failure> {
    let goes_along = changes.is_some() || earlier.iter().any(|one| one.place == ChangesPlace::NextBaton);
    Ok(!goes_along && left.taken_baton.is_none() && finish(tx, (project_id, &left.baton_id), packet)?)
}

/// Spends the baton that the session held for the one that it leaves, with the changes of the working copy, and says what becomes of
/// those that came with earlier ones. `applied`: what was found of those, where there are any.
fn replace(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    own: &Session,
    (left, applied): (&LeftPacket, Option<&AppliedFindings>),
    manifest: Option<&Manifest>,
) -> Result<(Option<Manifest>, Vec<EarlierChanges>), Failure> {
    let changes = attach(tx, env, own, left, manifest)?;
    spend_held(tx, own, &left.baton_id, applied.is_some())?;
    let Some(applied) = applied else { return Ok((changes, Vec::new())) };
    let earlier = changes::after_wrap(tx, env, (own, applied), &left.baton_id, changes.is_some())?;
    Ok((changes, earlier))
}

/// Attaches changes to the baton. Those of a packet that is kept as a note stay where they are.
fn attach(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &Session,
    left: &LeftPacket,
    manifest: Option<&Manifest>,
) -> Result<Option<Manifest>, Failure> {
    let Some(manifest) = manifest.filter(|_| left.taken_baton.is_none()) else { return Ok(None) };
    changes::attach(tx, env, (&own.project_id, &own.identity), &left.baton_id, manifest)?;
    Ok(Some(manifest.clone()))
}

/// What a wrap has left: a baton, or a note beside the one that the conversation had.
struct LeftPacket {
    delta_id: String,
    baton_id: String,
    summary: String,
    /// The baton of this conversation that an agent has picked up already: what was said now is kept beside it.
    taken_baton: Option<ConversationBaton>,
}

/// Leaves the baton of a session. One that was made of its transcript gives way to it, unless it was taken: then the packet
/// is kept for its holder.
fn leave_once(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    own: &Session,
    (packet, to): (&ValidatedPacket, Address<'_>),
    again: bool,
) -> Result<LeftPacket, Failure> {
    let conversation = conversation::of_session(tx, &own.project_id, &own.session_id)?;
    let earlier = match &conversation {
        Some(conversation) => {
            earlier_baton(tx, env, conversation)?.filter(|before| before.baton.session_id != own.session_id)
        }
        None => None,
    };
    let taken = earlier.as_ref().filter(|before| before.state != State::Open && !before.is_followed_by(own));
    if let Some(before) = taken.filter(|_| !again) {
        let existing_baton = keep_late(tx, env, before, packet, (&own.identity, &own.session_id))?;
        return Ok(LeftPacket {
            delta_id: existing_baton.kept_delta_id.clone().unwrap_or_default(),
            baton_id: existing_baton.baton_id.clone(),
            summary: one_line(&packet.view().summary),
            taken_baton: Some(existing_baton),
        });
    }
    let waiting = earlier.filter(|before| before.state == State::Open && before.origin == Origin::Transcript);
    let is_addressed = to.identity.is_some() || to.role.is_some();
    let to = waiting.as_ref().filter(|_| !is_addressed).map_or(to, EarlierBaton::address);
    let left = leave(tx, env, own, packet, &to)?;
    if let Some(before) = &waiting {
        supersede(tx, before, &left.delta_id)?;
    }
    if let Some(conversation) = &conversation {
        keep(tx, env, conversation, Some(&left.delta_id), (conversation.bytes, conversation.last_entry_at))?;
    }
    Ok(LeftPacket {
        baton_id: left.delta_id.clone(),
        delta_id: left.delta_id,
        summary: left.summary,
        taken_baton: None,
    })
}

/// Releases a session as wrapped; the wrap is its own entry in the ledger.
pub(crate) fn close(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    own: &mut Session,
    verb: &str,
) -> Result<(), Failure> {
    own.heartbeat_at = env.now;
    verb.clone_into(&mut own.last_verb);
    working_copy::refresh(tx, env, own)?;
    let by = own.identity.clone();
    close_as(tx, env, own, by)
}

fn close_as(tx: &mut Tx<'_>, env: &mut Env<'_>, own: &mut Session, by: String) -> Result<(), Failure> {
    let reason = ReleaseReason::Wrapped;
    own.release = Some(Release { at: env.now, reason, by, successor: None });
    session::put(tx, own)?;
    crate::task::release_claims(tx, env, own, reason, None)
}

/// Closes another agent's session, without counting as a heartbeat: the ledger records the actor and the reason,
/// and the session's agent gets a signal.
fn close_by_force(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    other: &mut Session,
    by: &str,
    why: Option<&str>,
) -> Result<(), Failure> {
    close_as(tx, env, other, by.to_owned())?;
    let body = json!({
        "text": format!("{by} wrapped the session of {}", other.identity),
        "forced": true, "why": why, "session_id": other.session_id,
    });
    let author = Author { project_id: &other.project_id, identity: by, session: None };
    append_json(tx, env, &author, Kind::Note, &body)?;
    notify(tx, env, other, by, why)
}
