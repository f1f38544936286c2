//! Drives hand-offs: a command drives its own and those due; a server drives all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_model::duty;
use baton_model::handoff::State;
use baton_model::session::{Limits, ProcessLocation};
use baton_model::time::Millis;
use baton_ops::handoff::{TrackerEvent, TrackerEventInput, note_repository};
use baton_ops::op::{Caller, Cx, Env};
use baton_ops::saga::{self, StepStart};
use baton_store::{Failure, Store, tracker};
use tokio::runtime::Handle;

use super::github::{GitHub, StepTime};
use super::github_read::{ClosingWords, IssueState, PollOutcome, WAIT_FOR_WORDS};
use crate::clock;
use crate::config::Config;
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

/// How long a server keeps polling the issue of a hand-off that has ended, because it may be reopened.
const REOPEN_POLL_SPAN: Millis = 7 * 86_400_000;

/// Pause between two looks at a step that another process has in its hands.
const LEASED_POLL_INTERVAL: Duration = Duration::from_millis(40);

/// What driving needs besides a store.
pub(crate) struct Driver {
    machine: Arc<Machine>,
    limits: Limits,
    github: Option<Arc<GitHub>>,
    caller: Caller,
    poll: Duration,
}

/// What driving came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DriveResult {
    /// No step is left that has to be waited for.
    pub is_over: bool,
    /// Something was tried.
    pub has_moved: bool,
}

impl Driver {
    /// A driver of this process.
    pub(crate) fn new(config: &Config, machine: Arc<Machine>) -> Result<Self, AppError> {
        let own = ProcessLocation { machine: machine.id.clone(), process: crate::process::own_fingerprint() };
        Ok(Self {
            limits: config.limits,
            github: GitHub::new(config)?.map(Arc::new),
            caller: Caller { location: own, ..Caller::default() },
            machine,
            poll: config.github.poll,
        })
    }

    fn with<T>(&self, store: &mut Store, f: impl FnOnce(&mut Store, &mut Env<'_>) -> T) -> T {
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
        let mut driven = DriveResult::default();
        let sleep_within = |pause: Duration| pause <= patience && sleep_within(pause, until);
        while Instant::now() < until {
            if let Some(blocked) = self.github.as_ref().and_then(|github| github.blocked_for())
                && !sleep_within(blocked)
            {
                return Ok(driven);
            }
            let own = &self.caller.location;
            let taken = StepTime::now();
            match self.with(store, |store, env| saga::begin(store, env, id, own))? {
                StepStart::Finished => return Ok(DriveResult { is_over: true, has_moved: true }),
                StepStart::OnlyDuplicateCheck => return Ok(DriveResult { is_over: true, ..driven }),
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

    /// Looks at every repository whose hand-offs are open, or ended within the span, and whose time has come; says how many
    /// issues brought news.
    pub(crate) fn poll(
        &self,
        store: &mut Store,
        runtime: &Handle,
        ended_within: Option<Millis>,
    ) -> Result<usize, Failure> {
        let Some(github) = &self.github else { return Ok(0) };
        let now = self.machine.now();
        let pause = i64::try_from(self.poll.as_millis()).unwrap_or(i64::MAX);
        let ended_since = ended_within.map_or(Millis::MAX, |span| now.saturating_sub(span));
        let repos = store.read(|tx| Ok(baton_store::handoff::open_repos(tx, ended_since)?))?;
        let mut news = 0;
        for repo in repos {
            let known = store.read(|tx| Ok(tracker::poll(tx, &repo)?))?.unwrap_or_default();
            if known.due_at > now {
                continue;
            }
            let first = now.saturating_sub(REOPEN_POLL_SPAN);
            let since = if known.since_at == 0 { first } else { known.since_at };
            let outcome = runtime.block_on(github.poll(&repo, since, known.etag.as_deref()));
            self.note_presence(store, &repo, &outcome)?;
            let PollOutcome::Read(polled) = outcome else {
                let later = tracker::Poll { due_at: now + pause, ..known };
                store.write_shared(|tx| Ok(tracker::put_poll(tx, &repo, &later)?))?;
                continue;
            };
            let applied = self.apply_polled(store, runtime, (github, &repo), &polled.issues)?;
            news += applied.news;
            let newest =
                polled.issues.iter().filter_map(|seen| seen.updated_at).max().unwrap_or(since).max(since);
            // What waits for its comments is listed again.
            let newest = applied.oldest_unread.map_or(newest, |unread| newest.min(unread));
            // The ETag is valid for the list since `since` only.
            let etag = polled.etag.filter(|_| newest == since && applied.oldest_unread.is_none());
            let next = tracker::Poll { etag, since_at: newest, due_at: now + pause };
            store.write_shared(|tx| Ok(tracker::put_poll(tx, &repo, &next)?))?;
        }
        Ok(news)
    }

    /// Brings what a poll has seen into the ledger. A close whose words GitHub does not give yet waits for the next poll.
    fn apply_polled(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        issues: &[IssueState],
    ) -> Result<AppliedIssues, Failure> {
        let mut applied = AppliedIssues::default();
        for seen in issues.iter().filter(|seen| seen.state == "closed" || seen.marker.is_some()) {
            let ClosingWords::Known(words) = self.closing_words(store, runtime, (github, repo), seen)? else {
                tracing::warn!(
                    repo,
                    issue = seen.number,
                    "GitHub gave no comments; the close waits for them"
                );
                applied.oldest_unread = applied.oldest_unread.into_iter().chain(seen.updated_at).min();
                continue;
            };
            let input = TrackerEventInput {
                repo: repo.to_owned(),
                number: seen.number,
                state: seen.state.clone(),
                state_reason: seen.reason.clone(),
                by: seen.by.clone(),
                marker: seen.marker.clone(),
                url: seen.url.clone(),
                updated_at: seen.updated_at,
                words,
            };
            let answer = self.with(store, |store, env| {
                let env = Env {
                    now: env.now,
                    random: env.random,
                    caller: env.caller,
                    limits: env.limits,
                    host: env.host,
                };
                baton_ops::all::call_typed::<TrackerEvent>(&input, &mut Cx { store, env })
            })?;
            applied.news += usize::from(answer.changed);
        }
        Ok(applied)
    }

    /// Notes in the hand-offs of a repository whether it is there, where the answer to a poll says so.
    fn note_presence(&self, store: &mut Store, repo: &str, outcome: &PollOutcome) -> Result<(), Failure> {
        let why = match outcome {
            PollOutcome::Read(_) => None,
            PollOutcome::Missing => Some(missing_text(repo)),
            PollOutcome::Unreadable => return Ok(()),
        };
        self.with(store, |store, env| note_repository(store, env, repo, why.as_deref()))
    }

    /// What was said under an issue that a person has just closed. It is read once, while the hand-off or its task is still open here.
    fn closing_words(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        seen: &IssueState,
    ) -> Result<ClosingWords, Failure> {
        let (Some(by), "closed") = (&seen.by, seen.state.as_str()) else {
            return Ok(ClosingWords::Known(None));
        };
        let is_open = store.read(|tx| {
            let Some(known) = baton_store::handoff::by_issue(tx, repo, seen.number)? else {
                return Ok(false);
            };
            if matches!(known.state, State::Offered | State::Accepted) {
                return Ok(true);
            }
            let Some(id) = &known.task_id else { return Ok(false) };
            let task = baton_store::task::get(tx, &known.to_project_id, id)?;
            Ok(task.is_some_and(|task| task.is_open()))
        })?;
        if !is_open {
            return Ok(ClosingWords::Known(None));
        }
        let since_close = self.machine.now().saturating_sub(seen.updated_at.unwrap_or_default());
        Ok(match runtime.block_on(github.closing_words(repo, seen.number, by)) {
            // They may not be readable with this token at all: then the close counts without them.
            ClosingWords::Unknown if since_close > WAIT_FOR_WORDS => ClosingWords::Known(None),
            words => words,
        })
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

/// What became of the issues of a poll.
#[derive(Default)]
struct AppliedIssues {
    /// How many brought news.
    news: usize,
    /// When the oldest of those was changed that are looked at again.
    oldest_unread: Option<Millis>,
}

/// How a hand-off says that the repository of its issue is not to be found.
fn missing_text(repo: &str) -> String {
    format!("GitHub answers 404 for {repo}: it is gone, or the token may not read it")
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
