//! What the agent names as remaining.

use super::{List, Lowered, begins, has, lowered};
use crate::shared::words::{is_item, sentences, unmarked};

/// What the agent names as remaining: the rest of the sentence after `Remaining:` and its like, or the list below it.
pub(crate) fn next_steps(text: &str) -> Vec<&str> {
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
                None if is_plan(&lowered(sentence)) => steps.push(sentence),
                None => {}
            }
        }
    }
    // `Still open: whether …` is a question, not a step.
    steps.retain(|step| !step.is_empty() && !step.ends_with('?') && !lowered(step).starts_with("whether "));
    steps
}

/// Whether a text names what could come next, as a list of suggestions.
pub(crate) fn suggests(text: &str) -> bool {
    const MARKS: &[&str] = &[
        "what's next",
        "what is next",
        "what comes next",
        "next steps",
        "suggested next steps",
        "recommended next steps",
        "possible next steps",
        "proposed next steps",
    ];
    let heading = |line: &str| {
        let mark = line.split(':').next().unwrap_or_default();
        mark.trim_matches(['*', '_', '#', ' ', '.']).to_lowercase().replace('’', "'")
    };
    text.lines().any(|line| MARKS.contains(&heading(line).as_str()))
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
        "what's next",
        "what is next",
        "what comes next",
        "next up",
        "up next",
        "suggested next steps",
        "recommended next steps",
        "possible next steps",
        "proposed next steps",
        "immediate next steps",
        "nächste schritte",
        "prochaines étapes",
        "próximos pasos",
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

/// What says in the middle of a sentence that something is left to do.
pub(super) const REMAINING: &[&str] = &[
    "i still need to",
    "i still have to",
    "we still need to",
    "we still have to",
    "you still need to",
    "still needs to be",
    "still has to be",
    "still missing is",
    "remains to be done",
    "is left to do",
    "left to do",
    "is not done yet",
    "remains is to",
    "left is to",
    "is still to be",
    "has yet to",
    "have yet to",
    "someone has to",
    "someone still has to",
    "should come next",
    "comes next",
    "is next",
];
/// The agent waits for an answer and does nothing.
pub(super) const WAITS: &[&str] = &["let me know", "i'll wait", "i will wait"];

/// A whole sentence that says what comes next.
fn is_plan(lower: &Lowered) -> bool {
    const STARTS: &[&str] = &[
        "next,",
        "next i",
        "next we",
        "next you",
        "next up",
        "up next",
        "the next step",
        "next step",
        "the next thing",
        "what remains",
        "what is left",
        "what's left",
        "still to do",
        "left to do",
        "remaining work",
        "remaining is",
        "then we should",
        "then i should",
        "then we need",
        "then we have to",
        "then you should",
        "after that",
        "afterwards",
        "to finish",
        "to do next",
        "the last thing",
    ];
    !lower.ends_with('?')
        && !lower.contains("whether")
        && (begins(lower, STARTS) || has(lower, List::Remaining))
}

/// What an answer ends by announcing, as in `Let me check the exports:`: the session stopped before it was done.
pub(crate) fn announced(text: &str) -> Option<&str> {
    const STARTS: &[&str] = &[
        "let me",
        "i'll",
        "i will",
        "now let me",
        "now i'll",
        "next i'll",
        "i'm going to",
        "now let's",
        "let's",
        "first, let me",
        "need to",
        "i need to",
        "i still need to",
        "now i need to",
    ];
    let last = sentences(text).into_iter().next_back()?;
    let lower = lowered(last);
    let polite = has(&lower, List::Waits);
    (!polite && !lower.ends_with('?') && begins(&lower, STARTS)).then(|| last.trim_end_matches([':', '.']))
}
