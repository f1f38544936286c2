//! Values of YAML that stand in lines of their own: `password: |`.

use std::ops::Range;

use crate::extent::line_end;

/// No more of a block is taken.
const REACH: usize = 16 * 1024;

/// The lines of the block whose name begins at `name_start`, if at `at` the sign of one stands at the end of its line.
pub(crate) fn value(text: &str, name_start: usize, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // `>` right behind the colon passes for a sign of assignment.
    let behind = at > 0 && bytes.get(at - 1) == Some(&b'>');
    let sign = at + usize::from(!behind && matches!(bytes.get(at), Some(b'|' | b'>')));
    let own = matches!(bytes.get(sign.checked_sub(1)?), Some(b'|' | b'>'));
    let rest = bytes.get(sign..).filter(|_| own)?;
    let head =
        rest.iter().take(8).take_while(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ')).count();
    let first = line_end(&rest[head..]);
    let start = sign + head + first;
    if first == 0 {
        return None;
    }
    // A key with dots begins before its last part.
    let parents = bytes[..name_start].iter().rev().take(128).take_while(|byte| is_of_key(**byte)).count();
    let dotted = bytes[..name_start].ends_with(b".");
    let indent = indent_of_line(bytes, if dotted { name_start - parents } else { name_start })?;
    let limit = bytes.len().min(start + REACH);
    let (mut end, mut at) = (start, start);
    while at < limit {
        let deep = bytes[at..limit].iter().take_while(|byte| **byte == b' ').count();
        let len = (at..limit).find(|at| line_end(&bytes[*at..]) > 0 || bytes[*at] == b'"' && first != 1);
        let close = len.unwrap_or(limit);
        let empty = bytes[at..close].trim_ascii().is_empty();
        if !empty && deep <= indent {
            break;
        }
        end = close;
        // In a string of JSON the block ends with the string.
        at = close + line_end(&bytes[close..]).max(1);
        if bytes.get(close) == Some(&b'"') && first != 1 {
            break;
        }
    }
    let end = (start..=end).rev().find(|at| text.is_char_boundary(*at))?;
    let block = text.get(start..end)?.trim();
    let from = block.as_ptr() as usize - text.as_ptr() as usize;
    (!block.is_empty()).then(|| from..from + block.len())
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// The indentation of the line whose first word begins here; none where something else stands before it.
pub(crate) fn indent_of_line(bytes: &[u8], word: usize) -> Option<usize> {
    let before = &bytes[word.saturating_sub(256)..word];
    let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'-' | b'"' | b'\'')).count();
    let edge = before.len() - blank;
    // A string of data begins with it.
    let run = &before[edge..];
    let string = edge > 0 && matches!(before[edge - 1], b':' | b'[' | b',' | b'=' | b'(');
    if let Some(quote) = run.iter().rposition(|byte| matches!(byte, b'"' | b'\'')).filter(|_| string) {
        return Some(run.len() - quote - 1);
    }
    (edge == 0 || before[edge - 1] == b'\n' || before[..edge].ends_with(b"\\n")).then_some(blank)
}
