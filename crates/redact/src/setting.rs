//! Bare values of settings, whose name is a secret's as a whole: a line of a file, a variable that a command sets or a
//! shell shows (`+ export NAME=…`), a string that holds the two.
//!
//! Such a value goes on to the next blank, whatever signs it holds. Lines of code look alike, so a line that may be one
//! needs a value that chance made.

use std::ops::Range;

use crate::exact::{is_exact, is_random};
use crate::extent::{SETTERS, floor, is_end, line_before, line_end, open_quote};
use crate::naming::is_type;

/// No more of a value is taken.
const MAX_VALUE_LEN: usize = 4096;
/// So far before a name the section of its file is looked for.
const SECTION: usize = 512;
/// Objects whose members are of code.
const OBJECTS: &[&str] = &["self", "this", "cls", "that", "super", "window", "document", "process", "module"];

/// What stands before a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    /// Its line begins with it.
    Line,
    /// A word that sets variables.
    Setter,
    /// The quote that encloses name and value.
    Quote(u8),
    /// The sign before a parameter of an address, or a field of a connection: the next one ends the value.
    Parameter(u8),
}

/// The value that is set under the name, which is a secret's.
pub(crate) fn value(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let key = line_before(text, name.start);
    let own = key.trim_end_matches(is_of_key);
    let prefix = prefix(own)?;
    let rest = text[name.end..floor(text, text.len().min(name.end + 16))].trim_start_matches([' ', '\t']);
    let sign = rest.chars().next().filter(|c| matches!(c, '=' | ':'))?;
    let at = name.end + text[name.end..].find(sign)? + 1;
    let at = at + usize::from(sign == ':' && bytes.get(at) == Some(&b'='));
    let start = at + bytes[at..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let context = MatchContext {
        text,
        prefix,
        sign,
        tight: start == name.end + 1,
        parents: &key[own.len()..],
        name: &text[name.clone()],
        line: name.start - key.len(),
    };
    if let Some(span) = braced(text, start, own).filter(|_| matches!(prefix, Prefix::Parameter(_))) {
        return Some(span);
    }
    let end = context.end(start, open_quote(own))?;
    // A colon without a blank behind it is of an address or a path.
    let apart = sign == '=' || start > at;
    (apart && context.is_secret(&text[start..end])).then_some(start..end)
}

/// A value in braces as ODBC has them. In a string that a program fills in, a name stands there.
fn braced(text: &str, start: usize, own: &str) -> Option<Range<usize>> {
    let limit = floor(text, text.len().min(start + 256));
    let (value, rest) = text[start..limit].strip_prefix('{')?.split_once('}')?;
    let fields = own.to_ascii_lowercase().replace("driver={", "");
    let filled =
        !own.to_ascii_lowercase().contains("driver={") || fields.contains("={") || fields.contains("{{");
    let ends = is_end(rest.as_bytes()) || rest.starts_with(';');
    let secret = if filled { is_random(value) } else { is_exact(value) };
    (ends && secret).then(|| start + 1..start + 1 + value.len())
}

/// What a key holds beside its last part.
fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn prefix(own: &str) -> Option<Prefix> {
    if let Some(sign @ (b'?' | b'&' | b';')) = own.bytes().last() {
        return Some(Prefix::Parameter(if own.ends_with("&amp;") || sign != b';' { b'&' } else { sign }));
    }
    let shown = own.trim_start_matches([' ', '\t', '-', '+', '>', '$', '#']);
    if shown.is_empty() {
        return Some(Prefix::Line);
    }
    if let Some(quote @ (b'"' | b'\'')) = own.bytes().last() {
        return Some(Prefix::Quote(quote));
    }
    let word = shown.trim_end_matches([' ', '\t']);
    let last = word.rsplit([' ', '\t']).next().unwrap_or_default();
    let sets = word.len() < shown.len() && SETTERS.contains(&last) || shown.ends_with("$env:");
    sets.then_some(Prefix::Setter)
}

fn is_end_of_line(rest: &[u8]) -> bool {
    let blank = rest.iter().take(64).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let next = &rest[blank..];
    let goes_on = next.first() == Some(&b'\\') && line_end(&next[1..]) > 0;
    next.is_empty() || line_end(next) > 0 || blank > 0 && (next.starts_with(b"#") || goes_on)
}

/// What the surroundings of a value say about it.
struct MatchContext<'t> {
    text: &'t str,
    prefix: Prefix,
    sign: char,
    /// Whether nothing but one sign stands between name and value.
    tight: bool,
    /// What stands before the last part of the key: `spring.datasource.`.
    parents: &'t str,
    name: &'t str,
    /// Where the line begins.
    line: usize,
}

impl MatchContext<'_> {
    /// Where the value ends, if nothing but an end, a remark or another word of the command follows.
    fn end(&self, start: usize, open: Option<u8>) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let limit = bytes.len().min(start + MAX_VALUE_LEN);
        let next = |byte: u8| self.prefix == Prefix::Parameter(byte);
        let ends = |at: &usize| match bytes[*at] {
            b'"' | b'\'' | b'`' | b'\\' => true,
            byte => byte.is_ascii_whitespace() || next(byte),
        };
        let end = (start..limit).find(ends).unwrap_or(limit);
        let rest = &bytes[end..];
        let slashes = rest.iter().take(3).take_while(|byte| **byte == b'\\').count();
        let command = self.prefix == Prefix::Setter || self.is_env() && self.tight;
        let (closed, exact) = match (rest.get(slashes).copied(), self.prefix) {
            (mark, Prefix::Quote(own)) => (mark == Some(own), true),
            (Some(mark @ (b'"' | b'\'' | b'`')), Prefix::Parameter(_)) => (true, open == Some(mark)),
            (Some(mark @ (b'"' | b'\'' | b'`')), _) => (open == Some(mark), true),
            (mark, Prefix::Parameter(_)) => (true, mark.is_some_and(next)),
            _ => (is_end_of_line(rest) || command && rest.starts_with(b" "), true),
        };
        // What closes the text around an address is none of its own.
        let around: &[char] = if exact { &[] } else { &[',', ';', '.', ')', ']', '}', '>'] };
        let value = self.text.get(start..end)?.trim_end_matches(around);
        closed.then_some(start + value.len())
    }

    fn is_secret(&self, value: &str) -> bool {
        let bracketed = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')]
            .iter()
            .any(|(open, close)| value.find(*open) < value.rfind(*close) && value.contains(*open));
        if bracketed && !crate::noise::is_random_token(value) || is_list(value) {
            return false;
        }
        // A comma, a semicolon or a bracket at the end is mostly of code.
        let free = !value.ends_with([',', ';', ')', '}', ']']);
        let plain = |value: &str| value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let is_word = match (self.prefix, self.sign) {
            (Prefix::Setter | Prefix::Quote(_) | Prefix::Parameter(_), '=') => self.tight,
            _ if self.is_property() || self.name.contains('-') => true,
            (_, '=') if self.tight && self.parents.is_empty() => self.is_env() || free,
            (_, '=') => free && self.is_env() && plain(value),
            _ => free && self.is_env(),
        };
        if is_word || self.in_section() {
            return is_exact(value);
        }
        let code = value.contains(['(', '[', '{', '<', '.', ',', ';', '|', '=']);
        !code && !is_type(value) && is_random(value)
    }

    fn is_env(&self) -> bool {
        self.name.contains('_')
            && self.name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    }

    /// Whether the key has dots and is no member of an object of code.
    fn is_property(&self) -> bool {
        let first = self.parents.split('.').next().unwrap_or_default();
        let deep = self.parents.matches('.').count() > 1 || self.sign == ':' && self.parents.ends_with('.');
        self.prefix == Prefix::Line && deep && !OBJECTS.contains(&first)
    }

    /// Whether the line stands in a section of a file of settings, and nothing else stands between the two.
    fn in_section(&self) -> bool {
        let from = floor(self.text, self.line.saturating_sub(SECTION));
        let is_setting = |line: &str| {
            line.is_empty()
                || line.starts_with(['#', ';'])
                || line
                    .split_once('=')
                    .is_some_and(|(key, _)| key.trim_end().chars().all(|c| is_of_key(c) || c == ' '))
        };
        let mut above = self.text[from..self.line].lines().rev().map(str::trim);
        let section = above.find(|line| !is_setting(line));
        self.prefix == Prefix::Line
            && section.is_some_and(|line| line.starts_with('[') && line.ends_with(']'))
    }
}

/// Whether another name with its value begins within: a query, a connection, a list.
fn is_list(value: &str) -> bool {
    value.split(['&', ';', ',']).skip(1).any(|part| {
        let name = part.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_').count();
        name >= 2 && part.as_bytes().get(name) == Some(&b'=')
    })
}
