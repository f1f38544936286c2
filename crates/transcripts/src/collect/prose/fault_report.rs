//! Sentences of the user that report a fault, and set no rule.

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
