//! The tables of Hermes Agent.

use super::{Cell, Db, Fault, Select};
use crate::event::Usage;
use crate::shared::json::Json;

const SESSIONS: &str = "sessions";
const MESSAGES: &str = "messages";
/// Why a session ended that another one goes on with.
const COMPRESSION: &str = "compression";

/// A row of the sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// The model that answers.
    pub model: Option<String>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Time of its beginning.
    pub started_ms: Option<i64>,
    /// Time of its end; none while it goes on.
    pub ended_ms: Option<i64>,
    /// Tokens, summed up by the tool.
    pub usage: Usage,
    /// What it came out of.
    pub origin: Origin,
    /// The session that it came out of.
    parent: Option<String>,
    /// Whether it ended because it was compacted.
    is_compressed: bool,
}

/// What a session came out of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The user's beginning, or a compaction of its parent.
    #[default]
    Conversation,
    /// A branch of its parent.
    Branch,
    /// A task that its parent handed to a sub-agent.
    Subagent,
}

/// A message.
#[derive(Debug)]
pub(crate) struct Message {
    /// Who said it.
    pub role: String,
    /// What was said.
    pub content: Cell,
    /// Calls, as JSON.
    pub calls: Option<String>,
    /// The call whose result it is.
    pub call_id: Option<String>,
    /// What the model thought.
    pub reasoning: Option<String>,
    /// Its time.
    pub at_ms: Option<i64>,
    /// Whether a compaction took it out of the model's view.
    pub is_compacted: bool,
    /// Whether it is the summary of a compaction.
    pub is_summary: bool,
}

const SESSION: Select<'_> = Select {
    table: SESSIONS,
    columns: &[
        "id",
        "model",
        "cwd",
        "git_branch",
        "title",
        "started_at",
        "ended_at",
        "parent_session_id",
        "end_reason",
        "model_config",
        "source",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
    ],
    tail: "",
};

fn read(row: &super::Row<'_>) -> Option<Session> {
    let config = row.text(9).unwrap_or_default();
    let config = Json::parse(&config).unwrap_or(Json::Null);
    let origin = match () {
        () if !config.get("_delegate_from").is_null() => Origin::Subagent,
        () if !config.get("_branched_from").is_null() => Origin::Branch,
        () if row.text(10).as_deref() == Some("subagent") => Origin::Subagent,
        () => Origin::Conversation,
    };
    let count = |column| row.int(column).and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
    Some(Session {
        id: row.text(0)?,
        model: row.text(1),
        cwd: row.text(2),
        branch: row.text(3),
        title: row.text(4),
        started_ms: row.time(5),
        ended_ms: row.time(6),
        usage: Usage { input: count(11), cache_read: count(12), cache_write: count(13), output: count(14) },
        origin,
        parent: row.text(7),
        is_compressed: row.text(8).as_deref() == Some(COMPRESSION),
    })
}

/// Every conversation with the time of its end, as far as it has ended: of those that were compacted only the session that goes on.
pub(crate) fn conversations(db: &Db, each: &mut dyn FnMut(String, Option<i64>)) -> Result<(), Fault> {
    if !db.has(SESSIONS) || !db.has(MESSAGES) {
        return Err(Fault::Damaged);
    }
    let mut all = Vec::new();
    db.each(SESSION, &[], &mut |row| {
        all.extend(read(row));
        true
    })?;
    let continued: std::collections::HashSet<&str> = all
        .iter()
        .filter(|one| one.origin == Origin::Conversation)
        .filter_map(|one| one.parent.as_deref())
        .collect();
    for one in &all {
        if !one.is_compressed || !continued.contains(one.id.as_str()) {
            each(one.id.clone(), one.ended_ms);
        }
    }
    Ok(())
}

/// The conversation that began last and is no sub-agent.
pub(crate) fn newest(db: &Db) -> Result<Option<String>, Fault> {
    let tail = "ORDER BY started_at DESC, id DESC";
    db.first(Select { tail, ..SESSION }, &[], &mut |row| {
        read(row).filter(|one| one.origin != Origin::Subagent).map(|one| one.id)
    })
}

/// A session.
pub(crate) fn session(db: &Db, id: &str) -> Result<Option<Session>, Fault> {
    db.first(Select { tail: "WHERE id = ?1", ..SESSION }, &[id], &mut |row| read(row))
}

/// The sessions of a conversation, oldest first: each but the last was compacted.
pub(crate) fn lineage(db: &Db, id: &str) -> Result<Vec<Session>, Fault> {
    /// No conversation was compacted more often; a loop would be.
    const MOST: usize = 64;
    let mut all: Vec<Session> = session(db, id)?.into_iter().collect();
    while let Some(first) =
        all.first().filter(|first| first.origin == Origin::Conversation && all.len() < MOST)
    {
        let Some(parent) = first.parent.clone() else { break };
        if all.iter().any(|one| one.id == parent) {
            break;
        }
        match session(db, &parent)?.filter(|parent| parent.is_compressed) {
            Some(parent) => all.insert(0, parent),
            None => break,
        }
    }
    Ok(all)
}

/// The sub-agents of a session, oldest first.
pub(crate) fn subagents(db: &Db, id: &str) -> Result<Vec<String>, Fault> {
    let tail = "WHERE parent_session_id = ?1 ORDER BY started_at, id";
    let mut ids = Vec::new();
    db.each(Select { tail, ..SESSION }, &[id], &mut |row| {
        ids.extend(read(row).filter(|one| one.origin == Origin::Subagent).map(|one| one.id));
        true
    })?;
    Ok(ids)
}

/// The messages of a session in order, until `each` has enough: without those that the user took back, and those that are not shown.
pub(crate) fn messages(db: &Db, id: &str, each: &mut dyn FnMut(Message) -> bool) -> Result<(), Fault> {
    let select = Select {
        table: MESSAGES,
        columns: &[
            "role",
            "content",
            "tool_calls",
            "tool_call_id",
            "reasoning",
            "reasoning_content",
            "timestamp",
            "active",
            "compacted",
            "display_kind",
            "_compressed_summary",
        ],
        tail: "WHERE session_id = ?1 ORDER BY id",
    };
    db.each(select, &[id], &mut |row| {
        let is_compacted = row.int(8) == Some(1);
        let is_shown = row.int(7) != Some(0) || is_compacted;
        if !is_shown || row.text(9).as_deref() == Some("hidden") {
            return true;
        }
        each(Message {
            role: row.text(0).unwrap_or_default(),
            content: row.cell(1),
            calls: row.text(2),
            call_id: row.text(3),
            reasoning: row.text(4).or_else(|| row.text(5)),
            at_ms: row.time(6),
            is_compacted,
            is_summary: row.int(10) == Some(1),
        })
    })
}

/// The time of the last message of a session.
pub(crate) fn last_ms(db: &Db, id: &str) -> Result<Option<i64>, Fault> {
    let tail = "WHERE session_id = ?1 ORDER BY id DESC LIMIT 1";
    db.first(Select { table: MESSAGES, columns: &["timestamp"], tail }, &[id], &mut |row| row.time(0))
}
