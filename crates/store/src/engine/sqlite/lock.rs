//! One writer at a time between processes.
//!
//! SQLite is correct without this; its own waiting is not fair, though: it sleeps and tries again, and a process can be
//! passed over for seconds. A lock on a side file queues writers in the kernel. The file stays where it is: deleting it
//! would let two processes lock two files of the same name.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use super::{error, open};
use crate::engine::fault::{Fault, FaultKind};

/// How long a writer waits for the others.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The lock on the side file of one database.
pub(super) struct WriterLock {
    database: PathBuf,
    file: Option<File>,
    held: bool,
    patience: Duration,
}

impl WriterLock {
    /// The lock of a database; nothing is opened yet.
    pub(super) fn for_database(database: &Path) -> Self {
        Self { database: database.to_owned(), file: None, held: false, patience: LOCK_TIMEOUT }
    }

    /// Waits for the lock. Where there can be none (the file system has no locks, or the side file may not be made), the
    /// database's own lock has to do; it also finds out whether the database may be written.
    pub(super) fn acquire(&mut self) -> Result<(), Fault> {
        let Some(file) = self.file.take().map_or_else(|| self.open(), |file| Ok(Some(file)))? else {
            return Ok(());
        };
        match file.try_lock() {
            Ok(()) => (self.file, self.held) = (Some(file), true),
            Err(TryLockError::WouldBlock) => (self.file, self.held) = (Some(self.wait(file)?), true),
            Err(TryLockError::Error(_)) => self.file = Some(file),
        }
        Ok(())
    }

    /// Lets the next writer in.
    pub(super) fn release(&mut self) {
        if !std::mem::take(&mut self.held) {
            return;
        }
        // A file that cannot be unlocked is closed, which unlocks it.
        self.file = self.file.take().filter(|file| file.unlock().is_ok());
    }

    fn open(&self) -> Result<Option<File>, Fault> {
        // With or without a symbolic link, all processes must lock the same file.
        let database = self.database.canonicalize().unwrap_or_else(|_| self.database.clone());
        let path = open::sibling_path(&database, "-lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        open::private(&mut options);
        match options.open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(e) if matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                Ok(None)
            }
            Err(e) => Err(error::io_fault("cannot lock for writing", &path, e)),
        }
    }

    /// Waits for the lock on a thread of its own, because a blocking file lock has no timeout. After a timeout the
    /// channel is closed, so the thread drops the file, and with it the lock.
    fn wait(&self, file: File) -> Result<File, Fault> {
        let (hand_over, take) = mpsc::sync_channel(0);
        let queue = move || {
            if file.lock().is_ok() {
                let _ = hand_over.send(file);
            }
        };
        let fault = |why: &str| {
            Fault::new(FaultKind::Busy, format!("cannot write to {}: {why}", self.database.display()))
        };
        std::thread::Builder::new()
            .name("baton-store-lock".to_owned())
            .spawn(queue)
            .map_err(|e| fault("no thread to wait on").with_source(e))?;
        let held = format!("another process has held it for {} seconds", self.patience.as_secs());
        take.recv_timeout(self.patience).map_err(|e| fault(&held).with_source(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_gives_up_and_leaves_no_lock_behind() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("store.db");
        let mut first = WriterLock::for_database(&database);
        let mut second =
            WriterLock { patience: Duration::from_millis(50), ..WriterLock::for_database(&database) };
        first.acquire().unwrap();
        let fault = second.acquire().unwrap_err();
        assert_eq!(fault.kind, FaultKind::Busy);
        first.release();
        second.patience = LOCK_TIMEOUT;
        second.acquire().unwrap();
        second.release();
        first.acquire().unwrap();
    }
}
