//! SQLite: a file that several processes share, or memory.

mod copy;
pub use copy::DRAFT_MARK;
mod error;
mod lock;
mod log;
mod mark;
mod open;
pub mod restore;
mod retained_state;
mod schema;
mod value;

use std::path::Path;

use baton_model::store_place::StorePlace;
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, params_from_iter};

use self::lock::WriterLock;
use self::open::{Location, Stamp};
use self::value::value;
use super::fault::{Fault, FaultKind};
use super::tx::one_line;
use super::value::{Row, Value};
use super::{Engine, LedgerHead, Mode, Numbers, OpenMode, Savepoint, TAKE};
use crate::migrate::Migrations;
use crate::params;

/// Marks a SQLite file as ours, so that no other program's database is taken for a store: "Batn".
const APPLICATION_ID: i64 = 0x4261_746e;
/// More than Baton has statements, so that none is ever prepared twice.
const STATEMENTS: usize = 512;
/// How often a store is opened anew whose file is being replaced.
const OPENINGS: u32 = 5;
/// A process that ends checkpoints a log of this size. The first process to open a store reads its whole log, which is
/// cheaper than a checkpoint at every close only while the log is short; and without a checkpoint the log never
/// shrinks.
const LONG_LOG: u64 = 1024 * 1024;

/// One SQLite connection.
pub(crate) struct Sqlite {
    conn: Connection,
    /// The file; `None` for memory.
    location: Option<Location>,
    access: OpenMode,
    lock: Option<WriterLock>,
    /// Set when the file is opened as one that does not change: what it looked like then.
    immutable_stamp: Option<Stamp>,
    /// Whether the journal is known to be a write-ahead log, and the file to be marked.
    wal: bool,
    /// Whether the mark was found where the store's own id should be, as a process leaves it that was killed.
    unsettled: bool,
    /// How many writes may still try to mark a new log; as many as at first while none had to.
    marks_left: u32,
    /// The size at which the log is written back.
    fold_at: u64,
    /// Whether commits wait for the disk at the moment.
    durable: bool,
    /// The name of this connection in marks of what is committed, once it has made one.
    mark_name: Option<String>,
}

impl Sqlite {
    /// A database in memory.
    pub(crate) fn memory() -> Result<Self, Fault> {
        let conn = open::memory().map_err(|e| error::fault(":memory:", None, e))?;
        Ok(Self {
            conn,
            location: None,
            access: OpenMode::Create,
            lock: None,
            immutable_stamp: None,
            wal: true,
            unsettled: false,
            marks_left: log::MARKS,
            fold_at: log::LIMIT,
            durable: true,
            mark_name: None,
        })
    }

    /// A database file.
    pub(crate) fn open(path: &Path, access: OpenMode) -> Result<Self, Fault> {
        let mut tries = 0;
        loop {
            open::ensure_file(path, access)?;
            let location = Location::of(path)?;
            let (conn, frozen) = open::file(&location.real, access)?;
            let store = Self {
                conn,
                lock: Some(WriterLock::for_database(&location.real)),
                location: Some(location),
                access,
                immutable_stamp: frozen,
                wal: false,
                unsettled: false,
                marks_left: log::MARKS,
                fold_at: log::LIMIT,
                durable: true,
                mark_name: None,
            };
            match store.check_not_moved() {
                Ok(()) => return Ok(store),
                // It was replaced while it was opened.
                Err(_) if tries < OPENINGS => tries += 1,
                Err(fault) => return Err(fault),
            }
        }
    }

    fn path_text(&self) -> String {
        self.location.as_ref().map_or_else(|| ":memory:".to_owned(), |at| at.given.display().to_string())
    }

    /// Refuses to work on a file that has been moved or replaced at its path: a write to it would be lost.
    fn check_not_moved(&self) -> Result<(), Fault> {
        match &self.location {
            Some(location) if self.immutable_stamp.is_none() && location.has_moved() => {
                Err(location.replaced())
            }
            _ => Ok(()),
        }
    }

    /// Bytes in the write-ahead log.
    fn log_size(&self) -> u64 {
        self.location.as_ref().map_or(0, |location| open::log_size(&location.real))
    }

    fn fault(&self, sql: Option<&str>, error: rusqlite::Error) -> Fault {
        error::fault(&self.path_text(), sql, error)
    }

    /// A prepared statement. Builds for development check the order of its parameters each time, others leave that to the
    /// test that prepares every statement.
    fn statement(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        let statement = self.conn.prepare_cached(sql)?;
        if cfg!(debug_assertions) && !ascending(&statement) {
            return Err(rusqlite::Error::InvalidParameterName(
                "parameters are not $1…$n in order".to_owned(),
            ));
        }
        Ok(statement)
    }

    fn run(&self, sql: &str) -> Result<(), Fault> {
        let run = || self.conn.prepare_cached(sql)?.raw_execute();
        run().map(drop).map_err(|e| self.fault(Some(sql), e))
    }

    fn pragma<T: rusqlite::types::FromSql>(&self, sql: &str) -> Result<T, Fault> {
        self.conn.query_row(sql, [], |row| row.get(0)).map_err(|e| self.fault(Some(sql), e))
    }

    /// The version of a file that may be new, ours, or another program's.
    fn identify(&self) -> Result<Option<i64>, Fault> {
        let id = self.pragma::<i64>("PRAGMA application_id")?;
        let version = self.pragma::<i64>("PRAGMA user_version")?;
        let tables = self.pragma::<i64>("SELECT count(*) FROM sqlite_master")?;
        match (id, version, tables) {
            (APPLICATION_ID, version, _) => Ok(Some(version)),
            (log::MARK, ..) if self.log_size() == 0 => Err(self.incomplete()),
            (log::MARK | 0, 0, 0) if self.is_left_behind()? => Err(self.incomplete()),
            (log::MARK | 0, 0, 0) => Ok(None),
            (log::MARK, version, _) => Ok(Some(version)),
            _ => {
                let message = format!("{} is the database of another program, not a store", self.path_text());
                Err(Fault::new(FaultKind::CannotOpen, message))
            }
        }
    }

    fn begin_read(&mut self) -> Result<(), Fault> {
        if let (Some(seen), Some(location)) = (&self.immutable_stamp, &self.location)
            && *seen != Stamp::of(&location.real)
        {
            let location = Location::of(&location.given)?;
            let (conn, frozen) = open::file(&location.real, self.access)?;
            (self.conn, self.immutable_stamp, self.location) = (conn, frozen, Some(location));
        }
        self.check_not_moved()?;
        self.run("BEGIN")
    }

    fn begin_write(&mut self, durable: bool) -> Result<(), Fault> {
        if self.access == OpenMode::ReadOnly || self.immutable_stamp.is_some() {
            let reason = if self.immutable_stamp.is_some() {
                "its directory is read-only"
            } else {
                "opened for reading"
            };
            let message = format!("cannot write to {}: {reason}", self.path_text());
            return Err(Fault::new(FaultKind::ReadOnly, message));
        }
        if let Some(lock) = &mut self.lock {
            lock.acquire()?;
        }
        // Under the lock, which a restore holds while it puts another file in the store's place.
        self.check_not_moved().inspect_err(|_| self.unlock())?;
        self.begin_locked(durable).inspect_err(|_| self.unlock())
    }

    fn begin_locked(&mut self, durable: bool) -> Result<(), Fault> {
        if !self.wal {
            // A new file and a restored backup have a rollback journal; where no log is possible, that one stays.
            let is_log = self.pragma::<String>("PRAGMA journal_mode")? == "wal"
                || self.pragma::<String>("PRAGMA journal_mode = WAL")? == "wal";
            if is_log {
                self.mark_new_log()?;
            }
            self.wal = !is_log || [0, log::MARKS].contains(&self.marks_left);
        }
        if self.durable != durable {
            self.run(if durable { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" })?;
            self.durable = durable;
        }
        self.run("BEGIN IMMEDIATE")
    }

    fn take(&mut self, projects: &[&str]) -> Result<Numbers, Fault> {
        let take = |project: &&str| match self.query(TAKE, params![*project])?.pop() {
            None => Ok(None),
            Some(row) => LedgerHead::read(row).map(Some),
        };
        projects.iter().map(take).collect()
    }

    fn unlock(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.release();
        }
    }

    fn in_transaction(&self) -> bool {
        !self.conn.is_autocommit()
    }
}

impl Engine for Sqlite {
    fn kind(&self) -> &'static str {
        if self.location.is_some() { "sqlite" } else { "memory" }
    }

    fn begin(&mut self, mode: Mode, projects: &[&str]) -> Result<Numbers, Fault> {
        if self.in_transaction() {
            self.rollback()?;
        }
        match mode {
            Mode::Read | Mode::Snapshot => self.begin_read()?,
            Mode::Write => self.begin_write(true)?,
            Mode::Relaxed => self.begin_write(false)?,
        }
        // The fault that made it roll back is the one to report.
        self.take(projects).inspect_err(|_| drop(self.rollback()))
    }

    fn savepoint(&mut self, savepoint: Savepoint, projects: &[&str]) -> Result<Numbers, Fault> {
        self.script(savepoint.sql())?;
        self.take(projects)
    }

    fn commit_mark(&mut self) -> Result<Option<String>, Fault> {
        self.read_mark()
    }

    fn commit(&mut self) -> Result<(), Fault> {
        let committed = self.run("COMMIT");
        if committed.is_err() && self.in_transaction() {
            // The commit's own fault is the one to report.
            let _ = self.run("ROLLBACK");
        }
        // Without a check of the lock the file may have been moved during the transaction: then the write would be
        // lost.
        let committed = committed.and_then(|()| self.check_not_moved());
        if committed.is_ok() {
            self.fold_long_log();
        }
        self.unlock();
        committed
    }

    fn rollback(&mut self) -> Result<(), Fault> {
        let rolled_back = if self.in_transaction() { self.run("ROLLBACK") } else { Ok(()) };
        self.unlock();
        rolled_back
    }

    fn transaction_fault(&self) -> Option<Fault> {
        let gone = || Fault::other("the engine ended the batch's transaction: none of its writes are kept");
        (!self.in_transaction()).then(gone)
    }

    fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        let read = || {
            let mut statement = self.statement(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(params))?;
            let mut read = Vec::new();
            while let Some(row) = rows.next()? {
                read.push((0..columns).map(|at| value(row, at)).collect::<Result<_, _>>().map(Row)?);
            }
            Ok(read)
        };
        read().map_err(|e| self.fault(Some(sql), e))
    }

    fn execute(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, Fault> {
        let run = || self.statement(sql)?.execute(params_from_iter(params));
        run().map(|changed| changed as u64).map_err(|e| self.fault(Some(sql), e))
    }

    fn script(&mut self, sql: &str) -> Result<(), Fault> {
        self.conn.execute_batch(sql).map_err(|e| self.fault(Some(sql), e))
    }

    fn prepare(&mut self, sql: &'static str) -> Result<(), Fault> {
        let ordered = self.conn.prepare_cached(sql).map(|statement| ascending(&statement));
        match ordered.map_err(|e| self.fault(Some(sql), e))? {
            true => Ok(()),
            false => Err(Fault::other(format!("parameters are not $1…$n in order: {}", one_line(sql)))),
        }
    }

    fn place(&mut self) -> Result<Option<StorePlace>, Fault> {
        Ok(self.location.as_ref().map(Location::place))
    }

    fn version(&mut self) -> Result<Option<i64>, Fault> {
        if self.pragma::<i64>("PRAGMA application_id")? == APPLICATION_ID {
            return self.pragma("PRAGMA user_version").map(Some);
        }
        // Another process may be making the store right now, so the rest must be seen at one moment.
        self.run("BEGIN")?;
        let found = self.identify();
        self.run("ROLLBACK")?;
        self.unsettled = found.as_ref().is_ok_and(Option::is_some);
        found
    }

    fn set_version(&mut self, version: i64) -> Result<(), Fault> {
        self.script(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}"))
    }

    fn integrity(&mut self) -> Result<Vec<String>, Fault> {
        // The quick check leaves out whether each index says what its table says, which finds damage in every indexed column.
        let sql = "PRAGMA integrity_check(20)";
        // On a connection that stays open the check of a text index compares with what that has read before another one wrote, and
        // calls a sound one damaged. One of its own has read nothing.
        let opened = match &self.location {
            Some(location) => {
                self.check_not_moved()?;
                Some(open::file(&location.real, OpenMode::ReadOnly)?.0)
            }
            None => None,
        };
        let conn = opened.as_ref().unwrap_or(&self.conn);
        let check = || {
            let mut statement = conn.prepare(sql)?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.filter(|line| !matches!(line, Ok(line) if line == "ok")).collect::<Result<Vec<_>, _>>()
        };
        check().map_err(|e| self.fault(Some(sql), e))
    }

    fn schema_differences(&mut self, migrations: Migrations) -> Result<Vec<String>, Fault> {
        self.differences(migrations)
    }

    fn may_stay_open(&self) -> bool {
        self.log_size() < LONG_LOG || self.check_not_moved().is_err()
    }

    fn backup(&mut self, to: &Path) -> Result<(), Fault> {
        copy::write_copy(&self.conn, to)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // Closing the last connection deletes the log by its name, and by now that may be the log of another store.
        if self.check_not_moved().is_err() {
            let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }
}

/// SQLite takes `$1` for a name and numbers names as they come, so they must come in order.
fn ascending(statement: &rusqlite::Statement<'_>) -> bool {
    (1..=statement.parameter_count())
        .all(|at| statement.parameter_name(at) == Some(format!("${at}").as_str()))
}
