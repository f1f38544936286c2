//! Text of others as it may be shown: nothing in it that steers a terminal or is not seen.

/// The text without terminal sequences and control characters. Characters that cannot be seen but change what is, or
/// say something to a model that no reader sees, are written out.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        // Nearly all of a text is plain, and copied as a whole.
        let plain = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        let mut chars = rest[plain..].chars();
        let Some(c) = chars.next() else { return out };
        rest = chars.as_str();
        match c {
            '\u{1b}' => rest = behind_sequence(rest),
            c if c.is_control() => {}
            c if is_hidden(c, out.chars().next_back(), chars.next()) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
}

/// Whether a byte is a character that is printed as it is.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// What follows a terminal sequence whose escape character was read. Only what can belong to one is taken: what is cut
/// off or made up must not swallow text.
fn behind_sequence(text: &str) -> &str {
    /// A title or an address in a sequence is not longer.
    const MAX_SEQUENCE_LEN: usize = 4096;
    if let Some(rest) = text.strip_prefix('[') {
        let rest = rest
            .trim_start_matches(|c: char| matches!(c, '0'..='?'))
            .trim_start_matches(|c: char| matches!(c, ' '..='/'));
        return rest.strip_prefix(|c: char| matches!(c, '@'..='~')).unwrap_or(rest);
    }
    if text.starts_with(']') {
        let ends = |(at, c): &(usize, char)| *at > MAX_SEQUENCE_LEN || matches!(c, '\u{7}' | '\u{1b}' | '\n');
        return match text.char_indices().find(ends) {
            Some((at, '\u{7}')) => &text[at + 1..],
            Some((at, '\u{1b}')) => text[at + 1..].strip_prefix('\\').unwrap_or(&text[at..]),
            _ => text,
        };
    }
    text
}

/// Whether a character is none that is seen: marks of direction, of no width, tags, fillers. Joiners belong to letters
/// and pictographs beyond ASCII.
fn is_hidden(c: char, before: Option<char>, after: Option<char>) -> bool {
    let joins = || [before, after].iter().all(|c| c.is_some_and(|c| !c.is_ascii()));
    match c {
        '\u{200c}' | '\u{200d}' => !joins(),
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}'
        | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}
