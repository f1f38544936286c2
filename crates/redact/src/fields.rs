//! Plain words as values of a field that can hold nothing but a secret: `"client_secret": "…"` in JSON, `api_key: …` in YAML,
//! `passwd=…` in a query, `<password>…</password>`.
//!
//! A word says nothing by itself, so its place has to: the name is that of a secret as a whole, and what stands around it
//! is the syntax of data. Code that passes a variable, names a type or labels an input is left alone.

use std::ops::Range;

use crate::boundary::escape;
use crate::exact::is_exact;
use crate::extent::{is_end, line_before};
use crate::names::{Kind, kind_of};
use crate::naming::is_symbol;
use crate::plain::{is_literal, is_varied};
use crate::state_words::{ABOUT, WORDS};

/// A name with the value that is assigned to it.
pub(crate) struct Field<'t> {
    /// The text.
    pub text: &'t str,
    /// Where the name is.
    pub name: Range<usize>,
    /// Where the value is, without quotes.
    pub value: Range<usize>,
    /// Whether the value is in quotes.
    pub quoted: bool,
    /// Whether nothing but one sign stands between the two.
    pub tight: bool,
}

impl Field<'_> {
    /// Whether the value is a secret for where it stands.
    pub(crate) fn is_secret(&self) -> bool {
        let name = &self.text[self.name.clone()];
        let Some(kind) = kind_of(name) else { return false };
        let value = &self.text[self.value.clone()];
        let form = match self.quoted {
            true => self.is_pair(kind),
            false => kind == Kind::Named && (self.is_line(name, value) || self.is_parameter(kind)),
        };
        let short =
            kind == Kind::Short && !self.quoted && (self.is_parameter(kind) || self.is_short_line(value));
        let object = name.eq_ignore_ascii_case("secret") && value.contains(['_', '-', '/', ':']);
        let exact = self.quoted && kind == Kind::Named && !object && is_exact(value);
        (form || short) && (exact || self.is_plain(name, value))
    }

    /// `"name": "value"`, `name = "value"`.
    fn is_pair(&self, kind: Kind) -> bool {
        let between = self.separator();
        let sign = between.trim_matches(|c: char| c.is_ascii_whitespace() || QUOTES.contains(&c));
        let next = self.text.as_bytes().get(self.name.end);
        let in_quotes = self.preceding_byte().is_some_and(|byte| matches!(byte, b'"' | b'\''))
            && next.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'\\'));
        // An arm of a match in Rust has a name in capitals before its arrow.
        let lower = self.text.as_bytes()[self.name.start].is_ascii_lowercase();
        match kind {
            Kind::Named => {
                in_quotes && matches!(sign, ":" | "=>")
                    || (matches!(sign, "=" | ":" | ":=") || sign == "=>" && lower) && self.is_closed()
            }
            Kind::Short => in_quotes && matches!(sign, ":" | "=>"),
        }
    }

    /// The quote that ends the value ends what is assigned: nothing is joined to it.
    fn is_closed(&self) -> bool {
        let behind = &self.text.as_bytes()[self.value.end..];
        let after = behind.iter().take(8).find(|byte| !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b' '));
        !matches!(after, Some(b'+' | b'.' | b'%' | b'['))
    }

    /// A line of YAML with nothing else in it.
    fn is_line(&self, name: &str, value: &str) -> bool {
        let bytes = self.text.as_bytes();
        if self.separator() != ": " || !is_end_of_line(&bytes[self.value.end..]) || value.len() < 8 {
            return false;
        }
        let alone = self.is_first();
        let env = name.contains('_')
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'0'..=b'9'));
        let lower = value.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'0'..=b'9'));
        alone && (env || lower && name.as_bytes()[0].is_ascii_lowercase())
    }

    /// `pass: value` of YAML, alone in its line: letters and digits, or a word behind the line with the account.
    fn is_short_line(&self, value: &str) -> bool {
        let bytes = self.text.as_bytes();
        let line = self.line();
        if !self.is_first() || self.separator() != ": " || !is_end(&bytes[self.value.end..]) {
            return false;
        }
        let before = bytes[line.saturating_sub(128)..line].to_ascii_lowercase();
        let account = [&b"user:"[..], b"username:", b"login:", b"email:", b"usr:"];
        let last = before.trim_ascii_end().rsplit(|byte| matches!(byte, b'\n' | b' ' | b'\\')).nth(1);
        let known = last.is_some_and(|name| account.iter().any(|own| name.ends_with(own)));
        known || value.len() >= 7 && is_varied(value) && !is_symbol(value)
    }

    /// `name=value` of an environment, a query or a connection.
    fn is_parameter(&self, kind: Kind) -> bool {
        let bytes = self.text.as_bytes();
        let ends = match bytes.get(self.value.end) {
            None | Some(b'&' | b';' | b'"' | b'\'' | b'\\' | b'|') => true,
            Some(byte) => byte.is_ascii_whitespace(),
        };
        if !self.tight || !ends || self.separator() != "=" {
            return false;
        }
        let start = self.line();
        let query = matches!(self.preceding_byte(), Some(b'?' | b'&' | b';'));
        match kind {
            Kind::Named => query || self.is_fresh(),
            // `pass` counts tests and `pw` is a width: the name of an account stands before a password.
            Kind::Short => query || self.is_account(start) || self.is_varied_or_alone(start),
        }
    }

    /// `pass` counts tests and `pw` is a width: the name of an account stands before a password.
    fn is_account(&self, line: usize) -> bool {
        let before = self.text.as_bytes()[line..self.name.start].to_ascii_lowercase();
        let holds = |word: &&str| before.windows(word.len()).any(|window| window == word.as_bytes());
        ["user=", "login=", "uid=", "username=", "usr=", "email=", "account="].iter().any(holds)
    }

    /// Else it is letters and digits, or the only thing in its line, as in a file of settings.
    fn is_varied_or_alone(&self, line: usize) -> bool {
        let bytes = self.text.as_bytes();
        let value = &self.text[self.value.clone()];
        let varied = value.len() >= 7 && is_varied(value) && !value.contains(['_', '.', ':', '/', '*', '+']);
        let alone = bytes[line..self.edge().max(line)].trim_ascii().is_empty()
            && is_end_of_line(&bytes[self.value.end..]);
        self.is_fresh() && (varied || alone && value.len() >= 6 && !value.contains(['*', '/', '+', '%', '.']))
    }

    /// Whether a blank or a quote stands before the name.
    fn is_fresh(&self) -> bool {
        let fresh = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
        self.preceding_byte().is_none_or(fresh)
    }

    fn separator(&self) -> &str {
        let text = &self.text[self.name.end..self.value.start];
        if self.quoted { text } else { text.trim_start_matches(QUOTES) }
    }

    /// What stands before the name; an escape sequence counts as a blank.
    fn preceding_byte(&self) -> Option<u8> {
        let before = || self.name.start.checked_sub(1).map(|at| self.text.as_bytes()[at]);
        if self.edge() < self.name.start { Some(b' ') } else { before() }
    }

    /// Whether its line begins with the name.
    fn is_first(&self) -> bool {
        let line = self.line();
        let before = &self.text.as_bytes()[line..self.edge().max(line)];
        before.iter().all(|byte| matches!(byte, b' ' | b'-'))
    }

    /// Where the line of the name begins.
    fn line(&self) -> usize {
        self.name.start - line_before(self.text, self.name.start).len()
    }

    /// Where the name begins, with the escape sequence before it.
    fn edge(&self) -> usize {
        self.name.start - escape(self.text.as_bytes(), self.name.start)
    }

    fn is_plain(&self, name: &str, value: &str) -> bool {
        let lower = value.to_lowercase();
        let code = value.contains(['(', ')', '<', '>', '{', '}', '[', ']', '=', '\\', '$', '|', ',', '…'])
            || value.contains("::")
            || value.contains('.')
                && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'));
        // The name of an object that holds secrets, and the path of one.
        let named = name.eq_ignore_ascii_case("secret") && value.contains(['_', '-', '/', ':']);
        let number =
            value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'%' | b's' | b'm'));
        let capitals = value.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'));
        (5..=256).contains(&value.len())
            && !value.bytes().any(|byte| byte.is_ascii_whitespace())
            && is_literal(value)
            && !WORDS.contains(&lower.as_str())
            && !ABOUT.iter().any(|word| lower.contains(word))
            && !(code || named || number || capitals)
            && !value.contains("://")
    }
}

const QUOTES: [char; 4] = ['"', '\'', '`', '\\'];

fn is_end_of_line(rest: &[u8]) -> bool {
    matches!(rest, [] | [b'\n', ..] | [b'\r', b'\n', ..])
}
