//! Lines of a file of any size, one at a time, in bounded memory.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use crate::event::SourcePosition;
use crate::report::{Complaints, kind};
use crate::shared::json::{Fault, Json};

/// A longer line is skipped and counted.
pub(crate) const MAX_LINE: usize = 8 * 1024 * 1024;
const FIRST_BUFFER: usize = 128 * 1024;

/// A line without its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Where it stands.
    pub position: SourcePosition,
    /// Its bytes; none if it was too long to keep.
    pub bytes: Option<&'a [u8]>,
    /// Whether a line end follows.
    pub ended: bool,
}

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    next: SourcePosition,
    eof: bool,
    failed: bool,
}

impl<R: Read> Lines<R> {
    /// Lines of a reader that stands at the beginning of a file.
    pub(crate) fn new(reader: R) -> Self {
        let next = SourcePosition { line: 1, offset: 0 };
        Self { reader, buffer: vec![0; FIRST_BUFFER], start: 0, end: 0, next, eof: false, failed: false }
    }

    /// The next line.
    pub(crate) fn next_line(&mut self) -> Option<Line<'_>> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                return Some(self.take(searched + at, true));
            }
            if self.eof {
                return (self.start < self.end).then(|| self.take(self.end, false));
            }
            let held = self.end - self.start;
            if held > MAX_LINE {
                return Some(self.skip_line());
            }
            self.fill();
            searched = self.start + held;
        }
    }

    /// Bytes read so far, up to the end of the last line given out.
    pub(crate) fn position(&self) -> u64 {
        self.next.offset
    }

    /// Whether reading stopped because of an error and not because the file ended.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    fn take(&mut self, end: usize, ended: bool) -> Line<'_> {
        let place = self.next;
        let from = self.start;
        self.start = if ended { end + 1 } else { end };
        self.next.line += 1;
        self.next.offset += (self.start - from) as u64;
        Line { position: place, bytes: Some(trim(&self.buffer[from..end], place.line == 1)), ended }
    }

    /// Drops the rest of a line that is too long.
    fn skip_line(&mut self) -> Line<'_> {
        let place = self.next;
        self.next.line += 1;
        let mut ended = false;
        while !ended && self.start < self.end {
            let found = memchr::memchr(b'\n', &self.buffer[self.start..self.end]);
            let used = found.map_or(self.end - self.start, |at| at + 1);
            ended = found.is_some();
            self.start += used;
            self.next.offset += used as u64;
            if !ended {
                self.fill();
            }
        }
        Line { position: place, bytes: None, ended }
    }

    /// Reads more, moving what is held to the front and growing where that is not enough.
    fn fill(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).min(MAX_LINE + FIRST_BUFFER), 0);
        }
        match self.reader.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.eof = true,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => (self.eof, self.failed) = (true, true),
        }
    }
}

/// A line without carriage return, surrounding blanks and, at the start of a file, byte order mark.
pub(crate) fn trim(bytes: &[u8], first: bool) -> &[u8] {
    let bytes = if first { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
    bytes.trim_ascii()
}

/// The top-level type of a line that begins with it, as all bulky lines do.
pub(crate) fn leading_type(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"{\"type\":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', rest)?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Whether a line may hold this field with this value, wherever it stands and however it is spaced; names and words are in
/// quotes.
pub(crate) fn may_hold(bytes: &[u8], name: &str, value: &str) -> bool {
    memchr::memmem::find_iter(bytes, name.as_bytes()).any(|at| {
        let rest = bytes[at + name.len()..].trim_ascii_start();
        rest.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_start().starts_with(value.as_bytes()))
    })
}

/// A line as text: what is no UTF-8 is replaced, NUL bytes are dropped, and both are counted. `None` for a line that
/// is empty or was skipped.
pub(crate) fn text<'a>(line: &Line<'a>, complaints: &mut Complaints) -> Option<Cow<'a, str>> {
    let Some(bytes) = line.bytes else {
        complaints.add(kind::OVERSIZED, line.position.line);
        return None;
    };
    // Checking whole lines is several times as fast as looking for what to replace, which few lines need.
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            complaints.add(kind::INVALID_UTF8, line.position.line);
            String::from_utf8_lossy(bytes)
        }
    };
    if memchr::memchr(0, text.as_bytes()).is_some() {
        complaints.add(kind::NUL_BYTES, line.position.line);
        text = Cow::Owned(text.replace('\0', "").trim().to_owned());
    }
    (!text.is_empty()).then_some(text)
}

/// The value on a line; a fault is counted.
pub(crate) fn value<'t>(text: &'t str, line: &Line<'_>, complaints: &mut Complaints) -> Option<Json<'t>> {
    Json::parse(text).map_err(|fault| fault_of(fault, line, complaints)).ok()
}

fn fault_of(fault: Fault, line: &Line<'_>, complaints: &mut Complaints) {
    let kind = match fault {
        Fault::Huge => kind::OVERSIZED,
        Fault::Cut if !line.ended => kind::TRUNCATED,
        _ => kind::BAD_LINE,
    };
    complaints.add(kind, line.position.line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8]) -> Vec<(u64, u64, Option<String>, bool)> {
        let mut lines = Lines::new(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line() {
            let text = line.bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            all.push((line.position.line, line.position.offset, text, line.ended));
        }
        all
    }

    #[test]
    fn lines_know_their_number_and_offset() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            check(b"\xef\xbb\xbfa\r\n\n{}\nrest"),
            [
                (1, 0, some("a"), true),
                (2, 6, some(""), true),
                (3, 7, some("{}"), true),
                (4, 10, some("rest"), false)
            ]
        );
        assert!(check(b"").is_empty());
    }

    #[test]
    fn a_field_is_found_however_it_is_spaced() {
        for line in ["{\"side\":true}", "{\"a\": 1, \"side\": true}", "{ \"side\" : true , \"type\": \"x\"}"]
        {
            assert!(may_hold(line.as_bytes(), "\"side\"", "true"), "{line}");
        }
        for line in ["{\"side\":false}", "{\"sides\":true}", "{\"side\"", "{\"a\":\"side\"}"] {
            assert!(!may_hold(line.as_bytes(), "\"side\"", "true"), "{line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_in_bounded_memory() {
        let mut bytes = b"a\n".to_vec();
        bytes.extend(vec![b'x'; MAX_LINE * 3]);
        bytes.extend(b"\nb\n");
        let mut lines = Lines::new(bytes.as_slice());
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line() {
            seen.push((line.position.line, line.bytes.map(<[u8]>::len)));
        }
        assert_eq!(seen, [(1, Some(1)), (2, None), (3, Some(1))]);
        assert!(lines.buffer.len() <= MAX_LINE + FIRST_BUFFER);
        assert_eq!(lines.position(), bytes.len() as u64);
    }

    #[test]
    fn an_oversized_last_line_without_an_end_is_skipped_too() {
        let bytes = vec![b'x'; MAX_LINE * 2];
        assert_eq!(check(&bytes), [(1, 0, None, false)]);
    }
}
