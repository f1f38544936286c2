//! YAML as a tree that knows its lines. What a roles file has no use for (anchors, several documents) is refused.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

/// A value and the line that it begins on, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A text, number or word; whether it stood in quotes.
    Scalar {
        text: String,
        quoted: bool,
    },
    List(Vec<Node>),
    /// Keys with their lines, in the order of the file.
    Map(Vec<(String, usize, Node)>),
}

/// What is wrong, and on which line.
pub(super) struct YamlError {
    pub(super) line: usize,
    pub(super) what: String,
}

/// Deeper than any roles file; a hostile one cannot exhaust the stack.
const DEPTH: usize = 16;

type Events<'a> = Parser<'a, StrInput<'a>>;

/// The one document of a text; nothing for an empty one.
pub(super) fn parse(text: &str) -> Result<Option<Node>, YamlError> {
    let mut events = Parser::new_from_str(text);
    let mut found = None;
    loop {
        match next(&mut events)? {
            (Event::StreamEnd, _) => return Ok(found),
            (Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing, _) => {}
            (_, span) if found.is_some() => return Err(wrong(&span, "there is a second document")),
            (event, span) => found = Some(node(&mut events, event, &span, 0)?),
        }
    }
}

fn next<'a>(events: &mut Events<'a>) -> Result<(Event<'a>, Span), YamlError> {
    match events.next_event() {
        Some(Ok(event)) => Ok(event),
        Some(Err(error)) => Err(YamlError { line: error.marker().line(), what: error.info().to_owned() }),
        None => Ok((Event::StreamEnd, Span::default())),
    }
}

fn wrong(span: &Span, what: impl Into<String>) -> YamlError {
    YamlError { line: span.start.line(), what: what.into() }
}

fn node<'a>(events: &mut Events<'a>, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, YamlError> {
    if depth > DEPTH {
        return Err(wrong(span, "it is nested too deeply"));
    }
    let value = match event {
        Event::Scalar(text, style, 0, None) => {
            Kind::Scalar { text: text.into_owned(), quoted: style != ScalarStyle::Plain }
        }
        Event::SequenceStart(0, None) => list(events, depth)?,
        Event::MappingStart(0, None) => map(events, depth)?,
        Event::Alias(_) => return Err(wrong(span, "aliases (`*name`) are not read here: write it out")),
        _ => return Err(wrong(span, "anchors (`&name`) and tags (`!name`) are not read here: write it out")),
    };
    Ok(Node { line: span.start.line(), value })
}

fn list(events: &mut Events<'_>, depth: usize) -> Result<Kind, YamlError> {
    let mut items = Vec::new();
    loop {
        match next(events)? {
            (Event::SequenceEnd | Event::StreamEnd, _) => return Ok(Kind::List(items)),
            (event, span) => items.push(node(events, event, &span, depth + 1)?),
        }
    }
}

fn map(events: &mut Events<'_>, depth: usize) -> Result<Kind, YamlError> {
    let mut entries: Vec<(String, usize, Node)> = Vec::new();
    loop {
        let (event, span) = next(events)?;
        let key = match event {
            Event::MappingEnd | Event::StreamEnd => return Ok(Kind::Map(entries)),
            Event::Scalar(text, ..) => text.into_owned(),
            _ => return Err(wrong(&span, "a key is to be a word")),
        };
        if entries.iter().any(|(known, ..)| *known == key) {
            return Err(wrong(&span, format!("`{key}` stands there twice")));
        }
        let (event, at) = next(events)?;
        let value = node(events, event, &at, depth + 1)?;
        entries.push((key, span.start.line(), value));
    }
}
