//! Headers of transcripts, kept by file so that an unchanged file is not read again.

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    PAGE = "SELECT path, size, mtime_ns, inode, SUBSTR(header, 1, CAST($1 AS INTEGER)) FROM transcript_header
        WHERE machine_id = $2 AND path > $3 ORDER BY path LIMIT $4";
    GET = "SELECT path, size, mtime_ns, inode, header FROM transcript_header WHERE machine_id = $1 AND path = $2";
    PUT = "INSERT INTO transcript_header (machine_id, path, size, mtime_ns, inode, header) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (machine_id, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,
        inode = excluded.inode, header = excluded.header";
    DELETE = "DELETE FROM transcript_header WHERE machine_id = $1 AND path = $2";
}

/// A header as it was read from a file that looked like this.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedHeader {
    /// Path of the file.
    pub path: String,
    /// Its size in bytes.
    pub size: i64,
    /// Its modification time in nanoseconds.
    pub mtime_ns: i64,
    /// Its inode, or 0 where there is none.
    pub inode: i64,
    /// What is kept of it: text of the reader's own.
    pub header: String,
}

/// Rows read at once: a machine keeps thousands, and few of them are wanted.
const ROWS: i64 = 500;
/// All of a header: more than is ever kept.
const WHOLE: i64 = i32::MAX as i64;

fn read(row: Row) -> Result<CachedHeader, Fault> {
    let mut r = row.reader();
    Ok(CachedHeader {
        path: r.text()?,
        size: r.int()?,
        mtime_ns: r.int()?,
        inode: r.int()?,
        header: r.text()?,
    })
}

/// Goes through everything kept for a machine, row by row, each header cut after so many characters; `None` for whole ones.
pub fn each(
    tx: &mut Tx<'_>,
    machine: &str,
    characters: Option<i64>,
    mut take: impl FnMut(CachedHeader),
) -> Result<(), Fault> {
    let mut after = String::new();
    loop {
        let rows = tx.query(PAGE, params![characters.unwrap_or(WHOLE), machine, &after, ROWS])?;
        let is_last = rows.len() < usize::try_from(ROWS).unwrap_or(usize::MAX);
        for row in rows {
            let row = read(row)?;
            after.clone_from(&row.path);
            take(row);
        }
        if is_last {
            return Ok(());
        }
    }
}

/// What is kept of these files.
pub fn get_all(tx: &mut Tx<'_>, machine: &str, paths: &[String]) -> Result<Vec<CachedHeader>, Fault> {
    tx.prefetch(|tx| {
        for path in paths {
            drop(tx.query_opt(GET, params![machine, path]));
        }
    });
    let mut found = Vec::new();
    for path in paths {
        found.extend(tx.query_opt(GET, params![machine, path])?.map(read).transpose()?);
    }
    Ok(found)
}

/// Keeps a header.
pub fn put(tx: &mut Tx<'_>, machine: &str, cached: &CachedHeader) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![machine, &cached.path, cached.size, cached.mtime_ns, cached.inode, &cached.header],
    )?;
    Ok(())
}

/// Forgets a file that is gone.
pub fn delete(tx: &mut Tx<'_>, machine: &str, path: &str) -> Result<(), Fault> {
    tx.execute_deferred(DELETE, params![machine, path])?;
    Ok(())
}
