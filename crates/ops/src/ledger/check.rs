//! `store_check`: is the ledger sound?

use baton_store::{Failure, baton, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Access, Cx, Operation, Reach};

/// Checks the store.
pub(crate) struct StoreCheck;

/// Input of `store_check`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

/// Answer of `store_check`.
#[derive(Serialize)]
pub(crate) struct Output {
    engine: &'static str,
    projects: usize,
    sound: bool,
    faults: Vec<String>,
}

impl Operation for StoreCheck {
    const NAME: &'static str = "store_check";
    const DOC: &'static str = "Check that the ledger is sound";
    const ACCESS: Access = Access::Read;
    const REACH: Reach = Reach::Everything;
    type Input = Input;
    type Output = Output;

    fn run(_: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let mut faults = cx.store.check()?;
        let projects = cx.store.read(|tx| Ok(project::list(tx)?))?;
        for project in &projects {
            faults.extend(cx.store.read(|tx| Ok(baton::faults(tx, &project.project_id)?))?);
        }
        Ok(Output { engine: cx.store.kind(), projects: projects.len(), sound: faults.is_empty(), faults })
    }
}
