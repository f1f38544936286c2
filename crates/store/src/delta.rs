//! The append-only ledger.

use baton_model::delta::{Delta, Kind};
use baton_model::time::Millis;

use crate::engine::{CommitEvent, Fault, Row, Tx, Value};
use crate::{chain, params};

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, seq, delta_id, kind, session_id, identity, created_at, inherited_from, thread_id, \
         body"
    };
}

crate::sql! {
    HEADS = "SELECT project_id, seq, change_count FROM project ORDER BY project_id";
    HEAD = "SELECT project_id, seq, change_count FROM project WHERE project_id = $1";
    INSERT = "INSERT INTO delta (project_id, seq, delta_id, kind, session_id, identity, created_at, inherited_from, thread_id,
        body, chain) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    GET = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND delta_id = $2");
    NEWEST = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND created_at >= $2 ORDER BY seq DESC LIMIT $3");
    AFTER = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
    NEWEST_KIND = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND kind = $2 ORDER BY seq DESC LIMIT $3");
    RECOVERIES = concat!("SELECT ", columns!(), " FROM (SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND kind = 'pickup'
        ORDER BY seq DESC LIMIT $2) p WHERE body LIKE '%recovered_sessions%' ORDER BY seq DESC");
    BEFORE = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3");
    KIND_BEFORE = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND kind = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4");
    KIND_SINCE = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND kind = $2 AND created_at >= $3 ORDER BY seq");
    DECISIONS_BEFORE = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND kind = 'decision'
        AND (created_at < $2 OR (created_at = $2 AND seq < $3)) ORDER BY created_at DESC, seq DESC LIMIT $4");
    LAST_OF_SESSION = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND session_id = $2 AND kind = $3
        ORDER BY seq DESC LIMIT 1");
    NEWEST_OF_SESSION = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND session_id = $2
        ORDER BY seq DESC LIMIT $3");
    NOTES_OF_HELD_BATON = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND kind = $2 AND session_id = (
        SELECT b.session_id FROM session s JOIN baton b ON b.project_id = s.project_id AND b.baton_id = s.baton_id
        WHERE s.project_id = $1 AND s.session_id = $3) ORDER BY seq");
    ACTIVITY = "SELECT (recent.created_at - $1) / $2, COUNT(*) FROM (SELECT created_at FROM delta
        WHERE project_id = $3 AND session_id = $4 ORDER BY seq DESC LIMIT $5) recent
        WHERE recent.created_at >= $1 GROUP BY (recent.created_at - $1) / $2 ORDER BY 1";
    WITH_USAGE = "SELECT recent.body FROM (SELECT seq, body FROM delta WHERE project_id = $1 AND session_id = $2
        ORDER BY seq DESC LIMIT $3) recent WHERE recent.body LIKE '%\"tokens\":{%' ORDER BY recent.seq DESC LIMIT 3";
    OF_KIND_IN_SESSION = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND session_id = $2 AND kind = $3 ORDER BY seq");
    OF_SESSION = concat!("SELECT ", columns!(), " FROM delta WHERE project_id = $1 AND session_id = $2 ORDER BY seq");
}

fn read(row: Row) -> Result<Delta, Fault> {
    let mut r = row.reader();
    Ok(Delta {
        project_id: r.text()?,
        seq: r.int()?,
        delta_id: r.text()?,
        kind: Kind::from_word(&r.text()?),
        session_id: r.opt_text()?,
        identity: r.text()?,
        created_at: r.int()?,
        inherited_from: r.opt_text()?,
        thread_id: r.opt_text()?,
        body: r.text()?,
    })
}

fn read_all(rows: Vec<Row>) -> Result<Vec<Delta>, Fault> {
    rows.into_iter().map(read).collect()
}

/// How far a project has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The project.
    pub project_id: String,
    /// The newest number of its ledger; it may have no delta.
    pub seq: i64,
    /// How many changes there were that no delta records.
    pub change_count: i64,
}

fn read_head(row: Row) -> Result<Head, Fault> {
    let mut r = row.reader();
    Ok(Head { project_id: r.text()?, seq: r.int()?, change_count: r.int()? })
}

/// How far every project has come.
pub fn heads(tx: &mut Tx<'_>) -> Result<Vec<Head>, Fault> {
    tx.query(HEADS, params![])?.into_iter().map(read_head).collect()
}

/// How far these projects have come; those that are not there are left out.
pub fn heads_of(tx: &mut Tx<'_>, projects: &[String]) -> Result<Vec<Head>, Fault> {
    tx.prefetch(|tx| {
        for project_id in projects {
            drop(tx.query_opt(HEAD, params![project_id]));
        }
    });
    let mut found = Vec::new();
    for project_id in projects {
        found.extend(tx.query_opt(HEAD, params![project_id])?.map(read_head).transpose()?);
    }
    Ok(found)
}

/// Appends a delta. Its number must come from [`Tx::next_seq`] of the same transaction.
pub fn append(tx: &mut Tx<'_>, delta: &Delta) -> Result<(), Fault> {
    let previous = tx.chain_head(&delta.project_id)?;
    let chain = insert(tx, delta, &previous)?;
    tx.grow_chain(&delta.project_id, chain)?;
    tx.note(|| CommitEvent::Head { project_id: delta.project_id.clone(), seq: delta.seq });
    Ok(())
}

/// Writes a delta of an import behind the one whose `chain` is `previous`, and returns its own. The project's row comes with
/// the import.
pub fn restore(tx: &mut Tx<'_>, delta: &Delta, previous: &str) -> Result<String, Fault> {
    let chain = insert(tx, delta, previous)?;
    tx.note(|| CommitEvent::Head { project_id: delta.project_id.clone(), seq: delta.seq });
    Ok(chain)
}

/// The `chain` of a delta that follows one whose `chain` is `previous`.
pub fn chain_hash(delta: &Delta, previous: &str) -> String {
    chain::chain_hash(previous, &values(delta))
}

fn insert(tx: &mut Tx<'_>, delta: &Delta, previous: &str) -> Result<String, Fault> {
    let mut values = values(delta);
    let chain = chain::chain_hash(previous, &values);
    values.push(chain.as_str().into());
    tx.execute_deferred(INSERT, &values)?;
    Ok(chain)
}

/// The columns of a delta that its hash covers.
fn values(delta: &Delta) -> Vec<Value> {
    params![
        &delta.project_id,
        delta.seq,
        &delta.delta_id,
        delta.kind.as_str(),
        delta.session_id.clone(),
        &delta.identity,
        delta.created_at,
        delta.inherited_from.clone(),
        delta.thread_id.clone(),
        &delta.body,
    ]
    .to_vec()
}

/// The deltas after a number with their `chain`, oldest first.
pub fn chained(
    tx: &mut Tx<'_>,
    project_id: &str,
    seq: i64,
    limit: i64,
) -> Result<Vec<(Delta, String)>, Fault> {
    let rows = tx.query(chain::AFTER, params![project_id, seq, limit])?;
    let split = |mut row: Row| {
        let chain = Row(row.0.split_off(chain::COVERED.min(row.0.len()))).reader().text()?;
        Ok((read(row)?, chain))
    };
    rows.into_iter().map(split).collect()
}

/// One delta.
pub fn get(tx: &mut Tx<'_>, project_id: &str, delta_id: &str) -> Result<Option<Delta>, Fault> {
    tx.query_opt(GET, params![project_id, delta_id])?.map(read).transpose()
}

/// The newest deltas since an instant, newest first.
pub fn newest(tx: &mut Tx<'_>, project_id: &str, since: Millis, limit: i64) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(NEWEST, params![project_id, since, limit])?)
}

/// The deltas after a number, oldest first: a reader that polls with its cursor never skips one.
pub fn after_seq(tx: &mut Tx<'_>, project_id: &str, seq: i64, limit: i64) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(AFTER, params![project_id, seq, limit])?)
}

/// The newest deltas of one kind, newest first.
pub fn newest_of_kind(
    tx: &mut Tx<'_>,
    project_id: &str,
    kind: Kind,
    limit: i64,
) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(NEWEST_KIND, params![project_id, kind.as_str(), limit])?)
}

/// Those of the newest pickups that may have brought work without a baton, the newest first.
pub fn recoveries(tx: &mut Tx<'_>, project_id: &str, looked_at: i64) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(RECOVERIES, params![project_id, looked_at])?)
}

/// The newest deltas before a number, the newest first; of one kind where one is given.
pub fn page_before(
    tx: &mut Tx<'_>,
    project_id: &str,
    kind: Option<Kind>,
    seq: i64,
    limit: i64,
) -> Result<Vec<Delta>, Fault> {
    read_all(match kind {
        Some(kind) => tx.query(KIND_BEFORE, params![project_id, kind.as_str(), seq, limit])?,
        None => tx.query(BEFORE, params![project_id, seq, limit])?,
    })
}

/// The newest decisions before an instant, and of that instant those before a number, the newest first.
pub fn decisions_before(
    tx: &mut Tx<'_>,
    project_id: &str,
    (at, seq): (Millis, i64),
    limit: i64,
) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(DECISIONS_BEFORE, params![project_id, at, seq, limit])?)
}

/// The deltas of one kind since an instant, oldest first.
pub fn kind_since(tx: &mut Tx<'_>, project_id: &str, kind: Kind, since: Millis) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(KIND_SINCE, params![project_id, kind.as_str(), since])?)
}

/// Everything that a session wrote, oldest first.
pub fn of_session(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(OF_SESSION, params![project_id, session_id])?)
}

/// What a session wrote of one kind, oldest first.
pub fn of_kind_in_session(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
    kind: Kind,
) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(OF_KIND_IN_SESSION, params![project_id, session_id, kind.as_str()])?)
}

/// The notes of the session that left the baton which this session holds or held, oldest first.
pub fn notes_of_held_baton(
    tx: &mut Tx<'_>,
    project_id: &str,
    holder_session_id: &str,
) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(NOTES_OF_HELD_BATON, params![project_id, Kind::Note.as_str(), holder_session_id])?)
}

/// The newest that a session wrote, the newest first.
pub fn newest_of_session(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
    limit: i64,
) -> Result<Vec<Delta>, Fault> {
    read_all(tx.query(NEWEST_OF_SESSION, params![project_id, session_id, limit])?)
}

/// The newest delta of a kind that a session wrote.
pub fn last_of_session(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
    kind: Kind,
) -> Result<Option<Delta>, Fault> {
    tx.query_opt(LAST_OF_SESSION, params![project_id, session_id, kind.as_str()])?.map(read).transpose()
}

/// How many of its newest entries the activity of a session is counted from, and how many its cost is looked for in.
const ACTIVITY_OF: i64 = 2_000;
const USAGE_IN: i64 = 50;

/// How much a session wrote in each span of time since an instant: the number of the span, and how many entries. Only its newest
/// entries are counted, so that the cost does not grow with what it wrote before.
pub fn activity(
    tx: &mut Tx<'_>,
    (project_id, session_id): (&str, &str),
    since: Millis,
    span: Millis,
) -> Result<Vec<(i64, i64)>, Fault> {
    let rows = tx.query(ACTIVITY, params![since, span, project_id, session_id, ACTIVITY_OF])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.int()?, r.int()?))
        })
        .collect()
}

/// The newest texts of a session that may tell what it used, the newest first.
pub fn with_usage(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(WITH_USAGE, params![project_id, session_id, USAGE_IN])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}
