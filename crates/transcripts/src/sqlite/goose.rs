//! The tables of Goose.

use super::{Cell, Db, Fault, Select, Sessions};

/// A row of the sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// Title.
    pub title: Option<String>,
    /// Working directory.
    pub directory: Option<String>,
    /// What kind of session it is: `user`, `sub_agent`, ….
    pub kind: Option<String>,
    /// The model, as JSON.
    pub model: Option<String>,
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
    pub content: Cell,
    /// Who may see it, as JSON.
    pub metadata: Option<String>,
    /// Its time.
    pub created_ms: Option<i64>,
}

const SESSION: Select<'_> = Select {
    table: "sessions",
    columns: &[
        "id",
        "name",
        "description",
        "working_dir",
        "session_type",
        "model_config_json",
        "created_at",
        "updated_at",
        "accumulated_input_tokens",
        "accumulated_output_tokens",
    ],
    tail: "WHERE id = ?1",
};

/// Where the sessions are.
pub(crate) const SESSIONS: Sessions = Sessions {
    table: SESSION.table,
    messages: "messages",
    parent: None,
    created: "created_at",
    updated: "updated_at",
};

/// A session.
pub(crate) fn session(db: &Db, id: &str) -> Result<Option<Session>, Fault> {
    db.first(SESSION, &[id], &mut |row| {
        Some(Session {
            id: row.text(0)?,
            title: row.text(1).or(row.text(2)),
            directory: row.text(3),
            kind: row.text(4),
            model: row.text(5),
            created_ms: row.time(6),
            updated_ms: row.time(7),
            tokens: (row.int(8), row.int(9)),
        })
    })
}

/// The messages of a session, oldest first, until `each` has enough.
pub(crate) fn messages(db: &Db, id: &str, each: &mut dyn FnMut(Message) -> bool) -> Result<(), Fault> {
    let select = Select {
        table: SESSIONS.messages,
        columns: &["role", "content_json", "metadata_json", "created_timestamp"],
        tail: "WHERE session_id = ?1 ORDER BY rowid",
    };
    db.each(select, &[id], &mut |row| {
        each(Message {
            role: row.text(0).unwrap_or_default(),
            content: row.cell(1),
            metadata: row.text(2),
            created_ms: row.time(3),
        })
    })
}
