//! `signal_pending`: what waits for an identity, without draining it.

use baton_model::message::View;
use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::name_projects;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists pending signals.
pub struct Pending;

/// Input of `signal_pending`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PendingInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity whose signals are listed.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `signal_pending`.
#[derive(Serialize, Deserialize)]
pub struct PendingOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The rows of this page.
    pub items: Vec<View>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for Pending {
    const META: Meta = Meta::read("signal_pending", "List the signals that wait for an identity");
    type Input = PendingInput;
    type Output = PendingOutput;

    fn run(input: PendingInput, cx: &mut Cx<'_>) -> Result<PendingOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let now = cx.env.now;
        let waiting = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(message::pending(tx, &project_id, &identity, now)?)
        })?;
        let mut items: Vec<View> = waiting.iter().map(View::of).collect();
        name_projects(cx.store, &cx.env, items.iter_mut())?;
        Ok(PendingOutput { project_id, identity, items, next: None })
    }
}
