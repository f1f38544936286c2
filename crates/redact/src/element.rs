//! Elements of XML that are called as a secret is: `<password>…</password>`.

use std::ops::Range;

use crate::names::kind_of;
use crate::plain::is_literal;
use crate::state_words::is_known;

/// The text of an element `<password>…</password>` whose name ends at `name.end`.
pub(crate) fn value(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let word = text.get(name.clone())?;
    let open = text[..name.start].ends_with(['<', ':']);
    if !open || kind_of(word).is_none() && !word.to_ascii_lowercase().ends_with("token") {
        return None;
    }
    let rest = text[name.end..].strip_prefix('>')?;
    let start = name.end + 1;
    let len = rest.bytes().take(4096).position(|byte| byte == b'<')?;
    let close = rest[len..].strip_prefix("</")?;
    let value = rest[..len].trim();
    let own = close.split('>').next().is_some_and(|end| end.ends_with(word));
    let from = start + (value.as_ptr() as usize - rest.as_ptr() as usize);
    let number = value.bytes().all(|byte| byte.is_ascii_digit());
    let plain = value.len() >= 4 && is_literal(value) && !number && !value.contains(['(', '{', '$', '\n']);
    let sentence = value.split_whitespace().count() > 3;
    let known = is_known(value);
    (own && plain && !sentence && !known).then(|| from..from + value.len())
}
