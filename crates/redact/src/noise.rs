//! Letters, digits and signs as chance puts them together: no code, no language, no reference.

use crate::naming::{is_file, is_path, is_symbol};
use crate::plain::is_word;

/// A shorter value is not judged by its signs.
const MIN: usize = 8;
/// No more of a value is looked at.
const JUDGED: usize = 512;

/// Whether only chance, or an author who imitates it, puts these signs together.
pub(crate) fn is_random_token(value: &str) -> bool {
    let end = (0..=value.len().min(JUDGED)).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
    let value = &value[..end];
    let plain = value.len() < MIN || value.bytes().any(|byte| byte.is_ascii_whitespace()) || !is_mixed(value);
    !plain
        && (is_odd(value) || is_choppy(value) || !is_symbol(value) && !is_words_and_separators(value))
        && !is_word(value)
        && !is_path(value)
        && !is_file(value)
        && !is_expression(value)
        && !is_pattern(value)
        && !is_template(value)
}

/// Whether a short word has a sign within that neither code nor language puts there.
pub(crate) fn has_odd_separator(value: &str) -> bool {
    (5..=64).contains(&value.len())
        && has_sign_within(value)
        && !value.contains(['(', '[', '{', '<', '/', ',', '=', '"', '\'', '`', '|'])
        && !is_word(value)
        && !is_template(value)
}

/// Whether such a sign stands between letters and digits.
fn has_sign_within(value: &str) -> bool {
    value.as_bytes().windows(3).any(|part| {
        part[0].is_ascii_alphanumeric()
            && matches!(part[1], b'!' | b'#' | b'$' | b'%' | b'^' | b'~' | b'?')
            && part[2].is_ascii_alphanumeric()
    })
}

/// Whether letters change their case and digits come so often as in no name: `fBbZr9bnwgX4`.
pub(crate) fn is_choppy(value: &str) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let (mut runs, mut len, mut last) = (0, 0, 3);
    let bytes = value.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let own = class(*byte);
        // The last capital of several begins the word behind them.
        let begins = own == 1 && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let goes_on = own == last && !begins || own == 0 && last == 1;
        runs += usize::from(own < 3 && !goes_on);
        len += usize::from(own < 3);
        last = own;
    }
    runs >= 5 && len * 5 <= runs * 12
}

/// Three of small letters, capitals, digits and signs, or three kinds of signs.
fn is_mixed(value: &str) -> bool {
    let any = |is: fn(&u8) -> bool| usize::from(value.bytes().any(|byte| is(&byte)));
    let classes = any(u8::is_ascii_lowercase)
        + any(u8::is_ascii_uppercase)
        + any(u8::is_ascii_digit)
        + any(u8::is_ascii_punctuation);
    let mut signs: Vec<u8> = value.bytes().filter(u8::is_ascii_punctuation).collect();
    signs.sort_unstable();
    signs.dedup();
    classes >= 3 && (!signs.is_empty() || is_choppy(value)) || signs.len() >= 3 && classes > 1
}

/// Whether a sign that code seldom has, or a bracket without its other, is one of at least three kinds.
fn is_odd(value: &str) -> bool {
    let value = value.replace("?.", ".").replace("!.", ".");
    let mut signs: Vec<u8> = value.bytes().filter(u8::is_ascii_punctuation).collect();
    signs.sort_unstable();
    signs.dedup();
    let count = |sign: char| value.matches(sign).count();
    let lone = [('(', ')'), ('[', ']'), ('{', '}')].iter().any(|(open, close)| count(*open) != count(*close));
    let lone = lone && value.bytes().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let rare = value.contains(['!', '#', '%', '^', '?', '~', '$', '@', '`']);
    lone || signs.len() >= 3 && rare || has_sign_within(&value)
}

/// Whether signs stand between words and names: `env:APP_SECRET`.
fn is_words_and_separators(value: &str) -> bool {
    let words = || value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_word = |word: &str| {
        let humps = word
            .as_bytes()
            .windows(2)
            .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        word.len() > 1
            && word.len() >= 3 * (humps.count() + 1) - 1
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    words().count() * 3 <= words().map(str::len).sum() && words().all(is_word)
}

/// Whether a name with brackets behind it stands here, and each of them is closed: a call, an index, a type.
fn is_expression(value: &str) -> bool {
    // A call goes on behind the blank that ends the value.
    let name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':'))
    };
    let goes_on =
        |at: usize| at >= 6 && name(&value[..at]) && is_symbol(&value[..at]) && !value.contains(')');
    let called = value.find('(').is_some_and(goes_on);
    if called || value.ends_with(['(', '[', '{']) {
        return true;
    }
    let mut open = Vec::new();
    let mut named = value.starts_with(['(', '[', '{', '<']);
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => {
                let name = value[..at].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
                named |= at > 0 && (name >= 2 || value[..at].ends_with(['!', '.', '&']));
                open.push(byte);
            }
            b')' if open.pop() != Some(b'(') => return false,
            b']' if open.pop() != Some(b'[') => return false,
            b'}' if open.pop() != Some(b'{') => return false,
            // An arrow closes nothing.
            b'>' if value[..at].ends_with(['-', '=']) => {}
            b'>' if open.pop() != Some(b'<') => return false,
            _ => {}
        }
    }
    open.is_empty() && named
}

/// Whether this is a regular expression.
pub(crate) fn is_pattern(value: &str) -> bool {
    const PARTS: &[&str] =
        &["[^", "A-Z", "a-z", "0-9", "\\d", "\\w", "\\s", "\\b", ".*", ".+", "(?", "]+", "]*", "]{"];
    value.contains("[A-Z")
        || value.contains("[a-z")
        || PARTS.iter().filter(|part| value.contains(**part)).count() > 1
}

/// Whether a program or a reader puts something else here.
fn is_template(value: &str) -> bool {
    const PARTS: &[&str] = &["${", "$(", "{{", "}}", "{}", "://", "%s", "<%", "%{", "#{"];
    let of_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
    value.starts_with(['$', '<', '{', '[', '%', '*', '&', '('])
        || value.strip_prefix("~/").is_some_and(|rest| rest.bytes().all(of_path))
        || PARTS.iter().any(|part| value.contains(part))
        || is_mail(value)
}

/// Whether this is an address of mail.
pub(crate) fn is_mail(value: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+'))
    };
    value.split_once('@').is_some_and(|(name, host)| plain(name) && plain(host) && host.contains('.'))
}
