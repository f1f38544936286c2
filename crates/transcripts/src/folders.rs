//! The folders in which a conversation was held: an agent may go from one to another.

use std::collections::BTreeSet;
use std::path::Path;

use crate::event::{Event, EventKind};
use crate::format::TranscriptReader;

/// The working directories that the entries of a conversation name, as far as its tool writes them down. Reads all of it.
pub fn working_folders(path: &Path, key: Option<&str>, format: &dyn TranscriptReader) -> Vec<String> {
    let mut found = BTreeSet::new();
    format.read_session(path, key, &mut |event| take(event, &mut found));
    found.into_iter().collect()
}

/// Adds the directory that an event names.
pub(crate) fn take(event: &Event<'_>, found: &mut BTreeSet<String>) {
    if let EventKind::Session(session) = &event.what
        && let Some(cwd) = session.cwd.as_deref().filter(|cwd| !cwd.is_empty())
        && !found.contains(cwd)
    {
        found.insert(cwd.to_owned());
    }
}
