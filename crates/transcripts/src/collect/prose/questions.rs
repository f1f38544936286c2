//! What was asked and not answered.

use super::rhetorical::{Place, answers_itself, takes_leave, wonders};
use super::{List, Lowered, MAX_SENTENCE, begins, has, lowered};
use crate::shared::words::{has_phrase, is_item, one_line, sentences, unmarked};

/// Words of a question that is left open on purpose.
pub(super) const OPEN: &[&str] = &[
    "open question",
    "open questions",
    "open point",
    "open points",
    "open issue",
    "still open",
    "is open whether",
    "remains open",
    "leave open",
    "left open",
    "is unresolved",
    "remains unresolved",
    "remain unresolved",
    "still unresolved",
    "left unresolved",
    "unresolved question",
    "unresolved point",
    "unresolved:",
    "undecided",
    "not decided",
    "not yet decided",
    "we decide whether",
    "you decide whether",
    "must decide whether",
    "should decide whether",
    "to decide: whether",
    "decide later whether",
    "to be decided",
    "to be clarified",
    "to be determined",
    "to be confirmed",
    "to clarify",
    "tbd",
    "tbc",
    "unclear whether",
    "unclear if",
    "is unclear",
    "not clear whether",
    "not clear if",
    "not sure whether",
    "not sure if",
    "unsure whether",
    "unsure if",
    "don't know whether",
    "don't know if",
    "do not know whether",
    "could not find out",
    "couldn't find out",
    "nobody knows",
    "nobody could",
    "no one could",
    "no one knows",
    "someone has to answer",
    "someone needs to",
    "need an answer",
    "needs an answer",
    "parking this",
    "parked",
    "need to decide",
    "have to decide",
    "has to decide",
    "needs a decision",
    "need a decision",
    "question is whether",
    "question whether",
    "one question",
    "question for you",
    "remaining question",
    "question for later",
    "is unanswered",
    "remains unanswered",
    "still unanswered",
    "unanswered question",
];
/// Phrases that ask for an answer, in the last message.
pub(super) const ASK: &[&str] = &[
    "let me know",
    "tell me whether",
    "tell me if",
    "please confirm",
    "can you confirm",
    "could you confirm",
    "please clarify",
    "your call",
    "your decision",
    "your input",
    "your opinion",
    "i need to know",
    "we need to know",
    "i'd like to know",
    "i wonder",
    "don't know",
];

/// Questions that the agent puts aside in the middle of the work.
pub(crate) fn put_aside(text: &str) -> Vec<String> {
    let is_listed = |lower: &Lowered| {
        has(lower, List::Open) || begins(lower, &["question", "decide whether", "please decide"])
    };
    questions(text, &|lower| is_listed(lower) && !checks(lower))
}

/// Questions in the last answer: they are unanswered.
pub(crate) fn asked_at_the_end(text: &str) -> Vec<String> {
    questions(text, &|lower| {
        let asks = lower.ends_with('?') || (has(lower, List::Ask) && !takes_leave(lower)) || wonders(lower);
        (asks || has(lower, List::Open)) && !checks(lower)
    })
}

/// How many choices are told, and how much of one, in characters.
const MAX_CHOICES: usize = 5;
const MAX_CHOICE: usize = 80;

/// What a question lets the user choose from: the options that the same message numbers.
pub(crate) fn choices(text: &str, question: &str) -> Vec<String> {
    const ASKS: &[&str] =
        &["which", "or", "option", "options", "approach", "prefer", "choose", "pick", "either"];
    let lower = lowered(question);
    if !ASKS.iter().any(|word| has_phrase(&lower, word)) {
        return Vec::new();
    }
    let name = |line: &str| {
        let bare = line.trim().trim_start_matches(['*', '#', '-', ' ', '(']).to_lowercase();
        let bare = bare.strip_prefix("option ").unwrap_or(&bare).to_owned();
        let mut chars = bare.chars();
        let name = chars.next().filter(|c| c.is_ascii_digit() || ('a'..='e').contains(c));
        name.filter(|_| chars.next().is_some_and(|c| matches!(c, '.' | ')' | ':')))
    };
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some(name) = name(line) else { continue };
        // A new list takes the place of the one before it.
        if matches!(name, '1' | 'a') {
            found.clear();
        }
        let bare = line.trim().trim_start_matches(['#', '-', ' ']).replace("**", "");
        let head = [" - ", " — ", " – "].iter().filter_map(|mark| bare.find(mark)).min();
        found.push(one_line(&bare[..head.unwrap_or(bare.len())], MAX_CHOICE));
    }
    if (2..=MAX_CHOICES).contains(&found.len()) { found } else { Vec::new() }
}

/// Whether a question is put to the user, whose next words are the answer to it; others are left open on purpose.
pub(crate) fn is_put_to_the_user(question: &str) -> bool {
    const STARTS: &[&str] = &[
        "question",
        "one question",
        "question for you",
        "quick question",
        "want me to",
        "do you want",
        "would you",
        "should i",
        "shall i",
        "shall we",
        "please decide",
        "please confirm",
    ];
    let lower = lowered(question);
    let is_to_you = ["you", "your"].iter().any(|word| has_phrase(&lower, word));
    (begins(&lower, STARTS) || is_to_you) && lower.trim_end().ends_with('?')
}

/// Whether a user's words only want to know something: they change nothing.
pub(crate) fn only_asks(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "why", "what", "how", "where", "when", "which", "who", "did", "do", "does", "is", "are", "was",
        "were",
    ];
    text.trim_end().ends_with('?') && begins(&lowered(text), STARTS)
}

/// Whether the words of a user are questions and nothing else: once the talk went on they are answered.
pub(crate) fn only_questions(text: &str) -> bool {
    let mut all = sentences(text);
    // A smiley behind a question is no sentence.
    all.retain(|one| one.contains(char::is_alphanumeric));
    !all.is_empty() && all.iter().all(|one| one.trim_end().ends_with('?')) && !text.contains('—')
}

/// Whether a question of the user asks for work: `can you stage the changes?`, and not `can you explain the flag?`
pub(crate) fn asks_for_work(text: &str) -> bool {
    const STARTS: &[&str] =
        &["can you ", "could you ", "would you ", "will you ", "can we ", "could we ", "please "];
    const TELLS: &[&str] = &[
        "clarify",
        "confirm",
        "describe",
        "elaborate",
        "explain",
        "know",
        "list",
        "remind",
        "say",
        "see",
        "show",
        "summarize",
        "tell",
        "think",
    ];
    sentences(text).into_iter().any(|sentence| {
        let lower = lowered(sentence);
        let rest = STARTS.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or_default();
        let verb = rest
            .split_whitespace()
            .find(|word| !matches!(*word, "also" | "please" | "just" | "now" | "maybe"));
        verb.is_some_and(|verb| !TELLS.contains(&verb.trim_matches(|c: char| !c.is_alphanumeric())))
    })
}

/// Whether words tell of tests that fail, which is so until they pass.
pub(crate) fn tells_of_failing_tests(text: &str) -> bool {
    let lower = lowered(text);
    let fails = ["failing", "still fail", "fails", "failed", "not passing", "don't pass", "broken"];
    let tests = ["test", "tests", "suite", "ci"];
    fails.iter().any(|word| has_phrase(&lower, word)) && tests.iter().any(|word| has_phrase(&lower, word))
}

/// What says anywhere in a sentence that the agent finds it out by itself.
pub(super) const CHECKS: &[&str] = &[
    "checking",
    "i check",
    "to see whether",
    "checks whether",
    "tests whether",
    "verify whether",
    "test whether",
    "depending on whether",
    "regardless of whether",
    "no matter whether",
    "i checked whether",
    "i'll see",
    "what changed?",
];

/// The agent finds it out by itself.
fn checks(lower: &Lowered) -> bool {
    const STARTS: &[&str] = &["let me", "now let me", "i'll check", "i will check", "now i'll"];
    let is_to_user = begins(lower, &["let me know"]);
    (begins(lower, STARTS) && !is_to_user) || begins(lower, CHECKS) || has(lower, List::Checks)
}

/// Sentences that ask; below a heading of questions every item is one.
fn questions(text: &str, asks: &dyn Fn(&Lowered) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut in_list = false;
    let mut fenced = false;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for (nth, line) in lines.iter().copied().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || line.trim_start().starts_with('>') {
            continue;
        }
        if in_list && is_item(line) {
            found.push(unmarked(line).to_owned());
            continue;
        }
        in_list = is_heading(&lowered(line));
        if in_list {
            continue;
        }
        let all = sentences(line);
        for (at, sentence) in all.iter().enumerate().filter(|(_, one)| one.len() <= MAX_SENTENCE) {
            let lower = lowered(sentence);
            // What ends in a colon is an opening whose rest is elsewhere.
            if !asks(&lower) || lower.trim_end_matches(['*', '_', ' ']).ends_with(':') {
                continue;
            }
            let is_below = lines.get(nth + 1).is_some_and(|below| !is_item(below));
            let place =
                Place { next: all.get(at + 1).copied(), is_title: is_below && is_title(line, all.len()) };
            if answers_itself(&lower, &place) {
                continue;
            }
            // `Can you confirm?` says nothing without the sentence before it.
            let before =
                at.checked_sub(1).and_then(|at| all.get(at)).filter(|_| lower.split_whitespace().count() < 5);
            match (before, found.last_mut()) {
                (Some(before), Some(last)) if last == before => {
                    last.push(' ');
                    last.push_str(sentence);
                }
                (Some(before), _) => found.push(format!("{before} {sentence}")),
                (None, _) => found.push((*sentence).to_owned()),
            }
        }
    }
    found
}

/// Whether a line of so many sentences stands as a title above what follows: a heading, bold as a whole, or a question for a cause.
fn is_title(line: &str, sentences: usize) -> bool {
    let line = line.trim();
    let is_bold = line.starts_with("**") && line.ends_with("**");
    let asks_for_cause =
        begins(&lowered(line), &["why", "how come", "what happened", "what went wrong", "what was wrong"]);
    sentences == 1 && (line.starts_with('#') || is_bold || asks_for_cause)
}

fn is_heading(lower: &str) -> bool {
    let bare = lower.trim_matches(['#', '*', '_', ':', ' ']);
    matches!(
        bare,
        "open questions"
            | "questions"
            | "open points"
            | "open issues"
            | "unresolved"
            | "to be clarified"
            | "questions for you"
    )
}
