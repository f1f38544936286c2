//! Memory index: terms, sparse vector and dense vector of a text, its words with slips and synonyms, and its relevance for
//! a question.
//!
//! Everything here is the same for the same text, on every machine and in every release that keeps the ids of its embedders.

mod dense;
mod matrix;
mod packed;
mod relevance;
mod sparse;
mod spelling;
mod synonyms;
mod terms;

pub use dense::{HASHING, HASHING_FLOOR, HASHING_FLOOR_OUTSIDE, hashing};
pub use matrix::Matrix;
pub use packed::{QuantizedVector, cosine};
pub use relevance::{VectorKind, relevance};
pub use sparse::{Sparse, document, question};
pub use spelling::MisspeltWords;
pub use synonyms::WordQuery;
pub use terms::terms;

use sha2::{Digest, Sha256};

/// What a memory is called in an index outside: a UUID made of its project and its id, so that putting it there twice is
/// putting it there once, and a copy of a project does not overwrite the project.
pub fn point_id(project_id: &str, memory_id: &str) -> String {
    let digest = Sha256::new().chain_update(project_id).chain_update([0]).chain_update(memory_id).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest).for_each(|(byte, from)| *byte = from);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().hyphenated().to_string()
}

/// What an index outside the ledger found for a call, or why it could not be asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexResult {
    /// Project, memory and how well it fits, best first; none: there is no such index, or it did not answer.
    pub hits: Option<Vec<(String, String, f64)>>,
    /// The question as an embedder outside sees it: its name and the vector.
    pub vector: Option<(String, Vec<f32>)>,
    /// Why something is missing.
    pub why: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_one_id_and_no_other_memory_has_it() {
        let id = point_id("p", "m");
        assert_eq!(id, point_id("p", "m"));
        assert_eq!((id.len(), id.as_bytes()[14]), (36, b'8'), "a UUID, as Qdrant takes them: {id}");
        for (project, memory) in [("p", "n"), ("q", "m"), ("", "pm"), ("pm", "")] {
            assert_ne!(id, point_id(project, memory));
        }
    }
}
