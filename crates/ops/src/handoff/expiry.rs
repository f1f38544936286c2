//! A hand-off whose deadline passes before it was taken.

use baton_model::access::Grant;
use baton_model::handoff::{EXPIRED, Event, Handoff, State};
use baton_model::time::Millis;
use baton_store::{Failure, Store};
use serde_json::Value;

use super::steps::close_row;
use super::{by_id, claimant, record, task_end};
use crate::op::Env;
use crate::saga::{SYSTEM_IDENTITY, apply_event};

/// Expires a hand-off that is past its deadline, before it is answered: no server may be running that does so in time.
pub(crate) fn expire_overdue(store: &mut Store, env: &mut Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    match handoff.expires_at {
        Some(deadline) if deadline <= env.now => expire(store, env, &handoff.handoff_id),
        _ => Ok(()),
    }
}

/// Writes down that a hand-off has expired, where a call was refused for that, and passes on what the call came to.
pub(crate) fn settle<T>(
    store: &mut Store,
    env: &mut Env<'_>,
    done: Result<T, Failure>,
) -> Result<T, Failure> {
    let Err(Failure::Refused(no)) = &done else { return done };
    let field = |name: &str| no.details.get(name).and_then(Value::as_str);
    if no.code == "handoff_state"
        && field("state") == Some(State::Expired.as_str())
        && let Some(id) = field("handoff_id")
    {
        expire(store, env, id)?;
    }
    done
}

/// When a hand-off expired: at its deadline, whichever call looked first after that; never before its last change.
fn expired_at(before: &Handoff, now: Millis) -> Millis {
    before.expires_at.unwrap_or(now).max(before.updated_at).min(now)
}

/// Expires it, unless it was taken meanwhile.
pub(crate) fn expire(store: &mut Store, env: &mut Env<'_>, id: &str) -> Result<(), Failure> {
    let known = store.read(|tx| by_id(tx, &Grant::default(), id))?;
    store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
        let mut before = by_id(tx, &Grant::default(), id)?;
        task_end::end_if_closed(tx, env, &mut before)?;
        let Ok(state) = before.state.advance(Event::Expire) else { return Ok(()) };
        // Who works on its task has taken it.
        if claimant::held_task(tx, env, &before)?.is_some() {
            return Ok(());
        }
        let mut after = Handoff { state, updated_at: expired_at(&before, env.now), ..before };
        after.result = Some(EXPIRED.to_owned());
        record(tx, env, &after, SYSTEM_IDENTITY)?;
        apply_event(tx, env, &mut after, Event::Expire)?;
        close_row(tx, env, &after)
    })
}
