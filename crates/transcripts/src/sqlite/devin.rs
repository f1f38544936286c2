//! The tables of Devin CLI.

use super::{Cell, Db, Fault, Row, Select, Sessions};

/// A row of the sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// Its id, a pair of words.
    pub id: String,
    /// Title.
    pub title: Option<String>,
    /// Working directory.
    pub directory: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Time of its beginning.
    pub created_ms: Option<i64>,
    /// Time of its last change.
    pub updated_ms: Option<i64>,
}

/// A message, a node of the tree of those that were written and taken back.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its id.
    pub id: Option<String>,
    /// The id of the message that it follows.
    pub parent: Option<String>,
    /// The message, as JSON.
    pub message: Cell,
    /// Its time.
    pub created_ms: Option<i64>,
}

const SESSION: Select<'_> = Select {
    table: "sessions",
    columns: &["id", "title", "working_directory", "model", "created_at", "last_activity_at"],
    tail: "WHERE id = ?1",
};

/// Where the sessions are.
pub(crate) const SESSIONS: Sessions = Sessions {
    table: SESSION.table,
    messages: "message_nodes",
    parent: None,
    created: "created_at",
    updated: "last_activity_at",
};

/// A session.
pub(crate) fn session(db: &Db, id: &str) -> Result<Option<Session>, Fault> {
    db.first(SESSION, &[id], &mut |row| {
        Some(Session {
            id: row.text(0)?,
            title: row.text(1),
            directory: row.text(2),
            model: row.text(3),
            created_ms: row.time(4),
            updated_ms: row.time(5),
        })
    })
}

/// The messages of a session in the order in which they were written, those that were taken back among them.
pub(crate) fn nodes(db: &Db, id: &str) -> Result<Vec<Node>, Fault> {
    let select = Select {
        table: SESSIONS.messages,
        columns: &["node_id", "parent_node_id", "chat_message", "created_at"],
        tail: "WHERE session_id = ?1 ORDER BY rowid",
    };
    let mut nodes = Vec::new();
    db.each(select, &[id], &mut |row| {
        nodes.push(Node {
            id: node_id(row, 0),
            parent: node_id(row, 1),
            message: row.cell(2),
            created_ms: row.time(3),
        });
        true
    })?;
    Ok(nodes)
}

/// The id of a node, which is text or a number.
fn node_id(row: &Row<'_>, column: usize) -> Option<String> {
    row.text(column).or_else(|| row.int(column).map(|number| number.to_string()))
}
