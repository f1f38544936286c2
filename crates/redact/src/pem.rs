//! Private key blocks, whole, cut off, or written with `\n` inside a JSON string.

use std::ops::Range;

/// What every block begins with.
pub const KEYWORD: &str = "-----BEGIN ";

const END: &str = "-----END ";
/// No key is longer; a block without an end stops here at the latest.
const LIMIT: usize = 64 * 1024;

/// The block that begins at `start`, if it holds a private key.
pub fn block(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[start..];
    let label = &rest[KEYWORD.len().min(rest.len())..rest.len().min(KEYWORD.len() + 48)];
    let close = find(label, b"-----")?;
    find(&label[..close], b"PRIVATE KEY")?;
    let head = KEYWORD.len() + close + 5;
    let body = head + body_len(&rest[head..rest.len().min(head + LIMIT)]);
    Some(start..start + body + footer_len(&rest[body..]))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Base64, line ends (real or escaped) and header lines such as `Proc-Type: 4,ENCRYPTED`. Prose after a key that was
/// cut off is left alone: a line with a space that is no header ends the block.
fn body_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let own = line.iter().take_while(|byte| in_body(**byte)).count();
        let header = own < line.len() && find(line, b": ").is_some_and(|at| at < 24);
        if header {
            len += line.len();
            continue;
        }
        let cut = find(&line[..own], b"-----").unwrap_or(own);
        len += cut;
        if cut < line.len() {
            break;
        }
    }
    len
}

fn in_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'\n' | b'\r' | b'-' | b'\t')
}

/// The `-----END …-----` line, if the block has one.
fn footer_len(bytes: &[u8]) -> usize {
    if !bytes.starts_with(END.as_bytes()) {
        return 0;
    }
    let label = &bytes[END.len()..bytes.len().min(END.len() + 48)];
    find(label, b"-----").map_or(END.len(), |at| END.len() + at + 5)
}
