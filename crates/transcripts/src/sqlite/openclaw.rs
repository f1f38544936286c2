//! The tables of OpenClaw.

use std::path::Path;

use super::{Cell, Db, Fault, Select};
use crate::header::TranscriptFile;

/// The table of the entries of all sessions.
pub(crate) const EVENTS: &str = "transcript_events";
/// The table of the sessions, which had another name in the first releases.
const WINDOWS: [&str; 2] = ["session_windows", "sessions"];

/// What is known of a session beside its entries.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Title.
    pub title: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether another session began it.
    pub is_subagent: bool,
}

/// An entry of a session.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its time.
    pub created_ms: Option<i64>,
    /// What it is, as JSON.
    pub data: Cell,
}

/// Gives out the sessions of a database. Older releases have one without these tables: there is nothing in it to read.
pub(crate) fn find(agent: &'static str, path: &Path, found: &mut dyn FnMut(TranscriptFile)) {
    let list = |db: &Db, each: &mut dyn FnMut(String, Option<i64>)| {
        // Of a group of rows the columns are those of the row with the greatest number.
        let tail = "GROUP BY session_id HAVING max(seq) IS NOT NULL";
        let select = Select { table: EVENTS, columns: &["session_id", "created_at"], tail };
        db.each(select, &[], &mut |row| {
            row.text(0).into_iter().for_each(|id| each(id, row.time(1)));
            true
        })
    };
    super::find(agent, path, list, found);
}

/// The session with the latest entry.
pub(crate) fn newest(db: &Db) -> Result<Option<String>, Fault> {
    let tail = "ORDER BY created_at DESC, seq DESC LIMIT 1";
    db.first(Select { table: EVENTS, columns: &["session_id"], tail }, &[], &mut |row| row.text(0))
}

/// The entries of a session, oldest first.
pub(crate) fn entries(db: &Db, id: &str, each: &mut dyn FnMut(Entry) -> bool) -> Result<(), Fault> {
    let tail = "WHERE session_id = ?1 ORDER BY seq";
    let select = Select { table: EVENTS, columns: &["event_json", "created_at"], tail };
    db.each(select, &[id], &mut |row| each(Entry { data: row.cell(0), created_ms: row.time(1) }))
}

/// What is known of a session.
pub(crate) fn window(db: &Db, id: &str) -> Result<Option<Window>, Fault> {
    for table in WINDOWS {
        let columns = &["display_name", "model", "parent_session_key", "spawned_by"];
        let select = Select { table, columns, tail: "WHERE session_id = ?1" };
        let found = db.first(select, &[id], &mut |row| {
            let is_subagent = row.text(2).or(row.text(3)).is_some();
            Some(Window { title: row.text(0), model: row.text(1), is_subagent })
        });
        // A table of this name may be another's.
        if let Ok(Some(window)) = found {
            return Ok(Some(window));
        }
    }
    Ok(None)
}
