//! Runs statements: as text or prepared, at once or pipelined; and maps their errors.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, SimpleQueryMessage, Statement};

use super::outcome::TransactionNumber;
use super::pipeline::StatementError;
use super::{Postgres, error, outcome, value};
use crate::engine::fault::{Fault, FaultKind};
use crate::engine::value::{Value, check_params};
use crate::engine::{ANY_TOKEN, LedgerHead, Mode, Numbers, TAKE};

/// A statement is sent whole the first time, which is one round trip, and prepared the second time. So a short process
/// pays nothing for a cache, and a server parses each statement twice in its life.
pub(super) enum CachedStatement {
    Seen,
    Prepared(Statement),
}

impl Postgres {
    /// Asks the server one request.
    pub(super) fn with_client<T>(
        &mut self,
        request: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, StatementError> {
        self.trips += 1;
        self.statements_run += 1;
        self.connection.with_client(request)
    }

    pub(super) fn fault(&self, sql: &str, error: Error) -> Fault {
        error::fault(&self.place, sql, error)
    }

    /// The fault of a request, or of what was sent ahead of it, which is the transaction's. Plans that no longer hold are
    /// forgotten.
    pub(super) fn failed(&mut self, sql: &str, failed: StatementError) -> Fault {
        let fault = self.fault(failed.deferred_sql.unwrap_or(sql), failed.error);
        if fault.kind == FaultKind::Retry {
            self.statements.clear();
        }
        if failed.deferred_sql.is_some() && self.transaction_open() {
            self.torn.get_or_insert_with(|| fault.clone());
        }
        fault
    }

    /// Discards prefetched queries that were not used.
    pub(super) fn forget(&mut self) {
        let open = self.transaction_open();
        self.connection.discard_prefetched(open);
    }

    pub(super) fn transaction_open(&self) -> bool {
        matches!(self.mode, Some(Mode::Write | Mode::Relaxed | Mode::Snapshot))
    }

    /// Runs a statement; outside a transaction once more when the connection turns out to be gone, or when the tables have
    /// changed under a prepared statement.
    pub(super) fn run<T>(
        &mut self,
        sql: &str,
        f: impl Fn(&mut Self) -> Result<T, StatementError>,
    ) -> Result<T, Fault> {
        let failed = match f(self) {
            Ok(value) => return Ok(value),
            Err(failed) => failed,
        };
        let fault = self.failed(sql, failed);
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

    /// Sends statements, then takes the rows of projects, then asks for a token and for the transaction's number where that is wanted:
    /// one round trip for all of it.
    pub(super) fn open_and_take(
        &mut self,
        open: &str,
        projects: &[&str],
        numbered: bool,
    ) -> Result<Numbers, Fault> {
        let mut sql = vec![open.to_owned()];
        for project in projects {
            sql.push(TAKE.replace("$1", &literal(project)?));
        }
        sql.extend(self.looks_for_token.then(|| ANY_TOKEN.to_owned()));
        sql.extend(numbered.then(|| outcome::NUMBER.to_owned()));
        let sql = sql.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        if sql.is_empty() {
            return Ok(Numbers::new());
        }
        let messages =
            self.run(&sql, |engine| engine.with_client(async |client| client.simple_query(&sql).await))?;
        let mut numbers = Numbers::new();
        let mut number = None;
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => {
                    let seq = row.get(0).and_then(|text| text.parse().ok());
                    let column = |at| if row.len() > at { row.get(at) } else { None };
                    let chain_head = column(1).unwrap_or_default().to_owned();
                    let counter_floor = column(2).and_then(|text| text.parse().ok()).unwrap_or_default();
                    let merged_into = column(3).map(str::to_owned);
                    let webhook = column(4).map(str::to_owned);
                    number =
                        seq.map(|seq| LedgerHead { seq, chain_head, counter_floor, merged_into, webhook });
                }
                SimpleQueryMessage::CommandComplete(_) => numbers.push(number.take()),
                _ => {}
            }
        }
        if numbered {
            // The epoch stands where a project has the head of its chain; it is empty after a crash.
            let answered = numbers.pop().flatten().filter(|transaction| !transaction.chain_head.is_empty());
            self.number = answered.map(|transaction| TransactionNumber {
                number: transaction.seq,
                epoch: transaction.chain_head,
            });
        }
        if self.looks_for_token {
            // How many there are stands where a project has its number.
            self.has_token = numbers.pop().flatten().is_none_or(|found| found.seq > 0);
        }
        // What opened the transaction has come back as well, before the projects.
        Ok(numbers.split_off(numbers.len().saturating_sub(projects.len())))
    }

    /// The prepared form of a statement, from its second use on.
    pub(super) fn prepared(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Option<Statement>, StatementError> {
        match self.statements.get(sql) {
            None => {
                self.statements.insert(sql, CachedStatement::Seen);
                Ok(None)
            }
            Some(CachedStatement::Prepared(statement)) => Ok(Some(statement.clone())),
            Some(CachedStatement::Seen) => {
                let types: Vec<Type> = params.iter().map(value::type_of).collect();
                let statement = self.with_client(async |client| client.prepare_typed(sql, &types).await)?;
                self.statements.insert(sql, CachedStatement::Prepared(statement.clone()));
                Ok(Some(statement))
            }
        }
    }

    pub(super) fn query_once(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Vec<tokio_postgres::Row>, StatementError> {
        let statement = self.prepared(sql, params)?;
        self.with_client(async |client| match &statement {
            Some(statement) => client.query(statement, &untyped(params)).await,
            None => client.query_typed(sql, &typed(params)).await,
        })
    }

    pub(super) fn execute_once(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<u64, StatementError> {
        let statement = self.prepared(sql, params)?;
        self.with_client(async |client| match &statement {
            Some(statement) => client.execute(statement, &untyped(params)).await,
            None => client.execute_typed(sql, &typed(params)).await,
        })
    }

    pub(super) fn execute_deferred_once(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<(), StatementError> {
        let statement = self.prepared(sql, params)?;
        self.statements_run += 1;
        self.connection.execute_deferred(sql, statement, params.to_vec())
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StatementError> {
        self.with_client(async |client| client.batch_execute(sql).await)
    }
}

/// A text as a literal. The connection is set to read backslashes as themselves, so only quotes have to be doubled.
fn literal(text: &str) -> Result<String, Fault> {
    check_params(&[Value::from(text)])?;
    Ok(format!("'{}'", text.replace('\'', "''")))
}

pub(super) fn untyped(params: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

pub(super) fn typed(params: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    params.iter().map(|value| (value as &(dyn ToSql + Sync), value::type_of(value))).collect()
}
