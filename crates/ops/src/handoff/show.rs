//! `handoff_show`: one hand-off; its packet only for who has accepted it or asks for it.

use baton_store::{Failure, handoff_step, memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{answer, by_id};
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
    note: Option<Value>,
}

impl Operation for Show {
    const NAME: &'static str = "handoff_show";
    const DOC: &'static str = "Show a hand-off with its packet";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let (handoff, steps, note) = cx.store.read(|tx| {
            let handoff = by_id(tx, &input.id)?;
            let steps = handoff_step::of(tx, &handoff.handoff_id)?;
            let note = match &handoff.memory_id {
                Some(id) => memory::get(tx, &handoff.to_project_id, id)?,
                None => None,
            };
            Ok((handoff, steps, note))
        })?;
        let packet = Some(handoff.packet.clone()).filter(|text| !text.is_empty());
        Ok(Output {
            project_id: handoff.to_project_id.clone(),
            handoff: answer(&handoff, &steps),
            packet,
            note: note.map(|n| n.to_json()),
        })
    }
}
