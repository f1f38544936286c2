//! Other tools' databases, read with no trace: never written, never locked for longer than a query.

mod open;
mod select;
mod sessions;

pub(crate) mod crush;
pub(crate) mod cursor;
pub(crate) mod devin;
pub(crate) mod goose;
pub(crate) mod hermes;
pub(crate) mod kiro;
pub(crate) mod openclaw;
pub(crate) mod opencode;
pub(crate) mod zed;

pub(crate) use open::{Db, Fault, is_database, open, schema};
pub(crate) use select::{Cell, Row, Select};
pub(crate) use sessions::Sessions;

use std::path::Path;

use crate::header::{Header, Stamp, TranscriptFile};

/// Gives out the sessions of a database, or the database itself where they cannot be listed, so that its header says
/// why. A missing database is nothing.
pub(crate) fn find(
    agent: &'static str,
    path: &Path,
    sessions: impl FnOnce(&Db, &mut dyn FnMut(String, Option<i64>)) -> Result<(), Fault>,
    found: &mut dyn FnMut(TranscriptFile),
) {
    if !path.is_file() {
        return;
    }
    let stamp = open::stamp(path);
    let mut give =
        |key: Option<String>, stamp| found(TranscriptFile { agent, path: path.to_owned(), key, stamp });
    let listed = open(path)
        .and_then(|db| sessions(&db, &mut |key, updated_ms| give(Some(key), stamp.of_session(updated_ms))));
    if listed.is_err() {
        give(None, stamp);
    }
}

/// The header of a session, or what is wrong with its database.
pub(crate) fn header(
    found: &TranscriptFile,
    fill: impl FnOnce(&Db, &mut Header) -> Result<(), Fault>,
) -> Header {
    let mut header = found.header();
    header.id = found.key.clone().unwrap_or_default();
    header.empty = true;
    match open(&found.path).and_then(|db| fill(&db, &mut header)) {
        Err(fault) => header.fault(fault.kind()),
        Ok(()) if header.empty => header.fault(crate::report::kind::EMPTY),
        Ok(()) => header,
    }
}

/// The stamp of a database, to detect a change.
pub(crate) fn stamp(path: &Path) -> Stamp {
    open::stamp(path)
}
