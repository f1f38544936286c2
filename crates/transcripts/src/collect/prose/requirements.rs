//! Lists of requirements in the user's words, and sentences of documents without what they say in passing.

use std::borrow::Cow;

use super::lowered;
use crate::shared::words::has_phrase;

/// `It has to satisfy these requirements:`
pub(super) fn leads_to_rules(line: &str) -> bool {
    const RULES: &[&str] = &[
        "requirements",
        "constraints",
        "invariants",
        "ground rules",
        "these rules",
        "following rules",
        "house rules",
    ];
    const FAULTS: &[&str] = &[
        "fail", "fails", "failed", "failing", "violates", "violated", "error", "errors", "warnings",
        "removed", "met",
    ];
    let lower = lowered(line.trim().trim_end_matches(['*', '_', ' ']));
    let has_any = |words: &[&str]| words.iter().any(|word| has_phrase(&lower, word));
    lower.ends_with(':') && !line.trim_start().starts_with('#') && has_any(RULES) && !has_any(FAULTS)
}

/// A sentence of a document without what stands in parentheses: `Sets the id to "" (the next commit must get a fresh one)` is a
/// step.
pub(super) fn without_parentheses(sentence: &str) -> Cow<'_, str> {
    let mut depth = 0_usize;
    let mut keep = |c: char| {
        let is_inside = depth > 0 || c == '(';
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        !is_inside
    };
    match sentence.contains('(') {
        true => Cow::Owned(sentence.chars().filter(|c| keep(*c)).collect()),
        false => Cow::Borrowed(sentence),
    }
}

#[cfg(test)]
mod tests {
    use super::super::constraints;

    #[test]
    fn every_item_of_a_list_of_requirements_is_one() {
        let plan = "# Plan\n\n## Context\n\nNeither satisfies the requirements in `req.md`:\n1. Every commit gets its own id\n2. Every commit must be traceable\n3. Rebase-safe\n\n\
                    The key insight: condense at once.\n\n## Steps\n\n- Sets the id to \"\" (the next commit must get a fresh one)\n- Rename it\n\n## Check\n\nRun it.";
        let found: Vec<&str> = constraints(plan).iter().map(|one| one.sentence).collect();
        assert_eq!(found, ["Every commit gets its own id", "Every commit must be traceable", "Rebase-safe"]);
        let failing = "These requirements failed:\n- the first\n- the second";
        assert!(constraints(failing).is_empty());
    }
}
