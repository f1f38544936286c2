//! `session_show`: one session, by its id, with the way that its work came.

use baton_model::refusal::{Kind, Refusal};
use baton_model::session::{ProcessLocation, Session};
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, session, state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::history::{HistoryRow, row};
use super::received_handoff::SessionState;
use crate::op::{Cx, Env, Meta, Operation};
use crate::project::VisibleProjects;
use crate::resolve;

/// The most sessions of a way.
const MAX_CHAIN: i64 = 50;

/// Shows a session.
pub struct Show;

/// Input of `session_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// The session, by its id or a unique prefix of it.
    pub session: String,
    /// Project id; else the session is looked for in all that the caller reaches.
    #[serde(default)]
    pub project: Option<String>,
}

/// A session on the way of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineageEntry {
    /// Its id.
    pub session_id: String,
    /// Whose it was.
    pub identity: String,
    /// When it began.
    pub started_at: Timestamp,
}

/// Answer of `session_show`.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The session, with the baton that it left.
    #[serde(flatten)]
    pub row: HistoryRow,
    /// The sessions that its work came through, the earliest first, itself the last.
    pub way: Vec<LineageEntry>,
    /// The state that it saved last, or that is seeded for it, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_state: Option<SessionState>,
    /// It is yet to begin: a hand-off has seeded its state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeded: bool,
}

impl Operation for Show {
    const META: Meta =
        Meta::read("session_show", "Show a session with its last words and the way of its work");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let shown = VisibleProjects::read(cx, input.project.as_deref(), input.project.is_none())?;
        let Cx { store, env } = cx;
        store.read(|tx| match existing(tx, env, &input, &shown) {
            Ok(found) => Ok(found),
            Err(Failure::Refused(no)) if no.kind == Kind::NotFound => {
                seeded(tx, env, &input, &shown)?.ok_or_else(|| no.into())
            }
            Err(failure) => Err(failure),
        })
    }
}

fn existing(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &ShowInput,
    shown: &VisibleProjects,
) -> Result<ShowOutput, Failure> {
    let reaches = |id: &str| env.caller.grant.reaches(id) && shown.contains(id);
    let of = match &shown.only {
        Some(project_id) => resolve::session_by_id(tx, project_id, &input.session)?,
        None => {
            let wanted = ("session", input.session.as_str());
            let (project_id, id) =
                resolve::object_by_prefix(tx, wanted, session::by_prefix, reaches, unknown_refusal)?;
            resolve::session_by_id(tx, &project_id, &id)?
        }
    };
    let row = row(tx, env, &of, false)?;
    let states = state::of_session(tx, &of.project_id, &of.session_id)?;
    let session_state = states.into_iter().next().map(SessionState::from);
    Ok(ShowOutput { way: way(tx, &of)?, project_id: of.project_id, row, session_state, seeded: false })
}

/// A session that is yet to begin, with the state that a hand-off has seeded for it.
fn seeded(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &ShowInput,
    shown: &VisibleProjects,
) -> Result<Option<ShowOutput>, Failure> {
    for project_id in state::projects_of_session(tx, &input.session)? {
        let is_asked = shown.only.as_ref().is_none_or(|only| *only == project_id);
        if !is_asked || !env.caller.grant.reaches(&project_id) || !shown.contains(&project_id) {
            continue;
        }
        let waiting = state::of_session(tx, &project_id, &input.session)?
            .into_iter()
            .find(|state| state.claimed_at.is_none());
        let Some(waiting) = waiting else { continue };
        let of = Session {
            project_id,
            session_id: waiting.session_id.clone(),
            identity: waiting.identity.clone(),
            started_at: waiting.updated_at,
            heartbeat_at: waiting.updated_at,
            surface: String::new(),
            location: ProcessLocation::default(),
            last_verb: String::new(),
            release: None,
            thread_id: waiting.session_id.clone(),
            inherited_from: None,
            picked_up_session_id: None,
            baton_id: None,
            opened_by: None,
            stale_after: 0,
            working_copy: None,
        };
        let row = row(tx, env, &of, false)?;
        let session_state = Some(SessionState::from(waiting));
        return Ok(Some(ShowOutput {
            way: Vec::new(),
            project_id: of.project_id,
            row,
            session_state,
            seeded: true,
        }));
    }
    Ok(None)
}

fn unknown_refusal(id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "session_unknown",
        format!("there is no session `{}`", baton_model::id::visible(id)),
        "`baton sessions` lists them",
    )
}

/// The sessions whose baton led to this one, earliest first.
fn way(tx: &mut Tx<'_>, of: &Session) -> Result<Vec<LineageEntry>, Failure> {
    let entry = |one: &Session| LineageEntry {
        session_id: one.session_id.clone(),
        identity: one.identity.clone(),
        started_at: Timestamp(one.started_at),
    };
    let mut way = vec![entry(of)];
    let mut earlier = of.picked_up_session_id.clone();
    for _ in 0..MAX_CHAIN {
        let Some(id) = earlier.take() else { break };
        let Some(one) = session::get(tx, &of.project_id, &id)? else { break };
        if way.iter().any(|seen| seen.session_id == id) {
            break;
        }
        way.push(entry(&one));
        earlier = one.picked_up_session_id;
    }
    way.reverse();
    Ok(way)
}
