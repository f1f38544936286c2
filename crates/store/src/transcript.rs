//! Headers of transcripts, kept by file so that an unchanged file is not read again.

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    ALL_OF = "SELECT path, size, mtime_ns, inode, header FROM transcript_header WHERE machine_id = $1";
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

/// Everything kept for a machine.
pub fn all(tx: &mut Tx<'_>, machine: &str) -> Result<Vec<CachedHeader>, Fault> {
    let rows = tx.query(ALL_OF, params![machine])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok(CachedHeader {
                path: r.text()?,
                size: r.int()?,
                mtime_ns: r.int()?,
                inode: r.int()?,
                header: r.text()?,
            })
        })
        .collect()
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
