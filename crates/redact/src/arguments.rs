//! Secrets in lists of arguments: `["--password", "…"]`, and the lines of one in YAML.

use std::ops::Range;

use crate::class::SecretClass;
use crate::extent::{is_end, line_end, word};
use crate::naming::{is_path, is_symbol, is_type, is_usage};
use crate::plain::{is_literal, is_varied};

/// So far before an argument the bracket of its list is looked for.
const CONTEXT_LEN: usize = 1024;
const MAX_VALUE_LEN: usize = 256;

/// The value behind the option `name` in a list of arguments.
pub(crate) fn value(text: &str, name: Range<usize>, class: SecretClass) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let found = match quote(bytes, name.end) {
        Some(len) => next_string(text, name.clone(), &bytes[name.end..name.end + len])?,
        None => next_line(text, name.clone())?,
    };
    let argument = &text[found.clone()];
    let listed = bytes.get(name.end) != Some(&b' ') && is_list(bytes, name.start);
    let varied = is_varied(argument) && argument.len() >= 6;
    let word = !argument.bytes().any(|byte| byte.is_ascii_whitespace()) && is_literal(argument);
    let named = is_usage(argument) || is_type(argument) || is_path(argument);
    let own = match class {
        SecretClass::Password => varied || listed && !argument.contains(['_', '(', '{', '=']),
        SecretClass::Token => varied && argument.len() >= 8 && !is_symbol(argument),
    };
    (word && !named && own).then_some(found)
}

/// The length of a quote, which may be escaped.
fn quote(bytes: &[u8], at: usize) -> Option<usize> {
    let slashes = bytes[at..].iter().take(3).take_while(|byte| **byte == b'\\').count();
    matches!(bytes.get(at + slashes), Some(b'"' | b'\'')).then_some(slashes + 1)
}

/// The string behind the comma behind this one, in quotes of the same kind.
fn next_string(text: &str, name: Range<usize>, quote: &[u8]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !bytes[..name.start].ends_with(quote) {
        return None;
    }
    let at = blank(bytes, name.end + quote.len());
    let at = blank(bytes, at + usize::from(bytes.get(at) == Some(&b',')));
    let comma = bytes[name.end + quote.len()..at].contains(&b',');
    let start = at + quote.len();
    if !comma || bytes.get(at..start).is_none_or(|own| own != quote) {
        return None;
    }
    let last = quote.last().copied()?;
    let len = bytes[start..].iter().take(MAX_VALUE_LEN).position(|byte| *byte == last || *byte == b'\n')?;
    let end = start + len + 1;
    (bytes[start..end].ends_with(quote) && end >= start + quote.len()).then(|| start..end - quote.len())
}

/// The item behind this one in a list of YAML.
fn next_line(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let item = bytes[..name.start].trim_ascii_end().is_empty() || bytes[..name.start].ends_with(b"- ");
    let at = name.end + Some(line_end(&bytes[name.end..])).filter(|len| *len > 0 && item)?;
    let at = at + bytes[at..].iter().take(64).take_while(|byte| **byte == b' ').count();
    let start = at + bytes[at..].strip_prefix(b"- ").map(|_| 2)?;
    let quoted = usize::from(matches!(bytes.get(start), Some(b'"' | b'\'')));
    let end = word(text, start + quoted, MAX_VALUE_LEN);
    is_end(&bytes[end..]).then_some(start + quoted..end)
}

/// Past blanks and ends of lines.
fn blank(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..64 {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(_) if line_end(&bytes[at..]) > 0 => at += line_end(&bytes[at..]),
            _ => break,
        }
    }
    at
}

/// Whether the bracket that stands open here is that of a list, and not of a call.
fn is_list(bytes: &[u8], at: usize) -> bool {
    let mut closed = 0_usize;
    for byte in bytes[at.saturating_sub(CONTEXT_LEN)..at].iter().rev() {
        match byte {
            b']' | b')' | b'}' => closed += 1,
            b'[' | b'(' | b'{' if closed > 0 => closed -= 1,
            b'[' => return true,
            b'(' | b'{' => return false,
            _ => {}
        }
    }
    false
}
