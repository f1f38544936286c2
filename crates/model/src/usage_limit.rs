//! What a provider says when it refuses a request because a budget is used up, and when it answers again.

use serde::Serialize;

use crate::id::visible;
use crate::time::{Millis, Timestamp, rfc3339};

/// Words of which an error of a provider that means a limit has at least one.
const LIMIT_WORDS: [&str; 14] = [
    "rate limit",
    "rate_limit",
    "usage limit",
    "session limit",
    "weekly limit",
    "spend limit",
    "hit your limit",
    "limit reached",
    "quota",
    "429",
    "too many requests",
    "resource_exhausted",
    "resource exhausted",
    "credit balance",
];
/// Words before a span after which the provider answers again.
const BEFORE_SPAN: [&str; 6] =
    ["try again in ", "retry in ", "reset after ", "resets in ", "reset in ", "available in "];
/// Words before a time of the clock.
const BEFORE_CLOCK: [&str; 6] =
    ["try again at ", "again at ", "resets at ", "reset at ", "resets on ", "resets "];
/// Longest error text that is kept, in characters.
const LONGEST: usize = 200;
/// Longest time of the clock, in characters.
const LONGEST_CLOCK: usize = 40;

/// An error with which a provider stopped an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderStop {
    /// Its text, on one line.
    pub text: String,
    /// Whether a budget is used up, and not something broken.
    pub is_limit: bool,
    /// When it answers again, as far as the text tells.
    #[serde(flatten)]
    pub reset: Option<Reset>,
}

/// When a provider answers again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    /// An instant.
    AgainAt(Timestamp),
    /// A time of the clock, in the provider's words: no time zone is guessed.
    Again(String),
}

impl ProviderStop {
    /// Reads the text of an error that was written at this time.
    pub fn read(text: &str, at: Millis) -> Self {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let is_limit = LIMIT_WORDS.iter().any(|word| lower.contains(word));
        let reset = if is_limit { read_reset(text, &lower, at) } else { None };
        let line = text.split(['\n', '|']).next().unwrap_or_default();
        Self { text: visible(line).chars().take(LONGEST).collect(), is_limit, reset }
    }

    /// When it answers again, in words: `again at 3pm (Europe/Berlin)`.
    pub fn again(&self) -> Option<String> {
        Some(match self.reset.as_ref()? {
            Reset::AgainAt(at) => {
                let instant = rfc3339(at.0);
                let minute = instant.get(..16).unwrap_or(&instant).replace('T', " ");
                format!("again at {minute} UTC")
            }
            Reset::Again(words) => format!("again at {words}"),
        })
    }
}

fn read_reset(text: &str, lower: &str, at: Millis) -> Option<Reset> {
    if let Some(instant) = epoch(text) {
        return Some(Reset::AgainAt(Timestamp(instant)));
    }
    let after = |words: &[&str]| {
        words.iter().find_map(|word| lower.find(word).map(|start| start.saturating_add(word.len())))
    };
    if let Some(span) = after(&BEFORE_SPAN).and_then(|start| read_span(lower.get(start..)?)) {
        return Some(Reset::AgainAt(Timestamp(at.saturating_add(span))));
    }
    let rest = text.get(after(&BEFORE_CLOCK)?..)?;
    let clock: String = visible(clock(rest)).chars().take(LONGEST_CLOCK).collect();
    clock.contains(|c: char| c.is_ascii_digit()).then_some(Reset::Again(clock))
}

/// The instant that stands behind a bar, in seconds of the epoch, as Claude Code writes it.
fn epoch(text: &str) -> Option<Millis> {
    let digits = text.rsplit_once('|')?.1.trim();
    let seconds: Millis = digits.parse().ok().filter(|_| digits.len() == 10)?;
    seconds.checked_mul(1_000)
}

/// A time of the clock up to the end of its sentence.
fn clock(text: &str) -> &str {
    let end = text.char_indices().find_map(|(at, c)| {
        let next = text.get(at.saturating_add(c.len_utf8())..)?.chars().next();
        let ends = matches!(c, '\n' | '|' | '·' | ';') || (c == '.' && next.is_none_or(char::is_whitespace));
        ends.then_some(at)
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text).trim()
}

/// A span such as `2 hours 5 minutes`, `3h12m5s`, `43.2s` or `1 day, 2 hours`, in milliseconds; fractions are left out.
fn read_span(text: &str) -> Option<Millis> {
    let (mut total, mut rest): (Millis, &str) = (0, text);
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let Some(number) = rest.get(..digits).and_then(|digits| digits.parse::<Millis>().ok()) else { break };
        rest = rest.get(digits..).unwrap_or_default();
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        rest = rest.trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let factor = match rest.get(..letters)? {
            "d" | "day" | "days" => 86_400_000,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
            "ms" => 1,
            _ => break,
        };
        total = total.saturating_add(number.saturating_mul(factor));
        rest = rest.get(letters..).unwrap_or_default();
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_800_000_000_000;

    #[track_caller]
    fn check(text: &str, is_limit: bool, again: Option<&str>) {
        let stop = ProviderStop::read(text, NOW);
        assert_eq!((stop.is_limit, stop.again().as_deref()), (is_limit, again), "{text}");
    }

    #[test]
    fn when_a_provider_answers_again_is_read_from_what_it_says() {
        check("Claude AI usage limit reached|1800003600", true, Some("again at 2027-01-15 09:00 UTC"));
        check(
            "You've hit your limit · resets 3pm (Europe/Berlin)",
            true,
            Some("again at 3pm (Europe/Berlin)"),
        );
        check("5-hour limit reached ∙ resets Oct 9, 10am", true, Some("again at Oct 9, 10am"));
        check(
            "You've hit your usage limit. Try again in 2 hours 5 minutes.",
            true,
            Some("again at 2027-01-15 10:05 UTC"),
        );
        check("You've hit your usage limit. Try again at 3:05 PM.", true, Some("again at 3:05 PM"));
        check(
            "You exceeded your current quota. Your quota will reset after 3h12m5s.",
            true,
            Some("again at 2027-01-15 11:12 UTC"),
        );
        check("RESOURCE_EXHAUSTED. Please retry in 43.123s.", true, Some("again at 2027-01-15 08:00 UTC"));
        check("API Error: Request rejected (429)", true, None);
        check("usage limit reached, try again in a while", true, None);
    }

    #[test]
    fn a_failure_is_not_taken_for_a_limit() {
        check("API Error: 500 Internal server error, try again in 5 minutes", false, None);
        check("Invalid API key · Please run /login", false, None);
        check("", false, None);
    }

    #[test]
    fn hostile_text_neither_breaks_reading_nor_reaches_the_terminal() {
        for text in [
            "quota reset after 99999999999999999999h",
            "quota|9999999999",
            "quota resets ü\u{1b}[2J9·",
            "429 retry in 9",
        ] {
            let stop = ProviderStop::read(text, Millis::MAX);
            assert!(!format!("{}{:?}", stop.text, stop.again()).contains('\u{1b}'), "{text}");
        }
        assert_eq!(ProviderStop::read(&format!("quota {}", "x".repeat(10_000)), NOW).text.len(), LONGEST);
    }
}
