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
    pub(super) deferred_sql: Option<&'static str>,
}

/// An answer to come.
type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// A connection, driven by the thread that asks.
pub(super) struct PipelinedConnection {
    pending: Vec<Pending>,
    prefetched: Vec<Prefetched>,
    client: Arc<Client>,
    // Last: it is dropped after the client, and then sends the termination message.
    pipeline: Pipeline,
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
    /// Wraps a connection that was made on this runtime.
    pub(super) fn new<S, T>(runtime: Runtime, client: Client, connection: Connection<S, T>) -> Self
    where
        Connection<S, T>: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let pipeline = Pipeline { runtime, connection: Some(Box::pin(connection)) };
        Self { pending: Vec::new(), prefetched: Vec::new(), client: Arc::new(client), pipeline }
    }

    /// Whether the connection is known to have ended.
    pub(super) fn is_closed(&self) -> bool {
        self.pipeline.connection.is_none() || self.client.is_closed()
    }

    /// Runs a request and waits for everything that was sent ahead as well: the first of those that failed is the
    /// failure, since all that came after it only says that the transaction is lost.
    pub(super) fn with_client<T>(
        &mut self,
        request: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, StatementError> {
        let Self { pending, prefetched, client, pipeline } = self;
        let others = |cx: &mut Context<'_>| {
            prefetched.iter_mut().for_each(|prefetched| _ = prefetched.reply.poll(cx));
            let mut all = true;
            for statement in pending.iter_mut() {
                all &= statement.reply.poll(cx);
            }
            all
        };
        let answer = pipeline.run(request(client), others);
        let earlier = std::mem::take(pending).into_iter().find_map(|statement| {
            match (statement.sql, statement.reply) {
                (Some(sql), Reply::Here(Err(error))) => {
                    Some(StatementError { error, deferred_sql: Some(sql) })
                }
                _ => None,
            }
        });
        let transaction_fault =
            answer.as_ref().is_err_and(|error| error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
        let earlier = if transaction_fault && earlier.is_none() { self.cause() } else { earlier };
        match (answer, earlier) {
            // A connection that broke says less of the earlier one than of the request: what became of that is to be found out.
            (Err(error), Some(earlier)) if earlier.error.as_db_error().is_none() => {
                Err(StatementError { error, deferred_sql: None })
            }
            (_, Some(earlier)) => Err(earlier),
            (answer, None) => answer.map_err(|error| StatementError { error, deferred_sql: None }),
        }
    }

    /// The announced request that ended the transaction: what came after it only says that it has ended.
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
                Some(StatementError { error, deferred_sql: Some(sql) })
            }
            _ => None,
        }
    }

    /// Sends a statement ahead. A failure that shows only at the server is the next request's.
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
            Reply::Here(done) => done.map(drop).map_err(|error| StatementError { error, deferred_sql: None }),
            Reply::Coming(_) => {
                self.pending.push(Pending { sql: Some(sql), reply });
                if self.pending.len() < AHEAD { Ok(()) } else { self.with_client(async |_| Ok(())) }
            }
        }
    }

    /// Sends a setting ahead that the server may refuse.
    pub(super) fn try_setting(&mut self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        let reply = Reply::handed_over(async move { client.batch_execute(sql).await.map(|()| 0) });
        self.pending.push(Pending { sql: None, reply });
    }

    /// Sends a request ahead.
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

    /// Whether a query was sent ahead already, and its answer is not used yet.
    pub(super) fn is_prefetched(&self, sql: &str, params: &[Value]) -> bool {
        self.prefetched.iter().any(|prefetched| prefetched.sql == sql && prefetched.params == params)
    }

    /// The answer of a request that was sent ahead; none where it was not.
    pub(super) fn prefetched(
        &mut self,
        sql: &str,
        params: &[Value],
    ) -> Option<Result<Vec<Row>, StatementError>> {
        let is_it = |prefetched: &Prefetched| prefetched.sql == sql && prefetched.params == params;
        let at = self.prefetched.iter().position(is_it)?;
        Some(match self.prefetched.remove(at).reply {
            Reply::Here(rows) => rows.map_err(|error| StatementError { error, deferred_sql: None }),
            Reply::Coming(answer) => self.with_client(async |_| answer.await),
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
                self.pending.push(Pending { sql: Some(sql), reply });
            }
        }
    }
}

impl Pipeline {
    /// Polls `request` and the connection until the answer is there or the connection has ended. `others` polls the
    /// other pending replies and says whether all that are required have arrived: an unread reply would block every
    /// later one.
    fn run<T>(
        &mut self,
        request: impl Future<Output = Result<T, Error>>,
        mut others: impl FnMut(&mut Context<'_>) -> bool,
    ) -> Result<T, Error> {
        let Self { runtime, connection } = self;
        let mut request = pin!(request);
        let mut answer = None;
        let mut look = move |cx: &mut Context<'_>| {
            if answer.is_none()
                && let Poll::Ready(ready) = request.as_mut().poll(cx)
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
