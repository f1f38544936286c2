//! Messages as protocol buffers encode them, read without their schema. What is damaged ends a message.

use std::borrow::Cow;

/// A message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Message<'b>(&'b [u8]);

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    /// A number of fixed width, of which none is used here.
    Fixed,
}

impl<'b> Message<'b> {
    /// The message in these bytes.
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// Whether it can be read to its end.
    pub(super) fn is_whole(self) -> bool {
        let mut rest = self.0;
        while !rest.is_empty() {
            if field(&mut rest).is_none() {
                return false;
            }
        }
        true
    }

    /// The messages in all fields of this number.
    pub(super) fn all(self, number: u64) -> impl Iterator<Item = Message<'b>> {
        let mut rest = self.0;
        let fields = std::iter::from_fn(move || field(&mut rest));
        fields.filter_map(move |(found, value)| match value {
            Value::Bytes(bytes) if found == number => Some(Message(bytes)),
            _ => None,
        })
    }

    /// The message in a field; of several the last.
    pub(super) fn get(self, number: u64) -> Option<Message<'b>> {
        self.all(number).last()
    }

    /// The message in a field of a field, else an empty one.
    pub(super) fn at(self, path: &[u64]) -> Message<'b> {
        path.iter().fold(self, |message, number| message.get(*number).unwrap_or_default())
    }

    /// The text in a field.
    pub(super) fn text(self, number: u64) -> Cow<'b, str> {
        String::from_utf8_lossy(self.get(number).unwrap_or_default().0)
    }

    /// The first of these fields that holds a text which is not blank.
    pub(super) fn first(self, numbers: &[u64]) -> Cow<'b, str> {
        let texts = numbers.iter().map(|number| self.text(*number));
        texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
    }

    /// The number in a field; one that is 0 is not written.
    pub(super) fn number(self, number: u64) -> u64 {
        let mut rest = self.0;
        let mut last = 0;
        while let Some((found, value)) = field(&mut rest) {
            if let Value::Number(value) = value
                && found == number
            {
                last = value;
            }
        }
        last
    }

    /// Its bytes.
    pub(super) fn bytes(self) -> &'b [u8] {
        self.0
    }
}

/// Takes the next field.
fn field<'b>(rest: &mut &'b [u8]) -> Option<(u64, Value<'b>)> {
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Value::Number(varint(rest)?),
        1 => take(rest, 8).map(|_| Value::Fixed)?,
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Value::Bytes(take(rest, length)?)
        }
        5 => take(rest, 4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((key >> 3, value))
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let [byte, after @ ..] = *rest else { return None };
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_numbers_and_damage_ends_them() {
        // 1: 150, 2: "ab", 3: { 1: "x" }, a fixed number, 2: "cd".
        let bytes = b"\x08\x96\x01\x12\x02ab\x1a\x03\x0a\x01x\x21\x01\x02\x03\x04\x05\x06\x07\x08\x12\x02cd";
        let message = Message::new(bytes);
        assert_eq!((message.number(1), message.number(9)), (150, 0));
        assert_eq!(message.all(2).map(Message::bytes).collect::<Vec<_>>(), [b"ab", b"cd"]);
        assert_eq!((message.text(2), message.at(&[3]).text(1)), ("cd".into(), "x".into()));
        assert_eq!(message.first(&[7, 2]), "cd");
        assert!(message.is_whole());
        for end in 0..bytes.len() {
            let cut = Message::new(&bytes[..end]);
            assert!(cut.all(2).count() < 2 && cut.text(7).is_empty());
        }
        assert!(!Message::new(&bytes[..bytes.len() - 1]).is_whole());
        assert!(!Message::new(&[0xff; 32]).is_whole());
    }
}
