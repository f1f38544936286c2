//! Indexing: changed memories get their vectors and are stored in Qdrant, withdrawn ones are removed. The work is
//! queued as rows of the outbox and is idempotent, so an attempt of unknown outcome is simply repeated.

mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_model::duty;
use baton_model::effect::{Action, Adapter, Effect, Outcome, next_disposition};
use baton_model::memory::Memory;
use baton_ops::memory_index::{BATCH_SIZE, text_of};
use baton_store::{Failure, Store, memory, outbox};
use tokio::runtime::Handle;

use super::{POLL_INTERVAL, jitter, log_outcome, record};
use crate::clock;
use crate::config::Config;
use crate::error::AppError;
use crate::host::Machine;
use crate::leadership::Duties;
use crate::memory_index::{IndexServices, Point, ServiceError};
use crate::services::{Service, ServiceHandle, StopSignal};

/// An index that is away is tried again for as long as it takes: after so many tries the pause grows no more.
const GROWS: i64 = 6;
/// Timeout of one attempt against the external services: clearly less than a lease, so that no other process takes over
/// work that is still in progress.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(11);
/// The pause after the first trouble outside; it doubles with each that follows.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);
/// The longest such pause.
const MAX_PAUSE: Duration = Duration::from_secs(40);

/// The service that indexes.
struct Indexer {
    store: Store,
    outside: Arc<IndexServices>,
    machine: Arc<Machine>,
    duties: Arc<Duties>,
    runtime: Handle,
    /// The pause after the next trouble.
    backoff: Duration,
}

/// Starts the indexer with a store of its own; `None` if no external service is configured.
pub(crate) fn start(
    config: &Config,
    machine: &Arc<Machine>,
    duties: &Arc<Duties>,
    runtime: Handle,
) -> Result<Option<ServiceHandle>, AppError> {
    let Some(outside) = machine.index_services()? else { return Ok(None) };
    let store = Store::open(&config.store, clock::now())?;
    let (machine, duties) = (Arc::clone(machine), Arc::clone(duties));
    let indexer = Indexer { store, outside, machine, duties, runtime, backoff: FIRST_RETRY_DELAY };
    Ok(Some(ServiceHandle::start(indexer, Duration::ZERO)?))
}

impl Service for Indexer {
    const NAME: &'static str = "indexer";

    fn pass(&mut self, _: &StopSignal) -> Duration {
        let worker = Worker {
            outside: &self.outside,
            machine: &self.machine,
            duties: Some(&self.duties),
            runtime: self.runtime.clone(),
            until: None,
        };
        match worker.sweep(&mut self.store) {
            Ok(SweepResult { trouble: Some(trouble), .. }) => {
                let retry_after = trouble.after.and_then(|after| u64::try_from(after).ok());
                let pause =
                    self.backoff.max(Duration::from_millis(retry_after.unwrap_or_default())).min(MAX_PAUSE);
                self.backoff = (self.backoff * 2).min(MAX_PAUSE);
                pause
            }
            Ok(SweepResult { tried: 0, .. }) => POLL_INTERVAL,
            Ok(_) => {
                self.backoff = FIRST_RETRY_DELAY;
                Duration::ZERO
            }
            Err(failure) => {
                tracing::error!(%failure, "what is to be indexed cannot be read");
                POLL_INTERVAL
            }
        }
    }
}

/// Processes due entries in a process without a server, until none is left, a service fails, or the deadline passes,
/// which also cuts off a service that hangs. Returns the number of entries tried.
pub(crate) fn drive(store: &mut Store, machine: &Arc<Machine>, until: Instant) -> Result<usize, AppError> {
    let Some(outside) = machine.index_services()? else { return Ok(0) };
    let now = machine.now();
    if store.read(|tx| Ok(outbox::due(tx, Adapter::MemoryIndex, now, 1)?))?.is_empty() {
        return Ok(0);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let worker = Worker {
        outside: &outside,
        machine,
        duties: None,
        runtime: runtime.handle().clone(),
        until: Some(until),
    };
    let mut all = 0;
    let driven = loop {
        match worker.sweep(store) {
            Ok(swept) => {
                all += swept.tried;
                if swept.tried == 0 || swept.trouble.is_some() || worker.is_over() {
                    break Ok(all);
                }
            }
            Err(failure) => break Err(failure),
        }
    };
    // A name that is still being looked up is not waited for.
    runtime.shutdown_background();
    Ok(driven?)
}

struct Worker<'a> {
    outside: &'a IndexServices,
    machine: &'a Machine,
    /// Those of a server; a command has none, and leases what it takes.
    duties: Option<&'a Duties>,
    runtime: Handle,
    /// Deadline for waiting on external services; none in a server.
    until: Option<Instant>,
}

/// What came of a look at the outbox.
#[derive(Default)]
struct SweepResult {
    /// How many effects were tried.
    tried: usize,
    /// Why those outside are left alone for now.
    trouble: Option<ServiceError>,
}

impl Worker<'_> {
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// One look at the outbox, up to the first trouble outside: who is away for one project is away for all, and what was not
    /// tried has not failed.
    fn sweep(&self, store: &mut Store) -> Result<SweepResult, Failure> {
        let mut swept = SweepResult::default();
        if self.duties.is_some_and(|duties| duties.fence(duty::RELAY).is_none()) {
            return Ok(swept);
        }
        let limit = i64::try_from(BATCH_SIZE).unwrap_or(i64::MAX);
        let now = self.machine.now();
        let due = store.read(|tx| Ok(outbox::due(tx, Adapter::MemoryIndex, now, limit)?))?;
        let mut projects: BTreeMap<&str, Vec<&Effect>> = BTreeMap::new();
        for effect in &due {
            projects.entry(&effect.project_id).or_default().push(effect);
        }
        for (project, effects) in projects {
            if self.is_over() || swept.trouble.is_some() {
                break;
            }
            let SweepResult { tried, trouble } = self.of_project(store, project, &effects)?;
            swept = SweepResult { tried: swept.tried + tried, trouble };
        }
        Ok(swept)
    }

    fn of_project(
        &self,
        store: &mut Store,
        project: &str,
        effects: &[&Effect],
    ) -> Result<SweepResult, Failure> {
        let bound = Instant::now() + ATTEMPT_TIMEOUT;
        let deadline = self.until.map_or(bound, |until| until.min(bound));
        let now = self.machine.now();
        let leased = store.write(&[project], |tx| {
            if let Some(duties) = self.duties
                && !duties.is_held(tx, duty::RELAY)?
            {
                return Ok(Vec::new());
            }
            let mut leased = Vec::new();
            for effect in few(effects) {
                leased.extend(outbox::lease(tx, effect, now)?);
            }
            Ok(leased)
        })?;
        if leased.is_empty() {
            return Ok(SweepResult::default());
        }
        let trouble = match self.carry_out(store, project, &EffectBatch::of(&leased), deadline) {
            Ok(()) => None,
            Err(EarlyStop::Outside(trouble)) => Some(trouble),
            Err(EarlyStop::Ledger(failure)) => return Err(failure),
        };
        let outcome = match &trouble {
            None => Outcome::Done,
            Some(trouble) => {
                let hint = trouble.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                Outcome::Retry { why: format!("{}{hint}", trouble.why), after: trouble.after }
            }
        };
        self.close(store, project, &leased, &outcome)?;
        Ok(SweepResult { tried: leased.len(), trouble })
    }

    fn close(
        &self,
        store: &mut Store,
        project: &str,
        effects: &[Effect],
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        // What was tried together is tried together again.
        let (now, jitter) = (self.machine.now(), jitter());
        let outcomes: Vec<_> = effects
            .iter()
            .map(|effect| {
                let counted = Effect { attempts: effect.attempts.min(GROWS), ..effect.clone() };
                (effect, next_disposition(&counted, outcome.clone(), now, jitter))
            })
            .collect();
        // All failed for the same reason: one report is enough.
        if let Some((effect, next)) = outcomes.first() {
            log_outcome(effect, next);
        }
        record(|| {
            store.write(&[project], |tx| {
                for (effect, next) in &outcomes {
                    outbox::close(tx, effect, next)?;
                }
                Ok(())
            })
        })
    }

    /// Awaits a call to an external service until the deadline.
    fn wait<T>(
        &self,
        deadline: Instant,
        call: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ServiceError> {
        self.runtime.block_on(async {
            let outcome = tokio::time::timeout_at(deadline.into(), call).await;
            outcome.unwrap_or_else(|_| {
                Err(ServiceError::new("the time for a try ran out before it was answered"))
            })
        })
    }

    fn carry_out(
        &self,
        store: &mut Store,
        project: &str,
        work: &EffectBatch,
        deadline: Instant,
    ) -> Result<(), EarlyStop> {
        let ids: Vec<String> = work.ids.iter().cloned().collect();
        let known = store.read(|tx| Ok(memory::get_many(tx, project, &ids)?))?;
        let live: Vec<Memory> = known.into_iter().filter(|memory| memory.withdrawn_at.is_none()).collect();
        // What was withdrawn goes first: it must not stay to be found because something else cannot be embedded.
        if let Some(qdrant) = self.outside.qdrant() {
            let gone: Vec<String> =
                ids.into_iter().filter(|id| !live.iter().any(|memory| memory.memory_id == *id)).collect();
            self.wait(deadline, qdrant.delete(project, &gone))?;
        }
        let vectors = self.vectors(store, project, &live, (work.tries, deadline))?;
        let Some(qdrant) = self.outside.qdrant() else { return Ok(()) };
        let point = |memory: &Memory| -> Option<Point> {
            let key = (project, memory.memory_id.as_str());
            Some(self.outside.point(key, &text_of(memory), vectors.get(&memory.memory_id)?))
        };
        let points: Vec<Point> = live.iter().filter_map(point).collect();
        let at = self.machine.now();
        self.wait(deadline, async {
            qdrant.upsert(&points, at).await?;
            match work.forget_before {
                Some(at) => qdrant.forget_before(project, at).await,
                None => Ok(()),
            }
        })?;
        // Withdrawn while it was put there: its own effect takes it out, unless that was carried out in between.
        let late: Vec<String> = points.into_iter().map(|point| point.memory_id).collect();
        let now = store.read(|tx| Ok(memory::get_many(tx, project, &late)?))?;
        let gone: Vec<String> = now
            .into_iter()
            .filter(|memory| memory.withdrawn_at.is_some())
            .map(|memory| memory.memory_id)
            .collect();
        Ok(self.wait(deadline, qdrant.delete(project, &gone))?)
    }
}

/// As many of the first as name no more memories than fit one try, so that a lease does not run out before its end.
fn few<'a>(effects: &'a [&'a Effect]) -> impl Iterator<Item = &'a Effect> {
    let mut named = 0;
    effects.iter().copied().take_while(move |effect| {
        let first = named == 0;
        named += EffectBatch::of(std::slice::from_ref(*effect)).ids.len().max(1);
        first || named <= BATCH_SIZE
    })
}

/// What some effects ask for together.
#[derive(Debug, Default, PartialEq)]
struct EffectBatch {
    ids: BTreeSet<String>,
    forget_before: Option<i64>,
    /// How often the one that was tried most has been, this try counted.
    tries: i64,
}

impl EffectBatch {
    fn of(effects: &[Effect]) -> Self {
        let mut work = Self::default();
        for effect in effects {
            work.tries = work.tries.max(effect.attempts);
            let Action::MemoryIndex(update) = &effect.action else { continue };
            work.ids.extend(update.memory_ids.iter().cloned());
            work.forget_before = work.forget_before.max(update.forget_before);
        }
        work
    }
}

/// Why a try ended early.
enum EarlyStop {
    Outside(ServiceError),
    Ledger(Failure),
}

impl From<ServiceError> for EarlyStop {
    fn from(trouble: ServiceError) -> Self {
        Self::Outside(trouble)
    }
}

impl From<Failure> for EarlyStop {
    fn from(failure: Failure) -> Self {
        Self::Ledger(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::effect::IndexUpdate;

    fn effect(update: IndexUpdate) -> Effect {
        Effect::new("e".into(), "p", Action::MemoryIndex(update), 0)
    }

    fn forgetting(before: i64) -> Effect {
        effect(IndexUpdate { forget_before: Some(before), ..IndexUpdate::default() })
    }

    fn page(count: usize) -> Effect {
        effect(IndexUpdate { memory_ids: (0..count).map(|n| n.to_string()).collect(), forget_before: None })
    }

    #[test]
    fn a_try_takes_no_more_than_it_can_end_in_time() {
        let taken = |effects: &[Effect]| few(&effects.iter().collect::<Vec<_>>()).count();
        assert_eq!(taken(&[page(64), page(1)]), 1);
        assert_eq!(taken(&[page(1), page(63), page(1)]), 2);
        assert_eq!(taken(&[page(1), page(64)]), 1);
        assert_eq!(taken(&vec![page(1); 70]), 64);
        assert_eq!(taken(&[page(1_000)]), 1, "whatever one effect names is one try");
        assert_eq!(taken(&vec![forgetting(1); 3]), 3);
    }

    #[test]
    fn a_try_ends_well_before_its_lease() {
        assert!(
            i64::try_from(ATTEMPT_TIMEOUT.as_millis()).expect("short") + 3_000 < baton_model::effect::LEASE
        );
    }

    #[test]
    fn what_cannot_be_read_asks_for_nothing() {
        let odd = Effect::new("e".into(), "p", Action::read("recall", "{"), 0);
        assert_eq!(EffectBatch::of(&[odd]), EffectBatch::default());
        assert_eq!(EffectBatch::of(&[forgetting(7), forgetting(5)]).forget_before, Some(7));
    }
}
