//! `memory_reindex`: rebuilds the index of a project's memories from the ledger.

use baton_model::effect::{Adapter, IndexUpdate};
use baton_store::{Failure, memory, outbox, vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index::{embed, push, update_of};
use crate::memory_index::BATCH_SIZE;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Indexes a project's memories again.
pub struct Reindex;

/// Input of `memory_reindex`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReindexInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `memory_reindex`.
#[derive(Serialize, Deserialize)]
pub struct ReindexOutput {
    /// The project.
    pub project_id: String,
    /// Memories that are there and not withdrawn.
    pub memories: usize,
    /// Vectors that were made now, in the ledger.
    pub embedded: usize,
    /// Effects that were written down for the relay.
    pub effects: usize,
    /// The model that makes the vectors.
    pub embedder: String,
}

impl Operation for Reindex {
    const META: Meta =
        Meta::write("memory_reindex", "Make what recall keeps beside a project's memories again");
    type Input = ReindexInput;
    type Output = ReindexOutput;

    fn run(input: ReindexInput, cx: &mut Cx<'_>) -> Result<ReindexOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let setup = cx.env.host.memory_index();
        let (begin, mut after) = (cx.env.now, String::new());
        let (mut memories, mut embedded, mut effects) = (0, 0, 0);
        let limit = i64::try_from(BATCH_SIZE).unwrap_or(i64::MAX);
        loop {
            let Cx { store, env } = &mut *cx;
            let from = after.clone();
            // One transaction for each page: writers do not wait for the whole run.
            let (ids, made) = store.write(&[&project_id], |tx| {
                resolve::require(tx, &project_id)?;
                if from.is_empty() {
                    outbox::make_due(tx, Adapter::MemoryIndex, &project_id, begin)?;
                }
                let page = memory::page(tx, &project_id, &from, limit)?;
                let mut made = 0;
                if setup.endpoint.is_none() && !page.is_empty() {
                    let seq = tx.next_seq(&project_id)?;
                    let ids_without_vector =
                        vector::ids_without_vector(tx, &project_id, &from, setup.embedder(), limit)?;
                    for one in page.iter().filter(|one| ids_without_vector.contains(&one.memory_id)) {
                        embed(tx, one, seq)?;
                        made += 1;
                    }
                }
                let ids: Vec<String> = page.into_iter().map(|one| one.memory_id).collect();
                if setup.needs_relay() && !ids.is_empty() {
                    push(tx, env, &project_id, update_of(ids.clone()), 0)?;
                }
                // What was indexed before this and not again belongs to nothing any more.
                if setup.outside && ids.is_empty() {
                    let update = IndexUpdate { forget_before: Some(begin), ..IndexUpdate::default() };
                    push(tx, env, &project_id, update, 1)?;
                }
                Ok((ids, made))
            })?;
            effects += usize::from(setup.needs_relay() && !ids.is_empty())
                + usize::from(setup.outside && ids.is_empty());
            (memories, embedded) = (memories + ids.len(), embedded + made);
            let Some(last) = ids.into_iter().next_back() else { break };
            after = last;
        }
        Ok(ReindexOutput { project_id, memories, embedded, effects, embedder: setup.embedder().to_owned() })
    }
}
