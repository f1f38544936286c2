//! `handoff_list`: hand-offs that a project sent or received.

use baton_model::handoff::{Handoff, State};
use baton_model::refusal::Refusal;
use baton_store::{Failure, handoff, handoff_step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Row, isolation};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

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
}

/// Answer of `handoff_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for List {
    const META: Meta = Meta::read("handoff_list", "List the hand-offs that a project sent or received");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let wanted = match &input.state {
            Some(word) => Some(State::from_word(word).ok_or_else(|| unknown_state(word))?),
            None => None,
        };
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let found = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut found = handoff::of_project(tx, &project_id)?;
            found.retain(|h| wanted.is_none_or(|state| h.state == state));
            let with_steps = |h: Handoff| {
                let row = Row::of(&h, &handoff_step::of(tx, &h.handoff_id)?);
                isolation::shown_to(tx, Some(&project_id), &h, row)
            };
            found.into_iter().map(with_steps).collect::<Result<Vec<Row>, Failure>>()
        })?;
        let items = found;
        Ok(ListOutput { project_id, items, next: None })
    }
}

fn unknown_state(word: &str) -> Refusal {
    let known: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
    Refusal::invalid(
        "state_unknown",
        format!("`{}` is not a state", baton_model::id::visible(word)),
        format!("use one of {}", known.join(", ")),
    )
}
