//! The sweep: one of the servers on a ledger marks sessions that went silent, and logs them. Nothing depends on it.

use std::sync::Arc;
use std::time::Duration;

use baton_model::duty;
use baton_model::id::short;
use baton_model::session::{Limits, Session};
use baton_ops::sweep::mark_silent_sessions;
use baton_store::Store;

use crate::clock;
use crate::config::Config;
use crate::error::AppError;
use crate::host::Machine;
use crate::leadership::Duties;
use crate::services::{Service, ServiceHandle, StopSignal};

/// Pause between two sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// In how many sweeps one also forgets answers that were kept for retries.
const FORGETS: u32 = 120;

/// The service that sweeps.
struct Sweep {
    store: Store,
    machine: Arc<Machine>,
    duties: Arc<Duties>,
    limits: Limits,
    sweeps: u32,
}

/// Starts the sweep with a store of its own.
pub(crate) fn start(
    config: &Config,
    machine: &Arc<Machine>,
    duties: &Arc<Duties>,
) -> Result<ServiceHandle, AppError> {
    let mut store = Store::open(&config.store, clock::now())?;
    machine.observe(&mut store);
    let (machine, duties) = (Arc::clone(machine), Arc::clone(duties));
    let sweep = Sweep { store, machine, duties, limits: config.limits, sweeps: 0 };
    Ok(ServiceHandle::start(sweep, SWEEP_INTERVAL)?)
}

impl Service for Sweep {
    const NAME: &'static str = "sweep";

    fn pass(&mut self, _: &StopSignal) -> Duration {
        if self.duties.fence(duty::SWEEP).is_none() {
            return SWEEP_INTERVAL;
        }
        sweep_once(&mut self.store, &self.machine, self.limits);
        if self.sweeps.is_multiple_of(FORGETS)
            && let Err(failure) = baton_ops::idempotency::forget(&mut self.store, self.machine.now())
        {
            tracing::error!(%failure, "old answers cannot be forgotten");
        }
        self.sweeps = self.sweeps.wrapping_add(1);
        SWEEP_INTERVAL
    }
}

fn sweep_once(store: &mut Store, machine: &Machine, limits: Limits) {
    match mark_silent_sessions(store, machine.now(), limits) {
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
    fn an_empty_store_has_nobody_to_mark() {
        let mut store = Store::open(&Target::Memory, 0).expect("store");
        assert_eq!(mark_silent_sessions(&mut store, clock::now(), Limits::default()).expect("swept"), []);
    }
}
