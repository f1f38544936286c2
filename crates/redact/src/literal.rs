//! A value as it is written: a quoted string, up to the quote that closes it, or a bare word.

use std::ops::Range;

use crate::extent;

/// No more of a value is taken.
const MAX_VALUE_LEN: usize = 4096;
const SCHEMES: &[&str] = &["bearer ", "basic ", "token "];

/// A quoted string without its quotes, or a bare word; and whether it is the former.
pub(crate) fn literal(text: &str, at: usize, word: &mut NameWord) -> Option<(Range<usize>, bool)> {
    let bytes = text.as_bytes();
    let slashes = bytes[at..].iter().take(3).take_while(|byte| **byte == b'\\').count();
    let mark = bytes.get(at + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let start = if mark.is_some() { at + slashes + 1 } else { at };
    let start = start + scheme(bytes, start);
    let end = match mark {
        Some(mark) => close(bytes, start, mark, slashes),
        None => word.end(text, start)?,
    };
    let end = (start..=end).rev().find(|end| text.is_char_boundary(*end))?;
    text.is_char_boundary(start).then_some((start..end, mark.is_some()))
}

/// The length of `Bearer ` or the like before the value; a quote may stand before it.
pub(crate) fn scheme(bytes: &[u8], at: usize) -> usize {
    let starts = |word: &&&str| {
        bytes.get(at..at + word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    };
    SCHEMES.iter().find(starts).map_or(0, |word| word.len())
}

/// Where the string ends that a quote behind so many backslashes opened. A quote within it has one backslash more, or is
/// written twice.
fn close(bytes: &[u8], start: usize, mark: u8, slashes: usize) -> usize {
    let line = bytes[start..].iter().take(MAX_VALUE_LEN).take_while(|byte| **byte != b'\n').count();
    let end = start + line;
    let (mut run, mut at) = (0, start);
    while at < end {
        match bytes[at] {
            b'\\' => run += 1,
            byte if byte == mark => {
                // Backslashes within are written twice at each level.
                let unit = 2 * (slashes + 1);
                let within = run % unit == unit - 1 && has(&bytes[at + 1..end], mark);
                let twice = at > start && run == 0 && is_twice(&bytes[at..end], mark);
                if !within && !twice {
                    return at - run.min(slashes);
                }
                at += usize::from(twice);
                run = 0;
            }
            _ => run = 0,
        }
        at += 1;
    }
    end.saturating_sub(slashes).max(start)
}

fn has(rest: &[u8], mark: u8) -> bool {
    rest.contains(&mark)
}

/// Whether this is a quote written twice within a string, and not the end of it and the next string.
fn is_twice(rest: &[u8], mark: u8) -> bool {
    let next = rest.get(2).copied().unwrap_or(b' ');
    rest.get(1) == Some(&mark) && (next.is_ascii_alphanumeric()) && has(&rest[2..], mark)
}

/// The bare word that was looked at last, and how often: names may stand in the value of a name.
#[derive(Debug, Default)]
pub(crate) struct NameWord {
    span: Range<usize>,
    looks: usize,
}

/// In one word no more names are looked at, so that a word of nothing but names takes no longer than others.
const MAX_LOOKUPS: usize = 16;

impl NameWord {
    /// The end of the word at `start`, unless it has been looked at often enough.
    pub(crate) fn end(&mut self, text: &str, start: usize) -> Option<usize> {
        if !self.span.contains(&start) {
            *self = Self { span: start..extent::word(text, start, MAX_VALUE_LEN), looks: 0 };
        }
        self.looks += 1;
        (self.looks <= MAX_LOOKUPS).then_some(self.span.end)
    }

    /// Whether the word at `start` may be looked at.
    pub(crate) fn once_more(&mut self, text: &str, start: usize) -> bool {
        self.end(text, start).is_some()
    }
}
