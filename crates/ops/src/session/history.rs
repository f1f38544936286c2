//! `session_history`: the sessions of a project, newest first, with what each left and who took it: the way of the baton.

use baton_model::baton::State;
use baton_model::session::{Session, View};
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::addressee;
use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership::is_at_work;
use crate::resolve;

/// The most sessions in one answer.
const MOST: i64 = 500;

/// Reads the history.
pub struct History;

/// Input of `session_history`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// At most so many, 500 at the most; 100 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
}

/// A session of the history.
#[derive(Serialize, Deserialize)]
pub struct HistoryRow {
    /// The session.
    #[serde(flatten)]
    pub session: View,
    /// The baton that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftBaton>,
}

/// The baton that a session left, and who took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBaton {
    /// Its id.
    pub baton_id: String,
    /// First line of the packet's summary.
    pub summary: String,
    /// Where it stands.
    pub state: State,
    /// The addressee: a name, or the address of a role.
    pub to: Option<String>,
    /// When it was left.
    pub created_at: Timestamp,
    /// The session that took it.
    pub taken_by: Option<String>,
    /// When it was last taken.
    pub taken_at: Option<Timestamp>,
}

/// Answer of `session_history`.
#[derive(Serialize, Deserialize)]
pub struct HistoryOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<HistoryRow>,
    /// There are more than were asked for.
    pub more: bool,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for History {
    const META: Meta = Meta::read(
        "session_history",
        "List a project's sessions, open and released, with the baton that each left",
    );
    type Input = HistoryInput;
    type Output = HistoryOutput;

    fn run(input: HistoryInput, cx: &mut Cx<'_>) -> Result<HistoryOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let limit = input.limit.unwrap_or(100).clamp(1, MOST);
        let Cx { store, env } = cx;
        store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut found = session::newest(tx, &project_id, limit + 1)?;
            let more = i64::try_from(found.len()).unwrap_or(i64::MAX) > limit;
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let mut items = Vec::with_capacity(found.len());
            for of in &found {
                items.push(row(tx, env, of)?);
            }
            Ok(HistoryOutput { project_id, items, more, next: None })
        })
    }
}

fn row(tx: &mut Tx<'_>, env: &Env<'_>, of: &Session) -> Result<HistoryRow, Failure> {
    let session = of.view(env.now, env.limits);
    let Some(left) = baton::of_session(tx, &of.project_id, &of.session_id)? else {
        return Ok(HistoryRow { session, left: None });
    };
    let holder = match &left.holder_session_id {
        Some(id) => session::get(tx, &of.project_id, id)?,
        None => None,
    };
    let left = LeftBaton {
        state: left.state(holder.as_ref(), |holder| is_at_work(env, holder)),
        baton_id: left.baton_id,
        summary: left.summary,
        to: addressee(left.to_identity, left.to_role),
        created_at: Timestamp(left.created_at),
        taken_by: left.holder_session_id,
        taken_at: left.held_at.map(Timestamp),
    };
    Ok(HistoryRow { session, left: Some(left) })
}
