//! The identity of a caller that names none: an agent that began as `Worker` and calls again from the same process, as the shells
//! of a coding agent do, is `Worker` still.

use std::collections::BTreeSet;

use baton_model::id::{identity_key, is_shared_name};
use baton_model::session::Session;
use baton_store::{Failure, Tx, session};
use serde_json::Value;

use crate::op::{Cx, Env};
use crate::{resolve, token_rights};

/// The name under which the caller's process works: of the session that its environment names, else of the only open ones that
/// began in it, else of the last one; where some began in the project of the call, of those. None where the call or the environment
/// names an identity, or where there are several names.
pub(crate) fn look_up(cx: &mut Cx<'_>, input: &Value) -> Result<Option<String>, Failure> {
    let Cx { store, env } = cx;
    let caller = env.caller;
    let is_bound = caller.grant.bearer.as_ref().is_some_and(|bearer| bearer.identities.is_some());
    let is_known = caller.session.is_some() || !caller.location.process.is_empty();
    if caller.identity.is_some()
        || input.get("identity").is_some_and(|name| !name.is_null())
        || is_bound
        || !is_known
    {
        return Ok(None);
    }
    let mut sessions = store.read(|tx| match &caller.session {
        Some(id) => session_of_id(tx, id),
        None => Ok(session::of_process(tx, &caller.location)?),
    })?;
    // A process may work under one name in each project: what began in that of the call counts there.
    if is_of_several_projects(&sessions)
        && let Ok(here) = resolve::project_id(store, env, input.get("project").and_then(Value::as_str))
        && sessions.iter().any(|one| one.project_id == here)
    {
        sessions.retain(|one| one.project_id == here);
    }
    Ok(only_name(env, &sessions))
}

/// The session whose id, or the beginning of whose id, the environment names.
fn session_of_id(tx: &mut Tx<'_>, id: &str) -> Result<Vec<Session>, Failure> {
    let found = session::by_prefix(tx, id)?;
    let [(project_id, session_id)] = found.as_slice() else { return Ok(Vec::new()) };
    Ok(session::get(tx, project_id, session_id)?.into_iter().collect())
}

/// The name of the only open sessions of these, which are the newest first, else of the newest; unless it is one that many share.
fn only_name(env: &Env<'_>, sessions: &[Session]) -> Option<String> {
    let own = || sessions.iter().filter(|one| token_rights::may_act_in(env, one));
    let open: BTreeSet<String> =
        own().filter(|one| one.is_open()).map(|one| identity_key(&one.identity)).collect();
    let found = match open.len() {
        0 => own().next(),
        1 => own().find(|one| one.is_open()),
        _ => None,
    };
    found.map(|one| one.identity.clone()).filter(|name| !is_shared_name(name))
}

fn is_of_several_projects(sessions: &[Session]) -> bool {
    sessions.first().is_some_and(|first| sessions.iter().any(|one| one.project_id != first.project_id))
}
