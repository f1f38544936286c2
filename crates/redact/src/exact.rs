//! Values in places that hold nothing else, under a name that is a secret's as a whole.
//!
//! There only a reference, a placeholder, or a word for a type or a state is none; elsewhere a value has to look as chance
//! makes it.

use crate::entropy::looks_random;
use crate::naming::{is_file, is_path, is_symbol, is_usage};
use crate::noise::{is_choppy, is_mail, is_pattern, is_random_token};
use crate::plain::{is_literal, is_placeholder, is_random_behind_sign, is_varied, is_word};
use crate::state_words::{is_known, is_plain_word};

/// A shorter value is not judged by its letters.
const MIN: usize = 8;
/// No more of a value is looked at.
const JUDGED: usize = 512;
/// What a program or a tool replaces.
const TEMPLATES: &[&str] = &["${", "$(", "{{", "<%", "%{", "#{", "://", "{0}"];
/// How values begin that say where a secret is.
const SOURCES: &[&str] = &[
    "arn:", "env:", "env.", "file:", "vault:", "ssm:", "ref+", "secret:", "secrets/", "secrets.", "process.",
    "!",
];
/// Pairs of signs round a name that stands for something else.
const PAIRED: &[(char, char)] = &[('<', '>'), ('{', '}'), ('[', ']'), ('(', ')')];

/// Whether this value is written out where it stands.
pub(crate) fn is_exact(value: &str) -> bool {
    let end = (0..=value.len().min(JUDGED)).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
    let value = &value[..end];
    if value.len() < 5 || value.bytes().any(|byte| byte.is_ascii_whitespace()) || is_bare_reference(value) {
        return false;
    }
    if is_random(value) || has_inner_punctuation(value) {
        return true;
    }
    // Signs of code may stand behind a word, and a lone bracket before one.
    let value = value.trim_end_matches([',', ';', ')']).trim_start_matches(['<', '{', '[', '(']);
    let number = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'/'));
    let named = is_usage(value) || is_known(value) || is_path(value) || is_file(value) || is_mail(value);
    let dotted = value.contains('.')
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'));
    value.len() >= 5 && !number && !named && !dotted && is_literal(value) && is_plain_word(value)
}

/// Whether chance put these letters, digits and signs together.
pub(crate) fn is_random(value: &str) -> bool {
    let core = value.trim_matches(|c: char| c.is_ascii_punctuation());
    if core.len() < MIN || is_file(value) || is_path(value) || is_pattern(value) || is_word(value) {
        return false;
    }
    is_random_token(value)
        || is_random_token(core)
        || is_random_behind_sign(value)
        || is_varied(core) && !is_symbol(core)
        || is_choppy(core)
        || looks_random(core)
        || has_alternating_case(core)
}

/// Letters and digits with a sign within that no name has.
fn has_inner_punctuation(value: &str) -> bool {
    let core = value.trim_matches(|c: char| c.is_ascii_punctuation());
    let closed = [('<', '>'), ('(', ')'), ('[', ']'), ('{', '}')]
        .iter()
        .any(|(open, close)| value.contains(*open) && value.contains(*close));
    let odd = |c: char| c.is_ascii_punctuation() && !matches!(c, '.' | '_' | '-' | ':' | '/' | '@');
    core.len() >= MIN
        && is_varied(core)
        && core.contains(odd)
        && !closed
        && !is_pattern(value)
        && !is_word(value)
}

/// Letters without digits whose case turns too often for a name.
fn has_alternating_case(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let pairs = value.as_bytes().windows(2);
    let turns = pairs.filter(|pair| {
        pair.iter().all(u8::is_ascii_alphabetic)
            && pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase()
    });
    letters >= MIN && turns.count() * 3 >= letters
}

/// Whether the value says where a secret is: `vault:secret/data/app`, `arn:aws:…`.
pub(crate) fn is_source(value: &str) -> bool {
    let starts = |part: &&str| value.get(..part.len()).is_some_and(|head| head.eq_ignore_ascii_case(part));
    SOURCES.iter().find(|part| starts(part)).is_some_and(|part| !is_random(&value[part.len()..]))
}

/// Whether this is the name of a variable of the environment.
fn is_variable(name: &str) -> bool {
    let of_words =
        name.split('_').filter(|part| part.len() >= 3 && part.bytes().all(|b| b.is_ascii_uppercase()));
    name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') && of_words.count() > 0
}

/// Whether a variable, a template, an address or a placeholder stands here.
pub(crate) fn is_bare_reference(value: &str) -> bool {
    let inner =
        |open: &char, close: &char| value.strip_prefix(*open).and_then(|rest| rest.strip_suffix(*close));
    let name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/');
    let is_name = |rest: &str| !rest.is_empty() && rest.bytes().all(name);
    let variable = value.strip_prefix(['$', '*', '&', '@', '%', '#', '~', '/', '.']);
    TEMPLATES.iter().any(|part| value.contains(part))
        || value.contains("%s") && !is_random_behind_sign(value)
        || is_source(value)
        || is_placeholder(value)
        || inner(&'%', &'%').is_some_and(|rest| is_name(rest) && !is_random(rest))
        || PAIRED.iter().any(|(open, close)| inner(open, close).is_some_and(|rest| !is_random(rest)))
        || variable.is_some_and(|rest| is_name(rest) && (!is_random(rest) || is_variable(rest)))
        || value.bytes().all(|byte| byte == value.as_bytes()[0])
}
