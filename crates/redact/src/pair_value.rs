//! How far a value reaches that stands apart from its name.

use std::ops::Range;

use crate::extent::{self, line_before, line_end};
use crate::literal::{NameWord, literal};

/// No more of a value is taken.
const MAX_VALUE_LEN: usize = 1024;

/// What holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A field: a string in quotes, or a bare word, to the end of its line where nothing else can follow.
    Field,
    /// A string in quotes.
    Quoted,
    /// An argument of a call, in quotes.
    CallArgument,
    /// A word of a command, which may be in quotes.
    Argument,
    /// The text of an element of XML.
    Text,
    /// One word of the text of an element.
    TextWord,
    /// A cell of a row that begins with a bar.
    Cell,
    /// A cell of a row without a bar at its beginning, which ends the row.
    Row,
    /// What follows a word that is emphasized.
    Emphasis,
}

/// A value.
#[derive(Debug)]
pub(crate) struct ValueSpan {
    /// Where it is, without what encloses it.
    pub span: Range<usize>,
    /// Whether its place holds nothing but a value.
    pub sure: bool,
}

impl Extent {
    /// The value that begins at `at`; the field of its name begins at `name`.
    pub(crate) fn find(self, text: &str, name: usize, at: usize) -> Option<ValueSpan> {
        match self {
            Extent::Field => string(text, at).or_else(|| bare_field(text, name, at)),
            Extent::Quoted => string(text, at),
            Extent::CallArgument => string(text, at).filter(|found| is_closed_argument(text, found.span.end)),
            Extent::Argument => string(text, at).or_else(|| argument(text, at)),
            Extent::Text => element(text, at),
            Extent::TextWord => word(text, at, |c| matches!(c, '<' | '>')),
            Extent::Emphasis => ticked(text, at).or_else(|| word(text, at, |c| matches!(c, '*' | '`'))),
            Extent::Cell => ticked(text, at).or_else(|| cell(text, at)),
            Extent::Row => row(text, name, at),
        }
    }
}

fn value_span(text: &str, span: Range<usize>, sure: bool) -> Option<ValueSpan> {
    let value = text.get(span.clone())?;
    (value.trim().len() >= 3).then_some(ValueSpan { span, sure })
}

/// A string in quotes, up to the one that closes it.
fn string(text: &str, at: usize) -> Option<ValueSpan> {
    let bytes = text.as_bytes();
    let slashes = bytes[at..].iter().take(3).take_while(|byte| **byte == b'\\').count();
    let mark = bytes.get(at + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    let (span, _) = literal(text, at, &mut NameWord::default())?;
    let span = at + slashes + 1..span.end;
    let closed = bytes.get(span.end + slashes) == Some(&mark);
    value_span(text, span.clone(), false).filter(|_| closed && span.len() <= MAX_VALUE_LEN)
}

/// Where the line ends, or the string of JSON that it stands in.
fn end_of_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let limit = text.len().min(at + MAX_VALUE_LEN);
    let end = (at..limit).find(|at| line_end(&bytes[*at..]) > 0).unwrap_or(limit);
    (at..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(at)
}

/// A bare value of a field. In a line of its own it ends with the line; in an object a comma or a bracket ends it.
fn bare_field(text: &str, name: usize, at: usize) -> Option<ValueSpan> {
    let line = &text[at..end_of_line(text, at)];
    let own =
        !line_before(text, at).contains(['{', '[', '<', '(', '=']) && line_before(text, name).len() < 64;
    let ends = |c: char| match c {
        '"' | '\'' | '`' | '\\' => true,
        ',' | '<' | '>' | '{' | '}' | '[' | ']' | '/' => !own,
        c => c.is_whitespace(),
    };
    let len = line.find(ends).unwrap_or(line.len());
    let rest = line[len..].trim_start_matches([' ', '\t']);
    let closed = rest.is_empty()
        || line[len..].starts_with(" #")
        || rest.starts_with(['"', '\'', '\\'])
        || !own && rest.starts_with(['/', ',', '}', ']', '>']);
    value_span(text, at..at + len, false).filter(|_| closed)
}

fn is_closed_argument(text: &str, end: usize) -> bool {
    let rest = text[end..].trim_start_matches(['\\', '"', '\'']);
    rest.trim_start().starts_with([',', ')'])
}

fn argument(text: &str, at: usize) -> Option<ValueSpan> {
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '|' | ';' | '&' | '(' | ')' | '\\');
    let end = end_of_line(text, at);
    let len = text[at..end].find(ends).unwrap_or(end - at);
    value_span(text, at..at + len, false)
}

/// The text of an element, or its section of characters.
fn element(text: &str, at: usize) -> Option<ValueSpan> {
    let limit = extent::floor(text, text.len().min(at + MAX_VALUE_LEN));
    if let Some(rest) = text[at..limit].strip_prefix("<![CDATA[") {
        let start = limit - rest.len();
        return value_span(text, start..start + rest.find("]]>")?, true);
    }
    let value = text[at..end_of_line(text, at)].split_once("</")?.0.trim_end();
    value_span(text, at..at + value.len(), false)
        .filter(|_| !value.contains(['<', '>']) || !value.starts_with('<'))
}

/// One word of a text.
fn word(text: &str, at: usize, ends: impl Fn(char) -> bool) -> Option<ValueSpan> {
    let end = end_of_line(text, at);
    let len = text[at..end].find(|c: char| c.is_whitespace() || ends(c)).unwrap_or(end - at);
    value_span(text, at..at + len, false).filter(|found| found.span.len() >= 4)
}

/// A value between backticks.
fn ticked(text: &str, at: usize) -> Option<ValueSpan> {
    let rest = text[at..end_of_line(text, at)].strip_prefix('`')?;
    let len = rest.find('`')?;
    value_span(text, at + 1..at + 1 + len, true).filter(|found| found.span.len() >= 4)
}

/// One word that is all of its cell. The last of a row that has no other is nothing but a value.
fn cell(text: &str, at: usize) -> Option<ValueSpan> {
    let row = &text[at..end_of_line(text, at)];
    let (value, rest) = row.split_once('|').unwrap_or((row, ""));
    let value = value.trim_end();
    let last = rest.trim().is_empty() && value.len() >= 8;
    let single = !value.contains(|c: char| c.is_whitespace() || c == '`');
    value_span(text, at..at + value.len(), last).filter(|found| single && found.span.len() >= 4)
}

/// The last cell of a row of two, in a table: the row before has a bar as well, or is a rule.
fn row(text: &str, name: usize, at: usize) -> Option<ValueSpan> {
    let line = name - line_before(text, name).len();
    let above = line_before(text, text[..line].trim_end_matches(['\n', '\r', 'n', '\\']).len());
    let value = text[at..end_of_line(text, at)].trim_end();
    let single = !value.contains(|c: char| c.is_whitespace() || matches!(c, '|' | '"' | '`'));
    let table = above.contains('|') || above.contains("-+-") || above.starts_with("-[ RECORD");
    value_span(text, at..at + value.len(), true).filter(|found| single && table && found.span.len() >= 4)
}
