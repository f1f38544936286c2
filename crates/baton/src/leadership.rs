//! Which of a server's duties it has: several servers may share one ledger, and each duty is done by one of them.
//!
//! One thread sends the heartbeats of all duties held here, watches those of other servers and takes over silent ones.
//! A service checks here before each piece of work. A server that cannot reach the ledger gives up its duties shortly
//! before others may take them over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use baton_model::duty::{self, Duty, WatchedDuty};
use baton_model::id::{ID_RANDOM, new_id};
use baton_model::session::ProcessLocation;
use baton_model::time::Millis;
use baton_ops::op::Host;
use baton_store::{Failure, Fault, Store, Tx, duty as rows};

use crate::clock;
use crate::config::Config;
use crate::error::AppError;
use crate::host::Machine;
use crate::services::{Service, ServiceHandle, StopSignal};

/// The duties held by this server; shared with the services that carry them out.
pub(crate) struct Duties {
    holder: String,
    held: Mutex<HeldDuties>,
}

/// What this server has, and when that was last sure.
struct HeldDuties {
    fences: BTreeMap<String, i64>,
    sure_at: Instant,
}

impl Duties {
    fn new() -> Self {
        let mut bytes = [0; ID_RANDOM];
        clock::random(&mut bytes);
        let held = HeldDuties { fences: BTreeMap::new(), sure_at: Instant::now() };
        Self { holder: new_id(clock::now(), &bytes), held: Mutex::new(held) }
    }

    /// The fence under which this server has a duty now; `None` when it has not.
    pub(crate) fn fence(&self, duty_id: &str) -> Option<i64> {
        let held = self.held.lock().ok()?;
        let trusted = held.sure_at.elapsed() < millis(duty::TRUSTED);
        held.fences.get(duty_id).copied().filter(|_| trusted)
    }

    /// Whether a duty is still this server's, asked in the transaction that acts on it.
    pub(crate) fn is_held(&self, tx: &mut Tx<'_>, duty_id: &str) -> Result<bool, Fault> {
        match self.fence(duty_id) {
            Some(fence) => rows::is_held(tx, duty_id, &self.holder, fence),
            None => Ok(false),
        }
    }

    /// How many it has.
    pub(crate) fn count(&self) -> usize {
        duty::all().filter(|duty_id| self.fence(duty_id).is_some()).count()
    }

    fn set(&self, fences: BTreeMap<String, i64>, sure_at: Instant) {
        if let Ok(mut held) = self.held.lock() {
            *held = HeldDuties { fences, sure_at };
        }
    }

    /// For tests: a server that has acquired every duty and holds it for as long as its lease is trusted.
    #[cfg(test)]
    pub(crate) fn everything(store: &mut Store) -> Arc<Self> {
        let duties = Arc::new(Self::new());
        let place = ProcessLocation { machine: "m".into(), process: "p".into() };
        let mut watch = Watch::new(Arc::clone(&duties), place);
        watch.tick(store, 0, |_| true).expect("taken");
        duties
    }
}

/// The service that sends the heartbeats.
struct Leader {
    store: Store,
    machine: Arc<Machine>,
    watch: Watch,
    begin: Instant,
}

/// Takes what is free and starts the heartbeats, with a store of its own.
pub(crate) fn start(
    config: &Config,
    machine: &Arc<Machine>,
) -> Result<(ServiceHandle, Arc<Duties>), AppError> {
    let mut store = Store::open(&config.store, clock::now())?;
    let duties = Arc::new(Duties::new());
    let place = ProcessLocation { machine: machine.id.clone(), process: crate::process::own_fingerprint() };
    let mut watch = Watch::new(Arc::clone(&duties), place);
    let begin = Instant::now();
    watch.tick(&mut store, 0, |duty| is_gone(machine, duty))?;
    let leader = Leader { store, machine: Arc::clone(machine), watch, begin };
    Ok((ServiceHandle::start(leader, millis(duty::BEAT))?, duties))
}

impl Service for Leader {
    const NAME: &'static str = "leadership";

    fn pass(&mut self, _: &StopSignal) -> Duration {
        self.machine.follow_clock(&mut self.store);
        let now = Millis::try_from(self.begin.elapsed().as_millis()).unwrap_or(Millis::MAX);
        let machine = &self.machine;
        if let Err(failure) = self.watch.tick(&mut self.store, now, |duty| is_gone(machine, duty)) {
            tracing::warn!(%failure, "duties cannot be kept");
        }
        millis(duty::BEAT)
    }

    /// Resigns from every duty, so that another server takes over at once.
    fn end(&mut self) {
        self.watch.end(&mut self.store);
    }
}

/// What the thread knows.
struct Watch {
    duties: Arc<Duties>,
    location: ProcessLocation,
    watched: BTreeMap<String, WatchedDuty>,
}

impl Watch {
    fn new(duties: Arc<Duties>, place: ProcessLocation) -> Self {
        Self { duties, location: place, watched: BTreeMap::new() }
    }

    /// Beats, looks at all duties, takes what is free. `now` is of a steady clock of this process.
    fn tick(&mut self, store: &mut Store, now: Millis, gone: impl Fn(&Duty) -> bool) -> Result<(), Failure> {
        let sure_at = Instant::now();
        let holder = self.duties.holder.clone();
        let seen = store.write_relaxed(|tx| {
            rows::beat(tx, &holder)?;
            Ok(rows::all(tx)?)
        })?;
        let mut known: BTreeMap<String, Duty> =
            seen.into_iter().map(|duty| (duty.duty_id.clone(), duty)).collect();
        let mut fences = BTreeMap::new();
        let mut others = BTreeMap::new();
        for duty_id in duty::all() {
            match known.remove(duty_id) {
                Some(own) if own.holder == holder => _ = fences.insert(duty_id.to_owned(), own.fence),
                found => {
                    let before = self.watched.remove(duty_id);
                    others.insert(duty_id, found.map(|found| WatchedDuty::observe(before, found, now)));
                }
            }
        }
        self.take(store, &others, now, gone, &mut fences)?;
        self.watched = others.into_iter().filter_map(|(id, seen)| Some((id.to_owned(), seen?))).collect();
        self.duties.set(fences, sure_at);
        Ok(())
    }

    fn take(
        &self,
        store: &mut Store,
        others: &BTreeMap<&str, Option<WatchedDuty>>,
        now: Millis,
        gone: impl Fn(&Duty) -> bool,
        fences: &mut BTreeMap<String, i64>,
    ) -> Result<(), Failure> {
        let (holder, place) = (self.duties.holder.as_str(), &self.location);
        for (duty_id, seen) in others {
            if seen.as_ref().is_some_and(|seen| !seen.is_free(now, &gone)) {
                continue;
            }
            let before = seen.as_ref().map(WatchedDuty::duty);
            let taken = store
                .write_shared(|tx| Ok(rows::take(tx, duty_id, (holder, place), before, clock::now())?))?;
            if taken {
                fences.insert((*duty_id).to_owned(), before.map_or(1, |before| before.fence + 1));
                if before.is_some_and(|before| !before.holder.is_empty()) {
                    tracing::info!(duty = %duty_id, "taken over from a server that went silent");
                }
            }
        }
        Ok(())
    }

    fn end(&self, store: &mut Store) {
        self.duties.set(BTreeMap::new(), Instant::now());
        let holder = self.duties.holder.as_str();
        // On an error the other servers take over after the heartbeat timeout.
        let _ = store.write_shared(|tx| Ok(rows::resign(tx, holder)?));
    }
}

/// Whether the process of a holder on this machine is known to have ended.
fn is_gone(machine: &Machine, duty: &Duty) -> bool {
    machine.has_process_ended(&ProcessLocation {
        machine: duty.machine_id.clone(),
        process: duty.process.clone(),
    })
}

fn millis(span: Millis) -> Duration {
    Duration::from_millis(u64::try_from(span).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_store::Target;

    fn server(n: u8) -> Watch {
        let mut duties = Duties::new();
        duties.holder = format!("server-{n}");
        Watch::new(Arc::new(duties), ProcessLocation { machine: "m".into(), process: format!("p{n}") })
    }

    fn has(watch: &Watch) -> usize {
        watch.duties.count()
    }

    #[test]
    fn one_of_two_servers_has_each_duty_and_the_other_takes_over_what_is_silent() {
        let mut store = Store::open(&Target::Memory, 0).expect("store");
        let (mut a, mut b) = (server(1), server(2));
        a.tick(&mut store, 0, |_| false).expect("turn");
        b.tick(&mut store, 0, |_| false).expect("turn");
        let every = duty::all().count();
        assert_eq!((has(&a), has(&b)), (every, 0));
        for now in [2_000, 4_000, 5_999] {
            b.tick(&mut store, now, |_| false).expect("turn");
            assert_eq!(has(&b), 0, "at {now}");
        }
        b.tick(&mut store, 6_000, |_| false).expect("turn");
        assert_eq!(has(&b), every);
        a.tick(&mut store, 9_000, |_| false).expect("turn");
        assert_eq!((has(&a), has(&b)), (0, every), "who was silent finds out");
    }

    #[test]
    fn what_a_holder_of_yesterday_writes_is_known_as_such() {
        let mut store = Store::open(&Target::Memory, 0).expect("store");
        let (mut a, mut b) = (server(1), server(2));
        a.tick(&mut store, 0, |_| false).expect("turn");
        b.tick(&mut store, 0, |duty| duty.process == "p1").expect("turn");
        assert!(a.duties.fence(duty::RELAY).is_some(), "it does not know yet");
        let held =
            store.read(|tx| Ok((a.duties.is_held(tx, duty::RELAY)?, b.duties.is_held(tx, duty::RELAY)?)));
        assert_eq!(held.expect("asked"), (false, true));
    }

    #[test]
    fn a_server_that_ends_lays_its_duties_down() {
        let mut store = Store::open(&Target::Memory, 0).expect("store");
        let (mut a, mut b) = (server(1), server(2));
        a.tick(&mut store, 0, |_| false).expect("turn");
        a.end(&mut store);
        b.tick(&mut store, 0, |_| false).expect("turn");
        assert_eq!((has(&a), has(&b)), (0, duty::all().count()));
    }
}
