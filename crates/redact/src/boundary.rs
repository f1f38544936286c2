//! Where a word begins: also behind an escape sequence, whose last letter is none of the word.

/// No escape sequence is longer.
const MAX_ESCAPE_LEN: usize = 32;

/// Whether a token may begin here: not inside a word, unless the letter before belongs to an escape sequence.
pub(crate) fn starts_fresh(bytes: &[u8], start: usize) -> bool {
    match bytes[..start] {
        [] => true,
        [.., before] => !before.is_ascii_alphanumeric() || escape(bytes, start) > 0,
    }
}

/// The length of the escape sequence that ends at `at`, where a letter or a digit ends it: `\n`, `\x1b[33m`, `%0A`.
pub(crate) fn escape(bytes: &[u8], at: usize) -> usize {
    let before = &bytes[at.saturating_sub(MAX_ESCAPE_LEN)..at];
    let (hex, octal) = (u8::is_ascii_hexdigit as ByteTest, is_octal as ByteTest);
    let ends = [
        written(before, "%", 2, hex),
        written(before, "\\x", 2, hex),
        written(before, "\\u", 4, hex),
        written(before, "\\0", 2, octal),
        written(before, "\\1", 2, octal),
        written(before, "\\", 1, is_letter),
        colour(before),
    ];
    ends.into_iter().max().unwrap_or(0)
}

type ByteTest = fn(&u8) -> bool;

fn is_octal(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

/// Letters that stand for one character behind a backslash.
fn is_letter(byte: &u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'a' | b'e' | b'0')
}

/// A sign, and so many digits behind it.
fn written(before: &[u8], sign: &str, digits: usize, is: ByteTest) -> usize {
    let len = sign.len() + digits;
    let own = |tail: &[u8]| tail.starts_with(sign.as_bytes()) && tail[sign.len()..].iter().all(is);
    let tail = before.len().checked_sub(len).map(|from| &before[from..]);
    tail.filter(|tail| own(tail)).map_or(0, |_| len)
}

/// How ESC is written before `[`.
const ESC: &[&str] =
    &["\\033", "\\x1b", "\\x1B", "\\u001b", "\\u001B", "\\u{1b}", "\\u{1B}", "\\e", "\x1b", "^[", "␛"];

/// A sequence that colours a terminal. A log may have lost the ESC before `[33m`.
fn colour(before: &[u8]) -> usize {
    let Some((last, rest)) = before.split_last().filter(|(last, _)| last.is_ascii_alphabetic()) else {
        return 0;
    };
    let digits =
        rest.iter().rev().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?')).count();
    let Some(open) = rest[..rest.len() - digits].strip_suffix(b"[") else { return 0 };
    let esc = ESC.iter().find(|esc| open.ends_with(esc.as_bytes())).map_or(0, |esc| esc.len());
    let own = esc > 0 || *last == b'm' && digits > 0;
    if own { esc + 1 + digits + 1 } else { 0 }
}

/// Where the name begins whose characters were scanned back to `start`: the scan may have taken letters of an escape sequence
/// (`\x1b[31m`) for its first ones. Looks at nothing behind `end`.
pub(crate) fn behind_escape(bytes: &[u8], start: usize, end: usize) -> usize {
    let sign = start.checked_sub(1).map_or(b' ', |at| bytes[at]);
    if !matches!(sign, b'\\' | b'%' | b'[' | b';' | b':' | b'?') {
        return start;
    }
    let within = |at: &usize| escape(bytes, *at) > *at - start;
    (start + 1..=end.min(start + 6)).rev().find(within).unwrap_or(start)
}
