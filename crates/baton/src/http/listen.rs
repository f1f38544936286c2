//! The sockets: who is let in, how long they may take, and the end.
//!
//! A connection that says nothing, or says it too slowly, is closed; a flood of connections waits outside, and those that
//! are served go on. At the stop no new request is taken, what was accepted is answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_rustls::TlsAcceptor;

use super::limit::Peer;
use super::stall::StallGuard;
use super::tls::Certificate;

/// Connections served at once, where the process may open enough files; the next ones wait in the system's queue.
const CONNECTIONS: usize = 8_192;
/// File descriptors that connections leave free: for the store, for git, for what the server asks of others.
const RESERVED_FILES: usize = 256;
/// How long a client may take for the head of a request, and for the handshake of TLS.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The largest head: request line and headers.
const HEAD_SIZE: usize = 64 * 1024;

/// How long a connection that was accepted before a stop may take to bring its first request, which may still be on its way.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// Connections that may wait in the system's queue, as far as the system allows.
const BACKLOG: u32 = 4_096;

/// Listens at an address. Runs inside the runtime.
pub(super) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that is started again finds its port in the hands of connections that have ended.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Connections that fit into this many file descriptors.
fn connections(files: Option<u64>) -> usize {
    let Some(files) = files.and_then(|files| usize::try_from(files).ok()) else { return CONNECTIONS };
    files.saturating_sub(RESERVED_FILES).max(files / 4).clamp(1, CONNECTIONS)
}

/// Lets the process open as many files as the system allows it to, as far as connections need them. Returns how many that
/// are, `None` for no limit. Many systems begin with 1,024, which a few hundred event streams would use up.
#[cfg(unix)]
fn raise_file_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let needed = (CONNECTIONS + RESERVED_FILES) as u64;
    let current = limit.current?;
    let raised = limit.maximum.map_or(needed, |most| most.min(needed)).max(current);
    let raise = Rlimit { current: Some(raised), maximum: limit.maximum };
    Some(if setrlimit(Resource::Nofile, raise).is_ok() { raised } else { current })
}

#[cfg(not(unix))]
fn raise_file_limit() -> Option<u64> {
    None
}

/// Serves connections until `stop` resolves; then takes no more, and returns when nothing is under way, or when `settled`
/// says that nothing is left that was accepted.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Certificate>>,
    router: Router,
    stop: impl Future<Output = ()>,
    settled: impl Future<Output = ()>,
) {
    let (stopped, stopping) = watch::channel(false);
    let (open, mut closed) = mpsc::channel::<()>(1);
    let room = Arc::new(Semaphore::new(connections(raise_file_limit())));
    tokio::pin!(stop);
    let mut short = false;
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
                short = false;
                let guest = ClientConnection {
                    peer,
                    tls: tls.as_deref().map(Certificate::acceptor),
                    router: router.clone(),
                    permit,
                    stopping: stopping.clone(),
                    _open: open.clone(),
                };
                tokio::spawn(guest.served(stream));
            }
            Err(error) => {
                // Out of file descriptors or memory: accepting resumes once open connections have closed.
                if !short {
                    tracing::warn!(%error, "no more connections can be accepted for now");
                }
                short = true;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    drop(open);
    let _ = stopped.send(true);
    tokio::select! {
        // Nothing is ever sent: it ends with the last connection.
        _ = closed.recv() => {}
        () = settled => {}
    }
}

/// Wraps the router and adds the peer address to every request.
struct PeerService {
    inner: TowerToHyperService<Router>,
    peer: Peer,
    /// A request has come.
    begun: Arc<Notify>,
}

impl Service<hyper::Request<Incoming>> for PeerService {
    type Response = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Future;

    fn call(&self, mut request: hyper::Request<Incoming>) -> Self::Future {
        self.begun.notify_one();
        request.extensions_mut().insert(self.peer);
        self.inner.call(request)
    }
}

struct ClientConnection {
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    permit: OwnedSemaphorePermit,
    /// Whether the server takes no more.
    stopping: watch::Receiver<bool>,
    /// Dropped with the connection, for which the server waits.
    _open: mpsc::Sender<()>,
}

impl ClientConnection {
    async fn served(self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        match self.tls.clone() {
            None => self.serve_connection(stream).await,
            Some(tls) => match tokio::time::timeout(HEAD_TIME, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.serve_connection(stream).await,
                Ok(Err(error)) => tracing::debug!(%error, peer = %self.peer, "no TLS handshake"),
                Err(_) => tracing::debug!(peer = %self.peer, "no TLS handshake in time"),
            },
        }
    }

    async fn serve_connection<S>(mut self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let peer = self.peer;
        let begun = Arc::new(Notify::new());
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_SIZE)
            .serve_connection(
                TokioIo::new(StallGuard::new(stream)),
                PeerService {
                    inner: TowerToHyperService::new(self.router),
                    peer: Peer(peer.ip()),
                    begun: Arc::clone(&begun),
                },
            );
        tokio::pin!(connection);
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = is_over(&mut self.stopping, &begun) => {
                // It closes at once where no request is under way.
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, %peer, "a connection ended");
        }
        drop(self.permit);
    }
}

/// Resolves when the server takes no more and the connection had a request, or brings none in time.
async fn is_over(stopping: &mut watch::Receiver<bool>, begun: &Notify) {
    // The sender is gone where the server has ended.
    let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
    let _ = tokio::time::timeout(FIRST_REQUEST, begun.notified()).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_store() {
        assert_eq!(connections(Some(1_024)), 768);
        assert_eq!(connections(Some(256)), 64);
        assert_eq!((connections(Some(1_048_576)), connections(None)), (CONNECTIONS, CONNECTIONS));
    }
}
