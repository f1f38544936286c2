//! Passwords that a sentence tells: "the password for the database is …".

use std::ops::Range;

use crate::noise::is_random_token;
use crate::phrase::is_phrase;
use crate::plain::{is_literal, is_varied};

/// So far behind the word a sentence is looked at.
const REACH: usize = 160;
const VERBS: &[&str] =
    &["is", "was", "are", "were", "to", "ist", "lautet", "war", "=", ":", "->", "=>", "→", "will", "be"];
/// Words that may stand between verb and password.
const FILLERS: &[&str] =
    &["now", "set", "changed", "still", "currently", "just", "this", "be", "simply", "reset", "to"];
/// What begins like this names how a password is kept, not the password.
const METHODS: &[&str] = &[
    "base64", "base32", "sha", "md5", "utf", "bcrypt", "argon", "scrypt", "pbkdf", "aes", "rsa", "hs256",
    "oauth", "x509", "pkcs", "http", "ascii", "hex",
];

/// The password that follows a word for it which ends at `from`.
pub(crate) fn value(text: &str, from: usize) -> Option<Range<usize>> {
    let mut to = text.len().min(from + REACH);
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    let line = text[from..to].split(['\n', '\r']).next()?;
    if !line.starts_with([' ', '\u{a0}', ':', '=']) {
        return None;
    }
    let mut words = Words { line, at: 0 };
    // "for the database", "of user ann"; a verb ends it.
    let mut verb = "";
    for _ in 0..8 {
        let (_, word) = words.next()?;
        let bare = word.trim_end_matches(':');
        if VERBS.contains(&word.to_ascii_lowercase().as_str())
            || (word.len() > bare.len() && !bare.is_empty())
        {
            verb = word;
            break;
        }
        if word.ends_with(['.', ',', ';', '?', '!', ')', '(', '{', '"', '`']) {
            return None;
        }
    }
    if verb.is_empty() {
        return None;
    }
    let at = words.find(|(_, word)| !FILLERS.contains(&word.to_ascii_lowercase().as_str()))?.0;
    value_after(line, at, verb).map(|span| from + span.start..from + span.end)
}

/// The value at this place of a line, in quotes or bare.
fn value_after(line: &str, at: usize, verb: &str) -> Option<Range<usize>> {
    let rest = &line[at..];
    let open = rest.chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => Some(open),
        '“' | '„' => Some('”'),
        '‘' => Some('’'),
        '«' => Some('»'),
        _ => None,
    };
    if let Some(close) = close {
        // An assignment in quotes is judged with its name; here only a sentence counts.
        let is_word = !verb.ends_with([':', '=']) || verb.len() > 1;
        let start = at + open.len_utf8();
        let len =
            line[start..].find(close).or_else(|| (open == '„').then(|| line[start..].find('“')).flatten())?;
        let value = &line[start..start + len];
        let words = value.split_whitespace().count();
        let sentence = words > 1 && value.contains(['.', ',', '?', '(']) && !is_phrase(value);
        return (is_word
            && value.len() >= 4
            && is_literal(value)
            && !sentence
            && words < 9
            && !value.contains("://"))
        .then_some(start..start + len);
    }
    let word = rest.split(|c: char| c.is_whitespace()).next()?;
    let bare = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '`', '*']);
    let made = is_random_token(bare)
        && !bare.contains(['"', '\''])
        && (bare.len() == word.len() || is_random_token(word));
    (made || is_password(bare)).then(|| at..at + bare.len())
}

/// A bare word that no sentence holds: letters and digits, a sign within, or many words in one.
fn is_password(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if value.len() < 4 || !is_literal(value) || METHODS.iter().any(|method| lower.starts_with(method)) {
        return false;
    }
    let code =
        value.contains(['(', ')', '<', '>', '{', '}', '[', ']', '"', '\'', '`', '=']) || value.contains("::");
    let place = value.contains("://")
        || value.contains('/')
        || (value.contains('.') && !value.contains(['!', '@', '#']));
    let sign = value
        .bytes()
        .skip(1)
        .any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?'))
        && value.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let chain = value.bytes().filter(|byte| *byte == b'-').count() >= 3;
    let varied = is_varied(value) && value.len() >= 6 && !value.contains(['_', ':']);
    !code && !place && (sign || chain || varied)
}

struct Words<'t> {
    line: &'t str,
    at: usize,
}

impl<'t> Iterator for Words<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.find(|c: char| !c.is_whitespace())?;
        let len = self.line[start..].find(char::is_whitespace).unwrap_or(self.line.len() - start);
        self.at = start + len;
        Some((start, &self.line[start..start + len]))
    }
}
