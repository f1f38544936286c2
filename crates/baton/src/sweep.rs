//! The sweep: one of the servers on a ledger marks sessions that went silent, and logs them. Nothing depends on it.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use baton_model::duty;
use baton_model::id::short;
use baton_model::session::{Limits, Session};
use baton_ops::sweep::mark_silent;
use baton_store::Store;

use crate::config::Config;
use crate::error::AppError;
use crate::host::{self, Machine};
use crate::leadership::Duties;

/// Pause between two sweeps.
const EVERY: Duration = Duration::from_secs(30);
/// In how many sweeps one also forgets answers that were kept for retries.
const FORGETS: u32 = 120;

/// A running sweep; it ends when its stop channel closes.
pub(crate) struct SweepThread {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl SweepThread {
    /// Starts the sweep on a thread with a store of its own.
    pub(crate) fn start(
        config: &Config,
        machine: &Arc<Machine>,
        duties: &Arc<Duties>,
    ) -> Result<Self, AppError> {
        let mut store = Store::open(&config.store, host::now())?;
        machine.observe(&mut store);
        let limits = config.limits;
        let (machine, duties) = (Arc::clone(machine), Arc::clone(duties));
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut sweeps: u32 = 0;
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if duties.fence(duty::SWEEP).is_none() {
                    continue;
                }
                sweep_once(&mut store, &machine, limits);
                if sweeps.is_multiple_of(FORGETS)
                    && let Err(failure) = baton_ops::once::forget(&mut store, machine.now())
                {
                    tracing::error!(%failure, "old answers cannot be forgotten");
                }
                sweeps = sweeps.wrapping_add(1);
            }
        });
        Ok(Self { stop, thread })
    }

    /// Finishes the look in hand and ends.
    pub(crate) fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

fn sweep_once(store: &mut Store, machine: &Machine, limits: Limits) {
    match mark_silent(store, machine.now(), limits) {
        Ok(silent) => silent.iter().for_each(log_release),
        Err(failure) => tracing::error!(%failure, "silent sessions cannot be marked"),
    }
}

fn log_release(session: &Session) {
    let (project, identity, id) = (&session.project_id, &session.identity, short(&session.session_id));
    tracing::info!(%project, %identity, session = %id, "a session went silent; others may take over");
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_store::Target;

    #[test]
    fn a_sweep_ends_when_it_is_told_to() {
        let (stop, stopped) = channel::<()>();
        let thread =
            std::thread::spawn(
                move || {
                    while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {}
                },
            );
        SweepThread { stop, thread }.stop();
    }

    #[test]
    fn an_empty_store_has_nobody_to_mark() {
        let mut store = Store::open(&Target::Memory, 0).expect("store");
        assert_eq!(mark_silent(&mut store, host::now(), Limits::default()).expect("swept"), []);
    }
}
