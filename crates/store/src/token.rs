//! Access tokens, by the hash of their secret.

use baton_model::access::{Bearer, Grant, Scope, Token};
use baton_model::time::Millis;

use crate::engine::{ANY_TOKEN, Fault, Row, Tx};
use crate::{json, params};

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "token_id, hash, name, scope, projects, created_by, created_at, expires_at, revoked_at, identities"
    };
}

crate::sql! {
    INSERT = concat!("INSERT INTO access_token (", columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
    BY_HASH = concat!("SELECT ", columns!(), " FROM access_token WHERE hash = $1");
    GET = concat!("SELECT ", columns!(), " FROM access_token WHERE token_id = $1");
    LIST = concat!("SELECT ", columns!(), " FROM access_token ORDER BY created_at, token_id");
    REVOKE = "UPDATE access_token SET revoked_at = $1 WHERE token_id = $2 AND revoked_at IS NULL";
    ANY = ANY_TOKEN;
}

fn read(row: Row) -> Result<Token, Fault> {
    let mut r = row.reader();
    let (token_id, hash, name, scope) = (r.text()?, r.text()?, r.text()?, r.text()?);
    let projects = r.opt_text()?.map(|text| json::read(&text)).transpose()?;
    // A word that this version does not know lets its bearer do the least.
    let scope = Scope::from_word(&scope).unwrap_or(Scope::Read);
    let (created_by, created_at) = (r.text()?, r.int()?);
    let (expires_at, revoked_at) = (r.opt_int()?, r.opt_int()?);
    let identities = r.opt_text()?.map(|text| json::read(&text)).transpose()?;
    let bearer = Bearer { token_id: token_id.clone(), name: name.clone(), identities };
    Ok(Token {
        token_id,
        hash,
        name,
        grant: Grant { scope, projects, bearer: Some(bearer), ..Grant::default() },
        created_by,
        created_at,
        expires_at,
        revoked_at,
    })
}

/// Keeps a new token.
pub fn insert(tx: &mut Tx<'_>, token: &Token) -> Result<(), Fault> {
    let list = |names: &Vec<String>| serde_json::json!(names).to_string();
    let projects = token.grant.projects.as_ref().map(list);
    let identities = token.identities().map(list);
    tx.execute_deferred(
        INSERT,
        params![
            &token.token_id,
            &token.hash,
            &token.name,
            token.grant.scope.as_str(),
            projects,
            &token.created_by,
            token.created_at,
            token.expires_at,
            token.revoked_at,
            identities
        ],
    )?;
    Ok(())
}

/// The token whose secret has this hash.
pub fn by_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<Token>, Fault> {
    tx.query_opt(BY_HASH, params![hash])?.map(read).transpose()
}

/// One token.
pub fn get(tx: &mut Tx<'_>, token_id: &str) -> Result<Option<Token>, Fault> {
    tx.query_opt(GET, params![token_id])?.map(read).transpose()
}

/// Every token, oldest first.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Token>, Fault> {
    tx.query(LIST, params![])?.into_iter().map(read).collect()
}

/// Takes a token back; false when it was before.
pub fn revoke(tx: &mut Tx<'_>, token_id: &str, now: Millis) -> Result<bool, Fault> {
    Ok(tx.execute(REVOKE, params![now, token_id])? == 1)
}

/// Whether a token was ever made, also one that was revoked or has expired since: from then on a server requires one of every caller.
pub fn has_any(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let row = tx.query_opt(ANY, params![])?;
    Ok(match row {
        Some(row) => row.reader().int()? > 0,
        None => false,
    })
}
