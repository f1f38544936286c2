//! Which limits of a provider the user was notified of: one notification for each, whichever agent hits it.

use serde::{Deserialize, Serialize};

use crate::time::Millis;

/// How long a limit is taken to last whose end the provider does not name.
pub const UNKNOWN_LIMIT: Millis = 6 * 3_600_000;
/// By how much two ends of the same limit may differ: a provider that names a span rounds it.
const SAME_END: Millis = 5 * 60_000;

/// The ends of the limits of one tool that a person was told of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetterBook {
    /// Ends that the provider named.
    #[serde(default)]
    ends: Vec<Millis>,
    /// Until when a limit without a named end counts as the same one.
    #[serde(default)]
    unknown: Millis,
}

impl LetterBook {
    /// As [`Self::to_text`] wrote it; an empty one for anything else.
    pub fn read(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// As a ledger keeps it.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The last end in it.
    pub fn last(&self) -> Millis {
        self.ends.iter().copied().fold(self.unknown, Millis::max)
    }

    /// Notes a limit that was hit now, with the end that its provider names. Says whether it is another one than those before.
    pub fn note(&mut self, until: Option<Millis>, now: Millis) -> bool {
        self.ends.retain(|end| end.saturating_add(SAME_END) > now);
        let Some(until) = until else {
            let is_known = self.unknown > now || !self.ends.is_empty();
            self.unknown = self.unknown.max(now.saturating_add(UNKNOWN_LIMIT));
            return !is_known;
        };
        let is_known = self.ends.iter().any(|end| end.abs_diff(until) <= SAME_END.unsigned_abs());
        if !is_known {
            self.ends.push(until);
        }
        !is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = 3_600_000;

    #[test]
    fn one_limit_is_one_letter() {
        let mut book = LetterBook::default();
        assert!(book.note(Some(HOUR), 0), "the first");
        for now in [1_000, HOUR / 2, HOUR - 1] {
            let mut again = LetterBook::read(Some(&book.to_text()));
            assert!(!again.note(Some(HOUR + 60_000), now) && !again.note(None, now), "at {now}");
        }
        assert!(book.note(Some(9 * HOUR), HOUR), "another end is another limit");
        assert!(book.note(Some(3 * HOUR), 2 * HOUR), "and the next one, too");
        assert_eq!(book.last(), 9 * HOUR);
    }

    #[test]
    fn a_limit_without_an_end_is_told_once_for_as_long_as_it_may_last() {
        let mut book = LetterBook::default();
        assert!(book.note(None, 0) && !book.note(None, HOUR));
        assert!(!book.note(None, UNKNOWN_LIMIT) && book.note(None, 3 * UNKNOWN_LIMIT));
        assert_eq!(LetterBook::read(Some("{}")), LetterBook::default());
    }
}
