//! Strings that look random.
//!
//! The thresholds keep apart what is random and secret from what is merely long: hashes are hex, integrity strings
//! carry their algorithm, identifiers and paths change their character class seldom, encoded text decodes to text.

use std::ops::Range;

use crate::encoded;
use crate::naming::is_symbol;
use crate::unnamed;

const MIN: usize = 36;
const MAX: usize = 256;
const MIN_BITS: f64 = 4.2;

/// Ids that tools print by the thousand; they open nothing.
const HARMLESS: &[&str] =
    &["toolu_", "call_", "msg_", "req_", "resp_", "chatcmpl-", "sha1-", "sha256-", "sha384-", "sha512-"];
const HARMLESS_BEFORE: &[&str] = &["h1:", "sha256:", "sha512:", "base64,", "/"];

/// What a run of characters without a blank is, that no name and no prefix tells.
#[derive(Debug)]
pub(crate) enum Run {
    /// It is of this kind, with what stands around it.
    Recognised(Range<usize>, &'static str),
    /// It looks as chance makes it.
    Random(Range<usize>),
    /// It encodes this text.
    Encoded(Range<usize>, String),
}

/// Calls `found` with every run that may be a secret.
pub(crate) fn scan(text: &str, mut found: impl FnMut(Run)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    // Each window is checked from its end and skipped past its last non-token byte, so most bytes are never examined.
    while let Some(window) = bytes.get(start..start + encoded::MIN) {
        if let Some(at) = window.iter().rposition(|byte| !is_token(*byte)) {
            start += at + 1;
            continue;
        }
        let more = bytes[start + encoded::MIN..].iter().take_while(|byte| is_token(**byte)).count();
        let len = encoded::MIN + more;
        let span = start..start + len;
        start += len + 1;
        if let Some((span, kind)) = unnamed::find(text, span.clone()) {
            found(Run::Recognised(span, kind));
        } else if let Some(text) = encoded::text(&text[span.clone()]) {
            found(Run::Encoded(span, text));
        } else if (MIN..=MAX).contains(&len) && standalone(&text[..span.start], &text[span.clone()]) {
            found(Run::Random(span));
        }
    }
}

fn is_token(byte: u8) -> bool {
    TOKEN[usize::from(byte)]
}

/// The characters of a token, by byte.
static TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        table[at] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
        at += 1;
    }
    table
};

fn standalone(before: &str, token: &str) -> bool {
    let harmless = in_a_path(before, token)
        || HARMLESS.iter().any(|prefix| token.starts_with(prefix))
        || HARMLESS_BEFORE.iter().any(|prefix| before.ends_with(prefix) || token.starts_with(prefix));
    !harmless && looks_random(token) && !is_symbol(token) && bits(token) >= MIN_BITS
}

/// Whether the word that the token goes on with is an absolute path: temporary folders have names made by chance.
fn in_a_path(before: &str, token: &str) -> bool {
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | '<' | '=' | ':' | ',');
    // A path is not longer than this, and looking back further would make long lines take ever longer.
    let mut from = before.len().saturating_sub(4096);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let word = before[from..].rsplit(is_edge).next().unwrap_or_default();
    word.starts_with('/') || word.starts_with("~/") || in_a_folder_of_a_variable(word, token)
}

/// `$NAME/…`: a path that begins with a variable.
fn in_a_folder_of_a_variable(word: &str, token: &str) -> bool {
    let Some(start) = word.strip_prefix('$') else { return false };
    let name = if start.contains('/') { start } else { token };
    let name = name.trim_start_matches('{').split(['/', '}']).next().unwrap_or_default();
    let own = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    own && (start.contains('/') || token.contains('/'))
}

/// All character classes, mixed as chance mixes them; digits may be missing where the cases are mixed evenly.
pub(crate) fn looks_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let uppers = bytes.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let lowers = bytes.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let even = uppers.min(lowers) * 10 >= bytes.len() * 3;
    let mixed = changes * 5 >= bytes.len() * 2 && (digits >= 2 || even);
    // Chance also makes longer runs; names do not put capitals side by side again and again.
    let capitals = bytes.windows(2).filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    let uneven = changes * 4 >= bytes.len() && digits >= 2 && capitals >= 2 && uppers * 5 >= bytes.len();
    uppers >= 4 && lowers >= 4 && (mixed || uneven)
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Shannon entropy in bits per character.
pub(crate) fn bits(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = value.len().max(1) as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|p| -p * p.log2())
        .sum()
}
