//! What was decided, why, and what was not chosen.

use super::reasoned_choice::{UNDECIDED, is_reasoned_choice};
use super::{List, Lowered, MAX_SENTENCE, begins, has, lowered, paragraphs};
use crate::shared::words::has_phrase;

/// A decision in the words of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecisionText {
    /// The sentence, with the one after it where that gives the reason.
    pub what: String,
    /// Its reason.
    pub why: Option<String>,
    /// What was not chosen.
    pub rejected: Option<String>,
}

/// Sentences that decide.
pub(crate) fn decisions(text: &str) -> Vec<DecisionText> {
    let mut all = Vec::new();
    for line in paragraphs(text) {
        let mut at = 0;
        while let Some(sentence) = line.sentences.get(at).copied() {
            at += 1;
            let lower = lowered(sentence);
            if sentence.len() > MAX_SENTENCE || !decides(&lower) || (line.is_item && is_listed_step(&lower)) {
                continue;
            }
            let sentence = sentence.trim_end_matches([':', ' ']);
            let mut what = sentence.to_owned();
            if let Some(next) = line.sentences.get(at).filter(|next| explains(sentence, next)) {
                what = format!("{sentence} {next}");
                at += 1;
            }
            let (why, rejected) = (reason(&what).map(str::to_owned), rejected(sentence).map(str::to_owned));
            all.push(DecisionText { what, why, rejected });
        }
    }
    all
}

/// Whether a user's words take back what the agent did or meant.
pub(crate) fn corrects(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "no,",
        "no.",
        "no!",
        "no -",
        "no —",
        "nope",
        "nah",
        "wrong",
        "that's wrong",
        "this is wrong",
        "that is wrong",
        "that's not",
        "this is not",
        "not like that",
        "not that",
        "actually,",
        "actually no",
        "instead",
        "rather",
        "revert",
        "undo",
        "scratch that",
        "stop",
        "wait",
        "hold on",
        "i meant",
        "i mean",
        "don't",
        "do not",
        "please don't",
        "hm, no",
        "i don't want",
        "i'd rather",
        "i would rather",
        "let's not",
        "we shouldn't",
        "you shouldn't",
        "i think we should",
    ];
    let lower = first_line(text);
    begins(&lower, STARTS) || &*lower == "no" || rejects_all(text)
}

/// Whether a user's words throw out as a whole what the agent came up with.
pub(crate) fn rejects_all(text: &str) -> bool {
    const SAID: &[&str] = &[
        "wtf",
        "doesn't look right",
        "does not look right",
        "looks wrong",
        "is wrong",
        "makes no sense",
        "doesn't make sense",
        "overcomplicated",
        "over-engineered",
        "overengineered",
        "start over",
        "revert this",
        "revert that",
        "revert it",
        "revert all",
        "undo this",
        "undo that",
        "undo it",
        "scratch that",
        "throw it out",
        "not what i asked",
        "not what i wanted",
        "not what we want",
        "that's not it",
    ];
    let lower = first_line(text);
    let first: String = lower.split(['?', '!', '.']).next().unwrap_or_default().to_owned();
    first.split_whitespace().count() <= 16 && SAID.iter().any(|phrase| has_phrase(&first, phrase))
}

fn first_line(text: &str) -> Lowered {
    lowered(text.trim_start().lines().next().unwrap_or_default())
}

/// Words that decide by themselves.
pub(super) const DECIDE: &[&str] = &[
    "decided to",
    "decided on",
    "decided against",
    "decided not to",
    "decided for",
    "decided in favour",
    "decided in favor",
    "going with",
    "went with",
    "we go with",
    "let's go with",
    "will go with",
    "i'd go with",
    "went for",
    "i chose",
    "we chose",
    "chose to",
    "i picked",
    "we picked",
    "my pick",
    "my choice",
    "our choice",
    "opted for",
    "opted to",
    "opting for",
    "settle on",
    "settle for",
    "choice fell on",
    "choice falls on",
    "scratch that",
    "correction:",
    "take that back",
    "settled on",
    "settled for",
    "settling on",
    "chosen over",
    "in favour of",
    "in favor of",
    "decision:",
    "my decision",
    "the decision is",
    "stick with",
    "sticking with",
    "switched from",
    "switching from",
    "i prefer",
    "we prefer",
    "i'd prefer",
    "i favour",
    "i favor",
    "we favour",
    "we favor",
    "change of plan",
    "changed my mind",
    "on second thought",
    "i take back",
    "scrap that",
];
/// Words that set one thing against another.
pub(super) const AGAINST: &[&str] = &["instead of", "rather than", "in place of"];
const NOT: &[&str] = &[", not ", " and not ", "(not ", " not ", " but not ", " and no ", ", no ", " forget "];
/// Words of action: a commitment to do something counts more than a statement.
pub(super) const ACT: &[&str] = &[
    "i'll",
    "i will",
    "we'll",
    "we will",
    "let's",
    "let us",
    "i used",
    "we used",
    "i'm using",
    "we're using",
    "switched to",
    "i kept",
    "we kept",
    "we use",
    "i use",
    "i'd like",
    "i want",
    "go for",
    "i replaced",
    "i implemented",
    "i've used",
    "plan is to use",
    "plan is to",
    "we now use",
    "i now use",
];
pub(super) const USER_DECIDES: &[&str] = &["user decided", "users decided", "the user chose", "user chooses"];
pub(super) const GOES_ON: &[&str] = &["keep going", "going on with", "go on with", "get going"];
/// What another suggests.
pub(super) const REPORTS: &[&str] = &["suggests", "suggested", "suggesting", "recommends", "proposes"];
pub(super) const CHOOSE: &[&str] =
    &["chose", "choose", "pick", "picked", "take", "took", "favour", "favor", "prefer"];
pub(super) const OVER: &[&str] = &["over", "rather than", "instead of"];
pub(super) const COMPARE: &[&str] = &["between", "compared", "weighed", "weighing"];
pub(super) const WIN: &[&str] = &["wins", "won", "better", "best", "former", "latter"];
pub(super) const INSTEAD: &[&str] = &["instead"];
pub(super) const BETTER: &[&str] =
    &["better than", "superior to", "preferable to", "beats", "better choice", "best choice", "better fit"];
pub(super) const REJECT: &[&str] = &["rejected", "ruled out", "discarded", "dismissed"];
/// What was weighed, in the sentence after a decision.
pub(super) const OPTIONS: &[&str] = &[
    "alternative",
    "alternatives",
    "considered",
    "rejected",
    "tempting",
    "argument",
    "argument against",
    "other option",
    "would be wrong",
    "would be worse",
    "would have been",
];
const ACT_STARTS: &[&str] = &[
    "use",
    "used",
    "using",
    "take",
    "keep",
    "kept",
    "pick",
    "choose",
    "go",
    "replaced",
    "switched",
    "implemented",
];

/// An item of a list that says what to do or what was done, or names one candidate of several, and no reason for it.
fn is_listed_step(lower: &Lowered) -> bool {
    !has(lower, List::Decide) && !BECAUSE.iter().any(|word| lower.contains(word)) && !has(lower, List::Act)
}

/// `Use the new reader instead of the old one:`, before the code that does so; `To summarize the decision: …`, which tells
/// what it is about.
fn leads_on(lower: &Lowered) -> bool {
    let work = lower.trim_end_matches(['*', '_', ' ']).ends_with(':') && !has(lower, List::Decide);
    let titled = lower.split_once(':').is_some_and(|(title, _)| title.contains("decision"));
    (work && !titled) || begins(lower, &["to summarize", "to sum up", "in summary"])
}

fn decides(lower: &Lowered) -> bool {
    if !lower.ends_with('?') && !begins(lower, UNDECIDED) && is_reasoned_choice(lower) {
        return true;
    }
    if leads_on(lower) || lower.contains(" should now ") {
        return false;
    }
    let goes_on = has(lower, List::GoesOn);
    // `User decided to split up`: a scenario that is described.
    if has(lower, List::UserDecides) {
        return false;
    }
    // What another suggests is told, not decided.
    let reports = has(lower, List::Reports);
    if lower.ends_with('?') || begins(lower, UNDECIDED) || goes_on || (reports && !has(lower, List::Decide)) {
        return false;
    }
    let chose_over = has(lower, List::Choose) && has(lower, List::Over);
    let compared = has(lower, List::Compare) && has(lower, List::Win);
    let set_against = has(lower, List::Against) || (sets_aside(lower) && gives_reason(lower));
    let begun = begins(lower, DECIDE) || has(lower, List::Decide);
    let acts = has(lower, List::Act) || begins(lower, ACT_STARTS);
    let lets = begins(lower, &["let's", "we'll", "i'll"]) && has(lower, List::Instead);
    let better = has(lower, List::Better) && gives_reason(lower);
    // `Redis rather than files, because …`: what opens a sentence, against something, with a reason.
    let opens = gives_reason(lower)
        && AGAINST
            .iter()
            .filter_map(|word| lower.find(word))
            .any(|at| lower[..at].split_whitespace().count() <= 9);
    let does = begins(lower, &["let's do", "let's take", "let us do", "we do"])
        && BECAUSE.iter().any(|word| lower.contains(word));
    // `Rather than a refactor I added a comment`
    let replaces = begins(lower, &["rather than", "instead of"])
        && [" i ", " i've ", " i'll ", " we "].iter().any(|word| lower.contains(word));
    better
        || opens
        || does
        || replaces
        || begun
        || chose_over
        || compared
        || lets
        || (set_against && acts)
        || idiom(lower)
}

/// `…, not Redis`, `Forget Redis, …`
fn sets_aside(lower: &str) -> bool {
    let padded = format!(" {lower}");
    NOT.iter().any(|not| padded.contains(not))
}

/// `Redis it is`, `rejected X because …`.
fn idiom(lower: &Lowered) -> bool {
    let rejects = has(lower, List::Reject) && gives_reason(lower);
    rejects || (lower.contains(" it is") && gives_reason(lower) && sets_aside(lower))
}

pub(super) const BECAUSE: &[&str] = &[
    " because of ",
    " because ",
    " since ",
    " so that ",
    " as it ",
    " due to ",
    " given that ",
    " reason is that ",
    " reason: ",
    " reason being ",
];
/// Signs that may stand for `because`, looked for when no word does.
const SIGNS: &[&str] = &[": ", " — ", " – ", "; ", ", as "];

fn gives_reason(lower: &str) -> bool {
    BECAUSE.iter().chain(SIGNS).any(|word| lower.contains(word))
}

/// Whether a sentence gives the reason of the decision before it.
fn explains(decision: &str, next: &str) -> bool {
    const REASONS: &[&str] =
        &["reason", "the reason", "because", "that's because", "this is because", "main reason", "rationale"];
    const GOES_ON: &[&str] = &[
        "i'll", "i will", "let me", "let's", "now", "next", "then", "done", "should", "shall", "i'm",
        "the diff", "all", "sure", "running", "please", "also", "and", "yes",
    ];
    let (decision, next) = (lowered(decision), lowered(next));
    if next.len() > 240 || next.ends_with(['?', ':']) || decides(&next) {
        return false;
    }
    // `Decision:` and `Change of plan:` are openings; a colon after them may stand for a reason.
    let reason = match decision.split_once(':') {
        Some((opening, reason)) if opening.split_whitespace().count() <= 3 => reason,
        _ => &decision,
    };
    let bare = !BECAUSE.iter().chain(SIGNS).any(|word| reason.contains(word));
    begins(&next, REASONS) || has(&next, List::Options) || (bare && !begins(&next, GOES_ON))
}

/// What follows `because` and its like.
pub(super) fn reason(sentence: &str) -> Option<&str> {
    let lower = sentence.to_ascii_lowercase();
    let (at, len) = BECAUSE.iter().filter_map(|word| Some((lower.find(word)?, word.len()))).min()?;
    Some(sentence[at + len..].trim_end_matches(['.', '!']).trim())
}

fn rejected(sentence: &str) -> Option<&str> {
    const WORDS: &[&str] =
        &[" instead of ", " rather than ", " over ", "decided against ", "decided not to "];
    let (at, len) = WORDS.iter().filter_map(|word| Some((sentence.find(word)?, word.len()))).min()?;
    let rest = &sentence[at + len..];
    let ends = [
        " because", " since", " so that", " as it", " as ", " due to", " given", " and use", ", ", "; ",
        " — ", " – ", " (", ": ",
    ];
    let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(['.', '!']).trim()).filter(|text| !text.is_empty())
}
