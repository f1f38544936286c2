//! Keeps the indexes in step with memories: the transaction that changes a memory does what can be done in the ledger,
//! and queues in the outbox what needs an external service.

use baton_model::effect::Effect;
use baton_model::memory::Memory;
use baton_model::recall::{HASHING, QuantizedVector, hashing};
use baton_store::{Failure, Tx, outbox, vector};
use serde_json::json;

use crate::op::Env;
use crate::recall::{ADAPTER, text_of};

/// A memory is there, or its text is another.
pub(crate) fn indexed(tx: &mut Tx<'_>, env: &mut Env<'_>, memory: &Memory, seq: i64) -> Result<(), Failure> {
    let setup = env.host.recall();
    match setup.endpoint {
        None => embed(tx, memory, seq)?,
        // What an endpoint made of another text is no vector of this one.
        Some(_) => vector::clear(tx, &memory.project_id, &memory.memory_id, seq)?,
    }
    if setup.needs_relay() {
        push(tx, env, &memory.project_id, &json!({ "memory_ids": [memory.memory_id] }), 0)?;
    }
    Ok(())
}

/// A memory was withdrawn.
pub(crate) fn dropped(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    memory_id: &str,
    seq: i64,
) -> Result<(), Failure> {
    vector::clear(tx, project_id, memory_id, seq)?;
    if env.host.recall().outside {
        push(tx, env, project_id, &json!({ "memory_ids": [memory_id] }), 0)?;
    }
    Ok(())
}

/// Stores the built-in hashing vector, which needs no external service.
pub(super) fn embed(tx: &mut Tx<'_>, memory: &Memory, seq: i64) -> Result<(), Failure> {
    let packed = QuantizedVector::of(&hashing(&text_of(memory)));
    Ok(vector::put(tx, (&memory.project_id, &memory.memory_id), seq, HASHING, &packed)?)
}

/// Writes down what the relay has to do, after this many milliseconds.
pub(super) fn push(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    payload: &serde_json::Value,
    after: i64,
) -> Result<(), Failure> {
    let effect = Effect {
        effect_id: env.id(),
        project_id: project_id.to_owned(),
        adapter: ADAPTER.into(),
        payload: payload.to_string(),
        attempts: 0,
        due_at: env.now + after,
        fence: 0,
        last_error: None,
    };
    Ok(outbox::push(tx, &effect, env.now)?)
}
