//! Sentences with the shape of a question that expect no answer: the agent answers them itself, gives advice, or takes its leave.

use super::phrases::Lowered;
use super::{begins, lowered};
use crate::shared::words::has_phrase;

/// What a reader learns from where a question stands.
pub(super) struct Place<'t> {
    /// The sentence behind it on its line.
    pub next: Option<&'t str>,
    /// Whether it is all of its line, and text follows below that is no list to choose from.
    pub is_title: bool,
}

/// Whether a question is answered by the agent itself right behind it, or expects no answer.
pub(super) fn answers_itself(lower: &str, place: &Place<'_>) -> bool {
    const ANSWERS: &[&str] =
        &["yes", "no", "because", "i think so", "probably", "i'd say", "not quite", "nothing"];
    const EXCLAIMS: &[&str] = &["who would have", "who knew", "guess what", "what could go wrong"];
    if !lower.trim_end_matches(['*', '_', ' ']).ends_with('?') {
        return false;
    }
    let next = place.next.map(lowered);
    let is_question = |text: &Lowered| text.trim_end_matches(['*', '_', ' ']).ends_with('?');
    let is_answer = |text: &Lowered| !is_question(text) && !tells_no_answer(text);
    begins(lower, EXCLAIMS)
        || next.as_ref().is_some_and(|next| begins(next, ANSWERS))
        || !is_addressed(lower) && (place.is_title || next.as_ref().is_some_and(is_answer))
}

/// Whether a question is for the user to answer, be it by name or since it is about what to do.
fn is_addressed(lower: &str) -> bool {
    const WORDS: &[&str] =
        &["you", "your", "we", "prefer", "or", "want", "ok to", "okay to", "which", "meant"];
    const STARTS: &[&str] = &["should", "shall", "would", "may i", "can i", "any", "anything"];
    begins(lower, STARTS) || lower.contains("should ") || WORDS.iter().any(|word| has_phrase(lower, word))
}

/// Whether the sentence behind a question leaves it open.
fn tells_no_answer(lower: &str) -> bool {
    const OPEN: &[&str] = &[
        "not sure",
        "unsure",
        "unclear",
        "not clear",
        "don't know",
        "do not know",
        "couldn't",
        "could not",
        "can't tell",
        "cannot tell",
        "please",
        "let me know",
        "i need",
        "if so",
        "if not",
        "otherwise",
        "depends",
        "your",
        "you",
    ];
    OPEN.iter().any(|phrase| has_phrase(lower, phrase))
}

/// Whether `whether` names something unsettled, and not what code or a check tells.
pub(super) fn wonders(lower: &str) -> bool {
    const DOUBTS: &[&str] = &[
        "clear",
        "unclear",
        "sure",
        "unsure",
        "certain",
        "know",
        "known",
        "unknown",
        "decide",
        "decided",
        "decision",
        "confirm",
        "question",
        "open",
        "wonder",
        "ask",
        "asked",
        "tell me",
        "let me know",
        "depends",
        "up to you",
        "agree",
        "choose",
    ];
    const ADVICE: &[&str] = &[
        "if",
        "to",
        "you can",
        "you could",
        "you may",
        "you might",
        "you should",
        "i recommend",
        "i suggest",
        "i'd recommend",
        "i'd suggest",
        "i would recommend",
        "consider",
        "it's worth",
        "it may be worth",
        "it might be worth",
    ];
    let doubts = DOUBTS.iter().any(|word| has_phrase(lower, word));
    // `(whether it is old or new)` qualifies, and asks nothing.
    lower.contains("whether ") && !lower.contains("(whether ") && doubts && !begins(lower, ADVICE)
}

/// Whether the agent only says that it is at hand: `Let me know if you have any questions.`
pub(super) fn takes_leave(lower: &str) -> bool {
    const COURTESIES: &[&str] = &[
        "if you have",
        "if you need",
        "if you run into",
        "if you hit",
        "if you encounter",
        "if you see",
        "if you notice",
        "if you'd like any",
        "if you would like any",
        "if you want any",
        "if you'd like further",
        "if there",
        "if anything",
        "if something",
        "if it still",
        "if that works",
        "if this works",
        "if it works",
        "how it goes",
        "how it went",
        "how that goes",
    ];
    let Some((_, rest)) = lower.split_once("let me know ") else { return false };
    COURTESIES.iter().any(|courtesy| rest.trim_start().starts_with(courtesy))
        && !["me to ", "should i", "want me", "like me"].iter().any(|offer| rest.contains(offer))
}
