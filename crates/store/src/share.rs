//! Shares, by the hash of their secret.

use baton_model::share::{Share, SharedKind};
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "share_id, hash, project_id, kind, object_id, created_by, created_at, expires_at, revoked_at"
    };
}

crate::sql! {
    INSERT = concat!("INSERT INTO share (", columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    BY_HASH = concat!("SELECT ", columns!(), " FROM share WHERE hash = $1");
    GET = concat!("SELECT ", columns!(), " FROM share WHERE share_id = $1");
    EVERY = concat!("SELECT ", columns!(), " FROM share ORDER BY share_id");
    OF_PROJECT = concat!("SELECT ", columns!(), " FROM share WHERE project_id = $1 AND (created_at, share_id) < ($2, $3)
        ORDER BY created_at DESC, share_id DESC LIMIT $4");
    BY_PREFIX = "SELECT project_id, share_id FROM share WHERE share_id >= $1 AND share_id < $2 ORDER BY share_id LIMIT 5";
    REVOCATIONS = "SELECT share_id, revoked_at FROM share WHERE revoked_at IS NOT NULL ORDER BY share_id";
    REVOKE = "UPDATE share SET revoked_at = $1 WHERE share_id = $2 AND revoked_at IS NULL";
}

fn read(row: Row) -> Result<Share, Fault> {
    let mut r = row.reader();
    let (share_id, hash, project_id, kind) = (r.text()?, r.text()?, r.text()?, r.text()?);
    // A word that this version does not know shares the least.
    let kind = SharedKind::from_word(&kind).unwrap_or(SharedKind::Baton);
    Ok(Share {
        share_id,
        hash,
        project_id,
        kind,
        object_id: r.text()?,
        created_by: r.text()?,
        created_at: r.int()?,
        expires_at: r.int()?,
        revoked_at: r.opt_int()?,
    })
}

/// Keeps a new share.
pub fn insert(tx: &mut Tx<'_>, share: &Share) -> Result<(), Fault> {
    tx.execute_deferred(
        INSERT,
        params![
            &share.share_id,
            &share.hash,
            &share.project_id,
            share.kind.as_str(),
            &share.object_id,
            &share.created_by,
            share.created_at,
            share.expires_at,
            share.revoked_at
        ],
    )?;
    tx.count_change(&share.project_id)
}

/// The share whose secret has this hash.
pub fn by_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<Share>, Fault> {
    tx.query_opt(BY_HASH, params![hash])?.map(read).transpose()
}

/// One share.
pub fn get(tx: &mut Tx<'_>, share_id: &str) -> Result<Option<Share>, Fault> {
    tx.query_opt(GET, params![share_id])?.map(read).transpose()
}

/// Shares of a project that are older than a place, the newest first.
pub fn page(
    tx: &mut Tx<'_>,
    project_id: &str,
    (at, id): (Millis, &str),
    limit: i64,
) -> Result<Vec<Share>, Fault> {
    tx.query(OF_PROJECT, params![project_id, at, id, limit])?.into_iter().map(read).collect()
}

/// Project and id of the shares whose id begins so; more than one says only that it is not unique.
pub fn by_prefix(tx: &mut Tx<'_>, prefix: &str) -> Result<Vec<(String, String)>, Fault> {
    let rows = tx.query(BY_PREFIX, params![prefix, crate::prefix_end(prefix)])?;
    let read = |row: Row| {
        let mut r = row.reader();
        Ok((r.text()?, r.text()?))
    };
    rows.into_iter().map(read).collect()
}

/// Every share that was taken back, and when.
pub fn revocations(tx: &mut Tx<'_>) -> Result<Vec<(String, Millis)>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        Ok((r.text()?, r.int()?))
    };
    tx.query(REVOCATIONS, params![])?.into_iter().map(read).collect()
}

/// Takes a share back; false when it was before.
pub fn revoke(tx: &mut Tx<'_>, share_id: &str, now: Millis) -> Result<bool, Fault> {
    let is_new = tx.execute(REVOKE, params![now, share_id])? == 1;
    if let Some(share) = get(tx, share_id)?.filter(|_| is_new) {
        tx.count_change(&share.project_id)?;
    }
    Ok(is_new)
}
