//! The table of Zed.

use super::{Db, Fault, Select};

/// A thread as its row tells it.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// Title.
    pub title: Option<String>,
    /// Whose sub-agent it is.
    pub parent: Option<String>,
    /// Folders of the project, one below the other.
    pub folders: Option<String>,
    /// Whether `data` is packed.
    pub packed: bool,
    /// The thread, as JSON.
    pub data: Option<Vec<u8>>,
    /// Time of its beginning, which newer versions keep.
    pub created_ms: Option<i64>,
    /// Time of its last change.
    pub updated_ms: Option<i64>,
}

const THREAD: Select<'_> = Select {
    table: "threads",
    columns: &["id", "summary", "parent_id", "folder_paths", "data_type", "data", "updated_at", "created_at"],
    tail: "WHERE id = ?1",
};

/// Every thread with the time of its last change.
pub fn threads(db: &Db, each: &mut dyn FnMut(String, Option<i64>)) -> Result<(), Fault> {
    if !db.has("threads") {
        return Err(Fault::Damaged);
    }
    db.each(Select { columns: &["id", "updated_at"], tail: "", ..THREAD }, &[], &mut |row| {
        row.text(0).into_iter().for_each(|id| each(id, row.time(1)));
        true
    })
}

/// The thread that changed last.
pub fn newest(db: &Db) -> Result<Option<String>, Fault> {
    let tail = "ORDER BY updated_at DESC LIMIT 1";
    db.first(Select { columns: &["id"], tail, ..THREAD }, &[], &mut |row| row.text(0))
}

/// A thread.
pub fn thread(db: &Db, id: &str) -> Result<Option<Thread>, Fault> {
    db.first(THREAD, &[id], &mut |row| {
        Some(Thread {
            id: row.text(0)?,
            title: row.text(1),
            parent: row.text(2),
            folders: row.text(3),
            packed: row.text(4).is_some_and(|kind| kind == "zstd"),
            data: row.bytes(5),
            updated_ms: row.time(6),
            created_ms: row.time(7),
        })
    })
}

/// The sub-agents of a thread, oldest first.
pub fn children(db: &Db, id: &str) -> Result<Vec<String>, Fault> {
    if !db.columns("threads")?.iter().any(|column| column == "parent_id") {
        return Ok(Vec::new());
    }
    let tail = "WHERE parent_id = ?1 ORDER BY updated_at, id";
    let mut ids = Vec::new();
    db.each(Select { columns: &["id"], tail, ..THREAD }, &[id], &mut |row| {
        ids.extend(row.text(0));
        true
    })?;
    Ok(ids)
}
