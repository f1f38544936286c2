//! Closes a connection whose peer stops reading: a pending answer would otherwise hold the connection, and its slot,
//! for ever.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a peer may take nothing of what waits for it. Streams of events send a sign of life every 15 seconds, so a reader
/// that has gone is noticed once its buffers are full.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A stream that fails when a write makes no progress.
pub(super) struct StallGuard<S> {
    inner: S,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    patience: Duration,
}

impl<S> StallGuard<S> {
    /// Round this stream.
    pub(super) fn new(inner: S) -> Self {
        Self { inner, waiting: None, patience: STALL_TIMEOUT }
    }

    fn watched<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.waiting = None;
            return progress;
        }
        let patience = self.patience;
        let timer = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the peer takes nothing")))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watched(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.watched(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.inner).poll_flush(cx);
        self.watched(cx, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(test);
    }

    #[test]
    fn a_peer_that_takes_nothing_is_let_go_of() {
        run(async {
            let (ours, mut theirs) = duplex(8);
            let mut stream = StallGuard { patience: Duration::from_millis(100), ..StallGuard::new(ours) };
            let ended = stream.write_all(&[1; 64]).await.expect_err("nobody reads");
            assert_eq!(ended.kind(), ErrorKind::TimedOut);
            let mut taken = [0; 8];
            theirs.read_exact(&mut taken).await.expect("what fitted");
        });
    }

    #[test]
    fn a_slow_peer_that_goes_on_reading_gets_everything() {
        run(async {
            let (ours, mut theirs) = duplex(8);
            let mut stream = StallGuard { patience: Duration::from_millis(200), ..StallGuard::new(ours) };
            let reading = tokio::spawn(async move {
                let mut taken = [0; 64];
                for part in taken.chunks_mut(8) {
                    sleep(Duration::from_millis(60)).await;
                    theirs.read_exact(part).await.expect("bytes");
                }
                taken
            });
            stream.write_all(&[7; 64]).await.expect("all of it");
            assert_eq!(reading.await.expect("no panic"), [7; 64]);
        });
    }
}
