//! How much a passage seems to say, by signs of any kind: a reason, a choice, a turn, a failure, a doubt. The signs are
//! weak, so nothing is classed by them; they only decide what is worth the space that is left.

use super::begins;

/// How a sentence starts that thinks aloud or announces the next step.
const THINKING: &[&str] = &[
    "let me",
    "now let me",
    "first let me",
    "wait",
    "looking at",
    "i need to",
    "i'm going to look",
    "hmm, let me",
];

/// What a passage weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Salience {
    /// From nothing (0) to a passage with all signs.
    pub sum: u8,
    /// Whether it says that all is well, or thinks aloud: frequent, and covered elsewhere.
    pub passing: bool,
    /// Whether it tells of a choice.
    pub choice: bool,
    /// Whether it sets one thing against another.
    pub compare: bool,
}

/// Kinds of signs, each counted once.
#[derive(Debug, Default)]
struct SignCounts {
    reason: bool,
    choice: bool,
    compare: bool,
    turn: bool,
    failure: bool,
    doubt: bool,
    mark: bool,
    passing: bool,
    /// Whether a pause stands before the next word, and whether there was a word.
    paused: bool,
    begun: bool,
    /// Whether the next word is the end of a name: `go` in `hooks.go with`.
    joined: bool,
}

/// Weighs a passage; `lower` is in small letters, with plain apostrophes.
pub(super) fn weigh(lower: &str) -> Salience {
    let mut signs = SignCounts::default();
    let (mut before, mut from) = ("", None);
    for (at, c) in lower.char_indices() {
        if c.is_alphanumeric() || c == '\'' {
            from = from.or(Some(at));
            continue;
        }
        if let Some(from) = from.take() {
            before = signs.next(before, &lower[from..at]);
        }
        signs.mark(c);
    }
    if let Some(from) = from {
        signs.next(before, &lower[from..]);
    }
    signs.passing |= begins(lower, THINKING) && !lower.starts_with("let me know");
    signs.salience()
}

impl SignCounts {
    fn salience(&self) -> Salience {
        let all = [
            (self.reason, 15),
            (self.choice, 13),
            (self.compare, 8),
            (self.turn, 8),
            (self.failure, 12),
            (self.doubt, 13),
            (self.mark, 5),
        ];
        let sum: u8 = all.iter().filter(|(has, _)| *has).map(|(_, points)| points).sum();
        let sum = if self.passing { sum.saturating_sub(10) } else { sum };
        Salience { sum, passing: self.passing, choice: self.choice, compare: self.compare }
    }

    /// Takes a word in and gives it back, for the next one.
    fn next<'w>(&mut self, before: &str, word: &'w str) -> &'w str {
        self.word(before, word);
        let is_end = std::mem::take(&mut self.joined);
        (self.paused, self.begun) = (false, true);
        if is_end { "" } else { word }
    }

    /// A sign between words.
    fn mark(&mut self, sign: char) {
        self.joined = matches!(sign, '.' | '/' | '_' | '-');
        match sign {
            ',' => self.paused = true,
            ':' | ';' | '–' | '—' | '→' | '(' => (self.mark, self.paused) = (true, true),
            '❌' | '✗' | '✘' | '✖' => self.failure = true,
            '?' => self.doubt = true,
            _ => {}
        }
    }

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
            "as" | "so" if self.paused || !self.begun => self.reason = true,
            "green" | "compiles" => self.passing = true,
            "expected" if before == "as" => self.passing = true,
            "now" if matches!(before, "passes" | "pass" | "works") => self.passing = true,
            "passes" | "pass" | "passed" if matches!(before, "tests" | "test" | "checks" | "now") => {
                self.passing = true;
            }
            "works" if before == "it" => self.passing = true,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_turns_failures_and_doubts_weigh_more_than_reports() {
        const LIKELY: u8 = 13;
        assert!(
            !weigh("the check moved to hooks.go with the message").choice && weigh("we go with it").choice
        );
        let heavy = [
            "used a ring buffer and not a list — the order matters",
            "unfortunately the lock is held, so retrying gets us nowhere",
            "before the release somebody has to find out whether the file may be empty",
            "**approach:** paging. considered a cursor, but the clients do not follow it.",
        ];
        for text in heavy {
            assert!(weigh(text).sum >= LIKELY, "{text}: {}", weigh(text).sum);
        }
        for text in
            ["now the next part.", "reading the parser.", "all 42 tests passed, as expected.", "done."]
        {
            assert!(weigh(text).sum < 13, "{text}: {}", weigh(text).sum);
        }
    }
}
