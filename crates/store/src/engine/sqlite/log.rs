//! The write-ahead log: when it is written back, and a mark by which a file without its log is known to be incomplete.
//!
//! Recent commits are in the write-ahead log alone, so a copy of the main file alone is an old store, or an empty one,
//! that looks sound. Therefore the main file does not carry the store's own id (`application_id`) while there is a log,
//! but a mark; the log carries the id. A reader of both finds the id. A checkpoint, also by SQLite's own tools, writes
//! the id into the main file and completes it. A mark without a log shows that a part is missing.
//!
//! The mark is set when a log begins: it is committed, written back, and the id is committed over it. A process that is killed
//! in between leaves a log that is not empty, so what it leaves is never taken for incomplete. A new log begins with the first
//! write after the old one was removed, and with each time that it is written back here, which SQLite therefore does not do
//! by itself.

use std::time::Duration;

use super::{APPLICATION_ID, Sqlite, open};
use crate::engine::fault::{Fault, FaultKind};

/// What the main file carries in place of the store's id while there is a log: "Batl".
pub(super) const MARK: i64 = 0x4261_746c;
/// A log of this size is written back: 1,000 pages, SQLite's own limit.
pub(super) const LIMIT: u64 = 4 * 1024 * 1024;

/// How many writes of a connection try to mark a new log while a reader is in the way.
pub(super) const MARKS: u32 = 3;
/// How often one of them looks whether the reader has gone, and how long it waits in between.
const MAX_POLLS: u32 = 5;
const POLL_INTERVAL: Duration = Duration::from_millis(1);

impl Sqlite {
    /// Marks the file where the log is about to begin. Called under the writers' lock, outside of a transaction, before a
    /// connection's first write.
    pub(super) fn mark_new_log(&mut self) -> Result<(), Fault> {
        let is_new = self.log_size() == 0;
        if !is_new && !self.unsettled && self.marks_left == MARKS {
            return Ok(());
        }
        let (id, version) = (self.pragma("PRAGMA application_id")?, self.pragma("PRAGMA user_version")?);
        // The mark of a process that was killed while it set it; a store without a version is one that is being made.
        let id = match (id, version) {
            (MARK, 0) => 0,
            (MARK, _) => APPLICATION_ID,
            (id, _) => id,
        };
        if !is_new && self.marks_left == MARKS {
            self.set_id(id)?;
            self.unsettled = false;
            return Ok(());
        }
        // A reader was in the way: the next write tries again, a few times; at last the log is marked when it begins anew.
        self.marks_left = if self.mark(id)? { 0 } else { self.marks_left.saturating_sub(1) };
        Ok(())
    }

    /// Commits the mark, writes it back, and commits the id over it. Says whether the main file is marked.
    fn mark(&mut self, id: i64) -> Result<bool, Fault> {
        // None of this says anything that a crash of the machine may not take back.
        if self.durable {
            self.run("PRAGMA synchronous = NORMAL")?;
            self.durable = false;
        }
        self.unsettled = true;
        self.set_id(MARK)?;
        let mut is_marked = self.write_back()?;
        for _ in 0..MAX_POLLS {
            if !is_marked {
                // Reads are short.
                std::thread::sleep(POLL_INTERVAL);
                is_marked = self.write_back()?;
            }
        }
        self.set_id(id)?;
        self.unsettled = false;
        Ok(is_marked)
    }

    /// Notes an application's id, in a transaction of its own.
    fn set_id(&self, id: i64) -> Result<(), Fault> {
        let sql = format!("PRAGMA application_id = {id}");
        self.conn.execute_batch(&sql).map_err(|e| self.fault(Some(&sql), e))
    }

    /// Writes back as much of the log as no reader needs; says whether that was all of it.
    fn write_back(&self) -> Result<bool, Fault> {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        let counts = self.conn.query_row(sql, [], |row| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)));
        let (pages, written) = counts.map_err(|e| self.fault(Some(sql), e))?;
        Ok(pages == written)
    }

    /// Checkpoints a long log after a commit, while the write lock is still held. The commit is done, so errors are
    /// ignored: the log stays, and the next attempt follows when it has grown by another [`LIMIT`].
    pub(super) fn fold_long_log(&mut self) {
        if self.log_size() < self.fold_at {
            return;
        }
        // A reader that still needs the log would leave a part of it unwritten, and the mark with it.
        if matches!(self.write_back(), Ok(true)) && self.mark(APPLICATION_ID).is_err() {
            // The next write settles it.
            (self.wal, self.marks_left) = (false, MARKS);
        }
        self.fold_at = self.log_size() + LIMIT;
    }

    /// Whether the file is what an older Baton leaves of a store whose log is missing: in WAL mode and empty. While a
    /// store is being created, or after that was interrupted, its lock file is there.
    pub(super) fn is_left_behind(&self) -> Result<bool, Fault> {
        let Some(location) = &self.location else { return Ok(false) };
        let is_empty = std::fs::metadata(&location.real).is_ok_and(|meta| meta.len() == 0);
        if is_empty || self.log_size() > 0 || open::sibling_path(&location.real, "-lock").exists() {
            return Ok(false);
        }
        Ok(self.pragma::<String>("PRAGMA journal_mode")? == "wal")
    }

    /// The fault of a file whose log is missing.
    pub(super) fn incomplete(&self) -> Fault {
        incomplete(&self.path_text())
    }
}

/// The fault of a file whose log is missing.
pub(super) fn incomplete(place: &str) -> Fault {
    let message = format!(
        "{place} is only a part of a store: what was written last is in its log, {place}-wal, which is missing"
    );
    Fault::new(FaultKind::Incomplete, message)
}
