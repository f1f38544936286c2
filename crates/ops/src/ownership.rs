//! Whether a caller is the agent of a session, by identity and process. Another agent's session is ended by force or not at all.
//!
//! A session is the caller's where its environment names it (`BATON_SESSION`, the memory of an MCP connection), where
//! both run in one process, and where the caller has the session's name and no other process is known to be at work in
//! it. `Bot` is the name of many, so that it proves nothing: there the process decides.

use baton_model::id::{caller_name, identity_key, is_shared_name, short};
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::{
    LeftBaton, ProcessLocation, ReleaseReason, Session, View, session_released_refusal,
};
use baton_store::{Failure, Tx, baton, session};

use crate::baton::{SpentReason, spending};
use crate::op::Env;
use crate::token_rights;

/// Whether the session began where the caller runs. Where neither has a process, all callers of a machine count as one.
pub(crate) fn is_here(env: &Env<'_>, session: &Session) -> bool {
    session.location == env.caller.location
}

/// Whether the caller is the agent of a session that it names. `name` is who it says that it is.
pub(crate) fn is_agent_of(env: &Env<'_>, session: &Session, name: Option<&str>) -> bool {
    if !token_rights::may_act_in(env, session) {
        return false;
    }
    if env.caller.session.as_deref().is_some_and(|id| is_id_of(id, session)) {
        return true;
    }
    // A token that is bound to an identity proves it.
    let proven = env.caller.grant.bearer.as_ref().is_some_and(|bearer| bearer.identities.is_some());
    let name =
        if proven { Some(session.identity.as_str()) } else { name.filter(|name| !is_shared_name(name)) };
    match name {
        Some(name) if identity_key(name) != identity_key(&session.identity) => false,
        // Where no process tells callers apart, a session that has a name is that name's.
        None if !is_shared_name(&session.identity)
            && !is_process_known(env)
            && env.caller.grant.bearer.is_none() =>
        {
            false
        }
        _ if is_here(env, session) => true,
        Some(_) => !is_at_work_elsewhere(env, session),
        // One that no name tells from others is left to the next only once its process is known to have ended.
        None => is_shared_name(&session.identity) && has_process_ended(env, session, &session.location),
    }
}

/// Whether another process of the same name may still be at work in the session.
pub(crate) fn is_at_work_elsewhere(env: &Env<'_>, session: &Session) -> bool {
    is_live_elsewhere(env, session, &session.location)
}

/// Whether what was taken in a session of a name, by a process of it, is that process's and not the caller's: both are
/// known, the session is fresh, and the environment of the caller does not say that it is in that session.
pub(crate) fn is_held_elsewhere(env: &Env<'_>, session: &Session, place: &ProcessLocation) -> bool {
    let is_callers = env.caller.session.as_deref().is_some_and(|id| is_id_of(id, session));
    !is_shared_name(&session.identity)
        && !is_callers
        && *place != env.caller.location
        && is_live_elsewhere(env, session, place)
}

/// Whether the agent of a session may still be working: the session is fresh, and its process is not known to have ended.
pub(crate) fn is_at_work(env: &Env<'_>, session: &Session) -> bool {
    session.is_fresh(env.now, env.limits) && !has_other_process_ended(env, session)
}

/// Whether the process of a session is known to have ended. The caller's own runs: the client of a server is not asked.
pub(crate) fn has_other_process_ended(env: &Env<'_>, session: &Session) -> bool {
    session.location != env.caller.location && has_process_ended(env, session, &session.location)
}

/// Whether the process of a place at which a session works is known to have ended. What the client of a token says of the processes of
/// others counts for nothing.
pub(crate) fn has_process_ended(env: &Env<'_>, session: &Session, place: &ProcessLocation) -> bool {
    let is_believed = !env.host.only_caller_answers(place) || token_rights::may_act_in(env, session);
    is_believed && env.host.has_process_ended(place)
}

/// A session as the roster shows it; one whose process has ended is neither live nor fresh.
pub(crate) fn view(env: &Env<'_>, session: &Session) -> View {
    let is_named = env.caller.session.as_deref().is_some_and(|id| is_id_of(id, session));
    let is_own = is_named || (is_process_known(env) && is_here(env, session));
    let [own, other] = [&env.caller.location.machine, &session.location.machine];
    let view = View {
        is_elsewhere: !own.is_empty() && !other.is_empty() && own != other,
        is_own: is_own && token_rights::may_act_in(env, session),
        ..session.view(env.now, env.limits)
    };
    if view.fresh && has_other_process_ended(env, session) {
        return View { live: false, fresh: false, ..view };
    }
    view
}

fn is_live_elsewhere(env: &Env<'_>, session: &Session, place: &ProcessLocation) -> bool {
    let is_known = !place.process.is_empty() && is_process_known(env);
    is_known && session.is_fresh(env.now, env.limits) && !has_process_ended(env, session, place)
}

fn is_process_known(env: &Env<'_>) -> bool {
    !env.caller.location.process.is_empty()
}

fn is_id_of(id: &str, session: &Session) -> bool {
    id == session.session_id || id.len() >= 4 && session.session_id.starts_with(id)
}

/// Refuses a session in which the caller is not the agent.
pub(crate) fn require_agent(env: &Env<'_>, session: &Session, name: Option<&str>) -> Result<(), Refusal> {
    token_rights::require_access(env, session)?;
    if is_agent_of(env, session, name) { Ok(()) } else { Err(session_of_another_refusal(env, session)) }
}

/// The refusal for a session of another agent.
pub(crate) fn session_of_another_refusal(env: &Env<'_>, session: &Session) -> Refusal {
    if !token_rights::may_act_in(env, session) {
        return token_rights::session_not_permitted_refusal(env, session);
    }
    let id = short(&session.session_id);
    Refusal::new(
        Kind::Conflict,
        "session_not_yours",
        format!("session {id} belongs to {}, {}", session.describe(env.now), session.location.describe()),
        "if you are its agent, say its name with --as and call from the process in which it began, or set BATON_SESSION to its id; \
         else work without --session, under a name of your own; `baton end` and `baton wrap` take it over with --force --why REASON",
    )
    .with("session_id", session.session_id.clone())
    .with("identity", session.identity.clone())
    .with("process", session.location.process.clone())
}

/// The refusal of any verb of a session that was released: it says what became of the baton that it left.
pub(crate) fn release_refusal(tx: &mut Tx<'_>, env: &Env<'_>, session: &Session) -> Result<Refusal, Failure> {
    let has_wrapped =
        session.release.as_ref().is_some_and(|release| release.reason == ReleaseReason::Wrapped);
    let left = match has_wrapped {
        true => baton::of_session(tx, &session.project_id, &session.session_id)?,
        false => None,
    };
    let left = match left {
        Some(left) => Some(match (spending(tx, &left)?.map(|spent| spent.reason), &left.holder_session_id) {
            (Some(SpentReason::Finished), _) => LeftBaton::Finished,
            (Some(SpentReason::Withdrawn), _) => LeftBaton::Withdrawn,
            (None, None) => LeftBaton::Waiting,
            _ => LeftBaton::Continued,
        }),
        None => None,
    };
    Ok(session_released_refusal(session, left, env.now))
}

/// The refusal for an unnamed caller of whose process no session is open, where there are others of the kind.
pub(crate) fn none_here(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
) -> Result<Refusal, Failure> {
    let open = session::open_of(tx, project_id, who)?;
    let others: Vec<String> = open.iter().map(|one| one.session_id.clone()).collect();
    let what = format!("no session of {} in this process is open in project {project_id}", caller_name(who));
    let named = session::open(tx, project_id)?.into_iter().find(|one| is_here(env, one));
    let hint = match others.is_empty() {
        true if let Some(named) = &named => format!(
            "session {} of {1} is open in this process: if that is you, say `--as {1}`; else begin with `baton start`",
            short(&named.session_id),
            named.identity
        ),
        true => "begin with `baton start`, or continue somebody's work with `baton pickup`".to_owned(),
        false => "begin with `baton start`; if one of the others is yours, name it with BATON_SESSION or --session, and work \
                  under a name (--as NAME) by which you are known again"
            .to_owned(),
    };
    let place = env.caller.location.describe();
    Ok(Refusal::new(Kind::NotFound, "no_session", format!("{what}: {place}"), hint)
        .with("candidates", others))
}

/// The refusal for a name that has no open session in a project. One in the same folder that another project had before is named.
pub(crate) fn no_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    identity: &str,
) -> Result<Refusal, Failure> {
    let caller = env.caller;
    let here = caller.git_root.as_ref().or(caller.folders.first());
    let is_here = |one: &Session| {
        one.location.machine == caller.location.machine
            && here.is_some()
            && one.working_copy.as_ref().map(|copy| &copy.root) == here
            && identity_key(&one.identity) == identity_key(identity)
            && one.project_id != project_id
            && caller.grant.reaches(&one.project_id)
    };
    let elsewhere = session::open_everywhere(tx)?.into_iter().find(is_here);
    let named = format!(" --as {identity}");
    let hint = match &elsewhere {
        Some(one) => format!(
            "session {} of {identity} in this folder is one of project {1}: say `--project {1}`; or begin anew with `baton start{named}`",
            short(&one.session_id),
            one.project_id
        ),
        None => {
            format!("begin with `baton start{named}`, or continue somebody's work with `baton pickup{named}`")
        }
    };
    let what = format!("{identity} has no open session in project {project_id}");
    Ok(Refusal::new(Kind::NotFound, "no_session", what, hint))
}
