//! Lines of a file that are carried over as they stand, byte for byte: no text, or longer than the memory should hold.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

/// Which lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineSelection {
    /// Those with these numbers, from 1.
    Numbers(BTreeSet<usize>),
    /// As many at the end.
    Last(usize),
}

impl LineSelection {
    /// Whether it is none.
    pub(crate) fn is_none(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.is_empty(),
            Self::Last(count) => *count == 0,
        }
    }
}

/// Lines and where they stand: first byte and length, without the end of the line.
pub(crate) struct RawLines {
    file: File,
    places: VecDeque<(u64, u64)>,
}

impl RawLines {
    /// Finds lines of a file.
    pub(crate) fn find(file: File, which: &LineSelection) -> io::Result<Self> {
        let mut places = VecDeque::new();
        if which.is_none() {
            return Ok(Self { file, places });
        }
        let mut reader = BufReader::new(&file);
        let (mut number, mut at) = (0, 0);
        loop {
            let (length, is_ended) = line(&mut reader)?;
            if length == 0 && !is_ended {
                break;
            }
            number += 1;
            match which {
                LineSelection::Numbers(numbers) if numbers.contains(&number) => {
                    places.push_back((at, length))
                }
                LineSelection::Numbers(_) => {}
                LineSelection::Last(count) => {
                    places.push_back((at, length));
                    if places.len() > *count {
                        places.pop_front();
                    }
                }
            }
            at += length + u64::from(is_ended);
        }
        Ok(Self { file, places })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Writes them, each with its end, and says how many bytes that were.
    pub(crate) fn copy(mut self, out: &mut dyn Write) -> io::Result<u64> {
        let mut written = 0;
        for (at, length) in self.places {
            self.file.seek(SeekFrom::Start(at))?;
            let copied = io::copy(&mut (&mut self.file).take(length), out)?;
            out.write_all(b"\n")?;
            written += copied + 1;
        }
        Ok(written)
    }
}

/// The length of the next line, and whether a line end follows it.
fn line(reader: &mut impl BufRead) -> io::Result<(u64, bool)> {
    let mut length = 0;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok((length, false));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let read = end.unwrap_or(bytes.len());
        length += u64::try_from(read).unwrap_or(u64::MAX);
        reader.consume(read + usize::from(end.is_some()));
        if end.is_some() {
            return Ok((length, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_carried_over_byte_for_byte() {
        let found = |text: &[u8], which: LineSelection| {
            let mut file = tempfile::tempfile().expect("file");
            file.write_all(text).expect("written");
            file.rewind().expect("begin");
            let mut out = Vec::new();
            let lines = RawLines::find(file, &which).expect("found");
            let count = lines.len();
            let written = lines.copy(&mut out).expect("copied");
            assert_eq!(written, u64::try_from(out.len()).expect("small"));
            (count, out)
        };
        let text = b"a\n\xff\r\n\nlast";
        assert_eq!(found(text, LineSelection::Numbers([2, 4, 9].into())), (2, b"\xff\r\nlast\n".to_vec()));
        assert_eq!(found(text, LineSelection::Last(2)), (2, b"\nlast\n".to_vec()));
        assert_eq!(found(text, LineSelection::Last(9)).0, 4);
        assert_eq!(found(text, LineSelection::Last(0)), (0, Vec::new()));
        assert_eq!(found(b"", LineSelection::Last(3)).0, 0);
    }
}
