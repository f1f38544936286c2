//! The time of a clock on the wall, in the words of a provider, as an instant.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::time::Millis;

/// How long ago a time may be that a provider rounded.
const ROUNDED: Millis = 5 * 60_000;
const DAY: Millis = 86_400_000;
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A time zone.
#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

/// Finds a time zone by its name, or that of the machine.
pub type Zones<'a> = &'a dyn Fn(Option<&str>) -> Option<Zone>;

impl Zone {
    /// The zone of a file of the time zone database.
    pub fn from_tzif(name: &str, bytes: &[u8]) -> Option<Self> {
        TimeZone::tzif(name, bytes).ok().map(Self)
    }

    /// The zone of a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    pub fn from_rule(rule: &str) -> Option<Self> {
        TimeZone::posix(rule).ok().map(Self)
    }

    /// The minute of the day that its clocks show at an instant.
    pub fn minute_of_day(&self, at: Millis) -> Option<u16> {
        let time = self.0.to_datetime(jiff::Timestamp::from_millisecond(at).ok()?).time();
        u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).ok()
    }

    /// An instant as the clocks of the zone show it, with the offset: `2026-12-24T21:00:00+09:00`.
    pub fn rfc3339(&self, at: Millis) -> Option<String> {
        let zoned = jiff::Timestamp::from_millisecond(at).ok()?.to_zoned(self.0.clone());
        Some(zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
    }

    fn at(&self, date: Date, time: Time) -> Option<Millis> {
        Some(self.0.to_timestamp(date.to_datetime(time)).ok()?.as_millisecond())
    }
}

/// The instant that words such as `5:27pm (UTC)`, `17:12` or `Nov 25th, 2026 5:20 PM` name at this time. Without a day it is the
/// next one at which the clock shows that, or one that was a few minutes ago, since providers round; without a zone the clock is
/// that of the machine. Words that say anything else are not guessed.
pub(super) fn instant(words: &str, at: Millis, zones: Zones<'_>) -> Option<Millis> {
    let reading = Reading::of(words)?;
    let zone = match reading.zone {
        Some(name) if ["utc", "gmt"].contains(&name.to_ascii_lowercase().as_str()) => Zone(TimeZone::UTC),
        name => zones(name)?,
    };
    let time = reading.time?;
    let today = zone.0.to_datetime(jiff::Timestamp::from_millisecond(at).ok()?).date();
    if let Some(date) = reading.date {
        return zone.at(date, time);
    }
    let Some((month, day)) = reading.month.zip(reading.day) else {
        // A month alone, or a day, is no date.
        if reading.month.is_some() || reading.day.is_some() || reading.year.is_some() {
            return None;
        }
        let next = zone.at(today, time)?;
        let is_over = next < at.saturating_sub(ROUNDED);
        return if is_over { zone.at(today.tomorrow().ok()?, time) } else { Some(next) };
    };
    let in_year = |year| zone.at(Date::new(year, month, day).ok()?, time);
    let found = in_year(reading.year.unwrap_or(today.year()))?;
    let is_past = reading.year.is_none() && found < at.saturating_sub(DAY);
    if is_past { in_year(today.year().checked_add(1)?) } else { Some(found) }
}

/// What the words name.
#[derive(Default)]
struct Reading<'a> {
    date: Option<Date>,
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    time: Option<Time>,
    zone: Option<&'a str>,
}

impl<'a> Reading<'a> {
    /// The words up to one that begins another clause; none where one is not understood.
    fn of(words: &'a str) -> Option<Self> {
        let mut reading = Self::default();
        let mut rest = words.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
        while let Some(word) = rest.next() {
            let lower = word.to_ascii_lowercase();
            if matches!(lower.as_str(), "or" | "and" | "if" | "to") {
                break;
            }
            let half = rest.peek().and_then(|next| half_of_day(next));
            if matches!(lower.as_str(), "at" | "on" | "the") {
            } else if let Some(name) = zone_name(word) {
                reading.zone = Some(name);
            } else if let Some(time) = time_of_day(&lower, half) {
                if half.is_some() {
                    rest.next();
                }
                reading.time = Some(time);
            } else if let Ok(date) = word.parse() {
                reading.date = Some(date);
            } else if let Some(month) = month(&lower) {
                reading.month = Some(month);
            } else {
                let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                match (digits.len(), lower.get(digits.len()..)?) {
                    (1 | 2, "" | "st" | "nd" | "rd" | "th") => reading.day = Some(digits.parse().ok()?),
                    (4, "") => reading.year = Some(digits.parse().ok()?),
                    _ => return None,
                }
            }
        }
        Some(reading)
    }
}

/// `(Europe/Berlin)`, `UTC` and the like.
fn zone_name(word: &str) -> Option<&str> {
    let in_brackets = word.strip_prefix('(').and_then(|word| word.strip_suffix(')'));
    let is_named = ["utc", "gmt"].contains(&word.to_ascii_lowercase().as_str())
        || word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.contains('/');
    in_brackets.or(is_named.then_some(word))
}

fn month(word: &str) -> Option<i8> {
    let is_name = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let place = MONTHS.iter().position(|month| word.starts_with(month)).filter(|_| is_name)?;
    i8::try_from(place + 1).ok()
}

/// The hour of noon or midnight that `am` and `pm` count from.
fn half_of_day(word: &str) -> Option<i8> {
    match word.to_ascii_lowercase().replace('.', "").as_str() {
        "am" => Some(0),
        "pm" => Some(12),
        _ => None,
    }
}

/// `5pm`, `5:20pm`, `17:12`, `17:12:30`; a bare number is a time only before `am` or `pm`.
fn time_of_day(word: &str, following: Option<i8>) -> Option<Time> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    let half = match word.get(digits.len()..)? {
        "" => following,
        suffix => Some(half_of_day(suffix)?),
    };
    let mut parts = digits.split(':');
    let hour: i8 = parts.next()?.parse().ok()?;
    let minute = parts.next().map(str::parse::<i8>);
    let second = parts.next().map(str::parse::<i8>);
    if parts.next().is_some() || minute.is_none() && half.is_none() {
        return None;
    }
    let hour = match half {
        Some(noon) if (1..=12).contains(&hour) => hour % 12 + noon,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute.unwrap_or(Ok(0)).ok()?, second.unwrap_or(Ok(0)).ok()?, 0).ok()
}
