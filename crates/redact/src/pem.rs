//! Private key blocks, whole, cut off, written with `\n` inside a JSON string, or shown with something before each line.

use std::ops::Range;

/// What every block begins with.
pub(crate) const KEYWORD: &str = "-----BEGIN ";

const END: &str = "-----END ";
/// No key is longer; a block without an end stops here at the latest.
const LIMIT: usize = 64 * 1024;

/// The block that begins at `start`, if it holds a private key.
pub(crate) fn block(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[start..];
    let label = &rest[KEYWORD.len().min(rest.len())..rest.len().min(KEYWORD.len() + 48)];
    let close = find(label, b"-----")?;
    find(&label[..close], b"PRIVATE KEY")?;
    let head = KEYWORD.len() + close + 5;
    let within = &rest[head..rest.len().min(head + LIMIT)];
    let body = head + body_len(within);
    let foot = footer_len(&rest[body..]);
    if foot > 0 {
        return Some(start..start + body + foot);
    }
    let mut end = start + body.max(head + shown_len(within));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(start..end)
}

/// The block as tools show files: each line behind its number, the sign of a quotation or of a change, or in quotes of its
/// own. Up to its end where it has one, else up to the last line that is of a key for sure.
fn shown_len(bytes: &[u8]) -> usize {
    let (mut at, mut sure, mut lines) = (0, 0, 0);
    while at < bytes.len() {
        let len = line_len(&bytes[at..]);
        let line = &bytes[at..at + len];
        if let Some(end) = find(line, END.as_bytes()) {
            return at + end + footer_len(&line[end..]);
        }
        // Another block begins; its own look takes it.
        if find(line, b"-----").is_some() {
            break;
        }
        lines += 1;
        match line_of(line) {
            Line::Key => sure = at + line.trim_ascii_end().len(),
            // The rest of the first line, an empty one, a short last one.
            Line::Unsure if lines < 4 || sure > 0 => {}
            _ => break,
        }
        at += len;
    }
    sure
}

/// To the next line, whose break may be written out.
fn line_len(bytes: &[u8]) -> usize {
    let ends = |at: &usize| bytes[*at] == b'\n' || bytes[*at..].starts_with(b"\\n");
    let most = bytes.len().min(MAX_LINE_LEN);
    (0..most).find(ends).map_or(most, |at| at + 1 + usize::from(bytes[at] == b'\\'))
}

/// No line of a key is longer, whatever stands around it.
const MAX_LINE_LEN: usize = 512;

enum Line {
    Key,
    Unsure,
    Other,
}

/// What a line is without what a tool puts around it: numbers, signs, quotes.
fn line_of(line: &[u8]) -> Line {
    let header = [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"];
    if header.iter().any(|word| find(line, word).is_some()) {
        return Line::Key;
    }
    let omission = [&b"..."[..], "…".as_bytes(), b"omitted", b"truncated"];
    if omission.iter().any(|word| find(line, word).is_some()) {
        return Line::Unsure;
    }
    let mut words: Vec<&[u8]> = line
        .split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')))
        .filter(|word| !word.is_empty())
        .collect();
    words.sort_by_key(|word| word.len());
    let longest = words.pop().unwrap_or_default();
    let number = |word: &&[u8]| word.len() <= 6 && word.iter().all(u8::is_ascii_digit);
    let sign = |word: &&[u8]| {
        word.len() == 1
            || *word == b"//"
            || word.len() == 5 && (word.starts_with(b"u2") || word.starts_with(b"u0"))
    };
    if !words.iter().all(|word| number(word) || sign(word)) {
        return Line::Other;
    }
    match longest.len() {
        24.. => Line::Key,
        _ if longest.ends_with(b"=") && longest.len() > 4 => Line::Key,
        _ => Line::Unsure,
    }
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
            Some(b':')
                if rest[0].is_ascii_alphabetic()
                    && find(&header[..header.len().min(HEADER)], b": ").is_some() =>
            {
                let Some(end) = header.iter().position(|byte| *byte == b'\n') else { break };
                len += end + 1;
            }
            // The first word of what was said behind a block that was cut off.
            Some(b' ') if own < 16 => break,
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
pub(crate) const VAULT: &str = "$ANSIBLE_VAULT;";

/// The lines of digits of the vault that begins at `start`.
pub(crate) fn vault(text: &str, start: usize) -> Option<Range<usize>> {
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
