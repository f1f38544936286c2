//! Whether what the user says next answers a question of the agent.

use super::{begins, lowered};
use crate::shared::words::{has_phrase, sentences};

/// Words of consent.
const AGREES: &[&str] = &[
    "ok",
    "okay",
    "yeah",
    "yes",
    "yep",
    "yup",
    "cool",
    "great",
    "sure",
    "let's",
    "lets",
    "go",
    "do it",
    "do that",
    "please do",
    "sounds good",
    "correct",
    "exactly",
    "right",
    "perfect",
    "go ahead",
];
/// Words of consent that say nothing but yes: what stands behind them is part of the answer.
const YES: &[&str] = &["yes", "yeah", "yep", "yup", "correct", "exactly"];
/// Beginnings of what answers without a yes.
const ANSWERS: &[&str] = &[
    "no",
    "nope",
    "nah",
    "not",
    "don't",
    "do not",
    "never mind",
    "nevermind",
    "skip",
    "only",
    "just",
    "but",
    "both",
    "neither",
    "either",
    "all",
    "none",
    "the first",
    "the second",
    "the third",
    "the last",
    "the former",
    "the latter",
    "option",
    "i think",
    "i'd",
    "i would",
    "i prefer",
    "rather",
    "later",
    "leave",
    "keep",
    "first",
];
/// Words that limit what was agreed to.
const LIMITS: &[&str] =
    &["but", "not", "no", "without", "instead", "rather", "only", "except", "first", "don't", "do not"];
/// Words before an answer that say nothing.
const INTERJECTIONS: &[&str] = &["whoops", "oh", "ah", "hm", "hmm", "well", "oops"];
const PRONOUNS: &[&str] = &["it", "that", "this", "them", "those", "these"];
/// Beginnings of questions that any statement may answer.
const ASKS_FOR_WORDS: &[&str] = &["what", "which", "where", "who", "whom", "how", "when", "why"];
/// Shorter words say nothing of the matter, and neither do these.
const MIN_WORD: usize = 4;
const COMMON: &[&str] = &[
    "would", "like", "want", "should", "could", "have", "with", "that", "this", "them", "these", "those",
    "what", "when", "also", "well", "then", "here", "there", "some", "more", "make", "need", "does", "will",
    "just", "your", "from", "into", "about", "first", "before", "after", "now", "sure", "okay", "please",
];
/// Consent with no more words than these beside it says nothing else.
const MAX_CONSENT: usize = 3;

/// Whether words answer a question and say more than that the work may go on; of words on something else it is not known. A
/// question is no answer.
pub(crate) fn is_telling_answer(question: &str, words: &str) -> bool {
    let lower = lowered(words);
    let bare = without_consent(&lower);
    let agrees = begins(without_interjection(&lower), AGREES);
    let limits = LIMITS.iter().any(|word| has_phrase(&lower, word));
    let is_choice = has_phrase(&lowered(question), "or");
    let says_more = !agrees || limits || is_choice || bare.split_whitespace().count() > MAX_CONSENT + 1;
    let speaks = !has_question(words) && !is_slash_command(words);
    speaks && says_more && answers_by(question, &lower, bare, limits)
}

/// Whether a word or two answer a question, be it by a yes.
pub(crate) fn answers(question: &str, words: &str) -> bool {
    let lower = lowered(words);
    let bare = without_consent(&lower);
    let is_consent =
        begins(without_interjection(&lower), AGREES) && bare.split_whitespace().count() <= MAX_CONSENT;
    let limits = LIMITS.iter().any(|word| has_phrase(&lower, word));
    if is_slash_command(words) || is_consent && says_no_more(bare) && offers_a_choice(question) {
        return false;
    }
    !has_question(words) && (is_consent || answers_by(question, &lower, bare, limits))
}

/// Whether words are a yes and nothing else.
pub(crate) fn says_only_yes(words: &str) -> bool {
    let lower = lowered(words);
    begins(without_interjection(&lower), AGREES) && says_no_more(without_consent(&lower))
}

/// What is left of a consent that names nothing.
fn says_no_more(bare: &str) -> bool {
    matches!(bare.trim_end_matches(['.', '!']), "" | "please" | "pls")
}

/// `/theme`: it speaks to the tool.
fn is_slash_command(words: &str) -> bool {
    let name = words.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')))
}

/// Whether a question names two ways: a yes alone takes neither.
pub(crate) fn offers_a_choice(question: &str) -> bool {
    let lower = lowered(question);
    has_phrase(lower.rsplit(". ").next().unwrap_or(&lower), "or")
}

fn has_question(words: &str) -> bool {
    sentences(words).into_iter().any(|sentence| sentence.trim_end_matches(['"', '”', ' ']).ends_with('?'))
}

/// What shows that words are about the question: their beginning, a word of it, the kind of question.
fn answers_by(question: &str, lower: &str, bare: &str, limits: bool) -> bool {
    let question = lowered(question);
    let named: Vec<&str> = words_of(&question).filter(|word| is_telling(word)).collect();
    let mut first = words_of(bare).take(3);
    let takes_up =
        first.any(|word| PRONOUNS.contains(&word)) && (limits || begins(without_interjection(lower), AGREES));
    begins(bare, ANSWERS)
        || begins(without_interjection(lower), YES)
        || takes_up
        || words_of(lower).any(|word| is_telling(word) && named.contains(&word))
        || begins(question.rsplit(['.', '!', ':']).next().unwrap_or_default().trim(), ASKS_FOR_WORDS)
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

fn is_telling(word: &str) -> bool {
    word.len() >= MIN_WORD && !COMMON.contains(&word)
}

fn without_interjection(lower: &str) -> &str {
    INTERJECTIONS.iter().fold(lower.trim_start(), |bare, word| {
        let rest = bare.strip_prefix(word).filter(|rest| rest.starts_with([',', '!', ' ', '.']));
        rest.map_or(bare, |rest| rest.trim_start_matches([',', '!', '.', ' ']))
    })
}

/// The words behind a `yes` and its like.
fn without_consent(lower: &str) -> &str {
    let bare = without_interjection(lower);
    let rest = AGREES.iter().filter_map(|word| {
        bare.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
    });
    let rest = rest.min_by_key(|rest| rest.len());
    rest.map_or(lower, |rest| rest.trim_start_matches([',', '.', '!', ';', '-', ' ', '—']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_on_something_else_are_no_answer() {
        let fix = "Would you like me to fix that as well?";
        for words in [
            "add another option which is, if the user wants to discard the work, run \"entire reset\"",
            "jesus, everything works, you are a monster",
            "ok, i hope i haven't lobotomized you by compacting",
            "move src/a-config.ts to src/",
            "is it slow?",
        ] {
            assert!(!answers(fix, words) && !is_telling_answer(fix, words), "{words}");
        }
        assert!(answers("Want me to change this?", "whoops! yeah let's put the filter back"));
        assert!(is_telling_answer("Or leave that as a separate step?", "yeah that should be a session-end"));
        for words in [
            "no, not yet",
            "yes, but not the second",
            "leave it as it is",
            "fix them without a new file",
            "only the first",
        ] {
            assert!(answers(fix, words) && is_telling_answer(fix, words), "{words}");
        }
        assert!(answers(fix, "yes please") && !is_telling_answer(fix, "yes please"));
        let choice = "Want me to bring 3.13 back for Ubuntu only, or keep it off until then?";
        assert!(
            !answers(choice, "yes") && !answers(choice, "yes please") && answers(choice, "yes, keep it off")
        );
        assert!(!answers(fix, "/them") && !answers(choice, "/theme dark"));
        assert!(!is_telling_answer("Which theme shall it have?", "/theme the dark one"));
        let go = "Want me to go ahead and fix those?";
        assert!(is_telling_answer(go, "Adress them but be careful not to break anything."));
        assert!(is_telling_answer("Which mode shall it have?", "the strict one"));
        assert!(is_telling_answer("Should the tests be in e2e/ or in cli/?", "separate tests"));
    }
}
