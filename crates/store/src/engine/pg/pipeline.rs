//! One connection to the server: queries are answered in order, and a deferred statement is pipelined with the next
//! query.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Connection, Error, Row, Statement};

use super::statements::{typed, untyped};
use crate::engine::value::Value;

/// How many statements are sent ahead before they are waited for: a long import must not pile up in memory.
const AHEAD: usize = 64;
/// How long saying goodbye to a server may take.
const GOODBYE: Duration = Duration::from_millis(500);

/// A failure, and the statement that failed where that is not the one that was asked.
pub(super) struct StatementError {
    pub(super) error: Error,
    pub(super) ahead: Option<&'static str>,
}

/// An answer to come.
type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// A connection, driven by the thread that asks.
pub(super) struct PipelinedConnection {
    ahead: Vec<Pending>,
    prefetched: Vec<Prefetched>,
    client: Arc<Client>,
    // Last: it is dropped after the client, and then sends the termination message.
    wire: Pipeline,
}

/// Something that was sent, and whose answer may still be under way.
enum Reply<T> {
    Coming(Answer<T>),
    Here(Result<T, Error>),
}

/// A statement that was sent ahead.
struct Pending {
    /// None for an optional setting, whose failure is ignored.
    sql: Option<&'static str>,
    reply: Reply<u64>,
}

/// A query sent before its result was requested.
struct Prefetched {
    sql: &'static str,
    params: Vec<Value>,
    reply: Reply<Vec<Row>>,
}

impl<T> Reply<T> {
    /// Hands a message over, so that it stands before whatever is asked next; nothing is sent yet.
    fn handed_over(answer: impl Future<Output = Result<T, Error>> + Send + 'static) -> Self {
        let mut reply = Self::Coming(Box::pin(answer));
        reply.poll(&mut Context::from_waker(Waker::noop()));
        reply
    }

    /// Takes what the wire has brought; whether that is all.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if let Self::Coming(answer) = self {
            match answer.as_mut().poll(cx) {
                Poll::Ready(answer) => *self = Self::Here(answer),
                Poll::Pending => return false,
            }
        }
        true
    }
}

/// Drives the socket while a caller blocks on an answer.
struct Pipeline {
    runtime: Runtime,
    /// None once the connection has ended.
    connection: Option<Answer<()>>,
}

/// Something that can be run to open a connection.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

impl PipelinedConnection {
    /// A line over a connection that was made on this runtime.
    pub(super) fn new<S, T>(runtime: Runtime, client: Client, connection: Connection<S, T>) -> Self
    where
        Connection<S, T>: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let wire = Pipeline { runtime, connection: Some(Box::pin(connection)) };
        Self { ahead: Vec::new(), prefetched: Vec::new(), client: Arc::new(client), wire }
    }

    /// Whether the connection is known to have ended.
    pub(super) fn is_closed(&self) -> bool {
        self.wire.connection.is_none() || self.client.is_closed()
    }

    /// Asks, and waits for the answers of everything that was sent ahead as well: the first of those that failed is the
    /// failure, since all that came after it only says that the transaction is lost.
    pub(super) fn ask<T>(
        &mut self,
        question: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, StatementError> {
        let Self { ahead, prefetched, client, wire } = self;
        let others = |cx: &mut Context<'_>| {
            prefetched.iter_mut().for_each(|prefetched| _ = prefetched.reply.poll(cx));
            let mut all = true;
            for ahead in ahead.iter_mut() {
                all &= ahead.reply.poll(cx);
            }
            all
        };
        let answer = wire.run(question(client), others);
        let earlier = std::mem::take(ahead).into_iter().find_map(|ahead| match (ahead.sql, ahead.reply) {
            (Some(sql), Reply::Here(Err(error))) => Some(StatementError { error, ahead: Some(sql) }),
            _ => None,
        });
        let transaction_fault =
            answer.as_ref().is_err_and(|error| error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
        let earlier = if transaction_fault && earlier.is_none() { self.cause() } else { earlier };
        match (answer, earlier) {
            // A connection that broke says less of the earlier one than of the question: what became of that is to be found out.
            (Err(error), Some(earlier)) if earlier.error.as_db_error().is_none() => {
                Err(StatementError { error, ahead: None })
            }
            (_, Some(earlier)) => Err(earlier),
            (answer, None) => answer.map_err(|error| StatementError { error, ahead: None }),
        }
    }

    /// The announced question that ended the transaction: what came after it only says that it has ended.
    fn cause(&mut self) -> Option<StatementError> {
        let is_cause = |prefetched: &Prefetched| match &prefetched.reply {
            Reply::Here(Err(error)) => {
                error.code().is_some_and(|code| *code != SqlState::IN_FAILED_SQL_TRANSACTION)
            }
            _ => false,
        };
        let at = self.prefetched.iter().position(is_cause)?;
        match self.prefetched.remove(at) {
            Prefetched { sql, reply: Reply::Here(Err(error)), .. } => {
                Some(StatementError { error, ahead: Some(sql) })
            }
            _ => None,
        }
    }

    /// Sends a statement ahead. A failure that shows only at the server is the next question's.
    pub(super) fn execute_deferred(
        &mut self,
        sql: &'static str,
        statement: Option<Statement>,
        params: Vec<Value>,
    ) -> Result<(), StatementError> {
        let client = Arc::clone(&self.client);
        let reply = Reply::handed_over(async move {
            match statement {
                Some(statement) => client.execute(&statement, &untyped(&params)).await,
                None => client.execute_typed(sql, &typed(&params)).await,
            }
        });
        match reply {
            Reply::Here(done) => done.map(drop).map_err(|error| StatementError { error, ahead: None }),
            Reply::Coming(_) => {
                self.ahead.push(Pending { sql: Some(sql), reply });
                if self.ahead.len() < AHEAD { Ok(()) } else { self.ask(async |_| Ok(())) }
            }
        }
    }

    /// Sends a setting ahead that the server may refuse.
    pub(super) fn try_setting(&mut self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        let reply = Reply::handed_over(async move { client.batch_execute(sql).await.map(|()| 0) });
        self.ahead.push(Pending { sql: None, reply });
    }

    /// Sends a question ahead.
    pub(super) fn prefetch(&mut self, sql: &'static str, statement: Option<Statement>, params: Vec<Value>) {
        let (client, known) = (Arc::clone(&self.client), params.clone());
        let reply = Reply::handed_over(async move {
            match statement {
                Some(statement) => client.query(&statement, &untyped(&params)).await,
                None => client.query_typed(sql, &typed(&params)).await,
            }
        });
        self.prefetched.push(Prefetched { sql, params: known, reply });
    }

    /// The answer of a question that was sent ahead; none where it was not.
    pub(super) fn prefetched(
        &mut self,
        sql: &str,
        params: &[Value],
    ) -> Option<Result<Vec<Row>, StatementError>> {
        let is_it = |prefetched: &Prefetched| prefetched.sql == sql && prefetched.params == params;
        let at = self.prefetched.iter().position(is_it)?;
        Some(match self.prefetched.remove(at).reply {
            Reply::Here(rows) => rows.map_err(|error| StatementError { error, ahead: None }),
            Reply::Coming(answer) => self.ask(async |_| answer.await),
        })
    }

    /// Discards prefetched queries that were not used, before a write or another query. In a transaction their errors
    /// still count, because the server has aborted it.
    pub(super) fn discard_prefetched(&mut self, in_transaction: bool) {
        for Prefetched { sql, reply, .. } in self.prefetched.drain(..) {
            let reply = match reply {
                // What never left us has ended nothing.
                Reply::Here(Err(error)) if error.as_db_error().is_none() => continue,
                Reply::Here(answer) => Reply::Here(answer.map(|_| 0)),
                Reply::Coming(answer) => Reply::Coming(Box::pin(async move { answer.await.map(|_| 0) })),
            };
            if in_transaction {
                self.ahead.push(Pending { sql: Some(sql), reply });
            }
        }
    }
}

impl Pipeline {
    /// Polls `question` and the connection until the answer is there or the connection has ended. `others` polls the
    /// other pending replies and says whether all that are required have arrived: an unread reply would block every
    /// later one.
    fn run<T>(
        &mut self,
        question: impl Future<Output = Result<T, Error>>,
        mut others: impl FnMut(&mut Context<'_>) -> bool,
    ) -> Result<T, Error> {
        let Self { runtime, connection } = self;
        let mut question = pin!(question);
        let mut answer = None;
        let mut look = move |cx: &mut Context<'_>| {
            if answer.is_none()
                && let Poll::Ready(ready) = question.as_mut().poll(cx)
            {
                answer = Some(ready);
            }
            if others(cx) { answer.take() } else { None }
        };
        runtime.block_on(poll_fn(|cx| {
            // First what there is to say, then the wire, then what the wire has brought.
            if let Some(answer) = look(cx) {
                return Poll::Ready(answer);
            }
            if let Some(Poll::Ready(ended)) = connection.as_mut().map(|wire| wire.as_mut().poll(cx)) {
                *connection = None;
                if let Err(error) = ended {
                    // What came with the end was still an answer.
                    let answer = look(cx).filter(Result::is_ok);
                    return Poll::Ready(answer.unwrap_or(Err(error)));
                }
            }
            look(cx).map_or(Poll::Pending, Poll::Ready)
        }))
    }
}

impl Drop for Pipeline {
    /// Closes the connection with a termination message: otherwise the server, or a proxy before it, logs a lost
    /// client.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = self.runtime.block_on(async { tokio::time::timeout(GOODBYE, connection).await });
        }
    }
}
