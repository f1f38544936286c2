//! A text as a dense vector, without any model: its terms and the threes of letters in them, hashed into a few hundred numbers.
//! It finds what a search for words does not: other forms, parts of a word, a slip of the pen.

use super::sparse::number;
use super::terms::terms;

/// The name of this embedder. Another way to make vectors is another name.
pub const HASHING: &str = "hashing-1";
/// How many numbers a vector has.
const DIMENSION: usize = 256;
/// Below this cosine two texts have nothing to do with each other: what they share are numbers that met by chance. What is above may
/// still be chance; a candidate without a term like one of the question's is left out ([`super::relevance`]).
pub const HASHING_FLOOR: f32 = 0.1;
/// The floor for an index outside, which does not weigh the terms.
pub const HASHING_FLOOR_OUTSIDE: f32 = 0.3;
/// The share of a whole term against all its threes.
const TERM: f32 = 0.7;
const TRIGRAMS: f32 = 1.1;

/// The vector of a text, of length 1; of one without terms, all zeros.
#[allow(clippy::cast_precision_loss, reason = "a word has few letters")]
pub fn hashing(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    let mut terms = terms(text);
    terms.sort_unstable();
    for same in terms.chunk_by(|a, b| a == b) {
        let Some(term) = same.first() else { continue };
        let weight = 1.0 + (same.len() as f32).ln();
        add(&mut vector, number(term.as_bytes()), TERM * weight);
        let letters: Vec<char> = format!("^{term}$").chars().collect();
        let threes = letters.windows(3);
        // Together the threes of a long word weigh as much as those of a short one.
        let each = TRIGRAMS * weight / (threes.len().max(1) as f32).sqrt();
        for three in threes {
            let three: String = three.iter().collect();
            add(&mut vector, number(three.as_bytes()) ^ 0x5bd1_e995, each);
        }
    }
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

/// A feature goes to one place, with a sign, so that features that meet there cancel out as often as they add up.
fn add(vector: &mut [f32], hash: u32, weight: f32) {
    let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    let mixed = (mixed ^ (mixed >> 12)).wrapping_mul(0x297a_2d39);
    let mixed = mixed ^ (mixed >> 15);
    let sign = if mixed & 1 == 0 { weight } else { -weight };
    let place = (mixed >> 1) as usize % vector.len().max(1);
    if let Some(value) = vector.get_mut(place) {
        *value += sign;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{QuantizedVector, cosine};
    use super::*;
    use proptest::prelude::*;

    fn near(a: &str, b: &str) -> f32 {
        cosine(&QuantizedVector::of(&hashing(a)), &QuantizedVector::of(&hashing(b)))
    }

    #[test]
    fn what_says_the_same_is_near() {
        assert!(near("deploy on friday", "deploying on fridays") > 0.9);
        assert!(near("postgres connection pool", "postgresql connexion pooling") > HASHING_FLOOR);
        assert!(near("authentication fails", "authentification failure") > HASHING_FLOOR);
        assert!(
            near("the cart rounds half up", "redis was rejected: no transactions across keys")
                < HASHING_FLOOR
        );
    }

    #[test]
    fn a_vector_never_changes() {
        let stored = QuantizedVector::of(&hashing("Redis was rejected")).to_text();
        assert_eq!(stored.len(), 342);
        assert_eq!(
            &stored[120..200],
            KNOWN,
            "vectors that are kept would not be comparable any more: give it a new name"
        );
    }

    /// A part of what a release wrote.
    const KNOWN: &str = "AAAAAAAAAAAAAAAAAKIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA9AABeAAAAAAAAAAAAAAAAAAAA";

    #[test]
    fn a_text_without_words_is_nowhere() {
        assert!(hashing("?!").iter().all(|value| value.abs() < f32::EPSILON));
        assert!(near("?!", "redis").abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn every_vector_has_length_one_or_none(text in ".{0,200}") {
            let length = hashing(&text).iter().map(|value| value * value).sum::<f32>().sqrt();
            prop_assert!(length.abs() < 1e-3 || (length - 1.0).abs() < 1e-3);
        }
    }
}
