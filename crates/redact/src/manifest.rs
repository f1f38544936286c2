//! Secrets of Kubernetes: under `data` and `stringData` every value is one, whatever its key is called.

use std::ops::Range;

/// What names such an object in YAML and in JSON. In a manifest the kind may stand behind the data.
pub(crate) const KEYWORDS: &[&str] = &[
    "kind: Secret",
    "kind\": \"Secret\"",
    "kind\":\"Secret\"",
    "kind\\\": \\\"Secret\\\"",
    "kind\\\":\\\"Secret\\\"",
];

/// How far before its kind and behind it the data of an object is looked for.
const BEFORE: usize = 16 * 1024;
const BEHIND: usize = 64 * 1024;
const FIELDS: &[&str] = &["data", "stringData"];

/// The values of the object around this keyword. What stands before `from` was looked at for an earlier one; returns
/// how far this look went.
pub(crate) fn values(text: &str, hit: Range<usize>, from: usize, found: &mut Vec<Range<usize>>) -> usize {
    if text.as_bytes().get(hit.end).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return from;
    }
    let start = border(text, from.max(floor(text, hit.start.saturating_sub(BEFORE))), hit.start);
    let end = floor(text, (hit.end + BEHIND).min(text.len()));
    let end = text[hit.end..end].find("\n---").map_or(end, |at| hit.end + at);
    if text[hit.clone()].contains('"') {
        json(text, start..end, found);
    } else {
        yaml(text, start..end, found);
    }
    end
}

/// Where the document begins that the kind stands in.
fn border(text: &str, from: usize, to: usize) -> usize {
    let from = floor(text, from.min(to));
    text[from..to].rfind("\n---").map_or(from, |at| from + at + 4)
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Lines of a range with their place. In a string of JSON a line ends with `\n` written out.
fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = range;
    std::iter::from_fn(move || {
        let part = text.get(rest.clone()).filter(|part| !part.is_empty())?;
        let bytes = part.as_bytes();
        let ends = |at: usize| bytes[at] == b'\n' || bytes[at..].starts_with(b"\\n");
        let len = (0..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len());
        let sign = bytes.get(len).map_or(0, |byte| 1 + usize::from(*byte == b'\\'));
        let line = (rest.start, &part[..len]);
        rest.start += len + sign;
        Some(line)
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

fn yaml(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    // The indentation of the field whose values these are.
    let mut field: Option<usize> = None;
    for (at, line) in lines(text, range) {
        if line.trim().is_empty() {
            continue;
        }
        let deep = indent(line);
        let name = line.trim().trim_start_matches("- ").trim_end_matches(':');
        if field.is_none_or(|field| deep <= field) {
            field = (FIELDS.contains(&name) && line.trim_end().ends_with(':')).then_some(deep);
            continue;
        }
        let value = match line[deep..].split_once(": ") {
            Some((key, value)) if is_key(key) => value,
            _ if line.trim_end().ends_with(':') => continue,
            // A line of a block: its key stands above.
            _ => &line[deep..],
        };
        let value = value.trim();
        if !matches!(value.bytes().next(), None | Some(b'|' | b'>' | b'#' | b'{')) {
            let bare = value.trim_matches(['"', '\'']);
            let start = at + (bare.as_ptr() as usize - line.as_ptr() as usize);
            push(text, start..start + bare.len(), found);
        }
    }
}

fn is_key(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'"' | b'\''))
}

fn json(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    for field in FIELDS {
        let mut from = range.start;
        while let Some(at) = text[from..range.end].find(field).map(|at| from + at).filter(|at| *at > 0) {
            from = at + field.len();
            if text.as_bytes()[at - 1] != b'"' {
                continue;
            }
            let rest = text[from..range.end].trim_start_matches(['\\', '"']);
            let rest = rest.trim_start().strip_prefix(':').map(str::trim_start);
            let Some(object) = rest.and_then(|rest| rest.strip_prefix('{')) else { continue };
            let start = object.as_ptr() as usize - text.as_ptr() as usize;
            let end = object.find('}').map_or(range.end, |at| start + at);
            pairs(text, start..end, found);
            from = end;
        }
    }
}

/// Values of `"key": "value"` in an object without objects.
fn pairs(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut strings = Vec::new();
    let mut open: Option<usize> = None;
    for (at, _) in text[range.clone()].match_indices('"') {
        let at = range.start + at;
        match open.take() {
            None => open = Some(at + 1),
            Some(start) => strings.push(start..at),
        }
    }
    for value in strings.into_iter().skip(1).step_by(2) {
        let bare = text[value.clone()].trim_end_matches('\\');
        push(text, value.start..value.start + bare.len(), found);
    }
}

fn push(text: &str, span: Range<usize>, found: &mut Vec<Range<usize>>) {
    let value = &text[span.clone()];
    if !value.is_empty() && !value.starts_with(['$', '<', '{']) && !value.starts_with(crate::MARK) {
        found.push(span);
    }
}
