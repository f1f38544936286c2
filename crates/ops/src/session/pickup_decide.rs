//! Decides a pickup: session, baton, predecessor and claim. Writes nothing.

use baton_model::baton::{Baton, ClaimOutcome, Picker, State, check_predecessor};
use baton_model::handoff::Handoff;
use baton_model::id::{is_shared_name, short};
use baton_model::refusal::{self, Refusal};
use baton_model::repository::WorkingCopy;
use baton_model::session::{ReleaseReason, Session};
use baton_model::shell::shell_word;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, agent, baton, handoff, project_root, session};
use serde_json::{Value, json};

use super::pickup::{Pickup, PickupInput};
use super::pickup_session::registration;
use super::working_copy::of_caller;
use super::{Heartbeat, RegistrationOutcome, Start, accepted_handoffs, pickup_handoff};
use crate::force_request::require_holder;
use crate::op::{Env, Operation};
use crate::ownership::{has_other_process_ended, is_at_work};
use crate::portable::exported_refusal;
use crate::project::carried_here;
use crate::resolve;
use crate::token_rights;

/// How many batons are looked through for one that is for the caller.
const UNSPENT: i64 = 200;

/// The baton to pick up: the named one, else that which `from_session` holds or else left last, else the project's newest that is
/// not spent and not addressed to another identity.
fn find(
    tx: &mut Tx<'_>,
    input: &PickupInput,
    project_id: &str,
    identity: &str,
    from: Option<&Session>,
    roles: &[String],
) -> Result<(Option<Baton>, usize), Failure> {
    if let Some(id) = &input.target_id {
        return Ok((Some(by_id(tx, project_id, id)?), 0));
    }
    if let Some(session) = from {
        // One that fell silent without a wrap goes on with what it holds.
        let held = match &session.baton_id {
            Some(id) => baton::get(tx, project_id, id)?.filter(|held| {
                held.spent_by.is_none() && held.holder_session_id.as_ref() == Some(&session.session_id)
            }),
            None => None,
        };
        let found = match held {
            Some(held) => Some(held),
            None => baton::of_session(tx, project_id, &session.session_id)?,
        };
        return Ok((found, 0));
    }
    let unspent = baton::unspent(tx, project_id, UNSPENT)?;
    let mine = unspent.iter().find(|b| input.force || b.is_for(identity, roles)).cloned();
    let others =
        unspent.iter().filter(|b| b.holder_session_id.is_none() && !b.is_for(identity, roles)).count();
    Ok((mine, others))
}

fn by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Baton, Failure> {
    if let Some(found) = baton::get(tx, project_id, id)? {
        return Ok(found);
    }
    let ids = if id.len() >= 4 && id.is_ascii() { baton::by_prefix(tx, project_id, id)? } else { Vec::new() };
    let unknown = || {
        Refusal::new(
            refusal::Kind::NotFound,
            "baton_unknown",
            format!("project {project_id} has no baton `{}`", baton_model::id::visible(id)),
            "`baton status` lists those that wait",
        )
    };
    match ids.as_slice() {
        [one] => baton::get(tx, project_id, one)?.ok_or_else(|| unknown().into()),
        // One of a project that was merged into this one goes on here under another id.
        [] => match carried_here(tx, project_id, id)? {
            Some(carried) => baton::get(tx, project_id, &carried)?.ok_or_else(|| unknown().into()),
            None => Err(unknown().into()),
        },
        many => Err(resolve::ambiguous_id_refusal("baton", id, many).into()),
    }
}

/// The session that has to be out of the way: `from_session`, else the one that wrapped, else the newest other one.
fn predecessor(
    tx: &mut Tx<'_>,
    project_id: &str,
    from: Option<&Session>,
    found: Option<&Baton>,
    own: Option<&str>,
) -> Result<Option<Session>, Failure> {
    if let Some(session) = from {
        return Ok(Some(session.clone()));
    }
    if let Some(found) = found {
        return Ok(session::get(tx, project_id, &found.session_id)?);
    }
    let newest = session::newest(tx, project_id, 2)?;
    Ok(newest.into_iter().find(|s| Some(s.session_id.as_str()) != own))
}

/// What a pickup will do.
pub(super) struct Decision {
    pub(super) registration: RegistrationOutcome,
    pub(super) baton: Option<Baton>,
    pub(super) claim: Option<ClaimOutcome>,
    pub(super) predecessor: Option<Session>,
    pub(super) predecessor_yields: Option<ReleaseReason>,
    /// The session that the call names, where no baton is left of it: what it saved is recovered.
    pub(super) session_to_recover: Option<Session>,
    pub(super) waiting_for_others: usize,
    /// The hand-offs that the project has accepted and not ended.
    pub(super) accepted: Vec<Handoff>,
    /// Why the call would be refused if it were no dry run.
    pub(super) obstacle: Option<Refusal>,
}

impl Decision {
    /// The caller's own open session, where it holds the baton already.
    pub(super) fn holding_session(&self) -> Option<&Session> {
        match (&self.claim, &self.registration) {
            (Some(ClaimOutcome::AlreadyHeld), RegistrationOutcome::Existing(own)) => Some(own),
            _ => None,
        }
    }

    /// The holder that the baton is taken from, dead or by force.
    pub(super) fn taken_from(&self) -> Option<Session> {
        match &self.claim {
            Some(ClaimOutcome::Recovered(holder) | ClaimOutcome::Forced(holder)) => Some(holder.clone()),
            _ => None,
        }
    }
}

/// Decides a pickup. Writes nothing.
pub(super) fn decide(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &PickupInput,
    project_id: &str,
    named: &str,
) -> Result<Decision, Failure> {
    tx.prefetch(|tx| prefetch_decision(tx, input, (project_id, named)));
    let (own, name_conflict) = registration(tx, env, input, (project_id, named))?;
    let own_id = own.existing_session_id();
    let from = input.from_session.as_deref();
    let from = from.map(|id| resolve::session_by_id(tx, project_id, id)).transpose()?;
    let identity = own.identity();
    let held = own.held_baton(tx)?;
    let (roles, accepted) = roles_and_accepted(tx, project_id, &identity)?;
    let (mut found, waiting_for_others) = find(tx, input, project_id, &identity, from.as_ref(), &roles)?;
    if let (Some(id), None, None) = (&held, &input.target_id, &from) {
        found = baton::get(tx, project_id, id)?;
    }
    if found.is_none() && from.is_none() && !input.force && !answers_for_one(&own, &accepted) {
        pickup_handoff::refuse_unnamed_handoff(tx, env, project_id, (&identity, &roles), own_id.as_deref())?;
    }
    let picker = Picker {
        identity: &identity,
        roles: &roles,
        session_id: own_id.as_deref(),
        is_by_id: input.target_id.is_some(),
        force: input.force,
        now: env.now,
        limits: env.limits,
        is_gone: &|session| has_other_process_ended(env, session),
    };
    let predecessor = predecessor(tx, project_id, from.as_ref(), found.as_ref(), own_id.as_deref())?
        .filter(|session| Some(&session.session_id) != own_id.as_ref())
        .map(|session| own.as_after_registration(session, env.now));
    let yields = predecessor.as_ref().map(|before| check_predecessor(before, &picker)).transpose()?;
    let claim =
        found.as_ref().map(|found| claim_baton(tx, env, found, &own, (&picker, input))).transpose()?;
    let unwrapped = from.filter(|from| found.is_none() && Some(&from.session_id) != own_id.as_ref());
    let other = held
        .as_ref()
        .filter(|held| found.as_ref().map_or(unwrapped.is_some(), |found| **held != found.baton_id));
    let obstacle = other.map(|held| already_holding_refusal(held)).or(name_conflict);
    // A dry run takes nothing, so it answers.
    if let Some(refusal) = obstacle.as_ref().filter(|_| !input.dry_run) {
        return Err(refusal.clone().into());
    }
    Ok(Decision {
        registration: own,
        baton: found,
        claim,
        predecessor,
        predecessor_yields: yields.flatten(),
        session_to_recover: unwrapped,
        waiting_for_others,
        accepted,
        obstacle,
    })
}

/// The questions of a decision that do not depend on each other's answers, as far as the input says which they are.
fn prefetch_decision(tx: &mut Tx<'_>, input: &PickupInput, (project_id, named): (&str, &str)) {
    drop(project_root::of_project(tx, project_id));
    drop(session::open_of(tx, project_id, named));
    drop(agent::roles(tx, project_id, named));
    drop(handoff::accepted(tx, project_id));
    if input.target_id.is_none() && input.from_session.is_none() {
        drop(baton::unspent(tx, project_id, UNSPENT));
    }
}

/// The roles of an identity, and the hand-offs that the project has accepted, in one round trip.
fn roles_and_accepted(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
) -> Result<(Vec<String>, Vec<Handoff>), Failure> {
    tx.prefetch(|tx| {
        drop(agent::roles(tx, project_id, identity));
        drop(handoff::accepted(tx, project_id));
    });
    Ok((agent::roles(tx, project_id, identity)?, handoff::accepted(tx, project_id)?))
}

/// Whether the caller's session answers for a hand-off: it asks for what it has.
fn answers_for_one(own: &RegistrationOutcome, accepted: &[Handoff]) -> bool {
    match own {
        RegistrationOutcome::Existing(session) => accepted_handoffs::is_acceptor(accepted, session),
        RegistrationOutcome::New(..) => false,
    }
}

fn claim_baton(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    found: &Baton,
    own: &RegistrationOutcome,
    (picker, input): (&Picker<'_>, &PickupInput),
) -> Result<ClaimOutcome, Failure> {
    let holder = match &found.holder_session_id {
        Some(id) => session::get(tx, &found.project_id, id)?
            .map(|session| own.as_after_registration(session, env.now)),
        None => None,
    };
    let name = holder.as_ref().map(|holder| holder.identity.as_str());
    require_holder(&format!("baton {}", short(&found.baton_id)), input.holder.as_deref(), name)?;
    match found.check_claim(holder.as_ref(), picker) {
        Err(refusal) if refusal.code == "baton_spent" => {
            Err(exported_refusal(tx, env, found)?.unwrap_or(refusal).into())
        }
        claimed => claimed.map_err(|refusal| {
            let own = holder.as_ref().and_then(|holder| own_holder_hint(env, holder, picker.identity));
            match (own, other_batons(tx, env, found, refusal)) {
                (Some(own), Failure::Refused(no)) if no.code == "baton_claimed" => {
                    Refusal { hint: format!("{own}. Otherwise {}", no.hint), ..no }.into()
                }
                (_, failure) => failure,
            }
        }),
    }
}

/// Hint for a caller whose name many share: the holder is in the caller's location, and may be the same agent.
fn own_holder_hint(env: &Env<'_>, holder: &Session, identity: &str) -> Option<String> {
    let is_process = !holder.location.process.is_empty() && holder.location == env.caller.location;
    let root = |copy: &Option<WorkingCopy>| copy.as_ref().map(|copy| copy.root.clone());
    let is_machine = holder.location.machine == env.caller.location.machine;
    let is_folder =
        is_machine && holder.working_copy.is_some() && root(&holder.working_copy) == root(&of_caller(env));
    if !is_shared_name(identity) || !token_rights::may_act_in(env, holder) || !(is_process || is_folder) {
        return None;
    }
    let id = short(&holder.session_id);
    let place = if is_process { "from this process" } else { "in this folder" };
    Some(match is_shared_name(&holder.identity) {
        true => format!(
            "session {id} picked it up {place}: if that is you, you hold it already, and `export BATON_SESSION={}` says so to every \
             command; another agent here takes a name: `--as NAME`",
            holder.session_id
        ),
        false => format!(
            "{0} picked it up {place}: if that is you, say so with `--as {0}`, or `export BATON_IDENTITY={0}` once",
            shell_word(&holder.identity)
        ),
    })
}

/// For a claimed baton, the refusal also lists the project's other batons without a live holder.
fn other_batons(tx: &mut Tx<'_>, env: &Env<'_>, this: &Baton, refusal: Refusal) -> Failure {
    if refusal.code != "baton_claimed" {
        return refusal.into();
    }
    match free_batons(tx, env, this) {
        Ok(free) => {
            let hint = free_hint(&free, short(&this.baton_id), env.caller.grant.is_operator());
            Refusal { hint, ..refusal }.with("open_batons", free).into()
        }
        Err(failure) => failure,
    }
}

/// What to do instead: the other batons with what they are about, and the command.
fn free_hint(free: &[Value], this: &str, may_force: bool) -> String {
    let rest = match may_force {
        true => format!(
            "wait for its wrap, or take it over: `baton pickup --handoff {this} --force --why REASON`"
        ),
        false => "wait for its wrap, or ask an operator, who may take it over".to_owned(),
    };
    let named: Vec<String> = free
        .iter()
        .take(3)
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default();
            let about = text("subject");
            let about = if about.is_empty() { String::new() } else { format!(" (\"{about}\")") };
            format!("`baton pickup --handoff {}`{about}", short(text("baton_id")))
        })
        .collect();
    match named.as_slice() {
        [] => format!("no other baton is open; {rest}"),
        _ => format!("pick up another: {}; {rest}", named.join(", ")),
    }
}

fn free_batons(tx: &mut Tx<'_>, env: &Env<'_>, this: &Baton) -> Result<Vec<Value>, Failure> {
    let mut free = Vec::new();
    for other in baton::unspent(tx, &this.project_id, 50)?.into_iter().filter(|b| b.baton_id != this.baton_id)
    {
        let holder = match &other.holder_session_id {
            Some(id) => session::get(tx, &this.project_id, id)?,
            None => None,
        };
        if other.state(holder.as_ref(), |holder| is_at_work(env, holder)) != State::Held {
            free.push(json!({ "baton_id": other.baton_id, "agent_identity": other.identity, "created_at": rfc3339(other.created_at),
                "subject": crate::card::subject(env, &other.summary) }));
        }
    }
    Ok(free)
}

fn already_holding_refusal(held: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "already_holding",
        format!("this session already holds baton {}", short(held)),
        "wrap it (baton wrap) or let go of it (baton end) before picking up another",
    )
    .with("baton_id", held)
}

/// The session with the verb that the roster shows: a pickup that brought nothing began it, or was a sign of life.
pub(super) fn with_verb<'a>(
    own: &'a mut Session,
    is_new: bool,
    (found, recovered): (&Option<Baton>, &[Session]),
) -> &'a mut Session {
    let verb = match (found.is_some() || !recovered.is_empty(), is_new) {
        (true, _) => Pickup::NAME,
        (false, true) => Start::NAME,
        (false, false) => Heartbeat::NAME,
    };
    verb.clone_into(&mut own.last_verb);
    own
}
