//! Whether a value is a secret for where it stands.

use crate::class::SecretClass;
use crate::entropy::{bits, looks_random};
use crate::exact::is_source;
use crate::naming::{is_file, is_member, is_path, is_type, is_usage};
use crate::noise::{is_pattern, is_random_token};
use crate::phrase::is_phrase;
use crate::plain::{is_literal, is_placeholder, is_random_behind_sign, is_word};
use crate::state_words;

/// Maximum number of bytes of a value that are judged.
const JUDGED: usize = 512;

/// What the surroundings say about a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatchContext {
    /// The name is one of the environment.
    pub env: bool,
    /// It is an option of a command, or a parameter of an address or a connection.
    pub given: bool,
    /// It is the last part of a property with dots.
    pub property: bool,
    /// It is a header, and nothing stands behind the value.
    pub header: bool,
    /// The name ends with the word for a secret, and tells no fault.
    pub whole: bool,
    /// The line begins with it.
    pub line: bool,
    /// It is an option, and a blank stands before the value.
    pub apart: bool,
    /// It is in quotes.
    pub quoted: bool,
    /// What stands behind the value.
    pub followed: u8,
}

/// Whether this value of a name of this class is a secret.
pub(crate) fn is_secret(value: &str, class: SecretClass, context: MatchContext) -> bool {
    let end = (0..=value.len().min(JUDGED)).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
    let (len, value) = (value.len(), &value[..end]);
    if class == SecretClass::Password && context.env && is_rooted(value) {
        return true;
    }
    if context.quoted && is_closed(context.followed) && is_random_token(value)
        || class == SecretClass::Password && context.env && is_numbered(value)
    {
        return true;
    }
    if is_template_reference(value, context) {
        return false;
    }
    if value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        // A sentence in quotes is a secret where only a secret can stand.
        let phrase = class == SecretClass::Password && is_phrase(value);
        // A shell runs what stands between backticks.
        let run = context.env && context.followed == b'`';
        return !run
            && (context.env || phrase)
            && context.quoted
            && context.whole
            && is_closed(context.followed)
            && is_spoken(value);
    }
    let sure = context.env || context.property || context.given && context.whole;
    let exact = class == SecretClass::Password && sure;
    if len < 6 && !(exact && len >= 3) {
        return false;
    }
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let varied = digits && letters && bits(value) >= 2.2;
    let plain = || is_literal(value) && !is_usage(value) && !state_words::is_known(value);
    match (class, context.env, context.quoted) {
        _ if exact && context.apart => plain() && (len >= 6 || context.whole),
        _ if exact && context.property => varied || plain() && state_words::is_plain_word(value),
        _ if exact => is_literal(value) && (len >= 6 || context.whole) && !is_file(value),
        (SecretClass::Token, false, _) if context.header && context.whole => {
            len >= 8 && (varied && !is_made_of_words(value) || plain() && state_words::is_plain_word(value))
        }
        (SecretClass::Token, false, _) if (context.given || context.property) && context.whole => {
            varied && len >= 8 && !is_made_of_words(value)
        }
        (SecretClass::Password, _, true) => {
            varied && !is_file(value)
                || alternates_case(value)
                || value.bytes().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'*' | b'?'))
        }
        (SecretClass::Password, _, false) => varied && is_written_out(value, context),
        (SecretClass::Token, true, _) => letters && len >= 8 && (varied || len >= 16),
        (SecretClass::Token, _, true) => varied && len >= 8 && !is_made_of_words(value) && !is_file(value),
        (SecretClass::Token, _, false) => {
            (varied || alternates_case(value)) && len >= 16 && !is_made_of_words(value) && !is_file(value)
        }
    }
}

/// Whether a value that begins as a path does is none: it is mixed, and no part is a word.
fn is_rooted(value: &str) -> bool {
    value.starts_with(['/', '.'])
        && value.len() >= 6
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && bits(value) >= 2.2
        && !value
            .split(['/', '.', '-', '_'])
            .any(|part| part.len() >= 3 && part.bytes().all(|b| b.is_ascii_lowercase()))
}

/// Whether a value that begins as a comment does is none.
fn is_numbered(value: &str) -> bool {
    value.len() >= 6 && value.starts_with('#') && value.as_bytes()[1].is_ascii_alphanumeric()
}

/// Whether a bare value is no name of anything that a program holds.
fn is_written_out(value: &str, context: MatchContext) -> bool {
    if is_type(value) || is_path(value) || is_file(value) {
        return false;
    }
    // A sign that no name holds, and no more than one thing in the line.
    let signs =
        value.bytes().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'$' | b'+' | b'?'));
    let alone = context.line && context.followed.is_ascii_whitespace() && (signs || !is_member(value));
    !value.contains(['_', '.', ':']) || alone && !value.contains([':', '=', '_']) && signs
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
fn is_template_reference(value: &str, context: MatchContext) -> bool {
    let code =
        !context.quoted && (matches!(context.followed, b'(' | b'<' | b'[' | b'{') || value.contains("::"));
    let begins = value.starts_with(['$', '%', '*', '/', '.', '~', '&', '#']) && !is_random_behind_sign(value);
    code || begins
        || value.starts_with(['<', '{', '['])
        || value.contains("://")
        || value.contains("${")
        || is_word(value)
        || is_source(value)
        || is_pattern(value)
        || is_placeholder(value)
        || value.is_empty()
        || value.bytes().all(|byte| byte == value.as_bytes()[0])
}

/// Letters whose case turns too often for a name: chance without digits.
fn alternates_case(value: &str) -> bool {
    let letters = value.len() >= 10 && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let turns = value
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase());
    letters && turns.count() * 3 >= value.len()
}

/// Made of words: runs of letters of one case are long, as in names and slugs, not short as chance makes them.
fn is_made_of_words(value: &str) -> bool {
    if looks_random(value) {
        return false;
    }
    let runs = value.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| !run.is_empty());
    let (count, letters) = runs.fold((0, 0), |(count, letters), run| (count + 1, letters + run.len()));
    letters > count * 3 && value.bytes().filter(u8::is_ascii_digit).count() * 5 < value.len()
}
