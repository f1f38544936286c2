//! The search index of transcripts: a database of its own beside the ledger, on every engine the same.
//!
//! All of it can be rebuilt, so it is no part of a backup or an export, and writing to it never blocks writers of the
//! ledger. Transcripts belong to one machine, and so does their index: a ledger on a server has none. It is always
//! SQLite, with its full-text search (FTS5); these are the only statements that are not for both engines.
//!
//! A session has a number, and each of its passages the number `session << 20 | place`.

use serde_json::json;

use crate::engine::{Failure, Fault, FaultKind, Row, Store, Target, Tx};
use crate::migrate::Migrations;
use crate::params;

/// Where an index of this version lies beside others.
pub const FILE: &str = "transcript-search-3.db";

/// Indexes of versions before, which hold what is taken out today, or lack by what it is told who may see it.
const FORMER: [&str; 2] = ["transcript-search-1.db", "transcript-search-2.db"];

/// More passages than this are not kept of one session.
pub const MAX_PASSAGES: i64 = 1 << SHIFT;

const SHIFT: i64 = 20;

/// Words are fed as `baton_transcripts` makes them, so FTS5 only has to be configured for pictographs. It keeps no
/// text: what is shown of a passage lies packed beside it.
const SCHEMA: Migrations = &[(
    "0001_search",
    "CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        size BIGINT NOT NULL,
        mtime_ns BIGINT NOT NULL,
        inode BIGINT NOT NULL,
        agent TEXT NOT NULL,
        native_id TEXT NOT NULL,
        cwd TEXT NOT NULL,
        folders TEXT NOT NULL,
        updated_at BIGINT NOT NULL,
        header TEXT NOT NULL,
        passages BIGINT NOT NULL
    );
    CREATE TABLE passage (id INTEGER PRIMARY KEY, mark BIGINT NOT NULL, packed BLOB NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(
        text, content = '', contentless_delete = 1, detail = full,
        tokenize = \"unicode61 remove_diacritics 2 categories 'L* N* Co So Sk'\"
    );
    CREATE TABLE redaction (rules BIGINT NOT NULL);",
)];

crate::sql! {
    RULES = "SELECT rules FROM redaction";
    PUT_RULES = "INSERT INTO redaction (rules) VALUES ($1)";
    KNOWN = "SELECT number, name, size, mtime_ns, inode, passages FROM session";
    ONE = "SELECT number, name, size, mtime_ns, inode, passages FROM session WHERE name = $1";
    ABOUT = "SELECT number, agent, native_id, cwd, folders, updated_at FROM session";
    HEADER = "SELECT header FROM session WHERE number = $1";
    TOTALS = "SELECT count(*), CAST(total(passages) AS INTEGER), CAST(total(size) AS INTEGER) FROM session";
    NEXT = "SELECT coalesce(max(number), 0) + 1 FROM session";
    PUT = "INSERT INTO session (number, name, size, mtime_ns, inode, agent, native_id, cwd, folders, updated_at, header,
        passages) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (number) DO UPDATE SET
        size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode, agent = excluded.agent,
        native_id = excluded.native_id, cwd = excluded.cwd, folders = excluded.folders,
        updated_at = excluded.updated_at, header = excluded.header, passages = excluded.passages";
    FORGET = "DELETE FROM session WHERE number = $1";
    MARK = "SELECT mark FROM passage WHERE id = $1";
    PUT_PASSAGE = "INSERT INTO passage (id, mark, packed) VALUES ($1, $2, $3)";
    PUT_WORDS = "INSERT INTO words (rowid, text) VALUES ($1, $2)";
    DELETE_PASSAGE = "DELETE FROM passage WHERE id = $1";
    DELETE_WORDS = "DELETE FROM words WHERE rowid = $1";
    PACKED = "SELECT packed FROM passage WHERE id = $1";
    // Newest sessions first: their numbers are the highest. Millionths, because a column is never a fraction.
    HITS = "SELECT rowid, CAST(bm25(words) * -1000000 AS INTEGER) FROM words WHERE words MATCH $1
        ORDER BY rowid DESC LIMIT $2";
    HITS_AMONG = "SELECT rowid, CAST(bm25(words) * -1000000 AS INTEGER) FROM words WHERE words MATCH $1
        AND rowid >> 20 IN (SELECT value FROM json_each($2)) ORDER BY rowid DESC LIMIT $3";
    SESSIONS = "SELECT DISTINCT rowid >> 20 FROM words WHERE words MATCH $1";
    FILE_FAULTS = "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'";
    CHECK_WORDS = "INSERT INTO words (words) VALUES ('integrity-check')";
    STRAY = "SELECT 'passage ' || passage.id || ' is of no session' FROM passage LEFT JOIN session
        ON session.number = passage.id >> 20 AND (passage.id & 1048575) < session.passages WHERE session.number IS NULL";
    SHORT = "SELECT 'session ' || number || ' lacks passages' FROM session WHERE passages <>
        (SELECT count(*) FROM passage WHERE id >= number << 20 AND id < (number + 1) << 20)";
}

/// What an index stores of a session, to detect a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedTranscript {
    /// Its number.
    pub number: i64,
    /// Path of its file; of a session in a database also `#` and its key.
    pub name: String,
    /// Size of the file in bytes.
    pub size: i64,
    /// Its modification time in nanoseconds.
    pub mtime_ns: i64,
    /// Its inode, or 0 where there is none.
    pub inode: i64,
    /// How many passages there are of it.
    pub passages: i64,
}

/// What narrows a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchScope {
    /// Number of the session.
    pub number: i64,
    /// Id of its tool.
    pub agent: String,
    /// The tool's own id of it.
    pub native_id: String,
    /// Its working directory, or nothing.
    pub cwd: String,
    /// Every working directory that its entries name.
    pub folders: Vec<String>,
    /// Its last entry, in epoch milliseconds.
    pub updated_at: i64,
}

/// A passage that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its id.
    pub id: i64,
    /// How well it fits, in millionths; more is better.
    pub score: i64,
}

impl Hit {
    /// The number of its session.
    pub fn session(self) -> i64 {
        self.id >> SHIFT
    }
}

/// Opens the index, and makes it anew when it cannot be read or secrets were taken out of it by other rules than these:
/// what was in it is read again from the transcripts.
pub fn open(target: &Target, rules: u64, now_ms: i64) -> Result<Store, Failure> {
    let rules = i64::from_ne_bytes(rules.to_ne_bytes());
    if let Target::File(path) = target {
        FORMER.iter().for_each(|name| remove_index(&Target::File(path.with_file_name(name))));
    }
    let mut index = open_as_it_is(target, now_ms)?;
    let made_by =
        index.read(|tx| Ok(tx.query_opt(RULES, params![])?.map(|row| row.reader().int()).transpose()?))?;
    match made_by {
        Some(known) if known == rules => return Ok(index),
        Some(_) => {
            drop(index);
            remove_index(target);
            index = open_as_it_is(target, now_ms)?;
        }
        None => {}
    }
    index.write_relaxed(|tx| {
        // Another process may have been faster.
        if tx.query_opt(RULES, params![])?.is_none() {
            tx.execute_deferred(PUT_RULES, params![rules])?;
        }
        Ok(())
    })?;
    Ok(index)
}

fn open_as_it_is(target: &Target, now_ms: i64) -> Result<Store, Fault> {
    match (Store::open_with(target, SCHEMA, now_ms), target) {
        (Err(fault), Target::File(_)) if needs_rebuild(&fault) => {
            remove_index(target);
            Store::open_with(target, SCHEMA, now_ms)
        }
        (opened, _) => opened,
    }
}

/// Whether an index with this fault is better made anew.
pub fn needs_rebuild(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Corrupt | FaultKind::Incomplete | FaultKind::Newer { .. })
}

/// Whether another process has made the index anew: it is opened again.
pub fn was_rebuilt(fault: &Fault) -> bool {
    fault.kind == FaultKind::Replaced
}

/// Removes the index with its log. A process that has it open goes on with what it has.
pub fn remove_index(target: &Target) {
    let Target::File(path) = target else { return };
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut file = path.clone().into_os_string();
        file.push(suffix);
        // What cannot be removed is met again when it is opened.
        let _ = std::fs::remove_file(file);
    }
}

/// Every statement by name: what a test prepares on an index.
pub fn statements() -> &'static [(&'static str, &'static str)] {
    ALL
}

/// Everything that is indexed.
pub fn indexed_transcripts(tx: &mut Tx<'_>) -> Result<Vec<IndexedTranscript>, Fault> {
    tx.query(KNOWN, params![])?.into_iter().map(indexed).collect()
}

/// A session by its name.
pub fn find_by_name(tx: &mut Tx<'_>, name: &str) -> Result<Option<IndexedTranscript>, Fault> {
    tx.query_opt(ONE, params![name])?.map(indexed).transpose()
}

fn indexed(row: Row) -> Result<IndexedTranscript, Fault> {
    let mut r = row.reader();
    Ok(IndexedTranscript {
        number: r.int()?,
        name: r.text()?,
        size: r.int()?,
        mtime_ns: r.int()?,
        inode: r.int()?,
        passages: r.int()?,
    })
}

/// What narrows a search, of every session.
pub fn scopes(tx: &mut Tx<'_>) -> Result<Vec<SearchScope>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        Ok(SearchScope {
            number: r.int()?,
            agent: r.text()?,
            native_id: r.text()?,
            cwd: r.text()?,
            folders: serde_json::from_str(&r.text()?).unwrap_or_default(),
            updated_at: r.int()?,
        })
    };
    tx.query(ABOUT, params![])?.into_iter().map(read).collect()
}

/// The header of a session as JSON.
pub fn header(tx: &mut Tx<'_>, number: i64) -> Result<Option<String>, Fault> {
    tx.query_opt(HEADER, params![number])?.map(|row| row.reader().text()).transpose()
}

/// How many sessions and passages there are, and the bytes of the files.
pub fn totals(tx: &mut Tx<'_>) -> Result<(i64, i64, i64), Fault> {
    let mut r = tx.query_one(TOTALS, params![])?.reader();
    Ok((r.int()?, r.int()?, r.int()?))
}

/// The number of a new session: higher than all others.
pub fn next_number(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    tx.query_one(NEXT, params![])?.reader().int()
}

/// Keeps what is known of a session.
pub fn put(
    tx: &mut Tx<'_>,
    session: &IndexedTranscript,
    about: &SearchScope,
    header: &str,
) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            session.number,
            &session.name,
            session.size,
            session.mtime_ns,
            session.inode,
            &about.agent,
            &about.native_id,
            &about.cwd,
            json!(about.folders).to_string(),
            about.updated_at,
            header,
            session.passages
        ],
    )?;
    Ok(())
}

/// The mark of a passage, if there is one at this place of the session.
pub fn passage_line(tx: &mut Tx<'_>, session: i64, place: i64) -> Result<Option<i64>, Fault> {
    tx.query_opt(MARK, params![id(session, place)])?.map(|row| row.reader().int()).transpose()
}

/// Adds a passage at a place that is free.
pub fn put_passage(
    tx: &mut Tx<'_>,
    session: i64,
    place: i64,
    mark: i64,
    words: &str,
    packed: Vec<u8>,
) -> Result<(), Fault> {
    let id = id(session, place);
    tx.execute_deferred(PUT_PASSAGE, params![id, mark, packed])?;
    tx.execute_deferred(PUT_WORDS, params![id, words])?;
    Ok(())
}

/// Removes the passages of a session from one place up to another, which stays.
pub fn delete_passages(tx: &mut Tx<'_>, session: i64, from: i64, to: i64) -> Result<(), Fault> {
    for place in from..to {
        tx.execute_deferred(DELETE_WORDS, params![id(session, place)])?;
        tx.execute_deferred(DELETE_PASSAGE, params![id(session, place)])?;
    }
    Ok(())
}

/// Removes a session that is gone.
pub fn forget(tx: &mut Tx<'_>, session: &IndexedTranscript) -> Result<(), Fault> {
    delete_passages(tx, session.number, 0, session.passages)?;
    tx.execute_deferred(FORGET, params![session.number])?;
    Ok(())
}

/// The packed text of a passage.
pub fn packed(tx: &mut Tx<'_>, hit: Hit) -> Result<Option<Vec<u8>>, Fault> {
    tx.query_opt(PACKED, params![hit.id])?.map(|row| row.reader().blob()).transpose()
}

/// At most so many passages in which a query occurs, those of the newest sessions first; only in these sessions, where
/// some are given.
pub fn hits(tx: &mut Tx<'_>, query: &str, among: Option<&[i64]>, limit: i64) -> Result<Vec<Hit>, Fault> {
    let rows = match among {
        None => tx.query(HITS, params![query, limit])?,
        Some(numbers) => tx.query(HITS_AMONG, params![query, list(numbers), limit])?,
    };
    let read = |row: Row| {
        let mut r = row.reader();
        Ok(Hit { id: r.int()?, score: r.int()? })
    };
    rows.into_iter().map(read).collect()
}

/// Every session in which a query occurs.
pub fn sessions(tx: &mut Tx<'_>, query: &str) -> Result<Vec<i64>, Fault> {
    tx.query(SESSIONS, params![query])?.into_iter().map(|row| row.reader().int()).collect()
}

/// What is wrong with the index: damage of the file, passages without a session, sessions that lack some. Reads all of it.
pub fn faults(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    tx.execute_deferred(CHECK_WORDS, params![])?;
    let mut faults = Vec::new();
    for check in [FILE_FAULTS, STRAY, SHORT] {
        for row in tx.query(check, params![])? {
            faults.push(row.reader().text()?);
        }
    }
    Ok(faults)
}

fn id(session: i64, place: i64) -> i64 {
    session << SHIFT | place
}

fn list(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}
