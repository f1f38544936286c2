//! Hints of other servers that they wrote. They make a look come sooner; what is missed is found by the look that comes anyway.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::command::WROTE;
use super::connection::{self, RedisUnavailable};
use super::{Shared, State};
use crate::config::Redis;

/// How long one wait for a hint lasts: then it is seen whether the connection is still the right one.
const WAIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Starts the thread that listens.
pub(super) fn start(redis: Redis, shared: Arc<Shared>) {
    std::thread::spawn(move || {
        while !shared.is_stopped.load(Ordering::Relaxed) {
            let link = shared.connections.load(Ordering::Relaxed);
            // Only while Redis answers the other thread: that one keeps the pauses.
            if link > 0 && shared.state() != State::Away {
                let _ = listen(&redis, &shared, link);
            }
            std::thread::sleep(WAIT_TIMEOUT / 4);
        }
    });
}

/// Listens for as long as the other thread has the connection that it had: a new one may lead to another server.
fn listen(redis: &Redis, shared: &Shared, link: u64) -> Result<(), RedisUnavailable> {
    connection::listen(redis, WROTE, WAIT_TIMEOUT, |hint| {
        if hint.is_some_and(|hint| !hint.starts_with(&shared.origin_mark)) {
            shared.remote_write.notify_one();
        }
        shared.connections.load(Ordering::Relaxed) == link && !shared.is_stopped.load(Ordering::Relaxed)
    })
}
