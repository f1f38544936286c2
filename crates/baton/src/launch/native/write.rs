//! New files in another tool's folder: whole or not at all, never over one that is there, and read back.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use baton_ops::transcript::ConversationExtent;
use baton_tools::native::{NativeSession, Step};
use baton_transcripts::event::{Event, EventKind};
use baton_transcripts::{Header, Options, TranscriptFile, by_id, header, show};

/// Creates a file atomically, with mode 0600; fails if it exists.
pub(super) fn new_file(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("session");
    let mut dirs = fs::DirBuilder::new();
    let mut open = fs::OpenOptions::new();
    open.write(true).create_new(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut dirs, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    }
    dirs.recursive(true).create(folder)?;
    // No tool takes a hidden file with another ending for a session.
    let half = folder.join(format!(".{name}.{}.half", std::process::id()));
    let mut file = open.open(&half)?;
    let whole = file.write_all(content.as_bytes()).and_then(|()| file.sync_all());
    // Unlike a rename, a link never takes the place of what is there.
    let linked = whole.and_then(|()| fs::hard_link(&half, path));
    fs::remove_file(&half).and(linked)
}

/// Removes files that were just written.
pub(super) fn remove(files: &[PathBuf]) {
    for file in files {
        let _ = fs::remove_file(file);
    }
}

/// Reads a written session as any transcript is read: it must be what was meant. Tells how far it reaches.
pub(super) fn verify(
    agent: &str,
    path: &Path,
    expected: &NativeSession,
) -> Result<ConversationExtent, String> {
    let format = by_id(agent).ok_or("its format is not read")?;
    let found = TranscriptFile::from_path(format.id(), path).ok_or("the file is not there")?;
    let read = header(&found, &()).ok_or("it has no header")?;
    if read.id != expected.id {
        return Err(format!("its id is {}", read.id));
    }
    if read.cwd.as_deref().is_some_and(|cwd| cwd != expected.cwd()) {
        return Err(format!("its folder is {}", read.cwd.unwrap_or_default()));
    }
    let mut seen = Vec::new();
    let options = Options { redact: false, home: None, ..Options::default() };
    let report = show(path, format, &options, &mut |event| take(&mut seen, event));
    if !report.complaints.is_empty() {
        return Err(format!("{} of its lines were not understood", report.complaints.len()));
    }
    if seen.len() != expected.steps.len() {
        return Err(format!("it has {} messages and calls, not {}", seen.len(), expected.steps.len()));
    }
    match seen.iter().zip(&expected.steps).position(|(seen, expected)| !seen.is(expected)) {
        Some(at) => Err(format!("message or call {} is another", at + 1)),
        None => Ok(extent(Header { updated_at_ms: read.updated_at_ms.or(Some(expected.now)), ..read })),
    }
}

/// How far a session reaches, as its tool lists it.
pub(super) fn extent(read: Header) -> ConversationExtent {
    ConversationExtent {
        agent: read.tool_id,
        id: read.id,
        created_at_ms: read.created_at_ms,
        cwd: read.cwd,
        updated_at_ms: read.updated_at_ms.unwrap_or_default(),
        bytes: i64::try_from(read.bytes).unwrap_or(i64::MAX),
    }
}

/// What was read of a step.
enum ReadStep {
    User(String),
    Assistant(String),
    Call { id: String, name: String, end: Option<(Option<bool>, Option<i64>)> },
}

fn take(seen: &mut Vec<ReadStep>, event: &Event<'_>) {
    match &event.what {
        EventKind::User(text) => seen.push(ReadStep::User(text.to_string())),
        EventKind::Assistant(text) => seen.push(ReadStep::Assistant(text.to_string())),
        EventKind::Call(call) => {
            seen.push(ReadStep::Call { id: call.id.to_string(), name: call.name.to_string(), end: None });
        }
        EventKind::Outcome(outcome) => {
            let ends = seen.iter_mut().rev().filter_map(|seen| match seen {
                ReadStep::Call { id, end, .. } if *id == outcome.id => Some(end),
                _ => None,
            });
            ends.take(1).for_each(|end| *end = Some((outcome.ok, outcome.exit_code)));
        }
        _ => {}
    }
}

impl ReadStep {
    /// Whether it is what was meant; what is not known of an end is not asked for.
    fn is(&self, expected: &Step) -> bool {
        let agrees =
            |read: Option<i64>, expected: Option<i64>| read.zip(expected).is_none_or(|(a, b)| a == b);
        match (self, expected) {
            (Self::User(read), Step::User(text)) | (Self::Assistant(read), Step::Assistant(text)) => {
                read.trim() == text.trim()
            }
            (Self::Call { name, end: Some((ok, code)), .. }, Step::Call(call)) => {
                name == call.name
                    && agrees(ok.map(i64::from), call.ok.map(i64::from))
                    && agrees(*code, call.exit_code)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("a/b.jsonl");
        new_file(&path, "one").expect("written");
        let error = new_file(&path, "two").expect_err("it is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).expect("read"), "one");
        assert_eq!(fs::read_dir(dir.path().join("a")).expect("folder").count(), 1, "no half file stays");
    }
}
