//! Public keys: who can be written to so that only they can read it. Private keys are never here.

use baton_model::id::identity_key;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    PUT = "INSERT INTO public_key (project_id, identity_key, identity, recipient, added_by, added_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project_id, identity_key) DO UPDATE SET
        recipient = excluded.recipient, added_by = excluded.added_by, added_at = excluded.added_at";
    GET = "SELECT identity, recipient, added_by, added_at FROM public_key WHERE project_id = $1 AND identity_key = $2";
    LIST = "SELECT identity, recipient, added_by, added_at FROM public_key WHERE project_id = $1 ORDER BY identity_key";
    REMOVE = "DELETE FROM public_key WHERE project_id = $1 AND identity_key = $2";
}

/// A listed key.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicKey {
    /// Whose it is.
    pub identity: String,
    /// What is encrypted to: `age1…`.
    pub recipient: String,
    /// Who listed it.
    pub added_by: String,
    /// When.
    pub added_at: Millis,
}

fn read(row: Row) -> Result<PublicKey, Fault> {
    let mut r = row.reader();
    Ok(PublicKey { identity: r.text()?, recipient: r.text()?, added_by: r.text()?, added_at: r.int()? })
}

/// The key of an identity.
pub fn get(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Option<PublicKey>, Fault> {
    tx.query_opt(GET, params![project_id, identity_key(identity)])?.map(read).transpose()
}

/// Every key of the project, by identity.
pub fn list(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<PublicKey>, Fault> {
    tx.query(LIST, params![project_id])?.into_iter().map(read).collect()
}

/// Lists a key, in place of the one before.
pub fn put(tx: &mut Tx<'_>, project_id: &str, key: &PublicKey) -> Result<(), Fault> {
    let id = identity_key(&key.identity);
    let params = params![project_id, id, &key.identity, &key.recipient, &key.added_by, key.added_at];
    tx.execute_deferred(PUT, params)?;
    Ok(())
}

/// Takes a key off the list; says whether there was one.
pub fn remove(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<bool, Fault> {
    Ok(tx.execute(REMOVE, params![project_id, identity_key(identity)])? == 1)
}
