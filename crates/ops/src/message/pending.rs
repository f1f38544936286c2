//! `signal_pending`: what waits for an identity, without draining it.

use baton_model::message::Message;
use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Lists pending signals.
pub(crate) struct Pending;

/// Input of `signal_pending`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity whose signals are listed.
    #[serde(default)]
    identity: Option<String>,
}

/// Answer of `signal_pending`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for Pending {
    const NAME: &'static str = "signal_pending";
    const DOC: &'static str = "List the signals that wait for an identity";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let now = cx.env.now;
        let waiting = cx.store.read(|tx| {
            resolve::known(tx, &project_id)?;
            Ok(message::pending(tx, &project_id, &identity, now)?)
        })?;
        Ok(Output { project_id, identity, items: waiting.iter().map(Message::to_json).collect(), next: None })
    }
}
