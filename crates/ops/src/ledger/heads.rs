//! `ledger_heads`: how far every project's ledger has come; what a follower of all of them asks first.

use baton_store::{Failure, delta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Access, Cx, Operation};

/// Reads the heads.
pub(crate) struct Heads;

/// Input of `ledger_heads`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

/// The newest number of a project's ledger.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    project_id: String,
    seq: i64,
}

/// Answer of `ledger_heads`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: Option<String>,
    items: Vec<Head>,
    next: Option<i64>,
}

impl Operation for Heads {
    const NAME: &'static str = "ledger_heads";
    const DOC: &'static str = "Say how far the ledger of every project has come";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(_: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let mut heads = cx.store.read(|tx| Ok(delta::heads(tx)?))?;
        heads.retain(|(project_id, _)| cx.env.caller.grant.reaches(project_id));
        let items = heads.into_iter().map(|(project_id, seq)| Head { project_id, seq }).collect();
        Ok(Output { project_id: None, items, next: None })
    }
}
