//! `handoff_list`: hand-offs that a project sent or received.

use baton_model::handoff::{Handoff, State};
use baton_model::id::identity_key;
use baton_model::refusal::Refusal;
use baton_store::{Failure, Tx, handoff, handoff_step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Row, claimant, isolation};
use crate::card::viewer_key;
use crate::op::{Cx, Meta, Operation};
use crate::page::{Order, Position, page_size, row_limit};
use crate::project::VisibleProjects;

/// Lists hand-offs.
pub struct List;

/// Input of `handoff_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only this state.
    #[serde(default)]
    pub state: Option<String>,
    /// Those of all projects.
    #[serde(default)]
    pub all: bool,
    /// Only those for this name or role (`role:NAME`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// `newest` first, or `oldest`; newest when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Say with each what the one who looks can do with it.
    #[serde(default)]
    pub actions: bool,
    /// The identity that looks, else the caller's.
    #[serde(default)]
    pub identity: Option<String>,
    /// At most so many; without it all of a project, and 50 of all projects.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Answer of `handoff_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project; none where it is about all.
    pub project_id: Option<String>,
    /// The rows of this page, newest first where nothing else was asked for.
    pub items: Vec<Row>,
    /// How many there are on all pages.
    #[serde(default)]
    pub total: usize,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

impl Operation for List {
    const META: Meta = Meta::read("handoff_list", "List the hand-offs that a project sent or received");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let wanted = match &input.state {
            Some(word) => Some(State::from_word(word).ok_or_else(|| unknown_state_refusal(word))?),
            None => None,
        };
        let most = if input.all { 200 } else { usize::MAX };
        let limit = page_size(input.limit, if input.all { 50 } else { most }, most);
        let order = input.order.unwrap_or(Order::Newest);
        let mut position =
            input.cursor.as_deref().map(Position::parse).transpose()?.unwrap_or_else(|| order.first());
        let to = input.to.as_deref().map(identity_key).unwrap_or_default();
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.all)?;
        let Cx { store, env } = cx;
        let actor = input.actions.then(|| viewer_key(env, input.identity.as_deref()));
        let viewer = isolation::Viewer { project: visible.only.as_deref(), grant: Some(&env.caller.grant) };
        store.read(|tx| {
            let total = count(tx, &visible, wanted, &to)?;
            let mut items = Vec::new();
            while items.len() <= limit {
                let page = handoff::page(
                    tx,
                    &handoff::PageRequest {
                        project_id: visible.only.as_deref(),
                        state: wanted,
                        to: &to,
                        is_oldest_first: order == Order::Oldest,
                        after: (position.at, &position.id),
                        limit: row_limit(limit.saturating_add(1)),
                    },
                )?;
                let Some(last) = page.last() else { break };
                position = Position { at: last.created_at, id: last.handoff_id.clone() };
                let shown = page.into_iter().filter(|handoff| is_visible(&visible, handoff));
                let shown = claimant::each_as_of_now(tx, env, shown.collect())?.into_iter();
                items.extend(shown.filter(|handoff| wanted.is_none_or(|wanted| handoff.state == wanted)));
            }
            let more = items.len() > limit;
            items.truncate(limit);
            let next = items
                .last()
                .filter(|_| more)
                .map(|last| Position { at: last.created_at, id: last.handoff_id.clone() }.to_string());
            let with_steps = |h: Handoff| {
                let row = Row::of(&h, &handoff_step::of(tx, &h.handoff_id)?);
                let row = isolation::shown_to(tx, viewer, &h, row)?.with_names(tx, &env.caller.grant)?;
                Ok(match &actor {
                    Some(actor) => row.with_actions(actor, &env.caller.grant),
                    None => row,
                })
            };
            let items = items.into_iter().map(with_steps).collect::<Result<Vec<Row>, Failure>>()?;
            Ok(ListOutput { project_id: visible.only.clone(), items, total, next })
        })
    }
}

fn is_visible(visible: &VisibleProjects, handoff: &Handoff) -> bool {
    visible.contains(&handoff.from_project_id) || visible.contains(&handoff.to_project_id)
}

fn count(
    tx: &mut Tx<'_>,
    visible: &VisibleProjects,
    state: Option<State>,
    to: &str,
) -> Result<usize, Failure> {
    let mut counts = handoff::counts(tx, to)?;
    counts.retain(|row| {
        (visible.contains(&row.from_project_id) || visible.contains(&row.to_project_id))
            && state.is_none_or(|state| row.state == state.as_str())
    });
    Ok(counts.iter().map(|row| row.count).sum())
}

fn unknown_state_refusal(word: &str) -> Refusal {
    let known: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
    Refusal::invalid(
        "state_unknown",
        format!("`{}` is not a state", baton_model::id::visible(word)),
        format!("use one of {}", known.join(", ")),
    )
}
