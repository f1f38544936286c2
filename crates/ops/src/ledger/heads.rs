//! `ledger_heads`: how far every project's ledger has come; what a follower of all of them asks first.

use baton_store::{Failure, delta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};

/// Reads the heads.
pub struct Heads;

/// Input of `ledger_heads`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadsInput {}

/// The newest number of a project's ledger.
#[derive(Serialize, Deserialize)]
pub struct Head {
    /// The project.
    pub project_id: String,
    /// Position in the order of the ledger.
    pub seq: i64,
    /// How often mail, leases, shares or marks of hand-offs changed, which no entry of the ledger records.
    #[serde(default)]
    pub change_count: i64,
}

/// Answer of `ledger_heads`.
#[derive(Serialize, Deserialize)]
pub struct HeadsOutput {
    /// The project.
    pub project_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<Head>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for Heads {
    const META: Meta = Meta::read("ledger_heads", "Say how far the ledger of every project has come");
    type Input = HeadsInput;
    type Output = HeadsOutput;

    fn run(_: HeadsInput, cx: &mut Cx<'_>) -> Result<HeadsOutput, Failure> {
        let mut heads = cx.store.read(|tx| Ok(delta::heads(tx)?))?;
        heads.retain(|head| cx.env.caller.grant.reaches(&head.project_id));
        let of = |head: delta::Head| Head {
            project_id: head.project_id,
            seq: head.seq,
            change_count: head.change_count,
        };
        let items = heads.into_iter().map(of).collect();
        Ok(HeadsOutput { project_id: None, items, next: None })
    }
}
