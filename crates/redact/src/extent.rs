//! How far a value reaches that stands without quotes.
//!
//! A sign such as `,` or `&` ends a value in code, a query or a connection string and is part of one in a file of
//! settings, so what stands around it decides.

use std::ops::Range;

use crate::boundary::escape;

/// So far behind the first word a value is followed.
const REACH: usize = 256;
/// So far before a name its line is looked at.
const BEFORE: usize = 256;
/// What stands before a name that a shell, a file or Docker sets.
pub(crate) const SETTERS: &[&str] = &[
    "export",
    "set",
    "ENV",
    "env",
    "ARG",
    "-e",
    "--env",
    "declare",
    "-x",
    "setenv",
    "local",
    "readonly",
    "typeset",
    "--build-arg",
];
/// What begins with `&` in HTML and ends with `;`.
const ENTITIES: &[&str] = &["amp", "quot", "lt", "gt", "apos", "nbsp", "#"];

/// The end of the word that begins at `start`.
pub(crate) fn word(text: &str, start: usize, most: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at).filter(|_| at < start + most) {
        if is_bare(*byte) {
            at += 1;
            continue;
        }
        match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c) if !c.is_ascii() && is_in_word(c) => at += c.len_utf8(),
            _ => break,
        }
    }
    at
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b'|')
        && !is_bracket(byte)
}

fn is_bracket(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'{' | b'}' | b'[' | b']')
}

/// Letters of any script and signs of money and measure; quotation marks, dashes and arrows end a word.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '£' | '¥' | '¢' | '¤' | '§' | '°' | '\u{300}'..='\u{36f}' | '₠'..='⃀' | '🌀'..='🫿')
}

/// Where a name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// Its line begins with it, or sets it.
    Line,
    /// A word of its own.
    Free,
    /// A parameter behind `?` or `&`.
    Query,
    /// A field behind `;`.
    Connection,
    /// Within brackets, or a part of something else.
    Inside,
}

/// Where the name at `name` stands.
pub(crate) fn site(text: &str, name: usize) -> Site {
    let bytes = text.as_bytes();
    match name.checked_sub(1).map(|at| bytes[at]) {
        Some(b'?' | b'&' | b'#') => return Site::Query,
        Some(b';') => return Site::Connection,
        None | Some(b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'.') => {}
        Some(_) if escape(bytes, name) > 0 => {}
        Some(_) => return Site::Inside,
    }
    let before = line_before(text, name);
    let before = &before[..before.len().saturating_sub(escape(before.as_bytes(), before.len()))];
    let own = before.trim_matches([' ', '\t', '-']);
    if own.is_empty() && !before.ends_with('-') || SETTERS.iter().any(|word| own.ends_with(word)) {
        return Site::Line;
    }
    let opened = before.rfind(['(', '{', '[']) > before.rfind([')', '}', ']']);
    if opened { Site::Inside } else { Site::Free }
}

/// What stands in the line before this place.
pub(crate) fn line_before(text: &str, at: usize) -> &str {
    let mut from = at.saturating_sub(BEFORE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = &text[from..at];
    let real = before.rfind('\n').map_or(0, |at| at + 1);
    let written = before.rfind("\\n").map_or(0, |at| at + 2);
    &before[real.max(written)..]
}

/// The key of a property with dots whose last part begins at `name`, where its line begins with it: `a.b.` of `a.b.name=`.
pub(crate) fn property(text: &str, name: usize) -> Option<&str> {
    if !text[..name].ends_with('.') {
        return None;
    }
    let key = line_before(text, name).trim_start();
    let own = key.ends_with('.')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    // What programs call their own object, and one dot alone, are of code.
    let first = key.split('.').next().unwrap_or_default();
    let object = matches!(first, "self" | "this" | "cls" | "that" | "super" | "window" | "document");
    let deep = key.matches('.').count() > 1;
    (own && deep && !object && key.bytes().all(|byte| !byte.is_ascii_uppercase())).then_some(key)
}

/// The end of the value whose first word is `span`: signs that end a word elsewhere may be part of it.
pub(crate) fn extend(text: &str, site: Site, span: Range<usize>) -> usize {
    let bytes = text.as_bytes();
    let limit = span.end + REACH;
    let mut end = span.end;
    while let Some(sign) = bytes.get(end).copied().filter(|_| end < limit) {
        let part = match sign {
            b',' | b';' | b'&' | b'|' => site != Site::Inside,
            _ => is_bracket(sign) && site == Site::Line && end > span.start,
        };
        let apart = site == Site::Query && sign == b'&' || site == Site::Connection && sign == b';';
        if !part || apart {
            break;
        }
        let next = word(text, end + 1, REACH);
        let piece = &text[end + 1..next];
        let after = bytes.get(next).copied();
        let pair = piece.contains('=') || sign == b',' && piece.contains(':');
        let entity =
            sign == b'&' && after == Some(b';') && ENTITIES.iter().any(|word| piece.starts_with(word));
        // A sign at the end ends the value; brackets there close it.
        let last = piece.is_empty() && !after.is_some_and(is_bracket);
        if pair || entity || last && !(is_bracket(sign) && site == Site::Line) {
            break;
        }
        end = next;
    }
    end
}

/// The value that begins at `start` where only data can stand: to the next blank, or to what closes the string that
/// the line stands in.
pub(crate) fn data(text: &str, site: Site, name: usize, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let open = open_quote(line_before(text, name));
    let ends = |at: usize| match bytes[at] {
        byte if byte.is_ascii_whitespace() => true,
        b'&' => site == Site::Query,
        b';' => site == Site::Connection,
        byte @ (b'"' | b'\'' | b'`') => open == Some(byte) || closes(&bytes[at + 1..]),
        b',' => is_pair(&bytes[at + 1..]),
        b'\\' => bytes.get(at + 1).is_none_or(|next| next.is_ascii_alphanumeric() || is_quote(*next)),
        _ => false,
    };
    let limit = bytes.len().min(start + REACH * 2);
    let end = (start..limit).find(|at| ends(*at)).unwrap_or(limit);
    let end = (start..=end).rev().find(|end| text.is_char_boundary(*end))?;
    // What stands behind the value is of the list or the call that it stands in.
    let next = bytes.get(end).copied();
    let apart = matches!((site, next), (Site::Query, Some(b'&')) | (Site::Connection, Some(b';')));
    let free = site == Site::Line || site == Site::Free;
    let behind: &[char] = if free { &[',', ';'] } else { &[',', ';', ')', ']', '}'] };
    let behind = if apart { &[] } else { behind };
    let value = text[start..end].trim_end_matches(behind);
    // A string within is one of code.
    let code = bytes.get(end).is_some_and(|byte| is_quote(*byte) && value.as_bytes().contains(byte));
    let end = start + value.len();
    (site != Site::Inside && end > start && !code).then_some(start..end)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Whether another name with its value begins here.
fn is_pair(rest: &[u8]) -> bool {
    let name = rest.iter().take(64).take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_').count();
    name >= 4 && rest.get(name) == Some(&b'=')
}

/// Whether a quote before this ends a string: data goes on, or the line ends.
fn closes(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| {
        byte.is_ascii_whitespace()
            || matches!(byte, b',' | b'}' | b']' | b')' | b';' | b':' | b'\\' | b'"' | b'\'')
    })
}

/// The quote that stands open at the end of this line.
pub(crate) fn open_quote(line: &str) -> Option<u8> {
    line.bytes().filter(|byte| is_quote(*byte)).fold(None, |open, byte| match open {
        None => Some(byte),
        Some(mark) if mark == byte => None,
        open => open,
    })
}

/// How many bytes end a line here; in a string of JSON the end is written out.
pub(crate) fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        [b'\\', b'r', b'\\', b'n', ..] => 4,
        [b'\\', b'n', ..] => 2,
        _ => 0,
    }
}

/// Whether the text ends here, or its line does, or the string that it stands in.
pub(crate) fn is_end(bytes: &[u8]) -> bool {
    let blank = bytes.iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &bytes[blank..];
    let slashes = rest.iter().take(3).take_while(|byte| **byte == b'\\').count();
    line_end(rest) > 0 || rest.is_empty() || matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`'))
}

/// The next place before this one where a character begins.
pub(crate) fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
