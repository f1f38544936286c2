//! `session_history`: the sessions of a project, newest first, with what each left and who took it: the way of the baton.

use baton_model::baton::State;
use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::session::{Session, View};
use baton_model::time::Timestamp;
use baton_store::session::OpenPosition;
use baton_store::{Failure, Tx, baton, delta, handoff, lease, session, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accepted_of_session;
use super::activity::{self, TokenUsage};
use crate::card::addressee;
use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership::{is_at_work, view};
use crate::page::{Position, page_size, row_limit};
use crate::project::VisibleProjects;

/// The most sessions in one answer.
const MAX_SESSIONS: usize = 500;

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
    /// Those of all projects; goes with `open`.
    #[serde(default)]
    pub all: bool,
    /// Only those that were not released, silent ones first, then who saved longest ago: each with its last checkpoint, its tasks and its activity.
    #[serde(default)]
    pub open: bool,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A session of the history.
#[derive(Serialize, Deserialize)]
pub struct HistoryRow {
    /// The project, where the list is about all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The session.
    #[serde(flatten)]
    pub session: View,
    /// Of an open one: its last checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checkpoint: Option<LastCheckpoint>,
    /// Of an open one: how many entries of the ledger it wrote in each of the last twelve hours, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activity: Vec<u32>,
    /// Of an open one: the tokens that it used, as far as its tool tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// Of an open one: the tasks that it has claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<ClaimedTask>,
    /// Of an open one: the paths on which it has announced work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leases: Vec<String>,
    /// Of an open one: the hand-offs that it has accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<AcceptedHandoff>,
    /// The baton that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftBaton>,
}

/// A hand-off that a session has accepted, or its agent by its name alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedHandoff {
    /// Its id.
    pub handoff_id: String,
    /// One line.
    pub subject: String,
}

/// What a session said last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCheckpoint {
    /// Its summary.
    pub summary: String,
    /// When.
    pub at: Timestamp,
}

/// A task that a session has claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedTask {
    /// Its id.
    pub id: String,
    /// One line.
    pub title: String,
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
    /// The project; none where it is about all.
    pub project_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<HistoryRow>,
    /// There are more than were asked for.
    pub more: bool,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

impl Operation for History {
    const META: Meta = Meta::read(
        "session_history",
        "List a project's sessions, open and released, with the baton that each left",
    );
    type Input = HistoryInput;
    type Output = HistoryOutput;

    fn run(input: HistoryInput, cx: &mut Cx<'_>) -> Result<HistoryOutput, Failure> {
        if input.all && !input.open {
            let what = "`all` lists the open sessions of all projects, and `open` is not given";
            return Err(Refusal::invalid("input_invalid", what, "add `open`, or name a project").into());
        }
        let limit = page_size(input.limit, 100, MAX_SESSIONS);
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.all)?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            let cursor = input.cursor.as_deref();
            let (found, next) = match (&visible.only, input.open) {
                (Some(one), false) => newest(tx, one, cursor, limit)?,
                _ => open(tx, env, &visible, (cursor, limit))?,
            };
            activity::prefetch(tx, &found, env.now);
            let mut items = Vec::with_capacity(found.len());
            for of in &found {
                items.push(row(tx, env, of, input.all)?);
            }
            Ok(HistoryOutput { project_id: visible.only.clone(), items, more: next.is_some(), next })
        })
    }
}

/// Sessions, and the cursor of the page after them.
type SessionPage = (Vec<Session>, Option<String>);

/// A page of a project's sessions, released or not, newest first.
fn newest(
    tx: &mut Tx<'_>,
    project_id: &str,
    cursor: Option<&str>,
    limit: usize,
) -> Result<SessionPage, Failure> {
    let after = cursor.map(Position::parse).transpose()?.unwrap_or_else(Position::newest);
    let mut found = session::older(tx, project_id, (after.at, &after.id), row_limit(limit + 1))?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more).map(|last| position(last).to_string());
    Ok((found, next))
}

fn position(of: &Session) -> Position {
    Position { at: of.started_at, id: of.session_id.clone() }
}

/// Before the position in the cursor of a page that ends within the silent sessions.
const SILENT: char = 's';

/// A page of the open sessions of the visible projects: silent ones first, then who saved longest ago. Rows of other projects
/// are passed by, a page at a time.
fn open(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    visible: &VisibleProjects,
    (cursor, limit): (Option<&str>, usize),
) -> Result<SessionPage, Failure> {
    let mut after = cursor.map_or_else(|| Ok(open_position(false, Position::oldest())), read_cursor)?;
    let project_id = visible.only.as_deref().unwrap_or_default();
    let instants = (env.now, env.limits.silent_before(env.now));
    let mut found: Vec<(Session, OpenPosition)> = Vec::new();
    loop {
        let rows = session::open_page(tx, project_id, &after, instants, row_limit(limit + 1))?;
        let is_last = rows.len() <= limit;
        if let Some((_, last)) = rows.last() {
            after.clone_from(last);
        }
        found.extend(rows.into_iter().filter(|(of, _)| visible.contains(&of.project_id)));
        if is_last || found.len() > limit {
            break;
        }
    }
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more).map(|(_, last)| open_cursor(last));
    Ok((found.into_iter().map(|(of, _)| of).collect(), next))
}

fn open_position(is_fresh: bool, Position { at, id }: Position) -> OpenPosition {
    OpenPosition { is_fresh, saved_at: at, session_id: id }
}

fn read_cursor(text: &str) -> Result<OpenPosition, Refusal> {
    match text.strip_prefix(SILENT) {
        Some(rest) => Ok(open_position(false, Position::parse(rest)?)),
        None => Ok(open_position(true, Position::parse(text)?)),
    }
}

fn open_cursor(of: &OpenPosition) -> String {
    let place = Position { at: of.saved_at, id: of.session_id.clone() };
    if of.is_fresh { place.to_string() } else { format!("{SILENT}{place}") }
}

/// A session with what it left, and, while it is open, what it says and has.
pub(super) fn row(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    of: &Session,
    with_project: bool,
) -> Result<HistoryRow, Failure> {
    let (mut last_checkpoint, mut tasks, mut activity, mut tokens) = (None, Vec::new(), Vec::new(), None);
    let (mut leases, mut handoffs) = (Vec::new(), Vec::new());
    if of.is_open() {
        activity = activity::activity(tx, of, env.now)?;
        tokens = activity::usage(tx, of)?;
        let last = delta::last_of_session(tx, &of.project_id, &of.session_id, Kind::Checkpoint)?;
        last_checkpoint =
            last.map(|last| LastCheckpoint { summary: last.headline(), at: Timestamp(last.created_at) });
        let claimed = task::claimed_in(tx, &of.project_id, &of.session_id)?;
        tasks = claimed.into_iter().map(|task| ClaimedTask { id: task.task_id, title: task.title }).collect();
        let mut held = lease::held_leases(tx, &of.project_id, env.now)?;
        held.retain(|one| one.session_id.as_ref() == Some(&of.session_id));
        leases = held.into_iter().map(|one| one.pattern).collect();
        let accepted = handoff::accepted(tx, &of.project_id)?;
        handoffs = accepted_of_session(&accepted, &of.session_id, &of.identity)
            .map(|one| AcceptedHandoff { handoff_id: one.handoff_id.clone(), subject: one.subject.clone() })
            .collect();
    }
    Ok(HistoryRow {
        project_id: with_project.then(|| of.project_id.clone()),
        session: view(env, of),
        last_checkpoint,
        activity,
        tokens,
        tasks,
        leases,
        handoffs,
        left: left_baton(tx, env, of)?,
    })
}

pub(crate) fn left_baton(tx: &mut Tx<'_>, env: &Env<'_>, of: &Session) -> Result<Option<LeftBaton>, Failure> {
    let Some(left) = baton::of_session(tx, &of.project_id, &of.session_id)? else { return Ok(None) };
    let holder = match &left.holder_session_id {
        Some(id) => session::get(tx, &of.project_id, id)?,
        None => None,
    };
    Ok(Some(LeftBaton {
        state: left.state(holder.as_ref(), |holder| is_at_work(env, holder)),
        baton_id: left.baton_id,
        summary: left.summary,
        to: addressee(left.to_identity, left.to_role),
        created_at: Timestamp(left.created_at),
        taken_by: left.holder_session_id,
        taken_at: left.held_at.map(Timestamp),
    }))
}
