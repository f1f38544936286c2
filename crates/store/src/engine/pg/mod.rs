//! PostgreSQL, and what speaks its protocol.

mod dial;
mod error;
mod line;
mod outcome;
mod tls;
mod url;
mod value;

use std::collections::HashMap;
use std::path::Path;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, SimpleQueryMessage, Statement};

use dial::Dial;
use line::{Failed, Line};

use super::fault::{Fault, FaultKind};
use super::target::Target;
use super::tx::reads;
use super::value::{Row, Value, check_params};
use super::{Access, Engine, Mode, Numbers, Savepoint, TAKE};

/// One PostgreSQL connection.
pub(crate) struct Postgres {
    line: Line,
    dial: Dial,
    place: String,
    access: Access,
    /// What this connection knows of each statement text.
    statements: HashMap<&'static str, Known>,
    /// The transaction that was begun. A read begins none, so that each of its statements is one round trip.
    mode: Option<Mode>,
    /// By which the server can say later what became of the open transaction.
    number: Option<i64>,
    /// Whether a statement that was sent ahead has failed: then the transaction is lost, whoever's statement it was.
    torn: bool,
    /// Whether questions were announced and none of them asked yet: the first one waits for all.
    announced: bool,
    /// Whether the server numbers its transactions for us; engines that only speak the protocol may not.
    numbers: bool,
    /// How often the server was asked and waited for.
    trips: u64,
    statements_run: u64,
    commits: u64,
}

/// A statement is sent whole the first time, which is one round trip, and prepared the second time. So a short process
/// pays nothing for a cache, and a server parses each statement twice in its life.
enum Known {
    Seen,
    Prepared(Statement),
}

impl Postgres {
    /// Connects.
    pub(crate) fn open(url: &str, target: &Target, access: Access) -> Result<Self, Fault> {
        let dial = Dial::new(url, target, access)?;
        Ok(Self {
            line: dial.connect()?,
            dial,
            place: target.to_string(),
            access,
            statements: HashMap::new(),
            mode: None,
            number: None,
            torn: false,
            announced: false,
            numbers: true,
            trips: 0,
            statements_run: 0,
            commits: 0,
        })
    }

    fn reconnect(&mut self) -> Result<(), Fault> {
        self.statements.clear();
        self.line = self.dial.again()?;
        Ok(())
    }

    /// Asks the server one question.
    fn ask<T>(&mut self, question: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T, Failed> {
        self.trips += 1;
        self.statements_run += 1;
        let answer = self.line.ask(question);
        self.torn |= answer.as_ref().is_err_and(|failed| failed.ahead.is_some());
        answer
    }

    fn fault(&self, sql: &str, error: Error) -> Fault {
        error::fault(&self.place, sql, error)
    }

    /// The fault of a question, or of what was sent ahead of it.
    fn failed(&self, sql: &str, failed: Failed) -> Fault {
        self.fault(failed.ahead.unwrap_or(sql), failed.error)
    }

    /// Forgets the questions that were announced and not asked.
    fn forget(&mut self) {
        let open = self.transaction_open();
        self.line.forget_foreseen(open);
    }

    fn transaction_open(&self) -> bool {
        matches!(self.mode, Some(Mode::Write | Mode::Relaxed | Mode::Snapshot))
    }

    /// The same, and plans that no longer hold are forgotten.
    fn failed_in_transaction(&mut self, sql: &str, failed: Failed) -> Fault {
        let fault = self.failed(sql, failed);
        if fault.kind == FaultKind::Retry {
            self.statements.clear();
        }
        fault
    }

    /// Runs a statement; outside a transaction once more when the connection turns out to be gone, or when the tables have
    /// changed under a prepared statement.
    fn run<T>(&mut self, sql: &str, f: impl Fn(&mut Self) -> Result<T, Failed>) -> Result<T, Fault> {
        let error = match f(self) {
            Ok(value) => return Ok(value),
            Err(failed) => failed,
        };
        let fault = self.failed_in_transaction(sql, error);
        if self.transaction_open() {
            return Err(fault);
        }
        match fault.kind {
            FaultKind::Unreachable => self.reconnect()?,
            FaultKind::Retry => {}
            _ => return Err(fault),
        }
        f(self).map_err(|failed| self.failed(sql, failed))
    }

    /// Sends statements, then takes the rows of projects, then asks for the transaction's number where that is wanted: one
    /// round trip for all of it.
    fn open_and_take(&mut self, open: &str, projects: &[&str], numbered: bool) -> Result<Numbers, Fault> {
        let mut sql = vec![open.to_owned()];
        for project in projects {
            sql.push(TAKE.replace("$1", &literal(project)?));
        }
        sql.extend(numbered.then(|| outcome::NUMBER.to_owned()));
        let sql = sql.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        if sql.is_empty() {
            return Ok(Numbers::new());
        }
        let messages = self.run(&sql, |engine| engine.ask(async |client| client.simple_query(&sql).await))?;
        let mut numbers = Numbers::new();
        let mut number = None;
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => number = row.get(0).and_then(|text| text.parse().ok()),
                SimpleQueryMessage::CommandComplete(_) => numbers.push(number.take()),
                _ => {}
            }
        }
        if numbered {
            self.number = numbers.pop().flatten();
        }
        // What opened the transaction has come back as well, before the projects.
        Ok(numbers.split_off(numbers.len().saturating_sub(projects.len())))
    }

    /// The prepared form of a statement, from its second use on.
    fn prepared(&mut self, sql: &'static str, params: &[Value]) -> Result<Option<Statement>, Failed> {
        match self.statements.get(sql) {
            None => {
                self.statements.insert(sql, Known::Seen);
                Ok(None)
            }
            Some(Known::Prepared(statement)) => Ok(Some(statement.clone())),
            Some(Known::Seen) => {
                let types: Vec<Type> = params.iter().map(value::type_of).collect();
                let statement = self.ask(async |client| client.prepare_typed(sql, &types).await)?;
                self.statements.insert(sql, Known::Prepared(statement.clone()));
                Ok(Some(statement))
            }
        }
    }

    fn query_once(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Vec<tokio_postgres::Row>, Failed> {
        let statement = self.prepared(sql, params)?;
        self.ask(async |client| match &statement {
            Some(statement) => client.query(statement, &untyped(params)).await,
            None => client.query_typed(sql, &typed(params)).await,
        })
    }

    fn execute_once(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, Failed> {
        let statement = self.prepared(sql, params)?;
        self.ask(async |client| match &statement {
            Some(statement) => client.execute(statement, &untyped(params)).await,
            None => client.execute_typed(sql, &typed(params)).await,
        })
    }

    fn send_once(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Failed> {
        let statement = self.prepared(sql, params)?;
        self.statements_run += 1;
        self.line.send(sql, statement, params.to_vec())
    }

    /// Runs statements without parameters.
    fn batch(&mut self, sql: &str) -> Result<(), Failed> {
        self.ask(async |client| client.batch_execute(sql).await)
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
        if self.line.is_closed() {
            self.reconnect()?;
        }
        self.torn = false;
        let begin = match mode {
            Mode::Read => {
                self.mode = Some(mode);
                return Ok(Vec::new());
            }
            Mode::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Mode::Write => "BEGIN",
            Mode::Relaxed => "BEGIN; SET LOCAL synchronous_commit = off",
        };
        if self.access == Access::ReadOnly && mode != Mode::Snapshot {
            let message = format!("cannot write to {}: opened for reading", self.place);
            return Err(Fault::new(FaultKind::ReadOnly, message));
        }
        self.number = None;
        let wanted = mode == Mode::Write;
        let mut taken = self.open_and_take(begin, projects, wanted && self.numbers);
        if wanted && self.numbers && taken.as_ref().is_err_and(outcome::is_not_offered) {
            self.numbers = false;
            self.mode = Some(mode);
            self.rollback()?;
            taken = self.open_and_take(begin, projects, false);
        }
        self.mode = Some(mode);
        // The fault that made it roll back is the one to report.
        taken.inspect_err(|_| drop(self.rollback()))
    }

    fn savepoint(&mut self, savepoint: Savepoint, projects: &[&str]) -> Result<Numbers, Fault> {
        self.forget();
        self.open_and_take(savepoint.sql(), projects, false)
    }

    fn commit(&mut self) -> Result<(), Fault> {
        if self.torn {
            // The server would answer that all is well, and have rolled back.
            self.rollback()?;
            return Err(Fault::other(format!(
                "{} has ended the transaction: nothing of it is kept",
                self.place
            )));
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
                let ahead = failed.ahead.is_some();
                let fault = self.failed("COMMIT", failed);
                // Whoever lost the connection says so to the first that waits, which is what was sent ahead; the commit may
                // have happened all the same.
                if fault.kind == FaultKind::Unreachable {
                    return self.find_out(fault);
                }
                // The server has rolled back: it commits nothing in which a statement failed.
                if ahead {
                    self.statements.clear();
                }
                Err(fault)
            }
        }
    }

    fn rollback(&mut self) -> Result<(), Fault> {
        self.forget();
        let open = self.transaction_open();
        self.mode = None;
        if !open || self.line.is_closed() {
            return Ok(());
        }
        match self.batch("ROLLBACK") {
            // What was sent ahead and failed is rolled back with the rest.
            Err(failed) if failed.ahead.is_none() => Err(self.failed("ROLLBACK", failed)),
            _ => Ok(()),
        }
    }

    fn in_transaction(&self) -> bool {
        self.transaction_open() && !self.torn && !self.line.is_closed()
    }

    fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        if !reads(sql) {
            self.forget();
        }
        let foreseen = self.line.foreseen(sql, params);
        if foreseen.is_some() {
            self.trips += u64::from(std::mem::take(&mut self.announced));
        }
        let rows = match foreseen {
            Some(Ok(rows)) => rows,
            Some(Err(failed)) if self.transaction_open() => {
                self.torn |= failed.ahead.is_some();
                return Err(self.failed_in_transaction(sql, failed));
            }
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

    fn send(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Fault> {
        if !self.transaction_open() {
            return self.execute(sql, params).map(drop);
        }
        self.forget();
        self.run(sql, |engine| engine.send_once(sql, params))
    }

    fn foresee(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Fault> {
        match self.prepared(sql, params) {
            Ok(statement) => {
                self.statements_run += 1;
                self.line.foresee(sql, statement, params.to_vec());
                self.announced = true;
                Ok(())
            }
            Err(failed) if self.transaction_open() => {
                self.torn = true;
                Err(self.failed_in_transaction(sql, failed))
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
        let prepared = self.ask(async |client| client.prepare(sql).await);
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

    fn version(&mut self) -> Result<Option<i64>, Fault> {
        let sql = "SELECT max(version) FROM migration";
        match self.ask(async |client| client.query_typed(sql, &[]).await) {
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

/// A text as a literal. The connection is set to read backslashes as themselves, so only quotes have to be doubled.
fn literal(text: &str) -> Result<String, Fault> {
    check_params(&[Value::from(text)])?;
    Ok(format!("'{}'", text.replace('\'', "''")))
}

fn untyped(params: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn typed(params: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    params.iter().map(|value| (value as &(dyn ToSql + Sync), value::type_of(value))).collect()
}
