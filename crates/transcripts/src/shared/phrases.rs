//! Lists of phrases that are all looked for in one pass over a text.

use super::words::is_word_char;

/// Lists of phrases by the word that each phrase begins with.
#[derive(Debug)]
pub(crate) struct PhraseIndex {
    /// The first entry of each slot, by the hash of the first word.
    slots: Vec<u16>,
    entries: Vec<Entry>,
}

/// A phrase, the lists that it is in as bits, and the next phrase of its slot.
#[derive(Debug)]
struct Entry {
    phrase: &'static str,
    lists: u64,
    next: u16,
}

/// Slots of an index: more than there are first words, so that most words of a text meet an empty one.
const SLOTS: usize = 2048;
/// The end of a slot.
const END: u16 = u16::MAX;

impl PhraseIndex {
    /// An index over at most 64 lists.
    pub(crate) fn new(lists: &[&[&'static str]]) -> Self {
        debug_assert!(lists.len() <= 64, "{} lists", lists.len());
        let mut index = Self { slots: vec![END; SLOTS], entries: Vec::new() };
        for (nth, list) in lists.iter().enumerate() {
            list.iter().for_each(|phrase| index.add(phrase, 1 << nth));
        }
        index
    }

    fn add(&mut self, phrase: &'static str, list: u64) {
        let slot = slot(first_word(phrase, 0));
        let known = self.entries_of(slot).find(|at| self.entries[*at].phrase == phrase);
        if let Some(at) = known {
            self.entries[at].lists |= list;
            return;
        }
        let nth = u16::try_from(self.entries.len()).unwrap_or(END);
        debug_assert!(nth < END && !phrase.is_empty());
        self.entries.push(Entry { phrase, lists: list, next: self.slots[slot] });
        self.slots[slot] = nth;
    }

    fn entries_of(&self, slot: usize) -> impl Iterator<Item = usize> {
        let entry = |at: u16| (at != END).then_some(usize::from(at));
        std::iter::successors(entry(self.slots[slot]), move |at| entry(self.entries[*at].next))
    }

    /// The lists with a phrase in the text, as bits: those of which [`super::words::has_phrase`] finds one.
    pub(crate) fn find(&self, text: &str) -> u64 {
        let (mut found, mut at, mut after_word) = (0, 0, false);
        while at < text.len() {
            let word = first_word(text, at);
            let is_word = word.starts_with(is_word_char);
            // A phrase that begins with a sign begins no word, but it does not go on with one either.
            if is_word || !after_word {
                found |= self.begun_at(text, at, slot(word), found);
            }
            at += word.len();
            after_word = is_word;
        }
        found
    }

    fn begun_at(&self, text: &str, at: usize, slot: usize, known: u64) -> u64 {
        let rest = &text[at..];
        let new = self.entries_of(slot).map(|at| &self.entries[at]).filter(|entry| entry.lists & !known != 0);
        let stands = |entry: &&Entry| {
            rest.strip_prefix(entry.phrase).is_some_and(|after| !after.starts_with(is_word_char))
        };
        new.filter(stands).fold(0, |found, entry| found | entry.lists)
    }
}

/// The word that begins here, or a single other character.
fn first_word(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let len = rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
    let first = || rest.chars().next().map_or(0, char::len_utf8);
    &rest[..if len == 0 { first() } else { len }]
}

fn slot(word: &str) -> usize {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::try_from(hash >> 32).unwrap_or(0) % SLOTS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shared::words::has_phrase;

    const LISTS: &[&[&str]] = &[
        &["must", "must not", "not", "don't", "i don't"],
        &["→", "–", "it"],
        &["unresolved:", "what changed?", "--continue", "must"],
        &["in favour of", "überall", "no-one"],
    ];

    /// The lists of which a phrase stands in the text, each phrase looked for by itself.
    fn one_by_one(text: &str) -> u64 {
        let has = |list: &&[&str]| list.iter().any(|phrase| has_phrase(text, phrase));
        LISTS.iter().enumerate().filter(|(_, list)| has(list)).fold(0, |found, (nth, _)| found | 1 << nth)
    }

    #[test]
    fn a_phrase_counts_as_whole_words() {
        let index = PhraseIndex::new(LISTS);
        for (text, lists) in [
            ("you must not", 0b101),
            ("mustard", 0),
            ("a→b", 0),
            ("a → b", 0b10),
            ("i don't", 1),
            ("don'tx", 0),
            ("it is in favour of überall", 0b1010),
            ("no-one-else", 0),
            ("git rebase --continue", 0b100),
            ("(what changed?)", 0b100),
        ] {
            assert_eq!(index.find(text), lists, "{text}");
        }
    }

    proptest! {
        #[test]
        fn one_pass_finds_what_a_search_for_each_phrase_finds(
            parts in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(LISTS.concat()).prop_map(str::to_owned),
                    proptest::sample::select(vec![" ", "-", "_", "'", "→", "é", "x", "ü", ":", "?"]).prop_map(str::to_owned),
                    "\\PC{0,3}",
                ],
                0..12,
            ),
        ) {
            let text = parts.concat();
            prop_assert_eq!(PhraseIndex::new(LISTS).find(&text), one_by_one(&text), "{}", text);
        }
    }
}
