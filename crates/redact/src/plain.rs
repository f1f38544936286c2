//! Distinguishes a literal secret from a reference, a placeholder or a word.

use crate::entropy::bits;

/// Words of values that stand in a secret's place.
const PLACEHOLDERS: &[&str] = &[
    "your",
    "example",
    "placeholder",
    "changeme",
    "change",
    "replace",
    "replaceme",
    "redacted",
    "insert",
    "dummy",
    "todo",
];

/// Signs that something was left out.
const ELISIONS: &[&str] = &["...", "…", "****"];

/// Whether a value stands in a secret's place, as `your-api-key` or `<changeme>`: one of its words says so, and no digit speaks for a
/// value that a user has thought up. A secret may hold such a word, too: `RockYourSocks99`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if ELISIONS.iter().any(|elision| lower.contains(elision)) {
        return true;
    }
    if lower.bytes().filter(|byte| *byte == b'x').count() > 3 && lower.contains("xxxx") {
        // All but the letters that stand for others: the beginning of a key may be shown.
        return !lower.bytes().any(|byte| byte.is_ascii_digit());
    }
    !value.bytes().any(|byte| byte.is_ascii_digit())
        && words(value).iter().any(|word| PLACEHOLDERS.contains(&word.as_str()))
}

/// The words of a value in small letters: what signs and capitals tell apart.
fn words(value: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for sign in value.chars() {
        if !sign.is_alphanumeric() || (sign.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = sign.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| sign.is_alphanumeric()) {
            word.extend(sign.to_lowercase());
        }
    }
    words
}

/// Words that stand where a secret would, and say something about it.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "user",
    "username",
    "value",
    "string",
    "text",
    "true",
    "false",
    "none",
    "null",
    "nil",
    "yes",
    "no",
    "on",
    "off",
    "auto",
    "required",
    "optional",
    "empty",
    "hidden",
    "invalid",
    "wrong",
    "incorrect",
    "correct",
    "missing",
    "expired",
    "disabled",
    "enabled",
    "unset",
    "default",
    "test",
    "input",
    "type",
    "var",
    "env",
    "prompt",
    "file",
    "stdin",
    "undefined",
];

/// Whether this is one of those words, or a placeholder: whatever else it is, it opens nothing.
pub(crate) fn is_word(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS.contains(&lower.as_str()) || is_placeholder(value)
}

/// Whether this is neither such a word nor a variable.
pub(crate) fn not_a_word(value: &str) -> bool {
    !is_word(value) && !is_variable(value)
}

/// Whether a program or a reader puts something else here: a variable, a template, a name in capitals.
fn is_variable(value: &str) -> bool {
    let name = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-');
    value.starts_with(['<', '{', '[', '('])
        || value.starts_with(['$', '%', '*', '@']) && !is_random_behind_sign(value)
        || value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || value.bytes().all(name)
        || value.bytes().all(|byte| byte == value.as_bytes()[0])
}

/// Whether a value that stands where only a secret can stand is written out there.
pub(crate) fn is_literal(value: &str) -> bool {
    value.len() >= 3
        && not_a_word(value)
        && !value.starts_with(['-', '|', '>', ';', ' ', ')'])
        && (!value.starts_with(['/', '~', '&', '#', ',']) || is_random_behind_sign(value))
}

/// Whether what stands behind the first sign is made of chance, and no name, path or word: then the sign is the secret's own, and begins
/// no variable, alias, path or comment.
pub(crate) fn is_random_behind_sign(value: &str) -> bool {
    let rest = value.get(1..).unwrap_or_default();
    let kind = |byte: u8| match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let bytes = rest.as_bytes();
    let has = |wanted: u8| bytes.iter().any(|byte| kind(*byte) == wanted);
    let turns = bytes.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    // A template, a call, a variable in percent signs and a path with words are read by their parts.
    let is_template = rest.contains(['{', '(', '<', '[', ' '])
        || rest.starts_with(['/', '.', '~'])
        || rest.ends_with('%')
        || rest.contains("://");
    let has_word = |part: &str| part.len() >= 5 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    rest.len() >= 9
        && !is_template
        && has(0)
        && has(1)
        && has(2)
        && turns * 3 >= bytes.len().min(14)
        && !bytes.windows(6).any(|run| run.iter().all(u8::is_ascii_lowercase))
        && !rest.split(['/', '.', '-', '_']).any(has_word)
}

/// Letters and digits, and enough different ones.
pub(crate) fn is_varied(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && bits(value) >= 2.2
}

/// Words follow "bearer" and "basic" in prose too; a credential holds digits or is mixed.
pub(crate) fn credential(secret: &str) -> bool {
    let bytes = secret.as_bytes();
    let mixed = || {
        let turns =
            bytes.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase());
        turns.count() > 6
    };
    let digits = bytes.iter().any(u8::is_ascii_digit);
    bytes.len() >= 16
        && (digits || (bytes.iter().any(u8::is_ascii_uppercase) && secret.ends_with('=')) || mixed())
}

#[cfg(test)]
mod placeholder_tests {
    use super::is_placeholder;

    #[test]
    fn a_word_inside_a_secret_makes_it_no_placeholder() {
        for value in [
            "RockYourSocks99!",
            "MasToDo-4491-kilo",
            "InsertCoin2026!",
            "Rexamplexy",
            "dummy4Life",
            "aXXXXb7",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
        for value in [
            "your-password",
            "YOUR_API_KEY",
            "<your-token>",
            "changeme",
            "yourApiKey",
            "sk-xxxxxxxx",
            "sk-ab1...",
            "example",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
    }
}
