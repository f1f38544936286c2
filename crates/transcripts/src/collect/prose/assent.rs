//! What the agent proposes before a question to which a yes is enough.

use super::{begins, lowered};
use crate::shared::words::{has_phrase, is_item, one_line, unmarked};

/// The longest proposal that is told, in characters, and the longest opening of a list.
const MAX_PROPOSAL: usize = 300;
const MAX_LEAD: usize = 120;
/// How many lines of text may stand between a list and the question about it.
const MAX_BETWEEN: usize = 2;
/// A question of fewer words names nothing.
const MIN_WORDS: usize = 3;
const MIN_NAMED: usize = 5;
/// A longer question names what it asks for, though it has a pronoun.
const MAX_POINTING: usize = 7;

/// Openings of questions whose rest says what would be done.
const OFFERS: &[&str] = &[
    "want me to",
    "would you like me to",
    "do you want me to",
    "should i",
    "shall i",
    "should we",
    "shall we",
    "do you want to",
];
/// Ends of questions that ask for consent to what was said before.
const ASKS: &[&str] = &[
    "thoughts",
    "sound good",
    "sounds good",
    "does that make sense",
    "make sense",
    "does this work",
    "does that work",
    "does that sound",
    "what do you think",
    "agree",
    "agreed",
    "is that ok",
    "is that okay",
    "ok with you",
    "okay with you",
    "right approach",
];
/// What is done in any session decides nothing.
const ROUTINE: &[&str] = &[
    "commit",
    "push",
    "continue",
    "proceed",
    "run",
    "rerun",
    "test",
    "open",
    "merge",
    "check",
    "look",
    "investigate",
    "explore",
    "start",
    "begin",
    "show",
    "explain",
    "verify",
    "see",
    "stage",
    "search",
    "read",
    "dig",
    "wait",
    "stop",
    "try",
    "summarize",
    "draft",
    "write",
    "update",
    "create",
    "go",
];
const POINTS: &[&str] = &["it", "this", "that", "these", "those", "them", "so"];
const FILLERS: &[&str] =
    &["also", "now", "just", "please", "to", "then", "first", "go", "ahead", "and", "with"];

/// What the user agrees to by a yes to this question at the end of an answer; of what is done in any session nothing.
pub(crate) fn proposal_asked_about(answer: &str, question: &str) -> Option<String> {
    let lower = lowered(question);
    let last = lower.rsplit(". ").next().unwrap_or(&lower);
    let offer = OFFERS.iter().find_map(|offer| last.split_once(offer)).map(|(_, rest)| rest.trim());
    let points = |text: &str| POINTS.iter().any(|word| has_phrase(text, word));
    let named = || Some(one_line(question, MAX_PROPOSAL));
    let behind =
        || text_above(answer, question).map(|text| format!("{} → {text}", one_line(question, MAX_LEAD)));
    match offer {
        Some(rest) => {
            let words: Vec<&str> = words_of(rest).collect();
            let verb = words.iter().find(|word| !FILLERS.contains(word)).copied().unwrap_or_default();
            if words.len() <= MAX_POINTING && points(rest) {
                return behind().filter(|_| !is_of_version_control(verb));
            }
            (words.len() >= MIN_WORDS && !ROUTINE.contains(&verb)).then(named).flatten()
        }
        None if ASKS.iter().any(|ask| has_phrase(last, ask)) => {
            if words_of(&lower).count() >= MIN_NAMED {
                named()
            } else {
                behind()
            }
        }
        None => None,
    }
}

/// Whether a text suggests something by itself: `I'd go with the second.`
pub(crate) fn proposes(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "i'd go with",
        "i would go with",
        "i suggest",
        "i'd suggest",
        "i recommend",
        "i'd recommend",
        "my recommendation",
        "i propose",
        "recommended",
        "i'd do",
    ];
    let lower = lowered(text);
    WORDS.iter().any(|word| has_phrase(&lower, word))
}

fn is_of_version_control(verb: &str) -> bool {
    ["commit", "push", "merge", "stage", "run", "rerun", "test", "check", "look", "show", "explain"]
        .contains(&verb)
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '_')).filter(|word| !word.is_empty())
}

/// The list that stands before a question, with what opens it, else the paragraph before it.
fn text_above(answer: &str, question: &str) -> Option<String> {
    let first: String = question.chars().take(24).collect();
    let lines: Vec<&str> = answer.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines.iter().rposition(|line| line.contains(first.as_str()))?;
    // What stands on the line of the question before it is about it.
    let own = lines[end].split(first.as_str()).next().unwrap_or_default().trim();
    let above = &lines[..end];
    let last_item =
        above.iter().rposition(|line| is_item(line)).filter(|at| above.len() - at <= MAX_BETWEEN + 1);
    let text = match last_item {
        Some(last) => {
            let from = above[..last].iter().rposition(|line| !is_item(line)).map_or(0, |at| at + 1);
            let items: Vec<&str> = above[from..=last].iter().map(|item| unmarked(item)).collect();
            let lead = from.checked_sub(1).map(|at| above[at]);
            let lead = lead.filter(|lead| lead.ends_with(':') && lead.len() <= MAX_LEAD);
            let lead = lead.map(|lead| format!("{lead} ")).unwrap_or_default();
            format!("{lead}{}", items.join("; "))
        }
        None if words_of(own).count() >= MIN_NAMED => own.to_owned(),
        None => (*above.last()?).to_owned(),
    };
    let is_code = begins(&text, &["```", "|", "~~~"]);
    (!is_code && words_of(&text).count() >= MIN_NAMED).then(|| one_line(&text, MAX_PROPOSAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_yes_agrees_to_is_what_was_proposed() {
        let go = "I'd go with `SessionFileExtension()` — thoughts?";
        assert_eq!(proposal_asked_about(&format!("Five spots.\n\n{go}"), go).as_deref(), Some(go));
        let list = "Pretty low. It's:\n\n1. Add `ProtectedDirs()` to `Agent`\n2. Implement it on both agents\n\nMaybe 5 files touched.\n\nWant me to do it?";
        assert_eq!(
            proposal_asked_about(list, "Want me to do it?").as_deref(),
            Some(
                "Want me to do it? → Pretty low. It's: Add `ProtectedDirs()` to `Agent`; Implement it on both agents"
            )
        );
        let named = "Should I make the filter optional instead of removing it?";
        assert_eq!(proposal_asked_about(named, named).as_deref(), Some(named));
        let after =
            "The lock guards the snapshot only, so that no foreign code runs under it. Shall I do that?";
        assert_eq!(
            proposal_asked_about(after, "Shall I do that?").as_deref(),
            Some(
                "Shall I do that? → The lock guards the snapshot only, so that no foreign code runs under it."
            )
        );
    }

    #[test]
    fn what_is_done_in_any_session_is_no_proposal() {
        for question in [
            "Want me to commit this?",
            "Should I run the tests again?",
            "Shall I continue with WP15?",
            "Which approach do you prefer?",
            "Is the key unique?",
        ] {
            let answer = format!("The parser has now a list of all the tokens in it.\n\n{question}");
            assert_eq!(proposal_asked_about(&answer, question), None, "{question}");
        }
    }
}
