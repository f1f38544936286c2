//! Prohibitions for the moment, which an order of the user lifts.

use super::{begins, lowered};
use crate::shared::words::{has_phrase, sentences};

/// Steps that the user orders one at a time.
const STEPS: &[&str] = &["commit", "push", "merge", "deploy", "publish", "release", "rebase", "tag"];
const REFUSALS: &[&str] = &["don't", "do not", "dont", "not", "without"];
/// Words by which a prohibition holds for more than the moment.
const LASTING: &[&str] =
    &["never", "ever", "always", "until", "unless", "by yourself", "on your own", "anything"];

/// The step that a sentence forbids, where it names nothing but the step and nothing says for how long: `…, don't commit.`
pub(crate) fn forbidden_for_now(sentence: &str) -> Option<&'static str> {
    let lower = lowered(sentence);
    if LASTING.iter().any(|word| has_phrase(&lower, word)) {
        return None;
    }
    let mut clauses = lower.split([',', ';', '.', '!', '(', ')', '—']).map(str::trim);
    clauses.find_map(|clause| {
        let refused = REFUSALS.iter().find_map(|word| clause.split_once(word))?.1.trim();
        let bare = refused
            .trim_end_matches(" yet")
            .trim_end_matches(" it")
            .trim_end_matches(" this")
            .trim_end_matches(" now");
        STEPS.iter().copied().find(|step| *step == bare)
    })
}

/// Whether a message orders this step.
pub(crate) fn orders(message: &str, step: &str) -> bool {
    let begin = [
        step,
        "please",
        "now",
        "ok",
        "okay",
        "yes",
        "yeah",
        "can you",
        "could you",
        "let's",
        "and",
        "then",
        "go ahead",
    ];
    sentences(message).into_iter().any(|sentence| {
        let lower = lowered(sentence);
        has_phrase(&lower, step)
            && !REFUSALS.iter().any(|word| has_phrase(&lower, word))
            && (begins(&lower, &begin) || lower.split_whitespace().count() <= 6)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_forbidden_for_now_is_told_from_a_rule() {
        assert_eq!(forbidden_for_now("Write the plan to a file, don't commit."), Some("commit"));
        assert_eq!(forbidden_for_now("Do not push yet"), Some("push"));
        for rule in [
            "Never commit.",
            "Don't commit to main.",
            "Do not commit anything",
            "Don't push until CI is green",
        ] {
            assert_eq!(forbidden_for_now(rule), None, "{rule}");
        }
        assert!(orders("commit this", "commit") && orders("Can you commit and push?", "push"));
        assert!(
            !orders("don't commit", "commit")
                && !orders("why does the commit hook of the other repository fail", "commit")
        );
    }
}
