//! Numbers that JSON allows and no machine type holds, such as `1e400`: the text keeps them, the view shows them as strings.

use std::borrow::Cow;

/// The text with each number that is beyond a double in quotes. What is no JSON stays as it is, for the reader to refuse.
pub(super) fn readable(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at = string_end(text, at),
            b'-' | b'0'..=b'9' => {
                let end = number_end(text, at);
                if text[at..end].parse::<f64>().is_ok_and(f64::is_infinite) {
                    shown.push_str(&text[copied..at]);
                    shown.push('"');
                    shown.push_str(&text[at..end]);
                    shown.push('"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// The place after a string that begins here, or the end of the text.
fn string_end(text: &str, start: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(start + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The place after a number that begins here.
fn number_end(text: &str, start: usize) -> usize {
    let part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    text.bytes().enumerate().skip(start).find(|(_, byte)| !part(*byte)).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_beyond_a_double_is_quoted() {
        for text in
            ["", "{\"a\":1.5}", "1e308", "-0.1e-7", "\"1e400\"", "\"\\\"1e400", "12345678901234567890.1234"]
        {
            assert_eq!(readable(text), text);
        }
        assert_eq!(readable("[1e400, -1E+999,2]"), "[\"1e400\", \"-1E+999\",2]");
        assert_eq!(readable("{\"a\":1e400}"), "{\"a\":\"1e400\"}");
    }
}
