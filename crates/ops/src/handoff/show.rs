//! `handoff_show`: one hand-off; its packet only for who has accepted it or asks for it.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::by_id;
use crate::op::{Access, Cx, Operation};

/// Shows a hand-off.
pub(crate) struct Show;

/// Input of `handoff_show`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Hand-off id or a unique prefix of one.
    id: String,
}

/// Answer of `handoff_show`: the hand-off with its packet as text.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    #[serde(flatten)]
    handoff: Value,
    packet: Option<String>,
}

impl Operation for Show {
    const NAME: &'static str = "handoff_show";
    const DOC: &'static str = "Show a hand-off with its packet";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let handoff = cx.store.read(|tx| by_id(tx, &cx.env.caller.grant, &input.id))?;
        let packet = Some(handoff.packet.clone()).filter(|text| !text.is_empty());
        Ok(Output { project_id: handoff.to_project_id.clone(), handoff: handoff.to_json(), packet })
    }
}
