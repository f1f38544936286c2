//! Hand-offs that a process with one client drives itself, on a connection of its own, because no server does it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_store::{Store, Target};

use crate::app;
use crate::clock;
use crate::config::Config;
use crate::error::AppError;
use crate::host::Machine;
use crate::relay::saga::Driver;

/// Pause between two times that pending steps are driven in the background.
const DRIVE_INTERVAL: Duration = Duration::from_secs(5);

/// Drives one hand-off at a time.
pub(crate) struct HandoffDriver {
    config: Config,
    machine: Arc<Machine>,
    /// When pending steps were last driven in the background; locked while any are driven.
    last: Arc<Mutex<Option<Instant>>>,
}

impl HandoffDriver {
    /// Of the ledger in the settings.
    pub(crate) fn new(config: &Config, machine: &Arc<Machine>) -> Self {
        Self { config: config.clone(), machine: Arc::clone(machine), last: Arc::default() }
    }

    /// Whether the ledger has more connections than one: one in memory has not.
    fn is_shared(&self) -> bool {
        !matches!(self.config.store, Target::Memory)
    }

    /// Drives a hand-off for so long at most. What is not done by then goes on with a later call.
    pub(crate) async fn drive(&self, id: String, span: Duration) {
        if !self.is_shared() {
            return;
        }
        let (config, machine, last) =
            (self.config.clone(), Arc::clone(&self.machine), Arc::clone(&self.last));
        let handle = tokio::runtime::Handle::current();
        let drive = move || -> Result<(), AppError> {
            // One at a time: what this process has in hand already is finished first.
            let _alone = last.lock().unwrap_or_else(PoisonError::into_inner);
            let mut store = Store::open(&config.store, clock::now())?;
            machine.observe(&mut store);
            let until = (Instant::now() + span, span);
            Driver::new(&config, machine)?.drive(&mut store, &handle, &id, until)?;
            Ok(())
        };
        match tokio::task::spawn_blocking(drive).await {
            Ok(Ok(())) => {}
            failed => tracing::warn!(?failed, "the hand-off could not be driven"),
        }
    }

    /// Drives pending steps in the background, at most once per [`DRIVE_INTERVAL`].
    pub(crate) fn resume(&self) {
        if !self.is_shared() {
            return;
        }
        let (config, machine, last) =
            (self.config.clone(), Arc::clone(&self.machine), Arc::clone(&self.last));
        tokio::task::spawn_blocking(move || {
            let Ok(mut last) = last.try_lock() else { return };
            if last.is_some_and(|at| at.elapsed() < DRIVE_INTERVAL) {
                return;
            }
            let resumed = Store::open(&config.store, clock::now())
                .map_err(AppError::from)
                .and_then(|mut store| app::resume(&mut store, &config, &machine));
            if let Err(error) = resumed {
                tracing::debug!(?error, "hand-offs could not be driven on");
            }
            *last = Some(Instant::now());
        });
    }
}
