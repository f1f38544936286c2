//! What the user insists on.

use super::fault_report::{describes, is_issue_title, never_was};
use super::pasted::{self, Origin};
use super::requirements::{leads_to_rules, without_parentheses};
use super::{List, Lowered, MAX_SENTENCE, begins, has, lowered};
use crate::shared::words::{is_item, sentences, unmarked};

/// A sentence in which the user insists on something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConstraintText<'t> {
    pub sentence: &'t str,
    /// The heading of the document under which it stands, which may be all that it is about.
    pub heading: Option<&'t str>,
}

/// Sentences in which the user insists on something.
pub(crate) fn constraints(text: &str) -> Vec<ConstraintText<'_>> {
    let mut found = Vec::new();
    let mut heading = None;
    let mut in_rules = false;
    for (origin, line) in pasted::lines(text) {
        if origin == Origin::Document && line.starts_with('#') {
            heading = Some(unmarked(line));
        }
        if !line.trim().is_empty() && !is_item(line) {
            in_rules = origin != Origin::Output && leads_to_rules(line);
        }
        // One item of a list of requirements says as much as its neighbours, whatever its words.
        if in_rules && is_item(line) && origin != Origin::Output && line.len() <= MAX_SENTENCE {
            found.push(ConstraintText { sentence: unmarked(line), heading });
            continue;
        }
        let counts = |sentence: &&str| {
            let bare =
                if origin == Origin::Document { without_parentheses(sentence) } else { (*sentence).into() };
            let lower = lowered(&bare);
            let typed =
                origin == Origin::Typed || (origin == Origin::Document && pasted::sets_a_rule(sentence));
            sentence.len() <= MAX_SENTENCE && typed && insists(&lower)
        };
        let heading = heading.filter(|_| origin == Origin::Document);
        let all = sentences(line).into_iter().filter(counts);
        found.extend(all.map(|sentence| ConstraintText { sentence, heading }));
    }
    found
}

fn insists(lower: &Lowered) -> bool {
    // `Don't fix anything, but just look`: how far one question goes.
    let is_for_this_once = has(lower, List::JustLook) && has(lower, List::Refrain);
    // `Other languages, to ensure that the patterns don't mislead`: what something is for.
    let is_purpose = ["to ensure", "to make sure"].iter().any(|words| {
        let (before, after) = lower.split_once(words).unwrap_or_default();
        !before.is_empty()
            && !["must", "don't"].iter().any(|word| before.contains(word))
            && !after.contains([',', ';'])
    });
    if is_for_this_once || is_purpose || is_issue_title(lower) || describes(lower) || never_was(lower) {
        return false;
    }
    if lower.contains('?') || has(lower, List::Discussion) || begins(lower, TALK_STARTS) {
        return false;
    }
    // `I don't think so` is a statement, `I don't want you to` a command.
    if has(lower, List::Refuse) && !has(lower, List::RefuseToHave) {
        return false;
    }
    if is_for_one_thing(lower) {
        return false;
    }
    let words = lower.split_whitespace().count();
    let left = has(lower, List::Stay) && has(lower, List::AsItIs);
    let starts = begins(lower, STARTS) || (begins(lower, &["no", "only"]) && rules_out(lower));
    words > 2 && (has(lower, List::Insistence) || left || starts)
}

/// Whether a sentence that insists is about one thing at one time: an order, a request, a report of a fault, the answer to
/// one proposal.
fn is_for_one_thing(lower: &Lowered) -> bool {
    let forbids = has(lower, List::Forbid);
    let asks =
        begins(lower, &["can we", "can you", "could we", "could you", "you can", "you may", "feel free"]);
    let answers =
        begins(lower, &["yes", "yeah", "no i", "no, i", "no we", "no it", "ok", "okay", "hm", "hmm"]);
    // `Should be dimmer`: of what the user looks at. `This must be short`: of what was said before.
    let looks_at = begins(lower, &["should", "needs to be", "has to be", "but once", "but when"]);
    let refers = begins(lower, &["this", "that", "these", "those", "it"]) && !forbids;
    let standing = has(lower, List::Standing);
    if asks || (answers && !forbids) || ((looks_at || refers) && !standing) {
        return true;
    }
    // `Make sure the menu has tooltips as well`
    let orders = has(lower, List::Order) && !has(lower, List::Command);
    (orders && !forbids && !standing) || has(lower, List::Report)
}

/// Words that ask for one thing to be done where nothing else in the sentence makes it a rule.
pub(super) const ORDER: &[&str] =
    &["make sure", "be sure to", "be sure that", "ensure", "remember to", "don't forget"];
/// Words of command that are more than an order.
pub(super) const COMMAND: &[&str] = &[
    "must",
    "has to",
    "have to",
    "need you to",
    "avoid",
    "only",
    "stick to",
    "essential that",
    "is essential",
    "crucial that",
    "is crucial",
    "is mandatory",
    "important that",
    "insist",
    "strictly",
    "unchanged",
    "untouched",
    "stays",
    "stay",
    "remain",
    "remains",
    "keep",
    "keeps",
];
/// Words of prohibition.
pub(super) const FORBID: &[&str] = &[
    "never",
    "must not",
    "mustn't",
    "do not",
    "don't",
    "dont",
    "should not",
    "shouldn't",
    "may not",
    "cannot",
    "can't",
    "forbidden",
    "prohibited",
    "not allowed",
];
/// Words by which an order holds more than once.
pub(super) const STANDING: &[&str] = &[
    "always",
    "never",
    "every",
    "each",
    "whenever",
    "at all times",
    "from now on",
    "as you go",
    "as a rule",
    "before you commit",
    "before you push",
    "before committing",
    "before pushing",
    "when you commit",
    "tests pass",
    "test passes",
    "build passes",
    "green",
];
/// Words of a report: what the user saw.
pub(super) const REPORT: &[&str] = &[
    "got a crash",
    "i got",
    "i get",
    "i'm getting",
    "i selected",
    "it crashes",
    "it crashed",
    "doesn't adhere",
    "does not adhere",
    "i clicked",
    "i tried",
    "i ran",
    "i started",
    "happened when",
    "happens when",
];

/// `No new dependencies` is a rule, `no tools: what next` and `only one test failed` are not.
fn rules_out(lower: &Lowered) -> bool {
    const COUNTS: &[&str] =
        &["only one", "only two", "only three", "only a", "only the", "only some", "only in"];
    !lower.contains(':') && !begins(lower, COUNTS) && !has(lower, List::GoOn)
}

/// With these, `no …` and `only …` talk of the work and rule nothing out.
pub(super) const GO_ON: &[&str] =
    &["but", "go on", "continue", "what", "next", "thanks", "then", "still", "yet", "now"];
pub(super) const JUST_LOOK: &[&str] =
    &["just validate", "just look", "just check", "just tell", "just explain", "just verify", "just answer"];
pub(super) const REFRAIN: &[&str] = &["don't", "do not", "dont", "without"];
pub(super) const REFUSE: &[&str] = &["i don't", "i dont", "we don't"];
pub(super) const REFUSE_TO_HAVE: &[&str] = &["i don't want", "i don't like", "we don't want"];
pub(super) const STAY: &[&str] = &["leave", "keep", "stay", "stays", "remain", "remains"];

/// Words of command, prohibition and protection.
pub(super) const INSISTENCE: &[&str] = &[
    "must",
    "must not",
    "mustn't",
    "never",
    "always",
    "make sure",
    "be sure to",
    "be sure that",
    "ensure",
    "please keep",
    "do not",
    "don't",
    "dont",
    "should not",
    "shouldn't",
    "may not",
    "you cannot",
    "you can't",
    "we can't have",
    "we cannot have",
    "can't have",
    "not allowed",
    "not permitted",
    "forbidden",
    "prohibited",
    "not to be",
    "refrain from",
    "avoid",
    "steer clear",
    "only use",
    "use only",
    "only touch",
    "only change",
    "only edit",
    "only modify",
    "only commit",
    "only push",
    "please only",
    "stick to",
    "under no circumstances",
    "no circumstances",
    "in no case",
    "on no account",
    "whatever you do",
    "no matter what",
    "at all costs",
    "at any cost",
    "at all times",
    "without exception",
    "every time",
    "from now on",
    "remember to",
    "don't forget",
    "you have to",
    "it has to",
    "they have to",
    "has to",
    "we need you to",
    "i need you to",
    "need you to",
    "i insist",
    "we insist",
    "insist on",
    "insist that",
    "hands off",
    "off limits",
    "off-limits",
    "stay away",
    "keep away",
    "keep out of",
    "untouched",
    "untouchable",
    "unchanged",
    "is mandatory",
    "essential that",
    "is essential",
    "crucial that",
    "is crucial",
    "important that",
    "i'd rather you",
    "i would rather you",
    "rather you didn't",
    "i don't want",
    "i do not want",
    "we don't want",
    "we do not want",
    "hard rule",
    "house rule",
    "rule of the house",
    "a rule:",
    "as a rule",
    "strictly",
    "without touching",
    "without changing",
    "without breaking",
    "without adding",
    "as you go",
    "let's not leave",
    "after each",
    "after every",
    "before each",
    "before every",
];

/// What keeps something in its state, together with a verb of staying.
pub(super) const AS_IT_IS: &[&str] = &[
    "alone",
    "as is",
    "as it is",
    "as they are",
    "as it was",
    "the way it is",
    "the way they are",
    "in place",
    "exactly as",
    "the same",
    "stable",
    "intact",
    "compatible",
];

/// Sentences with the words of command that command nothing.
pub(super) const DISCUSSION: &[&str] = &[
    "i don't know",
    "i don't think",
    "i don't see",
    "i don't understand",
    "i don't remember",
    "i don't mind",
    "i don't care",
    "i don't have",
    "i do not know",
    "i do not think",
    "i don't get",
    "we don't know",
    "we don't have",
    "you don't have to",
    "you don't need",
    "they don't",
    "don't know",
    "don't think",
    "don't worry",
    "don't bother",
    "don't see",
    "don't understand",
    "don't mind",
    "don't hesitate",
    "why don't",
    "do not worry",
    "do not hesitate",
    "i never",
    "it never",
    "we never",
    "they never",
    "never mind",
    "nevermind",
    "never heard",
    "never seen",
    "must have",
    "must've",
    "must be a",
    "must be the",
    "must be my",
    "it must be",
    "that must be",
    "this must be",
    "always fails",
    "it always",
    "i always",
    "we always",
    "as always",
    "i must say",
    "i must admit",
    "i have to",
    "make sure i understand",
    "not always",
    "need not",
];
const TALK_STARTS: &[&str] = &[
    "must be",
    "must have",
    "no problem",
    "no worries",
    "no idea",
    "no,",
    "no need",
    "no longer",
    "no thanks",
    "no hurry",
    "no rush",
    "keep going",
    "keep it up",
    "no.",
];
const STARTS: &[&str] = &["keep", "avoid", "without", "stick to", "leave", "prefer"];
