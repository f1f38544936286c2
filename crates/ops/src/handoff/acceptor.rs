//! Who may finish an accepted hand-off, and what becomes of words that come when it is over or from another.

use baton_model::access::Scope;
use baton_model::actor::{Actor, ActorType};
use baton_model::handoff::{Ending, Event, Handoff, State};
use baton_model::holder::Holder;
use baton_model::id::{check_identity, identity_key, is_shared_name, short};
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::{ProcessLocation, Session};
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff, session};

use super::details::HandoffDetails;
use super::{claimant, isolation};
use crate::force_request::ForceRequest;
use crate::op::Env;
use crate::resolve;
use crate::session::{SignalAuthor, send_signal, send_signal_from};
use crate::token_rights;

/// Who accepted a hand-off. A name is one agent; an unnamed one is its process and session.
pub(crate) struct Acceptor {
    identity: String,
    session: Option<Session>,
    location: Option<ProcessLocation>,
    access_token_id: Option<String>,
}

impl Acceptor {
    /// Of the hand-off, if it was accepted.
    pub(super) fn of(tx: &mut Tx<'_>, known: &Handoff) -> Result<Option<Self>, Failure> {
        let details = HandoffDetails::of(known);
        // Of a name the session says nothing, and is read only where it alone says the name, as in earlier versions.
        let session =
            match details.accepted_by.filter(|_| details.accepted_as.as_deref().is_none_or(is_shared_name)) {
                Some(id) => session::get(tx, &known.to_project_id, &id)?,
                None => None,
            };
        let identity = details.accepted_as.or_else(|| session.as_ref().map(|own| own.identity.clone()));
        let location = details.accepted_location.or_else(|| session.as_ref().map(|own| own.location.clone()));
        let bearer = details.accepted_access_token;
        Ok(identity.map(|identity| Self { identity, session, location, access_token_id: bearer }))
    }

    /// Its name.
    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    pub(super) fn holder(&self) -> Holder<'_> {
        let session_id = self.session.as_ref().map(|own| own.session_id.as_str());
        let (location, bearer) = (self.location.as_ref(), self.access_token_id.as_deref());
        Holder { identity: &self.identity, session_id, location, access_token_id: bearer }
    }

    /// Whether it may still be at work: its session is fresh, or its process is known and not known to have ended.
    fn is_live(&self, env: &Env<'_>) -> bool {
        let bearer = &env.caller.grant.bearer;
        let is_own = bearer.is_none() || self.access_token_id == token_rights::token_id(env);
        let gone = |location: &ProcessLocation| {
            (is_own || !env.host.only_caller_answers(location)) && env.host.has_process_ended(location)
        };
        match (&self.session, &self.location) {
            (Some(own), _) => own.is_open() && own.is_fresh(env.now, env.limits) && !gone(&own.location),
            (None, Some(location)) => !location.process.is_empty() && !gone(location),
            (None, None) => false,
        }
    }

    /// Whether the caller acts as it, or goes on in place of an unnamed one that has ended.
    fn is_caller(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        (project_id, identity): (&str, &str),
    ) -> Result<bool, Failure> {
        if !is(&self.identity, identity) || !is_shared_name(identity) {
            return Ok(is(&self.identity, identity));
        }
        let own = resolve::default_session(tx, env, project_id, identity)?;
        let session_id = own.as_ref().map(|own| own.session_id.as_str());
        let token = token_rights::token_id(env);
        let bearer = token.as_deref();
        let caller =
            Holder { identity, session_id, location: Some(&env.caller.location), access_token_id: bearer };
        Ok(self.holder().is_same(&caller) || !self.is_live(env))
    }
}

fn is(name: &str, identity: &str) -> bool {
    identity_key(name) == identity_key(identity)
}

/// Whether the caller has accepted it, by whichever call, and may go on with it.
pub(crate) fn is_acceptor(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    identity: &str,
) -> Result<bool, Failure> {
    if known.state != State::Accepted {
        return Ok(false);
    }
    match Acceptor::of(tx, known)? {
        Some(holder) => holder.is_caller(tx, env, (&known.to_project_id, identity)),
        None => Ok(false),
    }
}

/// Refuses to complete or decline what another has accepted. With force an operator may, and says why.
pub(super) fn require_acceptor(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    (identity, event): (&str, Event),
    (force, why): (bool, Option<&str>),
) -> Result<Option<String>, Failure> {
    if known.state != State::Accepted || !matches!(event, Event::Complete | Event::Decline) {
        return Ok(None);
    }
    let Some(holder) = Acceptor::of(tx, known)? else { return Ok(None) };
    if holder.is_caller(tx, env, (&known.to_project_id, identity))? {
        return Ok(None);
    }
    if !force {
        return Err(held_by_another(tx, env, known, (&holder, event))?.into());
    }
    forced(env, why).map(Some)
}

/// The reason with which an operator ends what is another's.
pub(super) fn forced(env: &Env<'_>, why: Option<&str>) -> Result<String, Failure> {
    env.caller.grant.require(Scope::Operator)?;
    let missing = || {
        let what = "what another has accepted or sent is ended only with a reason";
        Refusal::invalid("why_missing", what, "say --why REASON")
    };
    Ok(why.ok_or_else(missing)?.to_owned())
}

/// The refusal of a caller who is not the acceptor. Where the acceptor has left the hand-off, it says how to take that over.
fn held_by_another(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    (acceptor, event): (&Acceptor, Event),
) -> Result<Refusal, Failure> {
    let refusal = refusal_of_others(known, (&acceptor.holder().describe(), &acceptor.identity), event);
    if let Some(baton) = crate::session::baton_of(tx, known)? {
        let hint = format!(
            "{} has wrapped, and it goes with the baton: `baton pickup --handoff {}`, then repeat this",
            acceptor.identity,
            short(&baton)
        );
        return Ok(Refusal { hint, ..refusal });
    }
    if !crate::session::is_abandoned(tx, env, known)? {
        return Ok(refusal);
    }
    let id = short(&known.handoff_id);
    let hint = format!(
        "{} is not at work any more: take it over with `baton pickup --handoff {id}`, then repeat this; an operator ends it \
         with {}",
        acceptor.identity,
        command_of(event, id)
    );
    Ok(Refusal { hint, ..refusal })
}

/// The command by which an operator ends what another has accepted.
fn command_of(event: Event, id: &str) -> String {
    match event {
        Event::Decline => format!("`baton handoff decline {id} --force --why REASON`"),
        _ => format!("`baton handoff complete {id} --force --why REASON`"),
    }
}

fn refusal_of_others(known: &Handoff, (holder, identity): (&str, &str), event: Event) -> Refusal {
    let (id, command) = (&known.handoff_id, command_of(event, &known.handoff_id));
    Refusal::new(
        Kind::Conflict,
        "handoff_not_yours",
        format!("hand-off {} was accepted by {holder}, who completes or declines it", short(id)),
        format!("leave it to {holder}; an operator ends it with {command}"),
    )
    .with("handoff_id", id.clone())
    .with("holder", identity)
}

/// A refusal that names the acceptor, as a caller outside of an acceptor's isolated project gets it.
pub(super) fn without_names(
    tx: &mut Tx<'_>,
    here: Option<&str>,
    known: &Handoff,
    (refusal, event): (Refusal, Event),
) -> Result<Refusal, Failure> {
    let is_inside = here == Some(known.to_project_id.as_str());
    if refusal.code != "handoff_not_yours" || is_inside || !isolation::is_separated(tx, known)? {
        return Ok(refusal);
    }
    let holder = isolation::project_label(&known.to_project_id);
    Ok(refusal_of_others(known, (&holder, &holder), event))
}

/// The task of a hand-off that another has accepted is closed by the acceptor; with force by an operator, who says why.
pub(crate) fn require_task_acceptor(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    task: &Task,
    identity: &str,
    force: ForceRequest<'_>,
) -> Result<(), Failure> {
    let Some((known, holder)) = accepted_by_another(tx, env, task, identity)? else { return Ok(()) };
    if !force.given {
        return Err(held_by_another(tx, env, &known, (&holder, Event::Complete))?.into());
    }
    env.caller.grant.require(Scope::Operator)?;
    match force.why.is_none_or(|why| why.trim().is_empty()) {
        true => Err(Refusal::invalid(
            "why_missing",
            "what another has accepted is ended only with a reason",
            "say why: `--why WHY`, or `--reason WHY` where a task is closed",
        )
        .into()),
        false => Ok(()),
    }
}

/// Takes the task of a hand-off from the agent that accepted it, for an operator who says why, and tells that agent.
pub(crate) fn take_from_acceptor(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    task: &Task,
    identity: &str,
    force: ForceRequest<'_>,
) -> Result<(), Failure> {
    let Some((known, holder)) = accepted_by_another(tx, env, task, identity)? else { return Ok(()) };
    require_task_acceptor(tx, env, task, identity, force)?;
    if check_identity(&holder.identity).is_err() {
        return Ok(());
    }
    let (id, why) = (&task.task_id, force.why.unwrap_or_default());
    let subject =
        format!("{identity} took task {id} of hand-off {}, which you accepted", short(&known.handoff_id));
    send_signal(tx, env, (&known.to_project_id, identity, &holder.identity), (&subject, why))
}

/// Whether another agent has accepted the hand-off of a task.
pub(crate) fn is_handed_to_another(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    task: &Task,
    identity: &str,
) -> Result<bool, Failure> {
    Ok(accepted_by_another(tx, env, task, identity)?.is_some())
}

fn accepted_by_another(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    task: &Task,
    identity: &str,
) -> Result<Option<(Handoff, Acceptor)>, Failure> {
    if !task.extra.contains_key("handoff_id") {
        return Ok(None);
    }
    let Some(known) = handoff::by_task(tx, &task.project_id, &task.task_id)? else { return Ok(None) };
    if known.state != State::Accepted {
        return Ok(None);
    }
    let Some(holder) = Acceptor::of(tx, &known)? else { return Ok(None) };
    match holder.is_caller(tx, env, (&known.to_project_id, identity))? {
        true => Ok(None),
        false => Ok(Some((known, holder))),
    }
}

/// Refuses the client of a token that would publish what another has accepted.
pub(super) fn require_publisher(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    identity: &str,
) -> Result<(), Failure> {
    if env.caller.grant.is_operator() || known.state != State::Accepted {
        return Ok(());
    }
    let Some(holder) = Acceptor::of(tx, known)? else { return Ok(()) };
    match holder.is_caller(tx, env, (&known.to_project_id, identity))? {
        true => Ok(()),
        false => Err(held_by_another(tx, env, known, (&holder, Event::Complete))?.into()),
    }
}

/// Writes down who ended a hand-off by closing its task. Its result is the reason; where another than the acceptor closed it, that was
/// done in the acceptor's place.
pub(super) fn record_close(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (was, after): (State, &mut Handoff),
    by: &str,
) -> Result<(), Failure> {
    let holder = if was == State::Accepted { Acceptor::of(tx, after)? } else { None };
    let forced = after.result.clone().filter(|_| holder.is_some_and(|holder| !is(&holder.identity, by)));
    let mut details = HandoffDetails::of(after);
    details.ended = Some(Ending {
        by: by.to_owned(),
        by_type: ActorType::Agent,
        at: rfc3339(env.now),
        why: after.result.clone(),
        forced,
    });
    after.plan = details.to_text();
    Ok(())
}

/// Writes down who ended a hand-off, and tells its holder, with the reason.
pub(crate) fn record_end(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (was, after): (State, &mut Handoff),
    author: SignalAuthor<'_>,
    (why, forced): (Option<&str>, Option<String>),
) -> Result<(), Failure> {
    let by = author.actor;
    let mut details = HandoffDetails::of(after);
    let why = why.map(str::to_owned);
    details.ended = Some(Ending {
        by: by.name.to_owned(),
        by_type: by.kind,
        at: rfc3339(env.now),
        why: why.clone(),
        forced: forced.clone(),
    });
    after.plan = details.to_text();
    let reason = forced.or(why);
    if was != State::Accepted {
        return claimant::announce_end(tx, env, after, author, reason.as_deref());
    }
    let Some(holder) = Acceptor::of(tx, after)? else { return Ok(()) };
    let ender = Holder {
        identity: by.name,
        session_id: None,
        location: Some(&env.caller.location),
        access_token_id: None,
    };
    let is_own = by.kind.is_agent() && holder.holder().is_same(&ender);
    if is_own || check_identity(&holder.identity).is_err() {
        return Ok(());
    }
    announce_end(tx, env, after, (&holder.identity, "which you accepted"), (author, reason.as_deref()))
}

/// Tells an agent, which has to do with a hand-off as the relation says, that another ended it.
pub(super) fn announce_end(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    after: &Handoff,
    (receiver, relation): (&str, &str),
    (author, why): (SignalAuthor<'_>, Option<&str>),
) -> Result<(), Failure> {
    let ending = isolation::ending_project(after);
    let by = author.actor;
    // An agent of a project that is kept apart has no name here.
    let is_separated = isolation::is_separated(tx, after)?;
    let is_named = ending == after.to_project_id || !is_separated;
    // Who acts for the other end works there, and reads answers there. One that stands in neither acts for the end that the state is of.
    let ends = [after.from_project_id.as_str(), after.to_project_id.as_str()];
    let place = author.project_id.filter(|place| !is_separated && ends.contains(place)).unwrap_or(ending);
    let sender = isolation::sender_for(after, None);
    let project_id = (place != after.to_project_id).then_some(sender.as_str());
    let (from, by) = match is_named {
        true => (by, by.label()),
        false => (Actor { name: ending, kind: ActorType::Project }, isolation::project_label(ending)),
    };
    let (id, state) = (&after.handoff_id, after.state.as_str());
    let subject = format!("hand-off {}, {relation}, is {state} by {by}", short(id));
    let text = format!(
        "{}\n\n{state}: {}\nWhat you have done until now is kept if you give it as its result: baton handoff complete {id} --result TEXT",
        after.subject,
        why.unwrap_or("no reason was given"),
    );
    let author = SignalAuthor { actor: from, project_id };
    send_signal_from(tx, env, (&after.to_project_id, author, receiver), (&subject, &text))
}
