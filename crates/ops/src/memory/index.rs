//! Keeps the indexes in step with memories: the transaction that changes a memory does what can be done in the ledger,
//! and queues in the outbox what needs an external service.

use baton_model::effect::{Action, Effect, IndexUpdate};
use baton_model::memory::Memory;
use baton_model::memory_index::{HASHING, QuantizedVector, hashing};
use baton_store::{Failure, Tx, outbox, vector};

use crate::memory_index::text_of;
use crate::op::Env;

/// A memory is there, or its text is another.
pub(crate) fn enqueue_index(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    memory: &Memory,
    seq: i64,
) -> Result<(), Failure> {
    let setup = env.host.memory_index();
    match setup.endpoint {
        None => embed(tx, memory, seq)?,
        // What an endpoint made of another text is no vector of this one.
        Some(_) => vector::clear(tx, &memory.project_id, &memory.memory_id, seq)?,
    }
    if setup.needs_relay() {
        push(tx, env, &memory.project_id, update_of(vec![memory.memory_id.clone()]), 0)?;
    }
    Ok(())
}

/// A memory was withdrawn.
pub(crate) fn enqueue_removal(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    memory_id: &str,
    seq: i64,
) -> Result<(), Failure> {
    vector::clear(tx, project_id, memory_id, seq)?;
    if env.host.memory_index().outside {
        push(tx, env, project_id, update_of(vec![memory_id.to_owned()]), 0)?;
    }
    Ok(())
}

/// Stores the built-in hashing vector, which needs no external service.
pub(super) fn embed(tx: &mut Tx<'_>, memory: &Memory, seq: i64) -> Result<(), Failure> {
    let packed = QuantizedVector::of(&hashing(&text_of(memory)));
    Ok(vector::put(tx, (&memory.project_id, &memory.memory_id), seq, HASHING, &packed)?)
}

/// The update that brings these memories in step.
pub(super) fn update_of(memory_ids: Vec<String>) -> IndexUpdate {
    IndexUpdate { memory_ids, forget_before: None }
}

/// Writes down what the relay has to do, after this many milliseconds.
pub(super) fn push(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    update: IndexUpdate,
    after: i64,
) -> Result<(), Failure> {
    let effect = Effect::new(env.id(), project_id, Action::MemoryIndex(update), env.now + after);
    Ok(outbox::push(tx, &effect, env.now)?)
}
