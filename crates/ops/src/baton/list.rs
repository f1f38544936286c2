//! `baton_list`: batons by their state, the oldest first where nothing else is asked for.

use std::collections::BTreeMap;

use baton_model::baton::{Baton, State};
use baton_model::id::identity_key;
use baton_model::refusal::Refusal;
use baton_model::row_action::{OfferedAction, RowAction, Viewer, of_baton};
use baton_model::session::Session;
use baton_model::time::Timestamp;
use baton_store::baton::PageRequest;
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spent::Spending;
use crate::card::{addressee, viewer_key};
use crate::op::{Caller, Cx, Env, Meta, Operation};
use crate::ownership::is_at_work;
use crate::page::{Order, Position, page_size, row_limit};
use crate::project::VisibleProjects;

/// Lists batons.
pub struct List;

/// Input of `baton_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Those of all projects.
    #[serde(default)]
    pub all: bool,
    /// `open`, `held`, `abandoned` or `spent`; without it those that can be picked up: open and abandoned ones.
    #[serde(default)]
    pub state: Option<String>,
    /// Only those for this name or role (`role:NAME`).
    #[serde(default)]
    pub to: Option<String>,
    /// `oldest` first, or `newest`; oldest when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The identity that looks, else the caller's: rows say what it can do with them.
    #[serde(default)]
    pub identity: Option<String>,
    /// At most so many, 200 at the most; 50 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A baton in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub baton_id: String,
    /// The project.
    pub project_id: String,
    /// Where it stands.
    pub state: State,
    /// First line of the packet's summary.
    pub summary: String,
    /// The identity that left it.
    pub from: String,
    /// The session that left it.
    pub session_id: String,
    /// The addressee: a name, or the address of a role.
    pub to: Option<String>,
    /// When it was left.
    pub created_at: Timestamp,
    /// The identity that holds it.
    pub holder: Option<String>,
    /// The session that took it last.
    pub taken_by: Option<String>,
    /// When it was last taken.
    pub taken_at: Option<Timestamp>,
    /// The line of work.
    pub thread_id: String,
    /// The baton that its holder left.
    pub spent_by: Option<String>,
    /// Its wrap said that nothing is left to do: it is offered to no agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finished: bool,
    /// What was not committed goes with it: `baton changes show ID`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_changes: bool,
    /// Where the session that left it worked, as it last said; nothing where that is not known, or the baton is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<RowLocation>,
    /// What the one who looks can do with it, the first thing first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<OfferedAction>,
    /// Who took it back, when, and why; of one alone that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Withdrawal>,
    /// Why it is spent; of one alone that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spending>,
}

impl Row {
    /// What the identity of this key can do with it, the first thing first.
    pub fn actions_for(&self, viewer: &str) -> Vec<OfferedAction> {
        match self.state {
            State::Open | State::Abandoned => {
                let mut actions = of_baton(&self.from, self.to.as_deref(), Viewer(viewer));
                // What another held is taken over, and not taken back.
                actions.retain(|one| self.holder.is_none() || one.action != RowAction::Withdraw);
                actions
            }
            State::Held | State::Spent => Vec::new(),
        }
    }
}

/// That a baton was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    /// Who took it back.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The folder in which the work of a baton was left. Whether it is there still, a pickup looks up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowLocation {
    /// The top folder of the working copy.
    pub root: String,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether it is a folder of the caller's machine.
    pub is_this_machine: bool,
    /// The name of the host, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl RowLocation {
    /// Where a session worked, as it last said.
    pub(crate) fn of(env: &Env<'_>, session: &Session) -> Option<Self> {
        let copy = session.working_copy.clone()?;
        // What was imported from a transcript names no machine.
        let machine = &session.location.machine;
        let is_this_machine = machine.is_empty() || *machine == env.caller.location.machine;
        let host = copy.host.filter(|_| !is_this_machine);
        Some(Self { root: copy.root, branch: copy.branch, is_this_machine, host })
    }

    /// Whether it is the folder in which the caller works.
    pub(crate) fn is_folder_of(&self, caller: &Caller) -> bool {
        let is_there = match &caller.git_root {
            Some(root) => *root == self.root,
            None => caller.folders.contains(&self.root),
        };
        self.is_this_machine && is_there
    }
}

/// Answer of `baton_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project; none where it is about all.
    pub project_id: Option<String>,
    /// The rows of this page, the oldest first where nothing else was asked for.
    pub items: Vec<Row>,
    /// How many there are on all pages.
    pub total: usize,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

/// Which batons are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    /// Those that can be picked up.
    Available,
    /// Those in one state.
    State(State),
}

impl Filter {
    fn read(word: Option<&str>) -> Result<Self, Refusal> {
        match word {
            None => Ok(Self::Available),
            Some("open") => Ok(Self::State(State::Open)),
            Some("held") => Ok(Self::State(State::Held)),
            Some("abandoned") => Ok(Self::State(State::Abandoned)),
            Some("spent") => Ok(Self::State(State::Spent)),
            Some(word) => {
                let what = format!("`{}` is not a state of a baton", baton_model::id::visible(word));
                Err(Refusal::invalid("state_unknown", what, "use one of open, held, abandoned, spent"))
            }
        }
    }

    /// Whether batons that no open session holds are listed, and which of them.
    fn unheld(self) -> Option<bool> {
        match self {
            Self::Available | Self::State(State::Open) => Some(false),
            Self::State(State::Spent) => Some(true),
            Self::State(State::Held | State::Abandoned) => None,
        }
    }

    /// Whether a baton that an open session holds is listed.
    fn takes(self, state: State) -> bool {
        match self {
            Self::Available => state == State::Abandoned,
            Self::State(one) => state == one,
        }
    }
}

impl Operation for List {
    const META: Meta = Meta::read("baton_list", "List batons by their state, the oldest first");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let filter = Filter::read(input.state.as_deref())?;
        let limit = page_size(input.limit, 50, 200);
        let order = input.order.unwrap_or(Order::Oldest);
        let after =
            input.cursor.as_deref().map(Position::parse).transpose()?.unwrap_or_else(|| order.first());
        let to = input.to.as_deref().map(identity_key).unwrap_or_default();
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.all)?;
        let Cx { store, env } = cx;
        let viewer = viewer_key(env, input.identity.as_deref());
        store.read(|tx| {
            let mut rows = in_hand(tx, env, &visible, filter)?;
            rows.retain(|row| is_for(row, &to));
            let mut total = rows.len();
            let place = |row: &Row| (row.created_at.0, row.baton_id.clone());
            let last = (after.at, after.id.clone());
            let is_newest_first = order == Order::Newest;
            rows.retain(|row| if is_newest_first { place(row) < last } else { place(row) > last });
            if let Some(is_spent) = filter.unheld() {
                let page = PageRequest {
                    is_spent,
                    is_newest_first,
                    after: (after.at, &after.id),
                    to: &to,
                    limit: row_limit(limit + 1),
                };
                for project_id in visible.ids() {
                    let count = baton::count(tx, project_id, is_spent, &to)?;
                    total += count;
                    if count > 0 {
                        rows.extend(baton::page(tx, project_id, &page)?.into_iter().map(unheld));
                    }
                }
            }
            rows.sort_by_key(place);
            if is_newest_first {
                rows.reverse();
            }
            let more = rows.len() > limit;
            rows.truncate(limit);
            for row in rows.iter_mut().filter(|row| row.state != State::Spent) {
                row.location = location(tx, env, row)?;
                row.actions = row.actions_for(&viewer);
                row.actions.retain(|one| one.is_permitted(&env.caller.grant));
            }
            let next = rows
                .last()
                .filter(|_| more)
                .map(|last| Position { at: last.created_at.0, id: last.baton_id.clone() }.to_string());
            Ok(ListOutput { project_id: visible.only.clone(), items: rows, total, next })
        })
    }
}

/// Batons that open sessions hold, in the states that are listed. Few sessions are open at a time.
fn in_hand(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    visible: &VisibleProjects,
    filter: Filter,
) -> Result<Vec<Row>, Failure> {
    let open = match &visible.only {
        Some(one) => session::open(tx, one)?,
        None => session::open_everywhere(tx)?,
    };
    let mut rows = BTreeMap::new();
    for holder in open.iter().filter(|of| visible.contains(&of.project_id)) {
        let Some(id) = &holder.baton_id else { continue };
        let Some(of) = baton::get(tx, &holder.project_id, id)? else { continue };
        let row = row(env, of, Some(holder));
        if row.spent_by.is_none() && filter.takes(row.state) {
            rows.insert(row.baton_id.clone(), row);
        }
    }
    Ok(rows.into_values().collect())
}

/// Where the work of a baton was left.
pub(super) fn location(tx: &mut Tx<'_>, env: &Env<'_>, of: &Row) -> Result<Option<RowLocation>, Failure> {
    let left = session::get(tx, &of.project_id, &of.session_id)?;
    Ok(left.as_ref().and_then(|left| RowLocation::of(env, left)))
}

/// A baton with its state.
pub(super) fn row(env: &Env<'_>, of: Baton, holder: Option<&Session>) -> Row {
    let state = of.state(holder, |holder| is_at_work(env, holder));
    let holder = holder.filter(|holder| holder.is_open()).map(|holder| holder.identity.clone());
    Row { state, holder, ..unheld(of) }
}

/// A baton that no open session holds.
fn unheld(of: Baton) -> Row {
    let (finished, spent_by) = (of.is_finished(), of.successor().cloned());
    Row {
        state: if of.spent_by.is_some() { State::Spent } else { State::Open },
        baton_id: of.baton_id,
        project_id: of.project_id,
        summary: of.summary,
        from: of.identity,
        session_id: of.session_id,
        to: addressee(of.to_identity, of.to_role),
        created_at: Timestamp(of.created_at),
        holder: None,
        taken_by: of.holder_session_id,
        taken_at: of.held_at.map(Timestamp),
        thread_id: of.thread_id,
        finished,
        spent_by,
        has_changes: of.has_changes,
        location: None,
        actions: Vec::new(),
        withdrawn: None,
        spent: None,
    }
}

fn is_for(row: &Row, to: &str) -> bool {
    to.is_empty() || row.to.as_deref().map(identity_key).as_deref() == Some(to)
}
