//! Going through what is read: lines, records of a database, documents.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::EventEmitter;
use crate::event::SourcePosition;
use crate::report::{Complaints, kind};
use crate::shared::chain::{self, Chain, Links};
use crate::shared::json::{Fault, Json};
use crate::shared::json_file;
use crate::shared::lines::{self, Lines};
use crate::sqlite::Cell;

/// What a record is given to.
pub(super) type RecordHandler<'w, 's> = &'w mut dyn FnMut(&mut EventEmitter<'s>, &Json<'_>);

impl<'s> EventEmitter<'s> {
    /// Works on every line of a file.
    pub(crate) fn each_line(&mut self, path: &Path, work: RecordHandler<'_, 's>) {
        let done = self.lines(path, &Chain::all(), &|_| false, work);
        self.check(done);
    }

    /// Works on the lines that belong to the conversation as it stands, and on all that are not linked: of another type, or without
    /// an id.
    pub(crate) fn each_linked(&mut self, path: &Path, links: Links, work: RecordHandler<'_, 's>) {
        let id = if links.by_id { "id" } else { "uuid" };
        let is_link = |json: &Json<'_>| {
            json.get(id).str().is_some() && (links.of)(json.get("type").str().unwrap_or_default())
        };
        let done = File::open(path)
            .and_then(|mut file| {
                let size = file.metadata()?.len();
                chain::trace(&mut file, size, links, &mut self.out.complaints)
            })
            .and_then(|chain| self.lines(path, &chain, &is_link, work));
        self.check(done);
    }

    fn lines(
        &mut self,
        path: &Path,
        chain: &Chain,
        is_link: &dyn Fn(&Json<'_>) -> bool,
        work: RecordHandler<'_, 's>,
    ) -> io::Result<()> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut lines = Lines::new(file.take(size));
        while let Some(line) = lines.next_line() {
            self.out.report.lines += 1;
            let Some(text) = lines::text(&line, &mut self.out.complaints) else { continue };
            let Some(json) = lines::value(&text, &line, &mut self.out.complaints) else { continue };
            if chain.contains(line.position.line) || !is_link(&json) {
                self.goto(line.position, &json);
                work(self, &json);
            }
        }
        self.out.report.bytes += lines.position();
        if lines.failed() { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    }

    /// Takes place and time of a record.
    pub(crate) fn goto(&mut self, place: SourcePosition, json: &Json<'_>) {
        let time = ["timestamp", "time", "created_at"].iter().find_map(|key| json.get(key).time());
        (self.position, self.at_ms) = (place, time);
    }

    /// Counts what was read where a format has no lines.
    pub(crate) fn count(&mut self, lines: u64, bytes: u64) {
        self.out.report.lines += lines;
        self.out.report.bytes += bytes;
    }

    /// Takes complaints over.
    pub(crate) fn merge(&mut self, complaints: Complaints) {
        self.out.complaints.merge(complaints);
    }

    /// Complains if reading failed.
    pub(crate) fn check(&mut self, done: io::Result<()>) {
        if done.is_err() {
            self.out.complaints.add(kind::UNREADABLE, 0);
        }
    }

    /// Complains about the record that is read.
    pub(crate) fn complain(&mut self, kind: &str) {
        self.out.complaints.add(kind, self.position.line);
    }

    /// Complains that the record that is read, or a part of it, is of a type of this name, which is not known.
    pub(crate) fn unknown_type(&mut self, name: &str) {
        self.out.complaints.add_unknown_type(name, self.position.line);
    }

    /// Counts a part of a known record whose name is not known.
    pub(crate) fn unknown_part(&mut self, record: &str, name: &str) {
        self.out.complaints.add_unknown_part(record, name);
    }

    /// Goes to the next record, of so many bytes.
    pub(crate) fn record(&mut self, bytes: usize, at_ms: Option<i64>) {
        self.flush();
        self.count(1, bytes as u64);
        self.position.line += 1;
        self.at_ms = at_ms;
    }

    /// Goes to the next record as a database holds it; gives its value, or counts what is wrong with it.
    pub(crate) fn stored<'t>(&mut self, cell: &'t Cell, at_ms: Option<i64>) -> Option<Json<'t>> {
        self.record(cell.len(), at_ms);
        self.value(cell)
    }

    /// The value of a cell; a fault is counted.
    pub(crate) fn value<'t>(&mut self, cell: &'t Cell) -> Option<Json<'t>> {
        match cell {
            Cell::Text(text) => return self.json(text),
            Cell::Oversized => self.complain(kind::OVERSIZED),
            Cell::Null => self.complain(kind::BAD_RECORD),
        }
        None
    }

    /// Goes to a line of this number, of so many bytes.
    pub(crate) fn line(&mut self, number: u64, bytes: usize) {
        self.flush();
        self.position.line = number;
        self.count(u64::from(bytes > 0), bytes as u64);
    }

    /// The value of a record; a fault is counted.
    pub(crate) fn json<'t>(&mut self, text: &'t str) -> Option<Json<'t>> {
        let fault = match Json::parse(text) {
            Ok(json) => return Some(json),
            Err(fault) => fault,
        };
        self.complain(if fault == Fault::Huge { kind::OVERSIZED } else { kind::BAD_RECORD });
        None
    }

    /// The text of a file that is one document, which can be parsed: what is damaged is left out and counted.
    pub(crate) fn document(&mut self, path: &Path) -> String {
        let (text, fault) = match json_file::text(path) {
            Ok(text) => {
                self.count(0, text.len() as u64);
                json_file::mended(text)
            }
            Err(fault) => (String::new(), Some(fault)),
        };
        fault.into_iter().for_each(|fault| self.complain(fault));
        text
    }
}
