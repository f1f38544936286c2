//! `session_heartbeat`: a session says that it is still there.

use baton_model::liveness;
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::{Limits, Session};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, session, session_open, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Env, Meta, Operation, Retention};
use crate::resolve;
use crate::token_rights;

/// Keeps a session fresh.
pub struct Heartbeat;

/// Input of `session_heartbeat`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that is still there.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that is still there; else the identity's one open session.
    #[serde(default)]
    pub session: Option<String>,
    /// Every open session of the caller's own process, and no other, whatever its identity.
    #[serde(default)]
    pub here: bool,
}

/// Answer of `session_heartbeat`.
#[derive(Serialize, Deserialize)]
pub struct HeartbeatOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// Time of its last heartbeat.
    pub last_heartbeat: String,
}

impl Operation for Heartbeat {
    const META: Meta = Meta::write("session_heartbeat", "Say that a session is still there")
        .retention(Retention::Nothing)
        .changes_tasks();
    type Input = HeartbeatInput;
    type Output = HeartbeatOutput;

    /// Keeps the heartbeat outside the ledger where the host can, and writes it to the ledger only now and then.
    /// Written relaxed: a crash of the machine may lose it, which is harmless. The last verb stays what it was.
    fn run(input: HeartbeatInput, cx: &mut Cx<'_>) -> Result<HeartbeatOutput, Failure> {
        let here = resolve::project_id(cx.store, &cx.env, input.project.as_deref());
        let no = match here.and_then(|project_id| beat(&input, cx, &project_id)) {
            Err(Failure::Refused(no)) if no.kind == Kind::NotFound => no,
            answer => return answer,
        };
        // A session is found by its id, wherever its agent calls from.
        let Some(id) = input.session.as_deref().filter(|_| input.project.is_none()) else {
            return Err(no.into());
        };
        match project_of(cx, id)? {
            Some(project_id) => beat(&input, cx, &project_id),
            None => Err(no.into()),
        }
    }
}

/// The project of the one session with this id, among those that the caller reaches.
fn project_of(cx: &mut Cx<'_>, id: &str) -> Result<Option<String>, Failure> {
    let Cx { store, env } = cx;
    let found = store.read(|tx| Ok(session::by_prefix(tx, id)?))?;
    let mut reached =
        found.into_iter().filter(|(project_id, full)| full == id && env.caller.grant.reaches(project_id));
    Ok(reached.next().map(|(project_id, _)| project_id))
}

fn beat(input: &HeartbeatInput, cx: &mut Cx<'_>, project_id: &str) -> Result<HeartbeatOutput, Failure> {
    if cx.env.host.keeps_beats()
        && let Some(stored) = keep_beside(input, cx, project_id)?
    {
        return Ok(stored);
    }
    let Cx { store, env } = cx;
    store.write_relaxed(|tx| {
        resolve::require_project(tx, project_id)?;
        if input.here {
            return beat_here(tx, env, project_id);
        }
        let (session, who) = (input.session.as_deref(), input.identity.as_deref());
        let own = resolve::open_for_heartbeat(tx, env, project_id, session, who)?;
        if !session::keep_alive(tx, &own, env.now)? {
            // Released by another connection since it was read.
            let released = resolve::session_by_id(tx, project_id, &own.session_id)?;
            return Err(crate::ownership::release_refusal(tx, env, &released)?.into());
        }
        Ok(HeartbeatOutput::of(own, env))
    })
}

impl HeartbeatOutput {
    fn of(session: Session, env: &Env<'_>) -> Self {
        Self {
            project_id: session.project_id,
            identity: session.identity,
            session_id: session.session_id,
            last_heartbeat: rfc3339(env.now),
        }
    }
}

/// Keeps a heartbeat outside the ledger, which is read only to check that the session is open. `None` if it must go to
/// the ledger: the persisted heartbeat is too old, the host keeps none, or there is something to refuse.
fn keep_beside(
    input: &HeartbeatInput,
    cx: &mut Cx<'_>,
    project_id: &str,
) -> Result<Option<HeartbeatOutput>, Failure> {
    let Cx { store, env } = cx;
    let until_first_token = env.caller.grant.until_first_token;
    let found = store.read(|tx| {
        if let Some(id) = input.session.as_deref().or(env.caller.session.as_deref()) {
            tx.prefetch(|tx| {
                drop(session::get(tx, project_id, id));
                drop(session::persisted_heartbeat(tx, project_id, id));
                drop(until_first_token.then(|| token::has_any(tx)));
            });
        }
        if until_first_token && token::has_any(tx)? {
            return Ok(Vec::new());
        }
        let own = match input.here {
            true => sessions_here(tx, env, project_id)?,
            false => {
                let (session, who) = (input.session.as_deref(), input.identity.as_deref());
                vec![resolve::open_for_heartbeat(tx, env, project_id, session, who)?]
            }
        };
        for session in &own {
            let (kept_at, lease) = session::persisted_heartbeat(tx, project_id, &session.session_id)?;
            let promised =
                Limits { stale_after: env.limits.stale_after.min(session.stale_after), ..env.limits };
            if liveness::is_due(kept_at, env.now, liveness::lag(promised, lease)) {
                return Ok(Vec::new());
            }
        }
        Ok(own)
    });
    let own = match found {
        Ok(own) => own,
        Err(Failure::Refused(_)) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let is_stored = own.iter().all(|session| env.host.keep_beat(session, env.now));
    Ok(own.into_iter().next_back().filter(|_| is_stored).map(|newest| HeartbeatOutput::of(newest, env)))
}

/// The open sessions of the caller's process; none where that is unknown.
fn sessions_here(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Vec<Session>, Failure> {
    let mut here = session_open::at(tx, project_id, &env.caller.location)?;
    here.retain(|one| token_rights::may_act_in(env, one));
    Ok(here)
}

/// Keeps the sessions of the caller's process alive and answers with the newest of them.
fn beat_here(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<HeartbeatOutput, Failure> {
    let mut newest = None;
    for own in sessions_here(tx, env, project_id)? {
        if session::keep_alive(tx, &own, env.now)? {
            newest = Some(own);
        }
    }
    let own = newest.ok_or_else(|| {
        Refusal::new(
            Kind::NotFound,
            "no_session",
            format!("no session of this process is open in project {project_id}"),
            "begin with `baton start`, or continue somebody's work with `baton pickup`",
        )
    })?;
    Ok(HeartbeatOutput::of(own, env))
}
