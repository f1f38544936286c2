//! Whether the agent calls its work complete, and whether the user finds something missing.

use super::{begins, lowered};
use crate::shared::words::{has_phrase, sentences};

/// The longest sentence that is taken for the word on the whole work.
const MAX_WORD: usize = 200;
/// What is complete where the whole work is.
const WHOLE: &[&str] = &[
    "implementation",
    "work",
    "everything",
    "plan",
    "task",
    "tasks",
    "all",
    "feature",
    "refactoring",
    "refactor",
    "migration",
    "steps",
    "items",
    "changes",
];
const COMPLETE: &[&str] = &[
    "is complete",
    "are complete",
    "is now complete",
    "are now complete",
    "is done",
    "are done",
    "is now done",
    "is finished",
    "are finished",
    "complete and",
    "is fully implemented",
    "are fully implemented",
    "is implemented",
    "are implemented",
    "have been completed",
    "has been completed",
    "been implemented",
    "completed successfully",
];
/// Beginnings that say so by themselves.
const ALL: &[&str] =
    &["all done", "all complete", "everything done", "implementation complete", "all tasks complete"];
/// Words that take the meaning out of those above.
const DOUBTS: &[&str] = &[
    "not",
    "isn't",
    "aren't",
    "but",
    "except",
    "once",
    "when",
    "if",
    "before",
    "after",
    "until",
    "unless",
    "almost",
    "nearly",
    "mostly",
    "partly",
    "partially",
    "remaining",
    "still",
    "should",
    "would",
    "only",
    "first",
    "will",
    "make sure",
    "let me",
    "phase",
];

/// Whether a message says that the whole work is complete.
pub(crate) fn calls_complete(text: &str) -> bool {
    sentences(text).into_iter().filter(|sentence| sentence.len() <= MAX_WORD).any(|sentence| {
        let lower = lowered(sentence);
        let has = |words: &[&str]| words.iter().any(|word| has_phrase(&lower, word));
        let says = begins(&lower, ALL) || (has(WHOLE) && has(COMPLETE));
        says && !has(DOUBTS) && !lower.contains('?')
    })
}

/// Whether the user's words say that something is missing of what was called complete.
pub(crate) fn misses_something(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "not done",
        "missing",
        "missed",
        "forgot",
        "forgotten",
        "still",
        "incomplete",
        "unfinished",
        "not finished",
        "not complete",
        "didn't",
        "did not",
        "haven't",
        "have not",
        "rest of",
        "remaining",
        "finish",
    ];
    let lower = lowered(text);
    WORDS.iter().any(|word| has_phrase(&lower, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_on_the_whole_work_is_told_from_that_on_a_part() {
        for text in [
            "All tests pass. The implementation is complete:\n\n1. struct simplified",
            "All done. Here's a summary.",
            "All 7 tasks are complete.",
            "Everything is done and pushed.",
        ] {
            assert!(calls_complete(text), "{text}");
        }
        for text in [
            "The parser is complete.",
            "The implementation is complete except for the docs.",
            "Once all tasks are complete, I run the tests.",
            "All tests pass.",
            "Is all of the work done?",
        ] {
            assert!(!calls_complete(text), "{text}");
        }
        assert!(misses_something("you forgot the tests") && !misses_something("great, new change"));
    }
}
