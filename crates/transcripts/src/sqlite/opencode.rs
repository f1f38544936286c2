//! The tables of OpenCode and its forks.

use super::{Cell, Db, Fault, Row, Select, Sessions};
use crate::event::PlanItem;

/// A row of the sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// Whose sub-agent it is.
    pub parent: Option<String>,
    /// Working directory.
    pub directory: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Version of the tool.
    pub version: Option<String>,
    /// The model, as JSON.
    pub model: Option<String>,
    /// From where on it was undone, as JSON.
    pub revert: Option<String>,
    /// The workspace, which may know a branch.
    pub branch: Option<String>,
    /// Time of its beginning.
    pub created_ms: Option<i64>,
    /// Time of its last change.
    pub updated_ms: Option<i64>,
}

/// A message or a part of one.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its id.
    pub id: String,
    /// Its time.
    pub created_ms: Option<i64>,
    /// What it is, as JSON.
    pub data: Cell,
}

const SESSION: Select<'_> = Select {
    table: "session",
    columns: &[
        "id",
        "parent_id",
        "directory",
        "title",
        "version",
        "model",
        "revert",
        "workspace_id",
        "time_created",
        "time_updated",
    ],
    tail: "WHERE id = ?1",
};
const RECORD: &[&str] = &["id", "time_created", "data"];

/// Where the sessions are.
pub(crate) const SESSIONS: Sessions = Sessions {
    table: SESSION.table,
    messages: "message",
    parent: Some("parent_id"),
    created: "time_created",
    updated: "time_updated",
};

/// A session.
pub(crate) fn session(db: &Db, id: &str) -> Result<Option<Session>, Fault> {
    let found = db.first(SESSION, &[id], &mut |row| {
        let session = Session {
            id: row.text(0)?,
            parent: row.text(1),
            directory: row.text(2),
            title: row.text(3),
            version: row.text(4),
            model: row.text(5),
            revert: row.text(6),
            branch: None,
            created_ms: row.time(8),
            updated_ms: row.time(9),
        };
        Some((session, row.text(7)))
    })?;
    let Some((mut session, workspace)) = found else { return Ok(None) };
    if let Some(workspace) = workspace {
        let select = Select { table: "workspace", columns: &["branch"], tail: "WHERE id = ?1" };
        session.branch = db.first(select, &[&workspace], &mut |row| row.text(0))?;
    }
    Ok(Some(session))
}

/// The messages of a session, oldest first.
pub(crate) fn messages(db: &Db, id: &str, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Fault> {
    let tail = "WHERE session_id = ?1 ORDER BY time_created, id";
    db.each(Select { table: SESSIONS.messages, columns: RECORD, tail }, &[id], &mut |row| each(record(row)))
}

/// The parts of a message, in order.
pub(crate) fn parts(db: &Db, message: &str, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Fault> {
    let tail = "WHERE message_id = ?1 ORDER BY id";
    db.each(Select { table: "part", columns: RECORD, tail }, &[message], &mut |row| each(record(row)))
}

/// The todo list of a session.
pub(crate) fn todos(db: &Db, id: &str) -> Result<Vec<PlanItem>, Fault> {
    let tail = "WHERE session_id = ?1 ORDER BY position";
    let mut items = Vec::new();
    db.each(Select { table: "todo", columns: &["content", "status"], tail }, &[id], &mut |row| {
        let status = row.text(1).unwrap_or_else(|| "pending".to_owned());
        items.extend(row.text(0).map(|title| PlanItem { title, status, id: None }));
        true
    })?;
    Ok(items)
}

fn record(row: &Row<'_>) -> Record {
    Record { id: row.text(0).unwrap_or_default(), created_ms: row.time(1), data: row.cell(2) }
}
