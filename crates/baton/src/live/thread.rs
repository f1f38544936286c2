//! The thread that speaks to Redis: it sends queued commands in batches, and polls for what other servers have written.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use baton_model::session::Limits;
use baton_model::time::Millis;
use redis::Cmd;

use super::circuit::Circuit;
use super::command::{CommandQueue, HEARD, LiveCommand, command, forget};
use super::connection::{RedisConnection, RedisUnavailable, is_room};
use super::dirty_sessions::Sessions;
use super::{Clock, Shared, State};
use crate::config::Redis;

/// Pause between two polls of other servers' heartbeats.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Delay for batching heartbeats; hints are sent at once.
const BATCH_DELAY: Duration = Duration::from_millis(25);
/// Maximum number of commands per batch.
const BATCH_SIZE: usize = 512;
/// Overlap of a poll with the one before, in milliseconds: heartbeats may have been in flight.
const OVERLAP: Millis = 2_000;
/// Upper bound of a poll past now, in milliseconds: later timestamps come from a wrong clock.
const AHEAD: Millis = 60_000;
/// Old heartbeats are deleted every so many polls.
const CLEARS: u32 = 60;

/// State of the thread.
struct LiveThread {
    redis: Redis,
    limits: Limits,
    shared: Arc<Shared>,
    connection: Option<RedisConnection>,
    circuit: Circuit,
    begun: Instant,
    next_look: Instant,
    looks: u32,
    /// The clock shared by all users of the ledger; timestamps heartbeats.
    clock: Clock,
    looked_at: Option<Millis>,
    /// Sessions whose saved state has not been sent to Redis.
    unsent: Sessions,
}

/// A batch of commands from the queue.
struct PendingCommands {
    queue: CommandQueue,
    /// Notified when the batch was sent.
    waiting: Vec<SyncSender<()>>,
    /// Whether the queue was drained.
    is_all: bool,
}

/// Starts the thread. It ends when all senders of the channel are dropped.
pub(super) fn start(
    redis: Redis,
    (limits, clock): (Limits, Clock),
    shared: Arc<Shared>,
    commands: Receiver<LiveCommand>,
) {
    let now = Instant::now();
    let mut live_thread = LiveThread {
        redis,
        limits,
        shared,
        connection: None,
        circuit: Circuit::default(),
        begun: now,
        next_look: now,
        looks: 0,
        clock,
        looked_at: None,
        unsent: Sessions::default(),
    };
    std::thread::spawn(move || {
        while let Some(PendingCommands { queue, waiting, is_all }) = live_thread.next_batch(&commands) {
            live_thread.flush(queue, is_all);
            // Waiters are released also where Redis is unreachable: waiting longer would not help.
            waiting.into_iter().for_each(|waiter| _ = waiter.try_send(()));
        }
    });
}

impl LiveThread {
    /// Takes the next batch of commands, with those that wait for it; `None` when the channel is closed. Without
    /// commands it returns when the next look is due.
    fn next_batch(&mut self, commands: &Receiver<LiveCommand>) -> Option<PendingCommands> {
        // Taken before the commands: whatever older was sent of these sessions is among them, or comes with the next ones.
        self.unsent.merge(self.shared.unsent.take());
        let (mut queue, mut waiting, mut is_all) = (CommandQueue::default(), Vec::new(), false);
        // What is old does not wait for a look.
        let mut until = match self.unsent.is_empty() {
            true => self.next_look.max(self.not_before()),
            false => self.not_before(),
        };
        for _ in 0..BATCH_SIZE {
            match commands.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(LiveCommand::Beat(beat)) => {
                    queue.beat(beat);
                    until = until.min(Instant::now() + BATCH_DELAY);
                }
                Ok(LiveCommand::Notes(notes)) => {
                    notes.into_iter().for_each(|note| queue.note(note));
                    until = Instant::now();
                }
                Ok(LiveCommand::Flush(waiter)) => {
                    waiting.push(waiter);
                    until = Instant::now();
                }
                Err(RecvTimeoutError::Disconnected) if queue.is_empty() && waiting.is_empty() => return None,
                Err(_) => {
                    is_all = true;
                    break;
                }
            }
        }
        Some(PendingCommands { queue, waiting, is_all })
    }

    /// When Redis may be asked again after a failure.
    fn not_before(&self) -> Instant {
        self.begun + self.circuit.not_before()
    }

    fn flush(&mut self, mut queue: CommandQueue, is_all: bool) {
        let sessions = queue.sessions();
        if !self.circuit.is_closed(self.begun.elapsed()) {
            sessions.into_iter().for_each(|session_id| self.unsent.add(session_id));
            return;
        }
        // Whether this is newer than the unsent state is unknown; the next state saved will be.
        queue.leave_out(|session_id| self.unsent.has(session_id));
        let sent = self.send_batch(queue);
        match &sent {
            // What waits in the queue may be older than what was not said.
            Ok(_) if is_all => self.unsent = Sessions::default(),
            Ok(_) => {}
            Err(_) => sessions.into_iter().for_each(|session_id| self.unsent.add(session_id)),
        }
        match sent {
            Ok(None) => {
                self.circuit.worked();
                self.shared.set_state(State::Up, "");
            }
            Ok(Some(trouble)) | Err(trouble) => {
                self.circuit.failed(self.begun.elapsed());
                self.shared.failed(&trouble);
                if matches!(trouble, RedisUnavailable::Away(_)) {
                    self.connection = None;
                }
            }
        }
    }

    /// Sends a batch, after a check for free memory if Redis was away or full, and polls when that is due. Returns why
    /// Redis accepts no more data, if it is full; commands that need no memory were sent all the same.
    fn send_batch(&mut self, queue: CommandQueue) -> Result<Option<RedisUnavailable>, RedisUnavailable> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = RedisConnection::open(&self.redis)?;
                self.shared.connections.fetch_add(1, Ordering::Relaxed);
                self.next_look = Instant::now();
                connection
            }
        };
        let room = match self.shared.state() {
            State::Up => Ok(()),
            State::Away | State::Full => is_room(&mut connection),
        };
        let full = match room {
            Err(RedisUnavailable::Away(why)) => return Err(RedisUnavailable::Away(why)),
            Err(full) => Some(full),
            Ok(()) => None,
        };
        self.forget(&mut connection)?;
        let commands =
            queue.commands(&self.shared.origin_mark, self.limits.stale_after.max(1_000), full.is_some());
        connection.send(&commands)?;
        self.poll(&mut connection)?;
        self.connection = Some(connection);
        Ok(full)
    }

    /// Removes what may be old. Needs no room.
    fn forget(&self, connection: &mut RedisConnection) -> Result<(), RedisUnavailable> {
        let mut all: Vec<Cmd> = self.unsent.by_name().map(|session_id| forget(session_id)).collect();
        if self.unsent.is_any() {
            let mut query = command("ZRANGEBYSCORE", HEARD);
            query.arg("-inf").arg("+inf").arg("WITHSCORES");
            all.extend(connection.scores(&query)?.iter().map(|(session_id, _)| forget(session_id)));
        }
        // So few at once that each answer comes in time.
        all.chunks(BATCH_SIZE).try_for_each(|some| connection.send(some).map(drop))
    }

    /// Reads the heartbeats since the last poll, from all servers.
    fn poll(&mut self, connection: &mut RedisConnection) -> Result<(), RedisUnavailable> {
        if Instant::now() < self.next_look {
            return Ok(());
        }
        self.next_look = Instant::now() + POLL_INTERVAL;
        let now = (self.clock)();
        let since =
            self.looked_at.map_or(now - self.limits.stale_after, |looked_at| looked_at.min(now) - OVERLAP);
        let mut query = command("ZRANGEBYSCORE", HEARD);
        query.arg(since).arg(now + AHEAD).arg("WITHSCORES");
        for (session_id, at) in connection.scores(&query)? {
            self.shared.record_heartbeat(&session_id, at);
        }
        self.looked_at = Some(now);
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(CLEARS) {
            self.clear(connection, now.saturating_sub(self.limits.stale_after.saturating_mul(2)))?;
        }
        Ok(())
    }

    /// Deletes heartbeats that are too old to matter.
    fn clear(&self, connection: &mut RedisConnection, before: Millis) -> Result<(), RedisUnavailable> {
        let mut past = command("ZREMRANGEBYSCORE", HEARD);
        past.arg("-inf").arg(format!("({before}"));
        let mut expires = command("PEXPIRE", HEARD);
        expires.arg(self.limits.stale_after.saturating_mul(4).max(60_000));
        connection.send(&[past, expires])?;
        if let Ok(mut heard) = self.shared.heartbeats.write() {
            heard.retain(|_, at| *at >= before);
        }
        Ok(())
    }
}
