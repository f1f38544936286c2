//! What the agent or the user says when earlier words of the agent turn out to be wrong.

use super::{begins, lowered};
use crate::shared::words::{has_phrase, sentences};

/// A message concedes in its first sentences, if it does.
const FIRST_SENTENCES: usize = 6;
/// Words that say by themselves that one's own words were wrong.
const WRONG: &[&str] = &[
    "i was wrong",
    "i was mistaken",
    "i was conflating",
    "i conflated",
    "i misread",
    "i misunderstood",
    "i misspoke",
    "i stand corrected",
    "i take that back",
    "i got that wrong",
    "i got it wrong",
    "i had it wrong",
    "my mistake",
    "my earlier answer was wrong",
    "my analysis was wrong",
    "my assumption was wrong",
    "the problem with my approach",
    "the flaw in my approach",
    "my approach was wrong",
    "my approach is wrong",
    "scratch that",
];
/// Words that say so behind an agreement with an objection.
const MISSED: &[&str] = &[
    "i missed",
    "i overlooked",
    "i forgot",
    "i didn't consider",
    "i did not consider",
    "i assumed",
    "i ignored",
];
const AGREES: &[&str] = &[
    "you're right",
    "you are right",
    "absolutely right",
    "you're correct",
    "you are correct",
    "good point",
    "good catch",
    "fair point",
];

/// Whether the agent says that what it said before was wrong.
pub(crate) fn concedes(text: &str) -> bool {
    let all: Vec<_> = text.lines().flat_map(sentences).take(FIRST_SENTENCES).map(lowered).collect();
    let has_any = |words: &[&str]| all.iter().any(|lower| words.iter().any(|word| has_phrase(lower, word)));
    has_any(WRONG) || (has_any(AGREES) && has_any(MISSED))
}

/// Whether a heading says that what stands below takes the place of what was recommended before.
pub(crate) fn revises(text: &str) -> bool {
    const FIRST: &[&str] = &["updated", "revised", "corrected", "amended"];
    const NOUNS: &[&str] =
        &["recommendation", "proposal", "plan", "approach", "design", "analysis", "options", "solution"];
    text.lines().any(|line| {
        let line = line.trim();
        let is_heading =
            line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"));
        let lower = lowered(line.trim_matches(['#', '*', ' ', ':']));
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).take(3).collect();
        is_heading && begins(&lower, FIRST) && words.iter().any(|word| NOUNS.contains(word))
    })
}

/// The names in code that the text says are put back, so that words on their removal are of the past: `put the cacheKey back`.
pub(crate) fn put_back(text: &str) -> Vec<String> {
    const VERBS: &[&str] = &["put", "bring", "add", "restore", "restored", "brought", "added", "restoring"];
    let mut names = Vec::new();
    for sentence in sentences(text) {
        let lower = lowered(sentence);
        let has = |word: &str| has_phrase(&lower, word);
        let puts = has("restore") || has("restored") || (has("back") && VERBS.iter().any(|verb| has(verb)));
        let words = sentence.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|_| puts);
        names.extend(words.filter(|word| is_name(word)).map(str::to_owned));
    }
    names
}

/// Whether words tell that something was taken out.
pub(crate) fn tells_of_removal(text: &str) -> bool {
    let lower = lowered(text);
    ["removed", "removes", "remove", "removing", "deleted", "dropped", "no longer", "replaced"]
        .iter()
        .any(|word| has_phrase(&lower, word))
}

/// Whether a word is a name in code: `cacheKey`, `cache_key`.
fn is_name(word: &str) -> bool {
    let inner = word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
    word.len() > 3 && (inner || word.trim_matches('_').contains('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_concession_is_told_from_an_agreement() {
        for text in [
            "You're right, I was conflating the two. Let me retrace it.",
            "Ah yes, you're absolutely right! I missed the critical case:\n\n**The problem:**",
            "My mistake: the key lacks the branch.",
        ] {
            assert!(concedes(text), "{text}");
        }
        for text in [
            "You're right to ask. The flag is set later.",
            "I missed the import. Let me add it.",
            "Good point. I'll rename it.",
        ] {
            assert!(!concedes(text), "{text}");
        }
        assert!(
            revises("Yes.\n\n## Updated Recommendation: Typed Only\n\nTake the id.")
                && !revises("I updated the plan.")
        );
    }

    #[test]
    fn what_is_put_back_is_named() {
        assert_eq!(put_back("whoops! yeah let's put the reachableFromMain back..."), ["reachableFromMain"]);
        assert_eq!(put_back("I restored `cache_key` in the loop."), ["cache_key"]);
        assert_eq!(put_back("Get back to the parserState."), Vec::<String>::new());
    }
}
