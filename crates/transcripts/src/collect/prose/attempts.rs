//! Failed attempts, as the agent reports them.

use super::decisions::reason;
use super::{List, Lowered, MAX_SENTENCE, announces, begins, has, lowered, paragraphs};
use crate::shared::words::has_phrase;

/// Sentences in which the agent says that something did not work, with the reason where it gives one. A sentence that
/// only says `that failed` comes with the one before it.
pub(crate) fn attempts(text: &str) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for line in paragraphs(text) {
        let mut before: Option<&str> = None;
        for sentence in line.sentences {
            let lower = lowered(sentence);
            // What was found and mended, and what is done in its place, is no attempt.
            let names_nothing = points_back(&lower)
                && sentence.split_whitespace().count() < MIN_WORDS
                && !before.is_some_and(|before| tries(&lowered(before)));
            let is_finding = announces(sentence)
                || begins(&lower, FINDINGS)
                || ["i'll", "which fails", "that fails"].iter().any(|words| has_phrase(&lower, words))
                || names_nothing;
            let is_finding = is_finding || tells_of_code(sentence, &lower, line.is_item);
            if sentence.len() <= MAX_SENTENCE && !is_finding && failed(&lower) {
                let what = match before.filter(|before| points_back(&lower) && tries(&lowered(before))) {
                    Some(before) => format!("{before} {sentence}"),
                    None => sentence.to_owned(),
                };
                all.push((what, reason(sentence).map(str::to_owned)));
            }
            before = Some(sentence);
        }
    }
    all
}

/// Whether a sentence says what code does or could do: an item that begins with its name, a suggestion, a clause on when it
/// fails.
fn tells_of_code(sentence: &str, lower: &Lowered, is_item: bool) -> bool {
    const SUGGESTS: &[&str] =
        &["could try", "could be", "could attempt", "possible improvement", "would hide", "hides"];
    let bare = sentence.trim_start_matches(['*', '_', ' ']);
    let has_any = |words: &[&str]| words.iter().any(|word| has_phrase(lower, word));
    let tried = has(lower, List::Try) && ["i ", "we ", "i've "].iter().any(|who| lower.contains(who));
    let on_failure = lower.split_once("when ").is_some_and(|(_, clause)| {
        let clause = clause.split([',', ';', '.', '—']).next().unwrap_or_default();
        ["fails", "failed", "does not work"].iter().any(|word| has_phrase(clause, word))
    });
    // `Option 1 doesn't help`, `So the package won't work there`: what is weighed or concluded.
    let weighs = has_any(&["option", "options"])
        || (lower.starts_with("so ") && has_any(&["won't work", "will not work", "wouldn't work"]));
    !tried
        && ((is_item && bare.starts_with('`'))
            || weighs
            || has_any(SUGGESTS)
            || (on_failure && !has(lower, List::Failed)))
}

/// A sentence of fewer words that points back names nothing: `That won't work due to newlines.`
const MIN_WORDS: usize = 8;
/// Beginnings of sentences that tell of a fault, and of a slip with a tool.
const FINDINGS: &[&str] = &[
    "the issue is",
    "now the issue is",
    "the problem is",
    "now the problem is",
    "the bug is",
    "the root cause",
    "root cause",
    "the sed",
    "the awk",
];

/// Words of failure that need no more.
pub(super) const FAILED: &[&str] = &[
    "didn't work",
    "did not work",
    "won't work",
    "will not work",
    "wouldn't work",
    "would not work",
    "failed because",
    "fails because",
    "dead end",
    "had to revert",
    "i reverted",
    "we reverted",
    "reverted it",
    "rolled back",
    "rolled it back",
    "backed out",
    "backed it out",
    "no luck",
    "to no avail",
    "in vain",
    "got me nowhere",
    "got us nowhere",
    "led nowhere",
    "leads nowhere",
    "gave up on",
    "giving up on",
    "gave up",
    "abandoned",
    "unsuccessful",
    "unsuccessfully",
    "made it worse",
    "makes it worse",
    "made things worse",
    "no help",
    "made no difference",
    "makes no difference",
    "changed nothing",
    "had no effect",
    "has no effect",
    "to no effect",
    "did not help",
    "didn't help",
    "does not help",
    "doesn't help",
    "not to help",
    "turned out not to",
    "turned out to be wrong",
    "had hoped",
    "no good",
    "not viable",
    "not an option",
    "isn't an option",
    "rules out",
    "had to undo",
    "had to be undone",
    "undone because",
    "had to be reverted",
    "that approach failed",
    "that approach won't",
    "that approach doesn't",
    "that approach didn't",
    "that approach does not",
    "that approach will not",
    "fell flat",
    "backfired",
    "without success",
];
/// Words of failure that count with a reason or as the answer to a try.
pub(super) const WITH_REASON: &[&str] = &[
    "doesn't work",
    "does not work",
    "failed",
    "fails",
    "is broken",
    "not work",
    "can't work",
    "cannot work",
];
pub(super) const BUT: &[&str] = &["but", "yet", "however", "unfortunately", "sadly", "→", "still", "–", "—"];

/// What went well, or was chosen.
pub(super) const GOOD: &[&str] = &[
    "works now",
    "and it works",
    "passes now",
    "as expected",
    "now works",
    "it works",
    "in favour of",
    "in favor of",
];
pub(super) const TRY: &[&str] = &[
    "tried",
    "i try",
    "attempted",
    "attempt",
    "first attempt",
    "experimented",
    "an earlier try",
    "first try",
    "my first",
    "first idea",
    "first approach",
    "tested whether",
];
/// What may be tried.
pub(super) const WAYS: &[&str] =
    &["approach", "idea", "attempt", "workaround", "variant", "version", "patch", "change"];

fn failed(lower: &Lowered) -> bool {
    const OTHER: &[&str] = &[
        "if",
        "the test",
        "the tests",
        "tests",
        "all tests",
        "no test",
        "one test",
        "a test",
        "a build",
        "the build",
        "a check",
        "the check",
        "a request",
        "the request",
        "a command",
        "the command",
        "a run",
        "the run",
        "a step",
        "a job",
    ];
    if lower.ends_with('?') || begins(lower, OTHER) || has(lower, List::Good) {
        return false;
    }
    let reasoned = [" because ", " since ", " as ", ": ", "; ", " – ", " — ", ", "]
        .iter()
        .any(|sign| lower.contains(sign));
    let tried = tries(lower);
    has(lower, List::Failed)
        || (has(lower, List::FailedWithReason) && (tried || points_back(lower) || gerund(lower)) && reasoned)
        || (tried && (has(lower, List::But) || lower.contains('→')))
}

fn tries(lower: &Lowered) -> bool {
    has(lower, List::Try)
}

fn points_back(lower: &str) -> bool {
    begins(
        lower,
        &[
            "that",
            "this",
            "it",
            "which",
            "both",
            "neither",
            "but",
            "unfortunately",
            "however",
            "sadly",
            "then",
        ],
    )
}

/// `Caching the table failed: …` is an attempt, `The login failed: …` a fault.
fn gerund(lower: &Lowered) -> bool {
    let first = lower.trim_start_matches(['*', '`', ' ', '"']).split_whitespace().next().unwrap_or_default();
    (first.len() > 5 && first.ends_with("ing")) || has(lower, List::Ways) || with_gerund(lower)
}

/// `A second pass of caching failed`: a gerund soon after the beginning.
fn with_gerund(lower: &str) -> bool {
    lower.split_whitespace().take(4).any(|word| word.len() > 6 && word.ends_with("ing"))
        || begins(lower, &["using", "a", "an"])
}
