//! What the user wants to keep, and what he has taken away later.

use super::lowered;
use crate::shared::words::sentences;

const KEEP: &[&str] =
    &["keep", "keeping", "leave", "retain", "preserve", "preserving", "alongside", "beside"];
const REMOVE: &[&str] = &["remove", "delete", "drop", "rid", "rm", "purge", "scrap", "throw"];
/// How many words behind the verb may name what it is about.
const REACH: usize = 6;
/// Shorter words, and these, name nothing.
const MIN_WORD: usize = 3;
const PLAIN: &[&str] = &[
    "the",
    "all",
    "any",
    "and",
    "for",
    "out",
    "off",
    "from",
    "away",
    "that",
    "this",
    "these",
    "those",
    "them",
    "then",
    "our",
    "your",
    "its",
    "new",
    "around",
    "please",
    "code",
    "file",
    "files",
    "remaining",
    "rest",
    "other",
    "still",
    "with",
    "only",
    "also",
    "going",
    "until",
    "when",
    "where",
    "which",
    "into",
    "part",
    "parts",
    "stuff",
    "thing",
    "things",
    "mind",
    "working",
    "alone",
    "are",
    "was",
    "were",
    "not",
];

/// The words for what a sentence wants to keep.
pub(crate) fn kept_objects(text: &str) -> Vec<String> {
    objects(text, KEEP)
}

/// The words for what a message orders to remove.
pub(crate) fn removed_objects(text: &str) -> Vec<String> {
    objects(text, REMOVE)
}

/// The part of a message that orders to remove something, to the end of its line.
pub(crate) fn removal(text: &str) -> Option<&str> {
    let orders =
        |clause: &str| words_of(&lowered(clause)).any(|word| REMOVE.iter().any(|verb| is_verb(word, verb)));
    text.lines().find_map(|line| {
        let mut start = 0;
        for (at, c) in line.char_indices().chain([(line.len(), '.')]) {
            if !matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | '—') {
                continue;
            }
            if line.get(start..at).is_some_and(orders) {
                return line.get(start..).map(str::trim);
            }
            start = at + c.len_utf8();
        }
        None
    })
}

fn objects(text: &str, verbs: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in text.lines().flat_map(sentences) {
        let lower = lowered(sentence).replace("along side", "alongside");
        let is_end = |c: char| matches!(c, ',' | ';' | ':' | '—');
        for clause in lower.split(is_end) {
            let words: Vec<&str> = words_of(clause).collect();
            for (at, _) in
                words.iter().enumerate().filter(|(_, word)| verbs.iter().any(|verb| is_verb(word, verb)))
            {
                let is_negated = words[..at]
                    .iter()
                    .rev()
                    .take(2)
                    .any(|word| matches!(*word, "don't" | "not" | "never" | "dont"));
                let named = words.iter().skip(at + 1).take(REACH).filter(|_| !is_negated);
                let named = named.filter(|word| word.len() >= MIN_WORD && !PLAIN.contains(word));
                found.extend(named.map(|word| (*word).to_owned()));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '_' | '-' | '.' | '/'))
        .map(|word| word.trim_matches(['.', '/', '-']))
        .filter(|word| !word.is_empty())
}

/// Whether a word is this verb, also with its letters in another order, as fingers get them.
fn is_verb(word: &str, verb: &str) -> bool {
    const MIN_SLIP: usize = 5;
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    word == verb
        || (verb.len() >= MIN_SLIP
            && word.len() == verb.len()
            && word.chars().next() == verb.chars().next()
            && letters(word) == letters(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_and_what_is_removed_is_named() {
        assert_eq!(
            kept_objects("btw, can we make it so we keep the old code around for reference?"),
            ["old", "reference"]
        );
        assert_eq!(kept_objects("- Keep old code working alongside new code"), ["alongside", "old"]);
        assert_eq!(
            kept_objects("copy it, so that it lies along side the old components"),
            ["components", "old"]
        );
        let order = "after you are done, remoev the old remaining files (main.ts), nothing else";
        assert_eq!(removal(order), Some("remoev the old remaining files (main.ts), nothing else"));
        assert_eq!(
            removed_objects("after you are done, remoev the old remaining files (main.ts, cli.ts right?"),
            ["main.ts", "old"]
        );
        assert_eq!(removed_objects("Don't remove the old parser"), Vec::<String>::new());
        assert_eq!(removed_objects("it works now"), Vec::<String>::new());
    }
}
