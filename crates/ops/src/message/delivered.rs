//! `signal_delivered`: a face says that it has written these signals out.

use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bearer;
use crate::op::{Access, Cx, Kept, Operation};
use crate::resolve;

/// Marks signals as delivered.
pub(crate) struct Delivered;

/// Input of `signal_delivered`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// The signals.
    message_ids: Vec<String>,
}

/// Answer of `signal_delivered`.
#[derive(Serialize, Deserialize)]
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
        let Cx { store, env } = cx;
        let now = env.now;
        let marked = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut marked = 0;
            for id in &input.message_ids {
                // What is marked is gone for its receiver: that is for the receiver to do.
                if let (Some(_), Some(known)) = (&env.caller.grant.bearer, message::get(tx, &project_id, id)?)
                    && !known.waits_for_role()
                {
                    bearer::require_may_be(tx, env, &project_id, &known.to_identity)?;
                }
                marked += usize::from(message::delivered(tx, &project_id, id, now)?);
            }
            Ok(marked)
        })?;
        Ok(Output { project_id, marked })
    }
}
