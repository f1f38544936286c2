//! Where the parts of one large JSON document stand, found without building it. A document that was cut off gives the
//! parts that are whole.

use std::ops::Range;

/// Where the value of a field of the object stands that begins at `from`.
pub(crate) fn field(bytes: &[u8], from: usize, key: &str) -> Option<usize> {
    let mut at = skip_blank(bytes, expect(bytes, from, b'{')?);
    while bytes.get(at) == Some(&b'"') {
        let end = string_end(bytes, at)?;
        let value = skip_blank(bytes, expect(bytes, end, b':')?);
        if bytes.get(at + 1..end - 1) == Some(key.as_bytes()) {
            return Some(value);
        }
        at = skip_blank(bytes, value_end(bytes, value)?);
        at = skip_blank(bytes, expect(bytes, at, b',')?);
    }
    None
}

/// Where the whole elements of the array stand that begins at `from`.
pub(crate) fn elements(bytes: &[u8], from: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let Some(mut at) = expect(bytes, from, b'[') else { return all };
    loop {
        let start = skip_blank(bytes, at);
        let Some(end) = value_end(bytes, start).filter(|end| *end > start) else { return all };
        all.push(start..end);
        match expect(bytes, end, b',') {
            Some(next) => at = next,
            None => return all,
        }
    }
}

/// Where the value ends that begins here; `None` if it does not end.
pub(crate) fn value_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = skip_blank(bytes, from);
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => (depth, at) = (depth - 1, at + 1),
            b',' if depth == 0 => return Some(at),
            _ if depth == 0 => at = scalar_end(bytes, at),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn scalar_end(bytes: &[u8], from: usize) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}\"[{".contains(byte);
    bytes[from..].iter().position(ends).map_or(bytes.len(), |at| from + at.max(1))
}

fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn skip_blank(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

/// What follows this byte, if it comes next.
fn expect(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let at = skip_blank(bytes, from);
    (bytes.get(at) == Some(&wanted)).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[&str]) {
        let bytes = text.as_bytes();
        let found = field(bytes, 0, "m").map_or(Vec::new(), |at| elements(bytes, at));
        let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn elements_are_found_whatever_stands_around_and_in_them() {
        check(
            r#" {"a":{"m":[9]},"b":"m]","m" : [ {"x":"]\"}"} , [1,{}], 2,"s" ],"c":1}"#,
            &[r#"{"x":"]\"}"}"#, "[1,{}]", "2", r#""s""#],
        );
        check(r#"{"m":[]}"#, &[]);
        check(r#"{"m":5}"#, &[]);
        check(r#"{"n":[1]}"#, &[]);
        check("", &[]);
    }

    #[test]
    fn a_document_that_was_cut_gives_its_whole_elements() {
        check(r#"{"m":[{"a":1},{"b":"#, &[r#"{"a":1}"#]);
        check(r#"{"m":[{"a":"x"#, &[]);
        check(r#"{"m":[{},]"#, &["{}"]);
    }
}
