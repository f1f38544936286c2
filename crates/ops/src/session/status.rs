//! `session_status`: the status card of a project.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::op::{Access, Cx, Operation};
use crate::{card, resolve};

/// Shows the status card.
pub(crate) struct Status;

/// Input of `session_status`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
}

/// Answer of `session_status`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: String,
    #[serde(flatten)]
    card: Card,
}

impl Operation for Status {
    const NAME: &'static str = "session_status";
    const DOC: &'static str = "Show who works on what and which batons wait";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let card = store.read(|tx| card::read(tx, env, &project_id))?;
        Ok(Output { project_id, card })
    }
}
