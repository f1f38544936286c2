//! The sockets: who is let in, how long they may take, and the end.
//!
//! A connection that says nothing, or says it too slowly, is closed; a flood of connections waits outside, and those that
//! are served go on. At the stop no new request is taken, what was accepted is answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

/// Connections served at once; the next ones wait in the system's queue.
const CONNECTIONS: usize = 8_192;
/// How long a client may take for the head of a request, and for the handshake of TLS.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The largest head: request line and headers.
const HEAD_SIZE: usize = 64 * 1024;

/// Serves connections until `stop` resolves; then takes no more, and returns when nothing is under way, or when `settled`
/// says that nothing is left that was accepted.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    stop: impl Future<Output = ()>,
    settled: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    tokio::pin!(stop);
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&room).acquire_owned() => permit,
            () = &mut stop => break,
        };
        let Ok(permit) = permit else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let watcher = graceful.watcher();
                let guest = Guest { peer, tls: tls.clone(), router: router.clone(), permit };
                tokio::spawn(guest.served(stream, watcher));
            }
            Err(error) => {
                // Out of file descriptors or memory: those who are served will leave some.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = settled => {}
    }
}

struct Guest {
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    permit: OwnedSemaphorePermit,
}

impl Guest {
    async fn served(self, stream: TcpStream, watcher: hyper_util::server::graceful::Watcher) {
        let _ = stream.set_nodelay(true);
        match self.tls.clone() {
            None => self.talk(stream, watcher).await,
            Some(tls) => match tokio::time::timeout(HEAD_TIME, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.talk(stream, watcher).await,
                Ok(Err(error)) => tracing::debug!(%error, peer = %self.peer, "no TLS handshake"),
                Err(_) => tracing::debug!(peer = %self.peer, "no TLS handshake in time"),
            },
        }
    }

    async fn talk<S>(self, stream: S, watcher: hyper_util::server::graceful::Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let peer = self.peer;
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_SIZE)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(self.router));
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, %peer, "a connection ended");
        }
        drop(self.permit);
    }
}
