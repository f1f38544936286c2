//! Content in parts, by its hash. Rows of another table name it, and share it within a project.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

/// Where content of one kind lies: a table of parts, and the one whose rows name it.
pub struct ContentStore {
    put: &'static str,
    get: &'static str,
    remove_unused: &'static str,
    remove_unnamed: &'static str,
    count_unnamed: &'static str,
    copy: &'static str,
}

/// A part of a content, as it was uploaded.
#[derive(Debug, Clone, Copy)]
pub struct UploadedPart<'a> {
    /// The SHA-256 of the whole content, in hex.
    pub content_hash: &'a str,
    /// The number of the part.
    pub number: i64,
    /// The part.
    pub content: &'a str,
    /// When it came.
    pub at: Millis,
    /// The token with which it came; empty for the local user.
    pub by: &'a str,
}

macro_rules! content {
    ($parts:literal, $owner:literal) => {
        ContentStore {
            put: concat!(
                "INSERT INTO ",
                $parts,
                " (project_id, content_hash, part, content, created_at, uploaded_by)
                VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (project_id, content_hash, part) DO UPDATE SET content = excluded.content,
                created_at = excluded.created_at, uploaded_by = excluded.uploaded_by
                WHERE NOT EXISTS (SELECT 1 FROM ",
                $owner,
                " c WHERE c.project_id = excluded.project_id AND c.content_hash = excluded.content_hash)"
            ),
            get: concat!(
                "SELECT content FROM ",
                $parts,
                " WHERE project_id = $1 AND content_hash = $2 AND part = $3"
            ),
            remove_unused: concat!(
                "DELETE FROM ",
                $parts,
                " WHERE project_id = $1 AND created_at <= $2 AND content_hash NOT IN
                (SELECT content_hash FROM ",
                $owner,
                " WHERE project_id = $1)"
            ),
            remove_unnamed: concat!(
                "DELETE FROM ",
                $parts,
                " WHERE project_id = $1 AND content_hash = $2 AND NOT EXISTS
                (SELECT 1 FROM ",
                $owner,
                " c WHERE c.project_id = $1 AND c.content_hash = $2)"
            ),
            count_unnamed: concat!(
                "SELECT COUNT(*) FROM ",
                $parts,
                " WHERE project_id = $1 AND uploaded_by = $2 AND content_hash NOT IN
                (SELECT content_hash FROM ",
                $owner,
                " WHERE project_id = $1)"
            ),
            copy: concat!(
                "INSERT INTO ",
                $parts,
                " (project_id, content_hash, part, content, created_at)
                SELECT $1, content_hash, part, content, created_at FROM ",
                $parts,
                " WHERE project_id = $2 AND content_hash = $3
                ON CONFLICT DO NOTHING"
            ),
        }
    };
}

/// That of changes of working copies.
pub const CHANGES: ContentStore = content!("changes_part", "changes");
/// That of sessions that were pushed.
pub const TRANSCRIPT_COPY: ContentStore = content!("transcript_copy_part", "transcript_copy");

/// Every statement of this module with its name.
pub(crate) const ALL: &[(&str, &str)] = &[
    ("CHANGES_PUT", CHANGES.put),
    ("CHANGES_GET", CHANGES.get),
    ("CHANGES_REMOVE_UNUSED", CHANGES.remove_unused),
    ("CHANGES_REMOVE_UNNAMED", CHANGES.remove_unnamed),
    ("CHANGES_COUNT_UNNAMED", CHANGES.count_unnamed),
    ("CHANGES_COPY", CHANGES.copy),
    ("TRANSCRIPT_COPY_PUT", TRANSCRIPT_COPY.put),
    ("TRANSCRIPT_COPY_GET", TRANSCRIPT_COPY.get),
    ("TRANSCRIPT_COPY_REMOVE_UNUSED", TRANSCRIPT_COPY.remove_unused),
    ("TRANSCRIPT_COPY_REMOVE_UNNAMED", TRANSCRIPT_COPY.remove_unnamed),
    ("TRANSCRIPT_COPY_COUNT_UNNAMED", TRANSCRIPT_COPY.count_unnamed),
    ("TRANSCRIPT_COPY_COPY", TRANSCRIPT_COPY.copy),
];

impl ContentStore {
    /// Writes a part of a content. One that a row names already stays as it is: its hash says that it is the same.
    pub fn put_part(&self, tx: &mut Tx<'_>, project_id: &str, part: &UploadedPart<'_>) -> Result<(), Fault> {
        let UploadedPart { content_hash, number, content, at, by } = *part;
        tx.execute_deferred(self.put, params![project_id, content_hash, number, content, at, by])
    }

    /// A part of a content.
    pub fn part(
        &self,
        tx: &mut Tx<'_>,
        project_id: &str,
        (content_hash, part): (&str, i64),
    ) -> Result<Option<String>, Fault> {
        let row = tx.query_opt(self.get, params![project_id, content_hash, part])?;
        row.map(|row| row.reader().text()).transpose()
    }

    /// Removes parts up to this time that no row names: what was to name them never came.
    pub fn remove_unused(&self, tx: &mut Tx<'_>, project_id: &str, until: Millis) -> Result<(), Fault> {
        tx.execute(self.remove_unused, params![project_id, until])?;
        Ok(())
    }

    /// How many parts that one token, or the local user, uploaded to a project no row names.
    pub fn count_unnamed(&self, tx: &mut Tx<'_>, project_id: &str, by: &str) -> Result<i64, Fault> {
        let row = tx.query_opt(self.count_unnamed, params![project_id, by])?;
        row.map_or(Ok(0), |row| row.reader().int())
    }

    /// Removes a content, unless a row names it.
    pub(crate) fn remove_unnamed(
        &self,
        tx: &mut Tx<'_>,
        project_id: &str,
        content_hash: &str,
    ) -> Result<(), Fault> {
        tx.execute(self.remove_unnamed, params![project_id, content_hash])?;
        Ok(())
    }

    /// Copies a content to another project.
    pub fn copy(&self, tx: &mut Tx<'_>, (from, into): (&str, &str), content_hash: &str) -> Result<(), Fault> {
        tx.execute(self.copy, params![into, from, content_hash])?;
        Ok(())
    }
}
