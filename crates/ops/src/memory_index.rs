//! Memory index: how vectors are made, and the cache of them in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use baton_model::memory::Memory;
use baton_model::memory_index::{HASHING, HASHING_FLOOR, Matrix, QuantizedVector};
use baton_store::{Failure, Tx, vector};

/// Memories that one effect may name.
pub const BATCH_SIZE: usize = 64;
/// The vectors that a process keeps in memory, in bytes; those of the project that was asked for least lately go first.
const MAX_CACHE_BYTES: usize = 512 * 1024 * 1024;

/// How memories are indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// The name of the embedder at an endpoint; without one, vectors are hashed from the words.
    pub endpoint: Option<String>,
    /// Whether there is an index outside the ledger (Qdrant).
    pub outside: bool,
}

impl Setup {
    /// Whose vectors are kept.
    pub fn embedder(&self) -> &str {
        self.endpoint.as_deref().unwrap_or(HASHING)
    }

    /// Whether indexing needs an external service.
    pub fn needs_relay(&self) -> bool {
        self.outside || self.endpoint.is_some()
    }

    /// The cosine below which two vectors have nothing in common. Models differ too much in theirs for one to be drawn.
    fn floor(&self) -> f32 {
        if self.endpoint.is_some() { 0.0 } else { HASHING_FLOOR }
    }
}

/// What of a memory is indexed.
pub fn text_of(memory: &Memory) -> String {
    if memory.tags.is_empty() {
        memory.text.clone()
    } else {
        format!("{} {}", memory.text, memory.tags.join(" "))
    }
}

/// The vectors of projects as they were when last asked for. What changed since is read from the ledger, in the number's order, so that an
/// answer is never older than the ledger.
#[derive(Default)]
pub struct MatrixCache(Mutex<BTreeMap<String, CachedMatrix>>);

struct CachedMatrix {
    used: u64,
    cached: Arc<RwLock<VectorCache>>,
}

/// The vectors of one embedder, up to a number of the ledger.
#[derive(Default)]
struct VectorCache {
    embedder: String,
    seen: Option<i64>,
    matrix: Matrix,
}

impl VectorCache {
    /// Applies the changes since the last call. The lock may be held by another reader of the same rows: applying them
    /// twice changes nothing.
    fn follow(&mut self, tx: &mut Tx<'_>, project_id: &str, embedder: &str) -> Result<(), Failure> {
        if self.embedder != embedder {
            *self = Self { embedder: embedder.to_owned(), ..Self::default() };
        }
        for row in vector::changed_since(tx, project_id, self.seen)? {
            self.seen = self.seen.max(Some(row.seq));
            match row.packed.filter(|_| row.embedder == embedder) {
                Some(packed) => self.matrix.put(&row.memory_id, &packed),
                None => self.matrix.remove(&row.memory_id),
            }
        }
        Ok(())
    }
}

impl MatrixCache {
    fn of(&self, project_id: &str) -> Arc<RwLock<VectorCache>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = all.values().map(|entry| entry.used).max().unwrap_or_default() + 1;
        let entry = all
            .entry(project_id.to_owned())
            .or_insert_with(|| CachedMatrix { used: now, cached: Arc::default() });
        entry.used = now;
        Arc::clone(&entry.cached)
    }

    /// Lets go of what was asked for least lately, where it is more than may be kept.
    fn evict_to(&self, budget: usize) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |entry: &CachedMatrix| entry.cached.try_read().map_or(0, |cached| cached.matrix.bytes());
        let mut total: usize = all.values().map(size).sum();
        while total > budget && all.len() > 1 {
            let Some(oldest) = all.iter().min_by_key(|(_, entry)| entry.used).map(|(id, _)| id.clone())
            else {
                return;
            };
            total = total.saturating_sub(all.remove(&oldest).as_ref().map_or(0, size));
        }
    }
}

/// Memories of a project whose vectors point where this one does, the nearest first; one that was withdrawn meanwhile may be
/// among them.
pub(crate) fn nearest(
    tx: &mut Tx<'_>,
    cache: Option<&MatrixCache>,
    setup: &Setup,
    project_id: &str,
    (question, limit): (&QuantizedVector, usize),
) -> Result<Vec<(String, f64)>, Failure> {
    let Some(cache) = cache else {
        let mut cached = VectorCache::default();
        cached.follow(tx, project_id, setup.embedder())?;
        return Ok(cached.matrix.nearest(question, setup.floor(), limit));
    };
    let cached = cache.of(project_id);
    cached.write().unwrap_or_else(PoisonError::into_inner).follow(tx, project_id, setup.embedder())?;
    let found =
        cached.read().unwrap_or_else(PoisonError::into_inner).matrix.nearest(question, setup.floor(), limit);
    cache.evict_to(MAX_CACHE_BYTES);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::memory_index::hashing;

    #[test]
    fn what_was_asked_for_least_lately_goes_first() {
        let cache = MatrixCache::default();
        for project in ["a", "b", "c", "a"] {
            let cached = cache.of(project);
            cached.write().expect("lock").matrix.put("m", &QuantizedVector::of(&hashing("redis")));
        }
        let names = |cache: &MatrixCache| cache.0.lock().expect("lock").keys().cloned().collect::<Vec<_>>();
        cache.evict_to(1_000_000);
        assert_eq!(names(&cache), ["a", "b", "c"]);
        cache.evict_to(900);
        assert_eq!(names(&cache), ["a", "c"]);
        cache.evict_to(0);
        assert_eq!(names(&cache), ["a"], "the one that is in use stays");
    }
}
