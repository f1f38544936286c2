//! Who is asking, in which project, in which session: said in every answer, never guessed.

use baton_model::access::Grant;
use baton_model::id::{BOT, check_identity, check_project, identity_key, is_shared_name};
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::Session;
use baton_model::suggest::suggestions;
use baton_store::{Failure, Store, Tx, project, session};
use serde_json::{Value, json};

pub(crate) use crate::id_prefix::{ambiguous_id_refusal, object_by_prefix};
use crate::op::{Caller, Cx, Env};
use crate::{caller_project, ownership, token_rights};

/// The project of a call: its argument, else the environment, else the working directory. To a token that does not reach
/// it, it is as if it were not there.
pub(crate) fn project_id(store: &mut Store, env: &Env<'_>, named: Option<&str>) -> Result<String, Failure> {
    let caller = env.caller;
    let found = match named.or(caller.project.as_deref()) {
        Some(name) => {
            check_project(name)?;
            caller.id_of(name).to_owned()
        }
        None => caller_project::of_caller(store, env, caller)?,
    };
    if caller.grant.reaches(&found) { Ok(found) } else { Err(no_project_refusal(&found).into()) }
}

/// The project of a call; where neither a name nor the caller's folder says it, that of the session with this id.
pub(crate) fn project_of(
    cx: &mut Cx<'_>,
    named: Option<&str>,
    session: Option<&str>,
) -> Result<String, Failure> {
    let Cx { store, env } = cx;
    let unresolved = match project_id(store, env, named) {
        Err(Failure::Refused(refusal)) if refusal.code == "project_unresolved" => refusal,
        found => return found,
    };
    let Some(id) = session.filter(|id| id.len() >= 4 && id.is_ascii()) else { return Err(unresolved.into()) };
    let found = store.read(|tx| Ok(session::by_prefix(tx, id)?))?;
    let mut reached =
        found.into_iter().map(|(project, _)| project).filter(|project| env.caller.grant.reaches(project));
    match (reached.next(), reached.next()) {
        (Some(project), None) => Ok(project),
        _ => Err(unresolved.into()),
    }
}

/// Refuses a caller whose environment names a project that is not there, also where it looks into all of them.
pub(crate) fn check_callers_project(store: &mut Store, env: &Env<'_>) -> Result<(), Failure> {
    if env.caller.project.is_none() {
        return Ok(());
    }
    let own = project_id(store, env, None)?;
    store.read(|tx| require_project(tx, &own))
}

/// The code of a refusal for a project that is not registered.
pub(crate) const UNKNOWN: &str = "project_unknown";

/// The refusal for a project that is not registered.
pub(crate) fn no_project_refusal(project_id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        UNKNOWN,
        format!("there is no project `{project_id}`"),
        "`baton project list` names the known ones; `baton init --id ID` registers this folder",
    )
    .with("project_id", project_id)
}

/// Adds to the refusal of an unknown project the known names that are near it, as far as the caller reaches them.
pub(crate) fn suggest_projects(failure: Failure, store: &mut Store, grant: &Grant) -> Failure {
    let Failure::Refused(refusal) = failure else { return failure };
    let named = refusal.details.get("project_id").and_then(Value::as_str).map(str::to_owned);
    let Some(named) = named.filter(|_| refusal.code == UNKNOWN) else { return refusal.into() };
    let known = store.read(|tx| reached_words(tx, grant)).unwrap_or_default();
    let near = suggestions(&named, known.iter().map(String::as_str));
    let way = match &grant.projects {
        Some(reached) => format!("this token sees: {}", reached.join(", ")),
        None => refusal.hint.clone(),
    };
    if near.is_empty() {
        return Refusal { hint: way, ..refusal }.into();
    }
    let hint = format!("did you mean {}? {way}", near.join(" or "));
    Refusal { hint, ..refusal }.with("near", json!(near)).into()
}

/// The ids of the projects that a caller reaches, and what those are called that were renamed.
pub(crate) fn reached_words(tx: &mut Tx<'_>, grant: &Grant) -> Result<Vec<String>, Failure> {
    let mut known = project::ids(tx)?;
    known.retain(|id| grant.reaches(id));
    let names = project::given_names(tx)?.into_iter().filter(|(id, _)| grant.reaches(id));
    known.extend(names.map(|(_, name)| name));
    Ok(known)
}

/// Refuses unless the transaction holds the project's row.
pub(crate) fn require(tx: &Tx<'_>, project_id: &str) -> Result<(), Refusal> {
    if tx.has_project(project_id) { Ok(()) } else { Err(no_project_refusal(project_id)) }
}

/// Refuses unless the project is registered; for reads, which take no project's row.
pub(crate) fn require_project(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    match project::get(tx, project_id)? {
        Some(_) => Ok(()),
        None => Err(no_project_refusal(project_id).into()),
    }
}

/// The identity of a call: its argument, else the environment, else `Bot`. Through a token it is one that the token may act as.
pub(crate) fn identity(caller: &Caller, named: Option<&str>) -> Result<String, Refusal> {
    let named = named.or(caller.identity.as_deref());
    if let Some(bearer) = &caller.grant.bearer {
        return bearer.identity(named);
    }
    let name = named.unwrap_or(BOT);
    check_identity(name)?;
    Ok(name.to_owned())
}

/// The session named by an id or a unique prefix of one.
pub(crate) fn session_by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Session, Failure> {
    if let Some(session) = session::get(tx, project_id, id)? {
        return Ok(session);
    }
    let unknown = || {
        Refusal::new(
            Kind::NotFound,
            "session_unknown",
            format!("project {project_id} has no session `{}`", baton_model::id::visible(id)),
            "`baton status` lists the open ones",
        )
    };
    if id.len() < 4 || !id.is_ascii() {
        return Err(unknown().into());
    }
    let ids: Vec<String> =
        session::by_prefix(tx, id)?.into_iter().filter(|(p, _)| p == project_id).map(|(_, s)| s).collect();
    match ids.as_slice() {
        [one] => session::get(tx, project_id, one)?.ok_or_else(|| unknown().into()),
        [] => Err(unknown().into()),
        many => Err(ambiguous_id_refusal("session", id, many).into()),
    }
}

/// The session that a verb acts in: the named one, else the one of this process, else the identity's one open session
/// here, else its last one, if another agent's act ended that. It may be released: the caller decides what a late call
/// leaves behind.
pub(crate) fn acting(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
    identity_arg: Option<&str>,
) -> Result<Session, Failure> {
    let session = select_session(tx, env, project_id, named, identity_arg)?;
    ownership::require_agent(env, &session, stated_name(env, identity_arg))?;
    Ok(session)
}

/// The name that the caller gives itself, if it gives one.
pub(crate) fn stated_name<'a>(env: &'a Env<'_>, argument: Option<&'a str>) -> Option<&'a str> {
    argument.or(env.caller.identity.as_deref())
}

/// The open session that a heartbeat is for; a supervisor of the agent may send it from another process.
pub(crate) fn open_for_heartbeat(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
    identity_arg: Option<&str>,
) -> Result<Session, Failure> {
    let session = select_session(tx, env, project_id, named, identity_arg)?;
    token_rights::require_access(env, &session)?;
    if session.is_open() { Ok(session) } else { Err(ownership::release_refusal(tx, env, &session)?.into()) }
}

/// The session that a call names, or that of its process or identity. It may belong to another identity, for callers that may take it
/// by force, and may be released.
pub(crate) fn select_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
    identity_arg: Option<&str>,
) -> Result<Session, Failure> {
    let who = identity(env.caller, identity_arg)?;
    if let Some(id) = named.or(env.caller.session.as_deref()) {
        let session = session_by_id(tx, project_id, id)?;
        if let Some(name) = identity_arg
            && identity_key(name) != identity_key(&session.identity)
        {
            return Err(ownership::session_of_another_refusal(env, &session).into());
        }
        return Ok(session);
    }
    let mut open = own_open(tx, env, project_id, &who)?;
    match open.len() {
        1 => Ok(open.remove(0)),
        0 => match released_here(tx, env, project_id, &who)? {
            Some(released) => Ok(released),
            None if is_shared_name(&who) => Err(ownership::none_here(tx, env, project_id, &who)?.into()),
            None => match ousted(tx, env, project_id, &who)? {
                Some(session) => Ok(session),
                None => Err(ownership::no_session(tx, env, project_id, &who)?.into()),
            },
        },
        _ => Err(several_refusal(&who, &open).into()),
    }
}

/// Every verb is a heartbeat: records one for the caller's own session, named or of this process. Refuses a caller whose session was
/// released, and a name that another one has.
pub(crate) fn admit_and_beat(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
    verb: &str,
) -> Result<(), Failure> {
    beat_session(tx, env, project_id, who, verb).map(drop)
}

/// The same; returns the session of the heartbeat as it was before.
pub(crate) fn beat_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
    verb: &str,
) -> Result<Option<Session>, Failure> {
    let own = match &env.caller.session {
        Some(id) => refuse_released(tx, env, (project_id, id))?,
        None => {
            token_rights::require_name_available(tx, env, project_id, who)?;
            let mut here = session::open_of(tx, project_id, who)?;
            here.retain(|s| {
                s.location == env.caller.location
                    && !s.location.process.is_empty()
                    && token_rights::may_act_in(env, s)
            });
            if here.is_empty()
                && let Some(ousted) = preempted_in_process(tx, env, project_id, who)?
            {
                return Err(ownership::release_refusal(tx, env, &ousted)?.into());
            }
            if here.len() == 1 { here.pop() } else { None }
        }
    };
    if let Some(own) = &own {
        session::beat(tx, own, verb, env.now)?;
    }
    Ok(own)
}

/// A caller that names a session that was released is refused by every verb.
fn refuse_released(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, id): (&str, &str),
) -> Result<Option<Session>, Failure> {
    match session::get(tx, project_id, id)? {
        Some(session) if !token_rights::may_act_in(env, &session) => {
            Err(token_rights::session_not_permitted_refusal(env, &session).into())
        }
        Some(session) if !session.is_open() => Err(ownership::release_refusal(tx, env, &session)?.into()),
        open_or_none => Ok(open_or_none),
    }
}

/// The open session in which an identity acts by default: the caller's, if it belongs to the identity, else its only
/// open one.
pub(crate) fn default_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
) -> Result<Option<Session>, Failure> {
    match &env.caller.session {
        Some(id) => {
            let own = refuse_released(tx, env, (project_id, id))?;
            Ok(own.filter(|s| identity_key(&s.identity) == identity_key(who)))
        }
        None => only_open_session(tx, env, project_id, who),
    }
}

/// The caller's open session under a name, if it has one.
pub(crate) fn open_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
) -> Result<Option<Session>, Failure> {
    match default_session(tx, env, project_id, who) {
        Err(Failure::Refused(_)) => Ok(None),
        own => own,
    }
}

/// The open session of a verb that needs none: neither named nor ambiguous.
pub(crate) fn only_open_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
) -> Result<Option<Session>, Failure> {
    let mut open = own_open(tx, env, project_id, who)?;
    open.retain(|one| token_rights::may_act_in(env, one));
    Ok(if open.len() == 1 { open.pop() } else { None })
}

/// The open sessions that may be the caller's: those of its process; else, unless its own was released, those of its
/// identity.
fn own_open(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, who: &str) -> Result<Vec<Session>, Failure> {
    let place = &env.caller.location;
    let mut open = session::open_of(tx, project_id, who)?;
    // Of several of a name, those are meant in which the caller may act.
    if open.iter().any(|one| token_rights::may_act_in(env, one)) {
        open.retain(|one| token_rights::may_act_in(env, one));
    }
    // An unnamed caller is identified by its process; callers without one count as one for each machine.
    if is_shared_name(who) {
        open.retain(|one| ownership::is_here(env, one));
        return Ok(open);
    }
    if !place.process.is_empty() && open.iter().any(|s| s.location == *place) {
        return Ok(open.into_iter().filter(|s| s.location == *place).collect());
    }
    Ok(if released_here(tx, env, project_id, who)?.is_some() { Vec::new() } else { open })
}

/// The newest session of this identity in this process, if it was released: a caller that names no session is that one
/// still, and never another one of the same name.
fn released_here(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
) -> Result<Option<Session>, Failure> {
    let place = &env.caller.location;
    if place.process.is_empty() {
        return Ok(None);
    }
    Ok(session::last_at(tx, project_id, who, place)?.filter(|s| !s.is_open()))
}

/// The newest session of this identity in this process, if another one's act ended it: its agent hears so on every verb that
/// writes, until it begins anew.
pub(crate) fn preempted_in_process(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    who: &str,
) -> Result<Option<Session>, Failure> {
    let by_another = |last: &Session| {
        last.release.as_ref().is_some_and(|by| identity_key(&by.by) != identity_key(&last.identity))
    };
    let last = released_here(tx, env, project_id, who)?;
    Ok(last.filter(|last| last.is_preempted() && by_another(last) && token_rights::may_act_in(env, last)))
}

/// The last session of a name, if another one's act ended it and it is the caller's. Its agent may not have heard of that, so that
/// what it sends by name belongs to this session.
fn ousted(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, who: &str) -> Result<Option<Session>, Failure> {
    let last = session::last_of(tx, project_id, who)?;
    Ok(last.filter(|last| last.is_preempted() && ownership::is_agent_of(env, last, Some(who))))
}

/// The session that a verb acts in, refused when it was released.
pub(crate) fn acting_open(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
    identity_arg: Option<&str>,
) -> Result<Session, Failure> {
    let session = acting(tx, env, project_id, named, identity_arg)?;
    if session.is_open() { Ok(session) } else { Err(ownership::release_refusal(tx, env, &session)?.into()) }
}

fn several_refusal(identity: &str, open: &[Session]) -> Refusal {
    let ids: Vec<&str> = open.iter().map(|s| s.session_id.as_str()).collect();
    Refusal::new(
        Kind::Refused,
        "session_ambiguous",
        format!("{identity} has {} open sessions here", open.len()),
        format!("say which with --session: {}", ids.join(", ")),
    )
    .with("candidates", json!(ids))
}
