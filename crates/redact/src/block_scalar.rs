//! Values of YAML that stand in lines of their own: `password: |`.

use std::ops::Range;

/// No more of a block is taken.
const REACH: usize = 16 * 1024;

/// The lines of the block whose name begins at `name_start`, if at `at` the sign of one stands at the end of its line.
pub fn value(text: &str, name_start: usize, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // `>` right behind the colon passes for a sign of assignment.
    let behind = at > 0 && bytes.get(at - 1) == Some(&b'>');
    let sign = at + usize::from(!behind && matches!(bytes.get(at), Some(b'|' | b'>')));
    let own = matches!(bytes.get(sign.checked_sub(1)?), Some(b'|' | b'>'));
    let rest = bytes.get(sign..).filter(|_| own)?;
    let head = rest
        .iter()
        .take(8)
        .take_while(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ' | b'\r'))
        .count();
    let start = sign + head + usize::from(rest.get(head) == Some(&b'\n'));
    if start == sign + head {
        return None;
    }
    let indent = indent_of_line(bytes, name_start)?;
    let mut end = start;
    let limit = bytes.len().min(start + REACH);
    for line in bytes[start..limit].split_inclusive(|byte| *byte == b'\n') {
        let deep = line.iter().take_while(|byte| **byte == b' ').count();
        let empty = line.trim_ascii().is_empty();
        if !empty && deep <= indent {
            break;
        }
        end += line.len();
    }
    let end = (start..=end).rev().find(|at| text.is_char_boundary(*at))?;
    let block = text[start..end].trim();
    let from = block.as_ptr() as usize - text.as_ptr() as usize;
    (!block.is_empty()).then(|| from..from + block.len())
}

/// The indentation of the line whose first word begins here; none where something else stands before it.
fn indent_of_line(bytes: &[u8], word: usize) -> Option<usize> {
    let before = &bytes[word.saturating_sub(256)..word];
    let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'-' | b'"' | b'\'')).count();
    let edge = before.len() - blank;
    (edge == 0 || before[edge - 1] == b'\n').then_some(blank)
}
