//! Files that are one JSON document. What is cut off or damaged is used up to the damage.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::report::kind;
use crate::shared::json::{Fault, Json};

/// A longer document is not read.
pub(crate) const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;

/// The text of a document. Bytes that are no text are replaced, NUL bytes dropped.
pub(crate) fn text(path: &Path) -> Result<String, &'static str> {
    let file = File::open(path).map_err(|_| kind::UNREADABLE)?;
    let size = file.metadata().map_err(|_| kind::UNREADABLE)?.len();
    if size > MAX_DOCUMENT {
        return Err(kind::TOO_LARGE);
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT).read_to_end(&mut bytes).map_err(|_| kind::UNREADABLE)?;
    if bytes.contains(&0) {
        bytes.retain(|byte| *byte != 0);
    }
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    Ok(String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()))
}

/// A text that can be parsed as a whole: where it was cut off or damaged, what stands before, and what is wrong.
pub(crate) fn mended(text: String) -> (String, Option<&'static str>) {
    match Json::parse(&text) {
        Ok(_) => (text, None),
        Err(Fault::Huge) => (String::new(), Some(kind::TOO_LARGE)),
        Err(Fault::Cut) => (close(&text), Some(kind::CUT)),
        Err(Fault::Bad) => {
            let end = serde_json::from_str::<serde::de::IgnoredAny>(&text)
                .err()
                .map_or(0, |error| offset(&text, error.line(), error.column()));
            (close(&text[..end]), Some(kind::DAMAGED))
        }
    }
}

/// The byte at which a line and column stand.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start = match line {
        0 | 1 => 0,
        _ => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    let at = (start + column.saturating_sub(1)).min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The text up to its last whole value, with everything closed that is open there.
fn close(text: &str) -> String {
    let (mut open, mut whole) = (Vec::new(), (0, 0));
    let (mut in_string, mut escaped) = (false, false);
    // How many are open up to the last whole value, and what is kept of them.
    let mut stack: Vec<u8> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    break;
                }
                whole = (at + 1, open.len());
                stack.clone_from(&open);
            }
            b',' => {
                whole = (at, open.len());
                stack.clone_from(&open);
            }
            _ => {}
        }
    }
    stack.truncate(whole.1);
    let closers = stack.iter().rev().map(|byte| char::from(*byte));
    text[..whole.0].chars().chain(closers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_was_cut_anywhere_keeps_what_was_whole() {
        let text = r#"{"id":"a","list":[{"t":"one, \"two\"]"},{"t":"ä","u":[1,2]}],"end":true}"#;
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (mended, fault) = mended(text[..at].to_owned());
            assert!(fault.is_some());
            assert!(mended.is_empty() || Json::parse(&mended).is_ok(), "{at}: {mended}");
        }
        let (mended, _) = mended(text[..text.find(",\"u\"").expect("there")].to_owned());
        assert_eq!(mended, r#"{"id":"a","list":[{"t":"one, \"two\"]"}]}"#);
    }

    #[test]
    fn what_stands_before_damage_is_used() {
        let (mended, fault) = mended("[{\"a\":1},\n{\"b\":#},{\"c\":2}]".to_owned());
        assert_eq!((mended.as_str(), fault), ("[{\"a\":1}]", Some(kind::DAMAGED)));
    }
}
