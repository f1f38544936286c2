//! Headers of transcripts: of files of lines from their beginning and end, of documents by reading them.

use std::fs::File;
use std::io::{self, Seek};

use crate::event::{Event, EventKind};
use crate::header::{Header, TranscriptFile};
use crate::report::{Complaint, Report, kind};
use crate::shared::chunk;
use crate::shared::json::Json;
use crate::shared::words::unclean_line;

const HEAD: usize = 32 * 1024;
const WIDEST: usize = 4 * 1024 * 1024;
const TAIL: usize = 32 * 1024;
/// So many lines of the end are looked at.
const LAST: usize = 40;
const TITLE: usize = 120;
const PROMPT: usize = 300;

/// Takes what a line says into the fields of a header that are still empty; its time into `created_at_ms`.
pub(crate) type HeaderScan = fn(&Json<'_>, &mut Header);

/// The header of a file of lines: the first say how it began, the last how it stands.
pub(crate) fn of_lines(found: &TranscriptFile, look: HeaderScan) -> Header {
    let mut header = found.header();
    header.empty = true;
    match fill(&mut header, found, look) {
        Err(_) => complain(&mut header, kind::UNREADABLE),
        Ok(()) if header.empty => complain(&mut header, kind::EMPTY),
        Ok(()) => {}
    }
    if header.id.is_empty() {
        header.id = stem(found);
    }
    header
}

/// The name of the file without its ending, by which a session goes that does not name itself.
pub(crate) fn stem(found: &TranscriptFile) -> String {
    found.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
}

/// Adds a complaint, which concerns the file as a whole.
pub(crate) fn complain(header: &mut Header, kind: &str) {
    header.complaints.push(Complaint { kind: kind.to_owned(), count: 1, first_line: 0 });
}

fn fill(header: &mut Header, found: &TranscriptFile, look: HeaderScan) -> io::Result<()> {
    let mut file = File::open(&found.path)?;
    let mut limit = HEAD;
    let head = loop {
        file.rewind()?;
        let head = chunk::head(&file, limit)?;
        first(header, &head, look);
        if header.first_prompt.is_some() || limit as u64 >= found.stamp.size || limit >= WIDEST {
            break head;
        }
        limit = (limit * 8).min(WIDEST);
    };
    let has_end = |tail: &[u8]| end_of(&[tail], look).created_at_ms.is_some();
    let tail = chunk::last_lines(&mut file, found.stamp.size, head.len() as u64, (TAIL, WIDEST), has_end)?;
    last(header, &[&tail, &head], look);
    header.title =
        header.title.take().or_else(|| header.first_prompt.clone()).map(|text| unclean_line(&text, TITLE));
    Ok(())
}

fn first(header: &mut Header, head: &[u8], look: HeaderScan) {
    for line in chunk::lines(head) {
        take(line, header, look);
        if header.first_prompt.is_some() {
            return;
        }
    }
}

/// What the last lines say outranks what the first ones said.
fn last(header: &mut Header, chunks: &[&[u8]], look: HeaderScan) {
    let end = end_of(chunks, look);
    header.empty &= end.empty;
    header.updated_at_ms = end.created_at_ms.or(header.updated_at_ms);
    header.model = end.model.or(header.model.take());
    header.branch = end.branch.or(header.branch.take());
    header.title = end.title.or(header.title.take());
    header.cwd = header.cwd.take().or(end.cwd);
}

/// What the last lines of these chunks say.
fn end_of(chunks: &[&[u8]], look: HeaderScan) -> Header {
    let mut end = Header { empty: true, ..Header::default() };
    for line in chunks.iter().flat_map(|chunk| chunk::lines(chunk).rev()).take(LAST) {
        take(line, &mut end, look);
    }
    end
}

fn take(line: &[u8], header: &mut Header, look: HeaderScan) {
    let text = String::from_utf8_lossy(line);
    if let Ok(json) = Json::parse(&text) {
        look(&json, header);
    }
}

/// Puts a text where there is none yet.
pub(crate) fn keep(slot: &mut Option<String>, text: Option<&str>) {
    *slot = slot.take().or_else(|| text.map(str::to_owned));
}

/// Takes the time of a line.
pub(crate) fn time(header: &mut Header, time: &Json<'_>) {
    header.created_at_ms = header.created_at_ms.or_else(|| time.time());
}

/// Takes what the user said; what is empty was not said.
pub(crate) fn prompt(header: &mut Header, text: &str) {
    if !text.trim().is_empty() {
        header.empty = false;
        header.first_prompt = header.first_prompt.take().or_else(|| Some(unclean_line(text, PROMPT)));
    }
}

/// The header of a conversation by reading it: fit for documents, which have no end that could be read alone.
pub(crate) fn of_whole(
    found: &TranscriptFile,
    read: impl FnOnce(&mut dyn FnMut(&Event<'_>)) -> Report,
) -> Header {
    let mut header = found.header();
    let mut last = None;
    let report = read(&mut |event| {
        if event.subagent.is_none() {
            update(&mut header, event);
            last = event.at_ms.or(last);
        }
    });
    header.updated_at_ms = last.or(header.updated_at_ms);
    header.empty = report.is_empty();
    header.complaints = report.complaints;
    header
}

fn update(header: &mut Header, event: &Event<'_>) {
    header.created_at_ms = header.created_at_ms.or(event.at_ms);
    match &event.what {
        EventKind::User(text) => header.set_first_prompt(text),
        EventKind::Session(session) => {
            let owned = |value: &Option<std::borrow::Cow<'_, str>>| value.as_deref().map(str::to_owned);
            if let (true, Some(id)) = (header.id.is_empty(), owned(&session.id)) {
                header.id = id;
            }
            header.cwd = header.cwd.take().or(owned(&session.cwd));
            header.branch = owned(&session.branch).or(header.branch.take());
            header.model = owned(&session.model).or(header.model.take());
        }
        _ => {}
    }
}
