//! PostgreSQL, and what speaks its protocol.

mod error;
mod value;

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls, SimpleQueryMessage, Statement};

use super::fault::{Fault, FaultKind};
use super::target::Target;
use super::value::{Row, Value, check_params};
use super::{Access, Engine, Mode, Numbers, Savepoint, TAKE};

/// Waiting for a project's row is bounded, as on SQLite; a client that vanished with an open transaction is thrown out.
const SETTINGS: &str = "-c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000";

/// One PostgreSQL connection.
pub(crate) struct Postgres {
    client: Client,
    config: Config,
    place: String,
    access: Access,
    /// What this connection knows of each statement text.
    statements: HashMap<&'static str, Known>,
    /// The transaction that was begun. A read begins none, so that each of its statements is one round trip.
    mode: Option<Mode>,
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
        let place = target.to_string();
        let mut config = Config::from_str(url).map_err(|e| {
            let message = format!("cannot open {place}: {}", error::chain(&e));
            Fault::new(FaultKind::CannotOpen, message).with_source(e)
        })?;
        let read_only = if access == Access::ReadOnly { " -c default_transaction_read_only=on" } else { "" };
        let own = config.get_options().unwrap_or_default();
        let options = format!("{SETTINGS} {own} -c standard_conforming_strings=on{read_only}");
        config.options(&options);
        if config.get_application_name().is_none() {
            config.application_name("baton");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        config.keepalives_idle(Duration::from_secs(30));
        let client = config.connect(NoTls).map_err(|e| error::connect_fault(&place, e))?;
        Ok(Self { client, config, place, access, statements: HashMap::new(), mode: None })
    }

    fn reconnect(&mut self) -> Result<(), Fault> {
        self.statements.clear();
        self.client = self.config.connect(NoTls).map_err(|e| error::connect_fault(&self.place, e))?;
        Ok(())
    }

    fn fault(&self, sql: &str, error: postgres::Error) -> Fault {
        error::fault(&self.place, sql, error)
    }

    fn transaction_open(&self) -> bool {
        matches!(self.mode, Some(Mode::Write | Mode::Relaxed))
    }

    /// Runs a statement; outside a transaction once more when the connection turns out to be gone, or when the tables have
    /// changed under a prepared statement.
    fn run<T>(&mut self, sql: &str, f: impl Fn(&mut Self) -> Result<T, postgres::Error>) -> Result<T, Fault> {
        let error = match f(self) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let fault = self.fault(sql, error);
        if fault.kind == FaultKind::Retry {
            self.statements.clear();
        }
        if self.transaction_open() {
            return Err(fault);
        }
        match fault.kind {
            FaultKind::Unreachable => self.reconnect()?,
            FaultKind::Retry => {}
            _ => return Err(fault),
        }
        f(self).map_err(|e| self.fault(sql, e))
    }

    /// Opens a transaction or a savepoint and takes the rows of projects: one round trip for all of it.
    fn open_and_take(&mut self, open: &str, projects: &[&str]) -> Result<Numbers, Fault> {
        let mut sql = open.to_owned();
        for project in projects {
            sql.push_str("; ");
            sql.push_str(&TAKE.replace("$1", &literal(project)?));
        }
        if sql.is_empty() {
            return Ok(Numbers::new());
        }
        let messages = self.run(&sql, |engine| engine.client.simple_query(&sql))?;
        let mut numbers = Numbers::new();
        let mut number = None;
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => number = row.get(0).and_then(|text| text.parse().ok()),
                SimpleQueryMessage::CommandComplete(_) => numbers.push(number.take()),
                _ => {}
            }
        }
        // What opened the transaction has come back as well, before the projects.
        Ok(numbers.split_off(numbers.len().saturating_sub(projects.len())))
    }

    /// The prepared form of a statement, from its second use on.
    fn prepared(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Option<Statement>, postgres::Error> {
        match self.statements.get(sql) {
            None => {
                self.statements.insert(sql, Known::Seen);
                Ok(None)
            }
            Some(Known::Prepared(statement)) => Ok(Some(statement.clone())),
            Some(Known::Seen) => {
                let types: Vec<Type> = params.iter().map(value::type_of).collect();
                let statement = self.client.prepare_typed(sql, &types)?;
                self.statements.insert(sql, Known::Prepared(statement.clone()));
                Ok(Some(statement))
            }
        }
    }

    fn query_once(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Vec<postgres::Row>, postgres::Error> {
        match self.prepared(sql, params)? {
            Some(statement) => self.client.query(&statement, &untyped(params)),
            None => self.client.query_typed(sql, &typed(params)),
        }
    }

    fn execute_once(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, postgres::Error> {
        match self.prepared(sql, params)? {
            Some(statement) => self.client.execute(&statement, &untyped(params)),
            None => self.client.execute_typed(sql, &typed(params)),
        }
    }
}

impl Engine for Postgres {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn begin(&mut self, mode: Mode, projects: &[&str]) -> Result<Numbers, Fault> {
        if self.transaction_open() {
            self.rollback()?;
        }
        if self.client.is_closed() {
            self.reconnect()?;
        }
        let begin = match mode {
            Mode::Read => {
                self.mode = Some(mode);
                return Ok(Vec::new());
            }
            Mode::Write => "BEGIN",
            Mode::Relaxed => "BEGIN; SET LOCAL synchronous_commit = off",
        };
        if self.access == Access::ReadOnly {
            let message = format!("cannot write to {}: opened for reading", self.place);
            return Err(Fault::new(FaultKind::ReadOnly, message));
        }
        let taken = self.open_and_take(begin, projects);
        self.mode = Some(mode);
        // The fault that made it roll back is the one to report.
        taken.inspect_err(|_| drop(self.rollback()))
    }

    fn savepoint(&mut self, savepoint: Savepoint, projects: &[&str]) -> Result<Numbers, Fault> {
        self.open_and_take(savepoint.sql(), projects)
    }

    fn commit(&mut self) -> Result<(), Fault> {
        let open = self.transaction_open();
        self.mode = None;
        if !open {
            return Ok(());
        }
        self.client.batch_execute("COMMIT").map_err(|e| {
            let mut fault = self.fault("COMMIT", e);
            if fault.kind == FaultKind::Unreachable {
                fault.kind = FaultKind::CommitUnknown;
                fault.message.push_str("; the change may or may not have been saved");
            }
            fault
        })
    }

    fn rollback(&mut self) -> Result<(), Fault> {
        let open = self.transaction_open();
        self.mode = None;
        if !open || self.client.is_closed() {
            return Ok(());
        }
        self.client.batch_execute("ROLLBACK").map_err(|e| self.fault("ROLLBACK", e))
    }

    fn in_transaction(&self) -> bool {
        self.transaction_open() && !self.client.is_closed()
    }

    fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        let rows = self.run(sql, |engine| engine.query_once(sql, params))?;
        let decoded = rows.iter().map(value::decode).collect::<Result<_, _>>();
        decoded.map_err(|e| self.fault(sql, e))
    }

    fn execute(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, Fault> {
        self.run(sql, |engine| engine.execute_once(sql, params))
    }

    fn script(&mut self, sql: &str) -> Result<(), Fault> {
        self.client.batch_execute(sql).map_err(|e| self.fault(sql, e))
    }

    fn prepare(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.client.prepare(sql).map(drop).map_err(|e| self.fault(sql, e))
    }

    fn version(&mut self) -> Result<Option<i64>, Fault> {
        let sql = "SELECT max(version) FROM migration";
        match self.client.query_typed(sql, &[]) {
            Ok(rows) => match rows.first() {
                Some(row) => row.try_get(0).map_err(|e| self.fault(sql, e)),
                None => Ok(None),
            },
            Err(e) if e.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
            Err(e) => Err(self.fault(sql, e)),
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
