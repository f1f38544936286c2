//! The tables of Crush.

use super::{Cell, Db, Fault, Select, Sessions};

/// A row of the sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// Whose sub-agent it is.
    pub parent: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// The todo list, as JSON.
    pub todos: Option<String>,
    /// Time of its beginning.
    pub created_ms: Option<i64>,
    /// Time of its last change.
    pub updated_ms: Option<i64>,
    /// Tokens sent and received, summed up by the tool.
    pub tokens: (Option<i64>, Option<i64>),
}

/// A message.
#[derive(Debug)]
pub(crate) struct Message {
    /// Who said it.
    pub role: String,
    /// What it is made of, as JSON.
    pub parts: Cell,
    /// The model that answered.
    pub model: Option<String>,
    /// Whether it stands for what was compacted away.
    pub is_summary: bool,
    /// Its time.
    pub created_ms: Option<i64>,
}

const SESSION: Select<'_> = Select {
    table: "sessions",
    columns: &[
        "id",
        "parent_session_id",
        "title",
        "todos",
        "created_at",
        "updated_at",
        "prompt_tokens",
        "completion_tokens",
    ],
    tail: "WHERE id = ?1",
};

/// Where the sessions are.
pub(crate) const SESSIONS: Sessions = Sessions {
    table: SESSION.table,
    messages: "messages",
    parent: Some("parent_session_id"),
    created: "created_at",
    updated: "updated_at",
};

/// A session.
pub(crate) fn session(db: &Db, id: &str) -> Result<Option<Session>, Fault> {
    db.first(SESSION, &[id], &mut |row| {
        Some(Session {
            id: row.text(0)?,
            parent: row.text(1),
            title: row.text(2),
            todos: row.text(3),
            created_ms: row.time(4),
            updated_ms: row.time(5),
            tokens: (row.int(6), row.int(7)),
        })
    })
}

/// The messages of a session, oldest first, until `each` has enough.
pub(crate) fn messages(db: &Db, id: &str, each: &mut dyn FnMut(Message) -> bool) -> Result<(), Fault> {
    let select = Select {
        table: SESSIONS.messages,
        columns: &["role", "parts", "model", "is_summary_message", "created_at"],
        tail: "WHERE session_id = ?1 ORDER BY created_at, rowid",
    };
    db.each(select, &[id], &mut |row| {
        each(Message {
            role: row.text(0).unwrap_or_default(),
            parts: row.cell(1),
            model: row.text(2),
            is_summary: row.int(3) == Some(1),
            created_ms: row.time(4),
        })
    })
}
