//! Transactions over one SQL text and two engines.
//!
//! A [`Store`] is one connection. [`Store::write`] takes the rows of the projects it touches, so each project has one
//! writer at a time and its ledger is numbered in the order in which it becomes visible; [`Store::read`] sees committed
//! rows only. Statements are constants declared with [`sql!`](crate::sql), bound with [`params!`](crate::params) and
//! written for both engines: `BIGINT` and `TEXT` columns, `$1…$n` first used in ascending order, no clock.
//!
//! This folder is the only place that names a database driver.

mod commit_observer;
mod connection;
mod fault;
mod pg;
mod sqlite;
mod store;
mod target;
mod tx;
mod value;

use std::path::Path;

use baton_model::store_place::StorePlace;

use crate::migrate::Migrations;

pub use commit_observer::{CommitEvent, CommitObserver};
pub use fault::{Failure, Fault, FaultKind};
pub use sqlite::{DRAFT_MARK, restore};
pub use store::Store;
pub use target::Target;
pub use tx::Tx;
pub use value::{Row, RowReader, Value};

/// What a transaction is for, which decides how it begins and how it is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Reads only.
    Read,
    /// Reads only, and every statement sees the same moment, on both engines.
    Snapshot,
    /// Durable once committed.
    Write,
    /// May be lost when the machine stops; never torn.
    Relaxed,
}

/// Counts a change of a project that no entry of its ledger records.
pub(crate) const COUNT_CHANGE: &str =
    "UPDATE project SET change_count = change_count + 1 WHERE project_id = $1";

/// Locks a project's row and takes the next number of its ledger. First in every numbered write: the lock makes the
/// transaction the project's only writer until the commit. A number is above the project's floor, see [`crate::counter`].
pub(crate) const TAKE: &str = "UPDATE project SET seq = CASE WHEN seq < counter_floor THEN counter_floor ELSE seq END + 1 \
    WHERE project_id = $1 RETURNING seq, chain_head, counter_floor, merged_into, webhook_url";

/// Counts one where the store has an access token, also one that was revoked or has expired.
pub(crate) const ANY_TOKEN: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM access_token LIMIT 1) made";

/// Notes the `chain` of the newest delta in the project's row, so that the next write learns it when it takes that row.
pub(crate) const CHAIN_HEAD: &str = "UPDATE project SET chain_head = $1 WHERE project_id = $2";

/// What comes with a project's row when it is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerHead {
    /// The next number of its ledger.
    pub(crate) seq: i64,
    /// The `chain` of its newest delta.
    pub(crate) chain_head: String,
    /// Counters of its rows continue above this.
    pub(crate) counter_floor: i64,
    /// The project into which it was merged.
    pub(crate) merged_into: Option<String>,
    /// Where its deltas are posted to.
    pub(crate) webhook: Option<String>,
}

impl LedgerHead {
    fn read(row: Row) -> Result<Self, Fault> {
        let mut row = row.reader();
        Ok(Self {
            seq: row.int()?,
            chain_head: row.text()?,
            counter_floor: row.int()?,
            merged_into: row.opt_text()?,
            webhook: row.opt_text()?,
        })
    }
}

/// What came with the rows of projects, in the order asked for; `None` for a project without a row.
pub(crate) type Numbers = Vec<Option<LedgerHead>>;

/// How a connection is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// For writing; what does not exist is created.
    Create,
    /// For writing; what does not exist is a fault.
    Existing,
    /// For reading only.
    ReadOnly,
}

/// State of the savepoint that a batch reuses: the next write takes it over, which saves statements.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Savepoint {
    /// Not made yet.
    #[default]
    None,
    /// Just rolled back to: the next write can use it as it is.
    Clean,
    /// Belongs to a write that is kept.
    InUse,
}

impl Savepoint {
    /// What has to be sent to have a savepoint with nothing after it.
    fn sql(self) -> &'static str {
        match self {
            Self::None => "SAVEPOINT one",
            Self::Clean => "",
            Self::InUse => "RELEASE SAVEPOINT one; SAVEPOINT one",
        }
    }
}

/// One connection to one database. Everything above this trait is the same for every engine.
pub(crate) trait Engine: Send {
    /// Which engine it is: `sqlite`, `postgres` or `memory`.
    fn kind(&self) -> &'static str;
    /// Begins a transaction and takes the rows of projects; whatever an earlier one left open is rolled back first. When
    /// this fails, no transaction is open.
    fn begin(&mut self, mode: Mode, projects: &[&str]) -> Result<Numbers, Fault>;
    /// Sets a savepoint by the name of `one` and takes the rows of projects.
    fn savepoint(&mut self, savepoint: Savepoint, projects: &[&str]) -> Result<Numbers, Fault>;
    /// Whether the store has an access token, as the open write sees it. Only asked after [`look_for_token`](Engine::look_for_token).
    fn has_token(&mut self) -> Result<bool, Fault> {
        Ok(self.query(ANY_TOKEN, &[])?.pop().map(|row| row.reader().int()).transpose()?.unwrap_or(0) > 0)
    }
    /// Says whether writes that begin from now on are asked for [`has_token`](Engine::has_token), so that a server's answer comes with
    /// that to the beginning.
    fn look_for_token(&mut self, _looks: bool) {}
    /// A mark of what is committed, read inside a transaction that reads: as long as it is the same, nothing else was committed. `None`
    /// where the engine has none; then anything may have been.
    fn commit_mark(&mut self) -> Result<Option<String>, Fault> {
        Ok(None)
    }
    /// Commits the open transaction.
    fn commit(&mut self) -> Result<(), Fault>;
    /// Rolls back the open transaction, if there is one.
    fn rollback(&mut self) -> Result<(), Fault>;
    /// Why the transaction that was begun is not there any more; none while it is.
    fn transaction_fault(&self) -> Option<Fault>;
    /// Runs a statement and returns its rows.
    fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, Fault>;
    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, Fault>;
    /// Executes without returning the affected-row count. On a server it is pipelined with the next query, which fails
    /// with it.
    fn execute_deferred(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Fault> {
        self.execute(sql, params).map(drop)
    }
    /// Asks ahead for rows that will be queried in a moment. Where it is no use, nothing is done; it fails where it ended the open
    /// transaction.
    fn enqueue_query(&mut self, _sql: &'static str, _params: &[Value]) -> Result<(), Fault> {
        Ok(())
    }
    /// Runs statements without parameters: migrations, and what ends a savepoint.
    fn script(&mut self, sql: &str) -> Result<(), Fault>;
    /// Prepares a statement without running it, and checks the order of its parameters.
    fn prepare(&mut self, sql: &'static str) -> Result<(), Fault>;
    /// How many migrations the store has; `None` when nothing of Baton is there yet.
    fn version(&mut self) -> Result<Option<i64>, Fault>;
    /// Notes the number of migrations where [`version`](Engine::version) looks, inside the open transaction.
    fn set_version(&mut self, version: i64) -> Result<(), Fault>;
    /// How often a server was asked and waited for; 0 where there is none.
    fn trips(&self) -> u64 {
        0
    }
    /// How many statements a server was sent; 0 where there is none.
    fn statements(&self) -> u64 {
        0
    }
    /// How many durable transactions a server was asked to commit; 0 where there is none.
    fn commits(&self) -> u64 {
        0
    }
    /// What a server's clock says, in epoch milliseconds; `None` where there is no server.
    fn server_time(&mut self) -> Result<Option<i64>, Fault> {
        Ok(None)
    }
    /// Where the store is, and what a copy of it has otherwise; `None` for memory. The machine is for the caller to say.
    fn place(&mut self) -> Result<Option<StorePlace>, Fault>;
    /// What the engine finds wrong with its own files; empty is sound.
    fn integrity(&mut self) -> Result<Vec<String>, Fault>;
    /// Where the schema is another than these migrations make. Empty on a server, whose owner may have things of his own there.
    fn schema_differences(&mut self, _migrations: Migrations) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }
    /// Whether a process that is about to end may do so without closing the connection.
    fn may_stay_open(&self) -> bool {
        false
    }
    /// Writes a consistent copy to a file that does not exist yet.
    fn backup(&mut self, to: &Path) -> Result<(), Fault>;
}

/// Builds the parameters of a statement: `params![project, version, Some("note")]`.
#[macro_export]
macro_rules! params {
    () => { &[] as &[$crate::Value] };
    ($($v:expr),+ $(,)?) => { &[$($crate::Value::from($v)),+][..] };
}

/// Declares a module's statements as constants, and `ALL`, the table of (name, text) from which a test prepares each of
/// them on every engine.
#[macro_export]
macro_rules! sql {
    ($($(#[$meta:meta])* $name:ident = $text:expr;)+) => {
        $($(#[$meta])* pub(crate) const $name: &str = $text;)+
        /// Every statement of this module with its name.
        #[cfg_attr(not(test), allow(dead_code))]
        pub(crate) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name)),+];
    };
}
