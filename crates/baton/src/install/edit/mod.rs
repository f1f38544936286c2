//! Editing of files that belong to others: text in, text out, and nothing changes but what is asked for.

pub(super) mod json;
mod scan;
#[cfg(test)]
mod tests;
pub(super) mod toml;

use std::fmt::{self, Display};

/// A file that cannot be edited: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditError {
    /// Line, from 1; 0 where it is about the whole file.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl EditError {
    fn at(text: &str, offset: usize, what: &str) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, what: what.to_owned() }
    }

    fn of_whole_file(what: impl Into<String>) -> Self {
        Self { line: 0, column: 0, what: what.into() }
    }
}

impl Display for EditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => out.write_str(&self.what),
            line => write!(out, "line {line}, column {}: {}", self.column, self.what),
        }
    }
}

/// The line end that a file uses.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
