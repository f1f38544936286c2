//! Relevance of a text for a question: how near their vectors are, and how much of the question the text has in its words.
//!
//! A word counts also in other forms, with slips and, without a model, by its synonyms. Rankings are not merged by place: a ranking that found nothing worth finding would count as much as one that did. The words count
//! only as far as the text has the question's terms, and rare terms count more than frequent ones.

use std::collections::BTreeSet;

use super::spelling::{MIN_LEN, slips};
use super::synonyms::{self, Synonym};
use super::terms::terms;

/// Terms whose trigrams have less in common than this are different words.
const MIN_LIKENESS: f64 = 0.4;
/// What a word counts that begins with a term of the question, or the reverse.
const PREFIX: f64 = 0.9;
/// What a synonym counts.
const SYNONYM: f64 = 0.8;
/// How far the lengths of two terms may differ, in letters, whose trigrams are compared.
const MAX_LENGTH_GAP: usize = 3;
/// Terms of a text that are compared letter by letter.
const MAX_SOFT_TERMS: usize = 512;

/// What coverage below the floor counts: a text without a vector is found by its words, after all that a model finds.
const TRACE: f64 = 0.01;

/// What the vectors of an index can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorKind {
    /// They are made by a model, and near what means the same.
    Model,
    /// They are hashed from words and trigrams, and near what is written alike.
    Hashed,
}

impl VectorKind {
    /// The coverage from which on the words of a question count beside the vectors, and how much full coverage counts. A paraphrase
    /// shares a word or two with texts that mean something else: beside a model that is no evidence.
    fn weights(self) -> (f64, f64) {
        match self {
            Self::Model => (0.3, 1.2),
            Self::Hashed => (0.0, 2.0),
        }
    }
}

/// The relevance of each text, from 0 to 1, where the best one has 1; 0 is that of a text that does not answer the question. `found`: a
/// text and the similarity of its vector to that of the question, 0 where it was found by its words alone.
pub fn relevance(question: &str, found: &[(&str, f64)], kind: VectorKind) -> Vec<f64> {
    let (floor, weight) = kind.weights();
    let texts: Vec<&str> = found.iter().map(|(text, _)| *text).collect();
    let raw: Vec<f64> = coverage(question, &texts, kind)
        .into_iter()
        .zip(found)
        .map(|(covered, (_, similarity))| match kind {
            // Hashes that are alike by chance are no answer.
            VectorKind::Hashed if covered <= 0.0 => 0.0,
            _ => {
                similarity.max(0.0) + weight * ((covered - floor) / (1.0 - floor)).max(0.0) + TRACE * covered
            }
        })
        .collect();
    let best = raw.iter().copied().fold(0.0, f64::max);
    raw.into_iter().map(|value| if best > 0.0 { value / best } else { 0.0 }).collect()
}

/// A term of a question.
struct QuestionTerm {
    text: String,
    letters: Vec<char>,
    trigrams: BTreeSet<String>,
    synonyms: &'static [Synonym],
}

impl QuestionTerm {
    /// A model knows which words mean the same; only beside hashed vectors are there synonyms.
    fn new(text: String, kind: VectorKind) -> Self {
        let synonyms = match kind {
            VectorKind::Model => &[],
            VectorKind::Hashed => synonyms::of(&text),
        };
        Self { letters: text.chars().collect(), trigrams: trigrams(&text), synonyms, text }
    }
}

/// Which share of the question's terms each text has, from 0 to 1. A term counts the more, the fewer of the texts have it.
#[allow(clippy::cast_precision_loss, reason = "a few hundred texts")]
fn coverage(question: &str, texts: &[&str], kind: VectorKind) -> Vec<f64> {
    let distinct: BTreeSet<String> = terms(question).into_iter().collect();
    let texts: Vec<BTreeSet<String>> = texts.iter().map(|text| terms(text).into_iter().collect()).collect();
    let count = texts.len() as f64;
    let weighted: Vec<(QuestionTerm, f64)> = distinct
        .into_iter()
        .map(|term| {
            let having = texts.iter().filter(|text| text.contains(&term)).count() as f64;
            (QuestionTerm::new(term, kind), (1.0 + (count - having + 0.5) / (having + 0.5)).ln())
        })
        .collect();
    let all: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let covered = |text: &BTreeSet<String>| {
        weighted.iter().map(|(term, weight)| weight * likeness(term, text)).sum::<f64>()
    };
    texts.iter().map(|text| if all > 0.0 { covered(text) / all } else { 0.0 }).collect()
}

/// How well the best term of a text fits a term of the question, from 0 to 1.
fn likeness(term: &QuestionTerm, text: &BTreeSet<String>) -> f64 {
    if text.contains(&term.text) {
        return 1.0;
    }
    text.iter().take(MAX_SOFT_TERMS).map(|other| soft_likeness(term, other)).fold(0.0, f64::max)
}

/// How well another term fits a term of the question: as a form of it, as a synonym, or as the same word with slips.
#[allow(clippy::cast_precision_loss, reason = "a word has few letters")]
fn soft_likeness(term: &QuestionTerm, other: &str) -> f64 {
    let synonym = if term.synonyms.iter().any(|synonym| synonym.matches(other)) { SYNONYM } else { 0.0 };
    let length = term.letters.len();
    let other_length = other.chars().count();
    if length < MIN_LEN || other_length < MIN_LEN {
        return synonym;
    }
    if other.starts_with(&term.text) || term.text.starts_with(other) {
        return PREFIX;
    }
    if length.abs_diff(other_length) > MAX_LENGTH_GAP {
        return synonym;
    }
    let other_letters: Vec<char> = other.chars().collect();
    let spelling =
        slips(&term.letters, &other_letters).map_or(0.0, |slips| 1.0 - slips as f64 / length as f64);
    let alike = Some(dice(&term.trigrams, &trigrams(other))).filter(|share| *share >= MIN_LIKENESS);
    synonym.max(spelling).max(alike.unwrap_or(0.0))
}

/// The threes of letters in a term, with its ends.
fn trigrams(term: &str) -> BTreeSet<String> {
    let letters: Vec<char> = format!("^{term}$").chars().collect();
    letters.windows(3).map(|three| three.iter().collect()).collect()
}

/// The Dice coefficient of two sets.
#[allow(clippy::cast_precision_loss, reason = "a word has few letters")]
fn dice(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count() as f64;
    let all = (one.len() + other.len()) as f64;
    if all > 0.0 { 2.0 * shared / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: [&str; 4] = [
        "Deployments to production go through the switch.",
        "The mobile app caches feature flags for ten minutes.",
        "Logs older than thirty days are deleted.",
        "The cart rounds half up.",
    ];

    fn best(question: &str, similarities: [f64; 4], kind: VectorKind) -> usize {
        let found: Vec<(&str, f64)> = TEXTS.into_iter().zip(similarities).collect();
        let all = relevance(question, &found, kind);
        (0..4).max_by(|a, b| all[*a].total_cmp(&all[*b])).expect("four")
    }

    #[test]
    fn what_a_model_finds_by_its_meaning_is_not_outvoted_by_a_word() {
        // `how`, `do` and `we` say nothing, and `days` alone is no evidence against a model.
        let similarities = [0.45, 0.1, 0.2, 0.1];
        assert_eq!(best("how do we roll out a release within days", similarities, VectorKind::Model), 0);
    }

    #[test]
    fn a_text_without_a_vector_is_found_by_one_word_of_many() {
        let question = "rollback cluster migration secret cache";
        let all = relevance(question, &[(TEXTS[1], 0.0), (TEXTS[3], 0.0)], VectorKind::Model);
        assert!(all[0] > 0.0 && all[1] <= 0.0, "{all:?}");
    }

    #[test]
    fn the_words_of_a_text_and_words_with_slips_find_it() {
        for question in ["feature flags mobile", "featre flags moble"] {
            for kind in [VectorKind::Model, VectorKind::Hashed] {
                assert_eq!(best(question, [0.4, 0.2, 0.3, 0.1], kind), 1, "{question}");
            }
        }
        let covered = coverage("flags", &TEXTS, VectorKind::Model);
        assert!(covered[1] > 0.99 && covered[0] < 0.01, "{covered:?}");
    }

    #[test]
    fn a_word_with_swapped_letters_finds_its_text_where_trigrams_do_not() {
        // `flgas` and `flags` share none of their threes, and the model's vectors are near something else.
        for kind in [VectorKind::Model, VectorKind::Hashed] {
            assert_eq!(best("flgas", [0.2, 0.1, 0.3, 0.0], kind), 1);
        }
    }

    #[test]
    fn synonyms_find_a_text_where_there_is_no_model() {
        assert_eq!(best("release", [0.0; 4], VectorKind::Hashed), 0);
        assert_eq!(best("Löschen", [0.1, 0.0, 0.0, 0.0], VectorKind::Hashed), 2);
        let with_a_model = coverage("remove", &TEXTS, VectorKind::Model);
        assert!(with_a_model.iter().all(|covered| *covered < 0.01), "a model knows them: {with_a_model:?}");
    }

    proptest! {
        #[test]
        fn relevance_is_between_none_and_one(question in ".{0,40}", texts in prop::collection::vec((".{0,60}", -1.0..1.0_f64), 0..6)) {
            let found: Vec<(&str, f64)> = texts.iter().map(|(text, similarity)| (text.as_str(), *similarity)).collect();
            for kind in [VectorKind::Model, VectorKind::Hashed] {
                let all = relevance(&question, &found, kind);
                prop_assert_eq!(all.len(), found.len());
                prop_assert!(all.iter().all(|value| (0.0..=1.0).contains(value)));
            }
        }
    }
}
