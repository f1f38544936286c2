//! The server on a pipe: standard input and output of this process, one client, to its end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::ServiceExt;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use serde_json::json;
use tokio::sync::Notify;

use crate::link::Mark;
use crate::server::{Server, Shared};

/// Pause between two heartbeats.
const BEAT: Duration = Duration::from_secs(30);
/// How long calls that are running may take after the client has closed its end.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until the client closes the pipe. Nothing but the protocol is written to standard output.
pub async fn serve(shared: Arc<Shared>) -> Result<(), String> {
    let server = Server::new(shared);
    let (input, output) = stdio_pipes();
    let transport =
        Told { inner: AsyncRwTransport::new(input, output), server: server.clone(), hand: Arc::default() };
    let beats = tokio::spawn(beat(server.clone()));
    let ended = match server.serve(transport).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        // A client that goes before it has said anything is none that needs an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    beats.abort();
    ended
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
        let mut inputs = vec![json!({ "here": true })];
        inputs.extend(self.link.projects().iter().map(|project| json!({ "here": true, "project": project })));
        for input in inputs {
            // No session here, or none any more: there is nothing to keep alive.
            if let Err(refusal) = backend.run("session_heartbeat", input, caller.clone()).await {
                tracing::debug!(%refusal, "no heartbeat");
            }
        }
    }

    async fn mark(&self, marks: Vec<Mark>) {
        for mark in marks {
            mark_delivered(self, mark).await;
        }
    }
}

/// Signals that were written out are delivered. A failure means that they come once more.
async fn mark_delivered(server: &Server, mark: Mark) {
    let backend = &server.shared.backend;
    let Ok(caller) = backend.caller(None) else { return };
    let input = json!({ "project": mark.project_id, "message_ids": mark.message_ids });
    if let Err(refusal) = backend.run("signal_delivered", input, caller).await {
        tracing::warn!(%refusal, "signals will be delivered once more");
    }
}

/// Calls whose answers are still to come.
#[derive(Default)]
struct Hand {
    calls: Mutex<Vec<RequestId>>,
    ended: AtomicBool,
    less: Notify,
}

impl Hand {
    /// A call came. One that listens for changes has no answer to wait for.
    fn take(&self, message: &RxJsonRpcMessage<RoleServer>) {
        if let JsonRpcMessage::Request(call) = message
            && !matches!(call.request, ClientRequest::SubscriptionsListenRequest(_))
            && let Ok(mut calls) = self.calls.lock()
        {
            calls.push(call.id.clone());
        }
    }

    fn done(&self, id: &RequestId) {
        if let Ok(mut calls) = self.calls.lock() {
            calls.retain(|call| call != id);
        }
        self.less.notify_one();
    }

    fn is_empty(&self) -> bool {
        self.calls.lock().map_or(true, |calls| calls.is_empty())
    }
}

/// The pipe, and who has to know what was written to it.
struct Told<T> {
    inner: T,
    server: Server,
    hand: Arc<Hand>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Told<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = answered(&item);
        let (server, hand) = (self.server.clone(), Arc::clone(&self.hand));
        let sent = self.inner.send(item);
        async move {
            let done = sent.await;
            if let Some(id) = answered {
                if done.is_ok() {
                    server.mark(server.link.receipts.written(Some(&id))).await;
                }
                hand.done(&id);
            }
            done
        }
    }

    /// The next message. When the client has closed its end, calls that run are answered first.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.hand.ended.load(Ordering::Acquire) {
            match self.inner.receive().await {
                Some(message) => {
                    self.hand.take(&message);
                    return Some(message);
                }
                None => self.hand.ended.store(true, Ordering::Release),
            }
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
        self.inner.close().await
    }
}

/// The request that a message answers.
fn answered(message: &TxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        _ => None,
    }
}
