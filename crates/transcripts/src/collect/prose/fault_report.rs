//! Sentences of the user that report a fault, and set no rule.

use super::constraints::FORBID;
use crate::shared::words::has_phrase;

/// Whether a sentence tells of a fault or gives a reason: a place in a file, a condition under which something fails.
pub(super) fn describes(lower: &str) -> bool {
    // `a.go:1:9:`
    let is_place = |word: &str| {
        let mut parts = word.split(':');
        let file = parts.next().unwrap_or_default();
        let is_number = |part: Option<&str>| {
            part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        file.contains('.') && is_number(parts.next()) && is_number(parts.next())
    };
    let fails = lower.starts_with("if ") && has_phrase(lower, "fails");
    fails || lower.starts_with("this is important because") || lower.split_whitespace().any(is_place)
}

/// `The hook never actually worked, so let's remove it`: what was so, and forbids nothing.
pub(super) fn never_was(lower: &str) -> bool {
    const ADVERBS: &[&str] = &["actually", "really", "even", "fully", "properly", "quite"];
    const PAST: &[&str] = &["was", "were", "did", "had", "ran", "got", "saw", "came", "went", "made"];
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
    let is_past = |at: usize| {
        let next = words[at + 1..].iter().find(|word| !ADVERBS.contains(word));
        next.is_some_and(|word| {
            PAST.contains(word) || (word.len() > 4 && word.ends_with("ed") && *word != "need")
        })
    };
    let mut places =
        words.iter().enumerate().filter(|(_, word)| **word == "never").map(|(at, _)| at).peekable();
    let forbids = FORBID.iter().any(|word| *word != "never" && has_phrase(lower, word));
    places.peek().is_some() && places.all(is_past) && !forbids
}

/// `ENT-258: Commits don't receive trailers`: the title of an issue, which says what is wrong.
pub(super) fn is_issue_title(lower: &str) -> bool {
    let Some((id, _)) = lower.split_once(": ") else { return false };
    let Some((project, number)) = id.split_once('-') else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !project.is_empty() && project.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
