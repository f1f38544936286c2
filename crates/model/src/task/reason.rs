//! What the reason for a closing says of its result. Words decide only where they are unambiguous.

use super::closing::Outcome;

/// Predicates that say that something went wrong.
const FAILS: &[&str] = &[
    "fail",
    "fails",
    "failed",
    "failing",
    "rejected",
    "wontfix",
    "canceled",
    "cancelled",
    "abandoned",
    "aborted",
    "crashed",
    "crashes",
    "broken",
    "breaks",
];

/// Predicates that say that it went well.
const PASSES: &[&str] = &[
    "pass",
    "passes",
    "passed",
    "passing",
    "green",
    "succeed",
    "succeeds",
    "succeeded",
    "successful",
    "successfully",
    "approved",
    "lgtm",
    "works",
];

/// Nouns that say something only when they are counted or negated: `error handling` is no error.
const TROUBLES: &[&str] =
    &["error", "errors", "failure", "failures", "timeout", "timeouts", "crash", "blocked"];

const NEGATIONS: &[&str] = &["no", "not", "without", "none", "never", "nothing", "cannot", "nobody", "zero"];

/// With one of these a sentence does not say how it went.
const HEDGES: &[&str] = &[
    "if",
    "should",
    "would",
    "could",
    "might",
    "may",
    "until",
    "unless",
    "except",
    "most",
    "mostly",
    "some",
    "partly",
    "almost",
    "nearly",
    "only",
    "expected",
    "but",
    "though",
    "although",
    "however",
    "still",
    "before",
    "previously",
    "was",
    "were",
    "will",
    "maybe",
    "probably",
];

/// What one clause says.
#[derive(Clone, Copy, PartialEq)]
enum ClauseMeaning {
    Neutral,
    Says(Outcome),
    Doubtful,
}

/// The result that a reason says without ambiguity: every clause that says one says the same.
pub fn outcome(reason: &str) -> Option<Outcome> {
    let reason = reason.to_lowercase().replace('’', "'");
    let reason = reason.replace(" without ", ", without ").replace(" with no ", ", no ");
    if reason.contains('?') {
        return None;
    }
    let mut found = None;
    for clause in
        reason.split([',', ';', ':', '.', '!', '\n', '(', ')', '–', '—']).flat_map(|part| part.split(" and "))
    {
        match classify_clause(clause) {
            ClauseMeaning::Neutral => {}
            ClauseMeaning::Doubtful => return None,
            ClauseMeaning::Says(outcome) if found.is_some_and(|before| before != outcome) => return None,
            ClauseMeaning::Says(outcome) => found = Some(outcome),
        }
    }
    found
}

/// Whether a reason says without ambiguity that it failed.
pub fn means_failure(reason: &str) -> bool {
    outcome(reason) == Some(Outcome::Fail)
}

fn classify_clause(clause: &str) -> ClauseMeaning {
    let plain = |c: char| !c.is_alphanumeric() && c != '\'' && c != '/' && c != '%' && c != '-';
    let words: Vec<&str> = clause.split(plain).filter(|word| !word.is_empty()).collect();
    if clause.contains("won't fix") {
        return ClauseMeaning::Says(Outcome::Fail);
    }
    let at = |list: &[&str]| words.iter().position(|word| list.contains(word));
    let (fails, passes, troubles) = (at(FAILS), at(PASSES), at(TROUBLES));
    let Some(place) = fails.or(passes).or(troubles) else { return ClauseMeaning::Neutral };
    let named = [fails, passes, troubles].iter().flatten().count();
    if named > 1 || words.iter().any(|word| HEDGES.contains(word)) {
        return ClauseMeaning::Doubtful;
    }
    let is_negation = |word: &&&str| NEGATIONS.contains(*word) || word.ends_with("n't");
    if words[place..].iter().any(|word| is_negation(&word)) {
        return ClauseMeaning::Doubtful;
    }
    let negations = words[..place].iter().filter(is_negation).count();
    let good = passes.is_some();
    match (negations, count(&words[..place])) {
        (0, Count::Absent) if troubles.is_some() => ClauseMeaning::Doubtful,
        (0, Count::Absent | Count::All) => clause_verdict(good),
        (0, Count::Zero) | (1, Count::Absent) => clause_verdict(!good),
        // Some did not pass; some failed.
        (0, Count::Part) => clause_verdict(false),
        _ => ClauseMeaning::Doubtful,
    }
}

fn clause_verdict(good: bool) -> ClauseMeaning {
    ClauseMeaning::Says(if good { Outcome::Pass } else { Outcome::Fail })
}

/// Of how many things a clause speaks.
#[derive(Clone, Copy, PartialEq)]
enum Count {
    /// It names no number.
    Absent,
    Zero,
    /// Fewer than there are.
    Part,
    /// A number alone, or as many as there are.
    All,
    /// Numbers that are not understood.
    Unclear,
}

fn count(before: &[&str]) -> Count {
    let number = |word: &str| word.parse::<u64>().ok();
    let joined = before.join(" ").replace(" of the ", " of ").replace(" of ", "/").replace(" out/", "/");
    let figures: Vec<&str> =
        joined.split(' ').filter(|word| word.chars().any(|c| c.is_ascii_digit())).collect();
    let [figure] = figures.as_slice() else {
        return if figures.is_empty() { Count::Absent } else { Count::Unclear };
    };
    if *figure == "100%" {
        return Count::All;
    }
    match figure.split_once('/') {
        None => match number(figure) {
            Some(0) => Count::Zero,
            Some(_) => Count::All,
            None => Count::Unclear,
        },
        Some((part, whole)) => match (number(part), number(whole)) {
            (Some(0), Some(_)) => Count::Zero,
            (Some(part), Some(whole)) if part == whole => Count::All,
            (Some(part), Some(whole)) if part < whole => Count::Part,
            _ => Count::Unclear,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reason: &str, wanted: Option<Outcome>) {
        assert_eq!(outcome(reason), wanted, "{reason}");
    }

    #[test]
    fn reasons_that_say_a_failure_are_failures() {
        for bad in [
            "Failed on CI",
            "won't fix",
            "WONTFIX",
            "3 errors",
            "canceled by X",
            "2 of 9 tests failed",
            "2/9 tests failed.",
            "tests do not pass",
            "The tests don't pass",
            "Not all tests pass",
            "7 of 9 pass",
            "0 of 9 passed",
            "Rejected, docs are missing",
            "Build is broken",
            "Test failed: 3 errors",
        ] {
            check(bad, Some(Outcome::Fail));
        }
    }

    #[test]
    fn praise_is_no_failure_whatever_it_denies() {
        for good in [
            "All 9 pass, no errors",
            "all green",
            "9 of 9 pass",
            "12 passed, 0 failed",
            "No test failed",
            "None of the tests failed.",
            "Approved",
            "works without errors",
            "100% pass",
            "It no longer fails",
        ] {
            check(good, Some(Outcome::Pass));
        }
    }

    #[test]
    fn words_that_may_mean_either_decide_nothing() {
        for open in [
            "",
            "done",
            "Implementation complete",
            "Reviewed the error handling",
            "Timeout after 30s",
            "12 passed, 2 failed",
            "Most tests pass",
            "does it pass?",
            "All pass but one",
            "fixed what failed before",
            "80% passed",
            "should pass now",
            "blocked",
            "failed because a file is not there",
        ] {
            check(open, None);
        }
    }
}
