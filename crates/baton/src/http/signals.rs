//! The signals of a server: SIGINT and SIGTERM end it within a bound, SIGHUP has it read certificates and settings anew.
//!
//! They are received for as long as the process runs, also while a server starts again with new settings: a signal that
//! arrives then is not lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::sd_notify::{ServiceState, notify};

/// How long a stop may take before the process ends with what is under way. Every effect is a row, so nothing is lost.
pub(super) const STOP_BOUND: Duration = Duration::from_secs(15);

/// Receives the signals of this process.
pub(super) struct Signals {
    /// Cancelled by SIGINT and SIGTERM.
    pub stop: CancellationToken,
    /// Notified by SIGHUP.
    pub reload: Arc<Notify>,
    _runtime: tokio::runtime::Runtime,
}

impl Signals {
    /// No signal after the return is missed.
    pub(super) fn receive() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("signals")
            .enable_all()
            .build()?;
        let (stop, reload) = (CancellationToken::new(), Arc::new(Notify::new()));
        runtime.block_on(async { spawn(stop.clone(), Arc::clone(&reload)) })?;
        Ok(Self { stop, reload, _runtime: runtime })
    }
}

#[cfg(unix)]
fn spawn(stop: CancellationToken, reload: Arc<Notify>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupted, mut terminated, mut hangup) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupted.recv() => break,
                _ = terminated.recv() => break,
                Some(()) = hangup.recv() => reload.notify_one(),
            }
        }
        notify(ServiceState::Stopping);
        stop.cancel();
        bound_stop();
    });
    Ok(())
}

#[cfg(not(unix))]
fn spawn(stop: CancellationToken, _: Arc<Notify>) -> std::io::Result<()> {
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        stop.cancel();
        bound_stop();
    });
    Ok(())
}

/// Ends the process if the stop takes longer than its bound. A thread of its own: no runtime has to make progress for it.
fn bound_stop() {
    let end = || {
        std::thread::sleep(STOP_BOUND);
        tracing::error!(
            seconds = STOP_BOUND.as_secs(),
            "the stop took too long: what is under way is abandoned"
        );
        std::process::exit(1);
    };
    if let Err(error) = std::thread::Builder::new().name("stop-bound".to_owned()).spawn(end) {
        tracing::warn!(%error, "the stop has no bound");
    }
}
