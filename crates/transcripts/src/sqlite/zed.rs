//! The table of Zed.

use super::{Db, Fault, Select, Sessions};

/// A row of the threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
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

/// Where the threads are, each with its messages in it.
pub(crate) const THREADS: Sessions = Sessions {
    table: THREAD.table,
    messages: THREAD.table,
    parent: Some("parent_id"),
    created: "updated_at",
    updated: "updated_at",
};

/// A thread.
pub(crate) fn thread(db: &Db, id: &str) -> Result<Option<Thread>, Fault> {
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
