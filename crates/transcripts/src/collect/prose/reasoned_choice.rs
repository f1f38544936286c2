//! Choices that are told with their reason, in words that decide nothing by themselves.

use super::Lowered;
use super::decisions::BECAUSE;
use crate::shared::words::has_phrase;

/// Beginnings of sentences that decide nothing.
pub(super) const UNDECIDED: &[&str] = &[
    "if",
    "don't",
    "do not",
    "never",
    "should",
    "would",
    "maybe",
    "perhaps",
    "can we",
    "can you",
    "could we",
    "could you",
    "test",
    "tests",
];

/// Whether a sentence keeps something for a reason that it names, or calls one way the best and takes it.
pub(super) fn is_reasoned_choice(lower: &Lowered) -> bool {
    keeps_for_a_reason(lower) || is_best_way(lower)
}

/// `I'll keep the error return for API consistency`
fn keeps_for_a_reason(lower: &Lowered) -> bool {
    const KEEPS: &[&str] = &["keep", "keeping", "kept", "leave", "leaving"];
    const SPEAKERS: &[&str] = &["i'll", "let me", "let's", "i'm", "we'll", "i", "we"];
    const REASONS: &[&str] = &[
        "consistency",
        "compatibility",
        "clarity",
        "safety",
        "readability",
        "symmetry",
        "parity",
        "simplicity",
        "performance",
        "debugging",
    ];
    /// So many words may stand between `for` and the reason.
    const MAX_BETWEEN: usize = 3;
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let Some(verb) = words.iter().position(|word| KEEPS.contains(word)) else { return false };
    let begun = words[..verb].join(" ");
    let speaks = verb == 0 || SPEAKERS.iter().any(|speaker| has_phrase(&begun, speaker));
    let is_reason =
        |at: usize| words.iter().skip(at + 1).take(MAX_BETWEEN).any(|word| REASONS.contains(word));
    speaks && words.iter().enumerate().skip(verb).any(|(at, word)| *word == "for" && is_reason(at))
}

/// `The simplest fix is to silence the linter there, since the pattern is deliberate:`
fn is_best_way(lower: &Lowered) -> bool {
    const BEST: &[&str] = &["simplest", "cleanest", "best", "safest", "right", "easiest", "least invasive"];
    const WAYS: &[&str] = &["fix is", "approach is", "way is", "solution is", "option is", "choice is"];
    let is_named = BEST.iter().any(|best| WAYS.iter().any(|way| has_phrase(lower, &format!("{best} {way}"))));
    is_named
        && BECAUSE.iter().any(|word| lower.contains(word))
        && lower.trim_end_matches(['*', '_', ' ']).ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::super::lowered;
    use super::*;

    #[test]
    fn a_choice_with_its_reason_is_told_from_talk_of_one() {
        for text in [
            "Actually, let me just keep the error return for API consistency but suppress the lint warning:",
            "I'll keep both for backward compatibility.",
            "The simplest fix is to add a `nolint` to the init function, since the pattern is deliberate:",
        ] {
            assert!(is_reasoned_choice(&lowered(text)), "{text}");
        }
        for text in [
            "The old reader is kept for the tests.",
            "The cache does not keep anything for performance.",
            "The simplest fix is to restart it.",
            "Let me keep looking for the cause.",
        ] {
            assert!(!is_reasoned_choice(&lowered(text)), "{text}");
        }
    }
}
