//! The one baton of a tool's session: an agent's own wrap, a hook's capture and an import find each other here.

use baton_model::baton::{Baton, State};
use baton_model::conversation::{Conversation, Origin, conversation_key, merge_packets};
use baton_model::delta::Kind;
use baton_model::id::{identity_key, short};
use baton_model::packet::ValidatedPacket;
use baton_model::packet_from_ledger::is_gathered;
use baton_model::session::Session;
use baton_model::time::{Millis, rfc3339};
use baton_store::{Failure, Tx, baton, conversation, delta, session};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::entrusted::{on_top_of_sessions, sessions_of};
use super::{Address, send_signal, update_baton};
use crate::idempotency::request::Request;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::ownership::is_at_work;
use crate::{changes, token_rights};

/// Verbs that make a baton of a transcript. A session whose last verb is one of these did not wrap by itself.
pub(crate) const FROM_TRANSCRIPT: [&str; 2] = ["transcript_import", "transcript_capture"];

/// The field of a note that holds a packet which came when the baton of its conversation was taken.
pub(super) const LATE_PACKET: &str = "late_packet";

/// Status of a conversation's baton, for answers that offer no new one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConversationBaton {
    /// The baton.
    pub baton_id: String,
    /// Who left it, where that is another than the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_by: Option<String>,
    /// Its state.
    pub state: State,
    /// Who has it, or had it last.
    pub holder: Option<String>,
    /// The session that holds it.
    pub holder_session_id: Option<String>,
    /// The baton with which the work goes on, once it was wrapped.
    pub next_baton_id: Option<String>,
    /// Whether the agent wrapped it by itself.
    pub by_agent: bool,
    /// The note in which the words are that came too late to be offered.
    pub kept_delta_id: Option<String>,
}

impl ConversationBaton {
    /// In a sentence: which baton, and who has it.
    pub(crate) fn sentence(&self) -> String {
        let id = &self.baton_id;
        let who = self.holder.as_deref().unwrap_or("nobody");
        match (self.state, &self.next_baton_id) {
            (State::Spent, Some(next)) => {
                format!("baton {id} of this conversation went on with {who} as {next}")
            }
            (State::Spent, None) => {
                format!("baton {id} of this conversation says that nothing is left to do")
            }
            (State::Open, _) => format!("baton {id} of this conversation waits"),
            (State::Abandoned, _) => {
                format!("baton {id} of this conversation was taken by {who}, who is gone")
            }
            _ => format!("baton {id} of this conversation is held by {who}"),
        }
    }
}

/// The newest baton of a conversation.
pub(crate) struct EarlierBaton {
    pub(crate) baton: Baton,
    pub(crate) state: State,
    pub(crate) origin: Origin,
    holder: Option<Session>,
    /// Whether the caller may act as who left it.
    is_callers: bool,
}

impl EarlierBaton {
    /// What the rule for arrivals asks.
    pub(crate) fn facts(&self) -> (State, Origin) {
        (self.state, self.origin)
    }

    /// Whether this session goes on after the baton was left, so that its work is not in it; or holds it itself.
    pub(crate) fn is_followed_by(&self, own: &Session) -> bool {
        let holds = self.baton.holder_session_id.as_ref() == Some(&own.session_id);
        holds || own.started_at > self.baton.created_at
    }

    /// Whether the caller may put other words in its place: who left it, or an operator. Who wrote a transcript is not known: what
    /// another brings is kept beside the baton, under that one's name.
    pub(crate) fn is_replaceable(&self, env: &Env<'_>) -> bool {
        self.is_callers || env.caller.grant.is_operator()
    }

    /// The addressee of its baton.
    pub(crate) fn address(&self) -> Address<'_> {
        Address { identity: self.baton.to_identity.as_deref(), role: self.baton.to_role.as_deref() }
    }

    /// As an answer shows it.
    pub(crate) fn existing_baton(&self) -> ConversationBaton {
        ConversationBaton {
            baton_id: self.baton.baton_id.clone(),
            left_by: Some(self.baton.identity.clone()).filter(|_| !self.is_callers),
            state: self.state,
            holder: self.holder.as_ref().map(|holder| holder.identity.clone()),
            holder_session_id: self.baton.holder_session_id.clone(),
            next_baton_id: self.baton.successor().cloned(),
            by_agent: self.origin == Origin::Agent,
            kept_delta_id: None,
        }
    }
}

/// The id of a tool's session, with the time of its first entry and its working directory where they are known.
#[derive(Clone, Copy)]
pub(crate) struct NativeId<'a> {
    pub(crate) tool: &'a str,
    pub(crate) id: &'a str,
    pub(crate) created_at: Option<Millis>,
    pub(crate) cwd: Option<&'a str>,
}

impl NativeId<'_> {
    /// The id under which the conversation is known.
    pub(crate) fn key(&self) -> String {
        conversation_key(self.id, self.created_at, self.cwd)
    }
}

/// A conversation that a project knows. Earlier versions knew it by the tool's own id alone: a row of theirs is meant where
/// nothing says that it was written on another machine.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    native: NativeId<'_>,
) -> Result<Option<Conversation>, Failure> {
    let key = native.key();
    let found = conversation::get(tx, project_id, native.tool, &key)?;
    if found.is_some() || key == native.id {
        return Ok(found);
    }
    let Some(earlier) = conversation::get(tx, project_id, native.tool, native.id)? else {
        return moved(tx, env, project_id, native);
    };
    let own = match &earlier.session_id {
        Some(id) => session::get(tx, project_id, id)?,
        None => None,
    };
    let is_here = |machine: &str| machine.is_empty() || machine == env.caller.location.machine;
    Ok(own.filter(|own| is_here(&own.location.machine)).map(|_| earlier))
}

/// The conversation of the same id and beginning, if the folders on this machine in which it was are gone: it was moved.
fn moved(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    native: NativeId<'_>,
) -> Result<Option<Conversation>, Failure> {
    if native.created_at.is_none() || native.cwd.is_none() {
        return Ok(None);
    }
    let prefix = NativeId { cwd: None, ..native }.key() + "@";
    let mut found = Vec::new();
    for known in conversation::by_prefix(tx, project_id, native.tool, &prefix)? {
        let id = match &known.baton_id {
            Some(id) => baton::get(tx, project_id, id)?.map(|left| left.session_id),
            None => known.session_id.clone(),
        };
        let Some(id) = id else { continue };
        let Some(own) = session::get(tx, project_id, &id)? else { continue };
        let is_here = own.location.machine == env.caller.location.machine;
        let root = own.working_copy.map(|copy| copy.root).filter(|_| is_here);
        match root.and_then(|root| env.host.has_folder(&root)) {
            Some(true) => return Ok(None), // It lies there: what is read here is a copy of it.
            Some(false) => found.push(known),
            None => {}
        }
    }
    // It may have been moved before. It goes by the folder in which it lies now.
    let found = found.into_iter().max_by_key(|known: &Conversation| known.updated_at);
    Ok(found.map(|known| Conversation { native_id: native.key(), ..known }))
}

/// The conversation as the ledger knows it, joined with the sessions that its transcript names as its own.
pub(crate) fn of_transcript(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, native): (&str, NativeId<'_>),
    named: &[String],
) -> Result<Conversation, Failure> {
    let mut found = find(tx, env, project_id, native)?.unwrap_or_else(|| Conversation {
        project_id: project_id.to_owned(),
        tool_id: native.tool.to_owned(),
        native_id: native.key(),
        ..Conversation::default()
    });
    for id in named {
        let id = baton::get(tx, project_id, id)?.map_or_else(|| id.clone(), |left| left.session_id);
        if let Some(own) = session::get(tx, project_id, &id)?.filter(|own| token_rights::may_act_in(env, own))
        {
            join(tx, &mut found, &own)?;
        }
    }
    Ok(found)
}

/// A session belongs to the conversation; what it wrapped last is the conversation's baton, unless that has a newer one.
pub(crate) fn join(tx: &mut Tx<'_>, known: &mut Conversation, own: &Session) -> Result<(), Failure> {
    known.session_id = Some(own.session_id.clone());
    let Some(left) = baton::of_session(tx, &known.project_id, &own.session_id)? else { return Ok(()) };
    let newest = match &known.baton_id {
        Some(id) => baton::get(tx, &known.project_id, id)?,
        None => None,
    };
    if newest.is_none_or(|newest| newest.seq < left.seq) {
        known.baton_id = Some(left.baton_id);
    }
    Ok(())
}

/// The newest baton of a conversation, if one was left.
pub(crate) fn earlier_baton(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Conversation,
) -> Result<Option<EarlierBaton>, Failure> {
    let Some(id) = &known.baton_id else { return Ok(None) };
    let Some(baton) = baton::get(tx, &known.project_id, id)? else { return Ok(None) };
    let left_in = session::get(tx, &known.project_id, &baton.session_id)?;
    let is_callers = left_in.as_ref().is_none_or(|left| token_rights::may_act_in(env, left));
    let captured = left_in.is_some_and(|left| FROM_TRANSCRIPT.contains(&left.last_verb.as_str()));
    let origin = if captured { Origin::Transcript } else { Origin::Agent };
    let holder = match &baton.holder_session_id {
        Some(id) => session::get(tx, &known.project_id, id)?,
        None => None,
    };
    let state = baton.state(holder.as_ref(), |holder| is_at_work(env, holder));
    Ok(Some(EarlierBaton { baton, state, origin, holder, is_callers }))
}

/// Writes down which baton a conversation has from now on, and how far its transcript was read.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Conversation,
    baton_id: Option<&str>,
    (bytes, last_entry_at): (i64, i64),
) -> Result<(), Failure> {
    let baton_id = baton_id.map(str::to_owned).or_else(|| known.baton_id.clone());
    let (last_entry_at, bytes) = (last_entry_at, bytes).max((known.last_entry_at, known.bytes));
    let after = Conversation { baton_id, bytes, last_entry_at, updated_at: env.now, ..known.clone() };
    Ok(conversation::put(tx, &after)?)
}

/// The packet in place of an earlier one: words of the agent, and a summary that a person had made, come along, with the place
/// in the conversation up to which they were made. So does what was entrusted to the sessions of which the earlier one was made. None
/// where all of it does not fit into one packet.
pub(crate) fn replacing(
    tx: &mut Tx<'_>,
    earlier: &EarlierBaton,
    known: &Conversation,
    later: &ValidatedPacket,
) -> Result<Option<ValidatedPacket>, Failure> {
    let project_id = &earlier.baton.project_id;
    let before = delta::get(tx, project_id, &earlier.baton.baton_id)?;
    let Some(before) = before.and_then(|wrap| ValidatedPacket::parse_stored(wrap.body).ok()) else {
        return Ok(Some(later.clone()));
    };
    let written = |packet: &ValidatedPacket| packet.view().has_written_summary();
    let is_written = written(later);
    // Those who held it and let go of it saved what no transcript of this conversation has; the last of them has it from all.
    let mut sessions: Vec<String> = earlier.baton.holder_session_id.iter().cloned().collect();
    let of_before = sessions_of(&before);
    let mut is_carried = of_before.is_empty();
    for id in &of_before {
        is_carried |= session::get(tx, project_id, id)?.is_none();
    }
    if earlier.origin == Origin::Transcript {
        let is_new = !of_before.contains(&earlier.baton.session_id);
        sessions.extend(is_new.then(|| earlier.baton.session_id.clone()));
        sessions.extend(of_before);
    }
    let Some(later) = &on_top_of_sessions(tx, project_id, &sessions, later.clone())? else { return Ok(None) };
    if is_gathered(before.view()) && is_carried {
        // What holders had saved was joined with it when it was carried over from another project.
        let mut view = later.view().clone();
        view.summary = format!("{}\n\n{}", view.summary, before.view().summary);
        let whole = view.on_top_of(Some(&before))?;
        return Ok(Some(whole).filter(|whole| whole.check_stored_size().is_ok()));
    }
    if earlier.origin == Origin::Transcript && (!written(&before) || is_written) {
        return Ok(Some(later.clone()));
    }
    let of_transcript = earlier.origin == Origin::Transcript && known.last_entry_at > 0;
    let until = rfc3339(if of_transcript { known.last_entry_at } else { earlier.baton.created_at });
    let joined = merge_packets(before.view(), later.view().clone(), &earlier.baton.baton_id, &until);
    // What is too long together stays readable apart: the earlier wrap is in the ledger.
    Ok(Some(ValidatedPacket::from_view(joined).unwrap_or_else(|_| later.clone())))
}

/// The earlier baton, which still waits, is not offered any more: its work goes on with the next one, its changes too unless that
/// has its own.
pub(crate) fn supersede(tx: &mut Tx<'_>, earlier: &EarlierBaton, next: &str) -> Result<(), Failure> {
    changes::replace(tx, &earlier.baton, next)?;
    update_baton(tx, &Baton { spent_by: Some(next.to_owned()), ..earlier.baton.clone() })
}

/// Keeps a packet that arrived after the baton was taken: once, as a note of the session that left the baton. Its
/// holder gets a signal.
pub(crate) fn keep_late(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    earlier: &EarlierBaton,
    packet: &ValidatedPacket,
    (by, key): (&str, &str),
) -> Result<ConversationBaton, Failure> {
    let project_id = earlier.baton.project_id.clone();
    let once = Request::of_content(&project_id, "conversation", key);
    if let Some(existing_baton) = once.earlier_answer::<ConversationBaton>(tx)? {
        return Ok(ConversationBaton {
            kept_delta_id: existing_baton.kept_delta_id,
            ..earlier.existing_baton()
        });
    }
    let left_in = session::get(tx, &project_id, &earlier.baton.session_id)?;
    let is_replaceable = earlier.is_replaceable(env);
    let author = match &left_in {
        Some(session) if is_replaceable => Author::session(session),
        session => Author { project_id: &project_id, identity: by, session: session.as_ref() },
    };
    let text = match is_replaceable {
        true => "more of a conversation whose baton was taken already",
        false => "what another than who left the baton brought of its conversation",
    };
    let existing_baton = note_for_holder(tx, env, (earlier, &author, text), packet, by)?;
    once.keep(tx, env.now, &existing_baton)?;
    Ok(existing_baton)
}

/// Keeps the packet of a session whose baton another holds by now: once, as a note of that session, of which the holder gets a signal.
pub(crate) fn keep_for_holder(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (own, taken): (&Session, &EarlierBaton),
    packet: &ValidatedPacket,
    (by, key): (&str, &str),
) -> Result<ConversationBaton, Failure> {
    let once = Request::of_content(&own.project_id, "conversation", key);
    if let Some(first) = once.earlier_answer::<ConversationBaton>(tx)? {
        return Ok(ConversationBaton { kept_delta_id: first.kept_delta_id, ..taken.existing_baton() });
    }
    let author = match token_rights::may_act_in(env, own) {
        true => Author::session(own),
        false => Author { project_id: &own.project_id, identity: by, session: None },
    };
    let text = "what the transcript tells of the session from which the baton was taken over";
    let existing_baton = note_for_holder(tx, env, (taken, &author, text), packet, by)?;
    once.keep(tx, env.now, &existing_baton)?;
    Ok(existing_baton)
}

fn note_for_holder(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (earlier, author, text): (&EarlierBaton, &Author<'_>, &str),
    packet: &ValidatedPacket,
    by: &str,
) -> Result<ConversationBaton, Failure> {
    let project_id = &earlier.baton.project_id;
    let mut body = json!({
        "text": text,
        "baton_id": earlier.baton.baton_id, "arrived_from": by,
    });
    body[LATE_PACKET] = json!(packet.text());
    let note = append_json(tx, env, author, Kind::Note, &body)?;
    let existing_baton =
        ConversationBaton { kept_delta_id: Some(note.delta_id.clone()), ..earlier.existing_baton() };
    // Two agents of one tool may have one name.
    let is_another = |holder: &Session| {
        identity_key(&holder.identity) != identity_key(by) || holder.location != env.caller.location
    };
    if let Some(holder) = earlier.holder.as_ref().filter(|holder| is_another(holder)) {
        let subject = format!("more was said about baton {}", short(&earlier.baton.baton_id));
        let text = format!(
            "{}\n\nThe whole packet is note {} of `baton log`.",
            packet.view().summary,
            note.delta_id
        );
        send_signal(tx, env, (project_id, by, &holder.identity), (&subject, &text))?;
    }
    Ok(existing_baton)
}
