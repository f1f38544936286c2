//! Values assigned to a name that says it is a secret: `password=…`, `"api_key": "…"`, `--token …`.

use std::ops::Range;

use crate::block_scalar;
use crate::entropy::{bits, looks_random};
use crate::fields::{self, Field};
use crate::plain::{PLACEHOLDERS, is_literal, is_word};
use crate::prose;

/// What kind of name it is: passwords may be short and human, tokens are long and random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `password` and its kin.
    Password,
    /// `token`, `api_key` and their kin.
    Token,
}

impl Class {
    /// What it is called in the replacement.
    pub fn kind(self) -> &'static str {
        match self {
            Class::Password => "password",
            Class::Token => "secret",
        }
    }
}

/// Names, in lower case.
pub static NAMES: &[(&str, Class)] = &[
    ("password", Class::Password),
    ("passwd", Class::Password),
    ("passphrase", Class::Password),
    ("passcode", Class::Password),
    ("passwort", Class::Password),
    ("pwd", Class::Password),
    ("_pass", Class::Password),
    ("pass=", Class::Password),
    ("pass\"", Class::Password),
    ("pass\\\"", Class::Password),
    ("pw=", Class::Password),
    ("pw\"", Class::Password),
    ("pw\\\"", Class::Password),
    ("secret", Class::Token),
    ("token", Class::Token),
    ("api_key", Class::Token),
    ("api-key", Class::Token),
    ("apikey", Class::Token),
    ("access_key", Class::Token),
    ("accesskey", Class::Token),
    ("private_key", Class::Token),
    ("privatekey", Class::Token),
    ("presharedkey", Class::Token),
    ("encryptionkey", Class::Token),
    ("signingkey", Class::Token),
    ("sharedkey", Class::Token),
    ("master_key", Class::Token),
    ("account_key", Class::Token),
    ("signing_key", Class::Token),
    ("encryption_key", Class::Token),
    ("auth_key", Class::Token),
    ("credential", Class::Token),
    ("authorization", Class::Token),
    ("cookie", Class::Token),
];

/// Names that go on like this speak about a secret instead of holding one.
const ABOUT: &[&str] = &[
    "name", "path", "file", "url", "uri", "type", "count", "limit", "len", "length", "host", "region", "arn",
    "kind", "field", "expiry", "ttl", "usage", "budget",
];
const SCHEMES: &[&str] = &["bearer ", "basic ", "token "];
/// Names like these tell what went wrong with a secret.
const FAULTS: &[&str] =
    &["ERR", "INVALID", "MISSING", "BAD_", "NO_", "WRONG", "MSG", "PROMPT", "HELP", "LABEL", "TITLE"];
/// What makes of the name behind it a variable of the environment.
const SETS: &[&str] = &["export ", "set ", "$env:", "-e ", "--env ", "TF_VAR_", "env "];
const MAX_NAME: usize = 32;
const MAX_VALUE: usize = 4096;
/// So much of a value is looked at to tell what it is.
const JUDGED: usize = 512;

/// The bare word that was looked at last, and how often: names may stand in the value of a name.
#[derive(Debug, Default)]
pub struct Word {
    span: Range<usize>,
    looks: usize,
}

/// In one word no more names are looked at, so that a word of nothing but names takes no longer than others.
const MOST_LOOKS: usize = 16;

impl Word {
    /// The end of the word at `start`, unless it has been looked at often enough.
    fn end(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        if !self.span.contains(&start) {
            let len = ahead(bytes, start, is_bare);
            *self = Self { span: start..start + len, looks: 0 };
        }
        self.looks += 1;
        (self.looks <= MOST_LOOKS).then_some(self.span.end)
    }

    /// Whether the word at `start` may be looked at.
    pub fn once_more(&mut self, text: &str, start: usize) -> bool {
        self.end(text.as_bytes(), start).is_some()
    }
}

/// The value assigned at this name, if it is one and looks like a secret.
pub fn value(text: &str, hit: Range<usize>, class: Class, word: &mut Word) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // A keyword may hold what follows its name, which tells it from longer words.
    let sign = bytes[hit.clone()].iter().rev().take_while(|byte| matches!(byte, b'=' | b'"' | b'\\')).count();
    let (short, hit) = (sign > 0, hit.start..hit.end - sign);
    let name_start = hit.start - back(bytes, hit.start, is_name).min(MAX_NAME);
    let name_end = hit.end + ahead(bytes, hit.end, is_name).min(MAX_NAME);
    let name = text.get(name_start..name_end)?;
    if ABOUT.iter().any(|end| name.len() >= end.len() && ends_with_word(name, end)) {
        return None;
    }
    if let Some(span) = fields::element(text, name_start..name_end) {
        return Some(span);
    }
    let flag = name.starts_with("--");
    let Some((at, tight)) = separator(bytes, name_end, flag) else {
        return (class == Class::Password && hit.end == name_end)
            .then(|| prose::value(text, name_end))
            .flatten();
    };
    if let Some(block) = block_scalar::value(text, name_start, at) {
        let judged = text[block.clone()].split_whitespace().next().unwrap_or_default();
        let varied = judged.bytes().any(|byte| byte.is_ascii_digit());
        return (is_literal(judged) && judged.len() >= 6 && (varied || class == Class::Password))
            .then_some(block);
    }
    let at = at + scheme(bytes, at);
    let (span, quoted) = literal(text, at, word)?;
    let followed = bytes.get(span.end).copied().unwrap_or(b' ');
    let place = Place {
        env: tight && is_env(name) || is_set(text, name_start, name),
        given: flag || is_parameter(bytes, name_start),
        header: name.len() > 2 && name[..2].eq_ignore_ascii_case("x-"),
        whole: name_end <= hit.end + 1 && !FAULTS.iter().any(|word| name.contains(word)),
        quoted,
        followed,
    };
    let field = Field { text, name: name_start..name_end, value: span.clone(), quoted, tight };
    if !short && is_secret(&text[span.clone()], class, place) || field.is_secret() {
        return Some(span);
    }
    let spoken = class == Class::Password && !tight && !quoted && !short && hit.end == name_end;
    spoken.then(|| prose::value(text, name_end)).flatten()
}

/// What the surroundings say about a value.
#[derive(Clone, Copy)]
struct Place {
    /// The name is one of the environment.
    env: bool,
    /// It is an option of a command, or a parameter of an address or a connection.
    given: bool,
    /// It is a header.
    header: bool,
    /// The name ends with the word for a secret, and tells no fault.
    whole: bool,
    quoted: bool,
    followed: u8,
}

/// Whether the name is set as a variable: `export name=`, `$env:name =`.
fn is_set(text: &str, name_start: usize, name: &str) -> bool {
    let before = &text.as_bytes()[name_start.saturating_sub(8)..name_start];
    let ends = |word: &&str| {
        let tail = &before[before.len().saturating_sub(word.len())..];
        tail.eq_ignore_ascii_case(word.as_bytes())
    };
    SETS.iter().any(ends) || name.starts_with("TF_VAR_")
}

fn is_parameter(bytes: &[u8], name_start: usize) -> bool {
    name_start > 0 && matches!(bytes[name_start - 1], b'?' | b'&' | b';')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn back(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes[..from].iter().rev().take(MAX_NAME).take_while(|byte| keep(**byte)).count()
}

fn ahead(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().take(MAX_VALUE).take_while(|byte| keep(**byte)).count()
}

fn ends_with_word(name: &str, end: &str) -> bool {
    name.get(name.len() - end.len()..).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn is_env(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Where the value begins after the sign of assignment, and whether it follows without spaces.
fn separator(bytes: &[u8], from: usize, flag: bool) -> Option<(usize, bool)> {
    let mut at = from + ahead(bytes, from, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b']')).min(4);
    let spaces = ahead(bytes, at, is_blank).min(8);
    at += spaces;
    let sign = ahead(bytes, at, |byte| matches!(byte, b'=' | b':' | b'>')).min(3);
    if sign == 0 && !(flag && spaces > 0) {
        return None;
    }
    at += sign;
    let after = ahead(bytes, at, is_blank).min(8);
    Some((at + after, spaces == 0 && after == 0 && sign == 1))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The length of `Bearer ` or the like before the value; a quote may stand before it.
fn scheme(bytes: &[u8], at: usize) -> usize {
    let starts = |word: &&&str| {
        bytes.get(at..at + word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    };
    SCHEMES.iter().find(starts).map_or(0, |word| word.len())
}

/// A quoted string without its quotes, or a bare word.
fn literal(text: &str, at: usize, word: &mut Word) -> Option<(Range<usize>, bool)> {
    let bytes = text.as_bytes();
    let slashes = ahead(bytes, at, |byte| byte == b'\\').min(3);
    let mark = bytes.get(at + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let start = if mark.is_some() { at + slashes + 1 } else { at };
    let start = start + scheme(bytes, start);
    let len = match mark {
        Some(mark) => ahead(bytes, start, |byte| byte != mark && byte != b'\n').checked_sub(slashes)?,
        None => word.end(bytes, start)? - start,
    };
    let end = (start..=start + len).rev().find(|end| text.is_char_boundary(*end))?;
    text.is_char_boundary(start).then_some((start..end, mark.is_some()))
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b','
                | b';'
                | b'('
                | b')'
                | b'<'
                | b'>'
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b'|'
                | b'&'
                | b'\\'
        )
}

fn is_secret(value: &str, class: Class, place: Place) -> bool {
    let end = (0..=value.len().min(JUDGED)).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
    let (len, value) = (value.len(), &value[..end]);
    if is_reference(value, place) {
        return false;
    }
    if value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        // A sentence in quotes is a secret where only a secret can stand.
        return place.env && place.quoted && place.whole && is_closed(place.followed) && is_spoken(value);
    }
    let exact = class == Class::Password && (place.env || place.given && place.whole);
    if len < 6 && !(exact && len >= 3) {
        return false;
    }
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let varied = digits && letters && bits(value) >= 2.2;
    match (class, place.env, place.quoted) {
        _ if exact => is_literal(value) && (len >= 6 || place.whole),
        (Class::Token, false, _) if (place.given || place.header) && place.whole => {
            varied && len >= 8 && !is_wordy(value)
        }
        (Class::Password, _, true) => {
            varied
                || is_scrambled(value)
                || value.bytes().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'*' | b'?'))
        }
        (Class::Password, _, false) => varied && !value.contains(['_', '.', ':']),
        (Class::Token, true, _) => letters && len >= 8 && (varied || len >= 16),
        (Class::Token, _, true) => varied && len >= 8 && !is_wordy(value),
        (Class::Token, _, false) => (varied || is_scrambled(value)) && len >= 16 && !is_wordy(value),
    }
}

/// Whether a quote, which may be escaped, follows the value.
fn is_closed(followed: u8) -> bool {
    matches!(followed, b'"' | b'\'' | b'`' | b'\\')
}

/// Words as a passphrase has them, and not the code between two strings.
fn is_spoken(value: &str) -> bool {
    is_literal(value)
        && value.trim() == value
        && value.split_whitespace().count() <= 12
        && !value.contains(['(', ')', '{', '}', '[', ']', '\\', '?', '…'])
}

/// A variable, a call, a path, an address or a placeholder stands here, not the secret itself.
fn is_reference(value: &str, place: Place) -> bool {
    let lower = value.to_ascii_lowercase();
    let code = !place.quoted && (matches!(place.followed, b'(' | b'<' | b'[' | b'{') || value.contains("::"));
    code || value.starts_with(['$', '<', '{', '[', '%', '*', '/', '.', '~', '&', '#'])
        || value.contains("://")
        || value.contains("${")
        || is_word(value)
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || value.is_empty()
        || value.bytes().all(|byte| byte == value.as_bytes()[0])
}

/// Letters whose case turns too often for a name: chance without digits.
fn is_scrambled(value: &str) -> bool {
    let letters = value.len() >= 10 && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let turns = value
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase());
    letters && turns.count() * 3 >= value.len()
}

/// Made of words: runs of letters of one case are long, as in names and slugs, not short as chance makes them.
fn is_wordy(value: &str) -> bool {
    if looks_random(value) {
        return false;
    }
    let runs = value.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| !run.is_empty());
    let (count, letters) = runs.fold((0, 0), |(count, letters), run| (count + 1, letters + run.len()));
    letters > count * 3 && value.bytes().filter(u8::is_ascii_digit).count() * 5 < value.len()
}
