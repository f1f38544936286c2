//! Where recalled memories come from: an index gives candidates with how well they match; what they are worth is decided once,
//! by the model. An index of vectors would be another implementation.

use baton_model::memory::{Memory, words};
use baton_store::{Failure, Tx, memory, search_memory};

/// The most candidates that are ranked for each project.
const CANDIDATES: i64 = 200;

/// A memory, and how well it matches: 0 to 1.
pub(super) struct Candidate {
    pub(super) memory: Memory,
    pub(super) matched: f64,
}

/// Something that finds memories of a project.
pub(super) trait Index {
    /// Memories that may answer the question, none of them withdrawn.
    fn candidates(&self, tx: &mut Tx<'_>, project_id: &str, query: &str) -> Result<Vec<Candidate>, Failure>;
}

/// Finds by words; without any word, the newest.
pub(super) struct Text;

impl Index for Text {
    #[allow(clippy::cast_precision_loss, reason = "weights are small")]
    fn candidates(&self, tx: &mut Tx<'_>, project_id: &str, query: &str) -> Result<Vec<Candidate>, Failure> {
        let words = words(query);
        if words.is_empty() {
            let recent = memory::recent(tx, project_id, CANDIDATES)?;
            return Ok(recent.into_iter().map(|memory| Candidate { memory, matched: 0.0 }).collect());
        }
        let found = search_memory::find(tx, project_id, &words, CANDIDATES)?;
        let best = found.iter().map(|(_, weight)| *weight).max().unwrap_or(1).max(1);
        let mut all = Vec::with_capacity(found.len());
        for (id, weight) in found {
            if let Some(memory) = memory::get(tx, project_id, &id)? {
                all.push(Candidate { memory, matched: weight as f64 / best as f64 });
            }
        }
        Ok(all)
    }
}
