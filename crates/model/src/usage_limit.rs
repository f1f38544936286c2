//! What a provider says when it refuses a request because a budget is used up, and when it answers again.

mod wall_clock;

use serde::Serialize;

pub use self::wall_clock::{Zone, Zones};
use crate::id::visible;
use crate::time::{Millis, Timestamp, parse_rfc3339, rfc3339};

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
const BEFORE_SPAN: [&str; 8] = [
    "try again in ",
    "retry in ",
    "retry after ",
    "retry-after: ",
    "reset after ",
    "resets in ",
    "reset in ",
    "available in ",
];
/// Words before a time of the clock.
const BEFORE_CLOCK: [&str; 7] =
    ["try again at ", "again at ", "retry after ", "resets at ", "reset at ", "resets on ", "resets "];
/// Longest error text that is kept, in characters.
const MAX_ERROR_CHARS: usize = 200;
/// Longest time of the clock, in characters.
const MAX_CLOCK_LEN: usize = 40;

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
    /// A time of the clock, in the provider's words: its time zone is not known.
    Again(String),
}

impl ProviderStop {
    /// Reads the text of an error that was written at this time. Without a zone that is known, a time of the clock stays in its
    /// words.
    pub fn read(text: &str, at: Millis, zones: Zones<'_>) -> Self {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let is_limit = LIMIT_WORDS.iter().any(|word| lower.contains(word));
        let reset = if is_limit { read_reset(text, &lower, at, zones) } else { None };
        let line = text.split(['\n', '|']).next().unwrap_or_default();
        Self { text: visible(line).chars().take(MAX_ERROR_CHARS).collect(), is_limit, reset }
    }

    /// Whether it names the instant at which the provider answers again.
    pub fn names_end(&self) -> bool {
        matches!(self.reset, Some(Reset::AgainAt(_)))
    }

    /// When it answers again, in words: `again at 3pm (Europe/Berlin)`.
    pub fn reset_text(&self) -> Option<String> {
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

/// Words in which runners of tests report, as they write them.
const TEST_WORDS: [&str; 6] = ["FAIL", "PASS", "✗", "✓", "not ok ", "panicked"];
/// The same in any case.
const TEST_PHRASES: [&str; 7] =
    ["assert", "expected", "test_", "test result", "tests failed", "test failed", " passed"];

/// Whether a line reads like the report of a test. What it says of a limit is then what was tested.
pub fn reports_test(line: &str) -> bool {
    let lower = line.to_lowercase();
    TEST_WORDS.iter().any(|word| line.contains(word))
        || TEST_PHRASES.iter().any(|phrase| lower.contains(phrase))
}

fn read_reset(text: &str, lower: &str, at: Millis, zones: Zones<'_>) -> Option<Reset> {
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
    let clock: String = visible(clock(rest)).chars().take(MAX_CLOCK_LEN).collect();
    if let Some(instant) = parse_rfc3339(&clock).or_else(|| wall_clock::instant(&clock, at, zones)) {
        return Some(Reset::AgainAt(Timestamp(instant)));
    }
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
            // A number alone is one of seconds, as in a header.
            "" if total == 0 && !rest.starts_with([':', '-', '/']) => 1_000,
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
        let stop = ProviderStop::read(text, NOW, &|_| None);
        assert_eq!((stop.is_limit, stop.reset_text().as_deref()), (is_limit, again), "{text}");
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

    /// 2027-01-15 is a Friday; it is 08:00 UTC.
    #[test]
    fn work_limit_messages_with_a_time_of_the_clock_name_an_instant() {
        for (text, at) in [
            ("usage limit reached, resets 5:27pm (UTC)", "2027-01-15T17:27:00.000Z"),
            ("usage limit reached, resets 7:30am (UTC)", "2027-01-16T07:30:00.000Z"),
            ("usage limit reached, resets 7:58am (UTC)", "2027-01-15T07:58:00.000Z"),
            ("usage limit reached. Try again at 2027-01-15T17:27:00Z", "2027-01-15T17:27:00.000Z"),
            ("usage limit reached. Try again at 2027-01-15T17:27:00+02:00.", "2027-01-15T15:27:00.000Z"),
            ("usage limit reached, resets 17:12 UTC", "2027-01-15T17:12:00.000Z"),
            ("usage limit reached, resets 12am UTC", "2027-01-16T00:00:00.000Z"),
            ("You've hit your limit · resets 5:27pm (Europe/Berlin)", "2027-01-15T16:27:00.000Z"),
            ("You've hit your usage limit. Try again at 5:20 PM.", "2027-01-15T16:20:00.000Z"),
            ("Upgrade to Pro or try again at 8:20 a.m. or tomorrow: usage limit", "2027-01-16T07:20:00.000Z"),
            ("5-hour limit reached ∙ resets 5:20pm", "2027-01-15T16:20:00.000Z"),
            ("usage limit reached, resets 17:12", "2027-01-15T16:12:00.000Z"),
            ("usage limit reached, resets 08:12", "2027-01-16T07:12:00.000Z"),
            ("5-hour limit reached ∙ resets Oct 9, 10am", "2027-10-09T08:00:00.000Z"),
            ("usage limit, try again at Jan 14th, 2028 5:20 PM.", "2028-01-14T16:20:00.000Z"),
            ("usage limit, resets on 2027-01-16 at 07:00 UTC", "2027-01-16T07:00:00.000Z"),
            ("quota: retry after 2027-01-15T17:27:00Z", "2027-01-15T17:27:00.000Z"),
            ("rate limit: retry after 60 seconds", "2027-01-15T08:01:00.000Z"),
            ("429 Too Many Requests, Retry-After: 45", "2027-01-15T08:00:45.000Z"),
            ("429 Too Many Requests; try again in 45", "2027-01-15T08:00:45.000Z"),
            ("usage limit, try again in 1 minute 30 seconds", "2027-01-15T08:01:30.000Z"),
        ] {
            let found = ProviderStop::read(text, NOW, &berlin).reset;
            let Some(Reset::AgainAt(found)) = found else { panic!("{text}: {found:?}") };
            assert_eq!(rfc3339(found.0), at, "{text}");
        }
    }

    /// A zone without a name is that of the machine.
    fn berlin(name: Option<&str>) -> Option<Zone> {
        name.is_none_or(|name| name == "Europe/Berlin")
            .then(|| Zone::from_rule("CET-1CEST,M3.5.0,M10.5.0/3"))?
    }

    #[test]
    fn a_time_of_the_clock_that_is_not_understood_stays_in_its_words() {
        for words in [
            "5:20pm (Mars/Olympus)",
            "5:20pm PST",
            "17:62",
            "13pm",
            "25:00",
            "Monday 9am",
            "Oct 10am",
            "Feb 30 at 5pm",
            "9",
        ] {
            let reset = ProviderStop::read(&format!("usage limit, resets {words}"), NOW, &berlin).reset;
            assert_eq!(reset, Some(Reset::Again(words.to_owned())));
        }
    }

    #[test]
    fn the_report_of_a_test_is_known_from_what_a_provider_says() {
        for line in [
            "FAILED test_retry: 429 rate limit was not retried",
            "E   AssertionError: usage limit reached",
            "test result: FAILED. 3 passed; 1 failed",
            "thread 'quota' panicked at src/lib.rs:3",
            "not ok 3 - rate limit",
            "expected 200, got 429",
            "1 failed, 12 passed in 0.3s",
        ] {
            assert!(reports_test(line), "{line}");
        }
        for line in [
            "Claude usage limit reached. Your limit will reset at 2027-01-15T17:27:00Z",
            "You've hit your limit · resets 3pm (Europe/Berlin)",
            "API Error: Request rejected (429)",
            "Request failed: rate limit, retry after 60 seconds",
        ] {
            assert!(!reports_test(line), "{line}");
        }
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
            let stop = ProviderStop::read(text, Millis::MAX, &berlin);
            assert!(!format!("{}{:?}", stop.text, stop.reset_text()).contains('\u{1b}'), "{text}");
        }
        assert_eq!(
            ProviderStop::read(&format!("quota {}", "x".repeat(10_000)), NOW, &berlin).text.len(),
            MAX_ERROR_CHARS
        );
    }
}
