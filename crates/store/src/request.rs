//! Answers kept by request id, so that a retry returns the same ids.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    GET = "SELECT verb, answer FROM request WHERE project_id = $1 AND request_id = $2";
    PUT = "INSERT INTO request (project_id, request_id, verb, answer, created_at) VALUES ($1, $2, $3, $4, $5)";
    // What a caller's own request id was answered has no fingerprint after its verb.
    FORGET = "DELETE FROM request WHERE created_at < $1 AND verb LIKE '%#%'";
}

/// The verb and the answer kept under a request id.
pub fn get(tx: &mut Tx<'_>, project_id: &str, request_id: &str) -> Result<Option<(String, String)>, Fault> {
    match tx.query_opt(GET, params![project_id, request_id])? {
        Some(row) => {
            let mut r = row.reader();
            Ok(Some((r.text()?, r.text()?)))
        }
        None => Ok(None),
    }
}

/// Keeps an answer.
pub fn put(
    tx: &mut Tx<'_>,
    project_id: &str,
    request_id: &str,
    verb: &str,
    answer: &str,
    now: Millis,
) -> Result<(), Fault> {
    tx.send(PUT, params![project_id, request_id, verb, answer, now])?;
    Ok(())
}

/// Forgets the answers to keyed requests from before an instant; returns how many.
pub fn forget(tx: &mut Tx<'_>, before: Millis) -> Result<u64, Fault> {
    tx.execute(FORGET, params![before])
}
