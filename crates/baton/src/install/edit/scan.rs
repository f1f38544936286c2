//! JSON with comments and trailing commas, as places in its text: what an edit needs to leave everything else alone.

use std::ops::Range;

use serde_json::{Map, Value};

use super::EditError;

/// How deep a file may be nested.
const DEPTH: usize = 100;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    /// Its place in the text.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
    /// An object or a list, with what is in it.
    Holder(Vec<Item>),
    /// Anything else.
    Scalar,
}

/// Something in an object or a list.
#[derive(Debug)]
pub(super) struct Item {
    /// Its key, in an object.
    pub key: Option<String>,
    /// Where it begins: at its key, where it has one.
    pub start: usize,
    /// The comma behind it.
    pub comma: Option<usize>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// What is in it; nothing in a scalar.
    pub(super) fn items(&self) -> &[Item] {
        match &self.kind {
            Kind::Holder(items) => items,
            Kind::Scalar => &[],
        }
    }

    /// The place of a member, or of an element by its number. Of equal keys the last counts, as for every reader.
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        match self.items().first() {
            Some(Item { key: None, .. }) => key.parse().ok().filter(|at| *at < self.items().len()),
            _ => self.items().iter().rposition(|item| item.key.as_deref() == Some(key)),
        }
    }

    /// The value at the end of a path of keys.
    pub(super) fn node_at<K: AsRef<str>>(&self, path: &[K]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| {
            node.position(key.as_ref()).and_then(|at| node.items().get(at)).map(|item| &item.value)
        })
    }

    /// Whether it is an object.
    pub(super) fn is_object(&self, text: &str) -> bool {
        text[self.span.clone()].starts_with('{')
    }

    /// Whether it is a list.
    pub(super) fn is_list(&self, text: &str) -> bool {
        text[self.span.clone()].starts_with('[')
    }

    /// The value that stands there.
    pub(super) fn value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Scalar => serde_json::from_str(&text[self.span.clone()]).unwrap_or(Value::Null),
            Kind::Holder(items) if self.is_object(text) => {
                let pairs = items.iter().filter_map(|item| Some((item.key.clone()?, item.value.value(text))));
                Value::Object(pairs.collect::<Map<String, Value>>())
            }
            Kind::Holder(items) => Value::Array(items.iter().map(|item| item.value.value(text)).collect()),
        }
    }
}

/// Reads a document. None for one in which nothing stands.
pub(super) fn document(text: &str) -> Result<Option<Node>, EditError> {
    let mut scan = Scan { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    scan.blank()?;
    if scan.at == text.len() {
        return Ok(None);
    }
    let node = scan.value(0)?;
    scan.blank()?;
    if scan.at < text.len() { Err(scan.broken("something follows the end")) } else { Ok(Some(node)) }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&self, what: &str) -> EditError {
        EditError::at(self.text, self.at, what)
    }

    /// Passes over white space and comments.
    fn blank(&mut self) -> Result<(), EditError> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").ok_or_else(|| self.broken("a comment does not end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, EditError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') if depth == DEPTH => return Err(self.broken("nested too deep")),
            Some(b'{') => Kind::Holder(self.holder(b'}', depth)?),
            Some(b'[') => Kind::Holder(self.holder(b']', depth)?),
            Some(b'"') => {
                self.string()?;
                Kind::Scalar
            }
            Some(_) => {
                self.word()?;
                Kind::Scalar
            }
            None => return Err(self.broken("the file ends too early")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn word(&mut self) -> Result<(), EditError> {
        let rest = &self.text[self.at..];
        let part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let word = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        if serde_json::from_str::<Value>(word).is_err() {
            return Err(self.broken("this is not a JSON value"));
        }
        self.at += word.len();
        Ok(())
    }

    fn string(&mut self) -> Result<String, EditError> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut end = 1;
        while let Some(byte) = rest.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let text = self.text.get(self.at..self.at + end + 1);
        let text = text.ok_or_else(|| self.broken("a text does not end"))?;
        let value = serde_json::from_str(text).map_err(|_| self.broken("this text is malformed"))?;
        self.at += text.len();
        Ok(value)
    }

    fn holder(&mut self, close: u8, depth: usize) -> Result<Vec<Item>, EditError> {
        let mut items: Vec<Item> = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(items);
            }
            if items.last().is_some_and(|item| item.comma.is_none()) {
                return Err(self.broken("a comma or the end was expected"));
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key()?) } else { None };
            let value = self.value(depth + 1)?;
            self.blank()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            items.push(Item { key, start, comma, value });
        }
    }

    fn key(&mut self) -> Result<String, EditError> {
        if self.peek() != Some(b'"') {
            return Err(self.broken("a key in quotes was expected"));
        }
        let key = self.string()?;
        self.blank()?;
        if self.peek() != Some(b':') {
            return Err(self.broken("a colon was expected"));
        }
        self.at += 1;
        self.blank()?;
        Ok(key)
    }
}
