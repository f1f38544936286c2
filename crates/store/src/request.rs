//! Kept answers: a request that is repeated under its key gets the first answer again.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

/// What tells one request from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The project; empty where the request belongs to none.
    pub project_id: String,
    /// Whose request it is; empty for a key that is made of what it is about, such as a transcript.
    pub caller: String,
    /// The operation.
    pub verb: &'static str,
    /// The id that the caller chose.
    pub request_id: String,
}

/// A kept answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// Hash of the body that was answered; empty where the key says it all.
    pub fingerprint: String,
    /// The answer as JSON.
    pub answer: String,
    /// When it may be forgotten; never, where it is none.
    pub expires_at: Option<Millis>,
}

crate::sql! {
    GET = "SELECT fingerprint, answer, expires_at FROM request WHERE project_id = $1 AND caller = $2 AND verb = $3
        AND request_id = $4";
    PUT = "INSERT INTO request (project_id, caller, verb, request_id, fingerprint, answer, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    PUT_FIRST = "INSERT INTO request (project_id, caller, verb, request_id, fingerprint, answer, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    REPLACE = "INSERT INTO request (project_id, caller, verb, request_id, fingerprint, answer, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (project_id, caller, verb, request_id) DO UPDATE SET
        fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at,
        expires_at = excluded.expires_at";
    NAMING = "SELECT caller, verb, request_id, answer FROM request WHERE project_id = $1 AND answer LIKE $2
        ORDER BY caller, verb, request_id";
    REWRITE = "UPDATE request SET answer = $1 WHERE project_id = $2 AND caller = $3 AND verb = $4 AND request_id = $5";
    COPY = "INSERT INTO request (project_id, caller, verb, request_id, fingerprint, answer, created_at, expires_at)
        SELECT $1, caller, verb, request_id, fingerprint, answer, created_at, expires_at FROM request
        WHERE project_id = $2 AND caller <> '' AND verb NOT IN ('session_start', 'hd_exec') ON CONFLICT DO NOTHING";
    TAKE_BACK = "DELETE FROM request WHERE project_id = $1 AND EXISTS (SELECT 1 FROM request own WHERE own.project_id = $2
        AND own.caller = request.caller AND own.verb = request.verb AND own.request_id = request.request_id
        AND own.created_at = request.created_at AND own.fingerprint = request.fingerprint)";
    FORGET = "DELETE FROM request WHERE expires_at < $1";
}

/// The answer under a key.
pub fn get(tx: &mut Tx<'_>, key: &Key) -> Result<Option<StoredAnswer>, Fault> {
    match tx.query_opt(GET, params![&key.project_id, &key.caller, key.verb, &key.request_id])? {
        Some(row) => {
            let mut r = row.reader();
            Ok(Some(StoredAnswer { fingerprint: r.text()?, answer: r.text()?, expires_at: r.opt_int()? }))
        }
        None => Ok(None),
    }
}

/// Changes the kept answers of a project in which a text occurs.
pub fn rewrite(
    tx: &mut Tx<'_>,
    project_id: &str,
    naming: &str,
    change: impl Fn(&str) -> Option<String>,
) -> Result<(), Fault> {
    for row in tx.query(NAMING, params![project_id, format!("%{naming}%")])? {
        let mut r = row.reader();
        let (caller, verb, request_id, answer) = (r.text()?, r.text()?, r.text()?, r.text()?);
        if let Some(answer) = change(&answer) {
            tx.execute(REWRITE, params![answer, project_id, caller, verb, request_id])?;
        }
    }
    Ok(())
}

/// Keeps an answer. The project's row is in hand, so the key is known to be free.
pub fn put(tx: &mut Tx<'_>, key: &Key, answer: &StoredAnswer, now: Millis) -> Result<(), Fault> {
    write(tx, PUT, (key, answer), now)
}

/// Keeps an answer in the place of the one before.
pub fn replace(tx: &mut Tx<'_>, key: &Key, answer: &StoredAnswer, now: Millis) -> Result<(), Fault> {
    write(tx, REPLACE, (key, answer), now)
}

fn write(
    tx: &mut Tx<'_>,
    statement: &'static str,
    (key, answer): (&Key, &StoredAnswer),
    now: Millis,
) -> Result<(), Fault> {
    let values = params![
        &key.project_id,
        &key.caller,
        key.verb,
        &key.request_id,
        &answer.fingerprint,
        &answer.answer,
        now,
        answer.expires_at
    ];
    tx.execute_deferred(statement, values)?;
    Ok(())
}

/// Keeps an answer where no row of a project keeps others away; false when the same request was answered meanwhile.
pub fn put_first(tx: &mut Tx<'_>, key: &Key, answer: &StoredAnswer, now: Millis) -> Result<bool, Fault> {
    let values = params![
        &key.project_id,
        &key.caller,
        key.verb,
        &key.request_id,
        &answer.fingerprint,
        &answer.answer,
        now,
        answer.expires_at
    ];
    Ok(tx.execute(PUT_FIRST, values)? == 1)
}

/// Keeps the answers to a project's callers under another project, too: a retry after a merge comes from there. What is already
/// answered there stays. A session that was begun stays in its own project, so a retry begins another one.
pub fn copy(tx: &mut Tx<'_>, from: &str, into: &str) -> Result<(), Fault> {
    tx.execute(COPY, params![into, from])?;
    Ok(())
}

/// Takes back what [`copy`] kept: after an undone merge the same id is another request in the other project.
pub fn take_back(tx: &mut Tx<'_>, from: &str, into: &str) -> Result<(), Fault> {
    tx.execute(TAKE_BACK, params![into, from])?;
    Ok(())
}

/// Forgets the answers that were kept until before an instant; returns how many.
pub fn forget(tx: &mut Tx<'_>, now: Millis) -> Result<u64, Fault> {
    tx.execute(FORGET, params![now])
}
