//! Base64 of readable text: what is a secret in plain text is one in this dress too.

/// Text shorter than this holds no secret that any rule knows.
pub(crate) const MIN: usize = 20;
/// No more of one run is decoded.
const MAX: usize = 64 * 1024;
/// So much of the beginning tells encoded text from a path or a name.
const HEAD: usize = 16;

/// The text that this run encodes, if it is a run of base64 and text.
pub(crate) fn text(run: &str) -> Option<String> {
    let bytes = run.as_bytes();
    let bytes = &bytes[..bytes.len().min(MAX)];
    let likely =
        bytes.len() >= MIN && bytes.len() % 4 != 1 && bytes[..MIN].iter().any(u8::is_ascii_uppercase);
    if !likely || !bytes[..HEAD].chunks(4).all(is_readable_group) {
        return None;
    }
    decode(bytes).filter(|all| all.bytes().filter(|byte| is_readable(*byte)).count() * 10 >= all.len() * 9)
}

/// Whether four characters stand for three bytes of text. Most runs are names and paths, and fail here.
fn is_readable_group(group: &[u8]) -> bool {
    let bits = group.iter().try_fold(0, |bits, byte| Some(bits << 6 | sextet(*byte)?));
    bits.is_some_and(|bits| [16, 8, 0].iter().all(|shift| is_readable((bits >> shift & 0xff) as u8)))
}

/// Whether this encodes a name and a password: `user:password`.
pub(crate) fn user_and_password(run: &str) -> bool {
    let Some(text) = decode(run.trim_end_matches('=').as_bytes()) else { return false };
    text.split_once(':').is_some_and(|(_, password)| !password.is_empty())
        && text.chars().all(|c| !c.is_control())
}

fn is_readable(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\t') || byte >= b' ' && byte != 0x7f
}

/// What base64, of either alphabet and without padding, stands for, where it is UTF-8.
pub(crate) fn decode(bytes: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3 + 2);
    let (mut held, mut bits) = (0_u32, 0);
    for byte in bytes {
        held = (held << 6 | sextet(*byte)?) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits & 0xff) as u8);
        }
    }
    match String::from_utf8(out) {
        Ok(text) => Some(text),
        // A cut may fall into a character.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            String::from_utf8(error.into_bytes()[..end].to_vec()).ok()
        }
        Err(_) => None,
    }
}

/// The six bits that a character of base64 stands for.
pub(crate) fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
