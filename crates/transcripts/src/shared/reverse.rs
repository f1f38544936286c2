//! Lines of a file from the last to the first, in bounded memory, and a set of lines to remember.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::shared::lines::{MAX_LINE, trim};

const BLOCK: usize = 256 * 1024;

/// Reads lines backwards.
#[derive(Debug)]
pub(crate) struct ReverseLines<'f> {
    file: &'f mut File,
    /// Where the buffer begins in the file.
    from: u64,
    buffer: Vec<u8>,
    /// Where in the buffer the current line ends.
    end: usize,
    /// Whether the part of the current line that follows was too long to keep.
    dropped: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Going,
    Done,
}

impl<'f> ReverseLines<'f> {
    /// Lines before `size`, whatever the file grows to meanwhile.
    pub(crate) fn new(file: &'f mut File, size: u64) -> Self {
        let state = if size == 0 { State::Done } else { State::Fresh };
        Self { file, from: size, buffer: Vec::new(), end: 0, dropped: false, state }
    }

    /// The line before the last one given out: its bytes, or `None` inside for one that was too long.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Option<&[u8]>>> {
        if self.state == State::Fresh {
            self.load()?;
            self.end -= usize::from(self.buffer.last() == Some(&b'\n'));
            self.state = State::Going;
        }
        if self.state == State::Done {
            return Ok(None);
        }
        loop {
            if let Some(at) = memchr::memrchr(b'\n', &self.buffer[..self.end]) {
                return Ok(Some(self.take(at + 1, at)));
            }
            if self.from == 0 {
                self.state = State::Done;
                return Ok(Some(self.take(0, 0)));
            }
            if self.end > MAX_LINE {
                (self.dropped, self.end) = (true, 0);
            }
            self.load()?;
        }
    }

    /// Offset at which the last line given out begins.
    pub(crate) fn position(&self) -> u64 {
        if self.state == State::Done { 0 } else { self.from + self.end as u64 + 1 }
    }

    fn take(&mut self, start: usize, next_end: usize) -> Option<&[u8]> {
        let end = std::mem::replace(&mut self.end, next_end);
        let dropped = std::mem::take(&mut self.dropped);
        let first = self.from == 0 && start == 0;
        (!dropped && end - start <= MAX_LINE).then(|| trim(&self.buffer[start..end], first))
    }

    /// Reads the part of the file before the buffer, as much again as is held.
    fn load(&mut self) -> io::Result<()> {
        let wanted = BLOCK.max(self.end).min(usize::try_from(self.from).unwrap_or(usize::MAX));
        self.buffer.resize(wanted + self.end, 0);
        self.buffer.copy_within(..self.end, wanted);
        self.from -= wanted as u64;
        self.file.seek(SeekFrom::Start(self.from))?;
        self.file.read_exact(&mut self.buffer[..wanted])?;
        self.end += wanted;
        Ok(())
    }
}

/// A set of small numbers, one bit each.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// Adds a number.
    pub(crate) fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    /// Whether the number is in the set.
    pub(crate) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// How many numbers are in the set.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::shared::lines::Lines;

    fn check(bytes: &[u8]) {
        let mut file = tempfile::tempfile().expect("file");
        file.write_all(bytes).expect("write");
        let mut reverse = ReverseLines::new(&mut file, bytes.len() as u64);
        let mut backwards = Vec::new();
        while let Some(line) = reverse.next_line().expect("read") {
            backwards.push(line.map(<[u8]>::to_vec));
        }
        backwards.reverse();
        let mut lines = Lines::new(bytes);
        let mut forwards = Vec::new();
        while let Some(line) = lines.next_line() {
            forwards.push(line.bytes.map(<[u8]>::to_vec));
        }
        assert!(forwards == backwards, "{} lines forwards, {} backwards", forwards.len(), backwards.len());
    }

    #[test]
    fn backwards_gives_the_same_lines_as_forwards() {
        for bytes in ["", "\n", "a", "a\n", "\n\na\n\n", "a\nb\nc", "\u{feff}a\r\nb\r\n"] {
            check(bytes.as_bytes());
        }
        let long: Vec<u8> = (0..200_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        check(&long);
    }

    #[test]
    fn oversized_lines_are_skipped_on_both_ways() {
        let mut bytes = b"a\n".to_vec();
        bytes.extend(vec![b'x'; MAX_LINE * 2 + 77]);
        bytes.extend(b"\nb\n");
        check(&bytes);
    }
}
