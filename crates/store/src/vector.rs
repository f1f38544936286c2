//! Vectors of memories.

use baton_model::memory_index::QuantizedVector;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    PUT = "INSERT INTO memory_vector (project_id, memory_id, seq, embedder, dimension, vector)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project_id, memory_id) DO UPDATE SET seq = excluded.seq,
        embedder = excluded.embedder, dimension = excluded.dimension, vector = excluded.vector";
    CLEAR = "UPDATE memory_vector SET seq = $1, embedder = '', dimension = 0, vector = '' WHERE project_id = $2 AND memory_id = $3";
    GET = "SELECT memory_id, seq, embedder, vector FROM memory_vector WHERE project_id = $1 AND memory_id = $2";
    OF_PROJECT = "SELECT memory_id, seq, embedder, vector FROM memory_vector WHERE project_id = $1";
    SINCE = "SELECT memory_id, seq, embedder, vector FROM memory_vector WHERE project_id = $1 AND seq > $2 ORDER BY seq";
    LACKING = "SELECT m.memory_id FROM memory m LEFT JOIN memory_vector v ON v.project_id = m.project_id
        AND v.memory_id = m.memory_id WHERE m.project_id = $1 AND m.memory_id > $2 AND m.withdrawn_at IS NULL
        AND COALESCE(v.embedder, '') <> $3 ORDER BY m.memory_id LIMIT $4";
    LACK_COUNT = "SELECT COUNT(*) FROM memory m LEFT JOIN memory_vector v ON v.project_id = m.project_id
        AND v.memory_id = m.memory_id WHERE m.withdrawn_at IS NULL AND COALESCE(v.embedder, '') <> $1";
}

/// A vector as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// Of this memory.
    pub memory_id: String,
    /// The ledger's number at its last change.
    pub seq: i64,
    /// The embedder that made it; empty if it was removed.
    pub embedder: String,
    /// The vector; none where it was taken away.
    pub packed: Option<QuantizedVector>,
}

fn read(row: Row) -> Result<Vector, Fault> {
    let mut r = row.reader();
    let (memory_id, seq, embedder) = (r.text()?, r.int()?, r.text()?);
    Ok(Vector { memory_id, seq, embedder, packed: QuantizedVector::from_text(&r.text()?) })
}

/// Keeps the vector of a memory in place of the one before.
pub fn put(
    tx: &mut Tx<'_>,
    (project_id, memory_id): (&str, &str),
    seq: i64,
    embedder: &str,
    vector: &QuantizedVector,
) -> Result<(), Fault> {
    let dimension = i64::try_from(vector.dimension()).unwrap_or(i64::MAX);
    tx.execute_deferred(PUT, params![project_id, memory_id, seq, embedder, dimension, vector.to_text()])?;
    Ok(())
}

/// Clears a vector and keeps its row, so that in-memory copies see the removal.
pub fn clear(tx: &mut Tx<'_>, project_id: &str, memory_id: &str, seq: i64) -> Result<(), Fault> {
    tx.execute_deferred(CLEAR, params![seq, project_id, memory_id])?;
    Ok(())
}

/// The vector of one memory.
pub fn get(tx: &mut Tx<'_>, project_id: &str, memory_id: &str) -> Result<Option<Vector>, Fault> {
    tx.query_opt(GET, params![project_id, memory_id])?.map(read).transpose()
}

/// Every vector of a project that changed after this number, those that were taken away as well; without one, all.
pub fn changed_since(tx: &mut Tx<'_>, project_id: &str, after: Option<i64>) -> Result<Vec<Vector>, Fault> {
    let rows = match after {
        Some(seq) => tx.query(SINCE, params![project_id, seq])?,
        None => tx.query(OF_PROJECT, params![project_id])?,
    };
    rows.into_iter().map(read).collect()
}

/// Ids of memories after this one that have no vector of this embedder and were not withdrawn.
pub fn ids_without_vector(
    tx: &mut Tx<'_>,
    project_id: &str,
    after: &str,
    embedder: &str,
    limit: i64,
) -> Result<Vec<String>, Fault> {
    let rows = tx.query(LACKING, params![project_id, after, embedder, limit])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// How many memories of all projects have no vector of this embedder.
pub fn lack_count(tx: &mut Tx<'_>, embedder: &str) -> Result<i64, Fault> {
    tx.query_one(LACK_COUNT, params![embedder])?.reader().int()
}
