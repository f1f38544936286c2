//! One connection to the server: questions are answered in the order in which they are asked, and a statement whose answer
//! nobody waits for travels with the next question.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Connection, Error, Statement};

use super::{typed, untyped};
use crate::engine::value::Value;

/// How many statements are sent ahead before they are waited for: a long import must not pile up in memory.
const AHEAD: usize = 64;
/// How long saying goodbye to a server may take.
const GOODBYE: Duration = Duration::from_millis(500);

/// A failure, and the statement that failed where that is not the one that was asked.
pub(super) struct Failed {
    pub(super) error: Error,
    pub(super) ahead: Option<&'static str>,
}

/// An answer to come.
type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// A connection, driven by the thread that asks.
pub(super) struct Line {
    ahead: Vec<Ahead>,
    client: Arc<Client>,
    // Last: the connection says goodbye once nobody can ask any more.
    wire: Wire,
}

/// A statement that was sent, and whose answer is still to come.
struct Ahead {
    /// None where its failure matters to nobody.
    sql: Option<&'static str>,
    answer: Answer<u64>,
}

impl Ahead {
    /// Hands the message over, so that it stands before whatever is asked next. Nothing is sent yet.
    fn hand_over(&mut self) -> Poll<Result<u64, Error>> {
        self.answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }
}

/// What moves bytes while somebody waits.
struct Wire {
    runtime: Runtime,
    /// None once the connection has ended.
    connection: Option<Answer<()>>,
}

/// Something that can be run to open a connection.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

impl Line {
    /// A line over a connection that was made on this runtime.
    pub(super) fn new<S, T>(runtime: Runtime, client: Client, connection: Connection<S, T>) -> Self
    where
        Connection<S, T>: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let wire = Wire { runtime, connection: Some(Box::pin(connection)) };
        Self { ahead: Vec::new(), client: Arc::new(client), wire }
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
    ) -> Result<T, Failed> {
        let ahead = std::mem::take(&mut self.ahead);
        let client = Arc::clone(&self.client);
        let mut earlier = None;
        let answer = self.wire.run(async {
            let answer = question(&client).await;
            for Ahead { sql, answer } in ahead {
                let answer = answer.await;
                if let (Some(sql), Err(error)) = (sql, answer) {
                    earlier = Some(Failed { error, ahead: Some(sql) });
                    break;
                }
            }
            answer
        });
        match (answer, earlier) {
            // A connection that broke says less of the earlier one than of the question: what became of that is to be found out.
            (Err(error), Some(earlier)) if earlier.error.as_db_error().is_none() => {
                Err(Failed { error, ahead: None })
            }
            (_, Some(earlier)) => Err(earlier),
            (answer, None) => answer.map_err(|error| Failed { error, ahead: None }),
        }
    }

    /// Sends a statement ahead. A failure that shows only at the server is the next question's.
    pub(super) fn send(
        &mut self,
        sql: &'static str,
        statement: Option<Statement>,
        params: Vec<Value>,
    ) -> Result<(), Failed> {
        let client = Arc::clone(&self.client);
        let answer = async move {
            match statement {
                Some(statement) => client.execute(&statement, &untyped(&params)).await,
                None => client.execute_typed(sql, &typed(&params)).await,
            }
        };
        let mut ahead = Ahead { sql: Some(sql), answer: Box::pin(answer) };
        match ahead.hand_over() {
            Poll::Ready(done) => done.map(drop).map_err(|error| Failed { error, ahead: None }),
            Poll::Pending => {
                self.ahead.push(ahead);
                if self.ahead.len() < AHEAD { Ok(()) } else { self.ask(async |_| Ok(())) }
            }
        }
    }

    /// Sends a setting ahead that the server may refuse.
    pub(super) fn wish(&mut self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        let answer = async move { client.batch_execute(sql).await.map(|()| 0) };
        let mut ahead = Ahead { sql: None, answer: Box::pin(answer) };
        if ahead.hand_over().is_pending() {
            self.ahead.push(ahead);
        }
    }
}

impl Wire {
    /// Runs a question to its answer, or to the end of the connection.
    fn run<T>(&mut self, question: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let Self { runtime, connection } = self;
        let mut question = pin!(question);
        runtime.block_on(poll_fn(|cx| {
            // First what there is to say, then the wire, then what the wire has brought.
            if let Poll::Ready(answer) = question.as_mut().poll(cx) {
                return Poll::Ready(answer);
            }
            if let Some(Poll::Ready(ended)) = connection.as_mut().map(|wire| wire.as_mut().poll(cx)) {
                *connection = None;
                if let Err(error) = ended {
                    return Poll::Ready(Err(error));
                }
            }
            question.as_mut().poll(cx)
        }))
    }
}

impl Drop for Wire {
    /// Tells the server that we go: otherwise it, or what stands before it, notes a client that vanished.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = self.runtime.block_on(async { tokio::time::timeout(GOODBYE, connection).await });
        }
    }
}
