//! PostgreSQL, and what speaks its protocol.

mod connect;
mod error;
mod outcome;
mod pipeline;
mod statements;
mod tls;
mod url;
mod value;

use std::collections::HashMap;
use std::path::Path;

use baton_model::store_place::StorePlace;
use tokio_postgres::error::SqlState;

use connect::Connector;
use outcome::TransactionNumber;
use pipeline::PipelinedConnection;
use statements::CachedStatement;

use super::fault::{Fault, FaultKind};
use super::target::Target;
use super::tx::reads;
use super::value::{Row, Value};
use super::{Engine, Mode, Numbers, OpenMode, Savepoint};

/// Which transactions are over: the same text stands for the same rows. A transaction that writes nothing has no number and changes
/// nothing in it. After a crash or in another server's place, numbers are given out again: the start of the server and the epoch of its
/// transactions are others then, and without an epoch there is no mark.
const MARK: &str =
    "SELECT CAST(pg_current_snapshot() AS TEXT) || ' ' || CAST(pg_postmaster_start_time() AS TEXT) || ' ' ||
    (SELECT epoch FROM crash_epoch WHERE id = 1)";

/// One PostgreSQL connection.
pub(crate) struct Postgres {
    connection: PipelinedConnection,
    dial: Connector,
    place: String,
    access: OpenMode,
    /// What this connection knows of each statement text.
    statements: HashMap<&'static str, CachedStatement>,
    /// The transaction that was begun. A read begins none, so that each of its statements is one round trip.
    mode: Option<Mode>,
    /// By which the server can say later what became of the open transaction.
    number: Option<TransactionNumber>,
    /// The error of a deferred statement: the transaction is aborted.
    torn: Option<Fault>,
    /// Whether questions were announced and none of them asked yet: the first one waits for all.
    announced: bool,
    /// Whether the server numbers its transactions for us; engines that only speak the protocol may not.
    numbers: bool,
    /// Whether a write asks, as it begins, whether there is a token, and what the last one heard.
    looks_for_token: bool,
    has_token: bool,
    /// Whether the server has marks of what is committed.
    marks: bool,
    /// How often the server was asked and waited for.
    trips: u64,
    statements_run: u64,
    commits: u64,
}

impl Postgres {
    /// Connects.
    pub(crate) fn open(url: &str, target: &Target, access: OpenMode) -> Result<Self, Fault> {
        let dial = Connector::new(url, target, access)?;
        Ok(Self {
            connection: dial.connect()?,
            dial,
            place: target.to_string(),
            access,
            statements: HashMap::new(),
            mode: None,
            number: None,
            torn: None,
            announced: false,
            numbers: true,
            looks_for_token: false,
            has_token: true,
            marks: true,
            trips: 0,
            statements_run: 0,
            commits: 0,
        })
    }

    /// Whether a transaction that was to be numbered could not be, in a way that can be mended.
    fn lacks_number(&self, taken: &Result<Numbers, Fault>) -> bool {
        match taken {
            Ok(_) => self.number.is_none(),
            Err(fault) => outcome::is_not_offered(fault) || outcome::has_no_epochs(fault),
        }
    }

    fn reconnect(&mut self) -> Result<(), Fault> {
        self.statements.clear();
        self.connection = self.dial.reconnect()?;
        Ok(())
    }
}

impl Engine for Postgres {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn begin(&mut self, mode: Mode, projects: &[&str]) -> Result<Numbers, Fault> {
        self.forget();
        if self.transaction_open() {
            self.rollback()?;
        }
        if self.connection.is_closed() {
            self.reconnect()?;
        }
        self.torn = None;
        let begin = match mode {
            Mode::Read => {
                self.mode = Some(mode);
                return Ok(Vec::new());
            }
            Mode::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Mode::Write => "BEGIN",
            Mode::Relaxed => "BEGIN; SET LOCAL synchronous_commit = off",
        };
        if self.access == OpenMode::ReadOnly && mode != Mode::Snapshot {
            let message = format!("cannot write to {}: opened for reading", self.place);
            return Err(Fault::new(FaultKind::ReadOnly, message));
        }
        self.number = None;
        let numbered = mode == Mode::Write && self.numbers;
        let mut taken = self.open_and_take(begin, projects, numbered);
        if numbered && self.lacks_number(&taken) {
            self.mode = Some(mode);
            self.rollback()?;
            self.numbers = !taken.as_ref().is_err_and(outcome::is_not_offered) && self.begin_epoch();
            taken = self.open_and_take(begin, projects, self.numbers);
        }
        self.mode = Some(mode);
        // The fault that made it roll back is the one to report.
        taken.inspect_err(|_| drop(self.rollback()))
    }

    fn savepoint(&mut self, savepoint: Savepoint, projects: &[&str]) -> Result<Numbers, Fault> {
        self.forget();
        self.open_and_take(savepoint.sql(), projects, false)
    }

    fn has_token(&mut self) -> Result<bool, Fault> {
        Ok(self.has_token)
    }

    fn look_for_token(&mut self, looks: bool) {
        self.looks_for_token = looks;
        // Until a write has begun, it is not known.
        self.has_token = true;
    }

    fn commit_mark(&mut self) -> Result<Option<String>, Fault> {
        if !self.marks {
            return Ok(None);
        }
        match self.query(MARK, &[]) {
            Ok(rows) => {
                rows.into_iter().next().map(|row| row.reader().opt_text()).transpose().map(Option::flatten)
            }
            Err(fault) if outcome::is_not_offered(&fault) => {
                self.marks = false;
                Ok(None)
            }
            // The first write makes it.
            Err(fault) if outcome::has_no_epochs(&fault) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn commit(&mut self) -> Result<(), Fault> {
        if let Some(fault) = self.torn.take() {
            // The server would answer that all is well, and have rolled back. Why it did says more than a rollback that fails.
            let _ = self.rollback();
            return Err(fault);
        }
        self.forget();
        let open = self.transaction_open();
        self.commits += u64::from(self.mode == Some(Mode::Write));
        self.mode = None;
        if !open {
            return Ok(());
        }
        match self.batch("COMMIT") {
            Ok(()) => Ok(()),
            Err(failed) => {
                let fault = self.failed("COMMIT", failed);
                // A broken connection fails the oldest pending statement; the commit may have happened all the same.
                if fault.kind == FaultKind::Unreachable {
                    return self.find_out(fault);
                }
                // Else the server has rolled back: it commits nothing in which a statement failed.
                Err(fault)
            }
        }
    }

    fn rollback(&mut self) -> Result<(), Fault> {
        self.forget();
        let open = self.transaction_open();
        self.mode = None;
        if !open || self.connection.is_closed() {
            return Ok(());
        }
        match self.batch("ROLLBACK") {
            // What was sent ahead and failed is rolled back with the rest.
            Err(failed) if failed.deferred_sql.is_none() => Err(self.failed("ROLLBACK", failed)),
            _ => Ok(()),
        }
    }

    fn transaction_fault(&self) -> Option<Fault> {
        if !self.transaction_open() {
            return Some(Fault::other(format!("no transaction is open on {}", self.place)));
        }
        let closed = || {
            let message = format!("lost the connection to {}; nothing was saved", self.place);
            Fault::new(FaultKind::Unreachable, message)
        };
        self.torn.clone().or_else(|| self.connection.is_closed().then(closed))
    }

    fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        if !reads(sql) {
            self.forget();
        }
        let prefetched = self.connection.prefetched(sql, params);
        if prefetched.is_some() {
            self.trips += u64::from(std::mem::take(&mut self.announced));
        }
        let rows = match prefetched {
            Some(Ok(rows)) => rows,
            Some(Err(failed)) if self.transaction_open() => return Err(self.failed(sql, failed)),
            // Asked in the usual way, it is asked again where that helps.
            Some(Err(_)) | None => self.run(sql, |engine| engine.query_once(sql, params))?,
        };
        let decoded = rows.iter().map(value::decode).collect::<Result<_, _>>();
        decoded.map_err(|e| self.fault(sql, e))
    }

    fn execute(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, Fault> {
        self.forget();
        self.run(sql, |engine| engine.execute_once(sql, params))
    }

    fn execute_deferred(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Fault> {
        if !self.transaction_open() {
            return self.execute(sql, params).map(drop);
        }
        self.forget();
        self.run(sql, |engine| engine.execute_deferred_once(sql, params))
    }

    fn enqueue_query(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Fault> {
        if self.connection.is_prefetched(sql, params) {
            return Ok(());
        }
        match self.prepared(sql, params) {
            Ok(statement) => {
                self.statements_run += 1;
                self.connection.prefetch(sql, statement, params.to_vec());
                self.announced = true;
                Ok(())
            }
            Err(failed) if self.transaction_open() => {
                let fault = self.failed(sql, failed);
                Err(self.torn.get_or_insert(fault).clone())
            }
            // It will say why when it is asked.
            Err(_) => Ok(()),
        }
    }

    fn script(&mut self, sql: &str) -> Result<(), Fault> {
        self.forget();
        self.batch(sql).map_err(|failed| self.failed(sql, failed))
    }

    fn prepare(&mut self, sql: &'static str) -> Result<(), Fault> {
        let prepared = self.with_client(async |client| client.prepare(sql).await);
        prepared.map(drop).map_err(|failed| self.failed(sql, failed))
    }

    fn trips(&self) -> u64 {
        self.trips
    }

    fn statements(&self) -> u64 {
        self.statements_run
    }

    fn commits(&self) -> u64 {
        self.commits
    }

    fn server_time(&mut self) -> Result<Option<i64>, Fault> {
        let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
        match self.query(sql, &[])?.pop() {
            Some(row) => row.reader().opt_int(),
            None => Ok(None),
        }
    }

    fn place(&mut self) -> Result<Option<StorePlace>, Fault> {
        let sql =
            "SELECT CAST(system_identifier AS TEXT) || '/' || (SELECT CAST(oid AS TEXT) FROM pg_database
            WHERE datname = current_database()) FROM pg_control_system()";
        // Some servers give these numbers to nobody.
        let key = match self.with_client(async |client| client.query_typed(sql, &[]).await) {
            Ok(rows) => rows.first().and_then(|row| row.try_get::<_, String>(0).ok()).unwrap_or_default(),
            Err(_) => String::new(),
        };
        Ok(Some(StorePlace { place: self.place.clone(), key, is_database: true, ..StorePlace::default() }))
    }

    fn version(&mut self) -> Result<Option<i64>, Fault> {
        let sql = "SELECT max(version) FROM migration";
        match self.with_client(async |client| client.query_typed(sql, &[]).await) {
            Ok(rows) => match rows.first() {
                Some(row) => row.try_get(0).map_err(|e| self.fault(sql, e)),
                None => Ok(None),
            },
            Err(failed) if failed.error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
            Err(failed) => Err(self.failed(sql, failed)),
        }
    }

    /// The migration table itself is where the version is read.
    fn set_version(&mut self, _: i64) -> Result<(), Fault> {
        Ok(())
    }

    /// The server watches over its own files.
    fn integrity(&mut self) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }

    fn backup(&mut self, _: &Path) -> Result<(), Fault> {
        Err(Fault::other(format!("{} is backed up with pg_dump, not by Baton", self.place)))
    }
}
