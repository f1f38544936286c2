//! The server on a pipe: standard input and output of this process, one client, to its end.

use baton_ops::message::{Delivered, DeliveredInput};
use baton_ops::session::{Heartbeat, HeartbeatInput};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::ServiceExt;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcError, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex as AsyncMutex, Notify};

use crate::backend::run_typed;
use crate::connection::DeliveryReceipt;
use crate::incoming::{Incoming, to_json};
use crate::server::{Server, Shared};

/// Pause between two heartbeats.
const BEAT: Duration = Duration::from_secs(30);
/// How long calls that are running may take after the client has closed its end.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until the client closes the pipe. Nothing but the protocol is written to standard output.
pub async fn serve(shared: Arc<Shared>) -> Result<(), String> {
    let server = Server::new(shared);
    let (input, output) = stdio_pipes();
    let (sender, lines) = channel(LINES);
    let reading = tokio::spawn(read(BufReader::new(input), sender));
    let output = Arc::new(AsyncMutex::new(output));
    let transport = Connection { lines, output, server: server.clone(), hand: Arc::default() };
    let beats = tokio::spawn(beat(server.clone()));
    let ended = match server.serve(transport).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        // A client that goes before it has said anything is none that needs an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    beats.abort();
    reading.abort();
    ended
}

/// Lines that may wait to be handled.
const LINES: usize = 64;
/// The longest line, in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// How much of a line that is too long is kept, to find out whose request it was.
const BEGINNING: usize = 64 * 1024;

/// Reads lines until the client closes its end. A line that cannot be parsed is passed on as its answer.
async fn read(mut input: impl AsyncBufRead + Unpin, to: Sender<Incoming>) {
    let (mut line, mut is_long) = (Vec::new(), false);
    loop {
        let part = match input.fill_buf().await {
            Ok(part) => part,
            Err(error) => {
                tracing::warn!(%error, "standard input cannot be read");
                return;
            }
        };
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        let is_over = end.is_some() || part.is_empty();
        line.extend_from_slice(&part[..taken]);
        input.consume(taken);
        is_long |= line.len() > MAX_LINE;
        if is_long {
            line.truncate(BEGINNING);
        }
        if !is_over {
            continue;
        }
        let incoming = if is_long { Incoming::too_long(&line, MAX_LINE) } else { Incoming::read(&line) };
        let is_last = taken == 0;
        (line, is_long) = (Vec::new(), false);
        if !matches!(incoming, Incoming::Nothing) && to.send(incoming).await.is_err() {
            return;
        }
        if is_last {
            return;
        }
    }
}

/// Says every now and then that the sessions of this process are still there.
async fn beat(server: Server) {
    let mut ticks = tokio::time::interval(BEAT);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        server.beat().await;
    }
}

impl Server {
    /// One heartbeat, for the sessions of this process in the projects it works in.
    async fn beat(&self) {
        let backend = &self.shared.backend;
        let Ok(caller) = backend.caller(None) else { return };
        if !backend.has_store() {
            return;
        }
        for project in std::iter::once(None).chain(self.connection.projects().into_iter().map(Some)) {
            let input = HeartbeatInput { here: true, project, ..HeartbeatInput::default() };
            // No session here, or none any more: there is nothing to keep alive.
            if let Err(refusal) = run_typed::<Heartbeat>(backend.as_ref(), &input, caller.clone()).await {
                tracing::debug!(code = refusal.code, why = refusal.message, "no heartbeat");
            }
        }
    }

    async fn mark(&self, marks: Vec<DeliveryReceipt>) {
        for mark in marks {
            mark_delivered(self, mark).await;
        }
    }
}

/// Signals that were written out are delivered. A failure means that they come once more.
async fn mark_delivered(server: &Server, mark: DeliveryReceipt) {
    let backend = &server.shared.backend;
    let Ok(caller) = backend.caller(None) else { return };
    let input = DeliveredInput { project: Some(mark.project_id), message_ids: mark.message_ids };
    if let Err(refusal) = run_typed::<Delivered>(backend.as_ref(), &input, caller).await {
        tracing::warn!(code = refusal.code, why = refusal.message, "signals will be delivered once more");
    }
}

/// Calls whose answers are still to come.
#[derive(Default)]
struct PendingCalls {
    calls: Mutex<Vec<RequestId>>,
    /// Answers to what could not be read that are still being written.
    refusals: AtomicUsize,
    ended: AtomicBool,
    less: Notify,
}

impl PendingCalls {
    /// A call came, or one was cancelled: that gets no answer. One that listens for changes has no answer to wait for.
    fn take(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(call)
                if !matches!(call.request, ClientRequest::SubscriptionsListenRequest(_)) =>
            {
                if let Ok(mut calls) = self.calls.lock() {
                    calls.push(call.id.clone());
                }
            }
            JsonRpcMessage::Notification(notice) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notice.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.complete(id);
                }
            }
            _ => {}
        }
    }

    fn complete(&self, id: &RequestId) {
        if let Ok(mut calls) = self.calls.lock() {
            calls.retain(|call| call != id);
        }
        self.less.notify_one();
    }

    fn is_empty(&self) -> bool {
        self.refusals.load(Ordering::Acquire) == 0 && self.calls.lock().map_or(true, |calls| calls.is_empty())
    }
}

/// The pipe, and who has to know what was written to it.
struct Connection<W> {
    lines: Receiver<Incoming>,
    output: Arc<AsyncMutex<W>>,
    server: Server,
    hand: Arc<PendingCalls>,
}

/// Writes a message as one line.
async fn write(
    output: Arc<AsyncMutex<impl AsyncWrite + Unpin>>,
    message: impl serde::Serialize,
) -> io::Result<()> {
    let mut line = to_json(&message)?.to_string().into_bytes();
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for Connection<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = answered_request(&item);
        let (server, hand) = (self.server.clone(), Arc::clone(&self.hand));
        // In a task of its own: a line that was begun is written completely, even if the caller is cancelled.
        let sent = tokio::spawn(write(Arc::clone(&self.output), item));
        async move {
            let done = sent.await.unwrap_or_else(|error| Err(io::Error::other(error)));
            if let Some(id) = answered {
                if done.is_ok() {
                    server.mark(server.connection.receipts.answer_written(Some(&id))).await;
                }
                hand.complete(&id);
            }
            done
        }
    }

    /// The next message. When the client has closed its end, calls that run are answered first.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.hand.ended.load(Ordering::Acquire) {
            // Only the channel is waited for, so that nothing is lost when this is cancelled.
            while let Some(incoming) = self.lines.recv().await {
                match incoming {
                    Incoming::Message(message) => {
                        self.hand.take(&message);
                        return Some(*message);
                    }
                    Incoming::Refused(error) => self.refuse(*error),
                    Incoming::Nothing => {}
                }
            }
            self.hand.ended.store(true, Ordering::Release);
        }
        let idle = async {
            while !self.hand.is_empty() {
                self.hand.less.notified().await;
            }
        };
        let _ = tokio::time::timeout(GRACE, idle).await;
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.shutdown().await
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Connection<W> {
    /// Answers what could not be read. The process waits for it as it waits for every answer.
    fn refuse(&self, error: JsonRpcError) {
        tracing::debug!(message = %error.error.message, "a message could not be read");
        let (output, hand) = (Arc::clone(&self.output), Arc::clone(&self.hand));
        hand.refusals.fetch_add(1, Ordering::AcqRel);
        tokio::spawn(async move {
            if let Err(error) = write(output, error).await {
                tracing::debug!(%error, "nobody reads the answers");
            }
            hand.refusals.fetch_sub(1, Ordering::AcqRel);
            hand.less.notify_one();
        });
    }
}

/// The request that a message answers.
fn answered_request(message: &TxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        _ => None,
    }
}
