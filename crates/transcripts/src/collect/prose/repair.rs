//! What the agent said of a fault that it mended right after, what it took for the cause, what it missed, and which lines it named:
//! once files were changed after, none of it tells how the code stands.

use super::{announces, begins, lowered};
use crate::shared::words::{has_phrase, sentences};

/// Beginnings of messages that tell of a fault that was just found.
const FINDS: &[&str] = &[
    "i found the",
    "found the",
    "found it",
    "i see the",
    "i see what",
    "the issue is",
    "the problem is",
    "the bug is",
    "the error is",
    "the cause is",
    "the root cause",
    "the failure is",
    "the test fails",
    "the tests fail",
    "the build fails",
    "oops",
];
/// Words of an announcement by which a fault is mended.
const MENDS: &[&str] = &["fix", "correct", "repair", "undo", "restore", "mend", "put it back", "address"];

/// Whether a message tells of a fault and then sets out to mend it.
pub(crate) fn sets_out_to_mend(message: &str) -> bool {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some(last) = lines.last().and_then(|line| sentences(line).last().copied()) else { return false };
    let first = lines.first().and_then(|line| sentences(line).first().copied()).unwrap_or_default();
    let finds = begins(&lowered(first), FINDS) && first != last;
    let lower = lowered(last);
    announces(last) && (finds || MENDS.iter().any(|word| has_phrase(&lower, word)))
}

/// Whether words name lines of a file by their numbers: `on line 842`, `setup.go:212`.
pub(crate) fn names_lines(text: &str) -> bool {
    let begins_with_digit =
        |word: &str| word.trim_start_matches(['(', '`', '*', '~']).starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_line =
        |word: &str| matches!(word.to_lowercase().trim_start_matches(['(', '*', '`']), "line" | "lines");
    let by_word = words.windows(2).any(|pair| is_line(pair[0]) && begins_with_digit(pair[1]));
    let by_path = |word: &&str| {
        let place = word.split_once(':').filter(|(path, _)| path.contains('.') && !path.starts_with("http"));
        place.is_some_and(|(path, number)| {
            begins_with_digit(number) && path.chars().any(char::is_alphabetic) && !path.ends_with('.')
        })
    };
    by_word || words.iter().any(by_path)
}

/// Whether a sentence of it is a guess at the cause of something.
pub(crate) fn guesses(text: &str) -> bool {
    const CAUSES: &[&str] = &["issue", "problem", "cause", "reason", "bug", "failure", "culprit", "error"];
    const DOUBTS: &[&str] =
        &["might be", "may be", "could be", "might have", "probably", "possibly", "perhaps", "maybe"];
    let any = |lower: &str, words: &[&str]| words.iter().any(|word| has_phrase(lower, word));
    sentences(text).into_iter().map(lowered).any(|lower| any(&lower, CAUSES) && any(&lower, DOUBTS))
}

/// Whether it is a list of what is not there: `with: No README; No usage instructions`.
pub(crate) fn tells_of_lack(text: &str) -> bool {
    const LACKS: &[&str] = &["no", "missing", "not yet", "without", "lacks", "nothing"];
    let (_, list) = text.split_once(": ").unwrap_or(("", text));
    let items: Vec<&str> = list.split(['\n', ';']).map(str::trim).filter(|item| !item.is_empty()).collect();
    items.len() > 1
        && items.iter().all(|item| begins(&lowered(item.trim_start_matches(['-', '*', ' '])), LACKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_sets_out_to_mend_tells_of_the_past_after_the_edit() {
        for text in [
            "The `replace_all` replaced the string in the declaration itself! It turned `a` into `b`. Let me fix this:",
            "I found the issue. In `extract`, only the new lines are kept:\n\nSo you only get the delta.\n\nThe way is simple. Let me update `extract` to keep all.",
        ] {
            assert!(sets_out_to_mend(text), "{text}");
        }
        for text in [
            "Writes were slow, so the index had to go. Let me add the table:",
            "I fixed the lexer. All tests pass.",
            "I'll use a map instead of a list, because order does not matter. Let me write it.",
            "",
        ] {
            assert!(!sets_out_to_mend(text), "{text}");
        }
    }

    #[test]
    fn lines_guesses_and_lacks_are_known() {
        for text in [
            "It is `false` on line 807.",
            "the code at lines 812 and 824",
            "see (setup.go:212-222)",
            "in a.rs:12",
        ] {
            assert!(names_lines(text), "{text}");
        }
        for text in
            ["The line is long.", "http://127.0.0.1:8080/x", "at 10:30", "a line of 3 words", "localhost:80"]
        {
            assert!(!names_lines(text), "{text}");
        }
        assert!(guesses("So it is on. The issue might be the version of the linter."));
        assert!(!guesses("The issue is the version.") && !guesses("It might be slow."));
        assert!(tells_of_lack("The script is just dropped into `scripts/` with: No README; No usage"));
        assert!(!tells_of_lack("No new dependencies") && !tells_of_lack("With: a README; no usage"));
    }
}
