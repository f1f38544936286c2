//! Synonyms of the trade: what a search without a model knows of what words mean.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::terms::terms;

/// Groups of words, one on each line.
const GROUPS: &str = include_str!("synonyms.txt");
/// A shorter synonym is no beginning of other words.
const MIN_BEGINNING_LEN: usize = 5;

/// Another word for a term.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Synonym {
    word: String,
    term: String,
}

impl Synonym {
    /// Whether a term of a text is this word, or begins with it.
    pub(super) fn matches(&self, term: &str) -> bool {
        self.term == term || (is_beginning(&self.term) && term.starts_with(&self.term))
    }
}

fn is_beginning(word: &str) -> bool {
    word.chars().count() >= MIN_BEGINNING_LEN
}

/// Other words for a term.
pub(super) fn of(term: &str) -> &'static [Synonym] {
    static INDEX: OnceLock<BTreeMap<String, Vec<Synonym>>> = OnceLock::new();
    INDEX.get_or_init(index).get(term).map_or(&[], Vec::as_slice)
}

fn groups() -> impl Iterator<Item = Vec<Synonym>> {
    let synonym = |word: &str| Some(Synonym { term: terms(word).pop()?, word: word.to_owned() });
    let lines = GROUPS.lines().filter(|line| !line.starts_with('#'));
    lines.map(move |line| line.split_whitespace().filter_map(synonym).collect())
}

fn index() -> BTreeMap<String, Vec<Synonym>> {
    let mut all: BTreeMap<String, Vec<Synonym>> = BTreeMap::new();
    for group in groups() {
        for one in &group {
            let others = group.iter().filter(|other| other.term != one.term);
            all.entry(one.term.clone()).or_default().extend(others.cloned());
        }
    }
    for others in all.values_mut() {
        others.sort();
        others.dedup();
    }
    all
}

/// What an index of words is asked for: any of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordQuery {
    /// Beginnings of words.
    pub beginnings: Vec<String>,
    /// Whole words.
    pub words: Vec<String>,
}

impl WordQuery {
    /// The synonyms of a question's words.
    pub fn synonyms(question: &str) -> Self {
        let mut query = Self::default();
        for synonym in terms(question).iter().flat_map(|term| of(term)) {
            // The stem of an English word is the beginning of its forms; an index may keep the accents of others.
            let stem = if synonym.word.is_ascii() { &synonym.term } else { &synonym.word };
            let (list, text) = if is_beginning(stem) {
                (&mut query.beginnings, stem)
            } else {
                (&mut query.words, &synonym.word)
            };
            if !list.contains(text) {
                list.push(text.clone());
            }
        }
        query
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.beginnings.is_empty() && self.words.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_another_in_either_language_and_in_its_forms() {
        for (question, text) in [
            ("removing", "delete"),
            ("repos", "repository"),
            ("db", "datenbank"),
            ("Löschen", "deleted"),
            ("prüfen", "verify"),
        ] {
            let (question_terms, text_terms) = (terms(question), terms(text));
            assert!(
                of(&question_terms[0]).iter().any(|synonym| synonym.matches(&text_terms[0])),
                "{question} {text}"
            );
        }
        assert!(of("redi").is_empty());
        assert!(
            !of(&terms("delete")[0]).iter().any(|synonym| synonym.matches("delet")),
            "no word is its own synonym"
        );
    }

    #[test]
    fn long_synonyms_are_beginnings_and_short_ones_whole_words() {
        let query = WordQuery::synonyms("database");
        assert!(query.beginnings.contains(&"datenbank".to_owned()) && query.words == ["db"], "{query:?}");
        assert!(WordQuery::synonyms("delete").beginnings.contains(&"löschen".to_owned()));
        assert_eq!(WordQuery::synonyms("why is it"), WordQuery::default());
    }

    #[test]
    fn every_word_is_one_term_and_stands_once() {
        let mut terms = BTreeMap::new();
        for (line, group) in GROUPS.lines().filter(|line| !line.starts_with('#')).zip(groups()) {
            assert_eq!(line.split(' ').count(), group.len(), "each word is one term: {line}");
            assert!(group.len() > 1 && line.to_lowercase() == *line, "{line}");
            for synonym in group {
                assert_eq!(terms.insert(synonym.term, line), None, "{} stands twice: {line}", synonym.word);
            }
        }
        assert!(terms.len() > 300);
    }
}
