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
    while len < bytes.len() {
        let rest = &bytes[len..];
        let own = rest.iter().take_while(|byte| in_body(**byte) && **byte != b'\n').count();
        let header = &rest[..rest.len().min(HEADER_LINE)];
        match rest.get(own) {
            Some(b'\n') if find(&rest[..own], b"-----").is_none() => len += own + 1,
            Some(byte) if !in_body(*byte) && find(&header[..header.len().min(HEADER)], b": ").is_some() => {
                let Some(end) = header.iter().position(|byte| *byte == b'\n') else { break };
                len += end + 1;
            }
            _ => {
                len += find(&rest[..own], b"-----").unwrap_or(own);
                break;
            }
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

/// A header line is no longer, and neither is the name in it.
const HEADER_LINE: usize = 256;
const HEADER: usize = 26;

/// What a file of Ansible's vault begins with.
pub const VAULT: &str = "$ANSIBLE_VAULT;";

/// The lines of digits of the vault that begins at `start`.
pub fn vault(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = &text.as_bytes()[start..text.len().min(start + LIMIT)];
    let head = bytes.iter().take(96).position(|byte| matches!(byte, b'\n' | b'\\'))?;
    let digit = |byte: &u8| {
        byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'n' | b'r')
    };
    let body = bytes[head..].iter().take_while(|byte| digit(byte)).count();
    let own =
        text[start + head..start + head + body].trim_end_matches(['\\', 'n', 'r', ' ', '\n', '\r', '\t']);
    (own.len() > 32).then(|| start..start + head + own.len())
}
