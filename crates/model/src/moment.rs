//! Points in time as people write them: `2026-11-20`, `+6h`, `tomorrow`, `next monday`, `3 days ago`. All are UTC.

use jiff::civil::Weekday;
use jiff::{ToSpan, Zoned, tz::TimeZone};

use crate::time::{Millis, TEN_YEARS, parse_rfc3339, parse_span};

/// Which way a span without a sign goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `3d` is in three days: deadlines.
    Ahead,
    /// `3d` is three days ago: filters.
    Back,
}

/// Reads a point in time. Dates mean their first instant. A span reaches ten years at most.
pub fn parse_moment(text: &str, now: Millis, direction: Direction) -> Option<Millis> {
    let text = text.trim();
    parse_rfc3339(text)
        .or_else(|| parse_rfc3339(&format!("{text}T00:00:00Z")))
        .or_else(|| parse_rfc3339(&format!("{text}Z")).filter(|_| text.contains('T')))
        .or_else(|| offset(text, now, direction))
        .or_else(|| named_day(&text.to_lowercase(), now))
}

fn offset(text: &str, now: Millis, direction: Direction) -> Option<Millis> {
    let lower = text.to_lowercase();
    let (span, direction) = if let Some(span) = lower.strip_prefix('+').or_else(|| lower.strip_prefix("in "))
    {
        (span, Direction::Ahead)
    } else if let Some(span) = lower.strip_prefix('-').or_else(|| lower.strip_suffix(" ago")) {
        (span, Direction::Back)
    } else {
        (lower.as_str(), direction)
    };
    let span = parse_span(span).or_else(|| parse_spelled_span(span)).filter(|span| *span <= TEN_YEARS)?;
    match direction {
        Direction::Ahead => now.checked_add(span),
        Direction::Back => now.checked_sub(span),
    }
}

/// A span in words, such as `3 days`.
fn parse_spelled_span(text: &str) -> Option<Millis> {
    let (number, unit) = text.split_once(' ')?;
    let unit = match unit.trim().trim_end_matches('s') {
        "minute" | "min" => "m",
        "hour" => "h",
        "day" => "d",
        "week" => "w",
        _ => return None,
    };
    parse_span(&format!("{}{unit}", number.trim()))
}

fn named_day(text: &str, now: Millis) -> Option<Millis> {
    let today = jiff::Timestamp::from_millisecond(now).ok()?.to_zoned(TimeZone::UTC).start_of_day().ok()?;
    let day = match text {
        "now" => return Some(now),
        "today" => Some(today),
        "tomorrow" => today.checked_add(1.day()).ok(),
        "yesterday" => today.checked_sub(1.day()).ok(),
        "next week" => today.checked_add(1.week()).ok(),
        "next month" => today.checked_add(1.month()).ok(),
        other => next_weekday(&today, other.strip_prefix("next ").unwrap_or(other)),
    };
    day.map(|day| day.timestamp().as_millisecond())
}

/// The next day of this name; today does not count.
fn next_weekday(today: &Zoned, name: &str) -> Option<Zoned> {
    let weekday = match name {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    };
    today.nth_weekday(1, weekday).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::rfc3339;

    /// A Friday.
    const NOW: &str = "2026-11-20T10:00:00Z";

    fn check(text: &str, direction: Direction, wanted: &str) {
        let now = parse_rfc3339(NOW).expect("a time");
        let read = parse_moment(text, now, direction).map(rfc3339);
        assert_eq!(read.as_deref(), Some(format!("{wanted}.000Z").as_str()), "{text}");
    }

    #[test]
    fn what_people_write_for_a_time_is_read() {
        for (text, wanted) in [
            ("2026-12-01", "2026-12-01T00:00:00"),
            ("2026-12-01T08:00:00", "2026-12-01T08:00:00"),
            ("2026-12-01T08:00:00+02:00", "2026-12-01T06:00:00"),
            ("+6h", "2026-11-20T16:00:00"),
            ("in 3 days", "2026-11-23T10:00:00"),
            ("2 weeks ago", "2026-11-06T10:00:00"),
            ("-1d", "2026-11-19T10:00:00"),
            ("tomorrow", "2026-11-21T00:00:00"),
            ("Yesterday", "2026-11-19T00:00:00"),
            ("next monday", "2026-11-23T00:00:00"),
            ("friday", "2026-11-27T00:00:00"),
            ("next month", "2026-12-20T00:00:00"),
        ] {
            check(text, Direction::Ahead, wanted);
        }
    }

    #[test]
    fn a_span_without_a_sign_goes_where_its_use_says() {
        check("7d", Direction::Ahead, "2026-11-27T10:00:00");
        check("7d", Direction::Back, "2026-11-13T10:00:00");
    }

    #[test]
    fn other_text_is_no_time() {
        let now = parse_rfc3339(NOW).expect("a time");
        for text in ["", "soon", "next", "13", "3 blue moons", "99999999w", "2026-13-40"] {
            let read = parse_moment(text, now, Direction::Ahead);
            assert!(read.is_none() || text == "13", "{text}: {read:?}");
        }
    }
}
