//! The store: one connection, and the transactions on it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use baton_model::access::token_invalid_refusal;
use baton_model::store_place::StorePlace;

use super::commit_observer::CommitObserver;
use super::connection::Connection;
use super::fault::{Failure, Fault, FaultKind};
use super::target::Target;
use super::tx::Tx;
use super::{Engine, Mode, OpenMode, pg, sqlite};
use crate::migrate::{self, MIGRATIONS, Migrations};

/// How often a transaction is run again after a serialization failure or a deadlock.
const RETRIES: u32 = 10;
/// How often a write is run again whose connection broke before its commit: it has certainly not happened.
const LOST_RETRIES: u32 = 3;
/// How often one is run again when the store was busy for as long as the engine waits by itself.
const BUSY_RETRIES: u32 = 1;

/// One connection to a store. It belongs to one thread at a time; a server opens one for each of its threads.
///
/// With PostgreSQL, a store must be used on a plain thread, not inside an asynchronous runtime.
pub struct Store {
    connection: Connection,
    target: Target,
    migrations: Migrations,
    /// Whether a write is refused once the store has an access token.
    until_first_token: bool,
}

impl Store {
    /// Opens a store for writing, creates it (and its directory) when it does not exist, and brings it up to date.
    /// `now_ms` is what new migrations are stamped with. Opening a store that is up to date writes nothing.
    pub fn open(target: &Target, now_ms: i64) -> Result<Self, Fault> {
        Self::open_with(target, MIGRATIONS, now_ms)
    }

    /// Opens a store for writing and brings it up to date; one that does not exist is a fault.
    pub fn open_existing(target: &Target, now_ms: i64) -> Result<Self, Fault> {
        Self::connect(target, OpenMode::Existing, MIGRATIONS, Some(now_ms))
    }

    /// Opens a store that exists for reading only. It is not brought up to date: one that lacks migrations is
    /// [`FaultKind::Older`].
    pub fn open_read_only(target: &Target) -> Result<Self, Fault> {
        Self::connect(target, OpenMode::ReadOnly, MIGRATIONS, None)
    }

    /// Like [`open`](Self::open), with a list of migrations of the caller's own.
    pub fn open_with(target: &Target, migrations: Migrations, now_ms: i64) -> Result<Self, Fault> {
        Self::connect(target, OpenMode::Create, migrations, Some(now_ms))
    }

    /// Like [`open_read_only`](Self::open_read_only), with a list of migrations of the caller's own.
    pub fn open_read_only_with(target: &Target, migrations: Migrations) -> Result<Self, Fault> {
        Self::connect(target, OpenMode::ReadOnly, migrations, None)
    }

    fn connect(
        target: &Target,
        access: OpenMode,
        migrations: Migrations,
        now_ms: Option<i64>,
    ) -> Result<Self, Fault> {
        let mut engine: Box<dyn Engine> = match target {
            Target::Memory => Box::new(sqlite::Sqlite::memory()?),
            Target::File(path) => Box::new(sqlite::Sqlite::open(path, access)?),
            Target::Postgres(url) => Box::new(pg::Postgres::open(url, target, access)?),
        };
        // A store in memory starts empty, so it is always brought up to date.
        let now_ms = if *target == Target::Memory { now_ms.or(Some(0)) } else { now_ms };
        migrate::bring_up_to_date(engine.as_mut(), migrations, now_ms, &target.to_string())?;
        Ok(Self {
            connection: Connection::new(engine),
            target: target.clone(),
            migrations,
            until_first_token: false,
        })
    }

    /// Makes the store fail after so many further steps of writes (a statement is one, so is the commit); `None` turns
    /// it off. For tests that break every step.
    #[cfg(feature = "fail")]
    pub fn fail_after(&mut self, steps: Option<u32>) {
        self.connection.steps_left = steps;
    }

    /// Which engine it is: `sqlite`, `postgres` or `memory`.
    pub fn kind(&self) -> &'static str {
        self.connection.engine.kind()
    }

    /// Where the store is.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Writes to projects, in one transaction that first takes the row of each, in sorted order. A project without a row
    /// is no error: see [`Tx::has_project`].
    ///
    /// When the closure fails, nothing is written. The closure may run more than once, so it must not do anything that
    /// the transaction cannot take back. Inside a batch it runs once, under a savepoint, and what it wrote counts only
    /// when [`commit_batch`](Self::commit_batch) has succeeded.
    pub fn write<T>(
        &mut self,
        projects: &[&str],
        f: impl FnMut(&mut Tx<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut sorted = projects.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        self.attempt(Mode::Write, &sorted, f)
    }

    /// Writes what belongs to no project: caches, registrations. Not numbered.
    pub fn write_shared<T>(
        &mut self,
        f: impl FnMut(&mut Tx<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.attempt(Mode::Write, &[], f)
    }

    /// Like [`write_shared`](Self::write_shared), without waiting for the disk: a crash of the machine may lose it, but
    /// nothing that was written before it and nothing of the store's soundness. For heartbeats and caches.
    pub fn write_relaxed<T>(
        &mut self,
        f: impl FnMut(&mut Tx<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.attempt(Mode::Relaxed, &[], f)
    }

    /// Reads. On SQLite the closure sees one moment; on PostgreSQL each statement sees the moment at which it runs,
    /// which saves two round trips.
    pub fn read<T>(&mut self, f: impl FnOnce(&mut Tx<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut tx = Tx::begin(&mut self.connection, Mode::Read, &[])?;
        let answer = f(&mut tx);
        tx.finish(answer)
    }

    /// Reads, and every statement sees the same moment on PostgreSQL, too.
    pub fn snapshot<T>(&mut self, f: impl FnOnce(&mut Tx<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut tx = Tx::begin(&mut self.connection, Mode::Snapshot, &[])?;
        let answer = f(&mut tx);
        tx.finish(answer)
    }

    fn attempt<T>(
        &mut self,
        mode: Mode,
        projects: &[&str],
        mut f: impl FnMut(&mut Tx<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut tries = 0;
        loop {
            match self.once(mode, projects, &mut f) {
                Err(Failure::Fault(fault)) if !self.is_batch_open() && tries < retries(fault.kind) => {
                    std::thread::sleep(pause(tries));
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    fn once<T>(
        &mut self,
        mode: Mode,
        projects: &[&str],
        f: &mut impl FnMut(&mut Tx<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let until_first_token = self.until_first_token;
        let mut tx = Tx::begin(&mut self.connection, mode, projects)?;
        if until_first_token && tx.has_token()? {
            return Err(token_invalid_refusal().into());
        }
        let answer = f(&mut tx);
        tx.finish(answer)
    }

    /// Makes each write of a caller without a token look in its own transaction whether the store has a token by now; it is refused then.
    pub fn refuse_writes_once_token_exists(&mut self, until_first_token: bool) {
        if self.until_first_token != until_first_token {
            self.until_first_token = until_first_token;
            self.connection.engine.look_for_token(until_first_token);
        }
    }

    /// Sets the observer: sessions are read with its heartbeats, and it is notified of commits.
    pub fn observe(&mut self, observer: Arc<dyn CommitObserver>) {
        self.connection.commit_observer = Some(observer);
    }

    /// Notes from now on in which projects is written, for [`take_written`](Self::take_written).
    pub fn note_written(&mut self) {
        self.connection.written.get_or_insert_default();
    }

    /// The projects whose numbers may have changed by writes on this connection, since this was last asked.
    pub fn take_written(&mut self) -> BTreeSet<String> {
        self.connection.written.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Begins a batch: every write and read until its end shares one transaction and one flush. On PostgreSQL a batch
    /// keeps the rows of the projects it has written until it ends, so it should hold one project's writes.
    pub fn begin_batch(&mut self) -> Result<(), Fault> {
        self.connection.begin_batch()
    }

    /// Commits the batch. When this fails, none of its writes happened (except [`FaultKind::CommitUnknown`]), whatever
    /// they answered; the batch is over either way.
    pub fn commit_batch(&mut self) -> Result<(), Fault> {
        self.connection.commit_batch()
    }

    /// Undoes every write of the batch and ends it.
    pub fn rollback_batch(&mut self) -> Result<(), Fault> {
        self.connection.rollback_batch()
    }

    /// How often this connection has asked a database server and waited: what a network makes slow. Always 0 on SQLite.
    pub fn trips(&self) -> u64 {
        self.connection.engine.trips()
    }

    /// How many statements this connection has sent to a database server, those that travelled with others included. Always 0
    /// on SQLite.
    pub fn statements(&self) -> u64 {
        self.connection.engine.statements()
    }

    /// How many durable transactions this connection has asked a database server to commit: each waits for its disk. Always 0
    /// on SQLite.
    pub fn commits(&self) -> u64 {
        self.connection.engine.commits()
    }

    /// What the database server's clock says, in epoch milliseconds: the one clock that servers on different machines share.
    /// `None` on SQLite.
    pub fn server_time(&mut self) -> Result<Option<i64>, Fault> {
        self.connection.engine.server_time()
    }

    /// Where the store is as it is seen from this machine; `None` for memory, of which there is no copy.
    pub fn place(&mut self, machine_id: &str) -> Result<Option<StorePlace>, Fault> {
        let place = self.connection.engine.place()?;
        Ok(place.map(|place| StorePlace { machine_id: machine_id.to_owned(), ..place }))
    }

    /// Whether a batch is open.
    pub fn is_batch_open(&self) -> bool {
        self.connection.is_batch_open()
    }

    /// What is wrong with the store: damage that the engine finds in its file, migrations that differ from this build's, and
    /// what they did not make, such as a trigger. Empty is sound.
    pub fn check(&mut self) -> Result<Vec<String>, Fault> {
        let engine = self.connection.engine.as_mut();
        let mut found = damage(engine.integrity())?;
        found.extend(damage(migrate::differences(engine, self.migrations))?);
        found.extend(damage(engine.schema_differences(self.migrations))?);
        Ok(found)
    }

    /// Writes a consistent copy of the store to a file that does not exist yet, while others go on writing. SQLite only.
    pub fn backup(&mut self, to: &Path) -> Result<(), Fault> {
        if self.is_batch_open() {
            return Err(Fault::other("a backup cannot be made inside a batch"));
        }
        self.connection.engine.backup(to)
    }

    /// For a process that is about to end: leaves the connection as it is where that is as good as closing it. Closing a
    /// SQLite store writes its log back and removes it, which takes longer than a command does.
    pub fn leave(self) {
        if self.connection.engine.may_stay_open() {
            std::mem::forget(self);
        }
    }

    /// Lets the planner count the rows again, after imports and the like. Does nothing on PostgreSQL, which does so by
    /// itself and whose `ANALYZE` would go through the tables of all users of the database.
    pub fn analyze(&mut self) -> Result<(), Failure> {
        if self.kind() == "postgres" {
            return Ok(());
        }
        self.write_shared(|tx| Ok(tx.execute("ANALYZE", &[])?)).map(drop)
    }

    /// Prepares a statement without running it: a test does this with every constant on every engine.
    pub fn prepare_only(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.connection.engine.prepare(sql)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.target)
    }
}

/// How often a transaction that failed in this way is run again.
fn retries(kind: FaultKind) -> u32 {
    match kind {
        FaultKind::Retry => RETRIES,
        FaultKind::Busy => BUSY_RETRIES,
        FaultKind::Unreachable => LOST_RETRIES,
        _ => 0,
    }
}

/// 1, 2, 4 … 256 ms.
fn pause(tries: u32) -> Duration {
    Duration::from_millis(1 << tries.min(8))
}

/// What a look at the store found; that damage keeps it from reading is a finding, too.
fn damage(found: Result<Vec<String>, Fault>) -> Result<Vec<String>, Fault> {
    match found {
        Err(fault) if fault.kind == FaultKind::Corrupt => Ok(vec![fault.message]),
        found => found,
    }
}
