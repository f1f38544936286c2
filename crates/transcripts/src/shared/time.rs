//! RFC 3339 times and epoch milliseconds, without a clock.

/// The epoch milliseconds of an RFC 3339 time.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let field = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<i64>().ok());
    let days = days(field(0, 4)?, field(5, 7)?, field(8, 10)?)?;
    let seconds = field(11, 13)? * 3600 + field(14, 16)? * 60 + field(17, 19)?;
    let rest = text.get(19..)?;
    let digits = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let millis = format!("{:0<3}", rest.get(1..=digits.min(3)).unwrap_or("")).parse::<i64>().ok()?;
    let zone = rest.get(if digits > 0 { digits + 1 } else { 0 }..)?;
    Some((days * 86_400 + seconds - offset(zone)?) * 1000 + millis)
}

/// The epoch milliseconds of a time whose zone may be missing, which then is UTC, as in `2026-11-20 10:00:00`.
pub(crate) fn lenient(text: &str) -> Option<i64> {
    let text = text.trim();
    parse(text).or_else(|| parse(&format!("{text}Z")))
}

/// Epoch milliseconds out of a number that may count seconds, milliseconds, microseconds or nanoseconds.
pub(crate) fn millis(number: i64) -> i64 {
    match number.unsigned_abs() {
        0..100_000_000_000 => number * 1000,
        100_000_000_000..100_000_000_000_000 => number,
        100_000_000_000_000..100_000_000_000_000_000 => number / 1000,
        _ => number / 1_000_000,
    }
}

/// The RFC 3339 time, in UTC, of epoch milliseconds.
pub(crate) fn format(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
}

fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'Z' | b'z' => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = zone.get(1..3)?.parse::<i64>().ok()?;
    let minutes = zone.get(4..6).and_then(|part| part.parse::<i64>().ok()).unwrap_or(0);
    Some(sign * (hours * 3600 + minutes * 60))
}

/// Days since the epoch, by the well-known algorithm on years that begin in March.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let index = (5 * of_year + 2) / 153;
    let month = if index < 10 { index + 3 } else { index - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * index + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, ms: i64) {
        assert_eq!(parse(text), Some(ms), "{text}");
    }

    #[test]
    fn times_are_read_with_fractions_and_zones() {
        check("1970-01-01T00:00:00Z", 0);
        check("2026-11-21T00:38:32.787Z", 1_795_221_512_787);
        check("2026-11-21T01:38:32.787123+01:00", 1_795_221_512_787);
        check("2024-02-29T12:00:00.5Z", 1_709_208_000_500);
    }

    #[test]
    fn times_without_zone_and_numbers_of_any_unit_are_read() {
        assert_eq!(lenient("2026-11-21 00:38:32"), Some(1_795_221_512_000));
        for number in [1_795_221_512, 1_795_221_512_000, 1_795_221_512_000_000] {
            assert_eq!(millis(number), 1_795_221_512_000);
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-13-01T00:00:00Z",
            "2026-11-21",
            "2026-11-21T00:00:00",
            "ä026-11-21T00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_written_as_it_is_read() {
        for text in ["1969-12-31T23:59:59.999Z", "2000-02-29T00:00:00.000Z", "2026-11-21T00:38:32.787Z"] {
            assert_eq!(parse(text).map(format).as_deref(), Some(text));
        }
    }
}
