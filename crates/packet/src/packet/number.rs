//! Numbers that JSON allows and no machine type holds, such as `1e400`: the text keeps them, the view shows them as strings.

use std::borrow::Cow;

use serde_json::Value;

/// The text with each number that is beyond a double in quotes. What is no JSON stays as it is, for the reader to refuse.
pub(super) fn quote_oversized_numbers(text: &str) -> Cow<'_, str> {
    quote(text, |number| number.parse::<f64>().is_ok_and(f64::is_infinite), "")
}

/// The text with the numbers that are meant in quotes, after a mark.
fn quote<'a>(text: &'a str, is_meant: impl Fn(&str) -> bool, mark: &str) -> Cow<'a, str> {
    let mut shown = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at = string_end(text, at),
            b'-' | b'0'..=b'9' => {
                let end = number_end(text, at);
                if is_meant(&text[at..end]) {
                    shown.push_str(&text[copied..at]);
                    shown.push('"');
                    shown.push_str(mark);
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

/// Numbers that no machine type holds exactly, as strings with a mark while a packet is a tree of values.
pub(super) struct NumberGuard {
    mark: String,
}

impl NumberGuard {
    /// A guard whose mark no string of these values begins with.
    pub(super) fn of(values: &[&Value]) -> Self {
        let mut number = 0_u32;
        loop {
            let mark = format!("number-{number}:");
            if !values.iter().any(|value| has_mark(value, &mark)) {
                return Self { mark };
            }
            number += 1;
        }
    }

    /// The text with every number in quotes that would be written otherwise than it was read.
    pub(super) fn protect<'a>(&self, text: &'a str) -> Cow<'a, str> {
        quote(text, |number| !is_exact(number), &self.mark)
    }

    /// The text with those numbers as they were.
    pub(super) fn restore(&self, text: &str) -> String {
        let (mut out, mut copied, mut at) = (String::with_capacity(text.len()), 0, 0);
        while let Some(start) = text[at..].find('"').map(|offset| at + offset) {
            let end = string_end(text, start);
            let marked = text[start..end].trim_matches('"').strip_prefix(self.mark.as_str());
            if let Some(number) = marked {
                out.push_str(&text[copied..start]);
                out.push_str(number);
                copied = end;
            }
            at = end;
        }
        out.push_str(&text[copied..]);
        out
    }
}

/// Whether a number is written as it was read.
pub(super) fn is_exact(number: &str) -> bool {
    let written = serde_json::from_str::<Value>(number).map(|value| value.to_string());
    written.is_ok_and(|written| written == number)
}

fn has_mark(value: &Value, mark: &str) -> bool {
    match value {
        Value::String(text) => text.starts_with(mark),
        Value::Array(items) => items.iter().any(|item| has_mark(item, mark)),
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key.starts_with(mark) || has_mark(value, mark))
        }
        _ => false,
    }
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
            assert_eq!(quote_oversized_numbers(text), text);
        }
        assert_eq!(quote_oversized_numbers("[1e400, -1E+999,2]"), "[\"1e400\", \"-1E+999\",2]");
        assert_eq!(quote_oversized_numbers("{\"a\":1e400}"), "{\"a\":\"1e400\"}");
    }

    #[test]
    fn a_number_is_written_as_it_was_read() {
        let text = r#"{"a":[12345678901234567890123,0.12345678901234567891,1e400,-0,1.0,1.50,7],"number-0:5":"number-1:6 \" 9e999"}"#;
        let value: Value = serde_json::from_str(&quote_oversized_numbers(text)).expect("JSON");
        let guard = NumberGuard::of(&[&value]);
        let guarded: Value = serde_json::from_str(&guard.protect(text)).expect("JSON");
        assert_eq!(guard.restore(&guarded.to_string()), text);
        assert_eq!(guard.mark, "number-2:", "a mark that the text has is no mark");
    }
}
