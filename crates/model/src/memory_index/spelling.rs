//! Slips of the finger: two words that differ by a letter or two, and the words of a question that no text has.

use std::collections::BTreeSet;

use super::terms::{fold, is_common};
use crate::suggest::distance;

/// Shorter words are compared as they are: they differ by one letter from too many others.
pub(super) const MIN_LEN: usize = 4;
/// From this length on two slips are forgiven.
const LONG_LEN: usize = 8;

/// How many slips lie between two words, as far as they may be the same word: a letter added, left out, replaced, or swapped with its
/// neighbour. The first letter is hardly ever wrong.
pub(super) fn slips(word: &[char], other: &[char]) -> Option<usize> {
    let limit = match word.len() {
        ..MIN_LEN => return None,
        MIN_LEN..LONG_LEN => 1,
        _ => 2,
    };
    if word.first() != other.first() || word.len().abs_diff(other.len()) > limit {
        return None;
    }
    Some(distance(word, other)).filter(|slips| *slips <= limit)
}

/// Words of a question that may be misspelt.
#[derive(Debug, PartialEq, Eq)]
pub struct MisspeltWords(Vec<Vec<char>>);

impl MisspeltWords {
    /// Those of the question's words with which no word in these texts begins; `None` where there is no such word.
    pub fn of<'a>(words: &[String], texts: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let long = words.iter().filter(|word| !is_common(word)).map(|word| word.chars().map(fold).collect());
        let mut open: BTreeSet<Vec<char>> = long.filter(|word: &Vec<char>| word.len() >= MIN_LEN).collect();
        for text in texts {
            if open.is_empty() {
                return None;
            }
            each_word(text, |word| open.retain(|term| !word.starts_with(term)));
        }
        (!open.is_empty()).then(|| Self(open.into_iter().collect()))
    }

    /// How many of them stand in a text, with slips.
    pub fn count_in(&self, text: &str) -> usize {
        let mut open: Vec<&Vec<char>> = self.0.iter().collect();
        each_word(text, |word| open.retain(|term| slips(term, word).is_none()));
        self.0.len() - open.len()
    }
}

/// Calls this with each run of letters and digits in a text, in lower case without accents.
fn each_word(text: &str, mut take: impl FnMut(&[char])) {
    let mut word = Vec::new();
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase().map(fold));
        } else if !word.is_empty() {
            take(&word);
            word.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::query_words;
    use proptest::prelude::*;

    fn count(one: &str, other: &str) -> Option<usize> {
        slips(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
    }

    #[test]
    fn a_slip_is_forgiven_and_another_word_is_not() {
        for (slip, word, expected) in [
            ("stbus", "stubs", 1),
            ("genrated", "generated", 1),
            ("dispositoin", "disposition", 1),
            ("kundenumern", "kundennummern", 2),
            ("cart", "cart", 0),
        ] {
            assert_eq!(count(slip, word), Some(expected), "{slip}");
        }
        for (one, other) in [("cart", "part"), ("log", "lag"), ("redis", "rated"), ("deploy", "delay")] {
            assert_eq!(count(one, other), None, "{one} {other}");
        }
    }

    #[test]
    fn words_that_a_text_begins_with_are_not_misspelt() {
        let of =
            |question: &str, texts: &[&str]| MisspeltWords::of(&query_words(question), texts.iter().copied());
        assert_eq!(of("why deploy café", &["Deployments of the CAFE"]), None);
        assert_eq!(of("log it", &[]), None, "too short to be compared, or a common word");
        let misspelt = of("deploy featre flgas", &["Deployments"]).expect("two words");
        assert_eq!(misspelt.count_in("The feature has Flags; feature flags"), 2);
        assert_eq!((misspelt.count_in("Deployments"), misspelt.count_in("flags")), (0, 1));
    }

    proptest! {
        #[test]
        fn a_word_is_itself_and_slips_lie_as_far_either_way(one in "[a-d]{0,9}", other in "[a-d]{0,9}") {
            let same = count(&one, &one);
            prop_assert_eq!(same, (one.len() >= MIN_LEN).then_some(0));
            if let (Some(forth), Some(back)) = (count(&one, &other), count(&other, &one)) {
                prop_assert_eq!(forth, back);
            }
        }
    }
}
