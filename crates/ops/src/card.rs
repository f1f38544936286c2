//! The status card: who works on what, which batons and hand-offs wait, what was wrapped last.

mod questions;
mod reminders;
mod sent;
mod unread;
mod waiting;

use baton_model::accounting::{Remark, plural};
use baton_model::baton::{Baton, State as BatonState};
use baton_model::handoff;
use baton_model::packet::ValidatedPacket;
use baton_model::printable::quotable;
use baton_model::project::{self as project_view, LastWrapView};
use baton_model::session::{Session, View as SessionView};
use baton_model::task::Task;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, baton, delta, handoff as handoffs, project, session, task};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::baton::RowLocation;
use crate::handoff::isolation::sender_for;
use crate::op::Env;
use crate::project::merged_remark;
use crate::session::unattended;
use crate::transcript::{Stopped, provider_stop};
use crate::{ownership, project_name, resolve};
pub use questions::OpenQuestion;
pub(crate) use reminders::{doubtful_sessions, prefetch_reminders, reminders};
pub use sent::{LateAnswer, SentHandoff};
pub(crate) use sent::{nobody_there, sent};
pub use unread::{Unread, UnreadMessage};
pub(crate) use unread::{mailbox, viewer_key};
pub use waiting::Waiting;

/// The most open tasks and batons of a card.
const MAX_SHOWN: i64 = 50;

/// Of how many kept batons a card says what stopped their agents.
const STOPS: usize = 5;

/// The most characters of a subject on a card.
pub(crate) const SUBJECT: usize = 80;

/// A subject as a card quotes it: its first line, cleaned and shortened; none where this caller is not told subjects.
pub(crate) fn subject(env: &Env<'_>, text: &str) -> Option<String> {
    Some(quotable(text, SUBJECT)).filter(|shown| !shown.is_empty() && !env.hides_subjects())
}

/// What a person or an agent sees first.
#[derive(Serialize, Deserialize)]
pub struct Card {
    /// The project.
    pub project: project_view::View,
    /// Sessions that were not released.
    pub sessions: Vec<SessionView>,
    /// Batons that are not spent, and hand-offs from other projects, with their subjects.
    pub handoffs: Vec<Waiting>,
    /// Batons that are not spent and not among these: `baton_list` has them all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_batons: usize,
    /// Hand-offs that the project sent: those that failed first, then those under way, then what ended in the last week.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<SentHandoff>,
    /// Messages that the caller has not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Unread>,
    /// Unanswered questions that the caller asked or has read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<OpenQuestion>,
    /// Open tasks.
    pub tasks: Vec<OpenTask>,
    /// Summary of the last wrap.
    pub last_wrap: Option<LastWrapView>,
    /// What a careful colleague would remind of.
    pub reminders: Vec<Remark>,
}

impl Card {
    /// Whether a pickup that names nothing finds a baton.
    pub(crate) fn has_open_baton(&self) -> bool {
        let is_open = |state| matches!(state, WaitingState::Baton(BatonState::Open | BatonState::Abandoned));
        self.handoffs.iter().any(|waiting| is_open(waiting.state))
    }

    /// Whether a session at work holds a baton: a pickup that names nothing is refused where no other one is open.
    pub(crate) fn has_held_baton(&self) -> bool {
        let is_held = |state| matches!(state, WaitingState::Baton(BatonState::Held));
        self.handoffs.iter().any(|waiting| is_held(waiting.state))
    }
}

/// What waits to be picked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingKind {
    /// What a wrap left.
    Baton,
    /// Work from another project.
    Handoff,
}

impl WaitingKind {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baton => "baton",
            Self::Handoff => "handoff",
        }
    }

    /// What people and agents read.
    pub fn title(self) -> &'static str {
        match self {
            Self::Baton => "baton",
            Self::Handoff => "hand-off",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How many batons and how many hand-offs wait, in words: `2 batons and 1 hand-off wait`. None where nothing does.
pub fn how_many_wait(kinds: impl Iterator<Item = WaitingKind>) -> Option<String> {
    let (mut batons, mut handoffs) = (0, 0);
    kinds.for_each(|kind| match kind {
        WaitingKind::Baton => batons += 1,
        WaitingKind::Handoff => handoffs += 1,
    });
    let count = |n: usize, kind: WaitingKind| (n > 0).then(|| format!("{n} {}", plural(n, kind.title())));
    let counts = [count(batons, WaitingKind::Baton), count(handoffs, WaitingKind::Handoff)];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let verb = if batons + handoffs == 1 { "waits" } else { "wait" };
    (!counts.is_empty()).then(|| format!("{} {verb}", counts.join(" and ")))
}

/// Where something that waits stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WaitingState {
    /// Of a baton.
    Baton(BatonState),
    /// Of a hand-off from another project.
    Handoff(handoff::State),
}

impl WaitingState {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baton(state) => state.as_str(),
            Self::Handoff(state) => state.as_str(),
        }
    }
}

/// An open task in a list: what every list shows of it, and the rest of its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenTask {
    /// Its id.
    pub id: String,
    /// The project.
    pub project_id: String,
    /// One line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The work to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// How important it is: 0 is the highest.
    pub priority: i64,
    /// What kind of task it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub issue_type: String,
    /// Who works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Whether something holds it back: its status alone does not say that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// Its other fields, as `task_show` describes them.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl OpenTask {
    /// What fits on a line: which task it is, and how it stands.
    pub(crate) fn line(task: &Task) -> Self {
        Self { description: String::new(), rest: Map::new(), ..Self::from(task) }
    }
}

impl From<&Task> for OpenTask {
    fn from(task: &Task) -> Self {
        const NAMED: [&str; 9] = [
            "id",
            "project_id",
            "title",
            "description",
            "status",
            "priority",
            "issue_type",
            "assignee",
            "blocked",
        ];
        let mut rest = match task.to_json() {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        rest.retain(|key, _| !NAMED.contains(&key.as_str()));
        Self {
            id: task.task_id.clone(),
            project_id: task.project_id.clone(),
            title: task.title.clone(),
            description: task.description.clone(),
            status: task.status.clone(),
            priority: task.priority,
            issue_type: task.issue_type.clone(),
            assignee: task.assignee.clone().filter(|name| !name.is_empty()),
            blocked: task.readiness.blocked && task.is_open(),
            rest,
        }
    }
}

/// Reads the card of a project.
pub(crate) fn read(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Card, Failure> {
    read_with(tx, env, (project_id, None), |_| {})
}

/// Reads the card for an identity, in one round trip with what the caller is going to ask besides.
pub(crate) fn read_with(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, identity): (&str, Option<&str>),
    prefetch_more: impl FnOnce(&mut Tx<'_>),
) -> Result<Card, Failure> {
    tx.prefetch(|tx| {
        prefetch_more(tx);
        drop(project::get(tx, project_id));
        drop(session::open(tx, project_id));
        drop(task::open(tx, project_id, MAX_SHOWN));
        drop(baton::unspent(tx, project_id, MAX_SHOWN));
        drop(session::left_unspent(tx, project_id, MAX_SHOWN));
        drop(baton::kept_automatically(tx, project_id));
        drop(handoffs::of_project(tx, project_id));
        unread::prefetch(tx, env, project_id, identity);
        questions::prefetch(tx, env, project_id, identity);
        prefetch_reminders(tx, env, project_id);
    });
    let project = project::get(tx, project_id)?.ok_or_else(|| resolve::no_project_refusal(project_id))?;
    let open = session::open(tx, project_id)?;
    let open_tasks = task::open(tx, project_id, MAX_SHOWN)?;
    let tasks = open_tasks.into_iter().map(|task| crate::task::with_expiry_applied(tx, env, task));
    let mut tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    crate::handoff::without_sender_text(tx, env, project_id, &mut tasks)?;
    let all = handoffs::of_project(tx, project_id)?;
    let all = crate::handoff::claimant::each_as_of_now(tx, env, all)?;
    let (batons, more_batons) = unspent_batons(tx, project_id, &viewer_key(env, identity))?;
    let mut waiting = waiting_work(tx, env, (project_id, batons), &all)?;
    let mut reminders = reminders(tx, env, &project, &open)?;
    let accepted =
        all.iter().filter(|one| one.to_project_id == project_id && one.state == handoff::State::Accepted);
    for left in unattended(tx, env, accepted, mailbox(env, identity).as_deref())? {
        let rows = waiting.iter_mut().filter(|row| row.id == left.handoff_id);
        rows.for_each(|row| row.nobody_at_work = true);
        reminders.push(left.remark);
    }
    reminders.extend(merged_remark(tx, &env.caller.grant, &project)?);
    Ok(Card {
        last_wrap: project.last_wrap.as_ref().map(LastWrapView::from),
        project: project_view::View::from(&project.named_for(|id| env.caller.grant.reaches(id))),
        sessions: open.iter().map(|session| ownership::view(env, session)).collect(),
        handoffs: waiting,
        more_batons,
        sent: sent(tx, env, project_id, all)?,
        unread: unread::read(tx, env, project_id, identity)?,
        open_questions: questions::read(tx, env, project_id, identity)?,
        tasks: tasks.iter().map(OpenTask::from).collect(),
        reminders,
    })
}

/// The batons of a card, the newest first, and how many more there are. Where not all are shown, those that are addressed to the
/// reader stand first, however old they are.
fn unspent_batons(tx: &mut Tx<'_>, project_id: &str, to: &str) -> Result<(Vec<Baton>, usize), Failure> {
    let newest = baton::unspent(tx, project_id, MAX_SHOWN)?;
    if i64::try_from(newest.len()).unwrap_or(i64::MAX) < MAX_SHOWN {
        return Ok((newest, 0));
    }
    let request =
        baton::PageRequest { is_spent: false, is_newest_first: false, after: (0, ""), to, limit: MAX_SHOWN };
    let mut shown = if to.is_empty() { Vec::new() } else { baton::page(tx, project_id, &request)? };
    shown.retain(|own| newest.iter().all(|one| one.baton_id != own.baton_id));
    shown.extend(newest);
    let more = baton::unspent_count(tx, project_id)?.saturating_sub(shown.len());
    Ok((shown, more))
}

/// What waits in a project: its batons, and hand-offs from other projects.
fn waiting_work(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, batons): (&str, Vec<Baton>),
    all: &[handoff::Handoff],
) -> Result<Vec<Waiting>, Failure> {
    let mut waiting: Vec<Waiting> = Vec::new();
    let automatic = baton::kept_automatically(tx, project_id)?;
    let left = session::left_unspent(tx, project_id, MAX_SHOWN)?;
    for baton in batons {
        let holder = match &baton.holder_session_id {
            Some(id) => session::get(tx, project_id, id)?,
            None => None,
        };
        let is_kept = automatic.contains(&baton.baton_id);
        let is_looked_at = is_kept && waiting.iter().filter(|one| one.kept).count() < STOPS;
        let stopped = if is_looked_at { stopped(tx, &baton)? } else { None };
        let left_by = left.iter().find(|session| session.session_id == baton.session_id);
        let location = left_by.and_then(|session| RowLocation::of(env, session));
        waiting.push(Waiting {
            stopped,
            state: WaitingState::Baton(
                baton.state(holder.as_ref(), |holder| ownership::is_at_work(env, holder)),
            ),
            kind: WaitingKind::Baton,
            subject: subject(env, &baton.summary),
            to: addressee(baton.to_identity, baton.to_role),
            holder: Some(holder.filter(Session::is_open).map(|s| s.identity)),
            created_at: Timestamp(baton.created_at),
            kept: is_kept,
            has_changes: baton.has_changes,
            location: location.filter(|location| !location.is_folder_of(env.caller)),
            from: baton.identity,
            from_project_name: None,
            nobody_at_work: false,
            handoff_id: None,
            baton_id: Some(baton.baton_id.clone()),
            id: baton.baton_id,
        });
    }
    for handoff in all.iter().cloned() {
        if handoff.to_project_id == project_id
            && matches!(handoff.state, handoff::State::Offered | handoff::State::Accepted)
        {
            waiting.push(waiting_handoff(tx, env, handoff)?);
        }
    }
    Ok(waiting)
}

/// The row of a hand-off that is offered or accepted.
fn waiting_handoff(tx: &mut Tx<'_>, env: &Env<'_>, handoff: handoff::Handoff) -> Result<Waiting, Failure> {
    let sender = sender_for(&handoff, Some(&env.caller.grant));
    let is_reached = env.caller.grant.reaches(&sender);
    Ok(Waiting {
        from_project_name: if is_reached { project_name::given_name(tx, &sender)? } else { None },
        from: format!("{sender}/{}", handoff.from_identity),
        baton_id: None,
        handoff_id: Some(handoff.handoff_id.clone()),
        id: handoff.handoff_id,
        kind: WaitingKind::Handoff,
        state: WaitingState::Handoff(handoff.state),
        subject: subject(env, &handoff.subject),
        to: addressee(handoff.to_identity, handoff.to_role),
        holder: None,
        created_at: Timestamp(handoff.created_at),
        kept: false,
        stopped: None,
        has_changes: false,
        location: None,
        nobody_at_work: false,
    })
}

/// With what its provider stopped the agent that left a baton.
fn stopped(tx: &mut Tx<'_>, baton: &Baton) -> Result<Option<Stopped>, Failure> {
    let wrap = delta::get(tx, &baton.project_id, &baton.baton_id)?;
    let packet = wrap.and_then(|wrap| ValidatedPacket::parse_stored(wrap.body).ok());
    Ok(packet.and_then(|packet| provider_stop::stopped(packet.view())))
}

/// The addressee of a baton or a hand-off: a name, or the address of a role.
pub(crate) fn addressee(identity: Option<String>, role: Option<String>) -> Option<String> {
    identity.or(role.map(|role| format!("role:{role}")))
}
