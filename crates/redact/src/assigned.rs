//! Values assigned to a name that says it is a secret: `password=…`, `"api_key": "…"`, `--token …`.

use std::ops::Range;

use crate::class::SecretClass;
use crate::exact::is_exact;
use crate::extent::{self, Site, is_end, line_end};
use crate::fields::Field;
use crate::judge::{MatchContext, is_secret};
use crate::literal::{NameWord, literal, scheme};
use crate::names::{Kind, kind_of};
use crate::noise::{has_odd_separator, is_random_token};
use crate::plain::is_literal;
use crate::{arguments, block_scalar, boundary, element, header, pairs, prose, setting};

/// Names, in lower case.
pub(crate) static NAMES: &[(&str, SecretClass)] = &[
    ("password", SecretClass::Password),
    ("passwd", SecretClass::Password),
    ("passphrase", SecretClass::Password),
    ("passcode", SecretClass::Password),
    ("passwort", SecretClass::Password),
    ("pwd", SecretClass::Password),
    ("_pass", SecretClass::Password),
    ("pass=", SecretClass::Password),
    ("pass:", SecretClass::Password),
    ("pass\"", SecretClass::Password),
    ("pass\\\"", SecretClass::Password),
    ("pw=", SecretClass::Password),
    ("pw:", SecretClass::Password),
    ("psk=", SecretClass::Password),
    ("psk:", SecretClass::Password),
    ("psk\"", SecretClass::Password),
    ("pw\"", SecretClass::Password),
    ("pw\\\"", SecretClass::Password),
    ("secret", SecretClass::Token),
    ("token", SecretClass::Token),
    ("api_key", SecretClass::Token),
    ("api key", SecretClass::Token),
    ("api-key", SecretClass::Token),
    ("apikey", SecretClass::Token),
    ("access_key", SecretClass::Token),
    ("accesskey", SecretClass::Token),
    ("private_key", SecretClass::Token),
    ("privatekey", SecretClass::Token),
    ("presharedkey", SecretClass::Token),
    ("encryptionkey", SecretClass::Token),
    ("signingkey", SecretClass::Token),
    ("sharedkey", SecretClass::Token),
    ("master_key", SecretClass::Token),
    ("account_key", SecretClass::Token),
    ("accountkey", SecretClass::Token),
    ("signing_key", SecretClass::Token),
    ("encryption_key", SecretClass::Token),
    ("auth_key", SecretClass::Token),
    ("credential", SecretClass::Token),
    ("authorization", SecretClass::Token),
    ("cookie", SecretClass::Token),
];

/// Names that go on like this speak about a secret instead of holding one.
const ABOUT: &[&str] = &[
    "name", "path", "file", "url", "uri", "type", "count", "limit", "len", "length", "host", "region", "arn",
    "kind", "field", "expiry", "ttl", "usage", "budget", "token_id", "token-id", "tokenid",
];
/// Parts of names that stand for an error message about a secret.
const FAULTS: &[&str] = &[
    "ERR", "ERROR", "ERRORS", "INVALID", "MISSING", "BAD", "NO", "WRONG", "MSG", "MESSAGE", "PROMPT", "HELP",
    "LABEL", "TITLE",
];
/// What makes of the name behind it a variable of the environment.
const SETS: &[&str] = &["export ", "set ", "$env:", "-e ", "--env ", "TF_VAR_", "env "];
const MAX_NAME: usize = 32;
const MAX_VALUE: usize = 4096;

/// Where a secret lies in a text, if there is one.
type Span = Option<Range<usize>>;

/// The value assigned at this name, if it is one and looks like a secret.
pub(crate) fn value(text: &str, hit: Range<usize>, class: SecretClass, word: &mut NameWord) -> Span {
    let bytes = text.as_bytes();
    let sign = signs_at_end(&bytes[hit.clone()]);
    let hit = hit.start..hit.end - sign;
    let short = sign > 0 && !text[hit.clone()].eq_ignore_ascii_case("psk");
    let Range { start: name_start, end: name_end } = whole_name(bytes, &hit);
    let name = text.get(name_start..name_end)?;
    if is_about_a_secret(name) || is_expansion(text, name_start..name_end) {
        return None;
    }
    let own = kind_of(name) == Some(Kind::Named);
    let named = hit.end == name_end || own;
    if let Some(span) = value_apart(text, name_start..name_end, class, named) {
        return Some(span);
    }
    let flag = name.starts_with("--");
    let spoken = class == SecretClass::Password && hit.end == name_end;
    let Some((at, tight)) = separator(bytes, name_start..name_end, flag) else {
        return if spoken { prose::value(text, name_end) } else { None };
    };
    if let Some(block) = block_scalar::value(text, name_start, at) {
        return is_secret_block(&text[block.clone()], class, named).then_some(block);
    }
    if let Some(span) = own.then(|| setting::value(text, name_start..name_end)).flatten() {
        return Some(span);
    }
    let at = at + scheme(bytes, at).max(header::scheme(text, name, at));
    let (span, quoted) = literal(text, at, word)?;
    let site = if quoted { Site::Inside } else { extent::site(text, name_start) };
    let context = MatchContext {
        header: is_header(name) && is_end(&bytes[span.end..]),
        whole: (named || name_end <= hit.end + 1) && !is_fault(name),
        line: site == Site::Line,
        ..value_context(text, name_start, name, tight, quoted)
    };
    let data = if quoted { None } else { extent::data(text, site, name_start, span.start) };
    let noisy = |data: &Range<usize>| is_noisy(text, data.clone(), context, is_header(name), own);
    if let Some(data) = data.clone().filter(noisy) {
        return Some(data);
    }
    if class == SecretClass::Token && !quoted && is_number(&text[span.clone()]) {
        return None;
    }
    let whole = end_of_value(text, site, &span, data, context);
    // The whole is judged where it can only be data; elsewhere its first word decides.
    let data_only = context.env || context.given || context.property || context.line && tight;
    for end in [span.end, whole] {
        let span = span.start..end;
        let followed = bytes.get(end).copied().unwrap_or(b' ');
        let field = Field { text, name: name_start..name_end, value: span.clone(), quoted, tight };
        let judged = MatchContext { followed, ..context };
        if !short && is_secret(&text[span.clone()], class, judged) || field.is_secret() {
            return Some(span.start..whole);
        }
        if !data_only {
            break;
        }
    }
    if spoken && !tight && !quoted && !short { prose::value(text, name_end) } else { None }
}

/// What the name and what stands before it say about the value.
fn value_context(text: &str, name_start: usize, name: &str, tight: bool, quoted: bool) -> MatchContext {
    let flag = name.starts_with("--");
    MatchContext {
        env: tight && is_env(name) || is_set(text, name_start, name),
        given: flag || is_parameter(text.as_bytes(), name_start),
        property: !quoted && extent::property(text, name_start).is_some(),
        header: false,
        whole: false,
        line: false,
        apart: flag && !tight,
        quoted,
        followed: 0,
    }
}

/// The name that a word for a secret is part of.
fn whole_name(bytes: &[u8], hit: &Range<usize>) -> Range<usize> {
    let start = boundary::behind_escape(bytes, hit.start - back(bytes, hit.start, is_name), hit.start);
    start..hit.end + skip_while(bytes, hit.end, is_name).min(MAX_NAME)
}

/// The end of a value that is a secret, of which `span` is the first word.
fn end_of_value(text: &str, site: Site, span: &Range<usize>, data: Span, context: MatchContext) -> usize {
    if context.quoted {
        return span.end;
    }
    let data = data.filter(|_| context.env || context.property).map_or(0, |data| data.end);
    extent::extend(text, site, span.clone()).max(data)
}

/// The value of a name to which no sign assigns it: in an element, in a field of its own, in a list of arguments.
fn value_apart(text: &str, name: Range<usize>, class: SecretClass, whole: bool) -> Span {
    let flag = text[name.clone()].starts_with("--");
    element::value(text, name.clone())
        .or_else(|| pairs::value(text, name.clone(), class, whole))
        .or_else(|| flag.then(|| arguments::value(text, name, class)).flatten())
}

/// Whether a bare value can only be a secret: chance made it, and nothing else stands in its line.
fn is_noisy(text: &str, data: Range<usize>, context: MatchContext, header: bool, named: bool) -> bool {
    let rest = &text.as_bytes()[data.end..];
    let value = &text[data];
    if named && (context.given || header && is_end(rest)) && is_exact(value) {
        return true;
    }
    let own = context.env || context.given;
    let line = context.line || context.property || header;
    let alone = own || line && (is_end(rest) || rest.starts_with(b" #"));
    alone && context.whole && (is_random_token(value) || context.line && has_odd_separator(value))
}

/// Whether the name says something about a secret, such as its length, and not the secret.
fn is_about_a_secret(name: &str) -> bool {
    ABOUT.iter().any(|end| name.len() >= end.len() && ends_with_word(name, end))
}

/// Whether a shell replaces the name, and complains with what stands behind it where there is none (`${NAME:?…}`), or
/// the name is a part of one that begins with `arn:`.
fn is_expansion(text: &str, name: Range<usize>) -> bool {
    let before = &text[..name.start];
    let complains = before.ends_with("${") && text[name.end..].starts_with(":?");
    complains || ["arn:aws:", "arn:aws-cn:", "arn:aws-us-gov:"].iter().any(|head| before.ends_with(head))
}

/// Whether a word of the name says that it is an error message.
fn is_fault(name: &str) -> bool {
    name.split(['_', '-']).any(|word| FAULTS.contains(&word))
}

/// How many signs of an assignment end a keyword: some keywords include them, which tells them from longer words.
fn signs_at_end(keyword: &[u8]) -> usize {
    keyword.iter().rev().take_while(|byte| matches!(byte, b'=' | b':' | b'"' | b'\\')).count()
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_secret_block(lines: &str, class: SecretClass, named: bool) -> bool {
    if named && is_exact(lines) {
        return true;
    }
    let varied = lines.bytes().any(|byte| byte.is_ascii_digit());
    is_literal(lines) && lines.len() >= 6 && (varied || class == SecretClass::Password)
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

fn is_header(name: &str) -> bool {
    name.len() > 2
        && (name[..2].eq_ignore_ascii_case("x-")
            || name.eq_ignore_ascii_case("private-token")
            || header::is_authorization(name))
}

fn is_parameter(bytes: &[u8], name_start: usize) -> bool {
    name_start > 0 && matches!(bytes[name_start - 1], b'?' | b'&' | b';' | b'#')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn back(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes[..from].iter().rev().take(MAX_NAME).take_while(|byte| keep(**byte)).count()
}

fn skip_while(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().take(MAX_VALUE).take_while(|byte| keep(**byte)).count()
}

fn ends_with_word(name: &str, end: &str) -> bool {
    name.get(name.len() - end.len()..).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn is_env(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Where the value begins after the sign of assignment, and whether it follows without spaces.
fn separator(bytes: &[u8], name: Range<usize>, flag: bool) -> Option<(usize, bool)> {
    let from = name.end;
    let mut at =
        from + skip_while(bytes, from, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b']')).min(4);
    let spaces = skip_while(bytes, at, is_blank).min(8);
    at += spaces;
    let sign = skip_while(bytes, at, |byte| matches!(byte, b'=' | b':' | b'>')).min(3);
    if sign == 0 && !(flag && spaces > 0) {
        return None;
    }
    at += sign;
    let after = skip_while(bytes, at, is_blank).min(8);
    if let Some(next) = next_line(bytes, name.start, at + after).filter(|_| sign == 1) {
        return Some((next, false));
    }
    Some((at + after, spaces == 0 && after == 0 && sign == 1))
}

/// Where a value begins in the line behind its name: in quotes as in JSON, or alone and deeper as in YAML.
fn next_line(bytes: &[u8], name: usize, at: usize) -> Option<usize> {
    let line = at + Some(line_end(&bytes[at..])).filter(|len| *len > 0)?;
    let blank = skip_while(bytes, line, is_blank).min(64);
    let value = line + blank;
    let slashes = skip_while(bytes, value, |byte| byte == b'\\').min(3);
    if matches!(bytes.get(value + slashes), Some(b'"' | b'\'')) {
        return Some(value);
    }
    let deeper = block_scalar::indent_of_line(bytes, name).is_some_and(|own| blank > own);
    let word = skip_while(bytes, value, |byte| !byte.is_ascii_whitespace() && byte != b'\\');
    let alone = word > 0 && bytes[value + word - 1] != b':' && is_end(&bytes[value + word..]);
    (deeper && alone).then_some(value)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
