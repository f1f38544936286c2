//! In which projects the hooks of a tool's conversation spoke. A row that is there stays: nothing takes a conversation out of a
//! project.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    OF = "SELECT project_id FROM conversation_project WHERE tool = $1 AND native_id = $2 ORDER BY noted_at, project_id";
    IN_ISOLATED = "SELECT c.tool, c.native_id, c.project_id FROM conversation_project c JOIN project p
        ON p.project_id = c.project_id WHERE p.is_isolated <> 0 ORDER BY c.tool, c.native_id, c.project_id";
    BEGUN_IN = "SELECT c.tool, c.native_id FROM conversation_project c WHERE c.project_id = $1 AND NOT EXISTS (SELECT 1
        FROM conversation_project o WHERE o.tool = c.tool AND o.native_id = c.native_id
        AND (o.noted_at, o.project_id) < (c.noted_at, c.project_id)) ORDER BY c.tool, c.native_id";
    PUT = "INSERT INTO conversation_project (tool, native_id, project_id, noted_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING";
    EVERY = "SELECT tool, native_id, project_id, noted_at FROM conversation_project ORDER BY tool, native_id, project_id";
}

/// A conversation of which a hook spoke in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedConversation {
    /// The tool that keeps the transcript.
    pub tool_id: String,
    /// The tool's own id of the session.
    pub native_id: String,
    /// The project.
    pub project_id: String,
}

/// The projects in which hooks of a conversation spoke, the first one first.
pub fn of(tx: &mut Tx<'_>, tool: &str, native_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(OF, params![tool, native_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// The conversations of which a hook spoke in an isolated project.
pub fn in_isolated(tx: &mut Tx<'_>) -> Result<Vec<NotedConversation>, Fault> {
    let rows = tx.query(IN_ISOLATED, params![])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok(NotedConversation { tool_id: r.text()?, native_id: r.text()?, project_id: r.text()? })
        })
        .collect()
}

/// The conversations, by tool and id, whose first hook spoke in a project.
pub fn begun_in(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<(String, String)>, Fault> {
    let rows = tx.query(BEGUN_IN, params![project_id])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.text()?, r.text()?))
        })
        .collect()
}

/// Notes that a hook of a conversation spoke in a project.
pub fn put(
    tx: &mut Tx<'_>,
    (tool, native_id): (&str, &str),
    project_id: &str,
    now: Millis,
) -> Result<(), Fault> {
    tx.execute_deferred(PUT, params![tool, native_id, project_id, now])?;
    Ok(())
}
