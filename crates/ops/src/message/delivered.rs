//! `signal_delivered`: a face says that it has written these signals out.

use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Access, Cx, Kept, Operation};
use crate::resolve;

/// Marks signals as delivered.
pub(crate) struct Delivered;

/// Input of `signal_delivered`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// The signals.
    message_ids: Vec<String>,
}

/// Answer of `signal_delivered`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    marked: usize,
}

impl Operation for Delivered {
    const NAME: &'static str = "signal_delivered";
    const DOC: &'static str = "Mark signals as written out to their receiver";
    const ACCESS: Access = Access::Write;
    const KEPT: Kept = Kept::Nothing;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let now = cx.env.now;
        let marked = cx.store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut marked = 0;
            for id in &input.message_ids {
                marked += usize::from(message::delivered(tx, &project_id, id, now)?);
            }
            Ok(marked)
        })?;
        Ok(Output { project_id, marked })
    }
}
