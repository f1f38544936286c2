//! Memories.

use baton_model::memory::Memory;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx, Value};
use crate::{json, params};

/// Memories that one statement asks for.
const BATCH_SIZE: usize = 32;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, memory_id, kind, text, tags, importance, identity, handoff_id, created_at, withdrawn_at, \
         withdrawn_by, withdrawn_why"
    };
}

crate::sql! {
    INSERT = "INSERT INTO memory (project_id, memory_id, kind, text, tags, importance, identity, handoff_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project_id, memory_id) DO NOTHING";
    RESTORE = "UPDATE memory SET text = $1, withdrawn_at = NULL, withdrawn_by = NULL, withdrawn_why = NULL
        WHERE project_id = $2 AND memory_id = $3";
    GET = concat!("SELECT ", columns!(), " FROM memory WHERE project_id = $1 AND memory_id = $2");
    GET_MANY = concat!("SELECT ", columns!(), " FROM memory WHERE project_id = $1 AND memory_id IN ($2, $3, $4, $5, $6, $7, $8, $9, \
        $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)");
    PAGE = concat!("SELECT ", columns!(), " FROM memory WHERE project_id = $1 AND memory_id > $2 AND withdrawn_at IS NULL ORDER BY memory_id LIMIT $3");
    COUNT = "SELECT COUNT(*) FROM memory WHERE withdrawn_at IS NULL";
    RECENT = concat!("SELECT ", columns!(), " FROM memory WHERE project_id = $1 AND withdrawn_at IS NULL ORDER BY created_at DESC, memory_id DESC LIMIT $2");
    TEXTS = "SELECT memory_id, SUBSTR(text || ' ' || tags, 1, 4000) FROM memory WHERE project_id = $1 AND withdrawn_at IS NULL
        ORDER BY created_at DESC, memory_id DESC LIMIT $2";
    WITHDRAW = "UPDATE memory SET withdrawn_at = $1, withdrawn_by = $2, withdrawn_why = $3
        WHERE project_id = $4 AND memory_id = $5 AND withdrawn_at IS NULL";
    BY_PREFIX = "SELECT memory_id FROM memory WHERE project_id = $1 AND memory_id >= $2 AND memory_id < $3 ORDER BY memory_id LIMIT 5";
}

fn read(row: Row) -> Result<Memory, Fault> {
    let mut r = row.reader();
    Ok(Memory {
        project_id: r.text()?,
        memory_id: r.text()?,
        kind: r.text()?,
        text: r.text()?,
        tags: json::read(&r.text()?)?,
        importance: r.int()?,
        identity: r.text()?,
        handoff_id: r.opt_text()?,
        created_at: r.int()?,
        withdrawn_at: r.opt_int()?,
        withdrawn_by: r.opt_text()?,
        withdrawn_why: r.opt_text()?,
    })
}

/// Stores a memory, and its words for search. One that is there already stays.
pub fn insert(tx: &mut Tx<'_>, memory: &Memory) -> Result<(), Fault> {
    let tags = json::write(&memory.tags);
    let stored = tx.execute(
        INSERT,
        params![
            &memory.project_id,
            &memory.memory_id,
            &memory.kind,
            &memory.text,
            &tags,
            memory.importance,
            &memory.identity,
            memory.handoff_id.clone(),
            memory.created_at,
        ],
    )?;
    if stored == 1 {
        crate::search_memory::index(
            tx,
            &memory.project_id,
            &memory.memory_id,
            &format!("{} {tags}", memory.text),
        )?;
    }
    Ok(())
}

/// Takes a withdrawal back, with the text as it is now.
pub fn restore(tx: &mut Tx<'_>, memory: &Memory) -> Result<(), Fault> {
    tx.execute_deferred(RESTORE, params![&memory.text, &memory.project_id, &memory.memory_id])?;
    crate::search_memory::forget(tx, &memory.project_id, &memory.memory_id)?;
    let words = format!("{} {}", memory.text, json::write(&memory.tags));
    crate::search_memory::index(tx, &memory.project_id, &memory.memory_id, &words)
}

/// One memory, withdrawn or not.
pub fn get(tx: &mut Tx<'_>, project_id: &str, memory_id: &str) -> Result<Option<Memory>, Fault> {
    tx.query_opt(GET, params![project_id, memory_id])?.map(read).transpose()
}

/// The memories with these ids, withdrawn or not, in no order: so many at a time that a search asks a database a few times
/// and not hundreds.
pub fn get_many(tx: &mut Tx<'_>, project_id: &str, ids: &[String]) -> Result<Vec<Memory>, Fault> {
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(BATCH_SIZE) {
        let mut params = vec![Value::from(project_id)];
        params.extend(some.iter().map(|id| Value::from(id.as_str())));
        params.resize(BATCH_SIZE + 1, Value::Null);
        for row in tx.query(GET_MANY, &params)? {
            found.push(read(row)?);
        }
    }
    Ok(found)
}

/// Memories after this one by id that were not withdrawn.
pub fn page(tx: &mut Tx<'_>, project_id: &str, after: &str, limit: i64) -> Result<Vec<Memory>, Fault> {
    tx.query(PAGE, params![project_id, after, limit])?.into_iter().map(read).collect()
}

/// How many memories of all projects were not withdrawn.
pub fn count(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    tx.query_one(COUNT, params![])?.reader().int()
}

/// The newest memories that were not withdrawn.
pub fn recent(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<Memory>, Fault> {
    tx.query(RECENT, params![project_id, limit])?.into_iter().map(read).collect()
}

/// Ids and texts, with their tags, of the newest memories that were not withdrawn; of a long text its beginning.
pub fn texts(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<(String, String)>, Fault> {
    let rows = tx.query(TEXTS, params![project_id, limit])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.text()?, r.text()?))
        })
        .collect()
}

/// Withdraws a memory; says whether it was still recalled before.
pub fn withdraw(
    tx: &mut Tx<'_>,
    (project_id, memory_id): (&str, &str),
    by: &str,
    why: Option<&str>,
    now: Millis,
) -> Result<bool, Fault> {
    Ok(tx.execute(WITHDRAW, params![now, by, why, project_id, memory_id])? == 1)
}

/// Ids of up to five memories that begin so.
pub fn by_prefix(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}
