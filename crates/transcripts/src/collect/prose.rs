//! What sentences say: constraints of the user, decisions, failed attempts and next steps of the agent.
//!
//! Rather miss one than invent one: a sentence counts only by words that hardly mean anything else.

use crate::shared::words::{has_phrase, is_item, sentences, unmarked};

/// Longer sentences are pasted text, not insistence.
const MAX_SENTENCE: usize = 400;

/// Sentences in which the user insists on something.
pub fn constraints(text: &str) -> Vec<&str> {
    sentences(text)
        .into_iter()
        .filter(|sentence| sentence.len() <= MAX_SENTENCE && insists(sentence))
        .collect()
}

fn insists(sentence: &str) -> bool {
    const ALWAYS: &[&str] = &[
        "must",
        "must not",
        "mustn't",
        "never",
        "always",
        "make sure",
        "be sure to",
        "please keep",
        "do not",
        "don't",
        "should not",
        "shouldn't",
        "only use",
        "use only",
        "only touch",
        "only change",
        "only edit",
        "only modify",
        "under no circumstances",
    ];
    const NOT: &[&str] = &[
        "i don't",
        "i do not",
        "we don't",
        "you don't",
        "they don't",
        "don't know",
        "don't think",
        "don't worry",
        "don't see",
        "don't understand",
        "i never",
        "it never",
        "never mind",
        "nevermind",
        "must have been",
        "must be a bug",
        "why don't",
        "always fails",
        "it always",
        "i always",
    ];
    const STARTS: &[&str] = &["only ", "no ", "keep ", "avoid ", "without "];
    const NO_RULE: &[&str] =
        &["no problem", "no worries", "no idea", "no, ", "no need", "no longer", "keep going", "no thanks"];
    let lower = sentence.to_lowercase().replace('’', "'");
    if lower.ends_with('?') || NOT.iter().any(|phrase| has_phrase(&lower, phrase)) {
        return false;
    }
    let starts = STARTS.iter().any(|start| lower.starts_with(start))
        && !NO_RULE.iter().any(|no| lower.starts_with(no));
    (starts && lower.split_whitespace().count() > 2) || ALWAYS.iter().any(|phrase| has_phrase(&lower, phrase))
}

/// A decision as a sentence tells it.
#[derive(Debug, PartialEq, Eq)]
pub struct Decided<'t> {
    /// The sentence.
    pub what: &'t str,
    /// Its reason.
    pub why: Option<&'t str>,
    /// What was not chosen.
    pub rejected: Option<&'t str>,
}

/// Sentences in which the agent decides.
pub fn decisions(text: &str) -> Vec<Decided<'_>> {
    let told =
        sentences(text).into_iter().filter(|sentence| sentence.len() <= MAX_SENTENCE && decides(sentence));
    told.map(|what| Decided { what, why: reason(what), rejected: rejected(what) }).collect()
}

fn decides(sentence: &str) -> bool {
    const STRONG: &[&str] = &[
        "decided to",
        "decided on",
        "decided against",
        "decided not to",
        "going with",
        "went with",
        "i chose",
        "we chose",
        "chose to",
        "opted for",
        "opted to",
        "settled on",
        "chosen over",
        "decision:",
    ];
    const WEAK: &[&str] = &["instead of", "rather than"];
    const ACTS: &[&str] = &[
        "i'll",
        "i will",
        "we'll",
        "let's",
        "i used",
        "i'm using",
        "using",
        "switched to",
        "replaced",
        "i kept",
        "use",
    ];
    let lower = sentence.to_lowercase().replace('’', "'");
    let any = |phrases: &[&str]| {
        phrases.iter().any(|phrase| has_phrase(&lower, phrase) || lower.starts_with(phrase))
    };
    let chose_over = has_phrase(&lower, "chose") && has_phrase(&lower, "over");
    !lower.ends_with('?') && (any(STRONG) || chose_over || (any(WEAK) && any(ACTS)))
}

/// What follows `because` and its like.
fn reason(sentence: &str) -> Option<&str> {
    const WORDS: &[&str] = &[" because of ", " because ", " since ", " so that ", " as it ", " due to "];
    after(sentence, WORDS).map(|why| why.trim_end_matches(['.', '!']).trim())
}

fn rejected(sentence: &str) -> Option<&str> {
    const WORDS: &[&str] =
        &[" instead of ", " rather than ", " over ", "decided against ", "decided not to "];
    let rest = after(sentence, WORDS)?;
    let ends = [" because", " since", " so that", " as it", " due to", ", ", "; ", " — ", " – ", " (", ": "];
    let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(['.', '!']).trim()).filter(|text| !text.is_empty())
}

fn after<'t>(sentence: &'t str, words: &[&str]) -> Option<&'t str> {
    let (at, len) = words.iter().filter_map(|word| Some((sentence.find(word)?, word.len()))).min()?;
    Some(&sentence[at + len..])
}

/// Sentences in which the agent says that something did not work, with the reason where it gives one.
pub fn attempts(text: &str) -> Vec<(&str, Option<&str>)> {
    const PHRASES: &[&str] = &[
        "didn't work",
        "did not work",
        "failed because",
        "dead end",
        "that approach failed",
        "that approach won't",
        "that approach will not",
        "that approach doesn't",
        "that approach does not",
        "that approach didn't",
        "had to revert",
        "doesn't work because",
        "does not work because",
        "won't work because",
    ];
    let failed = |sentence: &&str| {
        let lower = sentence.to_lowercase().replace('’', "'");
        sentence.len() <= MAX_SENTENCE
            && !lower.ends_with('?')
            && !lower.starts_with("if ")
            && PHRASES.iter().any(|phrase| has_phrase(&lower, phrase))
    };
    let told = sentences(text).into_iter().filter(failed);
    told.map(|sentence| (sentence, reason(sentence))).collect()
}

/// What the agent names as remaining: the rest of the sentence after `Remaining:` and its like, or the list below it.
pub fn next_steps(text: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    let mut in_list = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if in_list && is_item(line) {
            steps.push(unmarked(line));
            continue;
        }
        in_list = false;
        for sentence in sentences(line) {
            match step(sentence) {
                Some("") => in_list = true,
                Some(step) => steps.push(step),
                None => {}
            }
        }
    }
    steps.retain(|step| !step.is_empty());
    steps
}

/// What stands after a mark of remaining work; empty when a list must follow.
fn step(sentence: &str) -> Option<&str> {
    const MARKS: &[&str] = &[
        "remaining",
        "remaining work",
        "remaining steps",
        "remaining tasks",
        "next",
        "next step",
        "next steps",
        "todo",
        "todos",
        "to do",
        "still to do",
        "left to do",
        "still open",
        "what's left",
        "what remains",
        "not done yet",
        "not yet done",
        "follow-ups",
        "follow-up",
        "still missing",
        "outstanding",
    ];
    let (mark, rest) =
        sentence.trim_start_matches(['*', '_', '#', ' ']).split_once(':').unwrap_or((sentence, ""));
    let lower = mark.trim_matches(['*', '_', '#', ' ', '.']).to_lowercase().replace('’', "'");
    // A heading needs no colon, a word in the middle of prose is no heading.
    MARKS.contains(&lower.as_str()).then(|| rest.trim_matches(['*', '_', ' ']).trim_end_matches('.'))
}

/// The question with which a text ends.
pub fn closing_question(text: &str) -> Option<&str> {
    sentences(text).into_iter().next_back().filter(|last| last.ends_with('?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insistence_is_told_from_talk() {
        for sentence in [
            "Never touch the migrations.",
            "You must keep the API stable",
            "Please don't add dependencies",
            "No new dependencies.",
            "Only change src/lib.rs",
            "Make sure the tests pass!",
            "keep the diff small please",
        ] {
            assert_eq!(constraints(sentence), [sentence]);
        }
        for sentence in [
            "Fix the add() bug in app.py and run the tests",
            "I don't know why it fails",
            "no problem",
            "Why don't you use serde?",
            "It always fails on CI",
            "never mind",
            "no, the other file",
        ] {
            assert!(constraints(sentence).is_empty(), "{sentence}");
        }
    }

    #[test]
    fn decisions_come_with_reason_and_rejected_option() {
        let check = |text, why, rejected| {
            assert_eq!(decisions(text), [Decided { what: text, why, rejected }], "{text}")
        };
        check(
            "I chose SQLite over Postgres because it needs no server.",
            Some("it needs no server"),
            Some("Postgres"),
        );
        check("Going with a mutex.", None, None);
        check(
            "I'll use `serde` instead of hand-written parsing, since speed is no issue",
            Some("speed is no issue"),
            Some("hand-written parsing"),
        );
        check("We decided against caching due to staleness.", Some("staleness"), Some("caching"));
        assert!(decisions("Should I use A rather than B?").is_empty());
        assert!(decisions("The test fails instead of passing.").is_empty());
    }

    #[test]
    fn failed_attempts_are_named_by_the_agent() {
        let text = "The regex approach didn't work because lookbehind is missing. The login does not work.";
        assert_eq!(
            attempts(text),
            [(
                "The regex approach didn't work because lookbehind is missing.",
                Some("lookbehind is missing")
            )]
        );
    }

    #[test]
    fn remaining_work_is_a_sentence_or_a_list() {
        let fixed = "Fixed `add()`. Remaining: run the full test-suite and update the docs.";
        assert_eq!(next_steps(fixed), ["run the full test-suite and update the docs"]);
        let list = "Done.\n\n## Next steps\n\n- write docs\n2. tag it\n\nThat is all.\n- no step";
        assert_eq!(next_steps(list), ["write docs", "tag it"]);
        assert_eq!(next_steps("**TODO:** ship it"), ["ship it"]);
        assert!(next_steps("The next line is fine. Remaining bugs: none known to me").is_empty());
    }
}
