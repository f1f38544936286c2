//! How a copy of a store is made, and how one takes the place of another.
//!
//! A restore never writes into the store that is there. What shall take its place is built beside it, on the same disk, from
//! what SQLite reads of the backup (its log included), checked and flushed. Then the store is taken alone, its log is written
//! back, so that it is one file, that file gets a second name by which it is kept, and one rename puts the new one in its
//! place. Whenever this is cut off, the path names the old store or the new one, whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::copy::{discard, draft_of, second_name, sweep, sync_folder, write_draft};
use super::lock::WriterLock;
use super::open::{self, FileId, sibling_path};
use super::retained_state::RetainedState;
use super::{APPLICATION_ID, error, log, schema};
use crate::engine::fault::{Failure, Fault, FaultKind};
use crate::engine::{OpenMode, Store, Target};
use crate::migrate::{self, MIGRATIONS};

/// How long the store's other users may take to leave.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);
/// What a store consists of, by what is added to its name.
const PARTS: [&str; 3] = ["", "-wal", "-journal"];

/// A step of a restore that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The backup was looked at.
    Examined,
    /// It was copied beside the store.
    Copied,
    /// The copy was brought up to date.
    Updated,
    /// The copy is on the disk.
    Flushed,
    /// No other process has the store open, and none can open it.
    Locked,
    /// The log of the store that is there was written back.
    Folded,
    /// The store that is there has a second name.
    Linked,
    /// What its log left is out of the way.
    Cleared,
    /// The copy is in its place.
    Swapped,
    /// The swap is on the disk.
    Settled,
}

impl Step {
    /// All steps, in their order.
    pub const ALL: [Self; 10] = [
        Self::Examined,
        Self::Copied,
        Self::Updated,
        Self::Flushed,
        Self::Locked,
        Self::Folded,
        Self::Linked,
        Self::Cleared,
        Self::Swapped,
        Self::Settled,
    ];
}

/// Called after every step; a fault stops the restore there, as if the next step had failed.
pub type Observer<'a> = &'a mut dyn FnMut(Step) -> Result<(), Fault>;

/// A store beside the one whose place it shall take. It is removed when it is dropped.
#[derive(Debug)]
pub struct StagedRestore {
    store: PathBuf,
    path: PathBuf,
    is_placed: bool,
}

/// The store that a restore has replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedStore {
    /// By which name it is kept.
    pub path: PathBuf,
    /// Whether it is one file that can be restored; else what was damaged is kept as it was, with its log.
    pub is_whole: bool,
}

impl StagedRestore {
    /// Builds a store beside `store` from a backup. With `incomplete`, a backup is taken whose log is missing.
    pub fn build(
        backup: &Path,
        store: &Path,
        incomplete: bool,
        now_ms: i64,
        observer: Observer<'_>,
    ) -> Result<Self, Fault> {
        let store = resolved(store)?;
        let source = examine(backup, incomplete)?;
        observer(Step::Examined)?;
        if let Some(folder) = store.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            open::create_directories(folder).map_err(|e| error::io_fault("cannot create", folder, e))?;
        }
        sweep(&store);
        let draft = Self { path: draft_of(&store), store, is_placed: false };
        write_draft(&source, &draft.path)?;
        drop(source);
        observer(Step::Copied)?;
        let mut restored = Store::open_existing(&Target::File(draft.path.clone()), now_ms)?;
        let retained = RetainedState::of(&draft.store);
        restored.write_shared(|tx| Ok(retained.keep(tx, now_ms)?)).map_err(|failure| match failure {
            Failure::Fault(fault) => fault,
            Failure::Refused(refusal) => Fault::other(refusal.to_string()),
        })?;
        drop(restored);
        observer(Step::Updated)?;
        draft.flush()?;
        observer(Step::Flushed)?;
        Ok(draft)
    }

    /// Where it is, to be looked into.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in the store's place, and keeps what was there under a name with this time in it.
    pub fn install(mut self, now_ms: i64, observer: Observer<'_>) -> Result<Option<ReplacedStore>, Fault> {
        self.flush()?;
        let mut lock = WriterLock::for_database(&self.store);
        lock.acquire()?;
        let alone = ExclusiveConnection::take(&self.store)?;
        observer(Step::Locked)?;
        let is_whole = alone.checkpoint_wal(&self.store)?;
        observer(Step::Folded)?;
        let previous_path = sibling_path(&self.store, &format!(".before-{now_ms}"));
        let swapped = self.keep(&previous_path, is_whole).and_then(|previous| {
            self.swap(observer)?;
            Ok(previous)
        });
        if swapped.is_err() && !self.is_placed {
            self.take_back(&previous_path);
        }
        drop(alone);
        lock.release();
        swapped
    }

    fn swap(&mut self, observer: Observer<'_>) -> Result<(), Fault> {
        observer(Step::Linked)?;
        self.clear()?;
        observer(Step::Cleared)?;
        fs::rename(&self.path, &self.store).map_err(|e| error::io_fault("cannot replace", &self.store, e))?;
        self.is_placed = true;
        observer(Step::Swapped)?;
        sync_folder(&self.store)?;
        observer(Step::Settled)
    }

    /// One file with everything of it on the disk, for its owner alone, who is the owner of the store that is there.
    fn flush(&self) -> Result<(), Fault> {
        if open::log_size(&self.path) > 0 {
            let message = format!("{} still has a log", self.path.display());
            return Err(Fault::other(message));
        }
        for suffix in ["-wal", "-shm", "-lock"] {
            // Empty, and it would not move along.
            let _ = fs::remove_file(sibling_path(&self.path, suffix));
        }
        let fault = |e| error::io_fault("cannot write", &self.path, e);
        own_as(&self.path, &self.store).map_err(fault)?;
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(fault)?;
        sync_folder(&self.path)
    }

    /// Gives the store that is there a second name. One that could not be made one file keeps its log, and so does a log without
    /// a store.
    fn keep(&self, target: &Path, is_whole: bool) -> Result<Option<ReplacedStore>, Fault> {
        let parts: &[&str] = if is_whole { &[""] } else { &PARTS };
        let mut previous = None;
        for suffix in parts {
            let (from, to) = (sibling_path(&self.store, suffix), sibling_path(target, suffix));
            if fs::metadata(&from).is_ok_and(|meta| suffix.is_empty() || meta.len() > 0) {
                let fault = |e| error::io_fault("cannot keep the store as", &to, e);
                open::restrict(&from).map_err(fault)?;
                second_name(&from, &to).map_err(fault)?;
                previous = Some(ReplacedStore { path: target.to_owned(), is_whole });
            }
        }
        sync_folder(&self.store)?;
        Ok(previous)
    }

    /// Undoes [`keep`](Self::keep), and the clearing after it.
    fn take_back(&self, backup: &Path) {
        for suffix in PARTS {
            let (from, to) = (sibling_path(backup, suffix), sibling_path(&self.store, suffix));
            // What fails leaves a file under both names, or under the kept one: nothing is lost.
            let _ = if to.exists() { fs::remove_file(&from) } else { fs::rename(&from, &to) };
        }
    }

    /// Removes what a log left at the store's name: SQLite would take it for the new store's.
    fn clear(&self) -> Result<(), Fault> {
        for suffix in ["-wal", "-journal", "-shm"] {
            let path = sibling_path(&self.store, suffix);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(error::io_fault("cannot remove", &path, e));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for StagedRestore {
    fn drop(&mut self) {
        if !self.is_placed {
            discard(&self.path);
        }
    }
}

/// The one connection to a store, which keeps every other process out; none where there is no store.
struct ExclusiveConnection(Option<Connection>);

impl ExclusiveConnection {
    fn take(store: &Path) -> Result<Self, Fault> {
        match fs::metadata(store) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self(None)),
            Err(e) => return Err(error::io_fault("cannot open", store, e)),
            Ok(meta) if !meta.is_file() => {
                let message = format!("{} is no regular file", store.display());
                return Err(Fault::new(FaultKind::CannotOpen, message));
            }
            Ok(_) => {}
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let taken = Connection::open_with_flags(store, flags).and_then(|conn| {
            // What cannot be read is kept as it is, its log too.
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            conn.busy_timeout(LEAVE_TIMEOUT)?;
            // Before the first look into the file: with it, not even a reader of it gets in.
            conn.execute_batch(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE",
            )?;
            Ok(conn)
        });
        match taken.map_err(|e| error::fault(&store.display().to_string(), None, e)) {
            Ok(conn) => Ok(Self(Some(conn))),
            // What cannot be read is what a restore is for.
            Err(fault) if fault.kind == FaultKind::Corrupt => Ok(Self(None)),
            Err(fault) => Err(fault),
        }
    }

    /// Writes the log back and removes it, so that the store is one file. Says whether it is one now.
    fn checkpoint_wal(&self, store: &Path) -> Result<bool, Fault> {
        let Some(conn) = &self.0 else { return Ok(false) };
        let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
        let checkpoint = || {
            conn.execute_batch("ROLLBACK")?;
            let mode: String = conn.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
            // Let go of once, so that no journal is left open: it would be deleted by its name when the new store has that.
            conn.query_row("PRAGMA locking_mode = NORMAL", [], |_| Ok(()))?;
            let (id, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
            conn.execute_batch("BEGIN EXCLUSIVE")?;
            Ok(mode == "delete" && id == APPLICATION_ID && version <= known_migrations())
        };
        match checkpoint().map_err(|e| error::fault(&store.display().to_string(), None, e)) {
            Err(fault) if fault.kind == FaultKind::Corrupt => Ok(false),
            done => done,
        }
    }
}

/// How many migrations this build knows.
fn known_migrations() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Whether two paths name one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    FileId::of(one).is_some_and(|id| FileId::of(other) == Some(id))
}

/// Opens a backup, and looks whether it is a store, whole and sound. Nothing of it is changed.
fn examine(backup: &Path, incomplete: bool) -> Result<Connection, Fault> {
    open::ensure_file(backup, OpenMode::Existing)?;
    let backup = &backup.canonicalize().map_err(|e| error::io_fault("cannot open", backup, e))?;
    let (conn, _) = open::file(backup, OpenMode::Existing)?;
    let place = backup.display().to_string();
    let fault = |e| error::fault(&place, None, e);
    let has_log = open::log_size(backup) > 0;
    // Its log stays a file of its own.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log).map_err(fault)?;
    let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(fault);
    let (id, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    if id == log::MARK && !has_log && !incomplete {
        return Err(log::incomplete(&place));
    }
    if ![APPLICATION_ID, log::MARK].contains(&id) || number("SELECT count(*) FROM sqlite_master")? == 0 {
        return Err(Fault::new(
            FaultKind::Corrupt,
            format!("{place} is not a store, or there is nothing in it"),
        ));
    }
    if version > known_migrations() {
        return Err(migrate::newer(version, known_migrations(), &place));
    }
    let found = damage(&conn).map_err(fault)?;
    if !found.is_empty() {
        return Err(Fault::new(FaultKind::Corrupt, format!("{place} is damaged: {found}")));
    }
    // Before anything is written to a copy of it: a foreign trigger would take part in that.
    let applied = usize::try_from(version).unwrap_or_default();
    let foreign = schema::differences(&conn, MIGRATIONS.get(..applied).unwrap_or(MIGRATIONS))?;
    if !foreign.is_empty() {
        return Err(Fault::new(FaultKind::Corrupt, format!("{place}: {}", foreign.join("; "))));
    }
    Ok(conn)
}

/// Whether the file in the place of a store is none: a text, or the database of another program. An empty file, and what begins like a store
/// and is damaged, may be one.
pub fn is_foreign(store: &Path) -> bool {
    let mut head = [0; 72];
    let read = File::open(store).and_then(|mut file| {
        let length = file.metadata()?.len();
        std::io::Read::read_exact(&mut file, &mut head).map(|()| length).or(Ok(length))
    });
    if read.is_ok_and(|length| length == 0) || !store.is_file() {
        return false;
    }
    let id = i64::from(i32::from_be_bytes([head[68], head[69], head[70], head[71]]));
    !head.starts_with(b"SQLite format 3\0") || ![APPLICATION_ID, log::MARK].contains(&id)
}

/// What SQLite finds wrong with a database; empty is sound.
fn damage(conn: &Connection) -> rusqlite::Result<String> {
    let mut statement = conn.prepare("PRAGMA integrity_check(20)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines = lines.filter(|line| !matches!(line, Ok(line) if line == "ok"));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join("; "))
}

/// The path without symbolic links, so that what they lead to is replaced, and not the link.
fn resolved(store: &Path) -> Result<PathBuf, Fault> {
    match store.canonicalize() {
        Ok(real) => Ok(real),
        Err(e) if e.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(store).is_err() => {
            Ok(store.to_owned())
        }
        Err(e) => Err(error::io_fault("cannot find", store, e)),
    }
}

/// Sets the owner of a file to that of another: a restore run as root must not lock the owner out.
#[cfg(unix)]
fn own_as(path: &Path, other: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    let Ok(theirs) = fs::metadata(other) else { return Ok(()) };
    let ours = fs::metadata(path)?;
    if ours.uid() == theirs.uid() { Ok(()) } else { chown(path, Some(theirs.uid()), Some(theirs.gid())) }
}

#[cfg(not(unix))]
fn own_as(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}
