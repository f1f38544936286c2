//! Live state beside the ledger, in Redis: heartbeats, what sessions have saved, and hints that something was written.
//!
//! The ledger is authoritative. Redis may be slow, full, empty or unreachable at any moment, and no request waits for
//! it. A thread of its own speaks to it (`thread.rs`); others queue commands for it and read what it has learned from
//! memory. Which heartbeats the ledger gets all the same is a rule of `baton_model::liveness`.

mod circuit;
mod command;
mod connection;
mod dirty_sessions;
mod hints;
#[cfg(test)]
mod tests;
mod thread;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::time::Duration;

use baton_model::session::{Limits, Session};
use baton_model::time::Millis;
use baton_store::{CommitEvent, CommitObserver};
use tokio::sync::Notify;

use crate::config::Redis;
use command::{Beat, LiveCommand};
use connection::RedisUnavailable;
pub(crate) use connection::probe;
use dirty_sessions::DirtySessions;

/// Capacity of the command queue; when it is full, heartbeats go to the ledger.
const QUEUE_CAPACITY: usize = 8_192;
/// Maximum wait for the first answer of Redis at start, and for the last flush at exit.
const START_STOP_TIMEOUT: Duration = Duration::from_millis(300);

/// The clock shared by all users of the ledger, in epoch milliseconds.
pub(crate) type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// How Redis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// It does not answer, or not in time: the ledger has everything.
    Away = 0,
    /// It answers.
    Up = 1,
    /// It answers and takes nothing more: the ledger has everything.
    Full = 2,
}

impl State {
    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Away => "away",
            Self::Up => "up",
            Self::Full => "full",
        }
    }
}

/// What the threads and their askers share.
struct Shared {
    /// What the hints of this process are marked with, so that it does not wake itself.
    origin_mark: String,
    /// Time of the latest heartbeat by session.
    heartbeats: RwLock<HashMap<String, Millis>>,
    state: AtomicU8,
    errors: AtomicU64,
    beats: AtomicU64,
    /// How often a connection was made.
    connections: AtomicU64,
    /// Whether Redis was asked once, with a way to wait for it.
    first_probe: (Mutex<bool>, Condvar),
    /// Notified when another server publishes a write.
    remote_write: Notify,
    /// Sessions whose saved state has not been sent to Redis.
    unsent: DirtySessions,
    is_stopped: AtomicBool,
}

impl Shared {
    fn new() -> Self {
        let mut bytes = [0; 8];
        crate::clock::random(&mut bytes);
        Self {
            origin_mark: bytes.iter().map(|b| format!("{b:02x}")).collect(),
            heartbeats: RwLock::default(),
            state: AtomicU8::new(State::Away as u8),
            errors: AtomicU64::new(0),
            beats: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            first_probe: Default::default(),
            remote_write: Notify::new(),
            unsent: DirtySessions::default(),
            is_stopped: AtomicBool::new(false),
        }
    }

    fn state(&self) -> State {
        match self.state.load(Ordering::Relaxed) {
            1 => State::Up,
            2 => State::Full,
            _ => State::Away,
        }
    }

    /// Records the state of Redis, and logs a change.
    fn set_state(&self, state: State, why: &str) {
        let before = self.state.swap(state as u8, Ordering::Relaxed);
        let first =
            self.first_probe.0.lock().is_ok_and(|mut answered| !std::mem::replace(&mut *answered, true));
        self.first_probe.1.notify_all();
        if before == state as u8 && !first {
            return;
        }
        match state {
            // As it should be from the beginning: that is no news.
            State::Up if first => {}
            State::Up => tracing::info!("Redis is back: it keeps heartbeats"),
            State::Away => tracing::warn!(why, "Redis is away: the ledger keeps everything"),
            State::Full => tracing::warn!(why, "Redis is full: the ledger keeps everything"),
        }
    }

    fn failed(&self, trouble: &RedisUnavailable) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        match trouble {
            RedisUnavailable::Away(why) => self.set_state(State::Away, why),
            RedisUnavailable::Full(why) => self.set_state(State::Full, why),
        }
    }

    fn record_heartbeat(&self, session_id: &str, at: Millis) {
        let Ok(mut heard) = self.heartbeats.write() else { return };
        match heard.get_mut(session_id) {
            Some(known) => *known = at.max(*known),
            None => _ = heard.insert(session_id.to_owned(), at),
        }
    }
}

/// Live state of one process. Its thread ends with it.
pub(crate) struct Live {
    shared: Arc<Shared>,
    commands: SyncSender<LiveCommand>,
    redis: Redis,
}

impl Live {
    /// Starts the thread and gives it a moment to learn what Redis knows.
    pub(crate) fn start(redis: &Redis, limits: Limits, clock: Clock) -> Arc<Self> {
        let (live, commands) = Self::new(redis);
        thread::start(redis.clone(), (limits, clock), Arc::clone(&live.shared), commands);
        let (answered, changed) = &live.shared.first_probe;
        if let Ok(answered) = answered.lock() {
            let _ = changed.wait_timeout_while(answered, START_STOP_TIMEOUT, |answered| !*answered);
        }
        live
    }

    fn new(redis: &Redis) -> (Arc<Self>, Receiver<LiveCommand>) {
        let (commands, received) = sync_channel(QUEUE_CAPACITY);
        (Arc::new(Self { shared: Arc::new(Shared::new()), commands, redis: redis.clone() }), received)
    }

    /// Listens for hints of other servers, on a thread that ends with this.
    pub(crate) fn listen(&self) {
        hints::start(self.redis.clone(), Arc::clone(&self.shared));
    }

    /// Ends when another server says that it wrote.
    pub(crate) async fn wait_for_write(&self) {
        self.shared.remote_write.notified().await;
    }

    /// How Redis is.
    pub(crate) fn state(&self) -> State {
        self.shared.state()
    }

    /// How often it failed, and how many heartbeats were given to it.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.shared.errors.load(Ordering::Relaxed), self.shared.beats.load(Ordering::Relaxed))
    }

    /// Takes a heartbeat, unless Redis takes none now.
    pub(crate) fn keep_beat(&self, session: &Session, at: Millis) -> bool {
        if self.state() != State::Up
            || self.commands.try_send(LiveCommand::Beat(Beat::of(session, at))).is_err()
        {
            return false;
        }
        self.shared.beats.fetch_add(1, Ordering::Relaxed);
        self.shared.record_heartbeat(&session.session_id, at);
        true
    }

    /// Flushes the queued commands before the process exits; waits at most `START_STOP_TIMEOUT`.
    pub(crate) fn flush(&self) {
        let (sender, heard) = sync_channel(1);
        if self.state() != State::Away && self.commands.try_send(LiveCommand::Flush(sender)).is_ok() {
            let _ = heard.recv_timeout(START_STOP_TIMEOUT);
        }
    }
}

impl CommitObserver for Live {
    fn heard_at(&self, session_id: &str) -> Option<Millis> {
        self.shared.heartbeats.read().ok()?.get(session_id).copied()
    }

    fn committed(&self, notes: Vec<CommitEvent>) {
        // While Redis is away, notifications are dropped: other servers find the change by polling. Sessions that saved
        // a state are remembered, and their outdated state is removed from Redis when it is back.
        if self.state() == State::Away {
            return self.shared.unsent.leave(notes);
        }
        if let Err(TrySendError::Full(LiveCommand::Notes(notes))) =
            self.commands.try_send(LiveCommand::Notes(notes))
        {
            self.shared.unsent.leave(notes);
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
    }
}
