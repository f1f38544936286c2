//! Tokens without a beginning of their own, told by how they are built.

use std::ops::Range;

use crate::boundary::{escape, starts_fresh};
use crate::encoded::decode;

/// The token that the run of letters and digits at `run` is a part of, and what it is called.
pub(crate) fn find(text: &str, run: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    discord(text, run.clone())
        .map(|span| (span, "discord-token"))
        .or_else(|| mysql(text, run).map(|span| (span, "password-hash")))
}

/// The token of a bot: its number in base64, a time and a signature, with dots between them.
fn discord(text: &str, run: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // The letter of an escape sequence passes for the first of the run.
    let written = run.start > 0 && bytes[run.start - 1] == b'\\' && escape(bytes, run.start + 1) > 1;
    let run = run.start + usize::from(written)..run.end;
    let id = &bytes[run.clone()];
    if bytes.get(run.end) != Some(&b'.') || !(22..=28).contains(&id.len()) || !matches!(id[0], b'M'..=b'O') {
        return None;
    }
    let digits = decode(id).filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()))?;
    let part = |from: usize| bytes[from..].iter().take(128).take_while(|byte| is_url(**byte)).count();
    let time = part(run.end + 1);
    let dot = run.end + 1 + time;
    let signature = if bytes.get(dot) == Some(&b'.') { part(dot + 1) } else { 0 };
    let built =
        (16..=20).contains(&digits.len()) && (5..=7).contains(&time) && (27..=64).contains(&signature);
    built.then_some(run.start..dot + 1 + signature)
}

fn is_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A hash of MySQL: a star and 40 digits of SHA-1 in capitals.
fn mysql(text: &str, run: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = run.start.checked_sub(1).filter(|at| run.len() == 40 && bytes[*at] == b'*')?;
    let fresh = starts_fresh(bytes, start) && !matches!(bytes[..start].last(), Some(b'*' | b'/'));
    let hash = bytes[run.clone()].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    (fresh && hash).then_some(start..run.end)
}
