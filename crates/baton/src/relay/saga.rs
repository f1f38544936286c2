//! Drives hand-offs: a command drives its own and those due; a server drives all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_model::duty;
use baton_model::session::{Limits, ProcessLocation};
use baton_model::store_place::OutsideCalls;
use baton_ops::op::{Caller, Env};
use baton_ops::saga::{self, StepStart};
use baton_store::{Failure, Store};
use tokio::runtime::Handle;

use super::github::{GitHub, StepTime};
use super::github_read::{ClosingWords, IssueState};
use super::saga_poll::REOPEN_POLL_SPAN;
use crate::clock;
use crate::config::Config;
use crate::effect_ownership::EffectGate;
use crate::error::AppError;
use crate::host::Machine;
use crate::leadership::Duties;
use crate::services::{Service, ServiceHandle, StopSignal};

/// Hand-offs taken at one look.
const BATCH_SIZE: i64 = 256;
/// Hand-offs that a server drives side by side.
const LANES: usize = duty::LANES.len();
/// Pause between two looks when nothing was due.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Pause between two looks at a step that another process has in its hands.
const LEASED_POLL_INTERVAL: Duration = Duration::from_millis(40);

/// What driving needs besides a store.
pub(crate) struct Driver {
    pub(super) machine: Arc<Machine>,
    limits: Limits,
    pub(super) github: Option<Arc<GitHub>>,
    caller: Caller,
    pub(super) poll: Duration,
    gate: EffectGate,
}

/// What driving came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DriveResult {
    /// No step is left that has to be waited for.
    pub is_over: bool,
    /// Something was tried.
    pub has_moved: bool,
    /// What is to be done outside waits, because another store of the ledger does it.
    pub is_held: bool,
}

impl Driver {
    /// A driver of this process.
    pub(crate) fn new(config: &Config, machine: Arc<Machine>) -> Result<Self, AppError> {
        let own = ProcessLocation { machine: machine.id.clone(), process: crate::process::own_fingerprint() };
        Ok(Self {
            gate: EffectGate::new(&machine.id),
            limits: config.limits,
            github: GitHub::new(config)?.map(Arc::new),
            caller: Caller { location: own, ..Caller::default() },
            machine,
            poll: config.github.poll,
        })
    }

    pub(super) fn with<T>(&self, store: &mut Store, f: impl FnOnce(&mut Store, &mut Env<'_>) -> T) -> T {
        let machine: &Machine = &self.machine;
        let mut random = clock::random;
        let mut env = Env {
            now: self.machine.now(),
            random: &mut random,
            caller: &self.caller,
            limits: self.limits,
            host: machine,
        };
        f(store, &mut env)
    }

    /// Whether this store may call what is outside.
    pub(super) fn calls(&self, store: &mut Store) -> Result<OutsideCalls, Failure> {
        self.gate.calls(store, self.machine.now())
    }

    /// Ids of what may be due.
    pub(crate) fn due(&self, store: &mut Store) -> Result<Vec<String>, Failure> {
        self.with(store, |store, env| saga::due(store, env, BATCH_SIZE))
    }

    /// Drives one hand-off until nothing is left to do, something has to be waited for longer than `patience`, or the time is over.
    pub(crate) fn drive(
        &self,
        store: &mut Store,
        runtime: &Handle,
        id: &str,
        (until, patience): (Instant, Duration),
    ) -> Result<DriveResult, Failure> {
        let calls = self.calls(store)?;
        let mut driven = DriveResult { is_held: calls == OutsideCalls::Held, ..DriveResult::default() };
        let sleep_within = |pause: Duration| pause <= patience && sleep_within(pause, until);
        while Instant::now() < until {
            if let Some(blocked) = self.github.as_ref().and_then(|github| github.blocked_for())
                && !sleep_within(blocked)
            {
                return Ok(driven);
            }
            let own = &self.caller.location;
            let taken = StepTime::now();
            match self.with(store, |store, env| saga::begin(store, env, id, (own, calls)))? {
                StepStart::Finished => {
                    self.look_again(store, runtime, id)?;
                    return Ok(DriveResult { is_over: true, has_moved: true, ..driven });
                }
                StepStart::OnlyDuplicateCheck => {
                    self.look_again(store, runtime, id)?;
                    return Ok(DriveResult { is_over: true, ..driven });
                }
                StepStart::Wait(at) => {
                    if !sleep_within(until_due(at, self.machine.now())) {
                        return Ok(driven);
                    }
                }
                // Another process, perhaps a server, holds the step; its result counts for this one.
                StepStart::Leased(at) => {
                    if !sleep_within(until_due(at, self.machine.now()).min(LEASED_POLL_INTERVAL)) {
                        return Ok(driven);
                    }
                }
                StepStart::Call(leased) => {
                    let Some(github) = &self.github else { return Ok(driven) };
                    driven.has_moved = true;
                    let outcome = runtime.block_on(github.execute(&leased.call, taken));
                    tracing::info!(handoff = %leased.handoff_id, outcome = ?outcome, "asked GitHub");
                    let jitter = super::jitter();
                    let result = self.with(store, |store, env| {
                        saga::record_outcome(store, env, &leased, &outcome, jitter)
                    })?;
                    if result == saga::OutcomeReport::LeaseLost {
                        tracing::warn!(handoff = %leased.handoff_id, "another process went on; a duplicate is looked for");
                    }
                }
            }
        }
        Ok(driven)
    }

    /// What this person said last under an issue that they have closed.
    pub(crate) async fn closing_words_of(&self, repo: &str, number: i64, by: &str) -> ClosingWords {
        match &self.github {
            Some(github) => github.closing_words(repo, number, by).await,
            None => ClosingWords::Known(None),
        }
    }

    /// The present state of an issue; none if it cannot be determined.
    pub(crate) async fn issue(&self, repo: &str, number: i64) -> Option<IssueState> {
        self.github.as_ref()?.issue(repo, number).await
    }
}

fn until_due(at: i64, now: i64) -> Duration {
    let left = u64::try_from(at.saturating_sub(now)).unwrap_or_default();
    Duration::from_millis(left.max(1))
}

/// Sleeps for `pause` unless that passes `until`; returns whether it slept.
fn sleep_within(pause: Duration, until: Instant) -> bool {
    if Instant::now() + pause > until {
        return false;
    }
    std::thread::sleep(pause);
    true
}

/// The service that drives the hand-offs of one lane.
struct Lane {
    store: Store,
    driver: Arc<Driver>,
    duties: Arc<Duties>,
    runtime: Handle,
    number: usize,
    duty_id: &'static str,
}

/// Starts the lanes, each with a store of its own.
pub(crate) fn start(
    config: &Config,
    driver: &Arc<Driver>,
    duties: &Arc<Duties>,
    runtime: &Handle,
) -> Result<Vec<ServiceHandle>, AppError> {
    let mut lanes = Vec::new();
    for (number, duty_id) in duty::LANES.into_iter().enumerate() {
        let mut store = Store::open(&config.store, clock::now())?;
        driver.machine.observe(&mut store);
        let (driver, duties, runtime) = (Arc::clone(driver), Arc::clone(duties), runtime.clone());
        let lane = Lane { store, driver, duties, runtime, number, duty_id };
        lanes.push(ServiceHandle::start(lane, Duration::ZERO)?);
    }
    Ok(lanes)
}

impl Service for Lane {
    const NAME: &'static str = "lane";

    fn pass(&mut self, stop: &StopSignal) -> Duration {
        let may_continue = || !stop.is_set() && self.duties.fence(self.duty_id).is_some();
        match poll_lane(&self.driver, &mut self.store, &self.runtime, self.number, may_continue) {
            Ok(count) if count > 0 => Duration::ZERO,
            Ok(_) => POLL_INTERVAL,
            Err(failure) => {
                tracing::error!(%failure, "hand-offs cannot be driven");
                POLL_INTERVAL
            }
        }
    }
}

/// One look of one lane: it drives those whose id falls to it, for as long as the lane is this server's. The first lane also
/// polls.
fn poll_lane(
    driver: &Driver,
    store: &mut Store,
    runtime: &Handle,
    lane: usize,
    may_continue: impl Fn() -> bool,
) -> Result<usize, Failure> {
    if !may_continue() {
        return Ok(0);
    }
    if lane == 0 {
        driver.poll(store, runtime, Some(REOPEN_POLL_SPAN))?;
    }
    let mut moved = 0;
    for id in driver.due(store)?.into_iter().filter(|id| lane_of(id) == lane) {
        if !may_continue() {
            break;
        }
        // Short patience: one waiting hand-off must not delay the others.
        let until = Instant::now() + Duration::from_secs(10);
        moved += usize::from(driver.drive(store, runtime, &id, (until, POLL_INTERVAL / 10))?.has_moved);
    }
    Ok(moved)
}

fn lane_of(id: &str) -> usize {
    id.bytes().fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())) % LANES
}
