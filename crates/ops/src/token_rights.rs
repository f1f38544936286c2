//! What a token may do in the name of an identity, where the ledger has to say it: whose sessions are whose, which names are free.
//!
//! The local user, who reaches the store itself, may act in every session. A token that is bound to identities may act
//! as these and in their sessions. An unbound one acts as `token:NAME`, in the sessions that were opened with it, and
//! under names that are not in use by others.

use baton_model::access::Bearer;
use baton_model::id::{identity_key, is_shared_name, short, visible};
use baton_model::lease::FileLease;
use baton_model::refusal::{Kind, Refusal};
use baton_model::route;
use baton_model::session::Session;
use baton_store::{Failure, Tx, handoff, lease, session, task, token};

use crate::agent;
use crate::handoff::details::HandoffDetails;
use crate::op::Env;
use crate::task::is_claim_live;

/// The token of the call, as a session keeps it.
pub(crate) fn token_id(env: &Env<'_>) -> Option<String> {
    env.caller.grant.bearer.as_ref().map(|bearer| bearer.token_id.clone())
}

/// Whether the caller may act in this session.
pub(crate) fn may_act_in(env: &Env<'_>, session: &Session) -> bool {
    let bearer = env.caller.grant.bearer.as_ref();
    bearer.is_none_or(|bearer| bearer.owns(&session.identity, session.opened_by.as_deref()))
}

/// Refuses a session that is not the caller's.
pub(crate) fn require_access(env: &Env<'_>, session: &Session) -> Result<(), Refusal> {
    if may_act_in(env, session) { Ok(()) } else { Err(session_not_permitted_refusal(env, session)) }
}

/// The refusal for a session that the caller may not act in.
pub(crate) fn session_not_permitted_refusal(env: &Env<'_>, session: &Session) -> Refusal {
    let what = match &env.caller.grant.bearer {
        Some(bearer) => format!("which the token `{}` did not open", bearer.name),
        None => "not to who asks".to_owned(),
    };
    Refusal::new(
        Kind::Conflict,
        "session_not_yours",
        format!("session {} belongs to {}, {what}", short(&session.session_id), session.identity),
        "work as its identity with a token made for it (`baton token create --identity NAME`), or take over with \
         --force --why REASON, for which a token needs the scope operator",
    )
    .with("session_id", session.session_id.clone())
    .with("identity", session.identity.clone())
}

/// Refuses a name that is taken: an unbound token may act only under names that no other token is bound to, under which no
/// other caller has a fresh session, and under which no other caller holds a task, a lease or a hand-off.
pub(crate) fn require_name_available(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    name: &str,
) -> Result<(), Failure> {
    let Some(bearer) = unbound(env) else { return Ok(()) };
    if is_shared_name(name) && name == bearer.actor() {
        return Ok(());
    }
    require_unreserved(tx, env, project_id, name)?;
    let open = session::open_of(tx, project_id, name)?;
    match open.iter().find(|one| one.is_fresh(env.now, env.limits) && !may_act_in(env, one)) {
        Some(holder) => {
            Err(name_taken_refusal(bearer, name, &format!("is at work here: {}", holder.describe(env.now)))
                .into())
        }
        None => require_nothing_held(tx, env, (project_id, name), &open),
    }
}

/// Refuses to begin under a name under which another caller holds a task, a lease or a hand-off, whether it is at work or not.
pub(crate) fn require_nothing_held(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, name): (&str, &str),
    open: &[Session],
) -> Result<(), Failure> {
    let Some(bearer) = unbound(env) else { return Ok(()) };
    if is_shared_name(name) && name == bearer.actor() || open.iter().any(|one| may_act_in(env, one)) {
        return Ok(());
    }
    match held_by_others(tx, env, project_id, name)? {
        Some(held) => {
            Err(name_taken_refusal(bearer, name, &format!("holds {held}, taken by another caller")).into())
        }
        None => Ok(()),
    }
}

/// Something that is held under a name, and was not taken with the token of the call.
fn held_by_others(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    name: &str,
) -> Result<Option<String>, Failure> {
    let (key, own) = (identity_key(name), token_id(env));
    for task in task::claimed_by(tx, project_id, &key)? {
        let is_own = task.claim.as_ref().is_none_or(|claim| claim.access_token_id == own);
        if !is_own && !route::awaits_start(&task) && is_claim_live(tx, env, &task)? {
            return Ok(Some(format!("task {}", task.task_id)));
        }
    }
    let leases = lease::held_leases(tx, project_id, env.now)?;
    let is_others = |one: &&FileLease| identity_key(&one.identity) == key && one.access_token_id != own;
    if let Some(other) = leases.iter().find(is_others) {
        return Ok(Some(format!("the lease on {}", visible(&other.pattern))));
    }
    let accepted = handoff::accepted(tx, project_id)?.into_iter().find(|one| {
        let details = HandoffDetails::of(one);
        details.accepted_as.as_deref().is_some_and(|by| identity_key(by) == key)
            && details.accepted_access_token != own
    });
    Ok(accepted.map(|one| format!("hand-off {}", short(&one.handoff_id))))
}

/// Refuses an unbound token a name that another valid token is bound to. Active sessions are checked by the same-identity rule.
pub(crate) fn require_unreserved(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    name: &str,
) -> Result<(), Failure> {
    let Some(bearer) = unbound(env) else { return Ok(()) };
    let key = identity_key(name);
    for other in token::list(tx)?.iter().filter(|one| one.is_valid(env.now) && one.grant.reaches(project_id))
    {
        if other.identities().is_some_and(|names| names.iter().any(|name| identity_key(name) == key)) {
            return Err(name_taken_refusal(bearer, name, "belongs to another token").into());
        }
    }
    Ok(())
}

/// Refuses to write for this name, as which the caller need not act: its key, its mailbox.
pub(crate) fn require_may_be(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    name: &str,
) -> Result<(), Failure> {
    if let Some(bearer) = &env.caller.grant.bearer
        && name != bearer.actor()
    {
        bearer.identity(Some(name))?;
    }
    require_name_available(tx, env, project_id, name)
}

/// Refuses what an unbound token may not do in the name of a known agent, also while it is away: write its key, mark its mail.
pub(crate) fn require_unregistered(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    name: &str,
) -> Result<(), Failure> {
    let Some(bearer) = unbound(env).filter(|bearer| name != bearer.actor()) else { return Ok(()) };
    match agent::first_name(tx, project_id, name)? {
        Some(_) => Err(name_taken_refusal(bearer, name, "is known here").into()),
        None => Ok(()),
    }
}

/// Refuses to mark the mail of a known agent, also while it is away, for a token that opened no session under its name.
pub(crate) fn require_mailbox(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    name: &str,
) -> Result<(), Failure> {
    require_may_be(tx, env, project_id, name)?;
    if session::open_of(tx, project_id, name)?.iter().any(|own| may_act_in(env, own)) {
        return Ok(());
    }
    require_unregistered(tx, env, project_id, name)
}

/// Whether the caller may act as this name for good: the local user, a token bound to identities, or an unbound one's own actor.
pub(crate) fn is_bound_or_local(env: &Env<'_>, name: &str) -> bool {
    unbound(env).is_none_or(|bearer| name == bearer.actor())
}

fn unbound<'a>(env: &Env<'a>) -> Option<&'a Bearer> {
    env.caller.grant.bearer.as_ref().filter(|bearer| bearer.identities.is_none())
}

fn name_taken_refusal(bearer: &Bearer, name: &str, why: &str) -> Refusal {
    Refusal::new(
        Kind::Forbidden,
        "identity_not_yours",
        format!("the token `{}` is bound to no identity, and {name} {why}", bearer.name),
        "leave the identity out, take another name, or ask for a token made with `baton token create --identity NAME`",
    )
    .with("identity", name)
}
