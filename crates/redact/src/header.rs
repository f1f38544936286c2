//! Headers of HTTP whose value is a secret: `Authorization`, `Cookie`. One reaches to the end of its line, or to the
//! quote that closes the string it stands in.

use std::ops::Range;

use crate::entropy::bits;
use crate::extent::{is_end, line_before, line_end, open_quote};
use crate::noise::is_random_token;
use crate::plain::{is_literal, is_varied};

/// What a header with cookies begins with.
pub(crate) const COOKIE: &str = "cookie: ";

/// No more of a header is looked at.
const REACH: usize = 4096;
/// Parts of names of cookies that open an account.
const OPENS: &[&str] =
    &["sid", "sess", "auth", "token", "jwt", "csrf", "xsrf", "login", "remember", "ticket", "account"];

/// Whether this is the name of a header that says who calls.
pub(crate) fn is_authorization(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "authorization" || lower == "proxy-authorization"
}

/// The length of the scheme between the name and its value, as in `Authorization: ApiKey …`.
pub(crate) fn scheme(text: &str, name: &str, at: usize) -> usize {
    if !is_authorization(name) {
        return 0;
    }
    let rest = &text[at..];
    let word = rest.bytes().take(24).take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
    let blank = rest.bytes().skip(word).take(4).take_while(|byte| *byte == b' ').count();
    if word < 3 || blank == 0 {
        return 0;
    }
    let from = word + blank;
    let named = if rest[from..].starts_with("token=") { 6 } else { 0 };
    let value = from + named;
    let len = rest
        .bytes()
        .skip(value)
        .take_while(|byte| !byte.is_ascii_whitespace() && *byte != b'"' && *byte != b'\'')
        .count();
    if len > 0 && is_end(&rest.as_bytes()[value + len..]) { value } else { 0 }
}

/// The cookies behind the name that ends at `hit.end`, where one of them is a secret; and where the header ends.
pub(crate) fn cookies(text: &str, hit: &Range<usize>) -> (Option<Range<usize>>, usize) {
    let bytes = text.as_bytes();
    let before = line_before(text, hit.start);
    let open = open_quote(before);
    let limit = bytes.len().min(hit.end + REACH);
    let ends = |at: &usize| line_end(&bytes[*at..]) > 0 || bytes[*at] == b'`' || open == Some(bytes[*at]);
    let end = (hit.end..limit).find(ends).unwrap_or(limit);
    let end = (hit.end..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(hit.end);
    let header = text[hit.end..end].trim_end_matches('\\');
    // A string of data whose beginning does not stand in this line.
    let header = header.find("\",").or_else(|| header.find("\"}")).map_or(header, |at| &header[..at]);
    let header = header.trim_end();
    let secret = header
        .split(';')
        .filter_map(|one| one.split_once('='))
        .any(|(name, value)| is_cookie(name.trim(), value.trim()));
    (secret.then(|| hit.end..hit.end + header.len()), end)
}

/// Whether this cookie was made by chance, or opens an account; attributes and examples do not.
fn is_cookie(name: &str, value: &str) -> bool {
    let bare = value.trim_matches(['"', '\\']);
    let lower = name.to_ascii_lowercase();
    let opens = OPENS.iter().any(|part| lower.contains(part));
    let code = bare.contains([' ', '(', '{', '<', '$']) || !is_literal(bare);
    let varied = bare.len() >= 8 && is_varied(bare) && !bare.contains([' ', '(', '{', '<']);
    varied || is_random_token(bare) || opens && !code && bare.len() >= 8 && bits(bare) >= 2.5
}
