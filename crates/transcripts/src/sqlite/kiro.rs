//! The tables of Kiro's command line, which was Amazon Q's before.

use super::{Cell, Db, Fault, Select};

/// A conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// Working directory.
    pub directory: Option<String>,
    /// The conversation, as JSON.
    pub value: Cell,
    /// Time of its beginning.
    pub created_ms: Option<i64>,
    /// Time of its last change.
    pub updated_ms: Option<i64>,
}

/// What a key of the older table begins with: there a conversation is known by its folder.
const FOLDER: &str = "folder:";
const NEW: Select<'_> = Select {
    table: "conversations_v2",
    columns: &["conversation_id", "key", "value", "created_at", "updated_at"],
    tail: "",
};
const OLD: Select<'_> = Select { table: "conversations", columns: &["key", "value"], tail: "" };

/// Every conversation with the time of its last change, where it is known.
pub(crate) fn conversations(db: &Db, each: &mut dyn FnMut(String, Option<i64>)) -> Result<(), Fault> {
    if !db.has(NEW.table) && !db.has(OLD.table) {
        return Err(Fault::Damaged);
    }
    db.each(Select { columns: &["conversation_id", "updated_at"], ..NEW }, &[], &mut |row| {
        row.text(0).into_iter().for_each(|id| each(id, row.time(1)));
        true
    })?;
    db.each(Select { columns: &["key"], ..OLD }, &[], &mut |row| {
        row.text(0).into_iter().for_each(|folder| each(format!("{FOLDER}{folder}"), None));
        true
    })
}

/// The conversation that changed last.
pub(crate) fn newest(db: &Db) -> Result<Option<String>, Fault> {
    let tail = "ORDER BY updated_at DESC LIMIT 1";
    let new = db.first(Select { columns: &["conversation_id"], tail, ..NEW }, &[], &mut |row| row.text(0))?;
    if new.is_some() {
        return Ok(new);
    }
    let old = Select { columns: &["key"], tail: "ORDER BY rowid DESC LIMIT 1", ..OLD };
    Ok(db.first(old, &[], &mut |row| row.text(0))?.map(|folder| format!("{FOLDER}{folder}")))
}

/// A conversation.
pub(crate) fn conversation(db: &Db, key: &str) -> Result<Option<Conversation>, Fault> {
    if let Some(folder) = key.strip_prefix(FOLDER) {
        return db.first(Select { tail: "WHERE key = ?1", ..OLD }, &[folder], &mut |row| {
            let directory = row.text(0);
            Some(Conversation { directory, value: row.cell(1), created_ms: None, updated_ms: None })
        });
    }
    db.first(Select { tail: "WHERE conversation_id = ?1", ..NEW }, &[key], &mut |row| {
        Some(Conversation {
            directory: row.text(1),
            value: row.cell(2),
            created_ms: row.time(3),
            updated_ms: row.time(4),
        })
    })
}
