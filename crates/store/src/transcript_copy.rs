//! Copies of sessions that were pushed to a project: a manifest for each. Its content lies apart.

use baton_model::time::Millis;

use crate::content::TRANSCRIPT_COPY;
use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    PUT = "INSERT INTO transcript_copy (project_id, agent, transcript_id, identity, identity_key, opened_by, manifest, content_hash,
        created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project_id, agent, transcript_id, identity_key) DO UPDATE SET
        identity = excluded.identity, opened_by = excluded.opened_by, manifest = excluded.manifest,
        content_hash = excluded.content_hash, created_at = excluded.created_at";
    LIST = "SELECT agent, transcript_id, identity, identity_key, opened_by, manifest, content_hash, created_at FROM transcript_copy
        WHERE project_id = $1 ORDER BY created_at DESC, agent, transcript_id, identity_key";
    GET = "SELECT agent, transcript_id, identity, identity_key, opened_by, manifest, content_hash, created_at FROM transcript_copy
        WHERE project_id = $1 AND agent = $2 AND transcript_id = $3 AND identity_key = $4";
    REMOVE = "DELETE FROM transcript_copy WHERE project_id = $1 AND agent = $2 AND transcript_id = $3 AND identity_key = $4";
}

/// A copy of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCopy {
    /// The tool that wrote it.
    pub agent: String,
    /// The tool's own id of it.
    pub transcript_id: String,
    /// Who pushed it.
    pub identity: String,
    /// The identity as a key.
    pub identity_key: String,
    /// The access token with which it was pushed.
    pub opened_by: Option<String>,
    /// What it is, as JSON.
    pub manifest: String,
    /// The SHA-256 of the content, in hex.
    pub content_hash: String,
    /// When it was pushed.
    pub created_at: Millis,
}

fn read(row: Row) -> Result<StoredCopy, Fault> {
    let mut r = row.reader();
    Ok(StoredCopy {
        agent: r.text()?,
        transcript_id: r.text()?,
        identity: r.text()?,
        identity_key: r.text()?,
        opened_by: r.opt_text()?,
        manifest: r.text()?,
        content_hash: r.text()?,
        created_at: r.int()?,
    })
}

/// Writes a copy, in place of an earlier one of the same session by the same identity.
pub fn put(tx: &mut Tx<'_>, project_id: &str, copy: &StoredCopy) -> Result<(), Fault> {
    let StoredCopy {
        agent,
        transcript_id,
        identity,
        identity_key,
        opened_by,
        manifest,
        content_hash,
        created_at,
    } = copy;
    tx.execute_deferred(
        PUT,
        params![
            project_id,
            agent,
            transcript_id,
            identity,
            identity_key,
            opened_by.clone(),
            manifest,
            content_hash,
            *created_at
        ],
    )?;
    Ok(())
}

/// The copies of a project, the newest first.
pub fn list(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<StoredCopy>, Fault> {
    tx.query(LIST, params![project_id])?.into_iter().map(read).collect()
}

/// The copy of a session that an identity has pushed.
pub fn get(
    tx: &mut Tx<'_>,
    project_id: &str,
    (agent, transcript_id): (&str, &str),
    identity_key: &str,
) -> Result<Option<StoredCopy>, Fault> {
    tx.query_opt(GET, params![project_id, agent, transcript_id, identity_key])?.map(read).transpose()
}

/// Removes a copy, and its content unless another one shares it.
pub fn remove(tx: &mut Tx<'_>, project_id: &str, copy: &StoredCopy) -> Result<(), Fault> {
    tx.execute(REMOVE, params![project_id, &copy.agent, &copy.transcript_id, &copy.identity_key])?;
    TRANSCRIPT_COPY.remove_unnamed(tx, project_id, &copy.content_hash)
}

/// Moves a copy to another project, in place of one of the same session and identity there.
pub fn relocate(tx: &mut Tx<'_>, (from, into): (&str, &str), copy: &StoredCopy) -> Result<(), Fault> {
    TRANSCRIPT_COPY.copy(tx, (from, into), &copy.content_hash)?;
    put(tx, into, copy)?;
    remove(tx, from, copy)
}
