//! Search in memories by text: the one place of this noun with a text for each engine.

use baton_model::memory_index::WordQuery;

use crate::engine::{Fault, Tx};
use crate::params;

/// For SQLite.
pub const SQLITE: &[(&str, &str)] = &[("INDEX", INDEX), ("FORGET", FORGET), ("FIND", FIND_SQLITE)];
/// For PostgreSQL, whose index reads the table itself.
pub const POSTGRES: &[(&str, &str)] = &[("FIND", FIND_POSTGRES)];

const INDEX: &str = "INSERT INTO memory_words (project_id, memory_id, words) VALUES ($1, $2, $3)";
const FORGET: &str = "DELETE FROM memory_words WHERE project_id = $1 AND memory_id = $2";
const FIND_SQLITE: &str = "SELECT m.memory_id, CAST(-1000000.0 * bm25(memory_words) AS INTEGER) AS weight FROM memory_words \
    JOIN memory m ON m.project_id = memory_words.project_id AND m.memory_id = memory_words.memory_id \
    WHERE memory_words MATCH $1 AND memory_words.project_id = $2 AND m.withdrawn_at IS NULL \
    ORDER BY weight DESC, m.memory_id DESC LIMIT $3";
const FIND_POSTGRES: &str = "SELECT memory_id, CAST(1000000 * ts_rank_cd(to_tsvector('simple', text || ' ' || tags), \
    to_tsquery('simple', $1)) AS BIGINT) AS weight FROM memory \
    WHERE to_tsvector('simple', text || ' ' || tags) @@ to_tsquery('simple', $1) AND project_id = $2 \
    AND withdrawn_at IS NULL ORDER BY weight DESC, memory_id DESC LIMIT $3";

/// Puts the words of a memory into the index.
pub fn index(tx: &mut Tx<'_>, project_id: &str, memory_id: &str, words: &str) -> Result<(), Fault> {
    if tx.is_sqlite() {
        tx.execute_deferred(INDEX, params![project_id, memory_id, words])?;
    }
    Ok(())
}

/// Takes them out again.
pub fn forget(tx: &mut Tx<'_>, project_id: &str, memory_id: &str) -> Result<(), Fault> {
    if tx.is_sqlite() {
        tx.execute_deferred(FORGET, params![project_id, memory_id])?;
    }
    Ok(())
}

/// Ids of memories in which any of these words stands, by how well they match; the number compares within one answer only.
/// A word is a run of letters and digits.
pub fn find(
    tx: &mut Tx<'_>,
    project_id: &str,
    words: &WordQuery,
    limit: i64,
) -> Result<Vec<(String, i64)>, Fault> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let sqlite = tx.is_sqlite();
    let beginning = |word: &String| if sqlite { format!("\"{word}\"*") } else { format!("'{word}':*") };
    let whole = |word: &String| if sqlite { format!("\"{word}\"") } else { format!("'{word}'") };
    let between = if sqlite { " OR " } else { " | " };
    let all = words.beginnings.iter().map(beginning).chain(words.words.iter().map(whole));
    let query = all.collect::<Vec<_>>().join(between);
    let sql = if sqlite { FIND_SQLITE } else { FIND_POSTGRES };
    let rows = tx.query(sql, params![query, project_id, limit])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.text()?, r.int()?))
        })
        .collect()
}
