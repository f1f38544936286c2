//! Sessions read in full only to see what a reader cannot use: how a tool's format has changed shows in users' own files.

use crate::event::EventKind;
use crate::format::by_id;
use crate::header::Header;
use crate::list::spread;
use crate::report::{Report, label};

/// Most versions that are kept of one session.
const MAX_VERSIONS: usize = 8;

/// What reading a session in full came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionCheck {
    /// Versions of the tool that the session names, the latest first. A tool that names none has none.
    pub versions: Vec<String>,
    /// What was read, and what could not be used.
    pub report: Report,
}

/// Reads these sessions on `threads` threads; the results are in the order of the headers. Nothing is kept of what was said.
pub fn check(headers: &[Header], threads: usize) -> Vec<SessionCheck> {
    let numbered: Vec<(usize, &Header)> = headers.iter().enumerate().collect();
    let mut all = spread(&numbered, threads, |(at, header), own| own.push((*at, check_session(header))));
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, check)| check).collect()
}

fn check_session(header: &Header) -> SessionCheck {
    let Some(format) = by_id(&header.tool_id) else { return SessionCheck::default() };
    let mut versions: Vec<String> = Vec::new();
    let report = format.read_session(&header.path, header.key.as_deref(), &mut |event| {
        let EventKind::Session(session) = &event.what else { return };
        let version = session.version.as_deref().map(label).filter(|version| !version.is_empty());
        if let Some(version) = version {
            versions.retain(|one| *one != version);
            versions.insert(0, version);
            versions.truncate(MAX_VERSIONS);
        }
    });
    SessionCheck { versions, report }
}
