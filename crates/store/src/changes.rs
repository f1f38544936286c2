//! Changes of working copies: a manifest for each baton. Its content lies apart, and may be shared.

use baton_model::time::Millis;

use crate::content::CHANGES;
use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    PUT = "INSERT INTO changes (project_id, baton_id, identity, manifest, content_hash, created_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project_id, baton_id) DO UPDATE SET identity = excluded.identity,
        manifest = excluded.manifest, content_hash = excluded.content_hash, created_at = excluded.created_at";
    GET = "SELECT baton_id, identity, manifest, content_hash, created_at FROM changes
        WHERE project_id = $1 AND baton_id = $2";
    NEWEST = "SELECT baton_id, identity, manifest, content_hash, created_at FROM changes WHERE project_id = $1
        ORDER BY created_at DESC, baton_id DESC LIMIT $2";
    BY_PREFIX = "SELECT baton_id FROM changes WHERE project_id = $1 AND baton_id >= $2 AND baton_id < $3
        ORDER BY baton_id LIMIT 5";
    BY_CONTENT = "SELECT baton_id, identity, manifest, content_hash, created_at FROM changes
        WHERE project_id = $1 AND content_hash >= $2 AND content_hash < $3";
    LINE = "WITH RECURSIVE line (depth, baton_id, session_id) AS (
        SELECT CAST(0 AS BIGINT), baton_id, session_id FROM baton WHERE project_id = $1 AND baton_id = $2
        UNION ALL SELECT l.depth + 1, b.baton_id, b.session_id FROM line l
        JOIN session s ON s.project_id = $1 AND s.session_id = l.session_id
        JOIN baton b ON b.project_id = $1 AND b.baton_id = s.baton_id
        WHERE l.depth < $3 AND b.baton_id <> l.baton_id)
        SELECT l.session_id, c.baton_id, c.identity, c.manifest, c.content_hash, c.created_at FROM line l
        LEFT JOIN changes c ON c.project_id = $1 AND c.baton_id = l.baton_id ORDER BY l.depth";
    REMOVE = "DELETE FROM changes WHERE project_id = $1 AND baton_id = $2";
}

/// The changes of a baton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChanges {
    /// The baton.
    pub baton_id: String,
    /// Who left them.
    pub identity: String,
    /// What they are, as JSON.
    pub manifest: String,
    /// The SHA-256 of the content, in hex.
    pub content_hash: String,
    /// When they were attached.
    pub created_at: Millis,
}

fn read(row: Row) -> Result<StoredChanges, Fault> {
    let mut r = row.reader();
    Ok(StoredChanges {
        baton_id: r.text()?,
        identity: r.text()?,
        manifest: r.text()?,
        content_hash: r.text()?,
        created_at: r.int()?,
    })
}

/// Attaches changes to a baton, in place of those that it had.
pub fn put(tx: &mut Tx<'_>, project_id: &str, changes: &StoredChanges) -> Result<(), Fault> {
    let StoredChanges { baton_id, identity, manifest, content_hash, created_at } = changes;
    tx.execute_deferred(PUT, params![project_id, baton_id, identity, manifest, content_hash, *created_at])?;
    Ok(())
}

/// The changes of a baton.
pub fn get(tx: &mut Tx<'_>, project_id: &str, baton_id: &str) -> Result<Option<StoredChanges>, Fault> {
    tx.query_opt(GET, params![project_id, baton_id])?.map(read).transpose()
}

/// A baton in the line that led to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineageBaton {
    /// The session that left it.
    pub session_id: String,
    /// Its changes.
    pub changes: Option<StoredChanges>,
}

/// A baton and those that its work came through, each held by the session that left the one before; the newest first.
pub fn lineage(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
    most: i64,
) -> Result<Vec<LineageBaton>, Fault> {
    let of_line = |row: Row| {
        let mut r = row.reader();
        let session_id = r.text()?;
        let Some(baton_id) = r.opt_text()? else { return Ok(LineageBaton { session_id, changes: None }) };
        let changes = StoredChanges {
            baton_id,
            identity: r.text()?,
            manifest: r.text()?,
            content_hash: r.text()?,
            created_at: r.int()?,
        };
        Ok(LineageBaton { session_id, changes: Some(changes) })
    };
    tx.query(LINE, params![project_id, baton_id, most])?.into_iter().map(of_line).collect()
}

/// The newest changes of a project.
pub fn newest(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<StoredChanges>, Fault> {
    tx.query(NEWEST, params![project_id, limit])?.into_iter().map(read).collect()
}

/// Ids of batons with changes that begin so.
pub fn by_prefix(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The changes whose content has a hash that begins so.
pub fn by_content(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<StoredChanges>, Fault> {
    let rows = tx.query(BY_CONTENT, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(read).collect()
}

/// Removes the changes of a baton, and their content unless another baton shares it.
pub fn remove(tx: &mut Tx<'_>, project_id: &str, changes: &StoredChanges) -> Result<(), Fault> {
    tx.execute(REMOVE, params![project_id, &changes.baton_id])?;
    CHANGES.remove_unnamed(tx, project_id, &changes.content_hash)
}
