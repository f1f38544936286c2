//! Who holds the work of a conversation by now: its own agent, or another who went on with what that one had in hand. What is made of
//! the transcript then does not change whose work it is.

use baton_model::baton::State;
use baton_model::conversation::Conversation;
use baton_model::id::{identity_key, is_shared_name, short, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::Session;
use baton_store::{Failure, Tx, session};
use serde::{Deserialize, Serialize};

use super::import::{ImportJob, ImportOutput, key};
use crate::op::Env;
use crate::ownership::is_at_work;
use crate::session::conversation::{self, EarlierBaton};
use crate::token_rights;

/// How many takeovers are followed from the conversation's own session.
const MAX_TAKEOVERS: usize = 32;

/// Who is at work on a conversation, as an answer says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkHolder {
    /// Their name.
    pub identity: String,
    /// Their session.
    pub session_id: String,
}

impl WorkHolder {
    fn of(session: &Session) -> Self {
        Self { identity: session.identity.clone(), session_id: session.session_id.clone() }
    }
}

/// Who went on with the work of a conversation's own session.
pub(super) enum Takeover {
    /// They hold the baton that it had picked up.
    Baton { of: Box<Session>, baton: Box<EarlierBaton>, holder: WorkHolder },
    /// They went on with what it had saved, without a baton.
    Session { of: Box<Session>, holder: WorkHolder },
}

/// Who went on with it and is at work, if anybody.
pub(super) fn takeover(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Conversation,
) -> Result<Option<Takeover>, Failure> {
    let Some(own) = own_session(tx, known)?.filter(|own| !own.has_wrapped()) else { return Ok(None) };
    if own.baton_id.is_some() {
        let of_baton = Conversation { baton_id: own.baton_id.clone(), ..known.clone() };
        let taken = conversation::earlier_baton(tx, env, &of_baton)?;
        if let Some(baton) = taken.filter(|taken| taken.state == State::Held)
            && let Some(id) = baton.baton.holder_session_id.as_ref().filter(|id| **id != own.session_id)
            && let Some(holder) = session::get(tx, &known.project_id, id)?
            && is_another(&own, &holder)
        {
            let (of, holder) = (Box::new(own), WorkHolder::of(&holder));
            return Ok(Some(Takeover::Baton { of, baton: Box::new(baton), holder }));
        }
    }
    let mut next = successor(&own);
    for _ in 0..MAX_TAKEOVERS {
        let Some(id) = next else { return Ok(None) };
        let Some(one) = session::get(tx, &known.project_id, &id)? else { return Ok(None) };
        if one.is_open() {
            let is_callers = env.caller.identity.as_deref().is_some_and(|name| is_called(&one, name));
            let is_taken = is_at_work(env, &one) && is_another(&own, &one) && !is_callers;
            let holder = WorkHolder::of(&one);
            return Ok(is_taken.then(|| Takeover::Session { of: Box::new(own), holder }));
        }
        next = successor(&one).filter(|_| !one.has_wrapped());
    }
    Ok(None)
}

/// The conversation's own agent, where that is at work and has another name than the caller.
pub(super) fn own_agent(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (known, caller): (&Conversation, Option<&str>),
) -> Result<Option<WorkHolder>, Failure> {
    let own = own_session(tx, known)?.filter(|own| own.is_open() && is_at_work(env, own));
    let is_callers = |own: &Session| caller.is_some_and(|name| is_called(own, name));
    Ok(own.filter(|own| own.location != env.caller.location && !is_callers(own)).as_ref().map(WorkHolder::of))
}

/// Whether a session is somebody else's: an agent that came back in another process has its name still.
fn is_another(own: &Session, other: &Session) -> bool {
    is_shared_name(&own.identity) || !is_called(other, &own.identity)
}

fn is_called(session: &Session, name: &str) -> bool {
    identity_key(&session.identity) == identity_key(name)
}

fn own_session(tx: &mut Tx<'_>, known: &Conversation) -> Result<Option<Session>, Failure> {
    match &known.session_id {
        Some(id) => Ok(session::get(tx, &known.project_id, id)?),
        None => Ok(None),
    }
}

fn successor(session: &Session) -> Option<String> {
    session.release.as_ref().and_then(|release| release.successor.clone())
}

/// The refusal where somebody went on with what the session had saved, and there is no baton that could be shown.
pub(super) fn taken_over_refusal(own: &Session, holder: &WorkHolder) -> Refusal {
    let (id, name) = (short(&holder.session_id), visible(&holder.identity));
    Refusal::new(
        Kind::Conflict,
        "work_taken_over",
        format!("{name} went on with session {} of this conversation and is at work, in session {id}", short(&own.session_id)),
        format!(
            "`baton log --session {id}` shows what was done since; `baton import-transcript --again`, or `baton continue --force --why REASON`, \
             makes a baton of it all the same"
        ),
    )
    .with("holder", holder.identity.clone())
    .with("session_id", holder.session_id.clone())
}

impl ImportJob<'_> {
    /// The answer where another went on with the work of the session and holds it: what the transcript tells is kept for that one.
    pub(super) fn taken_over(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        known: &Conversation,
    ) -> Result<Option<ImportOutput>, Failure> {
        let taken = if self.again { None } else { takeover(tx, env, known)? };
        match taken {
            None => Ok(None),
            Some(Takeover::Session { of, holder }) => Err(taken_over_refusal(&of, &holder).into()),
            Some(Takeover::Baton { of, baton, holder }) => {
                let key = format!("{} of {}", key(self.meant), short(&of.session_id));
                let (by, packet) = (self.identity, self.packet);
                let existing_baton =
                    conversation::keep_for_holder(tx, env, (&of, &baton), packet, (by, &key))?;
                let answer = self.present(&baton, existing_baton);
                Ok(Some(ImportOutput { imported_before: false, holder: Some(holder), ..answer }))
            }
        }
    }

    /// The session of the conversation's agent, if that has stopped without a wrap.
    pub(super) fn stopped(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        known: &Conversation,
    ) -> Result<Option<Session>, Failure> {
        let Some(id) = &known.session_id else { return Ok(None) };
        let own = session::get(tx, self.project_id, id)?;
        Ok(own
            .filter(|own| !own.has_wrapped() && !is_at_work(env, own) && token_rights::may_act_in(env, own)))
    }
}
