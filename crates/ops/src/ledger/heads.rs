//! `ledger_heads`: how far every project's ledger has come; what a follower of all of them asks first.

use std::collections::BTreeSet;

use baton_store::{Failure, delta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};

/// Reads the heads.
pub struct Heads;

/// So many named projects are asked for one by one.
const MAX_NAMED: usize = 256;

/// Input of `ledger_heads`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadsInput {
    /// Only these projects, by id; else all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
    /// Marks of earlier answers that still hold: where nothing was committed since one of them, the answer says so and has no rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

/// The newest number of a project's ledger.
#[derive(Clone, Serialize, Deserialize)]
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
    /// Whether nothing was committed since one of the marks, so that no rows were read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// A mark of what was committed before the rows were read, where the store has such marks and the caller may see every project: it tells
    /// that something was committed in any of them. It may hold on one of the server's connections only, so a follower sends those of its
    /// last few answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

impl Operation for Heads {
    const META: Meta = Meta::read("ledger_heads", "Say how far the ledger of every project has come");
    type Input = HeadsInput;
    type Output = HeadsOutput;

    fn run(input: HeadsInput, cx: &mut Cx<'_>) -> Result<HeadsOutput, Failure> {
        let Cx { store, env } = cx;
        store.read(|tx| {
            // Before the rows: what is committed in between is in the rows, and the next look finds another mark.
            let mark = if env.caller.grant.projects.is_none() { tx.commit_mark()? } else { None };
            let unchanged = mark.as_ref().is_some_and(|mark| input.marks.contains(mark));
            let wanted: BTreeSet<&String> = input.projects.iter().collect();
            let reached: Vec<String> =
                wanted.iter().filter(|id| env.caller.grant.reaches(id)).map(|id| (*id).clone()).collect();
            let mut heads = match unchanged {
                true => Vec::new(),
                // Each one is a query of its own: of very many all are read at once.
                false if wanted.is_empty() || reached.len() > MAX_NAMED => delta::heads(tx)?,
                false => delta::heads_of(tx, &reached)?,
            };
            let is_wanted = |id: &String| wanted.is_empty() || wanted.contains(id);
            heads.retain(|head| env.caller.grant.reaches(&head.project_id) && is_wanted(&head.project_id));
            let of = |head: delta::Head| Head {
                project_id: head.project_id,
                seq: head.seq,
                change_count: head.change_count,
            };
            let items = heads.into_iter().map(of).collect();
            Ok(HeadsOutput { project_id: None, items, next: None, unchanged, mark })
        })
    }
}
