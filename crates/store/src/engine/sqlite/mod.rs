//! SQLite: a file that several processes share, or memory.

mod error;
mod lock;
mod open;

use std::path::{Path, PathBuf};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql, params_from_iter};

use self::lock::WriterLock;
use self::open::Stamp;
use super::fault::{Fault, FaultKind};
use super::tx::one_line;
use super::value::{Row, Value};
use super::{Access, Engine, Mode, Numbered, Numbers, Savepoint, TAKE};
use crate::params;

/// Marks a SQLite file as ours, so that no other program's database is taken for a store: "Batn".
const APPLICATION_ID: i64 = 0x4261_746e;
/// More than Baton has statements, so that none is ever prepared twice.
const STATEMENTS: usize = 512;
/// A log of this size is written back. The first process that opens a store reads its whole log, which costs less than
/// closing the store did only as long as the log is short; and a log that nobody closes never gets shorter.
const LONG_LOG: u64 = 1024 * 1024;

/// One SQLite connection.
pub(crate) struct Sqlite {
    conn: Connection,
    /// The file; `None` for memory.
    path: Option<PathBuf>,
    access: Access,
    lock: Option<WriterLock>,
    /// Set when the file is opened as one that does not change: what it looked like then.
    frozen: Option<Stamp>,
    /// Whether the journal is known to be a write-ahead log.
    wal: bool,
    /// Whether commits wait for the disk at the moment.
    durable: bool,
}

impl Sqlite {
    /// A database in memory.
    pub(crate) fn memory() -> Result<Self, Fault> {
        let conn = open::memory().map_err(|e| error::fault(":memory:", None, e))?;
        Ok(Self {
            conn,
            path: None,
            access: Access::Create,
            lock: None,
            frozen: None,
            wal: true,
            durable: true,
        })
    }

    /// A database file.
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self, Fault> {
        open::prepare(path, access)?;
        let (conn, frozen) = open::file(path, access)?;
        Ok(Self {
            conn,
            path: Some(path.to_owned()),
            access,
            lock: Some(WriterLock::beside(path)),
            frozen,
            wal: false,
            durable: true,
        })
    }

    fn place(&self) -> String {
        self.path.as_ref().map_or_else(|| ":memory:".to_owned(), |path| path.display().to_string())
    }

    fn fault(&self, sql: Option<&str>, error: rusqlite::Error) -> Fault {
        error::fault(&self.place(), sql, error)
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
            (0, 0, 0) => Ok(None),
            _ => {
                let message = format!("{} is the database of another program, not a store", self.place());
                Err(Fault::new(FaultKind::CannotOpen, message))
            }
        }
    }

    fn begin_read(&mut self) -> Result<(), Fault> {
        if let (Some(seen), Some(path)) = (&self.frozen, &self.path)
            && *seen != Stamp::of(path)
        {
            let (conn, frozen) = open::file(path, self.access)?;
            (self.conn, self.frozen) = (conn, frozen);
        }
        self.run("BEGIN")
    }

    fn begin_write(&mut self, durable: bool) -> Result<(), Fault> {
        if self.access == Access::ReadOnly || self.frozen.is_some() {
            let reason =
                if self.frozen.is_some() { "its directory is read-only" } else { "opened for reading" };
            let message = format!("cannot write to {}: {reason}", self.place());
            return Err(Fault::new(FaultKind::ReadOnly, message));
        }
        if let Some(lock) = &mut self.lock {
            lock.acquire()?;
        }
        self.begin_locked(durable).inspect_err(|_| self.unlock())
    }

    fn begin_locked(&mut self, durable: bool) -> Result<(), Fault> {
        if !self.wal {
            // A new file and a restored backup have a rollback journal; where no log is possible, that one stays.
            if self.pragma::<String>("PRAGMA journal_mode")? != "wal" {
                self.pragma::<String>("PRAGMA journal_mode = WAL")?;
            }
            self.wal = true;
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
            Some(row) => Numbered::read(row).map(Some),
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
        if self.path.is_some() { "sqlite" } else { "memory" }
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

    fn commit(&mut self) -> Result<(), Fault> {
        let committed = self.run("COMMIT");
        if committed.is_err() && self.in_transaction() {
            // The commit's own fault is the one to report.
            let _ = self.run("ROLLBACK");
        }
        self.unlock();
        committed
    }

    fn rollback(&mut self) -> Result<(), Fault> {
        let rolled_back = if self.in_transaction() { self.run("ROLLBACK") } else { Ok(()) };
        self.unlock();
        rolled_back
    }

    fn lost(&self) -> Option<Fault> {
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

    fn version(&mut self) -> Result<Option<i64>, Fault> {
        if self.pragma::<i64>("PRAGMA application_id")? == APPLICATION_ID {
            return self.pragma("PRAGMA user_version").map(Some);
        }
        // Another process may be making the store right now, so the rest must be seen at one moment.
        self.run("BEGIN")?;
        let found = self.identify();
        self.run("ROLLBACK")?;
        found
    }

    fn set_version(&mut self, version: i64) -> Result<(), Fault> {
        self.script(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}"))
    }

    fn integrity(&mut self) -> Result<Vec<String>, Fault> {
        // The quick check leaves out whether each index says what its table says, which finds damage in every indexed column.
        let sql = "PRAGMA integrity_check(20)";
        let check = || {
            let mut statement = self.conn.prepare(sql)?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.filter(|line| !matches!(line, Ok(line) if line == "ok")).collect::<Result<Vec<_>, _>>()
        };
        match check().map_err(|e| self.fault(Some(sql), e)) {
            Err(fault) if fault.kind == FaultKind::Corrupt => Ok(vec![fault.message]),
            found => found,
        }
    }

    fn may_stay_open(&self) -> bool {
        self.path.as_ref().is_none_or(|path| open::log_size(path) < LONG_LOG)
    }

    fn backup(&mut self, to: &Path) -> Result<(), Fault> {
        let Some(target) = to.to_str() else {
            let message = format!("cannot write a backup to {}: the path is not UTF-8", to.display());
            return Err(Fault::new(FaultKind::CannotOpen, message));
        };
        open::create_private(to).map_err(|e| error::io_fault("cannot write a backup to", to, e))?;
        let copied = self.conn.execute("VACUUM INTO ?1", [target]);
        copied.map(drop).map_err(|e| {
            // An incomplete copy must not be taken for a backup; the copy's own fault is the one to report.
            let _ = std::fs::remove_file(to);
            error::fault(&to.display().to_string(), None, e)
        })
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

fn value(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Blob(value) => Value::Blob(value.to_owned()),
        text @ ValueRef::Text(_) => Value::Text(text.as_str()?.to_owned()),
        ValueRef::Real(_) => {
            let name = row.as_ref().column_name(at)?.to_owned();
            return Err(rusqlite::Error::InvalidColumnType(at, name, rusqlite::types::Type::Real));
        }
    })
}

/// SQLite takes `$1` for a name and numbers names as they come, so they must come in order.
fn ascending(statement: &rusqlite::Statement<'_>) -> bool {
    (1..=statement.parameter_count())
        .all(|at| statement.parameter_name(at) == Some(format!("${at}").as_str()))
}
