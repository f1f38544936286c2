//! `session_status`: the status card of a project.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_work::{left_remarks, prefetch_left};
use crate::card::Card;
use crate::op::{Cx, Meta, Operation};
use crate::portable::{prefetch_exports, waiting_elsewhere};
use crate::{card, resolve};

/// Shows the status card.
pub struct Status;

/// Input of `session_status`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Whose unread messages it shows; else the caller's.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `session_status`.
#[derive(Serialize, Deserialize)]
pub struct StatusOutput {
    /// The project.
    pub project_id: String,
    /// What the project card shows.
    #[serde(flatten)]
    pub card: Card,
}

impl Operation for Status {
    const META: Meta = Meta::read("session_status", "Show who works on what and which batons wait");
    type Input = StatusInput;
    type Output = StatusOutput;

    fn run(input: StatusInput, cx: &mut Cx<'_>) -> Result<StatusOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        if let Some(identity) = &input.identity {
            resolve::identity(cx.env.caller, Some(identity))?;
        }
        let Cx { store, env } = cx;
        let now = env.now;
        let card = store.read(|tx| {
            let mut card = card::read_with(tx, env, (&project_id, input.identity.as_deref()), |tx| {
                prefetch_exports(tx, &project_id);
                prefetch_left(tx, &project_id, now);
            })?;
            let is_alone = card.handoffs.is_empty();
            card.reminders.extend(waiting_elsewhere(tx, env, &project_id, is_alone)?);
            let left = left_remarks(tx, env, &project_id, &card)?;
            card.reminders.extend(left);
            Ok(card)
        })?;
        Ok(StatusOutput { project_id, card })
    }
}
