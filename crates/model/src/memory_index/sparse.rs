//! A text as a sparse vector: a weight for each of its terms, after BM25. How rare a term is among all texts is left to the
//! index, which knows them all (Qdrant's `idf`).

use std::collections::BTreeMap;

use super::terms::terms;

/// How soon saying a term again stops to count.
const K1: f32 = 1.2;
/// How much the length of a text counts.
const B: f32 = 0.75;
/// The usual length of a memory, in terms. Fixed: a vector must not depend on the others that there are.
const AVERAGE: f32 = 48.0;

/// Weights by number of a term, in ascending order of the numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sparse {
    /// Numbers of the terms, each once.
    pub indices: Vec<u32>,
    /// The weight of each.
    pub values: Vec<f32>,
}

/// A text that is kept: the part of BM25 that depends on it alone.
#[allow(clippy::cast_precision_loss, reason = "a text has far fewer than 2^24 terms")]
pub fn document(text: &str) -> Sparse {
    let terms = terms(text);
    let length = terms.len() as f32;
    weighed(&terms, |count| {
        let count = count as f32;
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / AVERAGE))
    })
}

/// A text that is asked for: each of its terms counts once.
pub fn question(text: &str) -> Sparse {
    weighed(&terms(text), |_| 1.0)
}

fn weighed(terms: &[String], weight: impl Fn(u32) -> f32) -> Sparse {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for term in terms {
        *counts.entry(number(term.as_bytes())).or_default() += 1;
    }
    let mut sparse = Sparse::default();
    for (index, count) in counts {
        sparse.indices.push(index);
        sparse.values.push(weight(count));
    }
    sparse
}

/// The number of a term: FNV-1a, 32 bits. Two of 100,000 different terms share one in about one of ten texts' worth of words;
/// they are then found for each other.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_never_change() {
        // Known values of FNV-1a: what is in an existing index stays findable.
        assert_eq!((number(b""), number(b"a"), number(b"foobar")), (0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968));
    }

    #[test]
    fn more_of_a_term_counts_less_and_less_and_length_takes_away() {
        let weight = |text: &str| document(text).values[0];
        let (one, two, three) = (weight("redis"), weight("redis redis"), weight("redis redis redis"));
        assert!(two > one && three > two && two - one > three - two);
        let long = document(&format!("redis {}", "word ".repeat(200)));
        let at = long.indices.iter().position(|index| *index == number(b"redis")).expect("there");
        assert!(long.values[at] < one);
    }

    #[test]
    fn a_question_has_what_its_answer_has() {
        let (query, stored) = (question("Why were deploys cached?"), document("we cache each deploy"));
        assert!(query.indices.iter().all(|index| stored.indices.contains(index)), "{query:?} {stored:?}");
        assert!(query.values.iter().all(|value| (*value - 1.0).abs() < f32::EPSILON));
        assert_eq!(question("is it?"), Sparse::default());
    }

    proptest! {
        #[test]
        fn every_text_is_a_vector_that_an_index_takes(text in ".{0,400}") {
            let sparse = document(&text);
            prop_assert_eq!(sparse.indices.len(), sparse.values.len());
            prop_assert!(sparse.indices.windows(2).all(|two| two[0] < two[1]));
            prop_assert!(sparse.values.iter().all(|value| value.is_finite() && *value > 0.0));
        }
    }
}
