//! The text of a file in whatever Unicode encoding it has: a secret in UTF-16 is one, too.

use std::borrow::Cow;

/// How many bytes at the beginning of a file without a mark tell which encoding it has.
const SAMPLE: usize = 4096;

/// The order of the two bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    LittleEndian,
    BigEndian,
}

/// The bytes as text: UTF-16 by its byte order mark, or where most of every second byte is zero; else UTF-8. What is no text in it is
/// replaced.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let Some(order) = order_of(bytes) else { return String::from_utf8_lossy(bytes) };
    let units = bytes.chunks_exact(2).map(|pair| match order {
        Order::LittleEndian => u16::from_le_bytes([pair[0], pair[1]]),
        Order::BigEndian => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    text.filter(|c| *c != '\u{feff}').collect::<String>().into()
}

/// Whether it is text in UTF-16: nearly all of it are signs. Bytes by chance that begin like one are full of halves.
pub(super) fn is_utf_16(bytes: &[u8]) -> bool {
    if order_of(bytes).is_none() {
        return false;
    }
    let (mut faults, mut all) = (0_usize, 0_usize);
    for sign in decode(bytes).chars() {
        all += 1;
        faults += usize::from(sign == char::REPLACEMENT_CHARACTER || sign == '\0');
    }
    faults * 100 <= all
}

fn order_of(bytes: &[u8]) -> Option<Order> {
    match bytes {
        [0xff, 0xfe, ..] => return Some(Order::LittleEndian),
        [0xfe, 0xff, ..] => return Some(Order::BigEndian),
        _ => {}
    }
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    let pairs = sample.len() / 2;
    let zeros = |at: usize| sample.chunks_exact(2).filter(|pair| pair[at] == 0).count();
    // Letters of other scripts have no zero byte; those of keys and their names do.
    let (first, second) = (zeros(0), zeros(1));
    let is_most = |some: usize, other: usize| pairs > 0 && some * 2 > pairs && other * 8 < pairs;
    match () {
        () if is_most(second, first) => Some(Order::LittleEndian),
        () if is_most(first, second) => Some(Order::BigEndian),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_is_known_by_its_mark_and_by_its_zeros() {
        let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        for bytes in [little("key=1"), big("key=1"), little("\u{feff}key=1"), big("\u{feff}key=1")] {
            assert_eq!(decode(&bytes), "key=1", "{bytes:?}");
        }
        assert_eq!(
            decode(&little("\u{feff}\u{43a}\u{43b}")),
            "\u{43a}\u{43b}",
            "another script, by its mark"
        );
        for plain in [&b""[..], b"key=1", "\u{fc}".as_bytes(), b"\0\0\0\0"] {
            assert_eq!(decode(plain), String::from_utf8_lossy(plain), "{plain:?}");
        }
    }
}
