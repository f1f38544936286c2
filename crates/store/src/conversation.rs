//! Conversations of tools, and the baton that was left for each.

use baton_model::conversation::Conversation;

use crate::engine::{Fault, Row, Tx};
use crate::{params, prefix_end};

crate::sql! {
    GET = "SELECT project_id, tool, native_id, session_id, baton_id, bytes, last_entry_at, updated_at FROM conversation
        WHERE project_id = $1 AND tool = $2 AND native_id = $3";
    IN_ALL_PROJECTS = "SELECT project_id, tool, native_id, session_id, baton_id, bytes, last_entry_at, updated_at FROM conversation
        WHERE tool = $1 AND native_id = $2 ORDER BY updated_at DESC, project_id LIMIT 20";
    OF_SESSION = "SELECT project_id, tool, native_id, session_id, baton_id, bytes, last_entry_at, updated_at FROM conversation
        WHERE project_id = $1 AND session_id = $2 ORDER BY updated_at DESC, tool, native_id LIMIT 1";
    BY_PREFIX = "SELECT project_id, tool, native_id, session_id, baton_id, bytes, last_entry_at, updated_at FROM conversation
        WHERE project_id = $1 AND tool = $2 AND native_id >= $3 AND native_id < $4 ORDER BY native_id LIMIT 20";
    PUT = "INSERT INTO conversation (project_id, tool, native_id, session_id, baton_id, bytes, last_entry_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (project_id, tool, native_id) DO UPDATE SET
        session_id = excluded.session_id, baton_id = excluded.baton_id, bytes = excluded.bytes,
        last_entry_at = excluded.last_entry_at, updated_at = excluded.updated_at";
}

fn read(row: Row) -> Result<Conversation, Fault> {
    let mut r = row.reader();
    Ok(Conversation {
        project_id: r.text()?,
        tool_id: r.text()?,
        native_id: r.text()?,
        session_id: r.opt_text()?,
        baton_id: r.opt_text()?,
        bytes: r.int()?,
        last_entry_at: r.int()?,
        updated_at: r.int()?,
    })
}

/// One conversation.
pub fn get(
    tx: &mut Tx<'_>,
    project_id: &str,
    tool: &str,
    native_id: &str,
) -> Result<Option<Conversation>, Fault> {
    tx.query_opt(GET, params![project_id, tool, native_id])?.map(read).transpose()
}

/// What each project knows of a conversation, the latest first.
pub fn in_all_projects(tx: &mut Tx<'_>, tool: &str, native_id: &str) -> Result<Vec<Conversation>, Fault> {
    tx.query(IN_ALL_PROJECTS, params![tool, native_id])?.into_iter().map(read).collect()
}

/// The conversation to which a session of the ledger belongs.
pub fn of_session(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
) -> Result<Option<Conversation>, Fault> {
    tx.query_opt(OF_SESSION, params![project_id, session_id])?.map(read).transpose()
}

/// The conversations of a tool whose id begins so.
pub fn by_prefix(
    tx: &mut Tx<'_>,
    project_id: &str,
    tool: &str,
    prefix: &str,
) -> Result<Vec<Conversation>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, tool, prefix, prefix_end(prefix)])?;
    rows.into_iter()
        .map(read)
        .filter(|one| one.as_ref().map_or(true, |one| one.native_id.starts_with(prefix)))
        .collect()
}

/// Writes a conversation down.
pub fn put(tx: &mut Tx<'_>, known: &Conversation) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            &known.project_id,
            &known.tool_id,
            &known.native_id,
            known.session_id.clone(),
            known.baton_id.clone(),
            known.bytes,
            known.last_entry_at,
            known.updated_at,
        ],
    )?;
    Ok(())
}
