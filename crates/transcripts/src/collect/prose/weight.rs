//! How much a passage seems to say, by signs of any kind: a reason, a choice, a turn, a failure, a doubt. The signs are
//! weak, so nothing is classed by them; they only tell what is worth room that nothing else needs.

use crate::shared::words::has_phrase;

/// Words of all being well.
const WELL: &[&str] = &[
    "as expected",
    "passes now",
    "now passes",
    "pass now",
    "tests pass",
    "test passes",
    "tests passed",
    "checks pass",
    "green",
    "compiles",
    "it works",
    "works now",
    "builds fine",
];

/// Kinds of signs, each counted once.
#[derive(Debug, Default)]
struct Signs {
    reason: bool,
    choice: bool,
    compare: bool,
    turn: bool,
    failure: bool,
    doubt: bool,
    success: bool,
}

/// From nothing (0) to a passage with all signs. `lower` is in small letters, with plain apostrophes.
pub fn weight(lower: &str) -> u8 {
    let mut signs = Signs::default();
    let mut before = "";
    for word in lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()) {
        signs.word(before, word);
        before = word;
    }
    signs.marks(lower);
    let mark = [": ", " – ", " — ", "; ", "→", " - ", " ("].iter().any(|mark| lower.contains(mark));
    let all = [
        (signs.reason, 15),
        (signs.choice, 13),
        (signs.compare, 8),
        (signs.turn, 8),
        (signs.failure, 12),
        (signs.doubt, 13),
        (mark, 5),
    ];
    let sum: u8 = all.iter().filter(|(has, _)| *has).map(|(_, worth)| worth).sum();
    // That all is well is said often and told elsewhere.
    if signs.success { sum.saturating_sub(10) } else { sum }
}

impl Signs {
    fn word(&mut self, before: &str, word: &str) {
        match word {
            "because" | "since" | "due" | "given" | "reason" | "reasons" | "hence" | "therefore" | "thus"
            | "otherwise" | "why" | "rationale" => self.reason = true,
            "pick" | "picked" | "picking" | "chose" | "choose" | "chosen" | "choosing" | "choice"
            | "decide" | "decided" | "deciding" | "decision" | "decisions" | "prefer" | "preferred"
            | "favour" | "favoured" | "favor" | "favored" | "opt" | "opted" | "opting" | "settle"
            | "settled" | "settling" | "replaced" | "switched" | "dropped" | "dropping" | "scrap"
            | "scrapped" | "agreed" | "sticking" | "rejected" | "discarded" | "dismissed" => {
                self.choice = true
            }
            "option" | "options" | "instead" | "rather" | "over" | "versus" | "vs" | "than"
            | "alternative" | "alternatives" | "former" | "latter" | "replace" | "replacing" | "switch"
            | "switching" | "approach" | "design" | "drop" | "forget" | "considered" | "considering"
            | "weighed" | "better" | "best" | "worse" | "tempting" | "trade" | "tradeoff" | "stick"
            | "preferable" | "keep" | "kept" | "against" | "avoid" | "avoids" => self.compare = true,
            "with" if matches!(before, "go" | "going" | "goes" | "went" | "gone") => self.choice = true,
            "out" if matches!(before, "ruled" | "rule" | "rules" | "ruling") => self.choice = true,
            "but" | "however" | "though" | "although" | "not" | "no" | "never" | "unlike" | "whereas"
            | "except" | "yet" | "cannot" | "cant" | "dont" | "wont" | "doesnt" | "without" | "nor"
            | "neither" | "nobody" | "nothing" | "despite" | "still" => self.turn = true,
            "tried" | "try" | "trying" | "tries" | "attempt" | "attempted" | "attempts" | "failed"
            | "fails" | "fail" | "failing" | "failure" | "broke" | "broken" | "breaks" | "wrong" | "luck"
            | "revert" | "reverted" | "reverting" | "undo" | "undid" | "undone" | "abandon" | "abandoned"
            | "unfortunately" | "sadly" | "dead" | "pointless" | "useless" | "backfired" | "initially"
            | "threw" | "nowhere" | "enough" | "too" | "impossible" | "limitation" | "workaround" => {
                self.failure = true;
            }
            "up" if matches!(before, "gave" | "give" | "giving") => self.failure = true,
            "whether" | "unclear" | "unsure" | "unknown" | "wonder" | "wondering" | "assume" | "assumed"
            | "assuming" | "assumption" | "question" | "questions" | "confirm" | "clarify" | "todo"
            | "fixme" | "parking" | "parked" | "open" | "pending" | "maybe" | "perhaps" | "might"
            | "suspect" | "later" | "depends" | "undecided" | "risk" | "risky" | "caveat" | "careful" => {
                self.doubt = true;
            }
            "sure" | "certain" if before == "not" => self.doubt = true,
            _ => self.turn |= word.ends_with("n't"),
        }
    }

    fn marks(&mut self, lower: &str) {
        self.reason |= [", as ", ", so ", " so that ", "; so "].iter().any(|mark| lower.contains(mark))
            || lower.starts_with("so ");
        self.failure |= lower.contains(['❌', '✗', '✘', '✖']);
        self.doubt |= lower.contains('?');
        self.success = WELL.iter().any(|phrase| has_phrase(lower, phrase));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_turns_failures_and_doubts_weigh_more_than_reports() {
        const LIKELY: u8 = 13;
        let heavy = [
            "used a ring buffer and not a list — the order matters",
            "unfortunately the lock is held, so retrying gets us nowhere",
            "before the release somebody has to find out whether the file may be empty",
            "**approach:** paging. considered a cursor, but the clients do not follow it.",
        ];
        for text in heavy {
            assert!(weight(text) >= LIKELY, "{text}: {}", weight(text));
        }
        for text in
            ["now the next part.", "reading the parser.", "all 42 tests passed, as expected.", "done."]
        {
            assert!(weight(text) < 13, "{text}: {}", weight(text));
        }
    }
}
