//! Instants as epoch milliseconds. The clock itself is outside: every `now` is an argument.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// An instant that answers write as RFC 3339.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub Millis);

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // An instant beyond the year 9999 is written as its number.
        let at = parse_rfc3339(&text).or_else(|| text.parse().ok());
        at.map(Self).ok_or_else(|| de::Error::custom(format!("`{text}` is no RFC 3339 time")))
    }
}

/// RFC 3339 in UTC with milliseconds, for instance `2026-11-20T10:00:00.000Z`. An instant beyond the year 9999 is
/// written as its bare number, because nothing better is true of it.
pub fn rfc3339(at: Millis) -> String {
    match jiff::Timestamp::from_millisecond(at) {
        Ok(instant) => format!("{instant:.3}"),
        Err(_) => at.to_string(),
    }
}

/// Reads an RFC 3339 time.
pub fn parse_rfc3339(text: &str) -> Option<Millis> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// Reads an RFC 3339 time; for one that is written right and cannot be counted, at either end of time, the last or first
/// instant that can.
pub fn parse_nearest(text: &str) -> Option<Millis> {
    let beyond = || {
        let zone = text.rfind(['Z', 'z', '+', '-'])?;
        let civil: jiff::civil::DateTime = text.get(..zone)?.parse().ok()?;
        match civil.year() {
            9999 => Some(jiff::Timestamp::MAX.as_millisecond()),
            -9999 => Some(jiff::Timestamp::MIN.as_millisecond()),
            _ => None,
        }
    };
    parse_rfc3339(text).or_else(beyond)
}

/// How long ago, in the largest unit that gives a whole number: `just now`, `5m ago`, `3d ago`. What another clock dates later than
/// this one is `5m ahead of this clock`.
pub fn ago(now: Millis, then: Millis) -> String {
    let seconds = now.saturating_sub(then) / 1000;
    match seconds {
        ..=-86_400 => format!("{}d ahead of this clock", (seconds / 86_400).saturating_abs()),
        -86_399..=-3_600 => format!("{}h ahead of this clock", -seconds / 3_600),
        -3_599..=-60 => format!("{}m ahead of this clock", -seconds / 60),
        -59..=4 => "just now".to_owned(),
        5..=59 => format!("{seconds}s ago"),
        60..=3_599 => format!("{}m ago", seconds / 60),
        3_600..=86_399 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// How far away an instant is: `in 2 h 10 min`, `in 3 d 4 h`, and once it has passed how long ago it was.
pub fn distance(now: Millis, at: Millis) -> String {
    let minutes = at.saturating_sub(now) / 60_000;
    let pair = |most: i64, unit: &str, rest: i64, part: &str| match rest {
        0 => format!("in {most} {unit}"),
        rest => format!("in {most} {unit} {rest} {part}"),
    };
    match minutes {
        _ if at <= now => ago(now, at),
        0 => "in under a minute".to_owned(),
        1..=59 => format!("in {minutes} min"),
        60..=1_439 => pair(minutes / 60, "h", minutes % 60, "min"),
        _ => pair(minutes / 1_440, "d", minutes % 1_440 / 60, "h"),
    }
}

/// A text whose instants (`2026-11-20 22:00 UTC`, `2026-11-20T22:00:00.000Z`) are said as people say them: without the day where it is
/// today, and with how far away they are. What is said so already stays.
pub fn spoken_instants(text: &str, now: Millis) -> String {
    let mut spoken = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((index, (length, at))) =
        rest.char_indices().find_map(|(index, _)| Some((index, instant_at(rest.get(index..)?)?)))
    {
        let (before, found) = rest.split_at(index);
        let (instant, today) = (rfc3339(at), rfc3339(now));
        let (day, minute) = (instant.get(..10).unwrap_or_default(), instant.get(11..16).unwrap_or_default());
        let day = if today.starts_with(day) { String::new() } else { format!("{day} ") };
        spoken.push_str(&format!("{before}{day}{minute} UTC ({})", distance(now, at)));
        rest = found.get(length..).unwrap_or_default();
    }
    spoken.push_str(rest);
    spoken
}

/// The instant with which a text begins, and how many bytes it takes.
fn instant_at(text: &str) -> Option<(usize, Millis)> {
    let head = text.get(..16).filter(|head| head.starts_with(|c: char| c.is_ascii_digit()))?;
    let (day, minute) = (head.get(..10)?, head.get(11..)?);
    let (length, seconds) = match head.get(10..11)? {
        " " if text.get(16..)?.starts_with(" UTC") => (20, ":00"),
        "T" => {
            let length = text.find('Z').filter(|at| *at <= 24)?;
            (length + 1, text.get(16..length)?)
        }
        _ => return None,
    };
    let is_said = text.get(length..).is_some_and(|rest| rest.starts_with(" ("));
    let at = parse_rfc3339(&format!("{day}T{minute}{seconds}Z"))?;
    (!is_said).then_some((length, at))
}

/// Reads a span such as `90s`, `10m`, `24h`, `7d` (bare digits are seconds), in milliseconds.
pub fn parse_span(text: &str) -> Option<Millis> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().find(|(_, c)| !c.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, "s"),
    };
    let factor = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}

/// The longest span that a caller may give for what is not held against others, such as a letter or a token: ten years.
pub const TEN_YEARS: Millis = 3_650 * 86_400_000;

/// The milliseconds of so many seconds, if that is a span from one second to `longest`.
pub fn seconds_within(seconds: i64, longest: Millis) -> Option<Millis> {
    seconds.checked_mul(1_000).filter(|span| (1..=longest).contains(span))
}

/// The bounds of such a span, as a hint says them: `give 1 second to 24 hours (86400 seconds)`.
pub fn bounds_hint(longest: Millis) -> String {
    let hours = longest / 3_600_000;
    let words = if hours > 48 { format!("{} days", hours / 24) } else { format!("{hours} hours") };
    format!("give 1 second to {words} ({} seconds)", longest / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_bounds_that_its_hint_names() {
        assert_eq!(seconds_within(1, TEN_YEARS), Some(1_000));
        assert_eq!(seconds_within(TEN_YEARS / 1_000, TEN_YEARS), Some(TEN_YEARS));
        for wrong in [0, -1, TEN_YEARS / 1_000 + 1, i64::MAX, i64::MIN] {
            assert_eq!(seconds_within(wrong, TEN_YEARS), None, "{wrong}");
        }
        assert_eq!(bounds_hint(86_400_000), "give 1 second to 24 hours (86400 seconds)");
        assert_eq!(bounds_hint(TEN_YEARS), "give 1 second to 3650 days (315360000 seconds)");
    }

    #[test]
    fn an_instant_in_a_text_is_said_as_people_say_it() {
        let now = 1_795_168_800_000;
        for (text, spoken) in [
            ("again at 2026-11-20 12:10 UTC", "again at 12:10 UTC (in 2 h 10 min)"),
            ("again at 2026-11-20 12:10 UTC (soon)", "again at 2026-11-20 12:10 UTC (soon)"),
            ("until 2026-11-22T13:00:00.000Z.", "until 2026-11-22 13:00 UTC (in 2 d 3 h)."),
            ("since 2026-11-20T08:00:00Z", "since 08:00 UTC (2h ago)"),
            (
                "1 of 2026-11-20, v2026-11-20T1 and 2026-99-20 12:10 UTC",
                "1 of 2026-11-20, v2026-11-20T1 and 2026-99-20 12:10 UTC",
            ),
            ("ä 2026-11-20 10:00 UTC 2026-11-20 10:01 UTC", "ä 10:00 UTC (just now) 10:01 UTC (in 1 min)"),
        ] {
            assert_eq!(spoken_instants(text, now), spoken);
        }
        assert_eq!(distance(now, now + 30_000), "in under a minute");
        assert_eq!(distance(now, now + 7_200_000), "in 2 h");
    }

    #[test]
    fn an_instant_survives_being_written() {
        assert_eq!(rfc3339(1_795_168_800_000), "2026-11-20T10:00:00.000Z");
        assert_eq!(parse_rfc3339("2026-11-20T10:00:00Z"), Some(1_795_168_800_000));
        assert_eq!(parse_rfc3339("2026-11-20T11:00:00.5+01:00"), Some(1_795_168_800_500));
        assert_eq!(parse_rfc3339("yesterday"), None);
    }

    #[test]
    fn ages_use_one_unit() {
        for (seconds, text) in [
            (0, "just now"),
            (59, "59s ago"),
            (60, "1m ago"),
            (7200, "2h ago"),
            (200_000, "2d ago"),
            (-59, "just now"),
            (-60, "1m ahead of this clock"),
            (-7_300, "2h ahead of this clock"),
            (-200_000, "2d ahead of this clock"),
        ] {
            assert_eq!(ago(seconds * 1000, 0), text);
        }
    }

    #[test]
    fn spans_name_their_unit() {
        assert_eq!(parse_span("10m"), Some(600_000));
        assert_eq!(parse_span("90"), Some(90_000));
        assert_eq!(parse_span("1x"), None);
        assert_eq!(parse_span("99999999999999999d"), None);
    }
}
