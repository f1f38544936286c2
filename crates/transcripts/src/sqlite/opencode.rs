//! The tables of OpenCode and its forks. Version 2 keeps sessions in `session_v2` and `session_message`, beside the tables of
//! version 1: those it copies once, leaves where they are, and version 1 may go on writing them.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::{Cell, Db, Fault, Row, Select, Sessions};
use crate::event::PlanItem;
use crate::header::TranscriptFile;

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
    /// Whether it began as a copy of another, whose messages it repeats.
    pub forked: bool,
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
    /// What version 2 keeps beside that.
    pub row: Option<MessageRow>,
}

/// What a message of version 2 is, and where it stands.
#[derive(Debug)]
pub(crate) struct MessageRow {
    /// Its type.
    pub kind: String,
    /// Its number in the session.
    pub seq: i64,
}

const SESSION: &[&str] = &[
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
    "fork_session_id",
];
const RECORD: &[&str] = &["id", "time_created", "data", "type", "seq"];

/// Where version 1 keeps its sessions.
const FIRST: Sessions = Sessions {
    table: "session",
    messages: "message",
    parent: Some("parent_id"),
    created: "time_created",
    updated: "time_updated",
};
/// Where version 2 does.
const SECOND: Sessions = Sessions { table: "session_v2", messages: "session_message", ..FIRST };
/// Where builds before version 2 did.
const BETA: Sessions = Sessions { messages: "session_message", ..FIRST };

fn layouts(db: &Db) -> impl Iterator<Item = &'static Sessions> {
    let all = [&SECOND, &FIRST, &BETA];
    all.into_iter().filter(|one| db.has(one.table) && db.has(one.messages))
}

/// Gives out the sessions of a database that are not among those seen in another.
pub(crate) fn find(
    agent: &'static str,
    path: &Path,
    seen: &mut HashSet<String>,
    found: &mut dyn FnMut(TranscriptFile),
) {
    let list = |db: &Db, each: &mut dyn FnMut(String, Option<i64>)| {
        let mut all: BTreeMap<String, Option<i64>> = BTreeMap::new();
        let mut known = false;
        for one in layouts(db) {
            known = true;
            one.all(db, &mut |id, updated_ms| {
                let latest = all.entry(id).or_default();
                *latest = updated_ms.max(*latest);
            })?;
        }
        all.into_iter().filter(|(id, _)| seen.insert(id.clone())).for_each(|(id, at)| each(id, at));
        if known { Ok(()) } else { Err(Fault::Damaged) }
    };
    super::find(agent, path, list, found);
}

/// The session that changed last and is no sub-agent.
pub(crate) fn newest(db: &Db) -> Result<Option<String>, Fault> {
    let mut newest: Option<(Option<i64>, String)> = None;
    for one in layouts(db) {
        let Some(id) = one.newest(db)? else { continue };
        let at = session(db, &id)?.and_then(|session| session.updated_ms);
        newest = newest.max(Some((at, id)));
    }
    Ok(newest.map(|(_, id)| id))
}

/// The sub-agents of a session, oldest first.
pub(crate) fn children(db: &Db, id: &str) -> Result<Vec<String>, Fault> {
    let mut all: Vec<String> = Vec::new();
    for one in layouts(db) {
        let more = one.children(db, id)?;
        all.extend(more.into_iter().filter(|id| !all.contains(id)).collect::<Vec<_>>());
    }
    Ok(all)
}

/// A session; of one that both versions hold, what version 2 says.
pub(crate) fn session(db: &Db, id: &str) -> Result<Option<Session>, Fault> {
    let copied = stored(db, SECOND.table, id)?;
    let own = stored(db, FIRST.table, id)?;
    let updated_ms = [&copied, &own].into_iter().flatten().filter_map(|session| session.updated_ms).max();
    Ok(copied.or(own).map(|session| Session { updated_ms, ..session }))
}

fn stored(db: &Db, table: &str, id: &str) -> Result<Option<Session>, Fault> {
    let select = Select { table, columns: SESSION, tail: "WHERE id = ?1" };
    let found = db.first(select, &[id], &mut |row| {
        let session = Session {
            id: row.text(0)?,
            parent: row.text(1),
            directory: row.text(2),
            title: row.text(3),
            version: row.text(4),
            model: row.text(5),
            revert: row.text(6),
            forked: row.text(10).is_some(),
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

/// The messages of a session, oldest first: those of version 2, and between them what version 1 wrote after it was copied.
pub(crate) fn messages(db: &Db, id: &str, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Fault> {
    let own = Select { table: SECOND.messages, columns: RECORD, tail: "WHERE session_id = ?1 ORDER BY seq" };
    if db.first(own, &[id], &mut |row| row.text(0))?.is_none() {
        let tail = "WHERE session_id = ?1 ORDER BY time_created, id";
        let select = Select { table: FIRST.messages, columns: RECORD, tail };
        return db.each(select, &[id], &mut |row| each(record(row)));
    }
    let mut late = written_later(db, id)?.into_iter().peekable();
    let mut more = true;
    db.each(own, &[id], &mut |row| {
        let found = record(row);
        while more && let Some(before) = late.next_if(|one| one.created_ms < found.created_ms) {
            more = each(before);
        }
        let kind = row.text(3).unwrap_or_default();
        let place = MessageRow { kind, seq: row.int(4).unwrap_or_default() };
        more = more && each(Record { row: Some(place), ..found });
        more
    })?;
    while more && let Some(after) = late.next() {
        more = each(after);
    }
    Ok(())
}

/// Messages that version 1 wrote after version 2 had copied the database.
fn written_later(db: &Db, id: &str) -> Result<Vec<Record>, Fault> {
    let select = Select { table: "kv", columns: &["time_updated"], tail: "WHERE key = 'migration.v1-v2'" };
    // Without this note nothing was copied.
    let copied = db.first(select, &[], &mut |row| row.int(0)).unwrap_or_default();
    let Some(copied) = copied else { return Ok(Vec::new()) };
    let tail = "WHERE session_id = ?1 AND time_created > CAST(?2 AS INTEGER)
        AND id NOT IN (SELECT id FROM session_message WHERE session_id = ?1) ORDER BY time_created, id";
    let select = Select { table: FIRST.messages, columns: RECORD, tail };
    let mut found = Vec::new();
    db.each(select, &[id, &copied.to_string()], &mut |row| {
        found.push(record(row));
        true
    })?;
    Ok(found)
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
    Record { id: row.text(0).unwrap_or_default(), created_ms: row.time(1), data: row.cell(2), row: None }
}
