//! Qdrant's JSON: what is sent, and what is read of an answer.

use baton_model::memory_index::{self, point_id};
use serde::{Deserialize, Serialize};

use super::qdrant::Point;

/// Which points a call concerns.
#[derive(Serialize)]
pub(super) struct Filter<'a> {
    pub(super) must: Vec<Condition<'a>>,
}

#[derive(Serialize)]
pub(super) struct Condition<'a> {
    pub(super) key: &'static str,
    #[serde(flatten)]
    pub(super) test: Test<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Test<'a> {
    Match(Match<'a>),
    Range { lt: i64 },
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Match<'a> {
    Any(&'a [String]),
    Value(&'a str),
}

#[derive(Serialize)]
pub(super) struct Sparse<'a> {
    indices: &'a [u32],
    values: &'a [f32],
}

impl<'a> From<&'a memory_index::Sparse> for Sparse<'a> {
    fn from(sparse: &'a memory_index::Sparse) -> Self {
        Self { indices: &sparse.indices, values: &sparse.values }
    }
}

#[derive(Serialize)]
pub(super) struct Upsert<'a> {
    pub(super) points: Vec<PointRow<'a>>,
}

#[derive(Serialize)]
pub(super) struct PointRow<'a> {
    id: String,
    vector: PerVector<&'a [f32], Sparse<'a>>,
    payload: Payload<'a>,
}

#[derive(Serialize)]
struct Payload<'a> {
    project_id: &'a str,
    memory_id: &'a str,
    embedder: &'a str,
    at: i64,
}

impl<'a> PointRow<'a> {
    /// A point as it was at this time of the ledger, in milliseconds.
    pub(super) fn of(point: &'a Point, at: i64) -> Self {
        let Point { project_id, memory_id, embedder, sparse, dense } = point;
        let words = Some(Sparse::from(sparse)).filter(|sparse| !sparse.indices.is_empty());
        // A vector of nothing but zeros points nowhere.
        let about = Some(dense.as_slice()).filter(|dense| dense.iter().any(|value| *value != 0.0));
        Self {
            id: point_id(project_id, memory_id),
            vector: PerVector { words, about },
            payload: Payload { project_id, memory_id, embedder, at },
        }
    }
}

/// Something for each of the two vectors of a point: of its words, and of what it is about.
#[derive(Serialize, Deserialize)]
pub(super) struct PerVector<A, W> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) words: Option<W>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<A>,
}

#[derive(Serialize)]
pub(super) struct Deletion<'a> {
    pub(super) filter: Filter<'a>,
}

#[derive(Serialize)]
pub(super) struct Counting<'a> {
    pub(super) filter: Filter<'a>,
    pub(super) exact: bool,
}

/// Two rankings, fused.
#[derive(Serialize)]
pub(super) struct Search<'a> {
    pub(super) prefetch: Vec<Prefetch<'a>>,
    pub(super) query: Fusion,
    pub(super) filter: Filter<'a>,
    pub(super) limit: usize,
    pub(super) with_payload: [&'static str; 2],
}

#[derive(Serialize)]
pub(super) struct Fusion {
    pub(super) fusion: &'static str,
}

#[derive(Serialize)]
pub(super) struct Prefetch<'a> {
    pub(super) query: Query<'a>,
    pub(super) using: &'static str,
    pub(super) filter: Filter<'a>,
    pub(super) limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score_threshold: Option<f32>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Query<'a> {
    Sparse(Sparse<'a>),
    Dense(&'a [f32]),
}

#[derive(Serialize)]
pub(super) struct FieldIndex {
    pub(super) field_name: &'static str,
    pub(super) field_schema: Index,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Index {
    Tenant {
        #[serde(rename = "type")]
        kind: &'static str,
        is_tenant: bool,
    },
    Of(&'static str),
}

/// The settings of the dense vectors of a collection.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct DenseParams {
    pub(super) size: Option<u64>,
    pub(super) distance: Option<String>,
}

/// The settings of its sparse vectors.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct SparseParams {
    pub(super) modifier: Option<String>,
}

#[derive(Serialize)]
pub(super) struct NewCollection {
    pub(super) vectors: PerVector<DenseParams, SparseParams>,
    pub(super) sparse_vectors: PerVector<DenseParams, SparseParams>,
}

/// Every answer has its result in it.
#[derive(Deserialize)]
pub(super) struct Reply<T> {
    pub(super) result: Option<T>,
}

impl<T> Default for Reply<T> {
    fn default() -> Self {
        Self { result: None }
    }
}

#[derive(Deserialize)]
pub(super) struct CollectionInfo {
    pub(super) config: CollectionConfig,
}

#[derive(Deserialize)]
pub(super) struct CollectionConfig {
    pub(super) params: Params,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    pub(super) vectors: Option<PerVector<DenseParams, SparseParams>>,
    pub(super) sparse_vectors: Option<PerVector<DenseParams, SparseParams>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Version {
    pub(super) version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CountResult {
    pub(super) count: i64,
}

/// How a write went: `completed`, or `acknowledged`.
#[derive(Deserialize)]
pub(super) struct Written {
    pub(super) status: String,
}

#[derive(Deserialize)]
pub(super) struct Points {
    pub(super) points: Vec<Hit>,
}

#[derive(Deserialize)]
pub(super) struct Hit {
    pub(super) score: Option<f64>,
    pub(super) payload: Option<HitPayload>,
}

#[derive(Deserialize)]
pub(super) struct HitPayload {
    pub(super) project_id: Option<String>,
    pub(super) memory_id: Option<String>,
}
